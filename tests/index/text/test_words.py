"""Dictionaries and readers: the words, numbers, bytes and keys of a batch are what the analyser says of each text."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text.text_batches import TROUBLESOME, as_texts, hard_texts
from tidings.analysis.words import ENGLISH, SIMPLE, Analyser, Word
from tidings.index.facts import Texts
from tidings.index.keys import hash_bytes
from tidings.index.text import known_pieces
from tidings.index.text.dictionary import Dictionary, encoded
from tidings.index.text.reading_kernels import ReadTexts
from tidings.index.text.words import Reader


class Halves:
    """An analyser of one's own, with words that overlap, that are empty, and that no UTF-8 can hold."""

    name = "halves"
    version = "1"

    def words(self, text: str) -> tuple[Word, ...]:
        parts = [part for word in text.split() for part in (word, word[: len(word) // 2], "\ud800")]
        return tuple(Word(part, 0, 0) for part in parts)


class WithoutStopWords:
    """An analyser of one's own that leaves words out."""

    name = "without stop words"
    version = "1"

    def words(self, text: str) -> tuple[Word, ...]:
        return tuple(word for word in SIMPLE.words(text) if word.text not in ("a", "of"))


ANALYSERS: tuple[Analyser, ...] = (SIMPLE, ENGLISH, Halves())


def words_of(read: ReadTexts) -> list[list[str]]:
    parts = [read.data[at : at + length].tobytes() for at, length in zip(read.at, read.length, strict=True)]
    words = [part.decode("utf-8", "surrogatepass") for part in parts]
    return [words[start:end] for start, end in zip(read.start[:-1], read.start[1:], strict=True)]


def is_read_right(reader: Reader, texts: list[str | bytes]) -> None:
    read = reader.read(as_texts(texts))
    expected = [
        [] if isinstance(text, bytes) else [word.text for word in reader.analyser.words(text)] for text in texts
    ]
    assert words_of(read) == expected
    flat = [word for words in expected for word in words]
    assert read.word.tolist() == [reader.dictionary.number(word) for word in flat]
    assert read.key.tolist() == [key_of(word) for word in flat]


def key_of(word: str) -> int:
    data = np.frombuffer(bytearray(encoded(word)), np.uint8)
    return int(hash_bytes(data, 0, len(data)))


@given(st.lists(st.text(st.characters(), max_size=5)))
def test_a_dictionary_knows_its_words_and_no_others(words: list[str]) -> None:
    dictionary = Dictionary.build(words)
    dictionary.check()
    distinct = list(dict.fromkeys(words))
    assert [dictionary.word(number) for number in range(len(dictionary))] == distinct
    assert [dictionary.number(word) for word in distinct] == list(range(len(distinct)))
    assert dictionary.number("no such word") == -1
    opened = Dictionary.from_arrays(dictionary.arrays())
    assert [opened.number(word) for word in words] == [dictionary.number(word) for word in words]


def test_words_that_share_the_upper_half_of_a_key_are_told_apart() -> None:
    dictionary = Dictionary.build(["a", "b", "ab"])
    arrays = dictionary.arrays()
    number_of_a = dictionary.number("a")
    # The place of a now leads to b: what a hash would take for a is not, by its bytes.
    places = arrays["word_places"].copy()
    place = np.flatnonzero((places & np.uint64(0xFFFFFFFF)) == number_of_a + 1)
    places[place] += np.uint64(1)
    assert Dictionary.from_arrays({**arrays, "word_places": places}).number("a") == -1


@pytest.mark.parametrize("analyser", ANALYSERS, ids=lambda analyser: analyser.name)
def test_texts_are_read_as_the_analyser_reads_them(analyser: Analyser) -> None:
    reader = Reader(Dictionary.build(["don't", "run", "é", "日", "straße"]), analyser)

    @given(st.lists(hard_texts() | st.text(TROUBLESOME) | st.text("aB'9_ ") | st.just(b"raw"), max_size=5))
    def is_right(texts: list[str | bytes]) -> None:
        is_read_right(reader, texts)

    is_right()


EXAMPLES: list[str | bytes] = [
    "", " ", "'", "''", "a", "A'", "'a'b'", "a'1", "1'a", "a_'b", "a'b'c d''e", "é'a a'é", "a'", "x\0y", "日本語は",
     "e\u0301 \u0301e", "שלום עולם", "running runs ran", "“Quoted”", "STRASSE Straße", "\U0001f98afox",
]  # fmt: skip


@pytest.mark.parametrize("text", EXAMPLES)
@pytest.mark.parametrize("analyser", ANALYSERS, ids=lambda analyser: analyser.name)
def test_examples(analyser: Analyser, text: str | bytes) -> None:
    dictionary = Dictionary.build(["a", "b", "é'a", "run", "日", "strasse"])
    is_read_right(Reader(dictionary, analyser), [text, "a", text, b"a"])


def test_a_text_is_read_from_where_it_stands_in_the_data() -> None:
    data = np.frombuffer(b"xx don't yy", np.uint8)  # not writable, as mapped arrays are
    texts = Texts(data, np.array([3, 0]), np.array([4, 2]), np.zeros(2, np.bool_))
    read = Reader(Dictionary.build([]), SIMPLE).read(texts)
    assert words_of(read) == [["don"], ["xx"]]


def test_what_is_known_is_given_up_when_it_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_pieces, "MOST_PIECES", 5)
    reader = Reader(Dictionary.build(["run"]), ENGLISH)
    for batch in range(5):
        is_read_right(reader, [f"running é{batch} x{batch} y{batch}", "runs runs"])


def test_more_pieces_than_there_is_room_for_at_first() -> None:
    is_read_right(Reader(Dictionary.build(["x7"]), ENGLISH), [" ".join(f"x{i} é{i}" for i in range(3_000))])


def test_the_kernels_run_as_plain_python() -> None:
    """With the compiler off a fault in a kernel, such as an index out of range, is an error and not a wrong answer."""
    code = (
        "from index.text.test_words import *\n"
        "for analyser in ANALYSERS:\n"
        "    is_read_right(Reader(Dictionary.build(['a', 'run']), analyser), EXAMPLES)\n"
    )
    path = os.pathsep.join(sys.path)
    variables = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    ran = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
