"""Labels of values, and which elements a predicate is stored under."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tidings.language.parser import parse
from tidings.model.predicates import Attribute, HasAll, HasAny
from tidings.rendezvous.scheme import NEVER, Key
from tidings.rendezvous.sets import LONGEST, Elements, value_label


def labels(where: str, maker: Elements | None = None) -> set[str] | None:
    found = (maker or Elements()).access(parse(where))  # type: ignore[arg-type]  # each is one predicate
    return None if found is None else {key.label for key in found.keys}


@pytest.mark.parametrize(
    "equal",
    [
        (1, 1.0, Decimal("1.0"), Decimal("1")),
        (0, -0.0, Decimal("-0"), 0.0),
        (Decimal("94.2"), 94.2, Decimal("94.20")),
        (2**53 + 1, Decimal(2**53 + 1)),
        (10**400, Decimal("1e400")),
    ],
)
def test_numbers_that_compare_equal_have_one_label(equal: tuple[Any, ...]) -> None:
    assert len({value_label(value) for value in equal}) == 1


def test_types_do_not_meet() -> None:
    moment = datetime(2026, 1, 31, tzinfo=UTC)
    values: tuple[Any, ...] = (1, True, "1", "1.0", moment, str(moment), moment.isoformat(), "true", b"1")
    assert len({value_label(value) for value in values}) == len(values)


def test_long_strings_are_cut() -> None:
    assert value_label("a" * 10_000) == value_label("a" * LONGEST)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("x = 5", {"number 5.0"}),
        ("x IN (1, 1.5)", {"number 1.0", "number 1.5"}),
        ("has_any(x, 'a', 'b')", {"string a", "string b"}),
        ("array_contains(x, 'a')", {"string a"}),
        ("x LIKE 'abc'", {"string abc"}),
        ("x", {"boolean true"}),
        ("x <> TRUE", {"boolean false"}),
        ("x < FALSE", set()),
        ("x BETWEEN FALSE AND TRUE", {"boolean false", "boolean true"}),
        ("x = DATE '2026-01-31'", {"moment 2026-01-31T00:00:00+00:00"}),
        ("x < 5", None),
        ("x <> 5", None),
        ("x ILIKE 'abc'", None),
        ("x LIKE 'abc%'", None),
        ("x IS NULL", None),
    ],
)
def test_elements_of_predicates(where: str, expected: set[str] | None) -> None:
    assert labels(where) == expected


def test_all_of_several_are_stored_under_the_rarest() -> None:
    visits = {Key("value", "x", f"string {word}"): count for word, count in (("a", 3.0), ("b", 1.0), ("c", 2.0))}
    assert labels("has_all(x, 'a', 'b', 'c')", Elements(visits)) == {"string b"}
    assert labels("has_all(x, 'a', 'b', 'd')", Elements(visits)) == {"string d"}
    assert labels("has_all(x, 'b', 'a')") == {"string a"}
    assert labels("has_all(x, 'b', 'bb')") == {"string bb"}


def test_all_of_nothing_is_not_indexed_and_any_of_nothing_never_holds() -> None:
    assert Elements().access(HasAll(Attribute(("x",)), ())) is None
    assert Elements().access(HasAny(Attribute(("x",)), ())) == NEVER
