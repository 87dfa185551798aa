"""Matching, compiled: for each row, from its values through the tables to what is found there.

`match_rows` finds ranges of ready answers and single hits (`entry_kernels`, `string_kernels`); `writing_kernels` write
them out. The arrays come as directories (`views`). All kernels also run as plain Python (NUMBA_DISABLE_JIT=1), so that
a fault shows as an error and not as a wrong answer.
"""

from __future__ import annotations

import numpy as np

from tidings.index import layout
from tidings.index.check_kernels import is_text
from tidings.index.compiling import compiled
from tidings.index.entry_kernels import (
    CANDIDATES,
    FULL,
    HITS_USED,
    SLICES_USED,
    UNDECIDED_HITS,
    member_of,
    take_by_bound,
    take_entries,
    try_entry,
)
from tidings.index.hashing import home
from tidings.index.layout import BATCH as B
from tidings.index.layout import FOUND as F
from tidings.index.layout import SCRATCH as M
from tidings.index.layout import SEGMENT as S
from tidings.index.lookup_kernels import END, FIRST, place_of_value
from tidings.index.string_kernels import take_prefixes, take_substrings
from tidings.index.views import int32s, int64s, uint8s

_VALUE, _VALUE_PAIR, _PAIR = layout.VALUE, layout.VALUE_PAIR, layout.PAIR
_SUFFIX, _SUBSTRING = layout.SUFFIX, layout.SUBSTRING
_EMPTY, _ARRAY, _INEXACT = layout.EMPTY, layout.ARRAY, layout.INEXACT
_ONE, _TWO, _LAST = np.uint64(1), np.uint64(FIRST), np.uint64(END)
_MANY = 4  # values of one slot, from which on they are worth taking together


@compiled
def take_table(seg, table, batch, entry, slot, scratch, found, inexact):  # type: ignore[no-untyped-def]
    """What one table has for one value of the slot that leads it."""
    kind, bucket_entries = uint8s(seg, S.table_kind)[table], int64s(seg, S.bucket_entries)
    if kind <= _VALUE_PAIR:
        if uint8s(seg, S.table_array)[table] and not uint8s(batch, B.flags)[entry] & _ARRAY:
            return
        place = place_of_value(seg, table, batch, entry)
        if place < 0:
            return
        start, end = int64s(seg, S.hash_places)[place + FIRST], int64s(seg, S.hash_places)[place + END]
        if kind == _VALUE:
            take_entries(seg, table, start, end, batch, scratch, found, inexact, True)
        else:
            second = int32s(seg, S.table_second)[table]
            take_by_bound(seg, table, kind, second, start, end, batch, scratch, found, inexact)
    elif kind <= _PAIR:
        if int64s(scratch, M.first)[slot] == entry:
            bucket = int64s(seg, S.table_buckets)[table]
            start, end = bucket_entries[bucket], bucket_entries[bucket + 1]
            take_by_bound(seg, table, kind, slot, start, end, batch, scratch, found, inexact)
    elif kind == _SUBSTRING:
        take_substrings(seg, table, batch, entry, scratch, found)
    else:
        take_prefixes(seg, table, kind == _SUFFIX, batch, entry, scratch, found)


@compiled
def take_values(seg, table, batch, first, count, found):  # type: ignore[no-untyped-def]
    """What a sliced table has for many values of one slot: a document has thousands of facts.

    As `take_table` one after the other, with all that is the same for all of them looked at once. Unsigned numbers, as
    where answers are written.
    """
    table_hash, places = int64s(seg, S.table_hash), int64s(seg, S.hash_places)
    keys, slices, used = int64s(batch, B.key), int64s(found, F.slices), int64s(found, F.used)
    start, size = np.uint64(table_hash[table]), np.uint64(table_hash[table + 1] - table_hash[table])
    ahead = member_of(seg, table, np.int64(0))
    at, room = np.uint64(2 * used[SLICES_USED]), np.uint64(len(slices))
    for each in range(np.uint64(first), np.uint64(first + count)):
        key = keys[each]
        place = np.uint64(home(key, size))
        while True:
            line = (start + place) << np.uint64(2)
            end = places[line + _LAST]
            if end == 0:
                break
            literal = (places[line + _ONE] & 0xFFFFFFFF) - 1
            if places[line] == key and (literal < 0 or is_text(seg, batch, each, literal)):
                if at == room:
                    used[FULL] = 1
                    return
                begin = places[line + _TWO]
                slices[at], slices[at + _ONE] = begin + ahead, end - begin
                at += _TWO
                break
            place = (place + _ONE) & (size - _ONE)
    used[SLICES_USED] = np.int64(at >> _ONE)


