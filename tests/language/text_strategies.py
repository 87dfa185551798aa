"""Hypothesis strategies for text patterns and texts over one small vocabulary, so that random pairs often match."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from hypothesis import strategies as st

from tidings.analysis.words import SIMPLE
from tidings.model.text import NEXT, AllOf, AnyOf, Gap, Not, Terms, TextPattern

VOCABULARY = ("a", "b", "ab")  # one begins with another, so that wildcard words find several
SEPARATORS = (" ", ", ", " - ", "\n", ". ")


def texts(vocabulary: Sequence[str] = VOCABULARY, max_words: int = 12) -> st.SearchStrategy[str]:
    """Words of the vocabulary, also in capitals and repeated, with white space and punctuation between; or nothing."""
    word = st.sampled_from(vocabulary).flatmap(lambda word: st.sampled_from((word, word, word.upper())))
    separated = st.tuples(word, st.sampled_from(SEPARATORS)).map("".join)
    return st.lists(separated, max_size=max_words).map("".join)


def gaps() -> st.SearchStrategy[Gap]:
    """Small gaps, every second one that of a phrase, some without an upper bound."""
    width = st.none() | st.integers(0, 4)
    wide = st.builds(lambda least, more: Gap(least, None if more is None else least + more), st.integers(0, 4), width)
    return st.just(NEXT) | wide


def chains(terms: st.SearchStrategy[str], max_terms: int = 4) -> st.SearchStrategy[Terms]:
    """Words, phrases and proximity chains of the terms, some of which are wildcard words."""
    some_prefixes = st.frozensets(st.integers(0, max_terms - 1), max_size=2)
    more = st.lists(st.tuples(gaps(), terms), max_size=max_terms - 1)
    return st.builds(_chain, terms, more, st.just(frozenset()) | some_prefixes)


def _chain(first: str, more: list[tuple[Gap, str]], prefixes: frozenset[int]) -> Terms:
    terms = (first, *(term for _, term in more))
    possible = frozenset(number for number, term in enumerate(terms) if _can_be_prefix(term))
    return Terms(terms, tuple(gap for gap, _ in more), prefixes & possible)


def _can_be_prefix(term: str) -> bool:
    """What can be written without quotes and ends in a letter or digit."""
    return SIMPLE.words(term)[-1].end == len(term) and not re.search(r"^[-!]|[()*?“”„]|->", term)


def text_patterns(
    vocabulary: Sequence[str] = VOCABULARY, *, terms: st.SearchStrategy[str] | None = None, max_leaves: int = 6
) -> st.SearchStrategy[TextPattern]:
    """Patterns in every nesting, flattened as the parser flattens them."""
    leaves: st.SearchStrategy[TextPattern] = chains(st.sampled_from(vocabulary) if terms is None else terms)
    return st.recursive(leaves, _combined, max_leaves=max_leaves)


def odd_terms() -> st.SearchStrategy[str]:
    """Any term that a pattern may hold: operators, brackets, arrows, wildcards, marks and control characters."""
    troublesome = st.sampled_from(
        ("AND", "OR", "NOT", "near", "NEAR/3", "->", "->[0,1]", "(", ")", "*", "?", "-", "!", "“", "a", "1", "'", "\0")
    )
    anything = st.text(st.characters(), max_size=4)  # lone surrogates too, which text() by itself leaves out
    return (
        st.lists(troublesome | anything, min_size=1, max_size=4).map(_as_term).filter(lambda t: bool(SIMPLE.words(t)))
    )


def _as_term(parts: list[str]) -> str:
    return unicodedata.normalize("NFC", "".join("".join(parts).replace('"', "").split()))


def _combined(inner: st.SearchStrategy[TextPattern]) -> st.SearchStrategy[TextPattern]:
    parts = st.lists(inner, min_size=2, max_size=3)
    return parts.map(_all_of) | parts.map(_any_of) | inner.map(Not)


def _all_of(parts: list[TextPattern]) -> TextPattern:
    return AllOf(tuple(deep for part in parts for deep in (part.parts if isinstance(part, AllOf) else (part,))))


def _any_of(parts: list[TextPattern]) -> TextPattern:
    return AnyOf(tuple(deep for part in parts for deep in (part.parts if isinstance(part, AnyOf) else (part,))))
