"""Everything that `layout` says of a segment, checked: for tests, and for whoever doubts a segment.

A kernel trusts its arrays. One that is wrong makes it read outside of them, or miss an answer without a word.
`check_segment` raises an AssertionError that names the first thing that does not hold.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tidings.index import layout
from tidings.index.hashing import mixed
from tidings.index.keys import hash_strings
from tidings.index.layout import Array, Segment

TYPES = {
    "slot_tables": np.int32,
    "table_kind": np.uint8,
    "table_second": np.int32,
    "table_sliced": np.uint8,
    "table_array": np.uint8,
    "table_hash": np.int64,
    "table_lengths": np.int32,
    "table_buckets": np.int64,
    "table_filter": np.int64,
    "scans": np.int32,
    "lengths": np.int32,
    "filters": np.uint64,
    "hash_places": np.int64,
    "bucket_entries": np.int64,
    "entry_member": np.int32,
    "entry_low": np.int64,
    "entry_high": np.int64,
    "entry_text": np.int32,
    "entry_checks": np.int64,
    "entry_check": np.int32,
    "entry_guard": np.int32,
    "check_rows": np.int64,
    "lists": np.int64,
    "text_start": np.int64,
    "text_data": np.uint8,
    "text_key": np.int64,
    "member_shared": np.uint8,
    "entry_reach": np.int64,
}
_mixed = getattr(mixed, "py_func", mixed)  # for arrays; it is not compiled where numba is switched off
_OF_STRINGS = (layout.PREFIX, layout.SUFFIX)
_ONE_TEXT = (
    layout.TEXT_EQUAL,
    layout.TEXT_DIFFERENT,
    layout.TEXT_PREFIX,
    layout.TEXT_SUFFIX,
    layout.TEXT_CONTAINS,
    layout.TEXT_LIKE,
)
_TEXT_LISTS = (layout.TEXT_LIST, layout.HAS_ALL_TEXTS, layout.HAS_ANY_TEXTS)
_LONG_LISTS = (layout.LONG_INTERVALS, layout.HAS_ALL_LONG, layout.HAS_ANY_LONG)
_LISTS = (*_TEXT_LISTS, *_LONG_LISTS, layout.KEY_LIST, layout.HAS_ALL_KEYS, layout.HAS_ANY_KEYS)


def check_segment(segment: Segment, slots: int) -> None:
    """Raises an AssertionError if the segment, which has so many slots, is not as `layout` says."""
    _check_arrays(segment)
    _check_starts(segment, slots)
    _check_tables(segment, slots)
    for table in range(len(segment.table_kind)):
        _check_hash(segment, table)
        _check_lengths(segment, table)
        _check_order(segment, table)
    _check_members(segment)
    _check_checks(segment, slots)


def _must(holds: object, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def _check_arrays(segment: Segment) -> None:
    _must(set(TYPES) == set(Segment._fields), "the fields of a segment are those that are known here")
    for name, array in segment._asdict().items():
        _must(array.dtype == TYPES[name] and array.dtype.isnative, f"{name} is {TYPES[name].__name__}: {array.dtype}")
        _must(array.ndim == 1 and array.flags.c_contiguous and array.flags.aligned, f"{name} is one aligned piece")
        _must(not array.flags.writeable, f"{name} cannot be written")


def _check_starts(segment: Segment, slots: int) -> None:
    """Parts follow one another without gaps, from the first to the last."""
    tables, entries = len(segment.table_kind), len(segment.entry_member)
    for name, parts, whole in (
        ("slot_tables", slots, tables - len(segment.scans)),
        ("table_hash", tables, len(segment.hash_places) // 4),
        ("table_lengths", tables, len(segment.lengths)),
        ("table_buckets", tables, len(segment.bucket_entries) - 1),
        ("bucket_entries", len(segment.bucket_entries) - 1, entries),
        ("entry_checks", entries, len(segment.entry_check)),
        ("text_start", len(segment.text_start) - 1, len(segment.text_data) if segment.text_start[-1] else 0),
    ):
        starts = getattr(segment, name)
        _must(len(starts) == parts + 1, f"{name} has a start for each of {parts}, and the end: {len(starts)}")
        _must(starts[0] == 0 and starts[-1] == whole, f"{name} goes from 0 to {whole}: {starts[0]} to {starts[-1]}")
        _must((np.diff(starts) >= 0).all(), f"{name} never goes back")
    for name in ("bucket_entries", "table_buckets"):
        _must((np.diff(getattr(segment, name)) > 0).all(), f"no part of {name} is empty")
    for name, other in (("entry_low", "entry_member"), ("entry_high", "entry_member")):
        _must(len(getattr(segment, name)) == len(getattr(segment, other)), f"{name} is as long as {other}")
    for name in ("entry_text", "entry_guard"):
        _must(len(getattr(segment, name)) == entries, f"{name} is as long as entry_member")
    hashes = hash_strings(segment.text_data, segment.text_start)
    _must(np.array_equal(segment.text_key, hashes), "text_key has the hash of each string")
    _must(np.array_equal(segment.entry_reach, layout.reach(segment.entry_high)), "entry_reach is that of entry_high")


def _check_tables(segment: Segment, slots: int) -> None:
    kinds, second, tables = segment.table_kind, segment.table_second, len(segment.table_kind)
    for name in ("table_second", "table_sliced", "table_array", "table_filter"):
        _must(len(getattr(segment, name)) == tables, f"{name} has one for each of {tables} tables")
    _must((kinds <= layout.SCAN).all(), "each table is of a kind that there is")
    scans = np.arange(tables - len(segment.scans), tables)
    _must(np.array_equal(segment.scans, scans), "scans stand last")
    _must(
        np.array_equal(np.flatnonzero(kinds == layout.SCAN), scans), "what no slot leads is scanned, and nothing else"
    )
    ordered = np.isin(kinds, list(layout.WITH_VALUE.values()))
    _must(np.array_equal(second >= 0, ordered), "a second slot orders what is found by value, and nothing else")
    _must((second < slots).all(), "a second slot is one of the slots")
    leads = np.repeat(np.arange(slots), np.diff(segment.slot_tables))
    _must((second[: len(leads)] != leads).all(), "a second slot is another one than that which leads")
    columns = (leads, kinds, second, segment.table_array, segment.table_sliced)
    described = list(zip(*(column.tolist() for column in columns), strict=False))
    _must(len(set(described)) == len(described), "a slot leads one table of each kind, second slot, and further mark")
    _must((segment.table_sliced <= 1).all() and (segment.table_array <= 1).all(), "a table is sliced or not, and so on")
    _must(not np.isin(kinds[segment.table_sliced == 1], layout.NEVER_SLICED).any(), "some kinds are never sliced")


def _check_hash(segment: Segment, table: int) -> None:
    """Every bucket is found where the kernels look for it, and nothing else is."""
    kind, start, end = (
        int(segment.table_kind[table]),
        int(segment.table_hash[table]),
        int(segment.table_hash[table + 1]),
    )
    buckets = np.arange(segment.table_buckets[table], segment.table_buckets[table + 1])
    if kind not in layout.HASHED:
        _must(start == end and len(buckets) == 1, f"table {table} has no hash, and one bucket")
        return
    size = end - start
    _must(size & size - 1 == 0 and size >= 2 * len(buckets), f"the hash of table {table} is a power of two, half free")
    columns = _hash_of(segment, table)
    found = columns.bucket
    _must(
        np.array_equal(np.sort(found[found >= 0]), buckets), f"the hash of table {table} has each of its buckets once"
    )
    _must((found >= -1).all(), f"free places in the hash of table {table} are -1")
    places = np.flatnonzero(found >= 0)
    used = found[places]
    _must(
        np.array_equal(columns.first[places], segment.bucket_entries[used])
        and np.array_equal(columns.end[places], segment.bucket_entries[used + 1]),
        f"places of table {table} have the entries of their buckets",
    )
    keys = columns.key[places].view(np.uint64)
    wanted = np.where(keys < np.uint64(size), keys, _mixed(keys) & np.uint64(size - 1)).astype(np.int64)
    free = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.tile(found < 0, 2))])  # before each place, twice round
    _must(
        (free[wanted + (places - wanted) % size] == free[wanted]).all(), f"table {table} is free on no way to a bucket"
    )
    _check_keys(segment, table, columns.text[places], columns.key[places])


def _check_keys(segment: Segment, table: int, texts: Array, keys: Array) -> None:
    """A bucket's key is that of its string, and no two buckets have the same key and string."""
    kind = segment.table_kind[table]
    _must(((texts >= -1) & (texts < len(segment.text_start) - 1)).all(), f"strings of table {table} are there")
    _must((texts >= 0).all() or (texts < 0).all(), f"all buckets of table {table} have a string, or none has")
    if kind in _OF_STRINGS:
        _must((texts >= 0).all(), f"table {table} is one of strings")
    if kind == layout.SUBSTRING:
        _must((texts < 0).all(), f"table {table} is one of grams")
    if len(texts) and texts[0] >= 0:
        hashes = hash_strings(segment.text_data, segment.text_start)[texts]
        _must(np.array_equal(keys, hashes), f"the keys of table {table} are the hashes of its strings")
        _must(len(np.unique(texts)) == len(texts), f"each string has one bucket in table {table}")
    else:
        _must(len(np.unique(keys)) == len(keys), f"each key has one bucket in table {table}")


