"""What matching gives back: who must hear of an event, what could not be read, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidings.model.event import Identifier
from tidings.model.predicates import Expression


@dataclass(frozen=True, slots=True)
class Subscription:
    """A standing question and the identifier under which its matches are reported."""

    id: Identifier
    where: Expression


@dataclass(frozen=True, slots=True)
class EventProblem:
    """Something of an event that could not be read; everything else of it was matched.

    `event` is the event's id or its position in the batch; `attribute` is None where it is the event as a whole.
    """

    event: Identifier | None
    attribute: str | None
    reason: str

    def __str__(self) -> str:
        where = "event" if self.event is None else f"event {self.event!r}"
        return f"{where}, {self.attribute}: {self.reason}" if self.attribute else f"{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a match cost.

    An index never looks at a predicate that asks for another type than the event has: it is led by types, and counting
    what it passes by would cost more than matching. So mismatches are those of what the reference was asked about.
    """

    evaluated: int = 0  # subscriptions asked one by one, and entries of an index that were tested
    mismatches: int = 0  # predicates of another type than the value, each time the reference met one
    elapsed_ns: int = 0
    verified: int = 0  # of the entries of an index, those that only the reference could decide


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The subscriptions that an event satisfies, in no particular order."""

    ids: list[Identifier]
    errors: tuple[EventProblem, ...] = ()
    cost: Cost = field(default_factory=Cost)
