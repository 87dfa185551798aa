"""XPath filters with two conditions on values that occur in documents, one of which most documents satisfy.

`common_and_rare`: an equality that nearly all satisfy, and a bound on a number that few do; by the kind of test one
would take the equality for the rarer. `values_and_words`: a value that few have, and a word in a long text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from lxml import etree

Values = list[dict[str, list[str]]]  # of each document, by the path from its root element
COMMON, RARE, PRESENT = 0.8, 0.1, 0.5  # shares of documents
LONG = 300  # characters of a text that words are looked for in
SHORT = 40


def values_of(documents: Iterable[bytes]) -> tuple[str, Values]:
    """The name of the root element of the first, and the values of attributes and of elements without children."""
    found: Values = []
    root = ""
    for document in documents:
        top: Any = etree.fromstring(document)
        root = root or top.tag
        values: dict[str, list[str]] = defaultdict(list)
        _collect(top, "", values)
        found.append(values)
    return root, found


def _collect(element: Any, path: str, values: dict[str, list[str]]) -> None:
    for name, value in element.attrib.items():
        if name[0] != "{":
            values[f"{path}@{name}"].append(value)
    children = [child for child in element.iterchildren(etree.Element) if child.tag[0] != "{"]
    if path and (not children or len(element.text or "") > LONG):
        values[path.removesuffix("/")].append("".join(element.itertext()))
    for child in children:
        _collect(child, f"{path}{child.tag}/", values)


def common_and_rare(documents: Sequence[bytes], count: int, seed: int = 5) -> list[str]:
    chance = Random(seed)
    root, values = values_of(documents)
    common = [test for test, share in _equalities(values) if share >= COMMON]
    bounds = _bounds(values)
    found: dict[str, None] = {}
    while len(found) < count:
        path, low, high = chance.choice(bounds)
        found[f"/{root}[{chance.choice(common)}][{path} > {chance.uniform(low, high):.3f}]"] = None
    return list(found)


def values_and_words(documents: Sequence[bytes], count: int, seed: int = 6) -> list[str]:
    chance = Random(seed)
    root, values = values_of(documents)
    rare = [test for test, share in _equalities(values) if share <= RARE]
    texts = [(path, text) for each in values for path, found in each.items() for text in found[:1] if len(text) > LONG]
    found: dict[str, None] = {}
    while len(found) < count:
        path, text = chance.choice(texts)
        word = chance.choice(re.findall(r"[a-z]{4,}", text) or ["none"])
        found[f"/{root}[{chance.choice(rare)}][contains({path}, '{word}')]"] = None
    return list(found)


def _equalities(values: Values) -> list[tuple[str, float]]:
    """Each comparison with a value that occurs, and the share of documents that satisfy it, in the order met."""
    counted: dict[str, int] = defaultdict(int)
    for each in values:
        for path, found in each.items():
            for value in dict.fromkeys(found):
                if len(value) <= SHORT and re.fullmatch(r"[\w .:/-]+", value, re.ASCII):
                    counted[f"{path} = '{value}'"] += 1
    return [(test, count / len(values)) for test, count in counted.items()]


def _bounds(values: Values) -> list[tuple[str, float, float]]:
    """Paths of numbers, and between which bounds a number is rarely exceeded and yet is."""
    largest: dict[str, list[float]] = defaultdict(list)
    for each in values:
        for path, found in each.items():
            numbers = [float(value) for value in found if re.fullmatch(r"[0-9]{1,9}", value)]
            if numbers:
                largest[path].append(max(numbers))
    found_bounds = []
    for path, numbers in largest.items():
        numbers.sort()
        low, high = numbers[int((1 - RARE) * (len(numbers) - 1))], numbers[-1]
        if len(numbers) >= PRESENT * len(values) and low < high:
            found_bounds.append((path, low, high))
    return found_bounds
