"""From places to arrays: sorts entries into tables, buckets and bounds, numbers subscriptions by their first entry, and
fills the hash tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tidings.index import layout
from tidings.index.checks import Checks
from tidings.index.entries import Columns
from tidings.index.grams import around, rarest
from tidings.index.hashing import fill_hash, set_filter
from tidings.index.keys import hash_strings
from tidings.index.layout import LEAST, MOST, Array, Segment, reach
from tidings.index.placing import Placing

SMALLEST_GROUP = 64  # conjunctions that must share a pair of slots before a table is made for it
_SLOT_BITS, _KIND_BITS = 25, 5
# lead, second, order, kind, whether only elements of arrays are meant, whether nothing is checked
_GROUP = (_SLOT_BITS, _SLOT_BITS, _KIND_BITS, _KIND_BITS, 1, 1)
_TABLE = (_SLOT_BITS, _KIND_BITS, _SLOT_BITS, 1, 1)  # lead, kind, second, arrays only, sliced
_BEHIND = (1 << _SLOT_BITS) - 1  # stands for the lead of scans, which come last
_WITH_VALUE = np.array([layout.WITH_VALUE.get(kind, layout.VALUE) for kind in range(layout.TEXT_POINT + 1)], np.uint8)
_BY_LOW = (
    layout.VALUE_POINT,
    layout.VALUE_LOWER,
    layout.VALUE_BETWEEN,
    layout.VALUE_PAIR,
    layout.LOWER,
    layout.BETWEEN,
    layout.PAIR,
)


class Tables(NamedTuple):
    """The tables of a segment by the slot that leads them, scans last; and the table of each entry."""

    lead: Array  # -1 for scans
    kind: Array
    second: Array
    array: Array
    sliced: Array
    of: Array


def assembled(placing: Placing) -> tuple[Segment, Array]:
    """The segment of everything that was placed, and which of the added each of its subscriptions is, from 0."""
    columns = placing.columns()
    texts = placing.checks.strings.arrays()
    substrings = np.flatnonzero(columns.kind == layout.SUBSTRING)
    columns.key[substrings], columns.low[substrings] = rarest(columns.whole[substrings], *texts)
    columns.high[substrings] = around(columns.whole[substrings], columns.low[substrings], *texts)
    hashes = hash_strings(*texts[::-1])
    points = np.flatnonzero(columns.order == layout.TEXT_POINT)
    columns.low[points] = columns.high[points] = hashes[columns.low[points]]
    shared = np.zeros(placing.members, np.uint8)
    shared[placing.shared] = 1
    tables, unordered = _tables(columns, shared)
    further = _interval_checks(columns, unordered, placing.checks)
    columns.low[unordered] = columns.high[unordered] = 0

    order = _order(columns, tables)
    added, entry_member = _numbered(columns.member[order], placing.members)
    entry_checks, entry_check = _checks(columns, unordered, further, order)
    checks = placing.checks.arrays()
    entry_check, checks["check_rows"] = _by_use(entry_check, checks["check_rows"])
    high = columns.high[order]
    segment = Segment(
        **_table_arrays(tables, len(placing.slots)),
        **_bucket_arrays(tables, columns.key[order], columns.text[order], texts[0], hashes),
        **checks,
        entry_member=entry_member,
        entry_low=columns.low[order],
        entry_high=high,
        entry_text=columns.whole[order],
        entry_checks=entry_checks,
        entry_check=entry_check,
        entry_guard=_guards(entry_checks, entry_check, checks["check_rows"]),
        text_start=texts[0],
        text_data=texts[1],
        text_key=hashes,
        member_shared=shared[added],
        entry_reach=reach(high),
    )
    for array in (*segment, added):
        array.flags.writeable = False  # as if mapped from a file, so that the kernels are compiled once for both
    return segment, added


def _tables(columns: Columns, shared: Array) -> tuple[Tables, Array]:
    """The tables; and which entries need their range as a check, because too few share its pair of slots."""
    exact = (columns.checks == 0) & (shared[columns.member] == 0)
    described = (columns.lead + 1, columns.second + 1, columns.order + 1, columns.kind, columns.array, exact)
    groups, group_of, counts = np.unique(_packed(_GROUP, *described), return_inverse=True, return_counts=True)
    lead, second, order, kind, array, exact = _unpacked(_GROUP, groups)
    _, pair = np.unique(_packed(_GROUP, lead, second, order, 0, 0, 0), return_inverse=True)
    many = np.bincount(pair, counts)[pair] >= SMALLEST_GROUP
    ordered, unordered = (second > 0) & many, (second > 0) & ~many
    kind = np.where(ordered, _WITH_VALUE[order - 1], kind)
    sliced = exact & ~unordered & ~np.isin(kind, layout.NEVER_SLICED)

    led = np.where(lead > 0, lead, _BEHIND)
    codes, table_of = np.unique(_packed(_TABLE, led, kind, second * ordered, array, sliced), return_inverse=True)
    lead, kind, second, array, sliced = _unpacked(_TABLE, codes)
    tables = Tables(
        np.where(lead == _BEHIND, -1, lead - 1),
        kind.astype(np.uint8),
        (second - 1).astype(np.int32),
        array.astype(np.uint8),
        sliced.astype(np.uint8),
        table_of[group_of],
    )
    return tables, np.flatnonzero(unordered[group_of])


def _packed(bits: Sequence[int], *fields: Array | int) -> Array:
    """Several numbers in one, which sorts as they would; each has so many bits."""
    packed: Any = np.int64(0)
    for size, field in zip(bits, fields, strict=True):
        packed = packed << size | field
    return np.asarray(packed)


def _unpacked(bits: Sequence[int], packed: Array) -> list[Array]:
    fields = []
    for size in reversed(bits):
        fields.append(packed & (1 << size) - 1)
        packed = packed >> size
    return fields[::-1]


def _table_arrays(tables: Tables, slots: int) -> dict[str, Array]:
    led = tables.lead[tables.lead >= 0]
    return {
        "slot_tables": np.searchsorted(led, np.arange(slots + 1)).astype(np.int32),
        "table_kind": tables.kind,
        "table_second": tables.second,
        "table_sliced": tables.sliced,
        "table_array": tables.array,
        "scans": np.arange(len(led), len(tables.lead), dtype=np.int32),
    }


def _bucket_arrays(tables: Tables, key: Array, text: Array, text_start: Array, hashes: Array) -> dict[str, Array]:
    """The buckets, from the keys and strings of the entries in their order, and what leads to them."""
    starts = _starts(np.bincount(tables.of, minlength=len(tables.kind)))
    value = np.where(text >= 0, text, key)
    buckets = _runs(value, starts)
    bucket_text, keys = text[buckets[:-1]], value[buckets[:-1]]
    named = bucket_text >= 0
    keys[named] = hashes[bucket_text[named]]
    table_buckets = np.searchsorted(buckets, starts)
    table_hash, hash_places = _hashes(tables.kind, table_buckets, keys, bucket_text, buckets)
    lengths, table_lengths = _lengths(tables.kind, table_buckets, bucket_text, keys, text_start)
    filters, table_filter = _filters(tables.kind, table_buckets, keys)
    return {
        "table_buckets": table_buckets,
        "table_hash": table_hash,
        "table_lengths": table_lengths,
        "table_filter": table_filter,
        "lengths": lengths,
        "filters": filters,
        "hash_places": hash_places,
        "bucket_entries": buckets,
    }


def _order(columns: Columns, tables: Tables) -> Array:
    """The entries by table, bucket, and bound; as they came where all these are equal."""
    few = len(tables.kind) < 1 << 16  # which numpy sorts by their digits, in a tenth of the time
    by_table = np.argsort(tables.of.astype(np.uint16) if few else tables.of, kind="stable")
    starts = _starts(np.bincount(tables.of, minlength=len(tables.kind)))
    for kind, (start, end) in zip(tables.kind.tolist(), pairwise(starts.tolist()), strict=True):
        some, keys = by_table[start:end], []
        if kind in layout.BY_HIGH or kind in _BY_LOW:
            keys.append((columns.high if kind in layout.BY_HIGH else columns.low)[some])
        if kind == layout.SUBSTRING:
            keys.append(columns.whole[some])
        if kind in layout.HASHED:
            text = columns.text[some]
            keys.append(text if text[0] >= 0 else columns.key[some])
        if keys:
            by_table[start:end] = some[np.lexsort(keys)]
    return by_table


def _interval_checks(columns: Columns, unordered: Array, checks: Checks) -> list[tuple[int, ...]]:
    """The checks of ranges by which entries are not ordered."""
    ranges = (columns.order, columns.second, columns.low, columns.high)
    return [
        (checks.interval_check(second, low, MOST), checks.interval_check(second, LEAST, high))
        if order == layout.PAIR
        else ()
        if order == layout.TEXT_POINT  # it is checked already
        else (checks.interval_check(second, low, high),)
        for order, second, low, high in zip(*(column[unordered].tolist() for column in ranges), strict=True)
    ]


def _checks(columns: Columns, unordered: Array, further: list[tuple[int, ...]], order: Array) -> tuple[Array, Array]:
    """The checks of the entries in their order, and where those of each begin."""
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    own = np.repeat(position, columns.checks)
    more = np.repeat(position[unordered], np.array([len(some) for some in further], np.int64))
    at = np.concatenate([own, more])
    check = np.concatenate([columns.check, np.array([one for some in further for one in some], np.int32)])
    return _starts(np.bincount(at, minlength=len(order))), check[np.argsort(at, kind="stable")]


def _by_use(entry_check: Array, check_rows: Array) -> tuple[Array, Array]:
    """Checks numbered as the entries name them first: those of entries side by side then stand side by side as well."""
    used, first = np.unique(entry_check, return_index=True)
    rows = check_rows.reshape(-1, 4)
    order = np.concatenate([used[np.argsort(first)], np.setdiff1d(np.arange(len(rows)), used)])
    numbers = np.empty(len(rows), np.int32)
    numbers[order] = np.arange(len(rows), dtype=np.int32)
    return numbers[entry_check], rows[order].ravel()


def _guards(entry_checks: Array, entry_check: Array, check_rows: Array) -> Array:
    """Of each entry the slot of one of its checks; only IS NULL and what is opaque can hold where a slot is empty.

    The last slot that was named is taken: where attributes are many, it is one of the rarer ones.
    """
    columns = layout.check_columns(check_rows)
    needs = np.where(np.isin(columns.operation, (layout.IS_NULL, layout.OPAQUE)), -1, columns.slot)
    guards = np.full(len(entry_checks) - 1, -1, np.int32)
    checked = np.flatnonzero(np.diff(entry_checks))
    if len(checked):
        guards[checked] = np.maximum.reduceat(needs[entry_check], entry_checks[checked])
    return guards


def _numbered(member: Array, count: int) -> tuple[Array, Array]:
    """Subscriptions by their first entry, those without any last; and the numbers that the entries' get by that."""
    first = np.full(count, len(member), np.int64)
    first[member[::-1]] = np.arange(len(member))[::-1]  # of several the last one is kept, which is the first
    firsts = np.flatnonzero(first[member] == np.arange(len(member)))
    added = np.concatenate([member[firsts], np.flatnonzero(first == len(member)).astype(np.int32)])
    numbers = np.empty(count, np.int32)
    numbers[added] = np.arange(count, dtype=np.int32)
    return added, numbers[member]


