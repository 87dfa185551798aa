"""Which predicate of a conjunction is the access predicate, and which maker makes its keys."""

from __future__ import annotations

from collections import Counter

import pytest

from rendezvous.workloads import workload
from tidings.errors import SettingError
from tidings.language.parser import parse
from tidings.model.event import Event
from tidings.model.normal_form import conjunctions
from tidings.model.predicates import Conjunction, Predicate
from tidings.rendezvous.composite import AccessScheme, default_makers
from tidings.rendezvous.scheme import EVERYWHERE, Key


def conjunction(where: str) -> Conjunction:
    return conjunctions(parse(where))[0]


def keys(where: str, scheme: AccessScheme | None = None) -> set[str]:
    return {str(key) for key in (scheme or AccessScheme()).subscription_keys(conjunction(where))}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("low <= 95 AND symbol = 'IBM'", {"value symbol 'string IBM'"}),
        ("a IN (1, 2) AND b = 3", {"value b 'number 3.0'"}),
        ("has_all(tags, 'x') AND title LIKE 'abc%'", {"value tags 'string x'"}),
        ("price > 5 AND title LIKE 'Abc%'", {"prefix title 'abc'"}),
        ("title LIKE '%c' AND title LIKE 'ab%'", {"prefix title 'ab'"}),
        ("title LIKE 'a%stream%'", {"gram title 'eam'"}),
        ("title ILIKE '%Spark%'", {"gram title 'ark'"}),
        ("title LIKE 'ab%yz'", {"prefix title 'ab'", "suffix title 'zy'"}),
        ("flag AND title LIKE 'a%'", {"prefix title 'a'"}),
        ("flag AND NOT title LIKE 'a%'", {"value flag 'boolean true'"}),
        ("matches(body, 'spark') AND year = 2020", {"value year 'number 2020.0'"}),
        ("matches(body, 'spark')", {"word body 'spark'"}),
        ("similarity(body, 'spark') >= 0.5", {"word body 'spark'"}),
        ("xpath_boolean(doc, '/a')", {"document path doc '/a'"}),
        ("title RLIKE '^a'", {"everywhere"}),
        ("name >= 'M'", {"everywhere"}),
        ("a = 1 AND b BETWEEN 5 AND 4", set()),
    ],
)
def test_the_access_predicate_by_rank(where: str, expected: set[str]) -> None:
    assert keys(where) == expected


def test_no_predicate_at_all_is_everywhere() -> None:
    assert AccessScheme().subscription_keys(Conjunction(())) == {EVERYWHERE}


def test_ranges_become_intervals() -> None:
    found = AccessScheme().subscription_keys(conjunction("price BETWEEN 5 AND 6"))
    assert {(key.kind, key.attribute) for key in found} == {("number", "price")}
    assert found & AccessScheme().event_keys(Event.of({"price": 5.5}))
    assert not found & AccessScheme().event_keys(Event.of({"price": 7}))


def test_what_few_events_visit_is_preferred() -> None:
    """A symbol in most events, a price in few: then the range is the better access predicate."""
    sample = [Event.of({"symbol": "IBM", "price": price}) for price in range(100)]
    visits: Counter[Key] = Counter(key for event in sample for key in AccessScheme().event_keys(event))
    counted = {key: float(count) for key, count in visits.items()}
    scheme = AccessScheme(default_makers(counted), visits=counted)
    found = scheme.subscription_keys(conjunction("symbol = 'IBM' AND price BETWEEN 500 AND 600"))
    assert {key.kind for key in found} == {"number"}


def last_predicate(asked: Conjunction) -> Predicate | None:
    return asked.terms[-1]  # type: ignore[return-value]  # only asked of conjunctions without negations


def no_predicate(asked: Conjunction) -> Predicate | None:
    return None


def another_predicate(asked: Conjunction) -> Predicate | None:
    return parse("z = 1")  # type: ignore[return-value]  # it is one predicate


def test_the_choice_can_be_made_elsewhere() -> None:
    where = "symbol = 'IBM' AND title LIKE 'ab%'"
    assert keys(where, AccessScheme(choose=last_predicate)) == {"prefix title 'ab'"}
    assert keys(where, AccessScheme(choose=no_predicate)) == {"everywhere"}
    assert keys("a = 1 AND title RLIKE 'a'", AccessScheme(choose=last_predicate)) == {"everywhere"}


def test_a_choice_outside_of_the_conjunction_would_break_the_law() -> None:
    with pytest.raises(SettingError, match="the access predicate is one of the conjunction's predicates"):
        keys("a = 1", AccessScheme(choose=another_predicate))


def test_an_event_visits_all_its_attributes() -> None:
    scheme, event = AccessScheme(), workload("stock", 0, 1)[1][0]
    assert {key.attribute for key in scheme.event_keys(event)} >= {"symbol", "open", "low", "high", "volume"}
