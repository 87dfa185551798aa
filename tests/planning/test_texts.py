"""How many texts satisfy a pattern or are similar to a profile, estimated; and which predicate is chosen by it."""

from __future__ import annotations

import pytest

from tidings import Matcher, TextStatistics, parse
from tidings.analysis.words import ENGLISH, SIMPLE, AnalyserVersion
from tidings.model.predicates import Matches, Predicate, Similarity
from tidings.planning.access import plan
from tidings.planning.selectivity import share_of
from tidings.planning.statistics import EventStatistics, learn_from_subscriptions
from tidings.planning.texts import TextShares

MADE_BY = AnalyserVersion.of(SIMPLE)
FREQUENCY = {"the": 1_000, "bank": 100, "rate": 50, "rates": 20, "ratify": 4, "network": 8}
STATISTICS = TextStatistics(1_000, FREQUENCY, MADE_BY)


def share(where: str, texts: TextShares) -> float:
    predicate = parse(where)
    assert isinstance(predicate, Matches | Similarity)
    return share_of(predicate, EventStatistics(), texts)


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("bank", 0.1),
        ("BANK", 0.1),
        ("unheard", 0.0005),
        ("the bank", 0.1),
        ('"the bank"', 0.1),
        ("the ->[0,3] rate", 0.05),
        ("bank-rate the", 0.05),
        ("bank OR rate", 0.15),
        ("the OR bank", 1.0),
        ("bank AND NOT rate", 0.1),
        ("the AND NOT bank", 0.9),
        ("rat*", 0.074),
        ("unh*", 0.0005),
        ("the-rat*", 0.074),
    ],
)
def test_a_pattern_is_as_rare_as_its_rarest_word(pattern: str, wanted: float) -> None:
    assert share(f"matches(t, '{pattern}')", TextShares(statistics=STATISTICS)) == pytest.approx(wanted)


def test_words_are_those_of_the_analyser() -> None:
    texts = TextShares(ENGLISH, STATISTICS)
    assert share("matches(t, 'networks')", texts) == pytest.approx(0.008)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("'network the') >= 0.9", 0.008),  # without network the rest is too short a vector
        ("'network the') >= 0.1", 1.0),
        ("'network bank') >= 0.4", 0.108),
        ("'unheard') >= 0.4", 0.0005),
        ("'bank rate') > 0", 0.15),
        ("'bank') >= 0", 1.0),
    ],
)
def test_a_profile_is_as_rare_as_the_words_it_cannot_do_without(asked: str, wanted: float) -> None:
    assert share(f"similarity(t, {asked}", TextShares(statistics=STATISTICS)) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("matches(t, 'a')", 0.05),
        ("matches(t, 'a b')", 0.05),
        ("matches(t, 'a OR b')", 0.1),
        ("similarity(t, 'a') >= 0.5", 0.05),
        ("similarity(t, 'a', model => 'lsi') >= 0", 0.05),
    ],
)
def test_where_nothing_is_known_all_words_are_alike(where: str, wanted: float) -> None:
    assert share(where, TextShares()) == pytest.approx(wanted)


def test_patterns_of_which_few_are_asked_may_be_common() -> None:
    asked = [f"matches(title, 'the') AND matches(body, 'z{number}') AND topic = 't'" for number in range(100)]
    known = learn_from_subscriptions(map(parse, asked))
    (access,) = plan(parse("matches(title, 'the') AND matches(body, 'new')"), known).accesses
    assert access.predicate == parse("matches(body, 'new')")
    assert share_of(_predicate("matches(title, 'the')"), known) == 1.0
    assert share_of(_predicate("matches(title, 'a AND NOT b')"), known) == pytest.approx(0.95)
    assert share_of(_predicate("topic = 't'"), known) == 1.0


def test_what_is_only_asked_for_words_is_not_known_to_have_one_value() -> None:
    known = learn_from_subscriptions([parse("matches(t, 'a') AND u IS NULL")])
    assert share_of(_predicate("t = 'x'"), known) == share_of(_predicate("u = 'x'"), known) == 0.01


@pytest.mark.parametrize("statistics", [None, TextStatistics(1_000, {"the": 1_000}, MADE_BY)])
@pytest.mark.parametrize("terms", ["matches(title, 'the') AND {}", "{} AND matches(title, 'the')"])
def test_the_order_of_writing_does_not_decide(statistics: TextStatistics | None, terms: str) -> None:
    matcher = Matcher(statistics=statistics, uncompiled=0)
    matcher.add_many((number, terms.format(f"matches(body, 'z{number}')")) for number in range(2_000))
    result = matcher.match({"title": "the cat", "body": "z7"})
    assert (result.ids, result.cost.evaluated) == ([7], 1)


def test_a_common_word_is_looked_up_after_a_prefix() -> None:
    matcher = Matcher(statistics=STATISTICS, uncompiled=0)
    matcher.add("s", "matches(title, 'the') AND name LIKE 'ab%'")
    assert matcher.explain("s", {}).paths == ("by prefix of name, then 1 check",)


def _predicate(where: str) -> Predicate:
    found = parse(where)
    assert isinstance(found, Predicate)
    return found
