"""How the demo's batches are matched: what an engine does, and the embedded matcher as one. The other is `on_spark`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from tidings import Matcher, SubscriptionError
from tidings.demo.data import Wish, gist
from tidings.model.result import EventProblem

Event = dict[str, Any]
TIME = "%H:%M:%S"  # of the one day on which all events are


@dataclass(frozen=True, slots=True)
class Refused:
    id: str
    message: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """What came of one batch: pairs of event and subscription, by which version of the index, and in what time."""

    events: int
    pairs: tuple[tuple[str, str], ...]
    version: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Notification:
    """What one subscriber is told: that an event has satisfied a subscription, when it was, and what it said."""

    subscriber: str
    time: str
    event: str
    subscription: str
    said: str


@dataclass(frozen=True, slots=True)
class Told:
    """How many notifications there are, and the earliest of each subscriber."""

    count: int
    first: tuple[Notification, ...]


class Engine(Protocol):
    """Subscriptions in, batches of events in, pairs and notifications out."""

    def add(self, wishes: Sequence[Wish]) -> tuple[Refused, ...]: ...

    def remove(self, ids: Sequence[str]) -> None: ...

    def streaming(self) -> AbstractContextManager[None]:
        """Events can be delivered inside. There must be subscriptions before."""
        ...

    def deliver(self, events: Sequence[Event]) -> Delivered: ...

    def told(self, each: int) -> Told:
        """All that was delivered, as notifications; the first `each` of a subscriber are shown."""
        ...

    def matcher(self) -> Matcher:
        """The subscriptions as they are now, to explain by."""
        ...


class EmbeddedEngine:
    """The matcher of one process, which asks so few subscriptions one by one: the definition of a match at work."""

    def __init__(self) -> None:
        self._matcher = Matcher()
        self._version = 0
        self._subscribers: dict[str, str] = {}  # also of subscriptions that were removed: they were told
        self._told: list[Notification] = []
        self.problems: list[EventProblem] = []  # what could not be read so far

    def add(self, wishes: Sequence[Wish]) -> tuple[Refused, ...]:
        refused = []
        for wish in wishes:
            try:
                self._matcher.add(wish.id, wish.where)
                self._subscribers[wish.id] = wish.subscriber
            except SubscriptionError as error:
                refused.append(Refused(wish.id, str(error)))
        self._version += 1
        return tuple(refused)

    def remove(self, ids: Sequence[str]) -> None:
        for id in ids:
            self._matcher.remove(id)
        self._version += 1

    def streaming(self) -> AbstractContextManager[None]:
        return nullcontext()

    def deliver(self, events: Sequence[Event]) -> Delivered:
        start = time.perf_counter()
        results = [self._matcher.match(event) for event in events]
        seconds = time.perf_counter() - start
        self.problems += [problem for result in results for problem in result.errors]
        found = [(event, str(id)) for event, result in zip(events, results, strict=True) for id in result.ids]
        self._told += [self._notification(event, id) for event, id in found]
        return Delivered(len(events), tuple((event["id"], id) for event, id in found), self._version, seconds)

    def _notification(self, event: Event, id: str) -> Notification:
        return Notification(self._subscribers[id], event["at"].strftime(TIME), event["id"], id, gist(event))

    def told(self, each: int) -> Told:
        ordered = sorted(self._told, key=lambda told: (told.time, told.event, told.subscription))
        first = [
            told
            for subscriber in sorted({*self._subscribers.values()})
            for told in [told for told in ordered if told.subscriber == subscriber][:each]
        ]
        return Told(len(self._told), tuple(first))

    def matcher(self) -> Matcher:
        return self._matcher
