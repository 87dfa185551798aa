"""A dictionary: distinct words, numbered in the order in which they were given, and found by their bytes.

Words are kept as UTF-8, one after the other, with a hash table over them. A place of the table is one number, the upper
half of the word's key and its number, so that most words that are not there cost one look; a word that seems to be
there is compared byte by byte, and a hash alone never decides. Three arrays, which can be mapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tidings.index.keys import hash_bytes, hash_strings
from tidings.index.layout import Array
from tidings.index.text.dictionary_kernels import DictionaryArrays, fill_places, word_number
from tidings.index.views import directory

_FEWEST_PLACES = 8


class Dictionary:
    """`build` makes one, `from_arrays` opens one. Kernels get at its arrays by `directory`."""

    def __init__(self, kept: DictionaryArrays) -> None:
        self._kept = kept  # alive, for kernels know their addresses only
        self.directory = directory(kept)

    @classmethod
    def build(cls, words: Iterable[str]) -> Dictionary:
        """Of equal words the first gives the number."""
        return cls.of_encoded([encoded(word) for word in dict.fromkeys(words)])

    @classmethod
    def of_encoded(cls, words: Sequence[bytes]) -> Dictionary:
        """The same of distinct words as they are kept."""
        data, start = packed(words)
        places = free_places(len(words))
        fill_places(hash_strings(data, start), places, 0)
        return cls(DictionaryArrays(data, start, places))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Dictionary:
        return cls(DictionaryArrays(*(arrays[name] for name in DictionaryArrays._fields)))

    def arrays(self) -> dict[str, Array]:
        return self._kept._asdict()

    def __len__(self) -> int:
        return len(self._kept.word_start) - 1

    def number(self, word: str) -> int:
        """The number of a word, or -1."""
        data = np.frombuffer(bytearray(encoded(word)), np.uint8)
        return int(word_number(self.directory, data, 0, len(data), hash_bytes(data, 0, len(data))))

    def word(self, number: int) -> str:
        data, start, _ = self._kept
        return decoded(data[start[number] : start[number + 1]].tobytes())

    def check(self) -> None:
        """Every invariant: words are distinct, and each is found under its number."""
        data, start, places = self._kept
        assert start[0] == 0
        assert start[-1] == len(data)
        assert (np.diff(start) >= 0).all()
        assert len(places) >= max(2 * len(self), _FEWEST_PLACES)
        assert len(places) & (len(places) - 1) == 0
        assert np.count_nonzero(places) == len(self)
        assert all(self.number(self.word(number)) == number for number in range(len(self)))


def free_places(words: int) -> Array:
    """A hash table for so many words: at most half full, so that looking up what is not there ends soon."""
    size = _FEWEST_PLACES
    while size < 2 * words:
        size *= 2
    return np.zeros(size, np.uint64)


def packed(parts: Sequence[bytes]) -> tuple[Array, Array]:
    """The parts one after the other, and where each begins; the last number is where all end."""
    start = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=start[1:])
    # From a bytearray, for an array that can be written to is another type to the compiler than one that cannot.
    return np.frombuffer(bytearray().join(parts), np.uint8), start


# One's own analyser may make words with half of a surrogate pair, which strict UTF-8 does not have.
def encoded(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
