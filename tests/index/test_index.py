"""The compiled index answers as the reference does: on random subscriptions, on crowded tables, while it changes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import events, expressions, matching_pairs
from tidings import Event, Matcher, parse, print_expression
from tidings.index import layout
from tidings.index.assembling import SMALLEST_GROUP, assembled
from tidings.index.placing import Placing
from tidings.index.slots import Slots
from tidings.model.predicates import Expression
from tidings.planning.statistics import EventStatistics, learn_from_events
from tidings.reference import Reading, truth

Rows = list[dict[str, Any]]


def expected(wheres: list[Expression], rows: Rows) -> set[tuple[int, int]]:
    read = [Event.of({**row, "id": number}) for number, row in enumerate(rows)]
    return {
        (row, number)
        for row, event in enumerate(read)
        for number, where in enumerate(wheres)
        if truth(where, Reading(event)) is True
    }


def found(matcher: Matcher, rows: Rows) -> set[tuple[int, int]]:
    table = matcher.match_many([{**row, "id": number} for number, row in enumerate(rows)], on_error=lambda _: None)
    pairs = list(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))
    assert len(pairs) == len(set(pairs)), "a pair is there twice"
    return set(pairs)


def compiled(wheres: list[Expression]) -> Matcher:
    matcher = Matcher(uncompiled=0)
    matcher.add_many((number, print_expression(where)) for number, where in enumerate(wheres))
    return matcher


@settings(max_examples=150)
@given(
    st.lists(matching_pairs(), min_size=1, max_size=5),
    st.lists(expressions(), max_size=5),
    st.lists(events(), max_size=3),
)
def test_it_answers_as_the_reference_does(
    pairs: list[tuple[Expression, dict[str, Any]]], others: list[Expression], more: Rows
) -> None:
    wheres, rows = [pair[0] for pair in pairs] + others, [pair[1] for pair in pairs] + more
    assert found(compiled(wheres), rows) == expected(wheres, rows)


# Many subscriptions on few attributes and values, so that tables, buckets and orders are all crowded

PREDICATES = [
    "symbol = '{s}'", "symbol IN ('{s}', '{t}')", "symbol LIKE '{s}%'", "symbol LIKE '%{s}'", "symbol LIKE '%{s}%'",
    "symbol LIKE '{s}%{t}'", "symbol LIKE '%{s}_{t}%'", "symbol <> '{s}'", "symbol > '{s}'",
    "symbol BETWEEN '{s}' AND '{t}'",
    "low <= {n}", "low > {n}", "high >= {n}", "high < {m}.5", "low BETWEEN {n} AND {m}", "low = {n}", "low <> {n}",
    "high IN ({n}, {m})", "low >= {n} AND low <= {m}", "active", "active = FALSE", "at < DATE '2026-01-1{d}'",
    "at >= TIMESTAMP '2026-01-1{d} 12:00:00'", "array_contains(tags, '{s}')", "has_all(tags, '{s}', '{t}')",
    "has_any(tags, '{s}', '{t}')", "low IS NULL", "tags IS NOT NULL", "symbol ILIKE '{s}%'", "matches(symbol, '{s}')",
]  # fmt: skip
ORDERED = [  # beside an equality
    "low <= {n}", "low > {n}", "low BETWEEN {n} AND {m}", "low >= {n} AND low < {m}",
    "low = {n}", "tags = '{t}'", "low = {n} AND tags = '{t}'", "tags = '{t}' AND high > {n}",
]  # fmt: skip
TEXTS = ["a", "b", "ab", "ba", "aba", "abab", "é", "éa", "aé", "abcabc", "bcab", ""]


def crowd(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        parts = [
            predicate.format(
                s=chance.choice(TEXTS[:-1]), t=chance.choice(TEXTS[:-1]), n=chance.randrange(10),
                m=chance.randrange(10), d=chance.randrange(10),
            )
            for predicate in (
                ("symbol = '{s}'", chance.choice(ORDERED)) if chance.random() < 0.7
                else chance.choices(PREDICATES, k=chance.choice((1, 1, 2, 2, 2, 3)))
            )
        ]  # fmt: skip
        negated = [f"NOT ({part})" if chance.random() < 0.1 else part for part in parts]
        made.append((" OR " if chance.random() < 0.15 else " AND ").join(f"({part})" for part in negated))
    return made


def crowd_events(count: int, seed: int) -> Rows:
    chance = random.Random(seed)

    def number() -> Any:
        return chance.choice(
            (chance.randrange(10), chance.randrange(10) + 0.5, None, "x", float("nan"), [1, 8], [], [3, None])
        )

    def text() -> Any:
        return chance.choice((*TEXTS, None, 5, ["a", "b"], ["aba", None], []))

    return [
        {
            "symbol": text(), "low": number(), "high": number(), "active": chance.choice((True, False, None, 1)),
            "at": chance.choice((None, *(f"2026-01-1{day}" for day in range(3)))) if chance.random() < 0.1
            else datetime(2026, 1, 10 + chance.randrange(10), 12),
            "tags": chance.choice((["a"], ["a", "ab"], ["b", "b"], [], None, "a", ["é", None], TEXTS)),
        }
        for _ in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_crowded_tables(seed: int) -> None:
    wheres, rows = [parse(where) for where in crowd(2200, seed)], crowd_events(60, seed)
    assert found(compiled(wheres), rows) == expected(wheres, rows)


def test_crowded_tables_by_every_kind_of_table() -> None:
    """That the test above has all of them, sliced and not: else it would show nothing of those it lacks."""
    placing = Placing(Slots(), EventStatistics())
    for where in crowd(2200, 1):
        placing.add(parse(where))
    segment, _ = assembled(placing)
    kinds = set(zip(segment.table_kind.tolist(), segment.table_sliced.tolist(), strict=True))
    assert {kind for kind, _ in kinds} == set(range(layout.SCAN + 1))
    for kind in (layout.VALUE, layout.VALUE_UPPER, layout.VALUE_LOWER, layout.UPPER, layout.LOWER, layout.PREFIX):
        assert (kind, 1) in kinds


def test_numbers_that_float64_cannot_tell_apart() -> None:
    whole = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 10**22, 10**23, 10**23 + 1]
    wheres = [parse(f"a {operator} {value}") for value in whole for operator in ("=", "<", "<=", ">", ">=", "<>")]
    wheres += [parse(f"NOT a {operator} {value}") for value in whole for operator in ("=", "<", ">=")]
    wheres += [parse("a = 0.1"), parse("a > 0.1"), parse("a BETWEEN 0.1 AND 0.10000000000000000001")]
    rows: Rows = (
        [{"a": value} for value in whole] + [{"a": float(value)} for value in whole] + [{"a": whole}, {"a": 0.1}]
    )
    assert found(compiled(wheres), rows) == expected(wheres, rows)


def test_statistics_change_the_access_and_not_the_answer() -> None:
    wheres, rows = [parse(where) for where in crowd(300, 9)], crowd_events(40, 9)
    known = learn_from_events(rows)
    for statistics in (EventStatistics(), known):
        placing = Placing(Slots(), statistics)
        for where in wheres:
            placing.add(where)
        assert len(assembled(placing)[0].entry_member) >= len(wheres) - 1


def test_adding_removing_and_merging_in_any_order() -> None:
    chance = random.Random(5)
    pool, rows = crowd(400, 5), crowd_events(25, 5)
    matcher = Matcher(uncompiled=7)
    model: dict[int, Expression] = {}
    for step in range(300):
        id = chance.randrange(60)
        if id in model and chance.random() < 0.4:
            matcher.remove(id)
            del model[id]
        else:
            where = chance.choice(pool)
            matcher.add(id, where, replace=True)
            model[id] = parse(where)
        if step % 60 == 59:
            ids = list(model)
            wanted = {(row, ids[number]) for row, number in expected(list(model.values()), rows)}
            assert found(matcher, rows) == wanted


def test_a_large_part_is_not_merged_with_small_ones_again_and_again() -> None:
    def sizes(matcher: Matcher) -> list[int]:
        assert matcher._index is not None
        return [len(part) for part in matcher._index.parts]

    matcher = Matcher(uncompiled=0)
    matcher.add_many((number, f"n = {number}") for number in range(3000))
    matcher.match({})  # which compiles them
    seen = []
    for change in range(1, 9):
        first = 3000 + 10 * change
        matcher.add_many((number, f"n = {number}") for number in range(first, first + 10))
        matcher.remove_many(range(10 * change, 10 * change + 10))
        matcher.match({})
        seen.append(sizes(matcher)[1:])
    few, some = [[10] * count for count in (1, 2, 3)], [40]
    assert seen == [*few, some, *(some + each for each in few), some + some]
    assert sizes(matcher)[0] == 3000 - 80
    assert sorted(matcher.match({"n": [15, 100, 2999, 3085]}).ids) == [100, 2999, 3085]


def test_lists_say_the_same_as_pairs() -> None:
    wheres, rows = [parse(where) for where in crowd(200, 3)], crowd_events(30, 3)
    matcher = compiled(wheres)
    table = matcher.match_many(rows, lists=True, on_error=lambda _: None)
    assert table["event"].to_pylist() == list(range(len(rows)))
    assert {(row, id) for row, ids in enumerate(table["subscriptions"].to_pylist()) for id in ids} == found(
        matcher, rows
    )
    assert Matcher().match_many([{}], lists=True).to_pylist() == [{"event": 0, "subscriptions": []}]


def test_one_event_with_very_many_matches() -> None:
    matcher = Matcher()
    matcher.add_many((number, f"price >= {number % 100} AND price <= 1000") for number in range(30_000))
    assert len(matcher.match({"price": 500}).ids) == 30_000
    assert matcher.match_many(pa.table({"price": [500.0, -1.0]})).num_rows == 30_000


def test_arrays_with_many_elements() -> None:
    """The elements of a long array are taken together; more of them than there is room for at first."""
    kinds = [
        ("tags = 't{0}'", "array_contains(tags, 't{0}')"),
        ("sizes = {0}", "sizes = {0}.5", "sizes = {0} AND a = 1"),
    ]
    wheres = [parse(kind.format(number)) for number in range(400) for some in kinds for kind in some]
    whole: Rows = [
        {"tags": [f"t{number}" for number in range(first, first + count)], "sizes": list(range(first, first + count))}
        for first, count in ((0, 3), (0, 4), (5, 17), (0, 400), (1, 399), (500, 50), (390, 20))
    ]
    odd: Rows = [
        {"sizes": [number / 2 for number in range(40)], "a": 1},
        {"sizes": [2**53 + 1, *range(20)], "tags": []},
    ]
    assert found(compiled(wheres), whole + odd) == expected(wheres, whole + odd)


def test_a_group_that_is_too_small_is_checked_instead() -> None:
    for count in (SMALLEST_GROUP - 1, SMALLEST_GROUP):
        wheres = [parse(f"s = 'x' AND n <= {number}") for number in range(count)]
        rows: Rows = [{"s": "x", "n": 30}, {"s": "x", "n": [70, 3]}, {"s": ["x", "y"], "n": 1}, {"s": "x"}, {"n": 1}]
        assert found(compiled(wheres), rows) == expected(wheres, rows)


def test_the_kernels_run_as_plain_python() -> None:
    """With the compiler off a fault in a kernel, such as an index out of range, is an error and not a wrong answer.

    Few subscriptions are enough for a table there, so that every kind is read.
    """
    code = (
        "from index.tables import EVERY_KIND, kinds_that_answered\n"
        "from index.test_index import *\n"
        "from tidings.index import assembling\n"
        "assembling.SMALLEST_GROUP = 2\n"
        "wheres, rows = [parse(where) for where in crowd(300, 11)], crowd_events(25, 11)\n"
        "matcher = compiled(wheres)\n"
        "answers = found(matcher, rows)\n"
        "assert answers == expected(wheres, rows)\n"
        "assert kinds_that_answered(matcher._index.parts, {id for _, id in answers}) == EVERY_KIND\n"
    )
    path = os.pathsep.join(sys.path)
    variables = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    ran = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
