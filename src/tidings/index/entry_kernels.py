"""From entries to what is found: slices of ready answers where nothing is left to check, else single hits.

An entry that stands in several places is emitted once: subscriptions are stamped with the serial number of the row. A
row whose findings do not fit is marked as full, and taken again with more room by whoever called.
"""

from __future__ import annotations

import numpy as np

from tidings.index import layout
from tidings.index.check_kernels import FALSE, UNDECIDED, check_truth
from tidings.index.compiling import compiled, compiled_into_callers
from tidings.index.layout import BATCH as B
from tidings.index.layout import FOUND as F
from tidings.index.layout import SCRATCH as M
from tidings.index.layout import SEGMENT as S
from tidings.index.lookup_kernels import first_at_least
from tidings.index.views import int32s, int64s, uint8s

SLICES_USED, HITS_USED, CANDIDATES, UNDECIDED_HITS, FULL = 0, 1, 2, 3, 4  # in `used` of FOUND
_VALUE_POINT, _VALUE_UPPER = layout.VALUE_POINT, layout.VALUE_UPPER
_VALUE_BETWEEN, _VALUE_PAIR = layout.VALUE_BETWEEN, layout.VALUE_PAIR
_UPPER, _BETWEEN, _PAIR = layout.UPPER, layout.BETWEEN, layout.PAIR
_EMPTY, _INEXACT = layout.EMPTY, layout.INEXACT
_BLOCK_1, _BLOCK_2, _BLOCK_3 = layout.BLOCK, layout.BLOCK**2, layout.BLOCK**3


@compiled_into_callers
def member_of(seg, table, entry):  # type: ignore[no-untyped-def]
    """The subscription of an entry of a sliced table, counted from the first of the table, which is in the cache."""
    first = int64s(seg, S.bucket_entries)[int64s(seg, S.table_buckets)[table]]
    return int32s(seg, S.entry_member)[first] + entry - first


@compiled_into_callers
def emit_slice(seg, table, found, start, end):  # type: ignore[no-untyped-def]
    """Entries of a sliced table, whose subscriptions have consecutive numbers."""
    if end <= start:
        return
    slices, used = int64s(found, F.slices), int64s(found, F.used)
    at = 2 * used[SLICES_USED]
    if at == len(slices):
        used[FULL] = 1
        return
    slices[at] = member_of(seg, table, start)
    slices[at + 1] = end - start
    used[SLICES_USED] += 1


@compiled
def emit_hit(seg, scratch, found, entry, undecided):  # type: ignore[no-untyped-def]
    member = int32s(seg, S.entry_member)[entry]
    stamp, serial = int64s(scratch, M.stamp), int64s(scratch, M.serial)[0]
    if stamp[member] == serial:
        return
    stamp[member] = serial
    hits, used = int64s(found, F.hits), int64s(found, F.used)
    if used[HITS_USED] == len(hits):
        used[FULL] = 1
        return
    hits[used[HITS_USED]] = ~np.int64(entry) if undecided else np.int64(member)
    used[HITS_USED] += 1
    if undecided:
        used[UNDECIDED_HITS] += 1


@compiled
def try_entry(seg, batch, scratch, found, entry, inexact):  # type: ignore[no-untyped-def]
    """Emits the subscription of an entry if its checks hold; undecided if what led to it is `inexact`."""
    int64s(found, F.used)[CANDIDATES] += 1
    guard = int32s(seg, S.entry_guard)[entry]
    if guard >= 0 and int64s(scratch, M.seen)[guard] != int64s(scratch, M.serial)[0]:
        return
    undecided = inexact
    entry_checks, entry_check = int64s(seg, S.entry_checks), int32s(seg, S.entry_check)
    for i in range(entry_checks[entry], entry_checks[entry + 1]):
        truth = check_truth(seg, entry_check[i], batch, scratch)
        if truth == FALSE:
            return
        if truth == UNDECIDED:
            undecided = True
    emit_hit(seg, scratch, found, entry, undecided)


@compiled_into_callers
def take_entries(seg, table, start, end, batch, scratch, found, inexact, once):  # type: ignore[no-untyped-def]
    """Entries from start to end: as one slice where the table is sliced and they are met only once."""
    if uint8s(seg, S.table_sliced)[table] and once and not inexact:
        emit_slice(seg, table, found, start, end)
        return
    for entry in range(start, end):
        try_entry(seg, batch, scratch, found, entry, inexact)


