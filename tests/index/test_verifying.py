"""What only the reference can decide: each question once for an event, together with whatever the kernels decide."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from index.test_index import Rows, compiled, expected, found
from tidings import Matcher, parse

OPAQUE = ("t RLIKE '{0}'", "t NOT RLIKE '{0}'", "t ILIKE '%{0}%'", "NOT t ILIKE '{0}'", "n = 0.1234567890123456{1}")
DECIDED = ("n < {1}", "u = '{0}'", "u <> '{0}'", "n IS NULL", "n = {1}")


def subscriptions(chance: random.Random, count: int) -> list[str]:
    def term(kinds: tuple[str, ...]) -> str:
        return chance.choice(kinds).format(chance.choice("abc"), chance.randrange(4))

    made = []
    for _ in range(count):
        parts = [term(OPAQUE), *(term(OPAQUE + DECIDED) for _ in range(chance.randrange(3)))]
        made.append(chance.choice((" AND ", " AND ", " OR ")).join(parts))
    return made


def rows(chance: random.Random, count: int) -> Rows:
    texts: tuple[Any, ...] = ("a", "B", "abc", None, 5, ["a", "C"], ["b", None], [])
    numbers: tuple[Any, ...] = (
        1,
        2.5,
        None,
        Decimal("0.12345678901234561"),
        [1, Decimal("0.12345678901234562")],
        2**60 + 1,
    )
    return [{"t": chance.choice(texts), "u": chance.choice(texts), "n": chance.choice(numbers)} for _ in range(count)]


@pytest.mark.parametrize("seed", range(3))
def test_they_are_answered_as_the_reference_does(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    wheres, events = [parse(where) for where in subscriptions(chance, 400)], rows(chance, 60)
    matcher = compiled(wheres)
    assert found(matcher, events) == expected(wheres, events)
    matcher.check()
    for number in range(0, 400, 3):
        matcher.remove(number)
    left = {(row, id) for row, id in expected(wheres, events) if id % 3}
    assert found(matcher, events) == left
    matcher.save(tmp_path / "saved")
    assert found(Matcher.load(tmp_path / "saved"), events) == left


def test_an_equal_question_is_asked_once_of_an_event() -> None:
    """Whatever else the subscriptions ask; a number has no pattern, which is a mismatch each time it is asked."""
    matcher = Matcher(uncompiled=0)
    matcher.add_many((number, f"t RLIKE 'a+' AND n < {number}") for number in range(1, 301))
    matcher.add_many((300 + number, f"t ILIKE 'A%' AND n < {number}") for number in range(1, 301))
    cost = matcher.match({"t": 5, "n": 0}).cost
    assert (cost.verified, cost.mismatches) == (600, 2)
    assert len(matcher.match({"t": "aa", "n": 200}).ids) == 200


def test_what_the_kernels_decide_is_not_asked() -> None:
    matcher = compiled([parse("n = 1 AND t = 'a'"), parse(f"n = {2**60}"), parse("t LIKE '%a_'")])
    for event in ({"n": 1, "t": "a"}, {"n": 2**60 + 1, "t": "aab"}, {"n": [1, 2**60], "t": 5}):
        assert matcher.match(event).cost.verified == 0
