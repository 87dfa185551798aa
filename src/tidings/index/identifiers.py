"""From an identifier to its number in a segment: keys of all identifiers in order, and whose they are.

The key of an integer is itself, that of a string a hash; two strings with one key are told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidings.index.columns import IdColumn, TextColumn
from tidings.index.keys import hash_bytes, hash_strings
from tidings.index.layout import Array
from tidings.model.event import Identifier

NOT_FOUND = -1


@dataclass(frozen=True, slots=True, eq=False)
class Identifiers:
    """The identifiers of a segment by number, and their numbers. No two are equal."""

    column: IdColumn
    keys: Array  # int64, in order
    numbers: Array  # int32: whose key it is

    @classmethod
    def of(cls, column: IdColumn) -> Identifiers:
        keys = _keys(column)
        order = np.argsort(keys, kind="stable")
        return cls(column, keys[order], order.astype(np.int32))

    def __len__(self) -> int:
        return len(self.column)

    def find(self, id: Identifier) -> int:
        """The number of an identifier, or NOT_FOUND."""
        if isinstance(id, str) != self.column.are_texts:
            return NOT_FOUND
        key = int(hash_bytes(np.frombuffer(id.encode(), np.uint8), 0, len(id.encode()))) if isinstance(id, str) else id
        for at in range(int(np.searchsorted(self.keys, key)), len(self.keys)):
            if self.keys[at] != key:
                break
            if self.column[self.numbers[at]] == id:
                return int(self.numbers[at])
        return NOT_FOUND

    def find_many(self, ids: Sequence[Identifier]) -> Array:
        """The number of each, or NOT_FOUND. All at once is far quicker than one by one."""
        column = IdColumn.of(ids)
        if not len(ids) or column.are_texts != self.column.are_texts or not len(self):
            return np.full(len(ids), NOT_FOUND, np.int64)
        keys = _keys(column)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found = np.where(self.keys[at] == keys, self.numbers[at].astype(np.int64), NOT_FOUND)
        if column.are_texts:  # a hash is not the string yet
            for position in np.flatnonzero(found != NOT_FOUND).tolist():
                found[position] = self.find(ids[position])
        return found

    def arrays(self) -> dict[str, Array]:
        return self.column.arrays("id") | {"id_keys": self.keys, "id_numbers": self.numbers}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Identifiers:
        return cls(IdColumn.from_arrays("id", arrays), arrays["id_keys"], arrays["id_numbers"])

    def check(self) -> None:
        """Asserts that every identifier is found, once."""
        assert np.array_equal(np.sort(self.numbers), np.arange(len(self)))
        assert np.array_equal(self.keys, _keys(self.column)[self.numbers])
        assert np.all(self.keys[1:] >= self.keys[:-1])
        assert all(self.find(id) == number for number, id in enumerate(self.column))


def _keys(column: IdColumn) -> Any:
    if isinstance(column.values, TextColumn):
        return hash_strings(column.values.data, column.values.start)
    return column.values