@compiled
def note_slots(batch, scratch, row):  # type: ignore[no-untyped-def]
    """Writes down which slots of the segment the row fills, and where."""
    starts, slot_of, local = int64s(batch, B.starts), int32s(batch, B.slot), int32s(scratch, M.local)
    seen, first, counts = int64s(scratch, M.seen), int64s(scratch, M.first), int32s(scratch, M.counts)
    serials = int64s(scratch, M.serial)
    serials[0] += 1
    serial = serials[0]
    for entry in range(starts[row], starts[row + 1]):
        slot = local[slot_of[entry]]
        if slot < 0:
            continue
        if seen[slot] != serial:
            seen[slot], first[slot], counts[slot] = serial, entry, 1
        else:
            counts[slot] += 1


@compiled
def match_row(seg, batch, scratch, found, row):  # type: ignore[no-untyped-def]
    starts, slot_of, local = int64s(batch, B.starts), int32s(batch, B.slot), int32s(scratch, M.local)
    flags, slot_tables, scans = uint8s(batch, B.flags), int32s(seg, S.slot_tables), int32s(seg, S.scans)
    note_slots(batch, scratch, row)
    kinds, sliced, counts = uint8s(seg, S.table_kind), uint8s(seg, S.table_sliced), int32s(scratch, M.counts)
    entry = starts[row]
    while entry < starts[row + 1]:
        slot = local[slot_of[entry]]
        count = np.int64(counts[slot]) if slot >= 0 else 1  # the values of a slot stand together
        if slot >= 0 and not flags[entry] & _EMPTY:
            inexact = (flags[entry] & _INEXACT) != 0
            for table in range(slot_tables[slot], slot_tables[slot + 1]):
                if count >= _MANY and kinds[table] == _VALUE and sliced[table] and not inexact:
                    take_values(seg, table, batch, entry, count, found)
                    continue
                for each in range(entry, entry + count):
                    take_table(seg, table, batch, each, slot, scratch, found, inexact)
        entry += count
    bucket_entries = int64s(seg, S.bucket_entries)
    for i in range(len(scans)):
        bucket = int64s(seg, S.table_buckets)[scans[i]]
        for candidate in range(bucket_entries[bucket], bucket_entries[bucket + 1]):
            try_entry(seg, batch, scratch, found, candidate, False)


@compiled
def match_rows(seg, batch, scratch, found, row, rows):  # type: ignore[no-untyped-def]
    """Matches rows from `row` on. Returns the row that did not fit any more, or `rows`."""
    used, slices_end, hits_end = int64s(found, F.used), int64s(found, F.slices_end), int64s(found, F.hits_end)
    while row < rows:
        slices, hits, candidates, undecided = used[SLICES_USED], used[HITS_USED], used[CANDIDATES], used[UNDECIDED_HITS]
        match_row(seg, batch, scratch, found, row)
        if used[FULL]:
            used[SLICES_USED], used[HITS_USED], used[CANDIDATES], used[UNDECIDED_HITS] = (
                slices,
                hits,
                candidates,
                undecided,
            )
            return row
        slices_end[row], hits_end[row] = used[SLICES_USED], used[HITS_USED]
        row += 1
    return row
