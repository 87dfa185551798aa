"""What is known of events before they come: how often attributes are there, and which values they take.

Learned from a sample of events, guessed from the subscriptions themselves (people ask about what occurs), or nothing
known at all. Statistics only steer which predicate a conjunction is indexed under; a wrong guess costs time and never
a match.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from tidings.errors import EventError
from tidings.model.event import Event
from tidings.model.predicates import Expression, Matches, literals_of, predicates_of
from tidings.model.text import TextPattern
from tidings.model.values import AttributeType, Literal, Unreadable, type_of
from tidings.planning.documents import Reservoir, is_document

SAMPLE = 1_000  # values of an attribute that are kept


@dataclass(frozen=True, slots=True)
class AttributeStatistics:
    """Of one attribute: the share of events that have it, and a sample of its values in order, by type.

    `distinct` counts the different values in the sample; `common` has the share of each that occurs more than once.
    `documents` is a sample of the values that look like XML documents. `patterns` counts the different text patterns
    that subscriptions ask of it, and is 0 where they were not looked at.
    """

    present: float
    distinct: int
    common: Mapping[Any, float] = field(default_factory=dict)
    numbers: tuple[float, ...] = ()
    strings: tuple[str, ...] = ()
    documents: tuple[str | bytes, ...] = ()
    patterns: int = 0

    def equal(self, literal: Literal) -> float:
        """The share of events whose value is this one."""
        distinct = min(self.distinct, 2) if literal.type is AttributeType.BOOLEAN else self.distinct
        return self.present * self.common.get(_counted(literal.value), 1.0 / max(1, distinct))

    def within(self, low: float | None, high: float | None) -> float:
        """The share of events whose number lies between the bounds; None is no bound."""
        if not self.numbers:
            return self.present * DEFAULT_RANGE
        start = 0 if low is None else bisect_left(self.numbers, low)
        end = len(self.numbers) if high is None else bisect_right(self.numbers, high)
        return self.present * max(end - start, 0.5) / len(self.numbers)


DEFAULT_RANGE = 0.3
NOTHING_KNOWN = AttributeStatistics(present=1.0, distinct=100)


@dataclass(frozen=True, slots=True)
class EventStatistics:
    """Statistics by attribute, in dotted form, and how many events or predicates they rest on."""

    attributes: Mapping[str, AttributeStatistics] = field(default_factory=dict)
    observed: int = 0

    def of(self, attribute: object) -> AttributeStatistics:
        found = self.attributes.get(str(attribute))
        if found is not None:
            return found
        # An attribute that no event of a sample has is rare, and the rarer the larger the sample.
        return NOTHING_KNOWN if not self.observed else AttributeStatistics(1.0 / (self.observed + 1), 1)


def learn_from_events(events: Iterable[Event | Mapping[str, Any]]) -> EventStatistics:
    """The statistics of a sample of events. What is no event teaches nothing."""
    values: dict[str, list[Any]] = {}
    reservoirs: dict[str, Reservoir] = {}
    present: Counter[str] = Counter()
    observed = 0
    for source in events:
        try:
            event = Event.of(source)
        except EventError:
            continue
        observed += 1
        for path, found in _leaves(event.attributes, ""):
            present[path] += 1
            values.setdefault(path, []).extend(found if isinstance(found, tuple) else (found,))
            reservoirs.setdefault(path, Reservoir()).offer(found)
    attributes = {
        path: replace(_attribute(kept, present[path] / observed), documents=reservoirs[path].documents())
        for path, kept in values.items()
    }
    return EventStatistics(attributes, observed)


def learn_from_subscriptions(expressions: Iterable[Expression]) -> EventStatistics:
    """What the literals of subscriptions suggest: an attribute asked for many different values takes many."""
    values: dict[str, list[Any]] = {}
    patterns: dict[str, set[TextPattern]] = {}
    for predicate in (each for expression in expressions for each in predicates_of(expression)):
        path = str(predicate.attribute)
        if isinstance(predicate, Matches):
            patterns.setdefault(path, set()).add(predicate.pattern)
        elif literals := literals_of(predicate):
            values.setdefault(path, []).extend(literal.value for literal in literals)
    attributes = {}
    for path in values.keys() | patterns.keys():
        known = NOTHING_KNOWN
        if path in values:
            guessed = _attribute(values[path], 1.0)
            # How often a value is asked for says nothing of how often it occurs.
            known = AttributeStatistics(1.0, guessed.distinct, {}, guessed.numbers, guessed.strings)
        attributes[path] = replace(known, patterns=len(patterns.get(path, ())))
    return EventStatistics(attributes, 0)


def _attribute(values: list[Any], present: float) -> AttributeStatistics:
    known = [
        value for value in values if value is not None and not isinstance(value, Unreadable | dict | tuple | bytes)
    ]
    step = max(1, len(known) // SAMPLE)
    sample = known[::step]
    counts = Counter(_counted(value) for value in known if value == value)  # NaN equals nothing that is asked for
    total = max(1, len(known))
    common = {value: count / total for value, count in counts.most_common(SAMPLE) if count > 1}
    numbers = sorted(number for value in sample if (number := as_number(value)) is not None)
    strings = sorted(value for value in sample if isinstance(value, str) and not is_document(value))
    return AttributeStatistics(present, max(1, len(counts)), common, tuple(numbers), tuple(strings))


def as_number(value: Any) -> float | None:
    """Numbers and times on one line, for the shares of ranges; None for what has no place on it."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, str | bytes):
        return None
    try:
        number = float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return None if number != number else number


def _counted(value: Any) -> Any:
    """A value as the literal that equals it, so that 1, 1.0 and Decimal(1) are counted as one, and True apart."""
    return (type_of(value), value) if isinstance(value, bool) else value


def _leaves(record: Mapping[str, Any], before: str) -> Iterable[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{name}.")
        elif value is not None:
            yield f"{before}{name}", value
