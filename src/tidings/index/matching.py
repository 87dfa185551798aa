"""A segment at work: encoded events in, the numbers of the subscriptions that match out.

What the kernels leave undecided (regular expressions, ILIKE, fractions of many digits) goes to `verify`, which asks the
reference (`verifying`). Text, similarity and XPath come with the events, as facts (`finding`).
Findings of several segments are written into one answer: count each, make the room, let each fill its share of every
row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tidings.index.kernels import match_rows
from tidings.index.layout import Array, Found, Scratch, Segment
from tidings.index.views import directory
from tidings.index.writing_kernels import REJECTED, count_rows, fill

FIRST_ROOM = 1_024  # slices and hits, at first
_NO_IDS = np.zeros(0, np.int64)
_NO_IDS.flags.writeable = False  # as identifiers are, so that the kernel is compiled once
Verify = Callable[[Array, Array], Array]  # whether entries hold of rows


@dataclass(frozen=True, slots=True)
class Findings:
    """What one segment found in a batch; good until the segment is asked again. `candidates` entries were tested, of
    which `verified` were left to the reference."""

    directory: Array
    alive: Array
    candidates: int
    verified: int

    def count(self, counts: Array) -> None:
        """Adds the number of answers of each row."""
        count_rows(self.directory, self.alive, counts)

    def fill_numbers(self, base: int, places: Array, answers: Array) -> None:
        fill(self.directory, self.alive, _NO_IDS, np.int64(base), places, answers)

    def fill_ids(self, ids: Array, places: Array, answers: Array) -> None:
        fill(self.directory, self.alive, ids, np.int64(0), places, answers)


class SegmentMatcher:
    """One thread's use of a segment: it keeps what the kernels write while they work."""

    def __init__(self, segment: Segment, local: Array) -> None:
        """`local` leads from the slots of encoded events to those of the segment."""
        slots = len(segment.slot_tables) - 1
        scratch = Scratch(
            local=local,
            seen=np.zeros(slots, np.int64),
            first=np.zeros(slots, np.int64),
            counts=np.zeros(slots, np.int32),
            stamp=np.zeros(len(segment.member_shared), np.int64),
            serial=np.zeros(1, np.int64),
            memo=np.zeros(len(segment.check_rows) // 4, np.int64),
        )
        self._kept = segment, scratch  # alive, for the kernels know their addresses only
        self._segment, self._scratch = directory(segment), directory(scratch)
        self._arrays = _room(2 * FIRST_ROOM, FIRST_ROOM, 1)
        self._found = directory(self._arrays)

    def match(self, batch: Array, rows: int, alive: Array, verify: Verify) -> Findings:
        """`batch` is a directory. `alive` has 0 for each subscription that was removed, and is empty where none was."""
        if len(self._arrays.slices_end) < rows:
            self._make_room(len(self._arrays.slices), len(self._arrays.hits), rows)
        used = self._arrays.used
        used[:] = 0
        row = match_rows(self._segment, batch, self._scratch, self._found, 0, rows)
        while row < rows:
            self._make_room(2 * len(self._arrays.slices), 2 * len(self._arrays.hits), len(self._arrays.slices_end))
            row = match_rows(self._segment, batch, self._scratch, self._found, row, rows)
        undecided = int(self._arrays.used[3])
        if undecided:
            self._verify(rows, alive, verify)
        return Findings(self._found, alive, int(self._arrays.used[2]), undecided)

    def _verify(self, rows: int, alive: Array, verify: Verify) -> None:
        """Decides the undecided hits. What was removed is not asked."""
        found, members = self._arrays, self._kept[0].entry_member
        at = np.flatnonzero(found.hits[: found.used[1]] < 0)
        row = np.searchsorted(found.hits_end[:rows], at, side="right")
        entry = ~found.hits[at]
        found.hits[at] = REJECTED
        there = np.flatnonzero(alive[members[entry]]) if len(alive) else np.arange(len(at))
        holding = there[verify(entry[there], row[there])]
        found.hits[at[holding]] = members[entry[holding]]

    def _make_room(self, slices: int, hits: int, rows: int) -> None:
        """More room, with what was found so far."""
        larger = _room(slices, hits, rows)
        for old, new in zip(self._arrays, larger, strict=True):
            new[: len(old)] = old
        larger.used[4] = 0
        self._arrays, self._found = larger, directory(larger)


def _room(slices: int, hits: int, rows: int) -> Found:
    sizes = (slices, hits, rows, rows, 5)
    return Found(*[np.zeros(size, np.int64) for size in sizes])
