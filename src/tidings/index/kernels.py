"""Matching, compiled: for each row, from its values through the tables to entries, and from entries to subscriptions.

Two passes. `match_rows` finds slices of ready answers and single hits; `fill` writes them out, when it is known how
many there are. A row whose findings do not fit is given up and taken again with more room. Everything here also runs as
plain Python (NUMBA_DISABLE_JIT=1), so that a fault shows as an error and not as a wrong answer.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tidings.index import layout
from tidings.index.check_kernels import FALSE, UNDECIDED, check_truth, same_bytes
from tidings.index.hashing import mixed
from tidings.index.keys import hash_bytes

_VALUE, _VALUE_UPPER, _VALUE_LOWER = layout.VALUE, layout.VALUE_UPPER, layout.VALUE_LOWER
_VALUE_BETWEEN, _VALUE_PAIR = layout.VALUE_BETWEEN, layout.VALUE_PAIR
_UPPER, _LOWER, _BETWEEN, _PAIR = layout.UPPER, layout.LOWER, layout.BETWEEN, layout.PAIR
_PREFIX, _SUFFIX, _SUBSTRING = layout.PREFIX, layout.SUFFIX, layout.SUBSTRING
_EMPTY = layout.EMPTY
_FILTER_SHIFT = np.uint64(64 - layout.FILTER_BITS)
_ONE, _SIX, _LOW_SIX = np.uint64(1), np.uint64(6), np.uint64(63)
REJECTED = np.iinfo(np.int64).min


# Finding


@njit(cache=True, nogil=True)
def find_bucket(seg, table, key, batch, text, length, backwards):  # type: ignore[no-untyped-def]
    """The bucket of a key; of a string, only if its bytes are the bucket's too."""
    start, size = seg.table_hash[table], seg.table_hash[table + 1] - seg.table_hash[table]
    place = start + np.int64(mixed(key) & np.uint64(size - 1))
    while True:
        bucket = seg.hash_bucket[place]
        if bucket < 0:
            return -1
        if seg.hash_key[place] == key:
            literal = seg.bucket_text[bucket]
            if literal < 0 or _is_literal(seg, literal, batch, text, length, backwards):
                return bucket
        place += 1
        if place == start + size:
            place = start


@njit(cache=True, nogil=True)
def _is_literal(seg, literal, batch, text, length, backwards):  # type: ignore[no-untyped-def]
    start = seg.text_start[literal]
    if seg.text_start[literal + 1] - start != length:
        return False
    if not backwards:
        return same_bytes(batch.data, text, seg.text_data, start, length)
    for i in range(length):
        if batch.data[text - 1 - i] != seg.text_data[start + i]:
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def first_at_least(values, start, end, wanted):  # type: ignore[no-untyped-def]
    while start < end:
        middle = (start + end) // 2
        if values[middle] < wanted:
            start = middle + 1
        else:
            end = middle
    return start


@njit(cache=True, nogil=True)
def emit_slice(found, start, end):  # type: ignore[no-untyped-def]
    if end <= start:
        return
    if found.used[0] == len(found.slices):
        found.used[3] = 1
        return
    found.slices[found.used[0], 0] = start
    found.slices[found.used[0], 1] = end - start
    found.used[0] += 1


@njit(cache=True, nogil=True)
def emit_hit(seg, scratch, found, member, undecided):  # type: ignore[no-untyped-def]
    if scratch.stamp[member] == scratch.serial[0]:
        return
    scratch.stamp[member] = scratch.serial[0]
    if found.used[1] == len(found.hits):
        found.used[3] = 1
        return
    found.hits[found.used[1]] = ~np.int64(member) if undecided else np.int64(member)
    found.used[1] += 1


@njit(cache=True, nogil=True)
def try_entry(seg, batch, scratch, found, entry, inexact):  # type: ignore[no-untyped-def]
    """Emits the subscription of an entry if its checks hold."""
    found.used[2] += 1
    member = seg.entry_member[entry]
    undecided = inexact
    for i in range(seg.entry_checks[entry], seg.entry_checks[entry + 1]):
        truth = check_truth(seg, seg.entry_check[i], batch, scratch, inexact)
        if truth == FALSE:
            return
        if truth == UNDECIDED:
            undecided = True
    emit_hit(seg, scratch, found, member, undecided)


