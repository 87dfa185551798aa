"""From text to words: named and versioned analysers, used alike for documents and for the terms of a pattern.

The law of an analyser: the same text gives the same words wherever its name and version are the same, and
`text[word.start:word.end]` is what was written. The position of a word is its number among the words that the analyser
gives, so that what it leaves out is not there: without stop words, king and spain stand side by side in "king of
spain". Built in are `simple` (Unicode words, case folded) and `english` (the same, stemmed). What `simple` takes for a
word is said there.
"""

from __future__ import annotations

import importlib
import re
import threading
import unicodedata
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tidings.errors import SettingError


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it is compared, `text`, and where in the original it was."""

    text: str
    start: int
    end: int


@runtime_checkable
class Analyser(Protocol):
    """What a text is read with. A change that makes other words of some text needs another version."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def words(self, text: str) -> tuple[Word, ...]: ...


class AnalyserVersion(NamedTuple):
    """Which analyser made some words: what depends on them means nothing under another one."""

    name: str
    version: str

    @classmethod
    def of(cls, analyser: Analyser) -> AnalyserVersion:
        return cls(analyser.name, analyser.version)

    def must_be_of(self, analyser: Analyser, made: str, again: str) -> None:
        """Refuses another analyser for what was `made`, such as "the text statistics were counted"."""
        if self != AnalyserVersion.of(analyser):
            raise SettingError(
                f"{made} with version {self.version} of the analyser {self.name!r}, and version {analyser.version} of "
                f"{analyser.name!r} is in use; {again} anew with this one"
            )


class SimpleAnalyser:
    """Unicode words, case folded; no language in particular. What is a letter, and how it folds, is said by Python's
    Unicode data, whose version is part of this one's. Version 1:

    - A word is a maximal run of letters, marks, numbers (general categories L, M, N) and underscores that begins
      with no mark. A mark without a base is no word: else ≯ would hold a word when written as > and a mark, and none
      when written as one character, and so would the many emoji that end in a variation selector.
    - Each Han or Hiragana character, with the marks that follow it, is a word of its own, since these scripts put no
      space between words. A sequence of them is found as a phrase. Katakana, Hangul and Thai are runs like any other.
    - An apostrophe (' or ’) stays inside a word when a letter or mark stands before it and a letter after it, as in
      Unicode's default word boundaries (UAX #29, rules WB6 and WB7), so that don't is one word and not don and t; ’
      becomes '. Quotation marks around a word, and apostrophes next to a number, stay outside.
    - Everything else separates: hyphens and full stops too, so 3.14 and co-op are two words each, found as phrases.
    - Words are compared case folded by Unicode's rules for canonical caseless matching, in NFC: é is one word however
      it is encoded, Straße equals STRASSE. No language's own rules apply: Turkish İ and ı do not equal i.
    """

    name = "simple"
    version = f"1 (Unicode {unicodedata.unidata_version})"

    def words(self, text: str) -> tuple[Word, ...]:
        if text.isascii():
            # Same result as below, without the detour through character classes.
            spans = (found.span() for found in _ASCII_WORD.finditer(text))
            return tuple(Word(text[a:b].lower(), a, b) for a, b in spans)
        spans = (found.span() for found in _WORD.finditer(text.translate(_KINDS)))
        return tuple(Word(_folded(text[a:b]), a, b) for a, b in spans)


class EnglishAnalyser:
    """The words of `simple`, each cut to its stem by Snowball's English stemmer (PyStemmer, imported at first use)."""

    name = "english"

    @property
    def version(self) -> str:
        return f"1 (PyStemmer {_stemmer_module().version()}), simple {SIMPLE.version}"

    def words(self, text: str) -> tuple[Word, ...]:
        stem = _english_stemmer().stemWord
        return tuple(Word(stem(word.text), word.start, word.end) for word in SIMPLE.words(text))


def analyser(name: str) -> Analyser:
    """The analyser of this name; SettingError when there is none. One of package.module:NAME is imported from there, so
    that every process finds it by itself; one that was registered is known to its process only."""
    found = _ANALYSERS.get(name)
    if found is None and ":" in name:
        found = _ANALYSERS[name] = _imported(name)
    if found is None:
        known = ", ".join(sorted(_ANALYSERS))
        raise SettingError(
            f"there is no analyser named {name!r} in this process; known are: {known}; choose one of these, or name "
            "your own by where it is, package.module:NAME, or register it here with tidings.register_analyser"
        )
    return found


