"""Words in a dictionary, compiled. A place of its hash table has the upper half of a word's key above, and the word's
number plus one below; 0 is free. Also runs as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.layout import Array
from tidings.index.views import int64s, uint8s, uint64s

_ABOVE, _BELOW = np.uint64(0xFFFFFFFF00000000), np.uint64(0xFFFFFFFF)


class DictionaryArrays(NamedTuple):
    """Word number n is data[start[n] : start[n + 1]]."""

    word_data: Array  # uint8
    word_start: Array  # int64, one more than there are words
    word_places: Array  # uint64, a power of two of them


def field_numbers(kind: Any) -> Any:
    """The fields of a tuple with their numbers as values, which is how kernels name an array in a directory."""
    return kind(*range(len(kind._fields)))


_D = field_numbers(DictionaryArrays)


@compiled
def fill_places(keys, places, first):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    """Gives a place to each word from number `first` on."""
    mask = len(places) - 1
    for number in range(first, len(keys)):
        place = keys[number] & mask
        while places[place] != 0:
            place = (place + 1) & mask
        places[place] = (np.uint64(keys[number]) & _ABOVE) | np.uint64(number + 1)


@compiled
def word_number(dictionary, data, at, size, key):  # type: ignore[no-untyped-def]
    """The number of the word data[at : at + size], whose key is given; -1 where it is not there."""
    places = uint64s(dictionary, _D.word_places)
    mask = len(places) - 1
    above = np.uint64(key) & _ABOVE
    place = key & mask
    while places[place] != 0:
        if places[place] & _ABOVE == above:
            number = np.int64(places[place] & _BELOW) - 1
            start = int64s(dictionary, _D.word_start)
            if start[number + 1] - start[number] == size:
                known, i = uint8s(dictionary, _D.word_data), 0
                while i < size and known[start[number] + i] == data[at + i]:
                    i += 1
                if i == size:
                    return number
        place = (place + 1) & mask
    return -1
