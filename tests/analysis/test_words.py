"""Analysers: what is a word, when two words are the same, and that the offsets point at what was written."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

import tidings
from tidings.analysis import words as words_module
from tidings.analysis.words import ENGLISH, SIMPLE, Analyser, Word, analyser, register_analyser
from tidings.errors import SettingError

any_text = st.text(st.characters())  # lone surrogates too, which text() by itself leaves out


def simple(text: str) -> list[str]:
    return [word.text for word in SIMPLE.words(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\t-- ... & ", []),
        ("One, two; THREE!", ["one", "two", "three"]),
        ("snake_case _x __", ["snake_case", "_x", "__"]),
        # Digits, hyphens, full stops
        ("3.14 1,000 2nd x86", ["3", "14", "1", "000", "2nd", "x86"]),
        ("co-op re–enter a/b user@host.org", ["co", "op", "re", "enter", "a", "b", "user", "host", "org"]),
        ("m² ½ ① ٣٤ ⅷ", ["m²", "½", "①", "٣٤", "ⅷ"]),
        # Apostrophes
        ("don't don’t DON'T", ["don't"] * 3),
        ("'quoted' ’tis dogs' o'neil's", ["quoted", "tis", "dogs", "o'neil's"]),
        ("rock'n'roll a''b a'1 1'a a'_", ["rock'n'roll", "a", "b", "a", "1", "1", "a", "a", "_"]),
        ("l’été e\u0301'a e\u0301’e\u0301", ["l'été", "é'a", "é'é"]),
        # Case
        ("Straße STRASSE STRAẞE ﬁne FINE", ["strasse", "strasse", "strasse", "fine", "fine"]),
        ("ΣΊΣΥΦΟΣ σίσυφος", ["σίσυφοσ", "σίσυφοσ"]),
        ("İstanbul I\u0307stanbul ISTANBUL istanbul ısı", ["i̇stanbul", "i̇stanbul", "istanbul", "istanbul", "ısı"]),
        # Composed and decomposed
        ("café cafe\u0301 CAFÉ CAFE\u0301", ["café"] * 4),
        ("Å Å A\u030a", ["å"] * 3),
        ("ᾳ\u0301 α\u0301\u0345 ΑΙ\u0301", ["άι", "άι", "αί"]),
        ("ệ e\u0323\u0302 e\u0302\u0323", ["ệ"] * 3),
        # A mark without a base is no word
        ("\u0301 > \u0338a ≯ >\u0338 ❤\ufe0f", ["a"]),
        # Right to left, and scripts whose marks are part of the word
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("السَّلام، عليكم", ["السَّلام", "عليكم"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ภาษาไทย", ["ภาษาไทย"]),
        # Han and Hiragana one by one, Katakana and Hangul in runs
        ("日本語のテキスト、한국어", ["日", "本", "語", "の", "テキスト", "한국어"]),
        ("佐々木 〇 𠀀𠀁 abc漢字def", ["佐", "々", "木", "〇", "𠀀", "𠀁", "abc", "漢", "字", "def"]),
        ("が か\u3099 漢'a a'漢", ["が", "が", "漢", "a", "a", "漢"]),
        ("豈 豈", ["豈", "豈"]),
        # Emoji, control and format characters, surrogates
        ("I 😀 you 👩‍💻 #1️⃣", ["i", "you", "1️⃣"]),
        ("a\0b\ud800c\udfffd", ["a", "b", "c", "d"]),
        ("a\u200bb a\u00adb \ufeffc", ["a", "b", "a", "b", "c"]),
        ("\ue000\U0010ffff", []),
    ],
)
def test_words_of_simple(text: str, words: list[str]) -> None:
    assert simple(text) == words


def test_positions_count_words_and_offsets_point_at_the_original() -> None:
    assert SIMPLE.words("«Cafe\u0301», 日本 don’t") == (
        Word("café", 1, 6),
        Word("日", 9, 10),
        Word("本", 10, 11),
        Word("don't", 12, 17),
    )


@given(any_text)
def test_offsets_rise_and_each_word_is_read_from_its_own_place(text: str) -> None:
    end = 0
    for word in SIMPLE.words(text):
        assert end <= word.start < word.end <= len(text)
        assert simple(text[word.start : word.end]) == [word.text]
        end = word.end


@given(any_text)
def test_canonically_equivalent_texts_have_the_same_words(text: str) -> None:
    assert simple(text) == simple(unicodedata.normalize("NFC", text)) == simple(unicodedata.normalize("NFD", text))


@given(any_text)
def test_reading_words_again_changes_nothing(text: str) -> None:
    words = simple(text)
    assert simple(" ".join(words)) == words


def test_the_laws_hold_for_every_character_of_unicode() -> None:
    block = 0x1000
    for first in (*range(0, 0x40000, block), 0xE0000):  # beyond these, nothing is assigned but private use
        characters = [chr(code) for code in range(first, first + block)]
        bases = [c for c in characters if c == "_" or unicodedata.category(c)[0] in "LN"]
        text = " ".join(characters)
        words = simple(text)
        assert len(words) == len(bases)
        assert simple(unicodedata.normalize("NFD", text)) == words
        # After a base, so that how marks are folded is seen too.
        words = simple(" ".join("é" + character for character in characters))
        assert simple(" ".join(words)) == words


@given(st.text(st.characters(max_codepoint=127)))
def test_the_quick_way_for_ascii_gives_the_same(text: str) -> None:
    general = SIMPLE.words(text + " é")
    assert SIMPLE.words(text) == general[:-1]


def test_english_words_are_stems() -> None:
    words = ENGLISH.words("The RUNNING runner runs; IBM's networks")
    assert [word.text for word in words] == ["the", "run", "runner", "run", "ibm", "network"]
    assert words[4] == Word("ibm", 25, 30)


@given(any_text)
def test_english_has_the_places_of_simple(text: str) -> None:
    def places(words: tuple[Word, ...]) -> list[tuple[int, int]]:
        return [(word.start, word.end) for word in words]

    assert places(ENGLISH.words(text)) == places(SIMPLE.words(text))
    assert all(word.text for word in ENGLISH.words(text))


def test_english_works_in_several_threads_at_once() -> None:
    text = " ".join(f"running{i} connections{i % 7} generalisation" for i in range(2000))
    expected = ENGLISH.words(text)
    results: list[bool] = []
    threads = [
        threading.Thread(target=lambda: results.append(all(ENGLISH.words(text) == expected for _ in range(3))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4


def test_versions_say_what_the_words_depend_on() -> None:
    """A character that Python learns of with a later Unicode, such as U+11F04, is a word from then on."""
    assert SIMPLE.version == f"1 (Unicode {unicodedata.unidata_version})"
    assert ENGLISH.version == f"1 (PyStemmer {Stemmer.version()}), simple {SIMPLE.version}"


def test_english_without_pystemmer_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    monkeypatch.setattr(words_module, "_OF_THREAD", threading.local())
    with pytest.raises(SettingError) as raised:
        ENGLISH.words("text")
    assert str(raised.value) == "the analyser 'english' needs PyStemmer; install it: pip install PyStemmer"


def test_import_loads_no_stemmer() -> None:
    source = Path(words_module.__file__).parents[2]
    script = "import sys, tidings.analysis.words as w; w.SIMPLE.words('é'); sys.exit('Stemmer' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": str(source)}, check=False).returncode == 0


@dataclass(frozen=True)
class Letters:
    """Every character is a word."""

    name: str = "letters"
    version: str = "1"

    def words(self, text: str) -> tuple[Word, ...]:
        return tuple(Word(letter, i, i + 1) for i, letter in enumerate(text))


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_module, "_ANALYSERS", dict(words_module._ANALYSERS))


@pytest.mark.usefixtures("own_registry")
def test_analysers_are_found_by_name() -> None:
    assert analyser("simple") is SIMPLE
    assert analyser("english") is ENGLISH
    register_analyser(Letters())
    register_analyser(Letters())
    assert analyser("letters") == Letters()
    with pytest.raises(SettingError) as raised:
        analyser("englsh")
    assert str(raised.value) == (
        "there is no analyser named 'englsh' in this process; known are: english, letters, simple; choose one of "
        "these, or name your own by where it is, package.module:NAME, or register it here with "
        "tidings.register_analyser"
    )


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with analysers: Letters under its own place, and under another name."""
    (tmp_path / "letters_module.py").write_text(
        "from analysis.test_words import Letters\n"
        "LETTERS, OTHER, NONE = Letters('letters_module:LETTERS'), Letters('other'), 42\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "letters_module", raising=False)
    return "letters_module"


@pytest.mark.usefixtures("own_registry")
def test_an_analyser_is_imported_by_where_it_is(own_module: str, tmp_path: Path) -> None:
    name = f"{own_module}:LETTERS"
    assert analyser(name) is analyser(name)
    assert analyser(name).name == name
    with tidings.Matcher(tmp_path / "matcher", analyser=name) as matcher:
        matcher.add("a", "matches(t, '\"n e w s\"')")
        assert matcher.match({"t": "some news"}).ids == ["a"]
    del words_module._ANALYSERS[name]  # as in another process
    assert tidings.Matcher.load(tmp_path / "matcher").match({"t": "news"}).ids == ["a"]


@pytest.mark.usefixtures("own_registry", "own_module")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "no_such_module:X",
            "'no_such_module:X' cannot be imported: No module named 'no_such_module'; every",
        ),
        (":X", "the analyser ':X' cannot be imported: Empty module name; every process that matches needs its module"),
        ("letters_module:X", "cannot be imported: module 'letters_module' has no attribute 'X'; every process"),
        ("letters_module:NONE", "an analyser has a name, a version and words(text); 42 lacks some of these"),
        (
            "letters_module:OTHER",
            (
                "the analyser in letters_module:OTHER is named 'other'; one that is imported is named by where it is: "
                "name = 'letters_module:OTHER'"
            ),
        ),
    ],
)
def test_what_cannot_be_imported(name: str, message: str) -> None:
    with pytest.raises(SettingError, match=re.escape(message)):
        analyser(name)


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize(
    ("added", "message"),
    [
        (Letters("simple"), "the analyser 'simple' is built in and stays as it is; choose another name"),
        (
            Letters(version="2"),
            (
                "an analyser named 'letters' is registered with version '1'; version '2' may read texts differently; "
                "choose another name"
            ),
        ),
        (Letters(""), "the name of an analyser is a string that is not empty; '' was given"),
        (Letters(version=1), "the version of an analyser is a string that is not empty; 1 was given"),  # type: ignore[arg-type]  # the mistake
        (42, "an analyser has a name, a version and words(text); 42 lacks some of these"),
    ],
)
def test_what_cannot_be_registered(added: Analyser, message: str) -> None:
    register_analyser(Letters())
    with pytest.raises(SettingError) as raised:
        register_analyser(added)
    assert str(raised.value) == message
