"""Writing answers out, when it is known how many there are: numbers of subscriptions, or their identifiers.

Unsigned numbers: an array may be indexed from its end by negative ones, and the test for that in each step made these
loops almost three times slower.
"""

from __future__ import annotations

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.layout import FOUND as F
from tidings.index.views import int64s

REJECTED = np.iinfo(np.int64).min  # a hit that the reference has decided against


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
