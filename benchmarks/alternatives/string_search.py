"""Strings without an index: one pass of an Aho-Corasick automaton over each string, a loop, and for equality a dict.

The automaton holds each different piece once, for titles and for authors apart, and `occurrences` is nothing but its
pass: the least that must be done to find pieces anywhere. It does not yet know the subscriptions; `matches` does, and
is what verifies the counts. For beginnings, ends and whole strings the pass does more than would be needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ahocorasick_rs import AhoCorasick, Implementation

from benchmarks.data import Publication
from benchmarks.workloads.strings import ATTRIBUTES, TESTS, StringQuestion


def values_of(event: Publication, attribute: str) -> Sequence[str]:
    return (event.title,) if attribute == "title" else event.authors


class OnePass:
    """All pieces in one automaton per attribute."""

    def __init__(self, questions: Iterable[StringQuestion]) -> None:
        asked: dict[str, dict[str, Counter[str]]] = {attribute: {} for attribute in ATTRIBUTES}
        for question in questions:
            asked[question.attribute].setdefault(question.piece, Counter())[question.kind] += 1
        self._kinds = {attribute: list(pieces.values()) for attribute, pieces in asked.items()}
        self._pieces = {attribute: list(pieces) for attribute, pieces in asked.items()}
        self._automata = {
            attribute: AhoCorasick(pieces, implementation=Implementation.ContiguousNFA)
            for attribute, pieces in self._pieces.items()
        }

    def occurrences(self, events: Iterable[Publication]) -> int:
        """How often pieces occur in titles and names."""
        in_title = self._automata["title"].find_matches_as_indexes
        in_name = self._automata["authors"].find_matches_as_indexes
        found = 0
        for event in events:
            found += len(in_title(event.title, overlapping=True))
            for name in event.authors:
                found += len(in_name(name, overlapping=True))
        return found

    def matches(self, event: Publication) -> int:
        """How many subscriptions hold of the event: each occurrence tested, each question counted once."""
        return sum(self._of_attribute(attribute, values_of(event, attribute)) for attribute in ATTRIBUTES)

    def _of_attribute(self, attribute: str, values: Sequence[str]) -> int:
        pieces, kinds = self._pieces[attribute], self._kinds[attribute]
        true = {
            (number, kind)
            for value in values
            for number, _, _ in set(self._automata[attribute].find_matches_as_indexes(value, overlapping=True))
            for kind in kinds[number]
            if TESTS[kind](value, pieces[number])
        }
        return sum(kinds[number][kind] for number, kind in true)


# A loop over all pieces: the numbers of those that hold of any of the values


def _prefixes(values: Sequence[str], pieces: Sequence[str]) -> int:
    return len({number for value in values for number, piece in enumerate(pieces) if value.startswith(piece)})


def _suffixes(values: Sequence[str], pieces: Sequence[str]) -> int:
    return len({number for value in values for number, piece in enumerate(pieces) if value.endswith(piece)})


def _contained(values: Sequence[str], pieces: Sequence[str]) -> int:
    return len({number for value in values for number, piece in enumerate(pieces) if piece in value})


def _equal(values: Sequence[str], pieces: Sequence[str]) -> int:
    return len({number for value in values for number, piece in enumerate(pieces) if value == piece})


LOOPS: dict[str, Callable[[Sequence[str], Sequence[str]], int]] = {
    "prefix": _prefixes,
    "suffix": _suffixes,
    "word": _contained,
    "substring": _contained,
    "equality": _equal,
}


class Loop:
    """The pieces of each kind and attribute in a list, and every one of them tried."""

    def __init__(self, questions: Iterable[StringQuestion]) -> None:
        self._pieces: dict[tuple[str, str], list[str]] = {}
        for question in questions:
            self._pieces.setdefault((question.kind, question.attribute), []).append(question.piece)

    def matches(self, event: Publication) -> int:
        return sum(
            LOOPS[kind](values_of(event, attribute), pieces) for (kind, attribute), pieces in self._pieces.items()
        )


class ByValue:
    """For equality alone: a dict from the value to those who ask for it."""

    def __init__(self, questions: Sequence[StringQuestion]) -> None:
        self._askers: dict[str, dict[str, list[int]]] = {attribute: {} for attribute in ATTRIBUTES}
        for number, question in enumerate(questions):
            if question.kind != "equality":
                raise ValueError(f"a dict finds equal strings only, and question {number} is a {question.kind}")
            self._askers[question.attribute].setdefault(question.piece, []).append(number)

    def answers(self, event: Publication) -> list[int]:
        found = list(self._askers["title"].get(event.title, ()))
        for name in dict.fromkeys(event.authors):
            found += self._askers["authors"].get(name, ())
        return found
