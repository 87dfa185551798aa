"""XPath filters made from a DTD, with the parameters of the YFilter release's generator and of paper 5.

A filter is a walk down from the root element: at each step one of the elements that the DTD allows below, by a Zipf
distribution if skewed. A step becomes `*`, or is left out with `//` in its place, with the given probabilities; `//*`
is written `/*//`, and a `//` at the end is dropped. Predicates compare attributes, or text, with small integers, which
is what the documents of that release have for values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, cycle
from pathlib import Path
from random import Random
from typing import Any

from lxml import etree

MISSES = 20_000  # filters in a row that were there already: then there are no more, or hardly
OPERATORS = ("=", "=", "=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Settings:
    """How filters are made; depth, wildcard and descendant are the defaults of the release."""

    depth: int = 6
    wildcard: float = 0.2
    descendant: float = 0.2
    predicates: int = 0
    nested: int = 0  # paths in brackets
    skew: float = 0.0
    values: int = 20
    only_equality: bool = False


DEEP = Settings(depth=10)  # paths alone, of which there are many
# As paper 5 has them: one to three predicates; and with a path in brackets, and elements by a Zipf distribution
ASKING = tuple(Settings(depth=10, predicates=predicates, nested=1, skew=0.5) for predicates in (1, 2, 3))


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a DTD allows: the elements below each element, and its attributes, in the order of the DTD."""

    root: str
    children: dict[str, tuple[str, ...]] = field(repr=False)
    attributes: dict[str, tuple[str, ...]] = field(repr=False)
    texts: frozenset[str] = field(repr=False)


def grammar(file: Path, root: str) -> Grammar:
    dtd: Any = etree.DTD(str(file))  # its types do not know iterelements
    children, attributes, texts = {}, {}, set()
    for element in dtd.iterelements():
        names = list(dict.fromkeys(_names(element.content)))
        children[element.name] = tuple(name for name in names if name != "#PCDATA")
        attributes[element.name] = tuple(attribute.name for attribute in element.iterattributes())
        if "#PCDATA" in names:
            texts.add(element.name)
    known = {name: tuple(child for child in below if child in children) for name, below in children.items()}
    return Grammar(root, known, attributes, frozenset(texts))


def _names(content: Any) -> Iterator[str]:
    if content is None:
        return
    if content.type in ("element", "pcdata"):
        yield content.name or "#PCDATA"
    yield from _names(content.left)
    yield from _names(content.right)


def grammar_of(documents: Iterable[bytes]) -> Grammar:
    """What documents show of theirs: the elements seen below each element. Names in namespaces are left out."""
    children: dict[str, dict[str, None]] = {}
    attributes: dict[str, dict[str, None]] = {}
    root = ""
    for document in documents:
        top: Any = etree.fromstring(document)
        root = root or top.tag
        for element in top.iter(etree.Element):
            if element.tag[0] == "{":
                continue
            below = children.setdefault(element.tag, {})
            below.update(
                dict.fromkeys(child.tag for child in element.iterchildren(etree.Element) if child.tag[0] != "{")
            )
            seen = attributes.setdefault(element.tag, {})
            seen.update(dict.fromkeys(name for name in element.attrib if name[0] != "{"))
    listed = {name: tuple(below) for name, below in children.items()}
    return Grammar(root, listed, {name: tuple(seen) for name, seen in attributes.items()}, frozenset(children))


def filters(rules: Grammar, settings: Settings, count: int, *, distinct: bool = True, seed: int = 7) -> list[str]:
    """So many filters; distinct ones are drawn until there are enough, or until hardly any new one comes."""
    chance = Random(seed)
    if not distinct:
        return [_filter(rules, settings, chance) for _ in range(count)]
    return _distinct(rules, (settings,), count, chance)


def mixed(rules: Grammar, count: int, *, seed: int = 7) -> list[str]:
    """The same of distinct ones with each of `ASKING` in turn."""
    return _distinct(rules, ASKING, count, Random(seed))


def _distinct(rules: Grammar, forms: Sequence[Settings], count: int, chance: Random) -> list[str]:
    found: dict[str, None] = {}
    misses = 0  # since the last new one
    for settings in cycle(forms):
        if len(found) >= count or misses >= MISSES:
            break
        before = len(found)
        found[_filter(rules, settings, chance)] = None
        misses = misses + 1 if len(found) == before else 0
    return list(found)


def _filter(rules: Grammar, settings: Settings, chance: Random) -> str:
    walk = _walk(rules, settings, chance)
    steps: list[tuple[str, str]] = []  # the test as written, and the element that it was
    below = False
    for number, element in enumerate(walk):
        if chance.random() < settings.descendant:
            below = True
            if number + 1 < len(walk) and chance.random() < 0.5:
                continue
        star = chance.random() < settings.wildcard
        steps.append((("/*" if star else f"//{element}" if below else f"/{element}"), element))
        below = below and star
    for _ in range(settings.predicates):
        at = chance.randrange(len(steps))
        steps[at] = (steps[at][0] + _predicate(rules, settings, chance, steps[at][1]), steps[at][1])
    for _ in range(settings.nested):
        at = chance.randrange(len(steps))
        steps[at] = (steps[at][0] + _nested(rules, chance, steps[at][1]), steps[at][1])
    return "".join(text for text, _ in steps)


def _walk(rules: Grammar, settings: Settings, chance: Random) -> list[str]:
    """Names of elements from the root down; ends where an element has no children, or at a random depth."""
    walk, length = [rules.root], chance.randint(2, settings.depth)
    while len(walk) < length and rules.children[walk[-1]]:
        walk.append(_drawn(rules.children[walk[-1]], settings.skew, chance))
    return walk


def _drawn(names: tuple[str, ...], skew: float, chance: Random) -> str:
    if not skew:
        return chance.choice(names)
    return chance.choices(names, cum_weights=list(accumulate((n + 1) ** -skew for n in range(len(names)))))[0]


def _predicate(rules: Grammar, settings: Settings, chance: Random, element: str) -> str:
    attributes = rules.attributes[element]
    operator = "=" if settings.only_equality else chance.choice(OPERATORS)
    value = chance.randint(1, settings.values)
    if attributes and (element not in rules.texts or chance.random() < 0.8):
        return f"[@{chance.choice(attributes)} {operator} {value}]"
    return f"[text() {operator} {value}]" if element in rules.texts else ""


def _nested(rules: Grammar, chance: Random, element: str) -> str:
    path: list[str] = []
    for _ in range(chance.randint(1, 2)):
        below = rules.children[path[-1] if path else element]
        if not below:
            break
        path.append(chance.choice(below))
    return f"[{'/'.join(path)}]" if path else ""