def _hashes(
    kinds: Array, table_buckets: Array, keys: Array, bucket_text: Array, bucket_entries: Array
) -> tuple[Array, Array]:
    """The hash tables, one after the other, each at most half full; their starts, and their places."""
    buckets = np.diff(table_buckets)
    sizes = [
        1 << int(2 * count - 1).bit_length() if kind in layout.HASHED else 0
        for kind, count in zip(kinds.tolist(), buckets.tolist(), strict=True)
    ]
    starts = _starts(np.array(sizes, np.int64))
    bucket = np.full(starts[-1], -1, np.int64)
    fill_hash(starts, table_buckets, keys, bucket)
    used = bucket >= 0
    columns = layout.HashColumns(*(np.zeros(len(bucket), np.int64) for _ in layout.HashColumns._fields))
    columns.bucket[:], columns.text[:] = bucket, -1
    columns.key[used], columns.text[used] = keys[bucket[used]], bucket_text[bucket[used]]
    columns.first[used], columns.end[used] = bucket_entries[bucket[used]], bucket_entries[bucket[used] + 1]
    return starts, layout.hash_places(columns)


def _runs(values: Array, starts: Array) -> Array:
    """Where runs of equal values begin, and the end; at each of `starts` one begins."""
    changes = np.ones(len(values) + 1, bool)
    changes[1:-1] = values[1:] != values[:-1]
    changes[starts] = True
    return np.flatnonzero(changes)


