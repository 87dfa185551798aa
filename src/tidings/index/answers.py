"""From what was found to what is handed out: the subscriptions of every row, as one Arrow array.

Several findings, of the parts of an index and of those that were asked one by one, are counted first, and then each
writes its share of every row into one array. Identifiers that are integers are written as they are; strings as numbers
into a dictionary, because a subscription matches more often than it is written down. Needs no compiler by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from tidings.index.columns import IdColumn
from tidings.index.layout import Array
from tidings.model.event import Identifier

if TYPE_CHECKING:
    import pyarrow


class Finder(Protocol):
    """Which subscriptions were found for each row, by their numbers."""

    def count(self, counts: Array) -> None:
        """Adds to counts[r] how many row r has."""

    def fill_numbers(self, base: int, places: Array, answers: Array) -> None:
        """Writes base + number for each, those of row r from places[r] on, and moves places[r] behind them."""

    def fill_ids(self, ids: Array, places: Array, answers: Array) -> None:
        """Writes ids[number] for each in the same way."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Numbers that were found by asking: those of row r are numbers[offsets[r]:offsets[r + 1]]."""

    offsets: Array
    numbers: Array

    @classmethod
    def of(cls, found: Sequence[Sequence[int]]) -> Asked:
        offsets = np.zeros(len(found) + 1, np.int64)
        np.cumsum([len(row) for row in found], out=offsets[1:])
        return cls(offsets, np.array([number for row in found for number in row], np.int64))

    def count(self, counts: Array) -> None:
        counts += np.diff(self.offsets)

    def fill_numbers(self, base: int, places: Array, answers: Array) -> None:
        counts = np.diff(self.offsets)
        answers[np.repeat(places - self.offsets[:-1], counts) + np.arange(len(self.numbers))] = base + self.numbers
        places += counts

    def fill_ids(self, ids: Array, places: Array, answers: Array) -> None:
        Asked(self.offsets, ids[self.numbers]).fill_numbers(0, places, answers)


class Scores(NamedTuple):
    """Matches that have a score: the row, the number of the subscription, the score."""

    row: Array  # int64, rising
    number: Array  # int64
    score: Array  # float64

    @classmethod
    def of(cls, row: Array, number: Array, score: Array) -> Scores:
        """Of matches of which some have none, and NaN for it."""
        has = ~np.isnan(score)
        return cls(row[has], number[has], score[has])


class Answers:
    """What all have found in a batch of so many rows; identifiers of one kind, integers while there is none."""

    def __init__(self, rows: int, kind: type | None) -> None:
        self._rows = rows
        self._are_texts = kind is str
        self._found: list[tuple[IdColumn, Finder]] = []

    def add(self, ids: IdColumn, finder: Finder) -> None:
        self._found.append((ids, finder))

    def arrow(self) -> tuple[Array, pyarrow.Array]:
        """Offsets by row, and the subscriptions of all rows."""
        import pyarrow as pa

        offsets = np.zeros(self._rows + 1, np.int64)
        for _, finder in self._found:
            finder.count(offsets[1:])
        np.cumsum(offsets, out=offsets)
        places = offsets[:-1].copy()
        count = int(offsets[-1])
        # Arrow's memory: what is given back serves the next batch; fresh memory costs more than the writing.
        buffer = pa.allocate_buffer(count * (4 if self._are_texts else 8))
        if not self._are_texts:
            answers = np.frombuffer(buffer, np.int64)
            for ids, finder in self._found:
                assert isinstance(ids.values, np.ndarray)
                finder.fill_ids(ids.values, places, answers)
            return offsets, pa.Array.from_buffers(pa.int64(), count, [None, buffer])
        numbers, base = np.frombuffer(buffer, np.int32), 0
        for ids, finder in self._found:
            finder.fill_numbers(base, places, numbers)
            base += len(ids)
        codes = pa.Array.from_buffers(pa.int32(), count, [None, buffer])
        return offsets, pa.DictionaryArray.from_arrays(codes, self._dictionary())

    def _dictionary(self) -> pyarrow.Array:
        import pyarrow as pa

        if len(self._found) == 1:
            return self._found[0][0].arrow()  # without a copy
        return pa.concat_arrays([pa.array([], pa.large_string()), *[ids.arrow() for ids, _ in self._found]])


def numbers_found(finder: Finder, rows: int) -> tuple[Array, Array]:
    """Offsets by row, and the numbers of the subscriptions of all rows."""
    offsets = np.zeros(rows + 1, np.int64)
    finder.count(offsets[1:])
    np.cumsum(offsets, out=offsets)
    numbers = np.empty(offsets[-1], np.int32)
    finder.fill_numbers(0, offsets[:-1].copy(), numbers)
    return offsets, numbers


def ids_of_row(ids: IdColumn, finder: Finder) -> list[Identifier]:
    """The identifiers of a batch of one row."""
    _, numbers = numbers_found(finder, 1)
    if not len(numbers):
        return []
    if isinstance(ids.values, np.ndarray):
        return ids.values[numbers].tolist()  # type: ignore[no-any-return]
    return [ids[number] for number in numbers.tolist()]
