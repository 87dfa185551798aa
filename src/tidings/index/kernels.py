"""Matching, compiled: for each row, from its values through the tables to entries, and from entries to subscriptions.

Two passes. `match_rows` finds ranges of ready answers and single hits; `fill` writes them out, when it is known how
many there are. A row whose findings do not fit is given up and taken again with more room. The
arrays come as directories (`views`). Everything here also runs as plain Python (NUMBA_DISABLE_JIT=1), so that a fault
shows as an error and not as a wrong answer.
"""

from __future__ import annotations

import numpy as np

from tidings.index import layout
from tidings.index.check_kernels import FALSE, UNDECIDED, check_truth, is_text, same_bytes
from tidings.index.compiling import compiled, compiled_into_callers
from tidings.index.hashing import home, mixed
from tidings.index.keys import HASH_START, hash_end, hash_step
from tidings.index.layout import BATCH as B
from tidings.index.layout import FOUND as F
from tidings.index.layout import SCRATCH as M
from tidings.index.layout import SEGMENT as S
from tidings.index.views import int32s, int64s, uint8s, uint64s

_VALUE, _VALUE_POINT = layout.VALUE, layout.VALUE_POINT
_VALUE_UPPER, _VALUE_LOWER = layout.VALUE_UPPER, layout.VALUE_LOWER
_VALUE_BETWEEN, _VALUE_PAIR = layout.VALUE_BETWEEN, layout.VALUE_PAIR
_UPPER, _LOWER, _BETWEEN, _PAIR = layout.UPPER, layout.LOWER, layout.BETWEEN, layout.PAIR
_SUFFIX, _SUBSTRING = layout.SUFFIX, layout.SUBSTRING
_EMPTY, _ARRAY = layout.EMPTY, layout.ARRAY
_BLOCK_1, _BLOCK_2, _BLOCK_3 = layout.BLOCK, layout.BLOCK**2, layout.BLOCK**3
_FILTER_SHIFT = np.uint64(64 - layout.FILTER_BITS)
_ONE, _SIX, _LOW_SIX = np.uint64(1), np.uint64(6), np.uint64(63)
_SLICES, _HITS, _CANDIDATES, _UNDECIDED, _FULL = 0, 1, 2, 3, 4  # in `used` of Found
_FIRST, _END = 2, 3  # in a place of a hash
_AROUND, _BESIDE = layout.AROUND, np.uint64((1 << 8 * layout.AROUND) - 1)
_TWO, _LAST = np.uint64(_FIRST), np.uint64(_END)
_MANY = 4  # values of one slot, from which on they are worth taking together
REJECTED = np.iinfo(np.int64).min


# Finding. A place of a hash table is four numbers in a row; kernels name it by where the first of them stands.


@compiled
def next_place(seg, table, key, place):  # type: ignore[no-untyped-def]
    """The next place at or after `place` in the hash of a table that has the key, or -1; from -1, the first."""
    table_hash, places = int64s(seg, S.table_hash), int64s(seg, S.hash_places)
    start, end = 4 * table_hash[table], 4 * table_hash[table + 1]
    if place < 0:
        place = start + 4 * home(key, table_hash[table + 1] - table_hash[table])
    while places[place + _END] > 0:
        if places[place] == key:
            return place
        place = place + 4 if place + 4 < end else start
    return -1


@compiled
def after(seg, table, place):  # type: ignore[no-untyped-def]
    table_hash = int64s(seg, S.table_hash)
    return place + 4 if place + 4 < 4 * table_hash[table + 1] else 4 * table_hash[table]


@compiled_into_callers
def place_of_value(seg, table, batch, entry):  # type: ignore[no-untyped-def]
    """The place of a value; of a string, only if its bytes are the bucket's too. -1 if nobody asks for it."""
    key = int64s(batch, B.key)[entry]
    place = next_place(seg, table, key, -1)
    while place >= 0:
        literal = (int64s(seg, S.hash_places)[place + 1] & 0xFFFFFFFF) - 1
        if literal < 0 or is_text(seg, batch, entry, literal):
            return place
        place = next_place(seg, table, key, after(seg, table, place))
    return -1


@compiled
def place_of_part(seg, table, key, data, text, length, backwards):  # type: ignore[no-untyped-def]
    """The place of a prefix, or, read backwards from `text`, of a suffix."""
    place = next_place(seg, table, key, -1)
    while place >= 0:
        literal = (int64s(seg, S.hash_places)[place + 1] & 0xFFFFFFFF) - 1
        if _is_part(seg, literal, data, text, length, backwards):
            return place
        place = next_place(seg, table, key, after(seg, table, place))
    return -1


