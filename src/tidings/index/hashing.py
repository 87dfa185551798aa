"""The hash tables inside a segment: open addressing over 64-bit keys, filled once, and the filter in front of grams."""

from __future__ import annotations

import numpy as np

from tidings.index.compiling import compiled, compiled_into_callers
from tidings.index.layout import FILTER_BITS

_MIX_1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX_2 = np.uint64(0xC4CEB9FE1A85EC53)
_33 = np.uint64(33)


@compiled_into_callers
def mixed(key):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    """The key with every bit depending on every other; keys of numbers differ in their high bits only."""
    found = np.uint64(key)
    found = (found ^ (found >> _33)) * _MIX_1
    found = (found ^ (found >> _33)) * _MIX_2
    return found ^ (found >> _33)


@compiled_into_callers
def home(key, size):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    """Where a key belongs in a table of so many places, a power of two.

    A key that is small enough is its own place. Facts are numbered so that those which are found together are near each
    other, and so are their places then. Numbers, times and hashes of strings are large, and are mixed.
    """
    own, places = np.uint64(key), np.uint64(size)
    return np.int64(own if own < places else mixed(key) & (places - np.uint64(1)))


@compiled
def fill_hash(table_hash, table_buckets, bucket_key, hash_bucket):  # type: ignore[no-untyped-def]
    """Gives each bucket a place in the hash of its table; `hash_bucket` is -1 where a place is free."""
    for table in range(len(table_hash) - 1):
        start, size = table_hash[table], table_hash[table + 1] - table_hash[table]
        if size == 0:
            continue
        for bucket in range(table_buckets[table], table_buckets[table + 1]):
            place = start + home(bucket_key[bucket], size)
            while hash_bucket[place] >= 0:
                place += 1
                if place == start + size:
                    place = start
            hash_bucket[place] = bucket


@compiled
def set_filter(bits, keys):  # type: ignore[no-untyped-def]
    for key in keys:
        bit = mixed(key) >> np.uint64(64 - FILTER_BITS)
        bits[np.int64(bit >> np.uint64(6))] |= np.uint64(1) << (bit & np.uint64(63))