def _starts(sizes: Array) -> Array:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _lengths(kinds: Array, table_buckets: Array, text: Array, key: Array, text_start: Array) -> tuple[Array, Array]:
    """Of each table of prefixes, suffixes or grams, the lengths that occur in it."""
    found = [np.zeros(0, np.int32)] * (len(kinds) + 1)
    sizes = np.diff(text_start)
    for table in np.flatnonzero(np.isin(kinds, (layout.PREFIX, layout.SUFFIX, layout.SUBSTRING))):
        buckets = slice(table_buckets[table], table_buckets[table + 1])
        occurring = key[buckets] >> 32 if kinds[table] == layout.SUBSTRING else sizes[text[buckets]]
        found[table] = np.unique(occurring).astype(np.int32)
    return np.concatenate(found), _starts(np.array([len(each) for each in found[:-1]], np.int64)).astype(np.int32)


def _filters(kinds: Array, table_buckets: Array, keys: Array) -> tuple[Array, Array]:
    """A bit for each gram that occurs, by a part of its key."""
    words = 1 << (layout.FILTER_BITS - 6)
    table_filter = np.full(len(kinds), -1, np.int64)
    filters: list[Array] = []
    for table in np.flatnonzero(kinds == layout.SUBSTRING):
        table_filter[table] = words * len(filters)
        bits = np.zeros(words, np.uint64)
        set_filter(bits, keys[table_buckets[table] : table_buckets[table + 1]])
        filters.append(bits)
    return np.concatenate([*filters, np.zeros(0, np.uint64)]), table_filter