@njit(cache=True, nogil=True)
def take_entries(seg, table, start, end, batch, scratch, found, inexact, once):  # type: ignore[no-untyped-def]
    """Entries from start to end: as one slice where the table is sliced and they are met only once."""
    if seg.table_sliced[table] and once and not inexact:
        emit_slice(found, start, end)
        return
    for entry in range(start, end):
        try_entry(seg, batch, scratch, found, entry, inexact)


@njit(cache=True, nogil=True)
def take_ordered(seg, table, kind, start, end, low, high, batch, scratch, found, inexact):  # type: ignore[no-untyped-def]
    """Of entries ordered by their bound, those that values from low to high satisfy."""
    if kind == _UPPER or kind == _VALUE_UPPER:
        start = first_at_least(seg.entry_high, start, end, low)
        take_entries(seg, table, start, end, batch, scratch, found, inexact, True)
    elif kind == _LOWER or kind == _VALUE_LOWER:
        end = first_at_least(seg.entry_low, start, end, high + 1)
        take_entries(seg, table, start, end, batch, scratch, found, inexact, True)
    else:
        end = first_at_least(seg.entry_low, start, end, high + 1)
        for entry in range(start, end):
            if seg.entry_high[entry] >= low:
                try_entry(seg, batch, scratch, found, entry, inexact)


@njit(cache=True, nogil=True)
def take_by_bound(seg, table, kind, slot, start, end, batch, scratch, found, inexact):  # type: ignore[no-untyped-def]
    """Entries whose bounds the values of `slot` satisfy: each value by itself for BETWEEN, else their extremes."""
    if scratch.seen[slot] != scratch.serial[0] or batch.flags[scratch.first[slot]] & _EMPTY:
        return
    first, count = scratch.first[slot], scratch.counts[slot]
    widened = 1 if inexact else 0  # a number between two float64s may lie on either side of the nearest
    if kind == _BETWEEN or kind == _VALUE_BETWEEN:
        for entry in range(first, first + count):
            key = batch.key[entry]
            take_ordered(seg, table, kind, start, end, key - widened, key + widened, batch, scratch, found, inexact)
        return
    least, most = batch.key[first], batch.key[first]
    for entry in range(first + 1, first + count):
        least, most = min(least, batch.key[entry]), max(most, batch.key[entry])
    take_ordered(seg, table, kind, start, end, least - widened, most + widened, batch, scratch, found, inexact)


@njit(cache=True, nogil=True)
def take_prefixes(seg, table, backwards, batch, entry, scratch, found, inexact, once):  # type: ignore[no-untyped-def]
    """Walks the path of a value in its string tree: every length of prefix (or suffix) that someone asks for."""
    text, length = batch.text[entry], np.int64(batch.length[entry])
    if backwards:
        text += length
    for i in range(seg.table_lengths[table], seg.table_lengths[table + 1]):
        size = np.int64(seg.lengths[i])
        if size > length:
            return
        key = hash_backwards(batch.data, text, size) if backwards else hash_bytes(batch.data, text, text + size)
        bucket = find_bucket(seg, table, key, batch, text, size, backwards)
        if bucket >= 0:
            start, end = seg.bucket_entries[bucket], seg.bucket_entries[bucket + 1]
            take_entries(seg, table, start, end, batch, scratch, found, inexact, once)


@njit(cache=True, nogil=True)
def hash_backwards(data, end, size):  # type: ignore[no-untyped-def]
    reversed_bytes = np.empty(size, np.uint8)
    for i in range(size):
        reversed_bytes[i] = data[end - 1 - i]
    return hash_bytes(reversed_bytes, 0, size)


@njit(cache=True, nogil=True)
def take_substrings(seg, table, batch, entry, scratch, found, inexact):  # type: ignore[no-untyped-def]
    """Every gram of a value; the filter answers for most of them that nobody asks for it."""
    text, length, bits = batch.text[entry], np.int64(batch.length[entry]), seg.table_filter[table]
    for i in range(seg.table_lengths[table], seg.table_lengths[table + 1]):
        size = np.int64(seg.lengths[i])
        for at in range(length - size + 1):
            key = size << 32
            for byte in range(size):
                key |= np.int64(batch.data[text + at + byte]) << (8 * byte)
            bit = mixed(key) >> _FILTER_SHIFT
            if not (seg.filters[bits + np.int64(bit >> _SIX)] >> (bit & _LOW_SIX)) & _ONE:
                continue
            bucket = find_bucket(seg, table, key, batch, 0, 0, False)
            if bucket < 0:
                continue
            for candidate in range(seg.bucket_entries[bucket], seg.bucket_entries[bucket + 1]):
                begin, literal = at - seg.entry_low[candidate], seg.entry_text[candidate]
                start = seg.text_start[literal]
                whole = seg.text_start[literal + 1] - start
                if (
                    begin >= 0
                    and begin + whole <= length
                    and same_bytes(batch.data, text + begin, seg.text_data, start, whole)
                ):
                    try_entry(seg, batch, scratch, found, candidate, inexact)


