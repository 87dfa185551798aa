"""Numbers, times and strings as 64-bit keys, the same for the literals of subscriptions and the values of events.

A number's key keeps the order of float64: a < b exactly when key(a) < key(b), and -0.0 equals 0.0. A string's key is a
hash of its UTF-8 bytes; two strings with one key are told apart by their bytes.
"""

from __future__ import annotations

from struct import Struct

import numpy as np

from tidings.index.compiling import compiled, compiled_into_callers

_FLOAT, _INTEGER = Struct("=d"), Struct("=q")
_PRIME = np.uint64(0x100000001B3)
_MIX = np.uint64(0xFF51AFD7ED558CCD)


def number_keys(values: np.ndarray) -> np.ndarray:
    """The keys of float64 values; NaN has none and must not be among them."""
    bits = (values + 0.0).view(np.int64)  # -0.0 + 0.0 is 0.0
    return np.where(bits >= 0, bits, bits ^ np.int64(0x7FFFFFFFFFFFFFFF))


def number_key(value: float) -> int:
    """The same for one value, without the detour through an array."""
    (bits,) = _INTEGER.unpack(_FLOAT.pack(value + 0.0))
    return int(bits if bits >= 0 else bits ^ 0x7FFFFFFFFFFFFFFF)


# FNV-1a over the bytes, mixed at the end so that the low bits of the key are good too. In steps, because the hash of a
# prefix is on the way to that of the whole.
HASH_START = np.uint64(0xCBF29CE484222325)


@compiled_into_callers
def hash_step(found, byte):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    return (found ^ np.uint64(byte)) * _PRIME


@compiled_into_callers
def hash_end(found):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    found ^= found >> np.uint64(33)
    found *= _MIX
    found ^= found >> np.uint64(29)
    return np.int64(found)


@compiled
def hash_bytes(data, start, end):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    found = HASH_START
    for position in range(start, end):
        found = hash_step(found, data[position])
    return hash_end(found)


@compiled
def hash_strings(data, offsets):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    """The keys of the strings data[offsets[i]:offsets[i + 1]]."""
    keys = np.empty(len(offsets) - 1, np.int64)
    for number in range(len(keys)):
        keys[number] = hash_bytes(data, offsets[number], offsets[number + 1])
    return keys
