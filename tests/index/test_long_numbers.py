"""Numbers that float64 does not tell apart: found as others are, by what lies beside their keys, and exactly."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from index.test_index import Rows, compiled, expected, found
from tidings import Matcher, parse

AROUND = (2**53, -(2**53), 2**60, 2**63, -(2**63), 2**64, 10**23, 10**300)
FRACTIONS = ("0.1", "0.1000000000000000055511151231257827", "9007199254740992.5", "5.00000000000000000001", "1.5e-308")
TEMPLATES = (
    *(f"a {operator} {{}}" for operator in ("=", "<>", "<", "<=", ">", ">=")),
    *("a BETWEEN {} AND {}", "a IN ({}, {}, {})", "has_any(a, {}, {})", "has_all(a, {}, {})", "array_contains(a, {})"),
    *("a = {} AND b = {}", "a = {} AND b <= {}", "a = {} AND b BETWEEN {} AND {}", "a = {} AND b >= {} AND b < {}"),
    *("a >= {} AND a < {}", "s = 'x' AND a > {}", "a = {} AND s <> 'x'", "a = {} OR b < {}"),
)


def literal(chance: random.Random) -> str:
    if chance.random() < 0.2:
        return chance.choice(FRACTIONS)
    return str(
        chance.choice(AROUND) + chance.choice((-1, 0, 0, 1, 2)) if chance.random() < 0.9 else chance.randrange(9)
    )


def subscriptions(chance: random.Random, count: int) -> list[str]:
    """Of few templates, so that tables of every kind have enough entries."""
    made = []
    for _ in range(count):
        template = chance.choice(TEMPLATES)
        where = template.format(*(literal(chance) for _ in range(template.count("{}"))))
        made.append(f"NOT ({where})" if chance.random() < 0.2 else where)
    return made


def number(chance: random.Random) -> Any:
    value = chance.choice(AROUND) + chance.choice((-1, 0, 0, 1, 2))
    return chance.choice((value, value, float(value), Decimal(value), Decimal(chance.choice(FRACTIONS)), 0.1, 10**400))


def rows(chance: random.Random, count: int) -> Rows:
    def some() -> Any:
        array = [number(chance) for _ in range(chance.randrange(6))]
        return chance.choice((number(chance), number(chance), array, [*array, None], None))

    return [{"a": some(), "b": some(), "s": chance.choice("xy")} for _ in range(count)]


@pytest.mark.parametrize("seed", range(4))
def test_they_are_compared_exactly(seed: int) -> None:
    chance = random.Random(seed)
    wheres, events = [parse(where) for where in subscriptions(chance, 1500)], rows(chance, 40)
    matcher = compiled(wheres)
    assert found(matcher, events) == expected(wheres, events)
    matcher.check()


@pytest.mark.parametrize(
    "kind", [pa.int64(), pa.uint64(), pa.float64(), pa.decimal128(38, 0), pa.decimal256(60, 3)], ids=str
)
def test_they_are_compared_exactly_in_columns(kind: pa.DataType) -> None:
    chance = random.Random(str(kind))
    low, high = {"int64": (-(2**63), 2**63), "uint64": (0, 2**64)}.get(str(kind), (-(10**30), 10**30))
    values = [value for each in AROUND for value in (each - 1, each, each + 1) if low <= value < high] + [None]
    cells = [float(value) if value and pa.types.is_floating(kind) else value for value in values]
    lists = [chance.sample(cells, k=chance.randrange(4)) for _ in cells]
    table = pa.table({"a": pa.array(cells, kind), "b": pa.array(lists, pa.list_(kind))})
    wheres = [parse(where) for where in subscriptions(chance, 1500)]
    answers = compiled(wheres).match_many(table)
    pairs = set(zip(answers["event"].to_pylist(), answers["subscription"].to_pylist(), strict=True))
    assert pairs == expected(wheres, table.to_pylist())


def test_identifiers_of_64_bits_are_looked_up() -> None:
    """Also such as share a float64: the index finds one candidate, or a few, and decides them itself."""
    first = 2**62
    matcher = Matcher(uncompiled=0)
    matcher.add_many((number, f"user = {first + number} AND price <= 5") for number in range(5000))
    result = matcher.match({"user": first + 1234, "price": 1})
    assert result.ids == [1234]
    assert result.cost.evaluated <= 1025, "those of one float64"
    assert matcher.explain(7, {"user": 7, "price": 7}).paths == (
        "by value of user, ordered by upper bound of price, then 1 check",
    )


def test_a_long_number_costs_nothing_where_nobody_compares_with_it() -> None:
    """Other attributes of its event are looked up as always, and nothing is asked of the reference."""
    matcher = Matcher(uncompiled=0)
    matcher.add_many((number, f"n <= {number}") for number in range(1000))
    matcher.add_many((1000 + number, f"tweet > {number} AND n < 0") for number in range(100))
    for tweet in (2**60 + 1, Decimal("0.12345678901234567")):
        result = matcher.match({"tweet": tweet, "n": 500})
        assert sorted(result.ids) == list(range(500, 1000))
        assert result.cost.evaluated <= 100, "those that name the number"


def test_what_only_the_reference_can_say_is_asked_of_what_leads_to_it() -> None:
    """A fraction of more digits than float64 tells apart makes that attribute uncertain, and no other."""
    wheres = [parse(where) for where in ("x = 0.1", "x < 0.1", "x <> 0.1", "NOT x = 0.1", "y = 1", "x IS NULL")]
    events: Rows = [
        {"x": Decimal.from_float(0.1), "y": 1},
        {"x": Decimal("0.1"), "y": 1},
        {"x": 0.1, "y": [1, Decimal.from_float(0.1)]},
    ]
    assert found(compiled(wheres), events) == expected(wheres, events)
