"""DuckDB agrees: comparisons, BETWEEN, IN, LIKE and ILIKE with ESCAPE, IS NULL, three-valued logic, dates and times.

Left out, because DuckDB itself differs:
- a column holds values of its type only: between types DuckDB converts, where this language says unknown;
- NaN: DuckDB orders it above all numbers and equal to itself, here every comparison with it is unknown;
- integer literals beyond 2^53 against a float: DuckDB takes the nearest float64, here they are exact;
- integers beyond 64 bits beside literals with a fraction: no DECIMAL of DuckDB holds both;
- ILIKE beyond ASCII: DuckDB folds by lower case alone (ẞ and ß, Σ and ς differ there).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.sql import Column, Spelling, expressions_over, rows_of
from tidings.language.parser import parse
from tidings.model.event import Event
from tidings.model.predicates import Expression
from tidings.model.values import boolean, number, string, timestamp
from tidings.reference import Reading, truth

STRINGS = ("", "a", "b", "ab", "aB", "ABC", "%", "_", "a%", "!", "\\", "\\%", "'", "a\nb", "z")
TEXTS = st.sampled_from(STRINGS) | st.text(st.characters(max_codepoint=127, exclude_characters="\0"), max_size=4)
WIDE_TEXTS = TEXTS | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
INTEGERS = st.sampled_from((0, 1, 2, -1, 2**53 + 1, 2**63 - 1, -(2**63))) | st.integers(-(2**63), 2**63 - 1)
HUGE = INTEGERS | st.integers(-(10**37), 10**37)
EXACT = st.integers(-(2**53), 2**53)
FLOATS = st.floats(allow_nan=False) | st.sampled_from((0.0, -0.0, 0.5, 94.2, 2.0**53, float("inf")))
FRACTIONS = st.decimals(-1000, 1000, places=3)
TIMES = st.sampled_from((datetime(2026, 1, 31), datetime(2026, 1, 31, 12, 0, 0, 1), datetime(1, 1, 1))) | st.datetimes()
MOMENTS = (TIMES | st.dates()).map(timestamp)
COLUMNS = {
    "n": Column("BIGINT", INTEGERS, (INTEGERS | FRACTIONS).map(number)),
    "huge": Column("HUGEINT", HUGE, HUGE.map(number)),
    "x": Column("DOUBLE", FLOATS, (EXACT | FRACTIONS).map(number)),
    "amount": Column("DECIMAL(18, 3)", FRACTIONS, (st.integers(-1000, 1000) | FRACTIONS).map(number)),
    "s": Column("VARCHAR", TEXTS, WIDE_TEXTS.map(string), has_patterns=True),
    "flag": Column("BOOLEAN", st.booleans(), st.booleans().map(boolean)),
    "day": Column("DATE", st.dates() | st.just(datetime(2026, 1, 31).date()), MOMENTS),
    "moment": Column("TIMESTAMP", TIMES, MOMENTS),
}


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as connection:
        columns = ", ".join(f"{name} {column.type}" for name, column in COLUMNS.items())
        connection.execute(f"CREATE TABLE event (number INTEGER, {columns})")
        yield connection


def answers(database: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]], text: str) -> list[Any]:
    database.execute("DELETE FROM event")
    places = ", ".join("?" for _ in COLUMNS)
    for number_of_row, row in enumerate(rows):
        database.execute(f"INSERT INTO event VALUES ({number_of_row}, {places})", [row[name] for name in COLUMNS])
    return [found for (found,) in database.execute(f"SELECT {text} FROM event ORDER BY number").fetchall()]


@given(rows_of(COLUMNS), expressions_over(COLUMNS, TEXTS, ignore_case=True), st.randoms(use_true_random=False))
def test_duckdb_agrees(
    database: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]], expression: Expression, random: Random
) -> None:
    text = Spelling(random).text(expression)
    ours = [truth(expression, Reading(Event.of(row))) for row in rows]
    assert ours == answers(database, rows, text)
    if "\\" not in text:
        assert parse(text) == expression


ZONES = ("", "Z", "+00:00", "+02:00", "-05:30", "Europe/Athens", "America/New_York", "Asia/Kolkata", "UTC")


@pytest.mark.parametrize("zone", ZONES)
def test_duckdb_reads_zones_alike(database: duckdb.DuckDBPyConnection, zone: str) -> None:
    try:
        database.execute("SET TimeZone = 'UTC'")
    except duckdb.Error as error:
        pytest.skip(f"this DuckDB has no time zones: {error}")
    for clock in ("2026-01-31 12:00:00", "2026-07-31 23:59:59.999999", "1999-12-31 00:00:00"):
        text = f"{clock} {zone}" if zone[1:].isalpha() or "/" in zone else clock + zone
        (theirs,) = database.execute(f"SELECT epoch_us(TIMESTAMPTZ '{text}')").fetchone() or (None,)
        comparison: Any = parse(f"at = TIMESTAMP '{text}'")
        since = comparison.literal.value - datetime(1970, 1, 1, tzinfo=UTC)
        assert (text, round(since.total_seconds() * 1_000_000)) == (text, theirs)
