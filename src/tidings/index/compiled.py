"""The compiled subscriptions of one matcher: parts that never change, and marks on what was removed from them.

What is added is placed at once and assembled into a new part when the next event comes; when several parts of one size
have gathered at the end they are merged into one, so that there are never many. Parts stay in the order of their
changes. A batch of events is encoded once for all parts. What the kernels leave undecided is asked of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tidings.index.answers import Scores
from tidings.index.arrow_columns import encode_arrow
from tidings.index.encode import EncodedBatch, Encoder
from tidings.index.finding import Finder, with_facts
from tidings.index.layout import Array
from tidings.index.matching import Findings, SegmentMatcher
from tidings.index.part import Part, PartBuilder
from tidings.index.scoring import scores
from tidings.index.slots import Slots, SlotType
from tidings.index.verifying import Verifier, expression_of
from tidings.index.views import batch_directory
from tidings.language.parser import Asked, bound, collecting_young_only, parse, read
from tidings.model.event import Event, Identifier
from tidings.model.predicates import Attribute, Expression
from tidings.model.result import EventProblem
from tidings.planning.statistics import EventStatistics, learn_from_subscriptions
from tidings.reference import Reading, Settings, score

if TYPE_CHECKING:
    import pyarrow

FAN = 4  # parts of about one size that are merged into one; each part reads the texts of an event by itself
MOST_PLACED = 2_000_000  # subscriptions that may wait, placed, for the next event
SAMPLE = 1_000  # subscriptions from which it is guessed which attributes take many values
Added = tuple[Identifier, str, Asked]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Matched:
    """What a batch matched: what each part found, which is good until the index is asked again, and what it took."""

    parts: tuple[tuple[Part, Findings], ...]
    problems: tuple[EventProblem, ...]
    candidates: int
    verified: int
    mismatches: int
    encoded: EncodedBatch
    finders: tuple[Finder, ...]
    reading: Callable[[int], Reading]  # of a row

    def scores(self) -> Iterator[tuple[Part, Scores]]:
        """How similar what each part found is to what it asks for."""
        for part, findings in self.parts:
            finders = {
                slot: finder
                for slot, engine in part.engines.items()
                for finder in self.finders
                if finder.engine is engine
            }

            def of_reference(number: int, row: int, part: Part = part) -> float | None:
                return score(expression_of(part.wheres[number]), self.reading(row))

            yield part, scores(part.similarities(), findings, self.encoded, finders, of_reference)


class CompiledIndex:
    """Subscriptions by identifier."""

    def __init__(
        self, settings: Settings, statistics: EventStatistics | None = None, parts: Iterable[Part] = ()
    ) -> None:
        self._settings = settings
        self._statistics = statistics  # None: what the subscriptions themselves suggest
        self._builder = PartBuilder(EventStatistics(), settings)
        self._parts = list(parts)
        self._encoder: Encoder | None = None
        self._finders: tuple[Finder, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts in the order of their changes; what waited is assembled now."""
        self._assemble()
        return tuple(self._parts)

    def learn(self, statistics: EventStatistics) -> None:
        """What is compiled from now on is arranged by these statistics of events."""
        self._statistics = statistics
        self._assemble()

    def add(self, subscriptions: Sequence[Added]) -> None:
        """Adds subscriptions under identifiers that are not there."""
        if len(self._builder) >= MOST_PLACED or any(map(self._builder.had, (each[0] for each in subscriptions))):
            self._assemble()
        if self._builder.untouched:
            self._builder = PartBuilder(
                self._known([bound(each[2]) for each in _sample(subscriptions)]), self._settings
            )
        place = self._builder.add
        for id, where, asked in collecting_young_only(subscriptions):
            place(id, where, asked)

    def built(self, subscriptions: Sequence[Added]) -> Part:
        """A part of these, which is not one of this index yet."""
        builder = PartBuilder(self._known([bound(each[2]) for each in _sample(subscriptions)]), self._settings)
        for id, where, asked in collecting_young_only(subscriptions):
            builder.add(id, where, asked)
        return builder.part()

    def _known(self, sample: Iterable[Expression]) -> EventStatistics:
        return self._statistics or learn_from_subscriptions(sample)

    def id_kind(self) -> type | None:
        """The kind of identifiers, or None where there is no subscription."""
        if len(self._builder):
            return type(next(id for id, _ in self._builder.rows()))
        return next((str if part.ids.column.are_texts else int for part in self._parts if len(part)), None)

    def remove(self, ids: Sequence[Identifier]) -> None:
        """Removes subscriptions; what is not there stays away."""
        for id in ids:
            if id in self._builder:
                self._builder.remove(id)
        for part in self._parts:
            part.remove_many(ids)

    def __len__(self) -> int:
        return len(self._builder) + sum(len(part) for part in self._parts)

    def __contains__(self, id: Identifier) -> bool:
        return id in self._builder or self._place(id)[0] is not None

    def among(self, ids: Sequence[Identifier]) -> set[Identifier]:
        """Those of the identifiers that are there."""
        found = {id for id in ids if id in self._builder}
        for part in self._parts:
            found.update(id for id, number in zip(ids, part.find_many(ids).tolist(), strict=True) if number >= 0)
        return found

    def where_of(self, id: Identifier) -> str | None:
        if id in self._builder:
            return self._builder.where_of(id)
        part, number = self._place(id)
        return None if part is None else part.wheres[number]

    def paths_of(self, id: Identifier) -> list[str]:
        """How events find a subscription that is there."""
        self._assemble()
        part, number = self._place(id)
        return [] if part is None else part.paths(number)

    def rows(self) -> Iterator[tuple[Identifier, str]]:
        for part in self._parts:
            yield from part.rows()
        yield from self._builder.rows()

    def scanned(self) -> int:
        """How many subscriptions are tested for every event."""
        return sum(part.scanned() for part in self.parts)

    def check(self) -> None:
        """Asserts every invariant: of each part, and that no subscription is there twice."""
        for part in self._parts:
            part.check()
        ids = [id for id, _ in self.rows()]
        assert len(ids) == len(set(ids)) == len(self)

    def _place(self, id: Identifier) -> tuple[Part | None, int]:
        for part in reversed(self._parts):
            number = part.find(id)
            if number >= 0:
                return part, number
        return None, -1

    # Matching

    def match_events(self, events: list[Event]) -> Matched:
        return self._match(self._encode().events(events), events.__getitem__)

    def match_arrow(self, table: pyarrow.Table, row_of: Callable[[int], Event]) -> Matched:
        return self._match(encode_arrow(table, self._encode()), row_of)

    def _encode(self) -> Encoder:
        self._assemble()
        if self._encoder is None:
            slots = Slots(slot for part in self._parts for slot in part.slots if not slot[1].is_of_facts)
            self._encoder = Encoder(slots)
            finders: list[Finder] = []
            places = [_slots_in(slots, finders, part) for part in self._parts]
            for part, own in zip(self._parts, places, strict=True):
                local = np.full(len(slots) + len(finders), -1, np.int32)
                local[own] = np.arange(len(own), dtype=np.int32)
                part.matcher = SegmentMatcher(part.segment, local)
            self._finders = tuple(finders)
        return self._encoder

    def _match(self, encoded: EncodedBatch, row_of: Callable[[int], Event]) -> Matched:
        encoded = with_facts(encoded, self._finders)
        readings: dict[int, Reading] = {}

        def reading(row: int) -> Reading:
            if row not in readings:
                readings[row] = Reading(row_of(row), self._settings)
            return readings[row]

        batch, rows = batch_directory(*encoded.batch), encoded.rows
        found = []
        for part in self._parts:
            assert part.matcher is not None
            verify = Verifier(part.segment, part.wheres, encoded, reading)
            found.append((part, part.matcher.match(batch, rows, part.alive, verify)))
        return Matched(
            tuple(found),
            (*encoded.problems, *_unread(encoded.problems, readings)),
            sum(findings.candidates for _, findings in found),
            sum(findings.verified for _, findings in found),
            sum(each.mismatches for each in readings.values()),
            encoded,
            self._finders,
            reading,
        )

    # Parts

    def _assemble(self) -> None:
        """Makes a part of what waits, drops parts of which most was removed, and merges what has gathered."""
        if self._builder.untouched:
            return
        builder, self._builder = self._builder, PartBuilder(EventStatistics(), self._settings)
        if not len(builder):
            return  # all of it was removed again
        self.take([*self._parts, builder.part()])
        while count := self.crowded():
            self.take(self.merged(count))

    def take(self, parts: Iterable[Part]) -> None:
        """Goes on with these parts instead of those that there are."""
        self._parts = list(parts)
        self._encoder = None

    def crowded(self) -> int:
        """How many of the last parts are to be merged."""
        return crowded(self._parts)

    def merged(self, count: int) -> tuple[Part, ...]:
        """The parts as they are with the last of them made one. Nothing changes until they are taken."""
        parts = self.parts
        if count == 1 and not parts[-1].removed:
            return parts
        last = parts[len(parts) - count :]
        return (*parts[: len(parts) - count], *([self._merged(last)] if any(map(len, last)) else []))

    def _merged(self, parts: Sequence[Part]) -> Part:
        """One part of what is still there in several."""
        largest = max(parts, key=len)
        sample = [parse(largest.wheres[number]) for number in _sample(range(len(largest.ids)))]
        builder = PartBuilder(self._known(sample), self._settings)
        for id, where in collecting_young_only(row for part in parts for row in part.rows()):
            builder.add(id, where, read(where))
        return builder.part()


