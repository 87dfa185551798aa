"""The strategies give what they promise: pairs that often match, every kind of predicate, all three truths."""

from __future__ import annotations

from collections import Counter
from typing import TypeVar

from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from strategies import events, expressions, matching_pairs, predicates, predicates_of
from tidings.model.event import Event
from tidings.model.predicates import (
    Between,
    Comparison,
    HasAll,
    HasAny,
    In,
    IsNull,
    Like,
    Matches,
    Regex,
    Similarity,
    XPath,
    negation,
)
from tidings.reference import Reading, holds, truth

T = TypeVar("T")
KINDS = (Between, Comparison, HasAll, HasAny, In, IsNull, Like, Matches, Regex, Similarity, XPath)
RARE = {("IsNull", None)}  # only an unreadable value makes it unknown


SEEDS = range(12)
MORE_SEEDS = range(60)  # what is drawn also depends on the modules that are loaded, whose constants hypothesis uses


def drawn(strategy: st.SearchStrategy[T], seeds: range = SEEDS) -> list[T]:
    """Examples of several seeds: within one hypothesis varies what it drew before."""
    found: list[T] = []
    for number in seeds:

        @seed(number)
        @settings(database=None, max_examples=30, phases=[Phase.generate])
        @given(strategy)
        def draw(example: T) -> None:
            found.append(example)

        draw()
    return found


def test_a_third_of_the_pairs_match_and_many_do_not() -> None:
    outcomes = Counter(holds(*pair) for pair in drawn(matching_pairs()))
    assert outcomes[True] >= outcomes.total() / 3
    assert outcomes[False] >= outcomes.total() / 4


def test_every_kind_of_predicate_is_true_false_and_unknown() -> None:
    missing = {(kind.__name__, outcome) for kind in KINDS for outcome in (True, False, None)}
    for number in MORE_SEEDS:
        pairs = drawn(matching_pairs(predicates() | predicates().map(negation)), range(number, number + 1))
        asked = [(predicate, event) for expression, event in pairs for predicate in predicates_of(expression)]
        missing -= {
            (type(predicate).__name__, truth(predicate, Reading(Event.of(event)))) for predicate, event in asked
        }
        if missing <= RARE:
            break
    assert missing <= RARE


def test_subscriptions_have_several_predicates() -> None:
    sizes = [len(list(predicates_of(expression))) for expression in drawn(expressions())]
    assert sum(size >= 3 for size in sizes) >= len(sizes) / 5


def test_some_events_have_an_id_and_some_have_none() -> None:
    assert {type(Event.of(source).id) for source in drawn(events())} == {int, str, type(None)}
