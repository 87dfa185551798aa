"""How things are measured here: repeated, in turn with the alternative, reported as median and spread."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of each repetition of something that handled `count` things."""

    name: str
    count: int
    seconds: tuple[float, ...]

    @property
    def rate(self) -> float:
        """Things per second, by the median."""
        return self.count / statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """The distance from the fastest to the slowest repetition, as a share of the median."""
        return (max(self.seconds) - min(self.seconds)) / statistics.median(self.seconds)


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


def report(title: str, measured: dict[str, Measured], unit: str, base: str) -> None:
    """Prints each way's rate, its spread, and its ratio to the way called `base`."""
    print(f"\n{title}")
    for way in measured.values():
        ratio = way.rate / measured[base].rate
        rate = f"{way.rate:>12,.0f} {unit}/s   spread {way.spread:>4.0%}"
        print(f"  {_spelled(way.name):<20} {rate}   {ratio:>6.2f} x {_spelled(base)}")


def _spelled(name: str) -> str:
    return name.replace("_", " ")
