"""Entries on their way into a segment, as columns: one entry for each place where a conjunction is found.

Nearly all are made many at a time, as arrays (`recipes`); the others come one by one and are turned into arrays as they
gather. The order of entries means nothing until `assembling` sorts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tidings.index.layout import Array

GATHERED = 16_384  # single entries that are turned into arrays together


class Entry(NamedTuple):
    """One conjunction in one place: the table it goes to, its key there, and what is left to check."""

    member: int  # the subscription, in the order of adding
    kind: int
    lead: int = -1
    key: int = 0
    text: int = -1  # the string behind the key, or -1
    second: int = -1  # the slot of the range that could order it, or -1
    order: int = -1  # the kind of that range
    low: int = 0
    high: int = 0
    whole: int = -1  # SUBSTRING: the whole string
    array: int = 0  # 1 where only an element of an array is meant
    checks: tuple[int, ...] = ()


class Columns(NamedTuple):
    """The same of many entries, with as many checks as `checks` says, which stand one after the other in `check`."""

    member: Array
    kind: Array
    lead: Array
    key: Array
    text: Array
    second: Array
    order: Array
    low: Array
    high: Array
    whole: Array
    array: Array
    checks: Array
    check: Array


_TYPES = {
    "member": np.int32,
    "kind": np.uint8,
    "lead": np.int32,
    "key": np.int64,
    "text": np.int32,
    "second": np.int32,
    "order": np.int8,
    "low": np.int64,
    "high": np.int64,
    "whole": np.int32,
    "array": np.uint8,
    "checks": np.int32,
    "check": np.int32,
}


class Entries:
    """What was placed so far."""

    def __init__(self) -> None:
        self._single: list[Entry] = []
        self._blocks: list[Columns] = []

    def append(self, entry: Entry) -> None:
        self._single.append(entry)
        if len(self._single) >= GATHERED:
            self._gather()

    def extend(self, columns: Columns) -> None:
        self._blocks.append(columns)

    def columns(self) -> Columns:
        """All entries, those that came one by one after the others of their time."""
        self._gather()
        return Columns(*map(np.concatenate, zip(*self._blocks, strict=True)))

    def _gather(self) -> None:
        fields: list[Sequence[Any]] = list(zip(*self._single, strict=True)) or [()] * len(Entry._fields)
        checks = fields.pop()
        fields += [[len(some) for some in checks], [check for some in checks for check in some]]
        types = _TYPES.values()
        self._blocks.append(Columns(*(np.array(field, kind) for field, kind in zip(fields, types, strict=True))))
        self._single = []


def alike(count: int, **columns: Any) -> Columns:
    """Columns of so many entries; a single value stands for all of them, a field not named is as in `Entry`."""
    given = {**Entry._field_defaults, "checks": 0, "check": np.zeros(0, np.int32), **columns}
    made = {}
    for name, kind in _TYPES.items():
        column = given[name]
        made[name] = np.full(count, column, kind) if isinstance(column, int) else np.asarray(column, kind)
    return Columns(**made)
