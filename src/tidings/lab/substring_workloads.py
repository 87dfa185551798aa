"""Paper 2's workload: records of up to five string attributes, and subscriptions that ask for substrings of values.

Where the paper is silent the choice is ours: values are words of one vocabulary of random strings over 15 letters, by
Zipf popularity; a predicate asks for a random stretch of a drawn word. Attributes come as in paper 1's workload.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tidings.lab.zipf import draw, draw_attributes
from tidings.rendezvous.ranges import DIGITS


@dataclass(frozen=True, slots=True)
class Substrings:
    subscriptions: int
    events: int
    attributes: int = 5
    attribute_skew: float = 0.8
    value_skew: float = 0.8
    vocabulary: int = 5_000
    letters: int = 15
    value_lengths: tuple[int, int] = (3, 8)  # both included
    piece_lengths: tuple[int, int] = (2, 5)


class Pieces(NamedTuple):
    """One predicate a row: `attribute` contains `text`."""

    subscription: NDArray[np.int64]
    attribute: NDArray[np.int64]
    text: Sequence[str]


class Words(NamedTuple):
    """One value of an event a row: `attribute` is the word of that number."""

    event: NDArray[np.int64]
    attribute: NDArray[np.int64]
    word: NDArray[np.int64]


def vocabulary(workload: Substrings, random: Generator) -> list[str]:
    low, high = workload.value_lengths
    lengths = random.integers(low, high + 1, workload.vocabulary)
    digits = random.integers(0, workload.letters, (workload.vocabulary, high))
    return ["".join(DIGITS[digit] for digit in row[:length]) for row, length in zip(digits, lengths, strict=True)]


def pieces(workload: Substrings, words: Sequence[str], random: Generator) -> Pieces:
    has = draw_attributes(workload.attributes, workload.attribute_skew, workload.subscriptions, random)
    subscription, attribute = np.nonzero(has)
    low, high = workload.piece_lengths
    chosen = draw(len(words), workload.value_skew, len(subscription), random)
    lengths, places = random.integers(low, high + 1, len(chosen)), random.random(len(chosen))
    texts = [
        _stretch(words[word], int(length), float(at)) for word, length, at in zip(chosen, lengths, places, strict=True)
    ]
    return Pieces(subscription, attribute, texts)


def _stretch(word: str, length: int, place: float) -> str:
    """`length` characters of the word, or all of them; `place` from 0 to 1 says where."""
    length = min(length, len(word))
    begin = int(place * (len(word) - length + 1))
    return word[begin : begin + length]


def values(workload: Substrings, random: Generator) -> Words:
    has = draw_attributes(workload.attributes, workload.attribute_skew, workload.events, random)
    event, attribute = np.nonzero(has)
    return Words(event, attribute, draw(workload.vocabulary, workload.value_skew, len(event), random))


# The same as the language says it.


def where_of(asked: Pieces, subscription: int) -> str:
    rows = np.flatnonzero(asked.subscription == subscription).tolist()
    return " AND ".join(f"contains(a{asked.attribute[row]}, '{asked.text[row]}')" for row in rows)


def event_of(published: Words, words: Sequence[str], event: int) -> dict[str, str]:
    rows = np.flatnonzero(published.event == event).tolist()
    return {f"a{published.attribute[row]}": words[int(published.word[row])] for row in rows}
