"""Texts as words, many at once: the numbers of those that a dictionary has, and the bytes and keys of all.

The law: the words are those of `analyser.words`, in that order. Texts for `simple` and `english` are cut by a kernel of
our own over their UTF-8 (`reading_kernels`): it keeps exactly the rules of `simple`, which no other tokenizer does, and
it makes no Python objects, which would cost more than all the matching. What it cannot decide (the folding of what is
not ASCII, and stems) the analyser is asked once for each distinct piece. With one's own analyser every text is read by
that analyser, which is slower by far.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from tidings.analysis.words import ENGLISH, SIMPLE, Analyser
from tidings.index.facts import Texts
from tidings.index.keys import hash_strings
from tidings.index.layout import Array
from tidings.index.text.dictionary import Dictionary, decoded, encoded, packed
from tidings.index.text.known_pieces import KnownPieces
from tidings.index.text.reading_kernels import (
    AS_IT_STANDS,
    Known,
    ReadTexts,
    TextArrays,
    cut,
    measure,
    number_pieces,
    number_words,
    write_words,
)
from tidings.index.views import directory


class Reader:
    """Reads texts as one analyser does, and numbers words as one dictionary does. Threads may share it."""

    def __init__(self, dictionary: Dictionary, analyser: Analyser) -> None:
        self.dictionary = dictionary
        self.analyser = analyser
        self._of_thread = threading.local()

    def read(self, texts: Texts) -> ReadTexts:
        """The words of the texts; what is raw is no text, and has none."""
        if self.analyser is SIMPLE:
            return self._read_pieces(texts, others_only=True)
        if self.analyser is ENGLISH:
            return self._read_pieces(texts, others_only=False)
        return self._read_one_by_one(texts)

    def _read_pieces(self, texts: Texts, others_only: bool) -> ReadTexts:
        """`others_only`: what is ASCII is a word as it stands."""
        arrays = _arrays(texts)
        size = int(arrays.length.sum())
        pieces = _room(len(arrays.start), (size + len(arrays.start)) // 2 + 1, size)
        to_pieces = directory(pieces)
        count, others = cut(directory(arrays), to_pieces)
        if others_only and not others:
            pieces.word[:count] = AS_IT_STANDS
            return self._numbered(pieces, to_pieces, count)
        known = self._known(pieces, to_pieces, count, others_only)
        to_known = directory(known)
        words, size = measure(to_pieces, count, to_known)
        found = _room(len(arrays.start), words, size)
        to_found = directory(found)
        write_words(to_pieces, len(arrays.start), to_known, to_found)
        return self._numbered(found, to_found, words)

    def _numbered(self, words: ReadTexts, to_words: Array, count: int) -> ReadTexts:
        number_words(self.dictionary.directory, to_words, count)
        _, word, data, at, length, key = words
        return ReadTexts(words.start, word[:count], data, at[:count], length[:count], key[:count])

    def _known(self, pieces: ReadTexts, to_pieces: Array, count: int, others_only: bool) -> Known:
        """All the pieces that are not words as they stand, numbered, and what is known of them."""
        kept: KnownPieces | None = getattr(self._of_thread, "known", None)
        if kept is None or kept.full:
            kept = self._of_thread.known = KnownPieces(self.dictionary, self.analyser)
        while number_pieces(kept.directory, to_pieces, count, others_only):
            unknown = np.flatnonzero(pieces.word[:count] == -1)
            # One of each key: pieces come often, and two of one key, which are next to none, are for the next round.
            unknown = unknown[np.unique(pieces.key[unknown], return_index=True)[1]]
            ends = pieces.at[unknown] + np.abs(pieces.length[unknown])
            spans = zip(pieces.at[unknown].tolist(), ends.tolist(), strict=True)
            data = pieces.data.data
            kept.add([bytes(data[at:end]) for at, end in spans])
        return kept.known

    def _read_one_by_one(self, texts: Texts) -> ReadTexts:
        data, start, length, raw = _arrays(texts)
        words = []
        first = np.zeros(len(start) + 1, np.int64)
        for text in range(len(start)):
            if not raw[text]:
                written = decoded(data[start[text] : start[text] + length[text]].tobytes())
                words += [encoded(word.text) for word in self.analyser.words(written)]
            first[text + 1] = len(words)
        found, ends = packed(words)
        number = np.full(len(words), AS_IT_STANDS, np.int32)
        read = ReadTexts(first, number, found, ends[:-1], np.diff(ends).astype(np.int32), hash_strings(found, ends))
        return self._numbered(read, directory(read), len(words))


def texts_of(strings: Sequence[str]) -> Texts:
    """Strings as a batch of texts."""
    data, start = packed([encoded(string) for string in strings])
    return Texts(data, start[:-1], np.diff(start), np.zeros(len(strings), np.bool_))


def _arrays(texts: Texts) -> TextArrays:
    return TextArrays(
        np.ascontiguousarray(texts.data, np.uint8),
        np.ascontiguousarray(texts.start, np.int64),
        np.ascontiguousarray(texts.length, np.int64),
        np.ascontiguousarray(texts.raw, np.bool_).view(np.uint8),
    )


def _room(texts: int, words: int, size: int) -> ReadTexts:
    return ReadTexts(
        np.zeros(texts + 1, np.int64),
        np.empty(words, np.int32),
        np.empty(size, np.uint8),
        np.empty(words, np.int64),
        np.empty(words, np.int32),
        np.empty(words, np.int64),
    )
