"""The counting algorithm as Fabret et al. describe it, as a compiled kernel, for comparisons of integers.

Each attribute has an index of its predicates per operator, ordered by their bounds, so that those which a value
satisfies lie side by side. Every subscription has a counter of satisfied predicates; one that reaches the number of
its predicates is a match. Counters are not reset: each carries the number of the event it counts for. That number,
the count and the number of predicates share 32 bits, so that a satisfied predicate touches one word of memory.
Counters of 8 and 16 bits, counters that are set back after each event, and counting without branches were measured
beside it, and were slower. Events come as flat arrays of numbered attributes, with nothing left to look up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from benchmarks.workloads.attributes import ATTRIBUTES, OPERATORS, Numbers, Predicates, Records

MOST = 15  # predicates in a subscription: a counter has four bits
LAST_STAMP = 2**24 - 1  # an event's number has 24


class Counting:
    """Subscriptions as the algorithm keeps them; `match` answers a run of events."""

    def __init__(self, predicates: Predicates) -> None:
        needed = np.bincount(predicates.subscription, minlength=predicates.subscriptions)
        if needed.max(initial=0) > MOST:
            raise ValueError(f"a subscription has {needed.max()} predicates; a counter here counts up to {MOST}")
        group = predicates.attribute * len(OPERATORS) + predicates.operator
        order = np.lexsort((predicates.subscription, predicates.value, group))
        self._starts = np.searchsorted(group[order], np.arange(ATTRIBUTES * len(OPERATORS) + 1))
        self._bounds = predicates.value[order].astype(np.int32)
        self._members = predicates.subscription[order].astype(np.uint32)  # unsigned: no test for a negative place
        self._needed = needed.astype(np.uint32) << 4
        self._counters = self._needed.copy()
        self._stamp = 0

    def match(self, events: Records, start: int, end: int) -> tuple[Numbers, np.ndarray[Any, np.dtype[np.uint32]]]:
        """For each event from `start` up to `end` where its answers end, and the answers, event by event."""
        if self._stamp + end - start > LAST_STAMP:
            self._counters[:] = self._needed
            self._stamp = 0
        arrays = (self._starts, self._bounds, self._members, self._counters)
        ends, answers = _count(events.offsets[start : end + 1], events.attribute, events.value, *arrays, self._stamp)
        self._stamp += end - start
        return ends, answers


@njit(cache=True, nogil=True)
def _count(offsets, attribute, value, starts, bounds, members, counters, stamp):  # type: ignore[no-untyped-def]
    ends = np.empty(len(offsets) - 1, np.int64)
    answers = np.empty(1024, np.uint32)
    found = 0
    for event in range(len(offsets) - 1):
        stamp += 1
        for at in range(offsets[event], offsets[event + 1]):
            for operator in range(5):
                group = attribute[at] * 5 + operator
                start, end = starts[group], starts[group + 1]
                first, last = _satisfied(bounds[start:end], operator, value[at])
                while found + last - first > len(answers):
                    answers = np.concatenate((answers, np.empty_like(answers)))
                found = _hit(members[start + first : start + last], counters, np.uint32(stamp), answers, found)
        ends[event] = found
    return ends, answers[:found]


@njit(cache=True, nogil=True)
def _satisfied(bounds, operator, value):  # type: ignore[no-untyped-def]
    """The part of ordered bounds whose predicates the value satisfies; operators as they stand in OPERATORS."""
    if operator == 0:
        return np.searchsorted(bounds, value), np.searchsorted(bounds, value, "right")
    if operator == 1:  # value < bound
        return np.searchsorted(bounds, value, "right"), len(bounds)
    if operator == 2:
        return np.searchsorted(bounds, value), len(bounds)
    if operator == 3:  # value > bound
        return 0, np.searchsorted(bounds, value)
    return 0, np.searchsorted(bounds, value, "right")


@njit(cache=True, nogil=True)
def _hit(members, counters, stamp, answers, found):  # type: ignore[no-untyped-def]
    """Counts a satisfied predicate of each member. A counter: 24 bits stamp, 4 bits needed, 4 bits counted."""
    for member in members:
        counter = counters[member]
        if counter >> np.uint32(8) != stamp:
            counter = (stamp << np.uint32(8)) | (counter & np.uint32(0xF0))
        counter += np.uint32(1)
        counters[member] = counter
        if counter & np.uint32(15) == (counter >> np.uint32(4)) & np.uint32(15):
            answers[found] = member
            found += 1
    return found
