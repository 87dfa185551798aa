"""The matcher, the explanation and the normal form agree with the definition on random subscriptions and events."""

from __future__ import annotations

import pytest
from hypothesis import given

import tidings
from strategies import Batch, EventSource, batches, events, matching_pairs
from tidings.explanation import Explanation, explain
from tidings.language.printer import print_expression
from tidings.model.event import Event
from tidings.model.normal_form import conjunction_count, conjunctions
from tidings.model.predicates import Expression, Not
from tidings.reference import Reading, Truth, holds, truth


def truth_of(expression: Expression, event: EventSource) -> Truth:
    return truth(expression, Reading(Event.of(event)))


@given(batches())
def test_the_matcher_answers_as_the_reference(batch: Batch) -> None:
    subscriptions, sources = batch
    matcher = tidings.Matcher()
    matcher.add_many(enumerate(map(print_expression, subscriptions)))
    for event in sources:
        expected = [number for number, where in enumerate(subscriptions) if holds(where, event)]
        assert sorted(matcher.match(event).ids) == expected


@given(batches())
def test_many_events_at_once_match_as_each_alone(batch: Batch) -> None:
    subscriptions, sources = batch
    matcher = tidings.Matcher()
    matcher.add_many(enumerate(map(print_expression, subscriptions)))
    numbered = [{**event, "id": number} for number, event in enumerate(sources)]
    alone = [(event["id"], id) for event in numbered for id in sorted(matcher.match(event).ids)]
    together = matcher.match_many(numbered, on_error=lambda problem: None).to_pylist()
    assert sorted((row["event"], row["subscription"]) for row in together) == alone


@given(matching_pairs())
def test_some_conjunction_is_true_exactly_when_the_expression_is(pair: tuple[Expression, EventSource]) -> None:
    expression, event = pair
    found = conjunctions(expression)
    some = any(all(truth_of(term, event) is True for term in conjunction.terms) for conjunction in found)
    assert some == (truth_of(expression, event) is True)
    assert len(found) <= conjunction_count(expression)


@given(matching_pairs())
def test_no_conjunction_holds_another_connective(pair: tuple[Expression, EventSource]) -> None:
    terms = [term for conjunction in conjunctions(pair[0]) for term in conjunction.terms]
    kinds = {type(term.part if isinstance(term, Not) else term).__name__ for term in terms}
    assert kinds.isdisjoint({"And", "Or", "Not", "Constant"})


@given(matching_pairs())
def test_a_negation_is_true_where_the_expression_is_false(pair: tuple[Expression, EventSource]) -> None:
    opposite: dict[Truth, Truth] = {True: False, False: True, None: None}
    assert truth_of(Not(pair[0]), pair[1]) is opposite[truth_of(*pair)]


@given(matching_pairs())
def test_an_explanation_has_the_truth_of_the_reference(pair: tuple[Expression, EventSource]) -> None:
    explanation = explain(*pair)
    assert explanation.truth is truth_of(*pair)
    assert explanation.why
    assert str(explanation)
    assert explanation.to_dict()["truth"] is explanation.truth
    check_parts(explanation, pair[1])


def check_parts(explanation: Explanation, event: EventSource) -> None:
    """Every part says which text it is of, and has the truth of that text."""
    assert explanation.truth is truth_of(tidings.parse(explanation.text), event)
    for part in explanation.parts:
        check_parts(part, event)


@given(matching_pairs())
def test_matching_leaves_the_event_as_it_was(pair: tuple[Expression, EventSource]) -> None:
    before = repr(pair[1])
    holds(*pair)
    assert repr(pair[1]) == before


@given(matching_pairs(), events())
def test_attributes_that_are_not_named_do_not_matter(pair: tuple[Expression, EventSource], other: EventSource) -> None:
    expression, event = pair
    more = {f"other {name}": value for name, value in other.items()}
    assert truth_of(expression, {**event, **more}) is truth_of(expression, event)


# Python refuses to write integers of more than 4,300 digits, and an event may hold one.
ENORMOUS = 10**5_000


@pytest.mark.parametrize("value", [ENORMOUS, [-ENORMOUS]], ids=["alone", "in an array"])
@pytest.mark.parametrize("where", ["n > 1", "n = 0.5", "array_contains(n, 1)"])
def test_an_integer_too_long_to_be_written_is_compared_and_explained(where: str, value: object) -> None:
    assert explain(where, {"n": value}).matches == holds(where, {"n": value})
    assert str(explain(where, {"n": value}))


def test_an_id_too_long_to_be_written_is_an_error_of_the_event() -> None:
    with pytest.raises(tidings.EventError):
        Event.of({"id": ENORMOUS})
