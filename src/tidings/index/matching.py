"""A segment at work: encoded events in, the numbers of the subscriptions that match out.

What the kernels leave undecided (text, XPath, regular expressions, numbers of many digits) goes to `verify`, which asks
the reference about that subscription and that row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tidings.index.kernels import REJECTED, count_rows, fill, match_rows
from tidings.index.layout import Array, Batch, Found, Scratch, Segment

FIRST_ROOM = 1_024  # slices and hits, at first


@dataclass(frozen=True, slots=True)
class Answers:
    """Row r is matched by members[offsets[r]:offsets[r + 1]]; `candidates` entries were tested to find that out."""

    offsets: Array
    members: Array
    candidates: int
    verified: int


class SegmentMatcher:
    """One thread's use of a segment: it keeps what the kernels write while they work."""

    def __init__(self, segment: Segment, slots: int) -> None:
        self.segment = segment
        self._scratch = Scratch(
            seen=np.zeros(slots, np.int64),
            first=np.zeros(slots, np.int64),
            counts=np.zeros(slots, np.int32),
            stamp=np.zeros(len(segment.member_shared), np.int64),
            serial=np.zeros(1, np.int64),
        )
        self._slices = np.empty((FIRST_ROOM, 2), np.int64)
        self._hits = np.empty(FIRST_ROOM, np.int64)

    def match(self, batch: Batch, alive: Array, verify: Callable[[int, int], bool]) -> Answers:
        """`alive` has 0 for each subscription that was removed, and is empty where none was."""
        rows = len(batch.starts) - 1
        found = self._found(batch, rows)
        verified = _verified(found, rows, alive, verify)
        offsets = np.zeros(rows + 1, np.int64)
        total = count_rows(found, alive, self.segment.entry_member, rows, offsets)
        members = np.empty(total, np.int32)
        fill(found, alive, self.segment.entry_member, rows, members)
        return Answers(offsets, members, int(found.used[2]), verified)

    def _found(self, batch: Batch, rows: int) -> Found:
        used = np.zeros(4, np.int64)
        ends = np.zeros((2, rows), np.int64)
        row = 0
        while True:
            found = Found(self._slices, self._hits, ends[0], ends[1], used)
            row = match_rows(self.segment, batch, self._scratch, found, row, rows)
            if row == rows:
                return found
            self._slices = np.concatenate([self._slices, np.empty_like(self._slices)])
            self._hits = np.concatenate([self._hits, np.empty_like(self._hits)])
            used[3] = 0


def _verified(found: Found, rows: int, alive: Array, verify: Callable[[int, int], bool]) -> int:
    """Decides the undecided hits, and says how many there were. What was removed is not asked."""
    undecided = np.flatnonzero(found.hits[: found.used[1]] < 0)
    row_of = np.searchsorted(found.hits_end[:rows], undecided, side="right")
    for at, row in zip(undecided, row_of, strict=True):
        member = ~int(found.hits[at])
        there = not len(alive) or alive[member]
        found.hits[at] = member if there and verify(member, int(row)) else REJECTED
    return len(undecided)