@compiled
def _is_part(seg, literal, data, text, length, backwards):  # type: ignore[no-untyped-def]
    text_start, text_data = int64s(seg, S.text_start), uint8s(seg, S.text_data)
    start = text_start[literal]
    if text_start[literal + 1] - start != length:
        return False
    if not backwards:
        return same_bytes(data, text, text_data, start, length)
    for i in range(length):
        if data[text - 1 - i] != text_data[start + i]:
            return False
    return True


@compiled_into_callers
def first_at_least(values, start, end, wanted):  # type: ignore[no-untyped-def]
    low, high = np.uint64(start), np.uint64(end)
    while low < high:
        middle = (low + high) >> _ONE
        if values[middle] < wanted:
            low = middle + _ONE
        else:
            high = middle
    return np.int64(low)


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
    at = 2 * used[_SLICES]
    if at == len(slices):
        used[_FULL] = 1
        return
    slices[at] = member_of(seg, table, start)
    slices[at + 1] = end - start
    used[_SLICES] += 1


@compiled
def emit_hit(scratch, found, member, undecided):  # type: ignore[no-untyped-def]
    stamp, serial = int64s(scratch, M.stamp), int64s(scratch, M.serial)[0]
    if stamp[member] == serial:
        return
    stamp[member] = serial
    hits, used = int64s(found, F.hits), int64s(found, F.used)
    if used[_HITS] == len(hits):
        used[_FULL] = 1
        return
    hits[used[_HITS]] = ~np.int64(member) if undecided else np.int64(member)
    used[_HITS] += 1
    if undecided:
        used[_UNDECIDED] += 1


@compiled
def try_entry(seg, batch, scratch, found, entry, inexact):  # type: ignore[no-untyped-def]
    """Emits the subscription of an entry if its checks hold."""
    int64s(found, F.used)[_CANDIDATES] += 1
    guard = int32s(seg, S.entry_guard)[entry]
    if guard >= 0 and int64s(scratch, M.seen)[guard] != int64s(scratch, M.serial)[0]:
        return
    undecided = inexact
    entry_checks, entry_check = int64s(seg, S.entry_checks), int32s(seg, S.entry_check)
    for i in range(entry_checks[entry], entry_checks[entry + 1]):
        truth = check_truth(seg, entry_check[i], batch, scratch, inexact)
        if truth == FALSE:
            return
        if truth == UNDECIDED:
            undecided = True
    emit_hit(scratch, found, int32s(seg, S.entry_member)[entry], undecided)


@compiled_into_callers
def take_entries(seg, table, start, end, batch, scratch, found, inexact, once):  # type: ignore[no-untyped-def]
    """Entries from start to end: as one slice where the table is sliced and they are met only once."""
    if uint8s(seg, S.table_sliced)[table] and once and not inexact:
        emit_slice(seg, table, found, start, end)
        return
    for entry in range(start, end):
        try_entry(seg, batch, scratch, found, entry, inexact)


@compiled
def take_once(seg, table, start, end, batch, scratch, found, inexact):  # type: ignore[no-untyped-def]
    """Entries that are always taken together, and may be met again in the same row: marked by the first of them."""
    stamp, serial = int64s(scratch, M.stamp), int64s(scratch, M.serial)[0]
    if uint8s(seg, S.table_sliced)[table]:
        first = member_of(seg, table, start)
        if stamp[first] == serial:
            return
        if not inexact:
            stamp[first] = serial  # what is inexact is tried one by one, and marked by that
    take_entries(seg, table, start, end, batch, scratch, found, inexact, True)


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
    if uint8s(batch, B.flags)[first] & _EMPTY:
        return
    widened = 1 if inexact else 0  # a number between two float64s may lie on either side of the nearest
    each = kind == _BETWEEN or kind == _VALUE_BETWEEN or kind == _VALUE_POINT
    for entry in range(first, first + count if each else first + 1):
        low = high = keys[entry]
        if not each:
            for other in range(first + 1, first + count):
                low, high = min(low, keys[other]), max(high, keys[other])
        low, high = low - widened, high + widened
        take_ordered(seg, table, kind, start, end, low, high, batch, scratch, found, inexact, count == 1 or not each)


