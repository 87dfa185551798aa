"""Which predicate a conjunction is found by, how, at what cost, and what is said of one that can only be scanned."""

from __future__ import annotations

import pytest

from tidings import parse, print_expression
from tidings.planning.access import Access, AccessPath, Cost, plan
from tidings.planning.statistics import EventStatistics, learn_from_events, learn_from_subscriptions


def only(where: str, statistics: EventStatistics | None = None) -> Access:
    (access,) = plan(parse(where), statistics or EventStatistics()).accesses
    return access


@pytest.mark.parametrize(
    ("where", "path", "cost"),
    [
        ("a = 1", AccessPath.VALUE, Cost.DIRECT),
        ("a IN (1, 2)", AccessPath.VALUE, Cost.DIRECT),
        ("a < 1", AccessPath.RANGE, Cost.DIRECT),
        ("a BETWEEN 1 AND 2", AccessPath.RANGE, Cost.DIRECT),
        ("a LIKE 'x'", AccessPath.VALUE, Cost.DIRECT),
        ("a LIKE 'x%'", AccessPath.PREFIX, Cost.DIRECT),
        ("a LIKE '%x'", AccessPath.SUFFIX, Cost.DIRECT),
        ("a LIKE '%x%'", AccessPath.SUBSTRING, Cost.DIRECT),
        ("a LIKE 'x%y'", AccessPath.PREFIX, Cost.VERIFIED),
        ("a LIKE '%x_y%'", AccessPath.SUBSTRING, Cost.VERIFIED),
        ("array_contains(a, 1)", AccessPath.ELEMENT, Cost.DIRECT),
        ("has_all(a, 1, 2)", AccessPath.ELEMENT, Cost.VERIFIED),
        ("has_any(a, 1, 2)", AccessPath.ELEMENT, Cost.DIRECT),
        ("a = 1 AND b = 2", AccessPath.VALUE, Cost.DIRECT),
        ("a = 1 AND b = 'x'", AccessPath.VALUE, Cost.VERIFIED),
        ("a = 1 AND b = 2 AND c = 3", AccessPath.VALUE, Cost.VERIFIED),
        ("a = 1234567890123456789", AccessPath.VALUE, Cost.VERIFIED),
        ("a BETWEEN 1 AND 9007199254740992", AccessPath.RANGE, Cost.VERIFIED),
        ("a = 1 AND matches(t, 'x')", AccessPath.VALUE, Cost.VERIFIED),
        ("a <> 1", AccessPath.SCAN, Cost.SCANNED),
        ("NOT a = 1", AccessPath.SCAN, Cost.SCANNED),
        ("a IS NULL", AccessPath.SCAN, Cost.SCANNED),
        ("a ILIKE 'x%'", AccessPath.SCAN, Cost.SCANNED),
        ("a LIKE '%'", AccessPath.SCAN, Cost.SCANNED),
        ("matches(t, 'x')", AccessPath.WORDS, Cost.DIRECT),
        ("matches(t, 'x OR y AND NOT z')", AccessPath.WORDS, Cost.DIRECT),
        ("matches(t, 'NOT x')", AccessPath.SCAN, Cost.SCANNED),
        ("matches(t, 'x OR NOT y')", AccessPath.SCAN, Cost.SCANNED),
        ("similarity(t, 'x') >= 0.5", AccessPath.PROFILE, Cost.DIRECT),
        ("xpath_boolean(t, '/a')", AccessPath.DOCUMENT, Cost.DIRECT),
        ("a = 1 AND xpath_boolean(t, '/a')", AccessPath.VALUE, Cost.VERIFIED),
        ("TRUE", AccessPath.ALWAYS, Cost.DIRECT),
    ],
)
def test_paths(where: str, path: AccessPath, cost: Cost) -> None:
    access = only(where)
    assert (access.path, access.cost) == (path, cost)


def test_an_equality_is_chosen_before_a_range_where_nothing_is_known() -> None:
    access = only("low <= 95 AND symbol = 'IBM'")
    assert access.predicate == parse("symbol = 'IBM'")
    assert [print_expression(term) for term in access.ordered] == ["low <= 95"]
    assert access.residual == ()
    assert access.reason == "the most selective of 2, an estimated 0.003 of the events"


def test_the_most_selective_is_chosen_where_events_were_seen() -> None:
    events = [{"side": "buy" if n % 2 else "sell", "price": n, "name": f"n{n % 50}"} for n in range(1000)]
    known = learn_from_events(events)
    assert only("name LIKE 'n4%' AND price < 10", known).predicate == parse("price < 10")
    assert only("name LIKE 'n4%' AND price < 900", known).predicate == parse("name LIKE 'n4%'")
    assert only("side = 'buy' AND name = 'n1'", known).predicate == parse("name = 'n1'")
    assert only("name LIKE 'n4%' AND side = 'buy'", known).predicate == parse("name LIKE 'n4%'")
    assert only("never = 1 AND name = 'n1'", known).predicate == parse("never = 1")


def test_what_orders_the_subscriptions_of_a_value_counts_too() -> None:
    events = [{"side": "buy" if n % 2 else "sell", "price": n, "name": f"n{n % 50}"} for n in range(1000)]
    known = learn_from_events(events)
    assert only("side = 'buy' AND price < 10", known).predicate == parse("side = 'buy'")  # and by price among them
    assert only("side = 'buy' AND price < 10", known).share == pytest.approx(0.5 * 0.01, rel=0.2)
    assert only("name = 'n1' AND side = 'buy'", known).share == pytest.approx(0.02 * 0.5)
    assert only("side = 'buy' AND name > 'n1'", known).share == pytest.approx(0.5)  # ranges of strings are verified


def test_subscriptions_themselves_say_what_is_worth_looking_up() -> None:
    asked = [parse(f"symbol = 'S{n}' AND side = 'buy'") for n in range(100)]
    known = learn_from_subscriptions(asked)
    assert only("side = 'buy' AND symbol = 'S1'", known).predicate == parse("symbol = 'S1'")


def test_each_conjunction_has_its_own_access_and_scans_are_warned_of() -> None:
    found = plan(parse("a = 1 OR b > 2 OR NOT c = 3"))
    assert [access.path for access in found.accesses] == [AccessPath.VALUE, AccessPath.RANGE, AccessPath.SCAN]
    reason = "it has nothing to look up: no equality, range, list, piece of a string, element, words or path"
    assert found.warnings == (f"NOT c = 3 can only be scanned: {reason}",)
    assert plan(parse("FALSE")).accesses == ()
