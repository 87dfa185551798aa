"""How things are measured here: repeated, in turn with the alternative, reported as median and spread.

Every size is multiplied with TIDINGS_BENCH_SCALE, and a run whose answers differ ends with an error.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SCALE_VARIABLE = "TIDINGS_BENCH_SCALE"


def scale() -> float:
    """What all sizes are multiplied with: above 0 and at most 1, which it is unless the environment says otherwise."""
    given = os.environ.get(SCALE_VARIABLE, "1")
    try:
        factor = float(given)
    except ValueError:
        factor = 0
    if not 0 < factor <= 1:
        raise SystemExit(f"{SCALE_VARIABLE} is {given!r}; it is a number above 0 and at most 1, as 0.01")
    return factor


def scaled(count: int, least: int = 1) -> int:
    """A size of a benchmark, scaled down where asked for, but not below `least`."""
    return max(min(least, count), round(count * scale()))


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of each repetition of something that handled `count` things."""

    name: str
    count: int
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def rate(self) -> float:
        """Things per second, by the median."""
        return self.count / self.median

    @property
    def spread(self) -> float:
        """The distance from the fastest to the slowest repetition, as a share of the median."""
        return (max(self.seconds) - min(self.seconds)) / self.median


def in_turn(repetitions: int, count: int, **ways: Callable[[], Any]) -> dict[str, Measured]:
    """Measures the ways one after the other, `repetitions` times round, so that a slow minute hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repetitions):
        for name, way in ways.items():
            gc.collect()
            start = time.perf_counter()
            kept = way()  # kept until the clock is read: freeing it is not part of the work
            seconds[name].append(time.perf_counter() - start)
            del kept
    return {name: Measured(name, count, tuple(each)) for name, each in seconds.items()}


def report(title: str, measured: dict[str, Measured], unit: str, base: str, ours: str) -> None:
    """Prints each way's rate, its spread, its ratio to the way called `base`, and which ways are faster than `ours`."""
    print(f"\n{title}")
    for way in measured.values():
        ratio = way.rate / measured[base].rate
        rate = f"{way.rate:>12,.0f} {unit}/s   spread {way.spread:>4.0%}"
        print(f"  {spelled(way.name):<24} {rate}   {ratio:>8.2f} x {spelled(base)}")
    print(f"  {verdict(measured, ours)}")


def verdict(measured: dict[str, Measured], ours: str) -> str:
    """In words: what is faster than the product here, and by how much."""
    rate = measured[ours].rate
    faster = [f"{spelled(way.name)} ({way.rate / rate:.2f} x)" for way in measured.values() if way.rate > rate]
    return f"faster than {spelled(ours)}: {', '.join(faster) or 'nothing here'}"


def spelled(name: str) -> str:
    return name.replace("_", " ")


# Answers


def matches_in(listed: pa.Table) -> int:
    """How many matches there are in what `match_many(…, lists=True)` gave."""
    return int(pc.sum(pc.list_value_length(listed["subscriptions"])).as_py() or 0)


def matches_per_event(listed: pa.Table) -> np.ndarray[Any, np.dtype[np.int64]]:
    lengths = pc.list_value_length(listed["subscriptions"]).to_numpy()
    return np.asarray(lengths, np.int64)


def same_count(expected: int, **found: int) -> None:
    for name, count in found.items():
        if count != expected:
            raise SystemExit(f"{spelled(name)} found {count:,} matches, and {expected:,} are expected")


def same_counts(expected: np.ndarray[Any, Any], **found: np.ndarray[Any, Any]) -> None:
    """Whether the numbers of matches agree, event by event."""
    for name, counts in found.items():
        if len(counts) != len(expected):
            raise SystemExit(f"{spelled(name)} answered {len(counts):,} events, and {len(expected):,} were given")
        wrong = np.flatnonzero(counts != expected)
        if len(wrong):
            first = wrong[0]
            raise SystemExit(
                f"{spelled(name)} differs in {len(wrong):,} of {len(expected):,} events; in event {first} it found "
                f"{counts[first]:,} matches, and {expected[first]:,} are expected"
            )
