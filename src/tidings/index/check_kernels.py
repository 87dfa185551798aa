"""Checks, compiled: whether a value satisfies a term, over the bytes and keys of encoded events.

Also runs as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

import numpy as np

from tidings.index import layout
from tidings.index.compiling import compiled, compiled_into_callers
from tidings.index.layout import BATCH as B
from tidings.index.layout import SCRATCH as M
from tidings.index.layout import SEGMENT as S
from tidings.index.views import int32s, int64s, uint8s

_EMPTY, _DIRTY, _ARRAY, _NEGATED = layout.EMPTY, layout.DIRTY, layout.ARRAY, layout.NEGATED
_INEXACT = layout.INEXACT
FALSE, TRUE, UNDECIDED = 0, 1, 2
_SLOT, _A, _B = 1, 2, 3  # in the row of a check


# Strings


@compiled_into_callers
def same_bytes(a, a_start, b, b_start, length):  # type: ignore[no-untyped-def]
    for i in range(length):
        if a[a_start + i] != b[b_start + i]:
            return False
    return True


@compiled
def compare_bytes(a, a_start, a_length, b, b_start, b_length):  # type: ignore[no-untyped-def]
    """Negative, 0 or positive. The order of UTF-8 bytes is the order of code points."""
    for i in range(min(a_length, b_length)):
        difference = np.int64(a[a_start + i]) - np.int64(b[b_start + i])
        if difference != 0:
            return difference
    return np.int64(a_length) - np.int64(b_length)


@compiled
def contains_bytes(a, start, length, b, b_start, b_length):  # type: ignore[no-untyped-def]
    for at in range(length - b_length + 1):
        if same_bytes(a, start + at, b, b_start, b_length):
            return True
    return False


@compiled
def next_character(a, at, end):  # type: ignore[no-untyped-def]
    at += 1
    while at < end and (a[at] & 0xC0) == 0x80:
        at += 1
    return at


@compiled
def like_bytes(a, start, length, b, b_start, b_end):  # type: ignore[no-untyped-def]
    """The pattern of `reference.like_holds`, over UTF-8."""
    at, end, wanted, after_any, taken = start, start + length, b_start, -1, start
    while at < end:
        want = b[wanted] if wanted < b_end else np.uint8(0)
        if wanted < b_end and want == layout.ANY_BYTE:
            wanted += 1
            after_any, taken = wanted, at
        elif wanted < b_end and want == layout.ONE_BYTE:
            at = next_character(a, at, end)
            wanted += 1
        elif wanted < b_end and want == a[at]:
            at += 1
            wanted += 1
        elif after_any >= 0:
            taken = next_character(a, taken, end)
            at, wanted = taken, after_any
        else:
            return False
    while wanted < b_end and b[wanted] == layout.ANY_BYTE:
        wanted += 1
    return wanted == b_end


# Checks


@compiled
def is_text(seg, batch, entry, literal):  # type: ignore[no-untyped-def]
    """Whether a value is the string with the number `literal`. Nearly all that are not have another hash."""
    if int64s(seg, S.text_key)[literal] != int64s(batch, B.key)[entry]:
        return False
    text_start = int64s(seg, S.text_start)
    start = text_start[literal]
    size = text_start[literal + 1] - start
    if size != int32s(batch, B.length)[entry]:
        return False
    return same_bytes(uint8s(batch, B.data), int64s(batch, B.text)[entry], uint8s(seg, S.text_data), start, size)


@compiled
def value_satisfies(seg, check, batch, entry):  # type: ignore[no-untyped-def]
    """Whether one value satisfies a check of the kinds that ask for any element."""
    rows, row = int64s(seg, S.check_rows), 4 * check
    operation, a, b = rows[row] & 0xFF, rows[row + _A], rows[row + _B]
    key = int64s(batch, B.key)[entry]
    if operation == layout.INTERVAL:
        return a <= key <= b
    if operation == layout.OUTSIDE:
        return key < a or key > b
    if operation == layout.KEY_LIST or operation == layout.TEXT_LIST:
        return _in_list(seg, operation == layout.TEXT_LIST, a, b, batch, entry, key)
    if operation == layout.TEXT_INTERVAL:
        return _text_within(seg, check, batch, entry)
    if operation == layout.LONG_INTERVALS:
        return _in_intervals(seg, a, b, batch, entry)
    if operation == layout.TEXT_EQUAL:
        return is_text(seg, batch, entry, a)
    if operation == layout.TEXT_DIFFERENT:
        return not is_text(seg, batch, entry, a)
    data, literals = uint8s(batch, B.data), uint8s(seg, S.text_data)
    text, length = int64s(batch, B.text)[entry], np.int64(int32s(batch, B.length)[entry])
    start = int64s(seg, S.text_start)[a]
    size = int64s(seg, S.text_start)[a + 1] - start
    if operation == layout.TEXT_PREFIX:
        return size <= length and same_bytes(data, text, literals, start, size)
    if operation == layout.TEXT_SUFFIX:
        return size <= length and same_bytes(data, text + length - size, literals, start, size)
    if operation == layout.TEXT_CONTAINS:
        return contains_bytes(data, text, length, literals, start, size)
    return like_bytes(data, text, length, literals, start, start + size)


@compiled
def _in_list(seg, texts, a, b, batch, entry, key):  # type: ignore[no-untyped-def]
    lists = int64s(seg, S.lists)
    for i in range(a, b):
        if is_text(seg, batch, entry, lists[i]) if texts else lists[i] == key:
            return True
    return False


@compiled
def _in_intervals(seg, a, b, batch, entry):  # type: ignore[no-untyped-def]
    """Whether a number lies in one of some closed intervals, by its key and, where keys are equal, by its rest."""
    lists, key, rest = int64s(seg, S.lists), int64s(batch, B.key)[entry], int64s(batch, B.text)[entry]
    for i in range(a, b, layout.INTERVAL_SIZE):
        above = key > lists[i] or (key == lists[i] and rest >= lists[i + 1])
        if above and (key < lists[i + 2] or (key == lists[i + 2] and rest <= lists[i + 3])):
            return True
    return False


@compiled
def _order(seg, batch, entry, literal):  # type: ignore[no-untyped-def]
    """Negative, 0 or positive, as a value stands before, at, or after a string."""
    text_start = int64s(seg, S.text_start)
    text, length = int64s(batch, B.text)[entry], np.int64(int32s(batch, B.length)[entry])
    start = text_start[literal]
    size = text_start[literal + 1] - start
    return compare_bytes(uint8s(batch, B.data), text, length, uint8s(seg, S.text_data), start, size)


@compiled
def _text_within(seg, check, batch, entry):  # type: ignore[no-untyped-def]
    rows, row = int64s(seg, S.check_rows), 4 * check
    flags, low, high = rows[row] >> 8, rows[row + _A], rows[row + _B]
    if low >= 0:
        order = _order(seg, batch, entry, low)
        if order < 0 or (order == 0 and flags & layout.OPEN_LOW):
            return False
    if high >= 0:
        order = _order(seg, batch, entry, high)
        if order > 0 or (order == 0 and flags & layout.OPEN_HIGH):
            return False
    return True


@compiled
def _has(seg, batch, first, count, operation, i):  # type: ignore[no-untyped-def]
    """Whether an array holds one wanted value of the lists: a key, the number of a string, or an interval."""
    flags, key, wanted = uint8s(batch, B.flags), int64s(batch, B.key), int64s(seg, S.lists)[i]
    for entry in range(first, first + count):
        if flags[entry] & _EMPTY:
            continue
        if operation <= layout.HAS_ANY_KEYS:
            holds = key[entry] == wanted
        elif operation <= layout.HAS_ANY_TEXTS:
            holds = is_text(seg, batch, entry, wanted)
        else:
            holds = _in_intervals(seg, i, i + layout.INTERVAL_SIZE, batch, entry)
        if holds:
            return True
    return False


@compiled
def _any_satisfies(seg, check, batch, first, count):  # type: ignore[no-untyped-def]
    rows, row = int64s(seg, S.check_rows), 4 * check
    operation = rows[row] & 0xFF
    if operation >= layout.HAS_ALL_KEYS:
        every = (operation - layout.HAS_ALL_KEYS) % 2 == 0
        step = layout.INTERVAL_SIZE if operation >= layout.HAS_ALL_LONG else 1
        for i in range(rows[row + _A], rows[row + _B], step):
            if _has(seg, batch, first, count, operation, i) != every:
                return not every
        return every
    flags = uint8s(batch, B.flags)
    for entry in range(first, first + count):
        if not flags[entry] & _EMPTY and value_satisfies(seg, check, batch, entry):
            return True
    return False


@compiled
def check_truth(seg, check, batch, scratch):  # type: ignore[no-untyped-def]
    """TRUE, or FALSE for false and unknown alike, or UNDECIDED where only the reference can say.

    A check of a string that many subscriptions share is evaluated once for a row. Intervals and sets are quicker
    evaluated than remembered.
    """
    operation = int64s(seg, S.check_rows)[4 * check] & 0xFF
    if operation == layout.OPAQUE:
        return UNDECIDED
    if operation <= layout.OUTSIDE or operation >= layout.HAS_ALL_KEYS:
        return _evaluated(seg, check, operation, batch, scratch)
    memo, serial = int64s(scratch, M.memo), int64s(scratch, M.serial)[0]
    if memo[check] >> 2 != serial:
        memo[check] = serial << 2 | _evaluated(seg, check, operation, batch, scratch)
    return memo[check] & 3


@compiled
def _evaluated(seg, check, operation, batch, scratch):  # type: ignore[no-untyped-def]
    rows, row = int64s(seg, S.check_rows), 4 * check
    slot, negated = rows[row + _SLOT], ((rows[row] >> 8) & _NEGATED) != 0
    present = int64s(scratch, M.seen)[slot] == int64s(scratch, M.serial)[0]
    first, flags = int64s(scratch, M.first)[slot], uint8s(batch, B.flags)
    if operation == layout.IS_NULL:
        if present and flags[first] & _DIRTY:
            return FALSE
        return TRUE if present == negated else FALSE
    if not present:
        return FALSE
    if operation >= layout.HAS_ALL_KEYS and not flags[first] & _ARRAY:
        return FALSE
    if flags[first] & _INEXACT:
        return UNDECIDED
    holds = _any_satisfies(seg, check, batch, first, int32s(scratch, M.counts)[slot])
    if not negated:
        return TRUE if holds else FALSE
    return FALSE if holds or flags[first] & _DIRTY else TRUE