def register_analyser(added: Analyser) -> None:
    """Adds an analyser under its name, for this process. Registering the same name and version again replaces it;
    others are refused."""
    _check(added)
    present = _ANALYSERS.get(added.name)
    if present in (SIMPLE, ENGLISH):
        raise SettingError(f"the analyser {added.name!r} is built in and stays as it is; choose another name")
    if present is not None and present.version != added.version:
        raise SettingError(
            f"an analyser named {added.name!r} is registered with version {present.version!r}; version "
            f"{added.version!r} may read texts differently; choose another name"
        )
    _ANALYSERS[added.name] = added


def _imported(name: str) -> Analyser:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as problem:
        raise SettingError(
            f"the analyser {name!r} cannot be imported: {problem}; every process that matches needs its module, on "
            "Spark all executors: install it there, or give it to them with --py-files or addPyFile"
        ) from problem
    _check(found)
    if found.name != name:
        raise SettingError(
            f"the analyser in {name} is named {found.name!r}; one that is imported is named by where it is: "
            f"name = {name!r}"
        )
    return found  # type: ignore[no-any-return]  # it has been looked at


def _check(given: Any) -> None:
    if not isinstance(given, Analyser):
        raise SettingError(f"an analyser has a name, a version and words(text); {given!r} lacks some of these")
    stated: dict[str, object] = {"name": given.name, "version": given.version}
    for attribute, value in stated.items():
        if not isinstance(value, str) or not value:
            raise SettingError(f"the {attribute} of an analyser is a string that is not empty; {value!r} was given")


# The characters of the scripts Han and Hiragana among the letters and numbers, from Unicode's Scripts.txt. Planes 2
# and 3 are set aside for Han. Written out, since the standard library does not know scripts.
_ONE_CHARACTER_WORDS = (
    (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B), (0x3041, 0x3096), (0x309D, 0x309F),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x16FE3, 0x16FE3), (0x1B001, 0x1B11F), (0x1B132, 0x1B132),
    (0x1B150, 0x1B152), (0x20000, 0x3FFFF),
)  # fmt: skip


class _Kinds(dict[int, str]):
    """For `str.translate`: a character's kind in one letter. L letter, N number or underscore, M mark, H a word of
    its own, ' apostrophe, - anything else. Filled as characters are met; all at once would slow the import."""

    def __missing__(self, code: int) -> str:
        kind = _kind(code)
        if code <= 0xFFFF:  # bounds the memory that texts of rare characters can take
            self[code] = kind
        return kind


def _kind(code: int) -> str:
    character = chr(code)
    category = unicodedata.category(character)[0]
    if category in "LN" and any(first <= code <= last for first, last in _ONE_CHARACTER_WORDS):
        return "H"
    if category in "LMN":
        return category
    return {"_": "N", "'": "'", "’": "'"}.get(character, "-")


_KINDS = _Kinds()
_WORD = re.compile(r"HM*|[LN][LNM]*(?:(?<=[LM])'(?=L)[LNM]+)*")
_ASCII_WORD = re.compile(r"[A-Za-z0-9_]+(?:(?<=[A-Za-z])'(?=[A-Za-z])[A-Za-z0-9_]+)*")


def _folded(written: str) -> str:
    # NFD first: folding a composed character and its decomposed form apart can differ (definition D145 of Unicode).
    decomposed = unicodedata.normalize("NFD", written.replace("’", "'"))
    return unicodedata.normalize("NFC", decomposed.casefold())


_OF_THREAD = threading.local()  # a stemmer of PyStemmer must not be used by two threads at once


def _english_stemmer() -> Any:
    stemmer = getattr(_OF_THREAD, "english", None)
    if stemmer is None:
        stemmer = _OF_THREAD.english = _stemmer_module().Stemmer("english")
    return stemmer


def _stemmer_module() -> Any:
    try:
        return importlib.import_module("Stemmer")
    except ImportError as missing:
        raise SettingError("the analyser 'english' needs PyStemmer; install it: pip install PyStemmer") from missing


SIMPLE = SimpleAnalyser()
ENGLISH = EnglishAnalyser()
_ANALYSERS: dict[str, Analyser] = {SIMPLE.name: SIMPLE, ENGLISH.name: ENGLISH}
