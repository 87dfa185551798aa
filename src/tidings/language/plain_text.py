"""Text patterns of the plainest form, read by regular expressions alone: words, phrases and chains in a row, each
perhaps denied, or some of them in parentheses with OR between, and AND or nothing between the parts.

The law: `plain_pattern` gives what the whole grammar gives, or None, which says nothing. Nearly all patterns are of
this form, and no two are alike, so that is the time for reading a million of them. Anything that could be wrong, or is
not ASCII, is left to the grammar, which explains it. Parts are kept: the words of patterns come again and again, and
one value for all places of a word is less to make, to hold and to compare.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tidings.model.text import NEXT, AllOf, AnyOf, Gap, Not, Terms, TextPattern, phrase

LENGTH = 1_000  # characters of a plain pattern: too few to pass any limit of the language
KEPT = 2**16  # parts

_WORD = r"[0-9A-Za-z_]+(?:'[0-9A-Za-z_]+)*"
_ELEMENT = rf'(?:"{_WORD}(?: {_WORD})*"|(?!(?:AND|OR|NOT|[Nn][Ee][Aa][Rr])\b){_WORD}\*?)'
_CHAIN = rf"(?:NOT )?{_ELEMENT}(?: ->\[[0-9]{{1,6}},[0-9]{{0,6}}\] {_ELEMENT})*"
_PART = rf"(?:{_CHAIN}|\({_CHAIN}(?: OR {_CHAIN})+\))"
_ROW = re.compile(rf"{_PART}(?: (?:AND )?{_PART})*")
_PARTS = re.compile(rf"(?: (?:AND )?)?({_PART})")
_ALTERNATIVES = re.compile(rf"(?: OR )?({_CHAIN})")
_ARROW = re.compile(r" ->\[([0-9]+),([0-9]*)\] ")


def plain_pattern(text: str) -> TextPattern | None:
    """The pattern that `text` says, if it is of the plain form."""
    if len(text) > LENGTH or _ROW.fullmatch(text) is None:
        return None
    try:
        parts = [_part(written) for written in _PARTS.findall(text)]
    except ValueError:  # a gap with its bounds the wrong way round
        return None
    return AllOf(tuple(parts)) if len(parts) > 1 else parts[0]


@lru_cache(KEPT)
def _part(written: str) -> TextPattern:
    if written.startswith("("):
        return AnyOf(tuple([_part(each) for each in _ALTERNATIVES.findall(written[1:-1])]))
    if written.startswith("NOT "):
        return Not(_part(written[4:]))
    if "->" not in written and not written.endswith("*"):
        return phrase(*written.strip('"').split(" "))
    return _chain(*_ARROW.split(written))


def _chain(first: str, *more: str) -> Terms:
    """Of its first element, and of least, most and element for each of the others."""
    terms: list[str] = []
    gaps: list[Gap] = []
    prefixes: list[int] = []
    for least, most, element in zip(("0", *more[::3]), ("", *more[1::3]), (first, *more[2::3]), strict=True):
        if element.endswith("*"):
            prefixes.append(len(terms))
        words = element.strip('"*').split(" ")
        gaps += [Gap(int(least), int(most) if most else None)] + [NEXT] * (len(words) - 1)
        terms += words
    return Terms(tuple(terms), tuple(gaps[1:]), frozenset(prefixes))