@njit(cache=True, nogil=True)
def take_table(seg, table, batch, entry, slot, scratch, found, inexact):  # type: ignore[no-untyped-def]
    """What one table has for one value of the slot that leads it."""
    kind = seg.table_kind[table]
    first = scratch.first[slot] == entry
    once = scratch.counts[slot] == 1
    if kind <= _VALUE_PAIR:
        bucket = find_bucket(
            seg, table, batch.key[entry], batch, batch.text[entry], np.int64(batch.length[entry]), False
        )
        if bucket < 0:
            return
        start, end = seg.bucket_entries[bucket], seg.bucket_entries[bucket + 1]
        if kind == _VALUE:
            take_entries(seg, table, start, end, batch, scratch, found, inexact, True)
        else:
            second = seg.table_second[table]
            take_by_bound(seg, table, kind, second, start, end, batch, scratch, found, inexact)
    elif kind <= _PAIR:
        if first:
            bucket = seg.table_buckets[table]
            start, end = seg.bucket_entries[bucket], seg.bucket_entries[bucket + 1]
            take_by_bound(seg, table, kind, slot, start, end, batch, scratch, found, inexact)
    elif kind == _SUBSTRING:
        take_substrings(seg, table, batch, entry, scratch, found, inexact)
    else:
        take_prefixes(seg, table, kind == _SUFFIX, batch, entry, scratch, found, inexact, once)


@njit(cache=True, nogil=True)
def take_between(seg, start, end, value, batch, scratch, found):  # type: ignore[no-untyped-def]
    """Entries ordered by their lower bounds, none of which is above the value: those whose upper bound is not below."""
    entry_high, entry_checks, entry_member = seg.entry_high, seg.entry_checks, seg.entry_member
    stamp, serial, hits, used = scratch.stamp, scratch.serial[0], found.hits, found.used
    for entry in range(start, end):
        if entry_high[entry] < value:
            continue
        if entry_checks[entry] != entry_checks[entry + 1]:
            try_entry(seg, batch, scratch, found, entry, False)
            continue
        used[2] += 1
        member = entry_member[entry]
        if stamp[member] != serial:
            stamp[member] = serial
            if used[1] == len(hits):
                used[3] = 1
                return
            hits[used[1]] = member
            used[1] += 1


