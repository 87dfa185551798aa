"""The suite itself: that it asks about everything, and that nothing in it is asked in vain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import product
from typing import Any, get_args

import pytest

from conformance.case import UNKNOWN, Truth, negated
from conformance.groups import BATCHES, GROUPS, REFUSALS
from matchers import MATCHERS, MatcherUnderTest
from tidings import parse
from tidings.model import text, xpath
from tidings.model.predicates import Comparison, IsNull, Not, Operator, Predicate
from tidings.model.values import AttributeType

LEAST = 10  # cases of each kind of predicate that are true, and as many that are false
LEAST_UNKNOWN = 3
MOST_UNABLE = 0.05  # of the cases, what a matcher may leave out because they cannot be handed to it
LITERAL_TYPES = (AttributeType.NUMBER, AttributeType.STRING, AttributeType.BOOLEAN, AttributeType.TIMESTAMP)

CASES = [case for group in GROUPS for case in group.cases]


@cache
def asked_alone() -> list[tuple[Predicate, Truth]]:
    """The cases that are one predicate, or NOT of one, with the truth of the predicate."""
    found: list[tuple[Predicate, Truth]] = []
    for case in CASES:
        where, truth = parse(case.where), case.expected
        if isinstance(where, Not):
            where, truth = where.part, None if truth is UNKNOWN else not truth
        if isinstance(where, get_args(Predicate)):
            found.append((where, truth))
    return found


def parts(value: Any) -> Iterator[Any]:
    """Everything inside an expression."""
    yield value
    inner = [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else value
    if isinstance(inner, list | tuple):
        for each in inner:
            yield from parts(each)


def test_hundreds_of_cases() -> None:
    assert len(CASES) >= 1500
    assert len(BATCHES) >= 25
    assert len(REFUSALS) >= 50


def test_names_are_unique() -> None:
    assert repeated(group.name for group in GROUPS) == []
    assert repeated(batch.name for batch in BATCHES) == []
    assert repeated(refusal.name for refusal in REFUSALS) == []
    for group in GROUPS:
        assert repeated(name for case in group.cases for name in (case.name, negated(case))) == [], group.name


def test_no_case_stands_twice_in_its_group() -> None:
    for group in GROUPS:
        assert repeated(f"{case.where} on {case.event!r}" for case in group.cases) == [], group.name


@pytest.mark.parametrize("kind", get_args(Predicate), ids=lambda kind: kind.__name__)
def test_every_kind_of_predicate_is_true_false_and_unknown(kind: type) -> None:
    counted = Counter(truth for predicate, truth in asked_alone() if isinstance(predicate, kind))
    assert counted[True] >= LEAST
    assert counted[False] >= LEAST
    assert counted[UNKNOWN] >= (1 if kind is IsNull else LEAST_UNKNOWN)  # IS NULL: of what is unreadable only


@pytest.mark.parametrize(
    ("operator", "literal_type"),
    list(product(Operator, LITERAL_TYPES)),
)
def test_every_comparison_is_true_false_and_unknown_for_every_type(
    operator: Operator, literal_type: AttributeType
) -> None:
    truths = {
        truth
        for predicate, truth in asked_alone()
        if isinstance(predicate, Comparison)
        and (predicate.operator, predicate.literal.type) == (operator, literal_type)
    }
    assert truths == {True, False, UNKNOWN}


def test_every_part_of_text_patterns_and_xpath_is_asked() -> None:
    met = {each if isinstance(each, Enum) else type(each) for case in CASES for each in parts(parse(case.where))}
    wanted: set[Any] = {*get_args(text.TextPattern), *get_args(xpath.XPathExpression)}
    for values in (xpath.Comparator, xpath.StringFunction, xpath.Place, xpath.NodeKind):
        wanted |= set(values)
    assert wanted - met == set()


def test_events_bring_no_id() -> None:
    """It is the matchers' to give: some need one, and of the others it is asked what they do without."""
    events = [case.event for case in CASES] + [event for batch in BATCHES for event in batch.events]
    assert [event for event in events if "id" in event] == []


@pytest.mark.parametrize("matcher", MATCHERS, ids=str)
def test_little_is_left_out(matcher: MatcherUnderTest) -> None:
    unable = sum(
        len(matcher.matches({}, [case.event for case in group.cases], group.settings).unable) for group in GROUPS
    )
    assert unable <= MOST_UNABLE * len(CASES)


def test_the_reference_leaves_nothing_out() -> None:
    reference = MATCHERS[0]
    assert reference.name == "reference"
    outcomes = [reference.matches({}, [case.event for case in group.cases], group.settings) for group in GROUPS]
    assert [outcome.unable for outcome in outcomes if outcome.unable] == []


def repeated(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]
