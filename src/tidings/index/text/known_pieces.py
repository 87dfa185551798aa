"""Pieces of texts that an analyser has been asked about, and the words that it makes of them.

Kept by each thread, added to as new pieces are met, and given up when there are too many: what is kept saves time and
never changes an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidings.analysis.words import Analyser
from tidings.index.keys import hash_strings
from tidings.index.layout import Array
from tidings.index.text.dictionary import Dictionary, decoded, encoded, free_places, packed
from tidings.index.text.dictionary_kernels import DictionaryArrays, fill_places
from tidings.index.text.reading_kernels import AS_IT_STANDS, Known, ReadTexts, number_words
from tidings.index.views import directory

MOST_PIECES, MOST_BYTES = 2**18, 2**25  # a table that has more is full; one batch may bring it above


class KnownPieces:
    """`directory` is that of a dictionary of the pieces, `known` the words of each by its number."""

    def __init__(self, dictionary: Dictionary, analyser: Analyser) -> None:
        self._dictionary = dictionary
        self._analyser = analyser
        self._piece_data, self._piece_start = _Growing(np.uint8), _Growing(np.int64, [0])
        self._piece_key = _Growing(np.int64)
        self._places = free_places(0)
        self._first, self._word = _Growing(np.int64, [0]), _Growing(np.int32)
        self._data, self._at, self._key = _Growing(np.uint8), _Growing(np.int64, [0]), _Growing(np.int64)
        self.add([])

    def __len__(self) -> int:
        return self._piece_key.used

    @property
    def full(self) -> bool:
        return len(self) > MOST_PIECES or self._piece_data.used + self._data.used > MOST_BYTES

    def add(self, pieces: Sequence[bytes]) -> None:
        """Distinct pieces that are not known yet; they get the next numbers."""
        of_pieces = [[encoded(word.text) for word in self._analyser.words(decoded(piece))] for piece in pieces]
        counts = np.fromiter(map(len, of_pieces), np.int64, len(of_pieces))
        self._first.extend(self._first.last + np.cumsum(counts))
        self._add_words(*packed([word for words in of_pieces for word in words]))
        self._add_pieces(*packed(pieces))
        arrays = (self._first, self._word, self._data, self._at, self._key)
        self.known = Known(*(array.room for array in arrays))
        self._kept = DictionaryArrays(self._piece_data.room, self._piece_start.room, self._places)
        self.directory = directory(self._kept)

    def _add_words(self, data: Array, start: Array) -> None:
        key = hash_strings(data, start)
        number = np.full(len(key), AS_IT_STANDS, np.int32)
        read = ReadTexts(start, number, data, start[:-1], np.diff(start).astype(np.int32), key)
        number_words(self._dictionary.directory, directory(read), len(key))
        self._word.extend(number)
        self._at.extend(self._at.last + start[1:])
        self._data.extend(data)
        self._key.extend(key)

    def _add_pieces(self, data: Array, start: Array) -> None:
        before = len(self)
        self._piece_start.extend(self._piece_start.last + start[1:])
        self._piece_data.extend(data)
        self._piece_key.extend(hash_strings(data, start))
        if 2 * len(self) > len(self._places):
            self._places, before = free_places(2 * len(self)), 0
        fill_places(self._piece_key.room[: len(self)], self._places, before)


class _Growing:
    """An array with room for more at its end."""

    def __init__(self, dtype: type[np.generic], begin: Sequence[int] = ()) -> None:
        self.room = np.zeros(1_024, dtype)
        self.used = len(begin)
        self.room[: self.used] = begin

    @property
    def last(self) -> int:
        return int(self.room[self.used - 1])

    def extend(self, values: Array) -> None:
        end = self.used + len(values)
        if end > len(self.room):
            larger = np.zeros(2 * end, self.room.dtype)
            larger[: self.used] = self.room[: self.used]
            self.room = larger
        self.room[self.used : end] = values
        self.used = end
