"""Paper 1's workload: records of up to ten attributes, half of them numbers, half strings, with Zipf popularity.

Where the paper is silent the choice is ours, and stated here. Values of rank 0, 1, … are the numbers 0, 1, … of the
domain, in every attribute the same (so hot values of all attributes share trees, which relocation is there to mend),
and the strings of one vocabulary of random strings of 1 to 5 characters. A string predicate is an equality, a prefix or
a suffix, one as often as the other; a prefix or suffix takes a random length of a drawn value. A range begins at a
drawn number. Attributes of numbers and of strings take turns in the order of popularity; which kind comes first matters
when attributes are skewed, so that experiment varies it, and in the others repetitions have the one or the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tidings.lab.zipf import draw, draw_attributes
from tidings.rendezvous.ranges import DIGITS
from tidings.systems.pastry_strings.places import EQUALITY, LISTS, NUMERIC, PREFIX, SUFFIX

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StringsAndNumbers:
    """Counts and skews; the rest as published: domain 0..70000, ranges of 1 to 20, 15 letters, 5 characters."""

    subscriptions: int
    events: int
    attribute_skew: float = 0.8
    value_skew: float = 0.8
    numeric_share: float = 0.5  # of the attributes
    range_share: float = 0.5  # of the predicates on numbers; the others are equalities
    largest_range: int = 20
    attributes: int = 10
    domain_size: int = 70_001
    vocabulary: int = 10_000
    letters: int = 15
    longest: int = 5
    numbers_first: bool = True  # the most popular attribute is one of numbers


class Predicates(NamedTuple):
    """One predicate a row: whose it is, on which attribute, for which of the four lists, and the range or the text.

    Texts are rows of digits, filled up with -1, and reversed for suffixes; numbers have none.
    """

    subscription: Integers
    attribute: Integers
    kind: Integers
    low: Integers
    high: Integers
    text: Integers


class Values(NamedTuple):
    """One value of an event a row: a number, or (number -1) a text as a row of digits."""

    event: Integers
    attribute: Integers
    number: Integers
    text: Integers


def attribute_is_numeric(workload: StringsAndNumbers) -> NDArray[np.bool_]:
    """Spread evenly over the ranks of popularity."""
    ranks = np.arange(workload.attributes + 1)
    shift = -1 if workload.numbers_first else 0
    steps = np.floor((ranks * round(workload.numeric_share * workload.attributes) + shift) / workload.attributes)
    is_numeric: NDArray[np.bool_] = steps[1:] > steps[:-1]
    return is_numeric


def vocabulary(workload: StringsAndNumbers, random: Generator) -> Integers:
    """Different strings, as rows of digits filled up with -1, of each length about as many as of the others."""
    lengths = random.integers(1, workload.longest + 1, 2 * workload.vocabulary)
    digits = random.integers(0, workload.letters, (2 * workload.vocabulary, workload.longest))
    digits[np.arange(workload.longest) >= lengths[:, None]] = -1
    _, first = np.unique(digits, axis=0, return_index=True)
    return digits[np.sort(first)][: workload.vocabulary]


def subscriptions(workload: StringsAndNumbers, words: Integers, random: Generator) -> Predicates:
    has = draw_attributes(workload.attributes, workload.attribute_skew, workload.subscriptions, random)
    subscription, attribute = np.nonzero(has)
    count = len(subscription)
    is_number = attribute_is_numeric(workload)[attribute]
    low = draw(workload.domain_size, workload.value_skew, count, random)
    size = np.where(
        random.random(count) < workload.range_share, random.integers(1, workload.largest_range + 1, count), 1
    )
    high = np.minimum(low + size - 1, workload.domain_size - 1)
    kind = np.where(is_number, LISTS.index(NUMERIC), random.integers(0, 3, count))
    text = words[draw(len(words), workload.value_skew, count, random)]
    text = _pieces(text, kind, random)
    text[is_number] = -1
    return Predicates(subscription, attribute, kind, np.where(is_number, low, -1), np.where(is_number, high, -1), text)


def _pieces(text: Integers, kind: Integers, random: Generator) -> Integers:
    """Prefixes of texts and of reversed texts, where a predicate asks for one."""
    text = text.copy()
    is_suffix = kind == LISTS.index(SUFFIX)
    text[is_suffix] = reversed_texts(text[is_suffix])
    lengths = (text >= 0).sum(axis=1)
    wanted = np.where(kind == LISTS.index(EQUALITY), lengths, random.integers(1, np.maximum(lengths, 1) + 1))
    text[np.arange(text.shape[1]) >= wanted[:, None]] = -1
    return text


def reversed_texts(text: Integers) -> Integers:
    lengths = (text >= 0).sum(axis=1)
    at = lengths[:, None] - 1 - np.arange(text.shape[1])
    return np.where(at >= 0, np.take_along_axis(text, np.maximum(at, 0), axis=1), -1)


def events(workload: StringsAndNumbers, words: Integers, random: Generator) -> Values:
    has = draw_attributes(workload.attributes, workload.attribute_skew, workload.events, random)
    event, attribute = np.nonzero(has)
    is_number = attribute_is_numeric(workload)[attribute]
    number = np.where(is_number, draw(workload.domain_size, workload.value_skew, len(event), random), -1)
    text = words[draw(len(words), workload.value_skew, len(event), random)]
    text[is_number] = -1
    return Values(event, attribute, number, text)


# The same as the language says it, for systems that run message by message.


def text_of(digits: Integers) -> str:
    return "".join(DIGITS[digit] for digit in digits if digit >= 0)


def where_of(predicates: Predicates, subscription: int) -> str:
    rows = np.flatnonzero(predicates.subscription == subscription)
    return " AND ".join(_predicate(predicates, row) for row in rows)


def _predicate(predicates: Predicates, row: np.signedinteger) -> str:
    name, kind = f"a{predicates.attribute[row]}", LISTS[predicates.kind[row]]
    text = text_of(predicates.text[row])
    if kind == NUMERIC:
        return f"{name} BETWEEN {predicates.low[row]} AND {predicates.high[row]}"
    if kind == PREFIX:
        return f"{name} LIKE '{text}%'"
    return f"{name} LIKE '%{text[::-1]}'" if kind == SUFFIX else f"{name} = '{text}'"


def event_of(values: Values, event: int) -> dict[str, int | str]:
    rows = np.flatnonzero(values.event == event)
    return {
        f"a{values.attribute[row]}": int(values.number[row]) if values.number[row] >= 0 else text_of(values.text[row])
        for row in rows
    }
