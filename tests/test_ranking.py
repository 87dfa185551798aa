"""How similar a match is: the definition of its score, and a matcher's ranking by it."""

from __future__ import annotations

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language.text_strategies import texts
from strategies import EventSource, events, expressions, predicates
from tidings import Event, EventProblem, Matcher, SettingError, Settings, parse, print_expression
from tidings.analysis.latent import fit
from tidings.analysis.statistics import NO_STATISTICS
from tidings.analysis.words import SIMPLE
from tidings.model.event import Identifier
from tidings.model.normal_form import conjunctions
from tidings.model.predicates import Attribute, Expression, Operator, Similarity, all_of, any_of, negation
from tidings.reference import Reading, score, truth

EVENT = {"t": "spark index of many other words here", "u": ["rain", "spark rain"], "n": 2}
LOW, HIGH, OF_ARRAY = 0.377964473009, 0.534522483825, 0.707106781187  # spark; spark index; the second of u
SPARK, BOTH, IN_ARRAY = (
    "similarity(t, 'spark') >= 0.1",
    "similarity(t, 'spark index') >= 0.5",
    "similarity(u, 'spark') > 0",
)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (SPARK, LOW),
        (IN_ARRAY, OF_ARRAY),
        ("similarity(t, 'spark') >= 0.5", None),
        (f"{SPARK} AND {BOTH}", LOW),
        (f"{SPARK} AND n = 2", LOW),
        (f"{SPARK} AND n = 1", None),
        (f"{SPARK} OR {BOTH}", HIGH),
        (f"n = 2 OR {SPARK}", LOW),
        (f"n = 2 OR {SPARK} AND n = 1", None),
        (f"({SPARK} AND n = 1) OR {BOTH}", HIGH),
        (f"({BOTH} AND n = 1) OR {SPARK}", LOW),
        (f"({SPARK} OR {BOTH}) AND {IN_ARRAY}", HIGH),
        (f"({SPARK} AND {BOTH}) OR similarity(t, 'rain') >= 0.1", LOW),
        (f"NOT similarity(t, 'rain') >= 0.1 AND {SPARK}", LOW),
        ("NOT similarity(t, 'rain') >= 0.1", None),
        (f"NOT (n = 1 OR NOT {SPARK})", LOW),
        (f"NOT (NOT {SPARK} AND NOT {BOTH})", HIGH),
        (f"NOT (NOT {SPARK} OR NOT {BOTH})", LOW),
        ("matches(t, 'spark')", None),
        (f"n = 2 OR ({SPARK} AND n = 2)", LOW),  # needless to the index
        (f"{SPARK} OR ({SPARK} AND {BOTH})", LOW),
        (f"{SPARK} AND n IN (1, 2)", LOW),
        ("SIMILARITY(t, 'spark') >= 0.1", LOW),
    ],
)
def test_the_score_is_that_of_what_makes_a_subscription_true(where: str, wanted: float | None) -> None:
    assert score(parse(where), Reading(Event.of(EVENT))) == wanted
    for uncompiled in (0, 1):
        matcher = Matcher(uncompiled=uncompiled)
        matcher.add("s", where)
        assert matcher.ranked(EVENT) == ([] if wanted is None else [("s", wanted)])


def similarities() -> st.SearchStrategy[Expression]:
    thresholds = st.sampled_from((0.0, 0.3, 0.6, 0.9))
    profiles = texts().filter(str.strip)
    return st.builds(Similarity, st.just(Attribute(("t",))), profiles, st.just(Operator.GREATER), thresholds)


