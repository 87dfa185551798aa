"""Simplifying keeps the meaning on every event, arrays included, and finds what can never match."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from strategies import expressions, matching_pairs
from tidings import parse, print_expression
from tidings.model.event import Event
from tidings.model.predicates import Expression, all_of
from tidings.planning.simplify import simplified
from tidings.reference import Reading, truth


def texts(where: str) -> list[str]:
    return [print_expression(all_of(each.terms)) if each.terms else "TRUE" for each in simplified(parse(where))]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("a = 1", ["a = 1"]),
        ("a = 1 AND a = 1", ["a = 1"]),
        ("a > 3 AND a > 5 AND a >= 5", ["a > 5"]),
        ("a <= 3 AND a < 3 AND a < 7", ["a < 3"]),
        ("a > 'x' AND a > 5", ["a > 'x' AND a > 5"]),
        ("a IN (1)", ["a = 1"]),
        ("a IN (2, 1, 2)", ["a IN (1, 2)"]),
        ("has_any(a, 'x')", ["array_contains(a, 'x')"]),
        ("a = 1 AND a IS NOT NULL", ["a = 1"]),
        ("NOT a = 1 AND a IS NOT NULL", ["NOT a = 1"]),
        ("a IS NOT NULL", ["a IS NOT NULL"]),
        ("a = 1 OR (a = 1 AND b = 2)", ["a = 1"]),
        ("(a = 1 OR b = 2) AND (a = 1 OR b = 2)", ["a = 1", "b = 2"]),
        ("TRUE", ["TRUE"]),
        ("TRUE OR a = 1", ["TRUE"]),
    ],
)
def test_what_is_simpler(where: str, expected: list[str]) -> None:
    assert texts(where) == expected


@pytest.mark.parametrize(
    "where",
    ["FALSE", "a = 1 AND NOT a = 1", "a IS NULL AND a = 1", "a IS NULL AND NOT a = 1", "a BETWEEN 5 AND 3",
     "a BETWEEN 'b' AND 'a'", "a BETWEEN DATE '2026-02-01' AND DATE '2026-01-01'", "a = 1 AND FALSE"],
)  # fmt: skip
def test_what_never_matches(where: str) -> None:
    assert simplified(parse(where)) == ()


@pytest.mark.parametrize(
    ("where", "event"),
    [
        ("a >= 5 AND a <= 3", {"a": [2, 7]}),
        ("a = 1 AND a = 2", {"a": [1, 2]}),
        ("a = 'x' AND a = 5", {"a": ["x", 5]}),
        ("a BETWEEN 0.10000000000000000001 AND 0.1", {"a": 0.1}),
    ],
)
def test_what_only_looks_contradictory(where: str, event: dict[str, Any]) -> None:
    assert simplified(parse(where))
    assert truth(parse(where), Reading(Event.of(event))) is True


def satisfied(expression: Expression, event: Event) -> bool:
    return any(all(truth(term, Reading(event)) is True for term in each.terms) for each in simplified(expression))


@given(matching_pairs(), expressions())
def test_simplifying_keeps_the_meaning(pair: tuple[Expression, dict[str, Any]], other: Expression) -> None:
    event = Event.of(pair[1])
    for expression in (pair[0], other):
        assert satisfied(expression, event) == (truth(expression, Reading(event)) is True)
