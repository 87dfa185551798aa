"""How similar a match is: the definition of its score, and a matcher's ranking by it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from language.text_strategies import texts
from tidings import Event, Matcher, parse
from tidings.model.normal_form import conjunctions
from tidings.model.predicates import Attribute, Expression, Operator, Similarity, all_of, any_of
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
    ],
)
def test_the_score_is_that_of_what_makes_a_subscription_true(where: str, wanted: float | None) -> None:
    assert score(parse(where), Reading(Event.of(EVENT))) == wanted
    matcher = Matcher()
    matcher.add("s", where)
    assert matcher.ranked(EVENT) == ([] if wanted is None else [("s", wanted)])


def similarities() -> st.SearchStrategy[Expression]:
    thresholds = st.sampled_from((0.0, 0.3, 0.6, 0.9))
    return st.builds(Similarity, st.just(Attribute(("t",))), texts(), st.just(Operator.GREATER), thresholds)


def several(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    some = st.lists(parts, min_size=2, max_size=3)
    return some.map(all_of) | some.map(any_of)


@given(st.recursive(similarities(), several, max_leaves=6), texts())
def test_it_is_the_best_of_the_conjunctions_that_hold(where: Expression, text: str) -> None:
    reading = Reading(Event.of({"t": text}))
    holding = [
        min(score(term, reading) or 0.0 for term in conjunction.terms)
        for conjunction in conjunctions(where)
        if all(truth(term, reading) for term in conjunction.terms)
    ]
    assert score(where, reading) == max(holding, default=None)
