"""Where things stand in the arrays of a segment: a key in the hash of its table, a bound among bounds in order.

A place of a hash table is four numbers in a row (`layout.hash_columns`); kernels name it by where the first of them
stands. A string is found by its hash, and is there only if its bytes are the same.
"""

from __future__ import annotations

import numpy as np

from tidings.index.check_kernels import is_text, same_bytes
from tidings.index.compiling import compiled, compiled_into_callers
from tidings.index.hashing import home
from tidings.index.layout import BATCH as B
from tidings.index.layout import SEGMENT as S
from tidings.index.views import int64s, uint8s

FIRST, END = 2, 3  # in a place of a hash: its entries
_ONE = np.uint64(1)


@compiled
def next_place(seg, table, key, place):  # type: ignore[no-untyped-def]
    """The next place at or after `place` in the hash of a table that has the key, or -1; from -1, the first."""
    table_hash, places = int64s(seg, S.table_hash), int64s(seg, S.hash_places)
    start, end = 4 * table_hash[table], 4 * table_hash[table + 1]
    if place < 0:
        place = start + 4 * home(key, table_hash[table + 1] - table_hash[table])
    while places[place + END] > 0:
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
