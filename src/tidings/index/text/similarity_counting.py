"""The distinct words of texts and how often each is there, compiled: what vectors of words are made from.

Words of the dictionary are told apart by their numbers, all others by their bytes; a hash alone never decides. Also
runs as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.layout import Array
from tidings.index.text.dictionary_kernels import field_numbers
from tidings.index.text.reading_kernels import ReadTexts
from tidings.index.views import directory, int32s, int64s, uint8s


class Counted(NamedTuple):
    """The distinct words of text number n are start[n] : start[n + 1]; those outside the dictionary come last."""

    start: Array  # int64, one more than there are texts
    word: Array  # int32: the number in the dictionary; -1 where it is not there
    times: Array  # int32, above 0


_R, _C = field_numbers(ReadTexts), field_numbers(Counted)


def counted(read: ReadTexts, room: Array) -> Counted:
    """`room` is to count in, an int32 for each word of the dictionary: zeros, before and afterwards."""
    words = len(read.word)
    found = Counted(np.zeros(len(read.start), np.int64), np.empty(words, np.int32), np.zeros(words, np.int32))
    count_words(directory(read), directory((room,)), directory(found))
    used = found.start[-1]
    return Counted(found.start, found.word[:used], found.times[:used])


@compiled
def count_words(read, room, found):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    start, word, times = int64s(read, _R.start), int32s(read, _R.word), int32s(room, 0)
    found_start, found_word, found_times = int64s(found, _C.start), int32s(found, _C.word), int32s(found, _C.times)
    end = 0
    for text in range(len(start) - 1):
        first, others = end, 0
        for position in range(start[text], start[text + 1]):
            number = word[position]
            if number < 0:
                others += 1
                continue
            if times[number] == 0:
                found_word[end] = number
                end += 1
            times[number] += 1
        for place in range(first, end):
            found_times[place] = times[found_word[place]]
            times[found_word[place]] = 0
        if others > 0:
            end = _count_others(read, start[text], start[text + 1], others, found, end)
        found_start[text + 1] = end


@compiled
def _count_others(read, position, stop, others, found, end):  # type: ignore[no-untyped-def]
    """The words at the positions up to `stop` that are not in the dictionary, counted in a hash table of their own."""
    word, key = int32s(read, _R.word), int64s(read, _R.key)
    found_word, found_times = int32s(found, _C.word), int32s(found, _C.times)
    size = 2
    while size < 2 * others:
        size *= 2
    first, table, seen_at = end, np.full(size, -1, np.int64), np.empty(others, np.int64)
    while position < stop:
        if word[position] < 0:
            place = key[position] & (size - 1)
            while table[place] >= 0 and not _same_word(read, seen_at[table[place] - first], position):
                place = (place + 1) & (size - 1)
            if table[place] < 0:
                table[place], seen_at[end - first], found_word[end] = end, position, -1
                end += 1
            found_times[table[place]] += 1
        position += 1
    return end


@compiled
def _same_word(read, one, other):  # type: ignore[no-untyped-def]
    key, length = int64s(read, _R.key), int32s(read, _R.length)
    if key[one] != key[other] or length[one] != length[other]:
        return False
    data, at, i = uint8s(read, _R.data), int64s(read, _R.at), 0
    while i < length[one] and data[at[one] + i] == data[at[other] + i]:
        i += 1
    return i == length[one]
