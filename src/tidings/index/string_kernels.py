"""Entries that are found by a part of a string: beginnings and ends by their lengths, substrings by their rarest gram.

What stands beside the gram of a short string is in its entry, so that one comparison of two numbers decides; the bytes
of a longer one are compared.
"""

from __future__ import annotations

import numpy as np

from tidings.index import layout
from tidings.index.check_kernels import same_bytes
from tidings.index.compiling import compiled
from tidings.index.entry_kernels import take_once
from tidings.index.hashing import mixed
from tidings.index.keys import HASH_START, hash_end, hash_step
from tidings.index.layout import BATCH as B
from tidings.index.layout import SEGMENT as S
from tidings.index.lookup_kernels import END, FIRST, next_place, place_of_part
from tidings.index.views import int32s, int64s, uint8s, uint64s

_FILTER_SHIFT = np.uint64(64 - layout.FILTER_BITS)
_ONE, _SIX, _LOW_SIX = np.uint64(1), np.uint64(6), np.uint64(63)
_AROUND, _BESIDE = layout.AROUND, np.uint64((1 << 8 * layout.AROUND) - 1)


@compiled
def take_prefixes(seg, table, backwards, batch, entry, scratch, found):  # type: ignore[no-untyped-def]
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
            take_once(seg, table, places[place + FIRST], places[place + END], batch, scratch, found)


@compiled
def take_substrings(seg, table, batch, entry, scratch, found):  # type: ignore[no-untyped-def]
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
                take_gram(seg, table, key, at, batch, entry, scratch, found)


@compiled
def take_gram(seg, table, key, at, batch, entry, scratch, found):  # type: ignore[no-untyped-def]
    """The entries of one gram, which stands at `at` in a value: those whose whole string stands around it."""
    place = next_place(seg, table, key, -1)
    if place < 0:
        return
    data, length = uint8s(batch, B.data), np.int64(int32s(batch, B.length)[entry])
    text, places = int64s(batch, B.text)[entry], int64s(seg, S.hash_places)
    entry_low, entry_high, entry_text = int64s(seg, S.entry_low), int64s(seg, S.entry_high), int32s(seg, S.entry_text)
    behind = at + (key >> 32)
    left, right = bytes_before(data, text, at), bytes_behind(data, text + behind, length - behind)
    candidate, last = np.uint64(places[place + FIRST]), np.uint64(places[place + END])
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
            take_once(seg, table, np.int64(candidate), np.int64(end), batch, scratch, found)
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