@compiled
def take_prefixes(seg, table, backwards, batch, entry, scratch, found, inexact):  # type: ignore[no-untyped-def]
    """Walks the path of a value in its string tree: every length of prefix (or suffix) that someone asks for."""
    data, length = uint8s(batch, B.data), np.int64(int32s(batch, B.length)[entry])
    text = int64s(batch, B.text)[entry]
    lengths, table_lengths = int32s(seg, S.lengths), int32s(seg, S.table_lengths)
    places = int64s(seg, S.hash_places)
    if backwards:
        text += length
    hashed, size = HASH_START, np.int64(0)
    for i in range(table_lengths[table], table_lengths[table + 1]):
        wanted = np.int64(lengths[i])
        if wanted > length:
            return
        while size < wanted:
            hashed = hash_step(hashed, data[text - 1 - size] if backwards else data[text + size])
            size += 1
        place = place_of_part(seg, table, hash_end(hashed), data, text, size, backwards)
        if place >= 0:
            take_once(seg, table, places[place + _FIRST], places[place + _END], batch, scratch, found, inexact)


@compiled
def take_substrings(seg, table, batch, entry, scratch, found, inexact):  # type: ignore[no-untyped-def]
    """Every gram of a value; the filter answers for most of them that nobody asks for it."""
    data, length = uint8s(batch, B.data), np.int64(int32s(batch, B.length)[entry])
    text, bits, filters = int64s(batch, B.text)[entry], int64s(seg, S.table_filter)[table], uint64s(seg, S.filters)
    lengths, table_lengths = int32s(seg, S.lengths), int32s(seg, S.table_lengths)
    for i in range(table_lengths[table], table_lengths[table + 1]):
        size = np.int64(lengths[i])
        for at in range(length - size + 1):
            key = size << 32
            for byte in range(size):
                key |= np.int64(data[text + at + byte]) << (8 * byte)
            bit = mixed(key) >> _FILTER_SHIFT
            if (filters[bits + np.int64(bit >> _SIX)] >> (bit & _LOW_SIX)) & _ONE:
                take_gram(seg, table, key, at, batch, entry, scratch, found, inexact)


@compiled
def take_gram(seg, table, key, at, batch, entry, scratch, found, inexact):  # type: ignore[no-untyped-def]
    """The entries of one gram, which stands at `at` in a value: those whose whole string stands around it."""
    place = next_place(seg, table, key, -1)
    if place < 0:
        return
    data, length = uint8s(batch, B.data), np.int64(int32s(batch, B.length)[entry])
    text, places = int64s(batch, B.text)[entry], int64s(seg, S.hash_places)
    entry_low, entry_high, entry_text = int64s(seg, S.entry_low), int64s(seg, S.entry_high), int32s(seg, S.entry_text)
    behind = at + (key >> 32)
    left, right = bytes_before(data, text, at), bytes_behind(data, text + behind, length - behind)
    candidate, last = np.uint64(places[place + _FIRST]), np.uint64(places[place + _END])
    while candidate < last:
        literal, beside = entry_text[candidate], entry_high[candidate]
        end = candidate + _ONE
        while end < last and entry_text[end] == literal:
            end += _ONE
        if beside >= 0:
            others, before = beside >> 59, (beside >> 56) & 7
            stands = (
                before <= at
                and others - before <= length - behind
                and (left >> np.uint64(8 * (_AROUND - before)) | right << np.uint64(8 * before))
                & ((_ONE << np.uint64(8 * others)) - _ONE)
                == np.uint64(beside) & _BESIDE
            )
        else:
            begin = at - entry_low[candidate]
            stands = begin >= 0 and stands_at(seg, literal, data, text + begin, length - begin)
        if stands:
            take_once(seg, table, np.int64(candidate), np.int64(end), batch, scratch, found, inexact)
        candidate = end


@compiled
def bytes_before(data, text, at):  # type: ignore[no-untyped-def]
    """The last AROUND bytes before `at` of a value, the first of them lowest; 0 for those that it has not got."""
    found = np.uint64(0)
    for i in range(max(0, at - _AROUND), at):
        found |= np.uint64(data[text + i]) << np.uint64(8 * (_AROUND - at + i))
    return found


@compiled
def bytes_behind(data, text, length):  # type: ignore[no-untyped-def]
    """The first AROUND of so many bytes, in the same way."""
    found = np.uint64(0)
    for i in range(min(_AROUND, length)):
        found |= np.uint64(data[text + i]) << np.uint64(8 * i)
    return found


