"""Patterns of the plain form: what the regular expressions read is what the grammar reads, and they read nearly all."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from language.text_strategies import odd_terms, text_patterns
from tidings.errors import SubscriptionError
from tidings.language.plain_text import LENGTH, plain_pattern
from tidings.language.text import parse_by_grammar, parse_pattern, print_pattern
from tidings.model.text import TextPattern

# What a plain pattern is made of, and what makes one that is nearly plain wrong, or another pattern.
PIECES = (
    "a", "B2", "near", "Near", "nearby", "AND", "OR", "NOT", "ANDREW", "NOTE", '"a"', '"a b"', '"AND"', '"a OR b"',
    '"NOT"', '"a (b)"', "a*", "AND*", "near*", "->[0,3]", "->[2,]", "->[3,1]", "->[1000000,]", "->[0,999999]",
    "(a OR b)", '(a OR "b c" OR NOT d)', "(a)", "(a b)", "(", ")", '"', "*", "don't", "f_1", "é", "-a", "a-b", "",
    "\t",
)  # fmt: skip


def is_read_alike(text: str) -> None:
    plain = plain_pattern(text)
    if plain is not None:
        assert plain == parse_by_grammar(text)
        assert parse_pattern(text) == plain


@given(st.lists(st.sampled_from(PIECES), max_size=9), st.sampled_from((" ", " ", " ", "", "  ", " AND ")))
@example(["a", "->[3,1]", "b"], " ")
@example(['("a OR b" OR c)'], " ")
def test_any_mix_of_pieces(pieces: list[str], between: str) -> None:
    is_read_alike(between.join(pieces))


@given(text_patterns() | text_patterns(terms=odd_terms()))
def test_what_patterns_print_to(pattern: TextPattern) -> None:
    is_read_alike(print_pattern(pattern))


@given(st.text(st.sampled_from('aN OT*"()->[0,1]AND'), max_size=30))
def test_any_text_of_its_characters(text: str) -> None:
    is_read_alike(text)


@pytest.mark.parametrize(
    "text",
    [
        "neural",
        '"neural"',
        "neural network AND parsing",
        '"neural network"',
        'neural AND "machine translation" AND NOT speech',
        '"neural" AND "machine" ->[0,3] "translation"',
        'a ->[0,3] "b c" ->[2,] d',
        "neur* AND net",
        '("a" OR "b") AND "c"',
        '"a" ("b" OR "c d" OR NOT "e")',
    ],
)
def test_these_are_plain(text: str) -> None:
    assert plain_pattern(text) == parse_by_grammar(text)


@pytest.mark.parametrize(
    "text",
    ["", " a", "a OR b", "NOT NOT a", "a AND", "AND a", "near", "é", "a ->[3,1] b", "(a)", "a  b", "a " * LENGTH],
)
def test_these_are_left_to_the_grammar(text: str) -> None:
    assert plain_pattern(text) is None


def test_no_plain_pattern_passes_a_limit() -> None:
    """The longest ones of the most words, the most NOTs, and what prints longest."""
    for piece in ("a ", "NOT a ", "a AND ", '"a b" ', "a ->[0,1] "):
        text = (piece * LENGTH)[: LENGTH // len(piece) * len(piece) - len(piece)] + "a"
        assert len(text) <= LENGTH
        assert plain_pattern(text) == parse_by_grammar(text)


def test_what_is_wrong_is_explained_by_the_grammar() -> None:
    with pytest.raises(SubscriptionError, match="the smaller number comes first"):
        parse_pattern("a ->[3,1] b")
