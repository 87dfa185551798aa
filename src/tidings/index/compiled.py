"""The compiled subscriptions of one matcher: parts that never change, and marks on what was removed from them.

Adding makes a new part; when several parts of one size have gathered they are merged into one, so that there are never
many. A batch of events is encoded once for all parts. What the kernels leave undecided is asked of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tidings.index.arrow_columns import encode_arrow
from tidings.index.assembling import assembled
from tidings.index.encode import EncodedBatch, Encoder
from tidings.index.layout import Array, Segment
from tidings.index.matching import Answers, SegmentMatcher
from tidings.index.placing import Placing
from tidings.index.slots import Slots
from tidings.language.parser import collecting_young_only, parse
from tidings.model.event import Event, Identifier
from tidings.model.predicates import Expression
from tidings.model.result import EventProblem
from tidings.planning.statistics import EventStatistics
from tidings.reference import Reading, Settings, truth

if TYPE_CHECKING:
    import pyarrow

FAN = 8  # parts of one size that are merged into one
_NONE_REMOVED = np.zeros(0, np.uint8)


@dataclass(slots=True, eq=False)
class Part:
    """A segment, the identifiers of its subscriptions by number, and which of them are still there."""

    segment: Segment
    ids: pyarrow.Array
    alive: Array = field(default_factory=_NONE_REMOVED.copy)
    removed: int = 0
    matcher: SegmentMatcher | None = None

    def __len__(self) -> int:
        return len(self.ids) - self.removed

    def remove(self, member: int) -> None:
        if not self.removed:
            self.alive = np.ones(len(self.ids), np.uint8)
        self.alive[member] = 0
        self.removed += 1


@dataclass(frozen=True, slots=True)
class Matched:
    """What a batch matched: for each part, its identifiers and the answers by row; and what it took."""

    parts: tuple[tuple[Part, Answers], ...]
    problems: tuple[EventProblem, ...]
    candidates: int
    mismatches: int

    def ids_of(self, row: int) -> list[Identifier]:
        found: list[Identifier] = []
        for part, answers in self.parts:
            members = answers.members[answers.offsets[row] : answers.offsets[row + 1]]
            if len(members):
                found += part.ids.take(members).to_pylist()
        return found


class CompiledIndex:
    """Subscriptions by identifier; `where_of` gives the text of one, for what only the reference can decide."""

    def __init__(
        self, settings: Settings, where_of: Mapping[Identifier, str], statistics: EventStatistics | None = None
    ) -> None:
        self._settings = settings
        self._where_of = where_of
        self._statistics = statistics or EventStatistics()
        self._slots = Slots()
        self._parts: list[Part] = []
        self._places: dict[Identifier, tuple[Part, int]] = {}
        self._encoder: Encoder | None = None

    def add(self, subscriptions: Iterable[tuple[Identifier, Expression]]) -> None:
        """Adds subscriptions under identifiers that are not there yet."""
        self._parts.append(self._built(subscriptions))
        self._merge_equals()

    def remove(self, id: Identifier) -> None:
        part, member = self._places.pop(id)
        part.remove(member)
        if not len(part):
            self._parts.remove(part)

    # Matching

    def match_events(self, events: list[Event]) -> Matched:
        return self._match(self._encode().events(events), events.__getitem__)

    def match_arrow(self, table: pyarrow.Table, row_of: Callable[[int], Event]) -> Matched:
        return self._match(encode_arrow(table, self._encode()), row_of)

    def _encode(self) -> Encoder:
        if self._encoder is None:
            self._encoder = Encoder(self._slots)
        return self._encoder

    def _match(self, encoded: EncodedBatch, row_of: Callable[[int], Event]) -> Matched:
        readings: dict[int, Reading] = {}

        def reading(row: int) -> Reading:
            if row not in readings:
                readings[row] = Reading(row_of(row), self._settings)
            return readings[row]

        answered = []
        for part in self._parts:
            if part.matcher is None:
                part.matcher = SegmentMatcher(part.segment, len(self._slots))
            verify = _verifier(part.ids, self._where_of, reading)
            answered.append((part, part.matcher.match(encoded.batch, part.alive, verify)))
        return Matched(
            tuple(answered),
            (*encoded.problems, *_unread(encoded.problems, readings)),
            sum(answers.candidates for _, answers in answered),
            sum(each.mismatches for each in readings.values()),
        )

    # Parts

    def _built(self, subscriptions: Iterable[tuple[Identifier, Expression]]) -> Part:
        import pyarrow as pa

        placing = Placing(self._slots, self._statistics)
        ids = []
        for id, expression in collecting_young_only(subscriptions):
            ids.append(id)
            placing.add(expression)
        part = Part(assembled(placing), pa.array(ids, pa.string() if isinstance(ids[0], str) else pa.int64()))
        self._places.update((id, (part, member)) for member, id in enumerate(ids))
        self._encoder = None  # there may be new slots, and with them
        for other in self._parts:
            other.matcher = None  # what is kept per slot is too small
        return part

    def _merge_equals(self) -> None:
        """Merges parts of one order of magnitude once there are FAN of them."""
        while True:
            sizes: dict[int, list[Part]] = {}
            for part in self._parts:
                sizes.setdefault(len(part).bit_length() // (FAN.bit_length() - 1), []).append(part)
            crowded = [parts for parts in sizes.values() if len(parts) >= FAN]
            if not crowded:
                return
            self._replace(crowded[0])

    def _replace(self, parts: list[Part]) -> None:
        merged = self._built((id, parse(self._where_of[id])) for id in _living(parts))
        self._parts = [part for part in self._parts if part not in parts] + [merged]


def _living(parts: list[Part]) -> Iterator[Identifier]:
    for part in parts:
        for member, id in enumerate(part.ids.to_pylist()):
            if not part.removed or part.alive[member]:
                yield id


def _verifier(
    ids: pyarrow.Array, where_of: Mapping[Identifier, str], reading: Callable[[int], Reading]
) -> Callable[[int, int], bool]:
    def verify(member: int, row: int) -> bool:
        return truth(parse(where_of[ids[member].as_py()]), reading(row)) is True

    return verify


def _unread(known: tuple[EventProblem, ...], readings: Mapping[int, Reading]) -> Iterator[EventProblem]:
    """What the reference could not read while it verified, and encoding did not say already."""
    said = {(problem.event, problem.attribute) for problem in known}
    for row, reading in readings.items():
        for problem in reading.problems():
            if (row, problem.attribute) not in said:
                yield EventProblem(row, problem.attribute, problem.reason)