@compiled
def stands_at(seg, literal, data, text, length):  # type: ignore[no-untyped-def]
    """Whether a string stands at `text`, of which there are `length` bytes."""
    text_start, text_data = int64s(seg, S.text_start), uint8s(seg, S.text_data)
    start = text_start[literal]
    whole = text_start[literal + 1] - start
    return whole <= length and same_bytes(data, text, text_data, start, whole)


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
        start, end = int64s(seg, S.hash_places)[place + _FIRST], int64s(seg, S.hash_places)[place + _END]
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
        take_substrings(seg, table, batch, entry, scratch, found, inexact)
    else:
        take_prefixes(seg, table, kind == _SUFFIX, batch, entry, scratch, found, inexact)


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
    at, room = np.uint64(2 * used[_SLICES]), np.uint64(len(slices))
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
                    used[_FULL] = 1
                    return
                begin = places[line + _TWO]
                slices[at], slices[at + _ONE] = begin + ahead, end - begin
                at += _TWO
                break
            place = (place + _ONE) & (size - _ONE)
    used[_SLICES] = np.int64(at >> _ONE)


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
    inexact = uint8s(batch, B.inexact)[row] != 0
    note_slots(batch, scratch, row)
    kinds, sliced, counts = uint8s(seg, S.table_kind), uint8s(seg, S.table_sliced), int32s(scratch, M.counts)
    entry = starts[row]
    while entry < starts[row + 1]:
        slot = local[slot_of[entry]]
        count = np.int64(counts[slot]) if slot >= 0 else 1  # the values of a slot stand together
        if slot >= 0 and not flags[entry] & _EMPTY:
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
            try_entry(seg, batch, scratch, found, candidate, inexact)


@compiled
def match_rows(seg, batch, scratch, found, row, rows):  # type: ignore[no-untyped-def]
    """Matches rows from `row` on. Returns the row that did not fit any more, or `rows`."""
    used, slices_end, hits_end = int64s(found, F.used), int64s(found, F.slices_end), int64s(found, F.hits_end)
    while row < rows:
        slices, hits, candidates, undecided = used[_SLICES], used[_HITS], used[_CANDIDATES], used[_UNDECIDED]
        match_row(seg, batch, scratch, found, row)
        if used[_FULL]:
            used[_SLICES], used[_HITS], used[_CANDIDATES], used[_UNDECIDED] = slices, hits, candidates, undecided
            return row
        slices_end[row], hits_end[row] = used[_SLICES], used[_HITS]
        row += 1
    return row


# Writing. Unsigned numbers: an array may be indexed from its end by negative ones, and the test for that in each step
# made these loops almost three times slower.


@compiled
def write_range(answers, at, first, length):  # type: ignore[no-untyped-def]
    start = np.uint64(at)
    for i in range(np.uint64(length)):
        answers[start + i] = first + np.int64(i)


@compiled
def copy_range(answers, at, ids, first, length):  # type: ignore[no-untyped-def]
    to, source = np.uint64(at), np.uint64(first)
    for i in range(np.uint64(length)):
        answers[to + i] = ids[source + i]


@compiled
def count_rows(found, alive, counts):  # type: ignore[no-untyped-def]
    """Adds to counts[r] how many answers row r has. `alive` is empty where nothing was removed."""
    slices, slices_end = int64s(found, F.slices), int64s(found, F.slices_end)
    hits, hits_end = int64s(found, F.hits), int64s(found, F.hits_end)
    everything = len(alive) == 0
    slice_at, hit_at = 0, 0
    for row in range(len(counts)):
        while slice_at < slices_end[row]:
            first, length = slices[2 * slice_at], slices[2 * slice_at + 1]
            if everything:
                counts[row] += length
            else:
                for member in range(first, first + length):
                    counts[row] += alive[member]
            slice_at += 1
        while hit_at < hits_end[row]:
            member = hits[hit_at]
            if member != REJECTED and (everything or alive[member]):
                counts[row] += 1
            hit_at += 1


@compiled
def fill(found, alive, ids, base, places, answers):  # type: ignore[no-untyped-def]
    """Writes the answers of row r from places[r] on, and moves the places on.

    The answers are base + the numbers of subscriptions; or, where there are `ids`, the identifiers of these, of which
    those of a slice stand side by side.
    """
    slices, slices_end = int64s(found, F.slices), int64s(found, F.slices_end)
    hits, hits_end = int64s(found, F.hits), int64s(found, F.hits_end)
    everything, named = len(alive) == 0, len(ids) > 0
    slice_at, hit_at = 0, 0
    for row in range(len(places)):
        at = places[row]
        while slice_at < slices_end[row]:
            first, length = slices[2 * slice_at], slices[2 * slice_at + 1]
            slice_at += 1
            if not everything:
                for member in range(first, first + length):
                    if alive[member]:
                        answers[at] = ids[member] if named else base + member
                        at += 1
                continue
            if named:
                copy_range(answers, at, ids, first, length)
            else:
                write_range(answers, at, base + first, length)
            at += length
        while hit_at < hits_end[row]:
            member = hits[hit_at]
            hit_at += 1
            if member != REJECTED and (everything or alive[member]):
                answers[at] = ids[member] if named else base + member
                at += 1
        places[row] = at
