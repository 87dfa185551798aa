"""Which gram a substring is found by: of all its grams the one that occurs least often in the substrings of a segment
(paper 2, 4.2, with one gram). A gram is GRAM bytes of a string, or the whole of a shorter one; its key has its length.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tidings.index import layout
from tidings.index.layout import Array

_STRINGS = 65_536  # whose grams are in memory at once
_MOST_BITS = 22
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def rarest(strings: Array, text_start: Array, text_data: Array) -> tuple[Array, Array]:
    """For each of these strings, by number, the key of its rarest gram and where the gram stands in it; of grams that
    are as rare, the first. Grams are counted by a hash; two that share it pass for one."""
    total = int((text_start[strings + 1] - text_start[strings]).sum())
    bits = min(total.bit_length() + 2, _MOST_BITS)
    counts = np.zeros(1 << bits, np.int64)
    for keys, _, _ in _grams(strings, text_start, text_data):
        counts += np.bincount(_hashes(keys, bits), minlength=len(counts))
    found_keys, found_places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for keys, places, firsts in _grams(strings, text_start, text_data):
        chosen = np.minimum.reduceat(counts[_hashes(keys, bits)] << 32 | places, firsts) & 0xFFFFFFFF
        found_keys.append(keys[firsts + chosen])
        found_places.append(chosen)
    return np.concatenate(found_keys), np.concatenate(found_places)


def around(strings: Array, places: Array, text_start: Array, text_data: Array) -> Array:
    """What these strings have beside the gram at these places: the bytes before it and behind it, the first lowest, and
    in the highest byte how many there are, and how many of them before. -1 where they are more than AROUND."""
    starts, lengths = text_start[strings], text_start[strings + 1] - text_start[strings]
    sizes = np.minimum(lengths, layout.GRAM)
    others = lengths - sizes
    packed = np.where(others > layout.AROUND, -1, (others << 3 | places) << 56)
    for byte in range(layout.AROUND):
        some = np.flatnonzero((others > byte) & (others <= layout.AROUND))
        at = starts[some] + byte + np.where(byte < places[some], 0, sizes[some])
        packed[some] |= text_data[at].astype(np.int64) << (8 * byte)
    return packed


def _hashes(keys: Array, bits: int) -> Array:
    return ((keys.astype(np.uint64) * _SPREAD) >> np.uint64(64 - bits)).astype(np.int64)


def _grams(strings: Array, text_start: Array, text_data: Array) -> Iterator[tuple[Array, Array, Array]]:
    """The keys of all grams of some strings, their places in them, and where those of each string begin."""
    for block in range(0, len(strings), _STRINGS):
        some = strings[block : block + _STRINGS]
        starts, lengths = text_start[some], text_start[some + 1] - text_start[some]
        sizes = np.minimum(lengths, layout.GRAM)
        counts = lengths - sizes + 1
        firsts = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) - np.repeat(firsts, counts)
        at, size = np.repeat(starts, counts) + places, np.repeat(sizes, counts)
        keys = size << 32
        for byte in range(layout.GRAM):
            inside = np.flatnonzero(size > byte)
            keys[inside] |= text_data[at[inside] + byte].astype(np.int64) << (8 * byte)
        yield keys, places, firsts
