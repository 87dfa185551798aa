"""`Matcher.match` of one event at a million stock alerts: the whole of it, and what it takes beyond its answer.

Beyond the answer is measured twice: as the time of the same event changed so that nothing matches (an unknown symbol,
no volume), and as what a straight line through time against number of matches leaves for no matches. The kernel by
hand of `stocks` answers the same single events, whose symbols are numbered beforehand, with an array of numbers.
Counts are verified in each event.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.data import quotes
from benchmarks.filling import filled
from benchmarks.measuring import same_counts, scaled, spelled
from benchmarks.stocks import Limit, alerts, texts

SUBSCRIPTIONS = scaled(1_000_000)
QUOTES = 40_000  # from which thresholds are drawn
EVENTS = scaled(2_000, least=500)
REPETITIONS = 5
Microseconds = np.ndarray[Any, np.dtype[np.float64]]  # of each repetition, in rows, and each event


def run() -> None:
    table, where_from = quotes(QUOTES)
    made = alerts(table, SUBSCRIPTIONS)
    matcher, _ = filled(texts(made))
    chosen = table.slice(0, EVENTS)
    limit = Limit(made, chosen)
    events = chosen.to_pylist()
    unmatched = [{**event, "symbol": "no such symbol", "volume": -1} for event in events]
    matches = np.array([len(matcher.match(event).ids) for event in events])
    same_counts(np.array([len(limit.run(at, at + 1)) for at in range(EVENTS)]), match=matches)
    same_counts(np.zeros(EVENTS, np.int64), unmatched=np.array([len(matcher.match(event).ids) for event in unmatched]))
    print(f"\nlatency: one event at a time, {SUBSCRIPTIONS:,} stock alerts, {EVENTS:,} events ({where_from})")
    print(f"  {matches.mean():,.0f} matches an event, at most {matches.max():,}; verified in each")
    microseconds = one_by_one(
        EVENTS,
        kernel_by_hand=lambda at: limit.run(at, at + 1),
        match=lambda at: matcher.match(events[at]),
        match_without_matches=lambda at: matcher.match(unmatched[at]),
    )
    for name, each in microseconds.items():
        print(f"  {spelled(name):<24} {summary(each)}")
    beyond, per_match = straight_line(matches, np.median(microseconds["match"], axis=0))
    print(
        f"  match, by a straight line: {beyond:,.1f} µs beyond the answer, and {per_match * 1e3:,.1f} ns for each match"
    )
    ratio = np.median(microseconds["match"]) / np.median(microseconds["kernel_by_hand"])
    print(f"  the kernel by hand is {'faster' if ratio > 1 else 'not faster'}: match takes {ratio:.1f} times as long")


def one_by_one(count: int, **ways: Callable[[int], Any]) -> dict[str, Microseconds]:
    """Measures each event by itself, the ways in turn. Python's collector waits for the end of each round."""
    taken = {name: np.empty((REPETITIONS, count)) for name in ways}
    for repetition in range(REPETITIONS):
        for name, way in ways.items():
            gc.collect()
            gc.disable()
            taken[name][repetition] = [_microseconds(way, at) for at in range(count)]
            gc.enable()
    return taken


def _microseconds(way: Callable[[int], Any], at: int) -> float:
    start = time.perf_counter_ns()
    kept = way(at)  # kept until the clock is read: freeing it is not part of the work
    taken = time.perf_counter_ns() - start
    del kept
    return taken / 1e3


def summary(taken: Microseconds) -> str:
    """Median and 99th percentile over the events of a repetition: the median of the repetitions, and their spread."""
    medians, tails = np.median(taken, axis=1), np.percentile(taken, 99, axis=1)
    return "   ".join(
        f"{name} {np.median(each):>8,.1f} µs (spread {np.ptp(each) / np.median(each):>4.0%})"
        for name, each in (("median", medians), ("99th percentile", tails))
    )


def straight_line(matches: Sequence[int] | np.ndarray[Any, Any], microseconds: Microseconds) -> tuple[float, float]:
    """Time without matches, and for each match, by least squares."""
    slope, constant = np.polyfit(np.asarray(matches, np.float64), microseconds, 1)
    return float(constant), float(slope)
