"""Labels of string trees, whole substrings and n-grams, with the papers' examples."""

from __future__ import annotations

import pytest

from tidings.errors import SettingError
from tidings.language.parser import parse
from tidings.model.event import Event
from tidings.model.normal_form import conjunctions
from tidings.rendezvous.composite import single
from tidings.rendezvous.scheme import EVERYWHERE, NEVER, KeyMaker
from tidings.rendezvous.string_trees import StringTrees
from tidings.rendezvous.substrings import CompleteSubstrings, NGrams, grams, substrings


def stored(maker: KeyMaker, where: str) -> set[tuple[str, str]] | None:
    found = maker.access(parse(where))  # type: ignore[arg-type]  # each is one predicate
    return None if found is None else {(key.kind, key.label) for key in found.keys}


def visited(maker: KeyMaker, value: str) -> set[tuple[str, str]]:
    return {(key.kind, key.label) for key in maker.keys_of_value("s", value)}


# String trees


def test_the_papers_prefix() -> None:
    """Paper 1, example 3: `00%` is stored at the node 00, which an event of 001 passes."""
    assert stored(StringTrees(), "s LIKE '00%'") == {("prefix", "00")}
    prefixes = {label for kind, label in visited(StringTrees(), "001") if kind == "prefix"}
    assert prefixes == {"0", "00", "001"}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("s = 'abc'", {("equal", "abc")}),
        ("s LIKE 'abc'", {("equal", "abc")}),
        ("s LIKE ''", {("equal", "")}),
        ("s IN ('a', 'b')", {("equal", "a"), ("equal", "b")}),
        ("s LIKE '%abc'", {("suffix", "cba")}),
        ("s LIKE 'a%c'", {("prefix", "a"), ("suffix", "c")}),
        ("s LIKE 'ab_d%'", {("prefix", "ab")}),
        ("s LIKE '%a%b%c_'", None),
        ("s LIKE '%'", None),
        ("s ILIKE 'abc%'", None),
        ("s = 5", None),
        ("s IN (1, 2)", None),
        ("s >= 'a'", None),
        ("s LIKE '0123456789abcdefghi%'", {("prefix", "0123456789abcdef")}),
        ("s LIKE '%0123456789abcdefghi'", {("suffix", "ihgfedcba9876543")}),
    ],
)
def test_labels_of_string_trees(where: str, expected: set[tuple[str, str]] | None) -> None:
    assert stored(StringTrees(), where) == expected


def test_folded_labels_serve_both_cases() -> None:
    maker = StringTrees(folded=True)
    assert stored(maker, "s ILIKE 'ÀB%'") == stored(maker, "s LIKE 'àb%'") == {("prefix", "àb")}
    assert ("prefix", "àb") in visited(maker, "Àbc")


def test_an_event_visits_no_deeper_than_the_trees() -> None:
    assert len(visited(StringTrees(depth=4), "abcdefgh" * 1000)) == 9
    assert visited(StringTrees(), "") == {("equal", "")}


# Substrings


def test_the_papers_substring() -> None:
    """Paper 2, 3 and 4.1: `%bc%` is stored at bc; an event of abcd visits its ten substrings."""
    assert stored(CompleteSubstrings(), "s LIKE '%bc%'") == {("substring", "bc")}
    assert len(visited(CompleteSubstrings(), "abcd")) == 4 * 5 // 2
    assert ("substring", "bc") in visited(CompleteSubstrings(), "abcd")


def test_a_piece_is_cut_to_the_cap() -> None:
    assert stored(CompleteSubstrings(3), "s LIKE '%abcdef%'") == {("substring", "abc")}
    assert len(visited(CompleteSubstrings(3), "abcdefgh")) == 8 + 7 + 6


def test_the_papers_bigrams() -> None:
    """Paper 2, 4.2: the bigrams of abcd."""
    assert grams("abcd", 2) == ("ab", "bc", "cd")
    assert stored(NGrams(2, every=True), "s LIKE '%abcd%'") == {("gram", "ab"), ("gram", "bc"), ("gram", "cd")}


def test_the_papers_false_positive_meets_and_is_refused() -> None:
    """Paper 2, 4.2: aba and bab have the same bigrams in another order."""
    scheme = single(NGrams(2, every=True))
    (conjunction,) = conjunctions(parse("s LIKE '%aba%'"))
    event, other = Event.of({"s": "bab"}), Event.of({"s": "xabax"})
    assert scheme.subscription_keys(conjunction) <= scheme.event_keys(event)
    assert not scheme.verify(conjunction, event)
    assert scheme.subscription_keys(conjunction) <= scheme.event_keys(other)
    assert scheme.verify(conjunction, other)


def test_the_rarest_gram_is_kept() -> None:
    visits = dict.fromkeys(NGrams(2).keys_of_value("s", "abc"), 5.0)
    assert stored(NGrams(2, visits=visits), "s LIKE '%abcx%'") == {("gram", "cx")}
    assert stored(NGrams(2), "s LIKE '%cab%'") == {("gram", "ab")}  # nothing known: the first


@pytest.mark.parametrize("maker", [NGrams(3), NGrams(3, every=True)])
def test_what_is_shorter_than_a_gram_is_one_of_its_own_length(maker: NGrams) -> None:
    assert stored(maker, "s LIKE '%ab%'") == {("gram", "ab")}
    assert visited(maker, "abc") == {("gram", part) for part in ("a", "b", "c", "ab", "bc", "abc")}


@pytest.mark.parametrize("maker", [NGrams(2), CompleteSubstrings(2)])
def test_any_like_is_indexed_by_its_longest_piece(maker: KeyMaker) -> None:
    assert {label for _, label in stored(maker, "s LIKE 'a%bc_d%e'") or ()} == {"bc"}
    assert stored(maker, "s LIKE '%_%'") is None
    assert stored(maker, "s ILIKE '%ab%'") is None
    assert stored(maker, "s = 'ab'") is None
    assert visited(maker, "") == set()


def test_folded_substrings() -> None:
    assert stored(NGrams(3, folded=True), "s ILIKE '%SSß%'") == {("gram", "ssß")}
    assert ("gram", "ssß") in visited(NGrams(3, folded=True), "sSẞ")


def test_substrings_are_different_ones() -> None:
    assert substrings("aaa", 2) == ("a", "aa")
    assert grams("", 2) == ()


def test_lengths_below_one_are_refused() -> None:
    with pytest.raises(SettingError, match="at least 1 character, not 0"):
        StringTrees(depth=0)
    with pytest.raises(SettingError, match="n of the n-grams is at least 1 character, not 0"):
        NGrams(0)
    with pytest.raises(SettingError, match="the cap of substrings is at least 1 character, not -1"):
        CompleteSubstrings(-1)


def test_no_alternative_is_never_met_and_needs_no_key() -> None:
    from tidings.model.predicates import Attribute, In

    assert StringTrees().access(In(Attribute(("s",)), ())) == NEVER
    (unindexed,) = conjunctions(parse("s RLIKE 'a'"))
    assert single(StringTrees()).subscription_keys(unindexed) == {EVERYWHERE}