def several(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    some = st.lists(parts, min_size=2, max_size=3)
    return some.map(all_of) | some.map(any_of)


@given(st.recursive(similarities(), several, max_leaves=6), texts())
def test_without_other_predicates_it_is_that_of_the_best_of_the_conjunctions_that_hold(
    where: Expression, text: str
) -> None:
    reading = Reading(Event.of({"t": text}))
    holding = [
        min(score(term, reading) or 0.0 for term in conjunction.terms)
        for conjunction in conjunctions(where)
        if all(truth(term, reading) for term in conjunction.terms)
    ]
    assert score(where, reading) == max(holding, default=None)


# Rankings of many


def some_expressions() -> st.SearchStrategy[Expression]:
    """Mostly of similarities, with AND, OR and NOT."""
    asked = similarities()
    return expressions(asked | asked | asked.map(negation) | predicates(), max_leaves=6)


def some_events() -> st.SearchStrategy[list[EventSource]]:
    fields = st.fixed_dictionaries({"t": texts() | st.lists(st.none() | texts() | st.just(3), max_size=3)})
    return st.lists(st.builds(lambda event, more: {**event, **more}, events(), fields), max_size=3)


@settings(deadline=None)  # the first one compiles
@given(st.lists(some_expressions(), min_size=1, max_size=4), some_events(), st.none() | st.integers(1, 2))
def test_rankings_are_those_of_the_reference(
    subscriptions: list[Expression], sources: list[EventSource], most: int | None
) -> None:
    wheres = list(map(print_expression, subscriptions))
    sources = [{**source, "id": number} for number, source in enumerate(sources)]
    matchers = [Matcher(), Matcher(uncompiled=0)]
    for matcher in matchers:
        matcher.add_many(enumerate(wheres))
    for source in sources:
        scored = [(id, score(parse(where), Reading(Event.of(source)))) for id, where in enumerate(wheres)]
        expected = sorted(((id, found) for id, found in scored if found is not None), key=lambda each: -each[1])
        for matcher in matchers:
            ranked = matcher.ranked(source, most)
            assert [found for _, found in ranked] == [found for _, found in expected[:most]]
            assert set(ranked) <= set(expected)
            assert ranked_of(matcher, sources, most, source["id"]) == ranked


def ranked_of(
    matcher: Matcher, sources: list[EventSource], most: int | None, event: int
) -> list[tuple[Identifier, float]]:
    rows = matcher.ranked_many(sources, most, on_error=lambda problem: None).to_pylist()
    return [(row["subscription"], row["score"]) for row in rows if row["event"] == event]


def some_matcher(uncompiled: int) -> Matcher:
    matcher = Matcher(uncompiled=uncompiled)
    matcher.add_many(
        [("half", "similarity(t, 'spark') >= 0.5"), ("all", "similarity(t, 'spark index') > 0.9 AND n > 1")]
    )
    matcher.add("gone", "similarity(t, 'spark') >= 0")
    matcher.match({})
    matcher.add_many([("other", "matches(t, 'spark')"), ("low", "similarity(t, 'index of words') >= 0.1 OR n = 7")])
    matcher.remove("gone")
    return matcher


@pytest.mark.parametrize("uncompiled", [0, 3, 1_000])  # all compiled, in two parts; a part and a rest; none
def test_many_events_are_ranked_as_a_table(uncompiled: int) -> None:
    matcher = some_matcher(uncompiled)
    sources = [
        {"id": "a", "t": "Spark index", "n": 2},
        {"id": "b", "t": "rain", "n": 7},
        {"id": "c", "t": "Spark", "n": 2},
    ]
    wanted = [
        ("a", "all", 1.0),
        ("a", "half", 0.707106781187),
        ("a", "low", 0.408248290464),
        ("c", "half", 1.0),
    ]
    for events_given in (sources, pyarrow.Table.from_pylist(sources)):
        table = matcher.ranked_many(events_given)
        assert table.column_names == ["event", "subscription", "score"]
        assert [tuple(row.values()) for row in table.to_pylist()] == wanted
        best = matcher.ranked_many(events_given, most=1)
        assert [tuple(row.values()) for row in best.to_pylist()] == [wanted[0], wanted[3]]


def test_what_cannot_be_read_is_reported_once_for_a_ranking() -> None:
    matcher, found = some_matcher(3), list[EventProblem]()
    table = matcher.ranked_many([{"t": "\ud800", "n": 7}, {"t": "spark"}, 5], on_error=found.append)
    assert table.column("event").to_pylist() == [1]
    assert {(problem.event, problem.attribute) for problem in found} == {(0, "t"), (2, None)}


@pytest.mark.parametrize("uncompiled", [0, 1_000])
def test_no_subscriptions_and_no_events_make_an_empty_ranking(uncompiled: int) -> None:
    assert Matcher(uncompiled=uncompiled).ranked_many([{"t": "a"}]).num_rows == 0
    assert some_matcher(uncompiled).ranked_many([]).num_rows == 0
    with pytest.raises(SettingError, match="1 or more, or None for all, not 0"):
        Matcher().ranked_many([], most=0)


def test_similarities_of_words_and_in_a_latent_space_are_ranked_together() -> None:
    space = fit(["spark index", "spark stream", "rain snow", "snow rain wind", "wind"], 2, SIMPLE, NO_STATISTICS)
    wheres = [
        "similarity(t, 'spark', model => 'lsi') > 0.1 AND similarity(t, 'spark') >= 0.1",
        "similarity(t, 'spark', model => 'lsi') > 0.1",
        "similarity(t, 'rain', model => 'lsi') > 0.1 OR similarity(u, 'spark') > 0.1",
    ]
    matcher = Matcher(uncompiled=0, latent=space)
    matcher.add_many(enumerate(wheres))
    event = {"t": ["spark rain", "stream"], "u": "spark"}
    reading = Reading(Event.of(event), Settings(latent=space))
    expected = [(id, score(parse(where), reading)) for id, where in enumerate(wheres)]
    assert sorted(matcher.ranked(event)) == expected
