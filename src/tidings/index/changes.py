"""A change to the subscriptions of an index, which is what a segment file holds: identifiers that are removed from all
segments before it, and subscriptions that are added. Replacing is both.

An index is what its changes make of nothing, one after the other. A change with few subscriptions is only this; one
with many also has the arrays of a compiled segment (`part`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tidings.index.array_file import ArrayFile
from tidings.index.columns import IdColumn, TextColumn
from tidings.index.layout import Array
from tidings.model.event import Identifier

COMPILED = "compiled"  # in the notes of a file: whether it has the arrays of a segment


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    removed: IdColumn
    ids: IdColumn
    wheres: TextColumn

    @classmethod
    def of(cls, removed: Iterable[Identifier], added: Mapping[Identifier, str]) -> Change:
        return cls(IdColumn.of(list(removed)), IdColumn.of(list(added)), TextColumn.of(list(added.values())))

    def arrays(self) -> dict[str, Array]:
        wheres = {"where_start": self.wheres.start, "where_data": self.wheres.data}
        return self.removed.arrays("removed") | self.ids.arrays("id") | wheres

    def notes(self) -> dict[str, Any]:
        return {COMPILED: False, "subscriptions": len(self.ids), "removed": len(self.removed)}

    @classmethod
    def from_file(cls, file: ArrayFile) -> Change:
        arrays = file.arrays
        wheres = TextColumn(arrays["where_start"], arrays["where_data"])
        return cls(IdColumn.from_arrays("removed", arrays), IdColumn.from_arrays("id", arrays), wheres)