@compiled
def take_once(seg, table, start, end, batch, scratch, found):  # type: ignore[no-untyped-def]
    """Entries that are always taken together, and may be met again in the same row: marked by the first of them."""
    stamp, serial = int64s(scratch, M.stamp), int64s(scratch, M.serial)[0]
    if uint8s(seg, S.table_sliced)[table]:
        first = member_of(seg, table, start)
        if stamp[first] == serial:
            return
        stamp[first] = serial
    take_entries(seg, table, start, end, batch, scratch, found, False, True)


@compiled
def next_reaching(seg, entry, end, low):  # type: ignore[no-untyped-def]
    """The next entry whose upper bound is not below `low`, or `end`; what ends too early is passed in large steps."""
    entry_high, entry_reach = int64s(seg, S.entry_high), int64s(seg, S.entry_reach)
    second = (len(entry_high) + _BLOCK_1 - 1) // _BLOCK_1
    third = second + (second + _BLOCK_1 - 1) // _BLOCK_1
    while entry < end:
        if entry % _BLOCK_1 == 0:
            if entry % _BLOCK_3 == 0 and entry + _BLOCK_3 <= end and entry_reach[third + entry // _BLOCK_3] < low:
                entry += _BLOCK_3
                continue
            if entry % _BLOCK_2 == 0 and entry + _BLOCK_2 <= end and entry_reach[second + entry // _BLOCK_2] < low:
                entry += _BLOCK_2
                continue
            if entry + _BLOCK_1 <= end and entry_reach[entry // _BLOCK_1] < low:
                entry += _BLOCK_1
                continue
        if entry_high[entry] >= low:
            return entry
        entry += 1
    return end


@compiled
def take_reaching(seg, table, start, end, low, batch, scratch, found, inexact, once):  # type: ignore[no-untyped-def]
    """Of entries ordered by their lower bound those whose upper bound is not below `low`: they stand in few runs."""
    entry_high = int64s(seg, S.entry_high)
    while True:
        start = next_reaching(seg, start, end, low)
        if start >= end:
            return
        run = start
        while run < end and entry_high[run] >= low:
            run += 1
        take_entries(seg, table, start, run, batch, scratch, found, inexact, once)
        start = run


@compiled_into_callers
def take_ordered(  # type: ignore[no-untyped-def]
    seg, table, kind, start, end, low, high, batch, scratch, found, inexact, once
):
    """Of entries ordered by their bound, those that values from low to high satisfy."""
    if kind == _UPPER or kind == _VALUE_UPPER:
        start = first_at_least(int64s(seg, S.entry_high), start, end, low)
    else:
        end = first_at_least(int64s(seg, S.entry_low), start, end, high + 1)
    if kind == _VALUE_POINT:
        start = first_at_least(int64s(seg, S.entry_low), start, end, low)
    if kind == _BETWEEN or kind == _VALUE_BETWEEN or kind == _PAIR or kind == _VALUE_PAIR:
        take_reaching(seg, table, start, end, low, batch, scratch, found, inexact, once)
    else:
        take_entries(seg, table, start, end, batch, scratch, found, inexact, True)


@compiled_into_callers
def take_by_bound(seg, table, kind, slot, start, end, batch, scratch, found, inexact):  # type: ignore[no-untyped-def]
    """Entries whose bounds the values of `slot` satisfy: each value for POINT and BETWEEN, else their extremes."""
    if int64s(scratch, M.seen)[slot] != int64s(scratch, M.serial)[0]:
        return
    first, count, keys = int64s(scratch, M.first)[slot], int32s(scratch, M.counts)[slot], int64s(batch, B.key)
    flags = uint8s(batch, B.flags)[first]
    if flags & _EMPTY:
        return
    unsure = (flags & _INEXACT) != 0
    widened = 1 if unsure else 0  # a number between two float64s may lie on either side of the nearest
    inexact = inexact or unsure
    each = kind == _BETWEEN or kind == _VALUE_BETWEEN or kind == _VALUE_POINT
    for entry in range(first, first + count if each else first + 1):
        low = high = keys[entry]
        if not each:
            for other in range(first + 1, first + count):
                low, high = min(low, keys[other]), max(high, keys[other])
        low, high = low - widened, high + widened
        take_ordered(seg, table, kind, start, end, low, high, batch, scratch, found, inexact, count == 1 or not each)