def crowded(parts: Sequence[Part]) -> int:
    """How many of the last parts are to be merged: FAN of one order of magnitude, with the smaller ones among them, or
    one of which most was removed, with those after it.

    Smaller ones do not count: a large part is merged with parts of its size, and not again and again with small ones.
    """
    tiers = [len(part).bit_length() // (FAN.bit_length() - 1) for part in parts]
    for tier in sorted(set(tiers)):
        run = list(takewhile(tier.__ge__, reversed(tiers)))
        if run.count(tier) >= FAN:
            return len(run)
    wasted = [number for number, part in enumerate(parts) if part.removed > len(part)]
    return len(parts) - wasted[-1] if wasted else 0


def _sample(rows: Sequence[T]) -> Sequence[T]:
    return rows[:: max(1, len(rows) // SAMPLE)]


def _slots_in(slots: Slots, finders: list[Finder], part: Part) -> Array:
    """The numbers that the slots of a part have among all. Facts are numbered by each part for itself, so that their
    slots are the part's own, behind the others, and each comes with its finder."""
    found = []
    for number, (path, kind) in enumerate(part.slots):
        if kind.is_of_facts:
            strings, raws = slots.find(path, SlotType.STRING), slots.find(path, SlotType.BYTES)
            assert strings is not None
            raw = -1 if raws is None or kind is not SlotType.XPATH else raws
            slot = len(slots) + len(finders)
            finders.append(Finder(part.engines[number], slot, strings, raw, str(Attribute(path))))
        else:
            slot = slots.number(path, kind)
        found.append(slot)
    return np.array(found, np.int64)


def _unread(known: tuple[EventProblem, ...], readings: Mapping[int, Reading]) -> Iterator[EventProblem]:
    """What the reference could not read while it verified, and encoding did not say already."""
    said = {(problem.event, problem.attribute) for problem in known}
    for row, reading in readings.items():
        for problem in reading.problems():
            if (row, problem.attribute) not in said:
                yield EventProblem(row, problem.attribute, problem.reason)
