"""Places in a latent space and what is found in a block of cosines, compiled.

Also runs as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.layout import Array
from tidings.index.text.dictionary_kernels import field_numbers
from tidings.index.views import int32s, int64s, uint8s

_STRIDE = 256  # profiles that are looked at together: mostly none of them is found
_UNIT = 2.0**-52  # twice what float64 loses in one step, of numbers up to 1


class Vectors(NamedTuple):
    """Vector number n has the terms start[n] : start[n + 1]."""

    start: Array  # int64, one more than there are vectors
    term: Array  # int32
    weight: Array  # float64


class TermArrays(NamedTuple):
    """What terms are worth: that of number n is matrix[n * dimensions : (n + 1) * dimensions]."""

    matrix: Array  # float32
    length: Array  # float64: of each row of the matrix


class Placed(NamedTuple):
    place: Array  # float64, dimensions for each vector
    length: Array  # float64, of each place; 0 where a vector has no terms
    doubt: Array  # float64: the distance from the true place, as a share of the length, is at most this


class LatentFound(NamedTuple):
    """Pairs of text and profile, and whether the cosine is so far above the threshold that it is certain."""

    text: Array  # int32
    profile: Array  # int32
    certain: Array  # uint8


_V, _T = field_numbers(Vectors), field_numbers(TermArrays)
_P, _F = field_numbers(Placed), field_numbers(LatentFound)


@compiled
def place_vectors(vectors, terms, placed):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    """Adds up the rows of each vector's terms by weight. `place` is zeros before."""
    start, term = int64s(vectors, _V.start), int32s(vectors, _V.term)
    weight, row_length = int64s(vectors, _V.weight).view(np.float64), int64s(terms, _T.length).view(np.float64)
    matrix, place = int32s(terms, _T.matrix).view(np.float32), int64s(placed, _P.place).view(np.float64)
    length, doubt = int64s(placed, _P.length).view(np.float64), int64s(placed, _P.doubt).view(np.float64)
    if len(length) == 0:
        return
    dimensions = len(place) // len(length)
    for vector in range(len(length)):
        here, added, squares = vector * dimensions, 0.0, 0.0
        for at in range(start[vector], start[vector + 1]):
            row, worth = term[at] * dimensions, weight[at]
            added += worth * row_length[term[at]]
            for dimension in range(dimensions):
                place[here + dimension] += worth * matrix[row + dimension]
        for dimension in range(dimensions):
            squares += place[here + dimension] ** 2
        length[vector] = math.sqrt(squares)
        lost = (start[vector + 1] - start[vector] + dimensions + 2) * _UNIT * added
        doubt[vector] = lost / length[vector] if length[vector] > 0.0 else (np.inf if added > 0.0 else 0.0)


@compiled
def take_from_block(cosines, least, certain, text, profile, found, used):  # type: ignore[no-untyped-def]
    """Adds what is found in a block of cosines, whose first text and profile are given; how much is found now.

    `least` and `certain` are of all profiles: the cosines from which on a profile is found, and is certainly found.
    """
    found_text, found_profile = int32s(found, _F.text), int32s(found, _F.profile)
    found_certain = uint8s(found, _F.certain)
    rows, columns = cosines.shape
    for row in range(rows):
        for first in range(0, columns, _STRIDE):
            end = min(first + _STRIDE, columns)
            values, needed = cosines[row, first:end], least[profile + first : profile + end]
            some = np.uint32(0)
            for i in range(len(values)):
                some |= np.uint32(values[i] >= needed[i])
            if some:
                for i in range(len(values)):
                    if values[i] >= needed[i]:
                        found_text[used], found_profile[used] = text + row, profile + first + i
                        found_certain[used] = values[i] >= certain[profile + first + i]
                        used += 1
    return used