def _check_lengths(segment: Segment, table: int) -> None:
    """Lengths of prefixes, suffixes and grams; and each gram passes the filter, and stands where it is said to."""
    kind, sizes = int(segment.table_kind[table]), np.diff(segment.text_start)
    lengths = segment.lengths[segment.table_lengths[table] : segment.table_lengths[table + 1]]
    entries = _entries(segment, table)
    occurring = np.zeros(0, np.int64)
    if kind in _OF_STRINGS:
        texts = _hash_of(segment, table).text
        occurring = sizes[texts[texts >= 0]]
    whole = segment.entry_text[entries]
    if kind != layout.SUBSTRING:
        _must((whole == -1).all(), f"table {table} is not one of substrings")
        _must(segment.table_filter[table] == -1, f"table {table} has no filter")
    else:
        _must(((whole >= 0) & (whole < len(sizes))).all(), f"the substrings of table {table} are there")
        occurring = np.minimum(sizes[whole], layout.GRAM)
        _check_grams(segment, table)
    _must(np.array_equal(lengths, np.unique(occurring)), f"lengths of table {table} are those that occur, in order")


def _check_grams(segment: Segment, table: int) -> None:
    begin, words = int(segment.table_filter[table]), 1 << (layout.FILTER_BITS - 6)
    _must(begin % words == 0 and 0 <= begin <= len(segment.filters) - words, f"the filter of table {table} is there")
    columns = _hash_of(segment, table)
    for place, bucket in enumerate(columns.bucket.tolist()):
        if bucket < 0:
            continue
        key = int(columns.key[place])
        bit = int(_mixed(columns.key[place : place + 1].copy().view(np.uint64))[0]) >> (64 - layout.FILTER_BITS)
        _must(int(segment.filters[begin + bit // 64]) >> bit % 64 & 1, f"gram {key:x} passes the filter of its table")
        gram = (key & 0xFFFFFFFF).to_bytes(4, "little")[: key >> 32]
        for entry in range(segment.bucket_entries[bucket], segment.bucket_entries[bucket + 1]):
            at, text = int(segment.entry_low[entry]), int(segment.entry_text[entry])
            whole = segment.text_data[segment.text_start[text] : segment.text_start[text + 1]].tobytes()
            _must(at >= 0 and whole[at : at + len(gram)] == gram, f"gram {gram!r} stands in {whole!r} at {at}")
            beside = whole[:at] + whole[at + len(gram) :]
            packed = (len(beside) << 3 | at) << 56 | int.from_bytes(beside, "little")
            packed = packed if len(beside) <= layout.AROUND else -1
            _must(int(segment.entry_high[entry]) == packed, f"what {whole!r} has beside {gram!r} is in its entry")


def _check_order(segment: Segment, table: int) -> None:
    """Within a bucket entries are ordered by their bound; a sliced table needs nothing more than that."""
    kind, entries = int(segment.table_kind[table]), _entries(segment, table)
    if kind in layout.WITH_VALUE or kind in layout.WITH_VALUE.values():
        bound = segment.entry_high if kind in layout.BY_HIGH else segment.entry_low
        falls = np.flatnonzero(bound[entries][1:] < bound[entries][:-1]) + entries.start + 1
        _must(np.isin(falls, segment.bucket_entries).all(), f"buckets of table {table} are ordered by their bound")
    if kind in (layout.UPPER, layout.VALUE_UPPER):
        _must((segment.entry_low[entries] == layout.LEAST).all(), f"table {table} has no lower bounds")
    if kind in (layout.LOWER, layout.VALUE_LOWER):
        _must((segment.entry_high[entries] == layout.MOST).all(), f"table {table} has no upper bounds")
    if kind == layout.SUBSTRING:
        falls = np.flatnonzero(np.diff(segment.entry_text[entries]) < 0) + entries.start + 1
        _must(np.isin(falls, segment.bucket_entries).all(), f"those of one string stand together in table {table}")
    if kind == layout.VALUE_POINT:
        _must(np.array_equal(segment.entry_low[entries], segment.entry_high[entries]), f"table {table} has points only")
    if segment.table_sliced[table]:
        members = segment.entry_member[entries]
        _must((np.diff(members) == 1).all(), f"the subscriptions of sliced table {table} are consecutive")
        _must((np.diff(segment.entry_checks)[entries] == 0).all(), f"sliced table {table} has no checks")
        _must((segment.member_shared[members] == 0).all(), f"sliced table {table} has each subscription alone")


def _hash_of(segment: Segment, table: int) -> layout.HashColumns:
    start, end = int(segment.table_hash[table]), int(segment.table_hash[table + 1])
    return layout.hash_columns(segment.hash_places[4 * start : 4 * end])


def _entries(segment: Segment, table: int) -> slice:
    first, last = segment.table_buckets[table], segment.table_buckets[table + 1]
    return slice(int(segment.bucket_entries[first]), int(segment.bucket_entries[last]))


def _check_members(segment: Segment) -> None:
    """Subscriptions are numbered by their first entry; those that have none, and never match, come last."""
    members, count = segment.entry_member, len(segment.member_shared)
    _must(((members >= 0) & (members < count)).all(), "the subscriptions of entries are there")
    seen, firsts = np.unique(members, return_index=True)
    _must(np.array_equal(seen, np.arange(len(seen))), "subscriptions without entries come last")
    _must((np.diff(firsts) > 0).all(), "subscriptions are numbered by their first entry")
    shared = np.bincount(members, minlength=count) > 1
    _must(np.array_equal(segment.member_shared, shared), "shared are the subscriptions that have several entries")


def _check_checks(segment: Segment, slots: int) -> None:
    operation, flags, slot, a, b = layout.check_columns(segment.check_rows)
    count, strings = len(operation), len(segment.text_start) - 1
    _must(((segment.entry_check >= 0) & (segment.entry_check < count)).all(), "the checks of entries are there")
    _must((operation <= layout.OPAQUE).all(), "each check is an operation that there is")
    rows = np.unique(np.stack([operation, flags, slot, a, b]), axis=1)
    _must(rows.shape[1] == count, "each check is kept once")
    opaque = operation == layout.OPAQUE
    _must(((slot >= 0) & (slot < slots))[~opaque].all() and (slot[opaque] == -1).all(), "checks are of slots")
    _check_guards(segment, np.where(opaque | (operation == layout.IS_NULL), -1, slot))
    one = np.isin(operation, _ONE_TEXT)
    _must(((a >= 0) & (a < strings))[one].all(), "the strings of checks are there")
    _must(((a >= -(count == 1)) & (a < strings))[opaque].all(), "the texts of opaque checks are there")
    for end in (a, b):
        ends = end[operation == layout.TEXT_INTERVAL]
        _must(((ends >= -1) & (ends < strings)).all(), "the bounds of intervals of strings are there, or -1")
    _check_lists(segment, operation, a, b, strings)
    open_ends = layout.OPEN_LOW | layout.OPEN_HIGH
    _must((flags <= open_ends | layout.NEGATED).all(), "checks have the flags that there are")
    odd = (flags & open_ends != 0) & (operation != layout.TEXT_INTERVAL)
    _must(not odd.any(), "only intervals of strings have open ends")


def _check_guards(segment: Segment, needed: Array) -> None:
    """`needed` is the slot without which a check cannot hold."""
    for entry, guard in enumerate(segment.entry_guard.tolist()):
        checks = segment.entry_check[segment.entry_checks[entry] : segment.entry_checks[entry + 1]]
        _must(guard == max(needed[checks].tolist(), default=-1), f"the guard of entry {entry} is a slot that it needs")


def _check_lists(segment: Segment, operation: Array, a: Array, b: Array, strings: int) -> None:
    listed = np.isin(operation, _LISTS)
    _must(((a >= 0) & (a < b) & (b <= len(segment.lists)))[listed].all(), "the lists of checks are there")
    for check in np.flatnonzero(listed).tolist():
        values = segment.lists[a[check] : b[check]]
        if operation[check] in _LONG_LISTS:
            _must(len(values) % layout.INTERVAL_SIZE == 0, f"check {check} has whole intervals")
            continue
        _must(all(one < other for one, other in pairwise(values.tolist())), f"list of check {check} is in order")
        if operation[check] in _TEXT_LISTS:
            _must(values[0] >= 0 and values[-1] < strings, f"the strings in the list of check {check} are there")
