"""A part of a compiled index: a segment with the identifiers and texts of its subscriptions, and which are still there.

Its arrays never change. It is built in memory, and written to and mapped from a file of arrays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tidings.errors import StoreError
from tidings.index import layout
from tidings.index.array_file import ArrayFile
from tidings.index.assembling import assembled
from tidings.index.changes import COMPILED
from tidings.index.columns import IdColumn, TextColumn
from tidings.index.engines import built, mapped
from tidings.index.facts import Engine
from tidings.index.identifiers import Identifiers
from tidings.index.invariants import check_segment
from tidings.index.layout import Array, Segment
from tidings.index.matching import SegmentMatcher
from tidings.index.placing import Placing
from tidings.index.scoring import Similarities, similarities
from tidings.index.slots import Slots, SlotType
from tidings.language.parser import Asked
from tidings.model.event import Identifier
from tidings.planning.statistics import EventStatistics
from tidings.planning.texts import TextShares
from tidings.reference import Settings

_NONE_REMOVED = np.zeros(0, np.uint8)
_KIND_NAMES = {
    layout.VALUE: "value",
    layout.VALUE_POINT: "value",
    layout.VALUE_UPPER: "value",
    layout.VALUE_LOWER: "value",
    layout.VALUE_BETWEEN: "value",
    layout.VALUE_PAIR: "value",
    layout.UPPER: "upper bound",
    layout.LOWER: "lower bound",
    layout.BETWEEN: "range",
    layout.PAIR: "pair of bounds",
    layout.PREFIX: "prefix",
    layout.SUFFIX: "suffix",
    layout.SUBSTRING: "substring",
}
_FACT_NAMES = {
    SlotType.PATTERN: "words",
    SlotType.SIMILARITY: "similarity",
    SlotType.LATENT: "latent similarity",
    SlotType.XPATH: "paths",
}
OF_SIMILARITY = (SlotType.SIMILARITY, SlotType.LATENT)
_ORDERS = {with_value: _KIND_NAMES.get(kind, "value") for kind, with_value in layout.WITH_VALUE.items()}


@dataclass(slots=True, eq=False)
class Part:
    segment: Segment
    slots: Slots
    ids: Identifiers
    wheres: TextColumn
    engines: Mapping[int, Engine] = field(default_factory=dict)  # by the slot of their facts
    alive: Array = field(default_factory=_NONE_REMOVED.copy)  # uint8: 0 for each that was removed; empty if none was
    removed: int = 0
    file: str | None = None  # the segment file that holds it
    matcher: SegmentMatcher | None = None
    _similarities: Similarities | None = None

    def __len__(self) -> int:
        return len(self.ids) - self.removed

    def find(self, id: Identifier) -> int:
        """The number of a subscription that is still there, or NOT_FOUND."""
        number = self.ids.find(id)
        return number if number < 0 or not self.removed or self.alive[number] else -1

    def remove(self, number: int) -> None:
        if not self.removed:
            self.alive = np.ones(len(self.ids), np.uint8)
        assert self.alive[number]
        self.alive[number] = 0
        self.removed += 1

    def find_many(self, ids: Sequence[Identifier]) -> Array:
        """The same of many."""
        numbers = self.ids.find_many(ids)
        return np.where((numbers >= 0) & (self.alive[numbers] != 0), numbers, -1) if self.removed else numbers

    def remove_many(self, ids: Sequence[Identifier]) -> None:
        """Removes those that are there."""
        for number in set(self.find_many(ids).tolist()) - {-1}:
            self.remove(number)

    def rows(self) -> Iterator[tuple[Identifier, str]]:
        """Identifier and text of every subscription that is still there."""
        pairs = zip(self.ids.column, self.wheres, strict=True)
        return (pair for number, pair in enumerate(pairs) if not self.removed or self.alive[number])

    def dead(self) -> list[Identifier]:
        """The identifiers of what was removed."""
        return [self.ids.column[number] for number in np.flatnonzero(self.alive == 0).tolist()] if self.removed else []

    @property
    def nbytes(self) -> int:
        """Of all its arrays but the identifiers themselves."""
        texts = self.wheres.start.nbytes + self.wheres.data.nbytes
        engines = sum(array.nbytes for array in self._engine_arrays().values())
        return self.segment.nbytes + texts + self.ids.keys.nbytes + self.ids.numbers.nbytes + engines

    def paths(self, number: int) -> list[str]:
        """How events find a subscription: the kind of table and its slots, once for each place where it stands."""
        segment, names = self.segment, list(self.slots)
        first_entries = segment.bucket_entries[segment.table_buckets]
        found: dict[str, None] = {}  # each once
        for entry in np.flatnonzero(segment.entry_member == number):
            table = int(np.searchsorted(first_entries, entry, side="right")) - 1
            checks = int(segment.entry_checks[entry + 1] - segment.entry_checks[entry])
            found[_path(segment, names, table, checks)] = None
        return list(found) or ["never: it cannot be satisfied"]

    def scanned(self) -> int:
        """How many subscriptions that are still there are tested for every event, whatever is in it."""
        segment = self.segment
        first_entries = segment.bucket_entries[segment.table_buckets]
        tables = np.flatnonzero(segment.table_kind == layout.SCAN)
        entries = [segment.entry_member[first_entries[table] : first_entries[table + 1]] for table in tables]
        members = np.unique(np.concatenate(entries)) if entries else np.zeros(0, np.int64)
        return int(np.count_nonzero(self.alive[members])) if self.removed else len(members)

    def similarities(self) -> Similarities:
        """What scores need to know, which is learned when they are first asked for."""
        if self._similarities is None:
            slots = [number for number, (_, kind) in enumerate(self.slots) if kind in OF_SIMILARITY]
            self._similarities = similarities(self.segment, self.wheres, slots)
        return self._similarities

    def check(self) -> None:
        """Asserts every invariant of the part: slow, for tests and for doubts."""
        check_segment(self.segment, len(self.slots))
        self.ids.check()
        assert len(self.wheres) == len(self.ids) == len(self.segment.member_shared)
        assert len(self.alive) == (len(self.ids) if self.removed else 0)
        assert np.count_nonzero(self.alive == 0) == self.removed
        assert set(self.engines) == {number for number, (_, kind) in enumerate(self.slots) if kind.is_of_facts}
        for engine in self.engines.values():
            engine.check()

    # Files

    def arrays(self) -> dict[str, Array]:
        """All but what it removes from the parts before it, which is for the writer to say."""
        wheres = {"where_start": self.wheres.start, "where_data": self.wheres.data}
        return self.ids.arrays() | wheres | self.segment._asdict() | self._engine_arrays()

    def _engine_arrays(self) -> dict[str, Array]:
        return {
            f"engine{slot}.{name}": array
            for slot, engine in self.engines.items()
            for name, array in engine.arrays().items()
        }

    def notes(self) -> dict[str, Any]:
        return {
            COMPILED: True,
            "layout": layout.LAYOUT,
            "subscriptions": len(self.ids),
            "slots": [[list(path), kind.name] for path, kind in self.slots],
        }

    @classmethod
    def from_file(cls, name: str, file: ArrayFile, settings: Settings) -> Part:
        """The part that a file holds, as it was written: what later changes removed is not marked yet."""
        written = file.notes.get("layout")
        if written != layout.LAYOUT:
            raise StoreError(
                f"{file.path} has arrays of the layout {written}, and this version of tidings reads {layout.LAYOUT}; "
                "make the matcher anew from its subscriptions"
            )
        slots = Slots((tuple(path), SlotType[kind]) for path, kind in file.notes["slots"])
        segment = Segment(**{name: file.arrays[name] for name in Segment._fields})
        wheres = TextColumn(file.arrays["where_start"], file.arrays["where_data"])
        engines = {
            number: mapped(kind, _named(file.arrays, f"engine{number}."), settings)
            for number, (_, kind) in enumerate(slots)
            if kind.is_of_facts
        }
        return cls(segment, slots, Identifiers.from_arrays(file.arrays), wheres, engines, file=name)


def _named(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _path(segment: Segment, names: Sequence[tuple[tuple[str, ...], SlotType]], table: int, checks: int) -> str:
    kind = int(segment.table_kind[table])
    further = f"then {checks} check{'s' * (checks != 1)}" if checks else "exact"
    if kind == layout.SCAN:
        return f"tested for every event, {further}"
    lead = int(np.searchsorted(segment.slot_tables, table, side="right")) - 1
    second = int(segment.table_second[table])
    ordered = f", ordered by {_ORDERS[kind]} of {'.'.join(names[second][0])}" if second >= 0 else ""
    path, slot_type = names[lead]
    found_by = _FACT_NAMES.get(slot_type, _KIND_NAMES[kind])
    return f"by {found_by} of {'.'.join(path)}{ordered}, {further}"


class PartBuilder:
    """Subscriptions on their way into a part: placed as they come, assembled at the end. An identifier comes once."""

    def __init__(self, statistics: EventStatistics, settings: Settings) -> None:
        self._settings = settings
        self._statistics = statistics
        self._slots = Slots()
        self._placing = Placing(self._slots, statistics, TextShares(settings.analyser, settings.statistics))
        self._positions: dict[Identifier, int] = {}
        self._wheres: list[str] = []
        self._removed: set[Identifier] = set()

    @property
    def untouched(self) -> bool:
        return not self._positions

    def __len__(self) -> int:
        """How many are there, without those that were removed again."""
        return len(self._positions) - len(self._removed)

    def __contains__(self, id: object) -> bool:
        return id in self._positions and id not in self._removed

    def had(self, id: Identifier) -> bool:
        """Whether the identifier was added, even if it was removed since."""
        return id in self._positions

    def add(self, id: Identifier, where: str, asked: Asked) -> None:
        self._positions[id] = len(self._wheres)
        self._wheres.append(where)
        self._placing.add(asked)

    def remove(self, id: Identifier) -> None:
        self._removed.add(id)

    def where_of(self, id: Identifier) -> str:
        return self._wheres[self._positions[id]]

    def rows(self) -> Iterator[tuple[Identifier, str]]:
        pairs = zip(self._positions, self._wheres, strict=True)
        return (pair for pair in pairs if pair[0] not in self._removed)

    def part(self) -> Part:
        segment, added = assembled(self._placing)
        ids, order = list(self._positions), added.tolist()
        column = IdColumn.of([ids[position] for position in order])
        wheres = TextColumn.of([self._wheres[position] for position in order])
        part = Part(segment, self._slots, Identifiers.of(column), wheres, self._engines())
        for id in self._removed:
            part.remove(part.ids.find(id))
        return part

    def _engines(self) -> dict[int, Engine]:
        slots, known = list(self._slots), self._statistics
        engines: dict[int, Engine] = {}
        for slot, questions in self._placing.checks.questions.items():
            path, kind = slots[slot]
            engines[slot] = built(kind, list(questions), self._settings, known.of(".".join(path)).documents)
        return engines
