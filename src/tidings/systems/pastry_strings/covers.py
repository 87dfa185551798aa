"""Ranges cut into aligned intervals, many at once: what `rendezvous.ranges.interval_cover` does for one."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]


class Covers(NamedTuple):
    """Intervals: which range each belongs to, its first number, and how many digits it leaves open."""

    ranges: Integers
    numbers: Integers
    free: Integers


def covers(lows: Integers, highs: Integers, base: int, digits: int) -> Covers:
    """The fewest intervals for each of the ranges low..high, both included, of numbers with so many digits."""
    which, low, high = np.arange(len(lows)), lows.astype(np.int64), highs.astype(np.int64)
    found: list[tuple[Integers, Integers, Integers]] = []
    while len(which):
        free = np.zeros(len(which), np.int64)
        for open_digits in range(1, digits):
            size = base**open_digits
            free[(low % size == 0) & (low + size - 1 <= high)] = open_digits
        found.append((which, low, free))
        low = low + base**free
        left = low <= high
        which, low, high = which[left], low[left], high[left]
    ranges, numbers, free = (np.concatenate(column) for column in zip(*found, strict=True)) if found else (lows,) * 3
    order = np.lexsort((numbers, ranges))
    return Covers(ranges[order], numbers[order], free[order])
