"""Checks, compiled: whether a value satisfies a term, over the bytes and keys of encoded events.

Also runs as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tidings.index import layout

_EMPTY, _DIRTY, _ARRAY, _NEGATED = layout.EMPTY, layout.DIRTY, layout.ARRAY, layout.NEGATED
FALSE, TRUE, UNDECIDED = 0, 1, 2


# Strings


@njit(cache=True, nogil=True, inline="always")
def same_bytes(a, a_start, b, b_start, length):  # type: ignore[no-untyped-def]
    for i in range(length):
        if a[a_start + i] != b[b_start + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def compare_bytes(a, a_start, a_length, b, b_start, b_length):  # type: ignore[no-untyped-def]
    """Negative, 0 or positive. The order of UTF-8 bytes is the order of code points."""
    for i in range(min(a_length, b_length)):
        difference = np.int64(a[a_start + i]) - np.int64(b[b_start + i])
        if difference != 0:
            return difference
    return np.int64(a_length) - np.int64(b_length)


@njit(cache=True, nogil=True)
def contains_bytes(a, start, length, b, b_start, b_length):  # type: ignore[no-untyped-def]
    for at in range(length - b_length + 1):
        if same_bytes(a, start + at, b, b_start, b_length):
            return True
    return False


@njit(cache=True, nogil=True)
def next_character(a, at, end):  # type: ignore[no-untyped-def]
    at += 1
    while at < end and (a[at] & 0xC0) == 0x80:
        at += 1
    return at


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def value_satisfies(seg, check, batch, entry):  # type: ignore[no-untyped-def]
    """Whether one value satisfies a check of the kinds that ask for any element."""
    operation, a, b = seg.check_operation[check], seg.check_a[check], seg.check_b[check]
    key = batch.key[entry]
    if operation == layout.INTERVAL:
        return a <= key <= b
    if operation == layout.OUTSIDE:
        return key < a or key > b
    if operation == layout.KEY_LIST:
        for i in range(a, b):
            if seg.lists[i] == key:
                return True
        return False
    text, length = batch.text[entry], np.int64(batch.length[entry])
    if operation == layout.TEXT_LIST:
        for i in range(a, b):
            literal = seg.lists[i]
            start = seg.text_start[literal]
            size = seg.text_start[literal + 1] - start
            if size == length and same_bytes(batch.data, text, seg.text_data, start, size):
                return True
        return False
    if operation == layout.TEXT_INTERVAL:
        return _text_within(seg, check, batch, text, length)
    start = seg.text_start[a]
    size = seg.text_start[a + 1] - start
    if operation == layout.TEXT_EQUAL:
        return size == length and same_bytes(batch.data, text, seg.text_data, start, size)
    if operation == layout.TEXT_DIFFERENT:
        return size != length or not same_bytes(batch.data, text, seg.text_data, start, size)
    if operation == layout.TEXT_PREFIX:
        return size <= length and same_bytes(batch.data, text, seg.text_data, start, size)
    if operation == layout.TEXT_SUFFIX:
        return size <= length and same_bytes(batch.data, text + length - size, seg.text_data, start, size)
    if operation == layout.TEXT_CONTAINS:
        return contains_bytes(batch.data, text, length, seg.text_data, start, size)
    return like_bytes(batch.data, text, length, seg.text_data, start, start + size)


@njit(cache=True, nogil=True)
def _text_within(seg, check, batch, text, length):  # type: ignore[no-untyped-def]
    flags, low, high = seg.check_flags[check], seg.check_a[check], seg.check_b[check]
    if low >= 0:
        start = seg.text_start[low]
        order = compare_bytes(batch.data, text, length, seg.text_data, start, seg.text_start[low + 1] - start)
        if order < 0 or (order == 0 and flags & layout.OPEN_LOW):
            return False
    if high >= 0:
        start = seg.text_start[high]
        order = compare_bytes(batch.data, text, length, seg.text_data, start, seg.text_start[high + 1] - start)
        if order > 0 or (order == 0 and flags & layout.OPEN_HIGH):
            return False
    return True


@njit(cache=True, nogil=True)
def _has(seg, check, batch, first, count, wanted, texts):  # type: ignore[no-untyped-def]
    """Whether an array holds one wanted value: a key, or the number of a string."""
    for entry in range(first, first + count):
        if batch.flags[entry] & _EMPTY:
            continue
        if not texts:
            if batch.key[entry] == wanted:
                return True
        else:
            start = seg.text_start[wanted]
            size = seg.text_start[wanted + 1] - start
            if size == batch.length[entry] and same_bytes(batch.data, batch.text[entry], seg.text_data, start, size):
                return True
    return False


@njit(cache=True, nogil=True)
def _any_satisfies(seg, check, batch, first, count):  # type: ignore[no-untyped-def]
    operation, a, b = seg.check_operation[check], seg.check_a[check], seg.check_b[check]
    if operation >= layout.HAS_ALL_KEYS:
        texts = operation == layout.HAS_ALL_TEXTS or operation == layout.HAS_ANY_TEXTS
        every = operation == layout.HAS_ALL_KEYS or operation == layout.HAS_ALL_TEXTS
        for i in range(a, b):
            if _has(seg, check, batch, first, count, seg.lists[i], texts) != every:
                return not every
        return every
    for entry in range(first, first + count):
        if not batch.flags[entry] & _EMPTY and value_satisfies(seg, check, batch, entry):
            return True
    return False


@njit(cache=True, nogil=True)
def check_truth(seg, check, batch, scratch, inexact):  # type: ignore[no-untyped-def]
    """TRUE, or FALSE for false and unknown alike, or UNDECIDED where only the reference can say."""
    operation, flags, slot = seg.check_operation[check], seg.check_flags[check], seg.check_slot[check]
    if operation == layout.OPAQUE:
        return UNDECIDED
    negated = (flags & _NEGATED) != 0
    present = scratch.seen[slot] == scratch.serial[0]
    if operation == layout.IS_NULL:
        if present and batch.flags[scratch.first[slot]] & _DIRTY:
            return FALSE
        return TRUE if present == negated else FALSE
    if not present:
        return FALSE
    first, count = scratch.first[slot], scratch.counts[slot]
    if operation >= layout.HAS_ALL_KEYS and not batch.flags[first] & _ARRAY:
        return FALSE
    if inexact:
        return UNDECIDED  # the reference decides every find of such a row
    holds = _any_satisfies(seg, check, batch, first, count)
    if not negated:
        return TRUE if holds else FALSE
    return FALSE if holds or batch.flags[first] & _DIRTY else TRUE
