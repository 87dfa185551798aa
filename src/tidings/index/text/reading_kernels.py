"""Cutting texts into words, compiled: the rules of the analyser `simple` over UTF-8, for what is ASCII.

A *piece* of a text is a word in ASCII, in lower case, or a run between two ASCII separators that has other characters
too: that one is left as it is, to be read by the analyser. A Han or Hiragana character begins a piece, so that pieces
come again where nothing stands between words. No word of `simple` crosses an ASCII separator, or goes on with such a
character, so the words of a text are those of its pieces. Also runs as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.keys import HASH_START, hash_end, hash_step
from tidings.index.layout import Array
from tidings.index.text.dictionary_kernels import field_numbers, word_number
from tidings.index.views import int32s, int64s, uint8s


class TextArrays(NamedTuple):
    """The fields of `facts.Texts`, as bytes and numbers."""

    data: Array  # uint8
    start: Array  # int64
    length: Array  # int64
    raw: Array  # uint8


class ReadTexts(NamedTuple):
    """The words of text number n are start[n] : start[n + 1], in their order: the position of word i is i - start[n].

    A word's bytes, as the analyser made it, are data[at[i] : at[i] + length[i]] in UTF-8, and `key` is their hash
    (`keys.hash_bytes`): equal words have equal keys, but equal keys may be of different words.
    """

    start: Array  # int64, one more than there are texts
    word: Array  # int32: the number in the reader's dictionary, -1 where it is not there
    data: Array  # uint8
    at: Array  # int64
    length: Array  # int32
    key: Array  # int64


class Known(NamedTuple):
    """Pieces that the analyser has read: the words of piece n are first[n] : first[n + 1]."""

    first: Array  # int64, one more than there are pieces
    word: Array  # int32: its number in the dictionary, or -1
    data: Array  # uint8
    at: Array  # int64, one more than there are words
    key: Array  # int64


_T, _K = field_numbers(TextArrays), field_numbers(Known)
READ = _R = field_numbers(ReadTexts)
AS_IT_STANDS = -2  # in place of the number of a piece: it is a word by itself
_SEPARATOR, _APOSTROPHE, _LETTER, _DIGIT, _OTHER = 0, 1, 2, 3, 4


def _kind(byte: int) -> int:
    character = chr(byte)
    if byte >= 0x80:
        return _OTHER
    if character.isalpha():
        return _LETTER
    return _DIGIT if character.isdigit() or character == "_" else _APOSTROPHE if character == "'" else _SEPARATOR


_KINDS = np.array([_kind(byte) for byte in range(256)], np.uint8)
_LOWER = np.array([byte + 32 if 65 <= byte <= 90 else byte for byte in range(256)], np.uint8)


@compiled
def piece_end(data, position, end):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    """The end of the ASCII word that begins here; where the run is not ASCII, ~ the end of the run."""
    first = position
    while position < end:
        kind = _KINDS[data[position]]
        if kind == _OTHER:
            break
        if kind == _SEPARATOR:
            return position
        if kind == _APOSTROPHE:
            inside = position + 1 < end and _KINDS[data[position - 1]] == _LETTER
            if not inside or (_KINDS[data[position + 1]] != _LETTER and _KINDS[data[position + 1]] != _OTHER):
                return position
        position += 1
    if position == end:
        return end
    while position < end and _KINDS[data[position]] != _SEPARATOR:
        if position > first and begins_word(data, position, end):
            break
        position += 1
    return ~position


@compiled
def begins_word(data, position, end):  # type: ignore[no-untyped-def]
    """Whether a character begins here that no word goes on with: one of U+4000 to U+9FFF, nearly all of them Han, or
    Hiragana from U+3040 to U+3096, behind which marks follow. Rarer Han is left to the analyser."""
    byte = data[position]
    if byte != 0xE3 or position + 2 >= end:
        return 0xE4 <= byte <= 0xE9
    return data[position + 1] == 0x81 or (data[position + 1] == 0x82 and data[position + 2] <= 0x96)


@compiled
def cut(texts, pieces):  # type: ignore[no-untyped-def]
    """Writes the pieces into the directory of a ReadTexts; gives their number and how many are not ASCII. The length of
    those is negated. A text that is `raw` has no pieces."""
    data, raw = uint8s(texts, _T.data), uint8s(texts, _T.raw)
    text_start, text_length = int64s(texts, _T.start), int64s(texts, _T.length)
    start, written_data, at = int64s(pieces, _R.start), uint8s(pieces, _R.data), int64s(pieces, _R.at)
    length, key = int32s(pieces, _R.length), int64s(pieces, _R.key)
    piece = written = others = 0
    for text in range(len(text_start)):
        start[text] = piece
        position, end = text_start[text], text_start[text] + text_length[text]
        while position < end and not raw[text]:
            if _KINDS[data[position]] <= _APOSTROPHE:
                position += 1
                continue
            stop = piece_end(data, position, end)
            is_ascii = stop >= 0
            stop = stop if is_ascii else ~stop
            others += not is_ascii
            length[piece] = stop - position if is_ascii else position - stop
            at[piece] = written
            found = HASH_START
            for i in range(position, stop):
                byte = _LOWER[data[i]]  # of bytes beyond ASCII, the byte; of others, decided by the analyser
                if not is_ascii:
                    byte = data[i]
                written_data[written] = byte
                written += 1
                found = hash_step(found, byte)
            key[piece] = hash_end(found)
            position = stop
            piece += 1
    start[len(text_start)] = piece
    return piece, others


@compiled
def number_words(dictionary, words, count):  # type: ignore[no-untyped-def]
    """The number of each word in the dictionary, or -1. Words that are numbered already have -1 or more."""
    data, at, length = uint8s(words, _R.data), int64s(words, _R.at), int32s(words, _R.length)
    key, word = int64s(words, _R.key), int32s(words, _R.word)
    for i in range(count):
        if word[i] == AS_IT_STANDS:
            word[i] = word_number(dictionary, data, at[i], np.int64(length[i]), key[i])


@compiled
def number_pieces(dictionary, pieces, count, others_only):  # type: ignore[no-untyped-def]
    """The number of each piece in the dictionary of those that are known, or -1; gives how many are not known."""
    data, at, length = uint8s(pieces, _R.data), int64s(pieces, _R.at), int32s(pieces, _R.length)
    key, number = int64s(pieces, _R.key), int32s(pieces, _R.word)
    unknown = 0
    for i in range(count):
        if others_only and length[i] > 0:
            number[i] = AS_IT_STANDS
        else:
            number[i] = word_number(dictionary, data, at[i], np.int64(abs(length[i])), key[i])
            unknown += number[i] < 0
    return unknown


@compiled
def measure(pieces, count, known):  # type: ignore[no-untyped-def]
    """How many words the pieces are, and how many bytes those have."""
    number, length = int32s(pieces, _R.word), int32s(pieces, _R.length)
    first, at = int64s(known, _K.first), int64s(known, _K.at)
    words, size = 0, 0
    for i in range(count):
        if number[i] == AS_IT_STANDS:
            words += 1
            size += length[i]
        else:
            begin, end = first[number[i]], first[number[i] + 1]
            words += end - begin
            size += at[end] - at[begin]
    return words, size


@compiled
def write_words(pieces, texts, known, words):  # type: ignore[no-untyped-def]
    """The words of the pieces of so many texts. A piece that is a word as it stands is not numbered by it."""
    piece_start, number = int64s(pieces, _R.start), int32s(pieces, _R.word)
    first = int64s(known, _K.first)
    start = int64s(words, _R.start)
    word = written = 0
    for text in range(texts):
        start[text] = word
        for i in range(piece_start[text], piece_start[text + 1]):
            if number[i] == AS_IT_STANDS:
                length, at = int32s(pieces, _R.length)[i], int64s(pieces, _R.at)[i]
                write_word(words, word, written, AS_IT_STANDS, int64s(pieces, _R.key)[i])
                written = write_bytes(words, word, written, uint8s(pieces, _R.data), at, length)
                word += 1
                continue
            for one in range(first[number[i]], first[number[i] + 1]):
                at, end = int64s(known, _K.at)[one], int64s(known, _K.at)[one + 1]
                write_word(words, word, written, int32s(known, _K.word)[one], int64s(known, _K.key)[one])
                written = write_bytes(words, word, written, uint8s(known, _K.data), at, end - at)
                word += 1
    start[texts] = word


@compiled
def write_word(words, word, at, number, key):  # type: ignore[no-untyped-def]
    int32s(words, _R.word)[word] = number
    int64s(words, _R.at)[word] = at
    int64s(words, _R.key)[word] = key


@compiled
def write_bytes(words, word, written, source, at, length):  # type: ignore[no-untyped-def]
    data = uint8s(words, _R.data)
    int32s(words, _R.length)[word] = length
    for i in range(length):
        data[written + i] = source[at + i]
    return written + length
