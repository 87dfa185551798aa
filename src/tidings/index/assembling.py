"""From places to arrays: sorts entries into tables, buckets and bounds, and fills the hash tables."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from tidings.index import layout
from tidings.index.hashing import fill_hash, set_filter
from tidings.index.keys import hash_strings
from tidings.index.layout import Array, Segment
from tidings.index.placing import Placed, Placing

SMALLEST_GROUP = 64  # conjunctions that must share a pair of slots before a table is made for it


def assembled(placing: Placing) -> Segment:
    """The segment of everything that was placed."""
    placed = placing.placed
    _choose_tables(placing, placed)
    text_start, text_data = placing.checks.strings.arrays()
    _choose_grams(placed, list(placing.checks.strings.numbers))
    hashes = hash_strings(text_data, text_start) if len(text_start) > 1 else np.zeros(0, np.int64)
    shared = np.array(placing.shared, np.uint8)

    def column(name: str, kind: type) -> Array:
        return np.array([getattr(entry, name) for entry in placed], kind)

    kind, lead, second = column("kind", np.uint8), column("lead", np.int32), column("second", np.int32)
    member, text = column("member", np.int32), column("text", np.int32)
    low, high, whole = column("low", np.int64), column("high", np.int64), column("whole", np.int32)
    key = column("key", np.int64)
    named = text >= 0
    key[named] = hashes[text[named]]
    check_counts = np.array([len(entry.checks) for entry in placed], np.int64)
    sliced = (check_counts == 0) & (shared[member] == 0) & ~np.isin(kind, layout.NEVER_SLICED)

    order = np.lexsort(
        (member, np.where(np.isin(kind, layout.BY_HIGH), high, low), text, key, sliced, second, kind, lead)
    )
    order = np.concatenate([order[lead[order] >= 0], order[lead[order] < 0]])  # scans stand last
    kind, lead, second, sliced = kind[order], lead[order], second[order], sliced[order]
    key, text, low, high = key[order], text[order], low[order], high[order]
    tables = _runs(lead, kind, second, sliced)
    table_of = np.repeat(np.arange(len(tables) - 1), np.diff(tables))
    buckets = _runs(table_of, key, text)
    firsts, table_firsts = buckets[:-1], tables[:-1]

    table_buckets = np.searchsorted(firsts, tables)
    table_hash, hash_key, hash_bucket = _hashes(kind[table_firsts], table_buckets, key[firsts])
    lengths, table_lengths = _lengths(placing, kind, text, whole[order], tables)
    filters, table_filter = _filters(kind[table_firsts], table_buckets, key[firsts])

    checks = [placed[number].checks for number in order]
    operations = np.array(list(placing.checks.rows) or [(0, 0, 0, 0, 0)], np.int64).T
    leads = lead[table_firsts]
    return Segment(
        slot_tables=np.searchsorted(leads[leads >= 0], np.arange(len(placing.slots) + 1)).astype(np.int32),
        table_kind=kind[table_firsts],
        table_second=second[table_firsts],
        table_sliced=sliced[table_firsts].astype(np.uint8),
        table_hash=table_hash,
        table_lengths=table_lengths,
        table_buckets=table_buckets.astype(np.int64),
        table_filter=table_filter,
        scans=np.flatnonzero(leads < 0).astype(np.int32),
        lengths=lengths,
        filters=filters,
        hash_key=hash_key,
        hash_bucket=hash_bucket,
        bucket_text=text[firsts],
        bucket_entries=buckets,
        entry_member=member[order],
        entry_low=low,
        entry_high=high,
        entry_text=whole[order],
        entry_checks=_starts(check_counts[order]),
        entry_check=np.array([check for some in checks for check in some], np.int32),
        check_operation=operations[0].astype(np.uint8),
        check_flags=operations[1].astype(np.uint8),
        check_slot=operations[2].astype(np.int32),
        check_a=operations[3],
        check_b=operations[4],
        lists=np.array(placing.checks.lists, np.int64),
        text_start=text_start,
        text_data=text_data,
        member_shared=shared,
    )


def _hashes(kinds: Array, table_buckets: Array, keys: Array) -> tuple[Array, Array, Array]:
    """The hash tables, one after the other, each at most half full; their starts, keys and buckets."""
    buckets = np.diff(table_buckets)
    sizes = [
        1 << int(2 * count - 1).bit_length() if kind in layout.HASHED else 0
        for kind, count in zip(kinds, buckets, strict=True)
    ]
    starts = _starts(np.array(sizes, np.int64))
    hash_key, hash_bucket = np.zeros(starts[-1], np.int64), np.full(starts[-1], -1, np.int32)
    fill_hash(starts, table_buckets, keys, hash_key, hash_bucket)
    return starts, hash_key, hash_bucket


def _choose_tables(placing: Placing, placed: list[Placed]) -> None:
    """Entries whose pair of slots is common are ordered by the second one; the others get it as a check."""
    groups = Counter((entry.lead, entry.second, entry.order) for entry in placed if entry.second >= 0)
    for entry in placed:
        if entry.second < 0:
            continue
        if groups[entry.lead, entry.second, entry.order] >= SMALLEST_GROUP:
            entry.kind = layout.WITH_VALUE[entry.order]
        else:
            checks = entry.second_checks or (placing.checks.interval_check(entry.second, entry.low, entry.high),)
            entry.checks += checks
            entry.second, entry.low, entry.high = -1, 0, 0


def _choose_grams(placed: list[Placed], strings: list[bytes]) -> None:
    """A substring is found by that gram of it which the fewest substrings have (paper 2, 4.2, with one gram)."""
    pieces = [(entry, strings[entry.whole]) for entry in placed if entry.kind == layout.SUBSTRING]
    counts = Counter(gram for _, piece in pieces for gram in set(_grams(piece)))
    for entry, piece in pieces:
        grams = _grams(piece)
        at = min(range(len(grams)), key=lambda number: (counts[grams[number]], number))
        entry.key = int.from_bytes(grams[at], "little") | len(grams[at]) << 32
        entry.low = at


def _grams(piece: bytes) -> list[bytes]:
    size = min(layout.GRAM, len(piece))
    return [piece[at : at + size] for at in range(len(piece) - size + 1)]


def _runs(*columns: Array) -> Array:
    """Where runs of equal values begin, and the end."""
    size = len(columns[0])
    if not size:
        return np.zeros(1, np.int64)
    changes = np.zeros(size, bool)
    changes[0] = True
    for values in columns:
        changes[1:] |= values[1:] != values[:-1]
    return np.append(np.flatnonzero(changes), size)


def _starts(sizes: Array) -> Array:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _lengths(placing: Placing, kind: Array, text: Array, whole: Array, tables: Array) -> tuple[Array, Array]:
    """Of each table of prefixes, suffixes or grams, the lengths that occur in it."""
    sizes = np.array([len(each) for each in placing.checks.strings.numbers], np.int32)
    found: list[Array] = []
    for first, last in pairwise(tables):
        if kind[first] in (layout.PREFIX, layout.SUFFIX):
            found.append(np.unique(sizes[text[first:last]]))
        elif kind[first] == layout.SUBSTRING:
            found.append(np.unique(np.minimum(sizes[whole[first:last]], layout.GRAM)))
        else:
            found.append(np.zeros(0, np.int32))
    starts = _starts(np.array([len(each) for each in found], np.int64)).astype(np.int32)
    return np.concatenate([*found, np.zeros(0, np.int32)]), starts


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
