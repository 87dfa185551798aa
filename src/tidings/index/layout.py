"""What a segment is made of: flat arrays, and what the numbers in them mean. Builder and kernels share this page.

A segment holds *tables*. A table is led by one slot, and leads from a value in that slot to *entries*, one entry for
each conjunction that is found there:

    VALUE            the value equals a literal: hash of the literal -> bucket of entries
    VALUE_POINT ...  the same, and the entries of a bucket are ordered by the key, or a bound, in a second slot
    UPPER, LOWER     value <= bound, value >= bound: entries ordered by bound, so that the answer is one slice
    BETWEEN          low <= value <= high, for one element; PAIR: some element <= high, some (other) element >= low
    PREFIX, SUFFIX   hash of the first (last) n bytes, for each n that occurs -> bucket
    SUBSTRING        hash of a gram of the literal -> bucket; those of one literal stand together
    SCAN             led by no slot: tested for every event

A table is *sliced* where an entry needs nothing further: the conjunction has no other term, and is the only one of its
subscription. Subscriptions are numbered by their first entry, so that those of a slice are consecutive numbers: they
are written down as a range and never looked at. All other entries have checks, which the kernel evaluates.

A segment has slots of its own, so that it can be made, and read, without knowing of others. `local` of Scratch leads
from the slots of encoded events to them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LAYOUT = 5  # the version of all that is said here; a file with another one is not read

VALUE, VALUE_POINT, VALUE_UPPER, VALUE_LOWER, VALUE_BETWEEN, VALUE_PAIR = 0, 1, 2, 3, 4, 5
UPPER, LOWER, BETWEEN, PAIR = 6, 7, 8, 9
PREFIX, SUFFIX, SUBSTRING, SCAN = 10, 11, 12, 13
# Orders that are no tables by themselves: equal to a key; equal to a string, by its hash, and checked besides.
POINT, TEXT_POINT = 14, 15
HASHED = (VALUE, VALUE_POINT, VALUE_UPPER, VALUE_LOWER, VALUE_BETWEEN, VALUE_PAIR, PREFIX, SUFFIX, SUBSTRING)
# The kind of a table of values whose buckets are ordered in this way.
WITH_VALUE = {
    POINT: VALUE_POINT,
    TEXT_POINT: VALUE_POINT,
    UPPER: VALUE_UPPER,
    LOWER: VALUE_LOWER,
    BETWEEN: VALUE_BETWEEN,
    PAIR: VALUE_PAIR,
}

NEVER_SLICED = (SCAN,)
BY_HIGH = (VALUE_UPPER, UPPER)  # ordered by their upper bound; the others by the lower one

# Operations of checks. `a` and `b` are keys, numbers of strings, or a range of the lists, by the operation. Where a
# number is long (`literals.is_long`), its key may be that of others too: it is asked for by closed intervals, each of
# four numbers in the lists: key and rest (`numbers`) of the lower bound, and of the upper one. What is OPAQUE only the
# reference can decide: `a` is the number of the term's text, -1 in the one check of a segment that has none.
INTERVAL, OUTSIDE, KEY_LIST = 0, 1, 2
TEXT_EQUAL, TEXT_DIFFERENT, TEXT_LIST, TEXT_INTERVAL = 3, 4, 5, 6
TEXT_PREFIX, TEXT_SUFFIX, TEXT_CONTAINS, TEXT_LIKE = 7, 8, 9, 10
LONG_INTERVALS = 11
HAS_ALL_KEYS, HAS_ANY_KEYS, HAS_ALL_TEXTS, HAS_ANY_TEXTS, HAS_ALL_LONG, HAS_ANY_LONG = 12, 13, 14, 15, 16, 17
IS_NULL, OPAQUE = 18, 19

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
ANY_BYTE, ONE_BYTE = 0xFF, 0xFE  # % and _ in a pattern; neither occurs in UTF-8
GRAM = 4  # bytes of a gram; shorter literals have shorter grams
AROUND = 7  # bytes of a literal beside its gram that fit into an entry, so that most literals need not be looked up
OPEN_LOW, OPEN_HIGH = 1, 2  # flags of checks: a TEXT_INTERVAL without that bound is not closed there
NEGATED = 4
EMPTY, DIRTY, ARRAY, INEXACT = 1, 2, 4, 8  # flags of an encoded value, see `encode`
INTERVAL_SIZE = 4  # numbers of an interval of long numbers
FILTER_BITS = 20  # of the filter in front of a table of grams, as a power of two


class Segment(NamedTuple):
    """The arrays. All that is needed to match is here, and nothing in it is a Python object."""

    # Tables, ordered by the slot that leads them
    slot_tables: Array  # int32[slots + 1]: the tables led by a slot are slot_tables[s]:slot_tables[s + 1]
    table_kind: Array  # uint8
    table_second: Array  # int32: the slot of the bounds, or -1
    table_sliced: Array  # uint8
    table_array: Array  # uint8: 1 where only elements of arrays lead to it, as has_any asks
    table_hash: Array  # int64[tables + 1]: the table's part of hash_places, whose length is a power of two
    table_lengths: Array  # int32[tables + 1]: its part of `lengths`
    table_buckets: Array  # int64[tables + 1]: its part of the buckets; a table without hash has one
    table_filter: Array  # int64: where its filter begins in `filters`, or -1
    scans: Array  # int32: the tables led by no slot

    lengths: Array  # int32: of prefixes, suffixes, grams; in order
    filters: Array  # uint64: bits by key, so that most grams nobody asks for cost one look
    hash_places: Array  # int64[., 4]: key, string and bucket, first and last entry of a bucket; see `hash_columns`
    bucket_entries: Array  # int64[buckets + 1]

    # Entries, ordered by table, bucket, and bound
    entry_member: Array  # int32: the number of the subscription
    entry_low: Array  # int64: lower bound, or the place of the gram in the string
    entry_high: Array  # int64: upper bound, or what stands around the gram, see `grams.around`
    entry_text: Array  # int32: SUBSTRING: the whole string; else -1
    entry_checks: Array  # int64[entries + 1]: its part of `entry_check`
    entry_check: Array  # int32: numbers of checks
    entry_guard: Array  # int32: a slot that must be filled for the checks to hold, or -1: most that fail fail by it

    # Checks, each kept once however many entries share it
    check_rows: Array  # int64[., 4]: operation and flags, slot, a, b; see `check_columns`
    lists: Array  # int64: keys, numbers of strings, or intervals of long numbers

    # Strings of literals
    text_start: Array  # int64[strings + 1]
    text_data: Array  # uint8
    text_key: Array  # int64[strings]: their hashes

    # Of subscriptions, for those who verify and score what kernels found: uint8, whether it has several conjunctions,
    # or one that is found in several places
    member_shared: Array

    entry_reach: Array  # int64: the largest upper bounds of blocks of entries, see `reach`

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self)


class Batch(NamedTuple):
    """Encoded events as the kernels read them; `encode` says what each array holds."""

    starts: Array
    slot: Array
    key: Array
    text: Array
    length: Array
    flags: Array
    data: Array


class Scratch(NamedTuple):
    """What a kernel remembers of the row it is at: `serial` marks what was written for that row."""

    local: Array  # int32[slots of events]: the slot of the segment, or -1
    seen: Array  # int64[slots]
    first: Array  # int64[slots]: the first entry of a slot
    counts: Array  # int32[slots]
    stamp: Array  # int64[subscriptions]: the row in which it was last found
    serial: Array  # int64[1]
    memo: Array  # int64[checks]: the row for which a check was last evaluated, and its truth in the last two bits


class Found(NamedTuple):
    """Where a kernel writes: ranges of subscriptions, and single ones, or ~e where entry e is still to be verified."""

    slices: Array  # int64: first and length of each
    hits: Array  # int64
    slices_end: Array  # int64[rows or more]
    hits_end: Array  # int64[rows or more]
    used: Array  # int64[5]: slices, hits, candidates, hits to be verified, 1 if something did not fit


def _numbers(kind: Any) -> Any:
    """The fields of a tuple with their numbers as values, which is how kernels name an array in a directory."""
    return kind(*range(len(kind._fields)))


SEGMENT, BATCH, SCRATCH, FOUND = (_numbers(kind) for kind in (Segment, Batch, Scratch, Found))


class HashColumns(NamedTuple):
    """What a place of a hash table has, by itself: all that leads to a bucket stands in one line of the cache."""

    key: Array
    text: Array  # the string whose bytes decide, or -1 where the key does
    bucket: Array  # the number of the bucket, -1 where free
    first: Array  # its entries are first:end
    end: Array


def hash_columns(hash_places: Array) -> HashColumns:
    key, both, first, end = hash_places.reshape(-1, 4).T
    return HashColumns(key, (both & 0xFFFFFFFF) - 1, (both >> 32) - 1, first, end)


def hash_places(columns: HashColumns) -> Array:
    both = (columns.bucket + 1) << 32 | (columns.text + 1)
    return np.stack([columns.key, both, columns.first, columns.end], axis=1).ravel()


class CheckColumns(NamedTuple):
    """What a check is, by itself: all of it stands in one line of the cache."""

    operation: Array
    flags: Array
    slot: Array
    a: Array
    b: Array


def check_columns(check_rows: Array) -> CheckColumns:
    both, slot, a, b = check_rows.reshape(-1, 4).T
    return CheckColumns(both & 0xFF, both >> 8, slot, a, b)


def check_rows(columns: CheckColumns) -> Array:
    both = columns.flags << 8 | columns.operation
    return np.stack([both, columns.slot, columns.a, columns.b], axis=1).ravel()


BLOCK = 16  # entries, blocks, and blocks of blocks, whose largest upper bounds are kept together
LEVELS = 3


def reach(entry_high: Array) -> Array:
    """The largest upper bound of each BLOCK of entries, then of each BLOCK of those, LEVELS times, in one array.

    Entries of BETWEEN are ordered by their lower bound. What they reach tells which blocks of them end too early for a
    value, so that a long row of intervals is crossed in large steps.
    """
    found, level = [], entry_high
    for _ in range(LEVELS):
        starts = np.arange(0, len(level), BLOCK)
        level = np.maximum.reduceat(level, starts) if len(level) else level
        found.append(level)
    return np.concatenate(found)