@njit(cache=True, nogil=True)
def match_rows(seg, batch, scratch, found, row, rows):  # type: ignore[no-untyped-def]
    """Matches rows from `row` on. Returns the row that did not fit any more, or `rows`.

    One value per slot and tables by value and range are nearly everything there is, so they are dealt with here, with
    the arrays at hand: handing a whole segment to a function costs more than what such a table takes, and doing so for
    each table made matching three times slower. All else goes to `take_table`, which says the same in parts.
    """
    slot_of, key_of, flags, starts = batch.slot, batch.key, batch.flags, batch.starts
    seen, first_of, counts, serials = scratch.seen, scratch.first, scratch.counts, scratch.serial
    slot_tables, table_kind, table_second, table_sliced = (
        seg.slot_tables, seg.table_kind, seg.table_second, seg.table_sliced,
    )  # fmt: skip
    table_hash, hash_key, hash_bucket, bucket_text = seg.table_hash, seg.hash_key, seg.hash_bucket, seg.bucket_text
    table_buckets, bucket_entries, entry_low, entry_high = (
        seg.table_buckets, seg.bucket_entries, seg.entry_low, seg.entry_high,
    )  # fmt: skip
    text_start, text_data, data, text_of, length_of = (
        seg.text_start, seg.text_data, batch.data, batch.text, batch.length,
    )  # fmt: skip
    slices, used = found.slices, found.used
    while row < rows:
        used_slices, used_hits, candidates = used[0], used[1], used[2]
        serials[0] += 1
        serial = serials[0]
        for entry in range(starts[row], starts[row + 1]):
            slot = slot_of[entry]
            if seen[slot] != serial:
                seen[slot], first_of[slot], counts[slot] = serial, entry, 1
            else:
                counts[slot] += 1
        inexact = batch.inexact[row]
        for entry in range(starts[row], starts[row + 1]):
            slot = slot_of[entry]
            if slot >= len(slot_tables) - 1:
                break  # this and the following slots were named after the segment was made
            if flags[entry] & _EMPTY:
                continue
            several = inexact or counts[slot] != 1
            for table in range(slot_tables[slot], slot_tables[slot + 1]):
                kind = table_kind[table]
                second = table_second[table]
                if several or kind > _PAIR or (second >= 0 and seen[second] == serial and counts[second] != 1):
                    take_table(seg, table, batch, entry, slot, scratch, found, inexact)
                    continue
                value = key_of[entry]
                if kind <= _VALUE_PAIR:
                    if second >= 0 and (seen[second] != serial or flags[first_of[second]] & _EMPTY):
                        continue
                    size = table_hash[table + 1] - table_hash[table]
                    place = table_hash[table] + np.int64(mixed(value) & np.uint64(size - 1))
                    bucket = np.int64(hash_bucket[place])
                    while bucket >= 0:
                        if hash_key[place] == value:
                            literal = bucket_text[bucket]
                            if literal < 0:
                                break
                            begin = text_start[literal]
                            length = text_start[literal + 1] - begin
                            if length == length_of[entry] and same_bytes(
                                data, text_of[entry], text_data, begin, length
                            ):
                                break
                        place += 1
                        if place == table_hash[table + 1]:
                            place = table_hash[table]
                        bucket = np.int64(hash_bucket[place])
                    if bucket < 0:
                        continue
                    if second >= 0:
                        value = key_of[first_of[second]]
                else:
                    bucket = table_buckets[table]
                start, end = bucket_entries[bucket], bucket_entries[bucket + 1]
                if kind == _VALUE_UPPER or kind == _UPPER:
                    start = first_at_least(entry_high, start, end, value)
                elif kind != _VALUE:
                    end = first_at_least(entry_low, start, end, value + 1)
                if table_sliced[table]:
                    if end > start:
                        if used[0] == len(slices):
                            used[3] = 1
                            break
                        slices[used[0], 0] = start
                        slices[used[0], 1] = end - start
                        used[0] += 1
                elif kind == _VALUE or kind == _VALUE_UPPER or kind == _VALUE_LOWER or kind == _UPPER or kind == _LOWER:
                    for candidate in range(start, end):
                        try_entry(seg, batch, scratch, found, candidate, False)
                else:
                    take_between(seg, start, end, value, batch, scratch, found)
        for table in seg.scans:
            bucket = table_buckets[table]
            for candidate in range(bucket_entries[bucket], bucket_entries[bucket + 1]):
                try_entry(seg, batch, scratch, found, candidate, inexact)
        if used[3]:
            used[0], used[1], used[2] = used_slices, used_hits, candidates
            return row
        found.slices_end[row] = used[0]
        found.hits_end[row] = used[1]
        row += 1
    return row


@njit(cache=True, nogil=True)
def count_rows(found, alive, entry_member, rows, offsets):  # type: ignore[no-untyped-def]
    """offsets[r + 1] becomes the number of answers up to row r. `alive` is empty where nothing was removed."""
    total, slice_at, hit_at = 0, 0, 0
    for row in range(rows):
        while slice_at < found.slices_end[row]:
            start, length = found.slices[slice_at, 0], found.slices[slice_at, 1]
            if len(alive) == 0:
                total += length
            else:
                for entry in range(start, start + length):
                    total += alive[entry_member[entry]]
            slice_at += 1
        while hit_at < found.hits_end[row]:
            member = found.hits[hit_at]
            if member != REJECTED and (len(alive) == 0 or alive[member]):
                total += 1
            hit_at += 1
        offsets[row + 1] = total
    return total


@njit(cache=True, nogil=True)
def fill(found, alive, entry_member, rows, answers):  # type: ignore[no-untyped-def]
    at, slice_at, hit_at = 0, 0, 0
    for row in range(rows):
        while slice_at < found.slices_end[row]:
            start, length = found.slices[slice_at, 0], found.slices[slice_at, 1]
            if len(alive) == 0:
                for i in range(length):
                    answers[at + i] = entry_member[start + i]
                at += length
            else:
                for entry in range(start, start + length):
                    if alive[entry_member[entry]]:
                        answers[at] = entry_member[entry]
                        at += 1
            slice_at += 1
        while hit_at < found.hits_end[row]:
            member = found.hits[hit_at]
            if member != REJECTED and (len(alive) == 0 or alive[member]):
                answers[at] = member
                at += 1
            hit_at += 1
