"""What `tidings check` says of a subscription is what the index does with it, once enough of them share a table."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from strategies import expressions
from tidings import parse, print_expression
from tidings.index import assembling
from tidings.index.part import PartBuilder
from tidings.language.parser import read
from tidings.model.predicates import Expression
from tidings.planning.access import Access, AccessPath, Cost, plan
from tidings.planning.statistics import EventStatistics
from tidings.reference import Settings

# How an index calls the paths of `planning.access`.
FOUND_BY = {
    AccessPath.VALUE: ("by value of",),
    AccessPath.ELEMENT: ("by value of",),
    AccessPath.RANGE: ("by upper bound of", "by lower bound of", "by range of", "by pair of bounds of"),
    AccessPath.PREFIX: ("by prefix of",),
    AccessPath.SUFFIX: ("by suffix of",),
    AccessPath.SUBSTRING: ("by substring of",),
    AccessPath.WORDS: ("by words",),
    AccessPath.PROFILE: ("by similarity",),
    AccessPath.DOCUMENT: ("by paths",),
    AccessPath.SCAN: ("tested for every event",),
    AccessPath.ALWAYS: ("tested for every event",),
}


def paths_of(where: Expression) -> list[str]:
    builder = PartBuilder(EventStatistics(), Settings())
    builder.add(1, print_expression(where), read(print_expression(where)))
    return builder.part().paths(0)


def agrees(path: str, access: Access) -> bool:
    led = any(path.startswith(by) for by in FOUND_BY[access.path])
    ordered = bool(access.ordered) and access.path is not AccessPath.RANGE
    exact = access.cost is Cost.DIRECT or not access.residual
    return led and ordered == ("ordered by" in path) and exact == path.endswith("exact")


@pytest.fixture(autouse=True)
def tables_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembling, "SMALLEST_GROUP", 1)


def assert_agreement(where: Expression) -> None:
    accesses, paths = plan(where).accesses, paths_of(where)
    if not accesses:
        assert paths == ["never: it cannot be satisfied"]
    for access in accesses:
        assert any(agrees(path, access) for path in paths), (print_expression(where), access, paths)
    for path in paths if accesses else ():
        assert any(agrees(path, access) for access in accesses), (print_expression(where), accesses, path)


@pytest.mark.parametrize(
    "where",
    [
        "user = 1234567890123456789",
        "user = 1234567890123456789 AND price < 5",
        "price < 5 AND price > 9007199254740993",
        "a = 1 AND b BETWEEN 1 AND 4",
        "a = 1 AND b = 2 AND c < 3",
        "a = 1 AND b = 'x'",
        "a = 1 AND b > 'x'",
        "a = 1 AND b > 1 AND b < 5 AND c < 3",
        "b > 1 AND b < 5",
        "b > 1 AND b < 5 AND t RLIKE 'x'",
        "has_any(a, 1, 2) AND b < 3",
        "has_all(a, 1, 2) AND b < 3",
        "t LIKE 'a%' AND b < 3",
        "t LIKE 'x' AND b < 3",
        "matches(t, 'x') AND b < 3 AND t = 'y'",
        "a IN (1, 2) AND b BETWEEN 1 AND 4",
    ],
)
def test_what_is_said_is_what_is_done(where: str) -> None:
    assert_agreement(parse(where))


@settings(deadline=None)
@given(expressions(max_leaves=6))
def test_what_is_said_is_what_is_done_with_anything(where: Expression) -> None:
    assert_agreement(where)
