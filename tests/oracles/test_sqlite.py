"""SQLite agrees: comparisons, BETWEEN, IN, LIKE with ESCAPE, IS NULL and three-valued logic, in whole expressions.

Left out, because SQLite itself differs:
- a column holds values of its type only: between types SQLite converts, or says that numbers come before strings;
- NaN: SQLite stores NULL instead;
- booleans: SQLite has none, TRUE is the number 1;
- integer literals beyond 64 bits that are no float64: SQLite reads them as the nearest one, here they are exact;
- literals with a fraction of more than 15 digits: SQLite may read one as the float64 beside the nearest;
- NUL in a string: LIKE of SQLite ends there;
- ILIKE: SQLite has none, and its LIKE without case folds ASCII only.
"""

from __future__ import annotations

import sqlite3
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracles.sql import Column, Spelling, expressions_over, rows_of
from strategies import predicates_of
from tidings.errors import SubscriptionError
from tidings.language.parser import parse
from tidings.model.event import Event
from tidings.model.predicates import Attribute, Between, Comparison, Expression, In, IsNull, Operator, Predicate
from tidings.model.values import AttributeType, Literal, number, string
from tidings.reference import Reading, Truth, truth

STRINGS = ("", "a", "b", "ab", "aB", "%", "_", "a%", "!", "\\", "\\%", "'", "é", "e\u0301", "ß", "😀", "\uffff", "a\nb")
TEXTS = st.sampled_from(STRINGS) | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
INTEGERS = st.sampled_from((0, 1, 2, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63))) | st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False) | st.sampled_from((0.0, -0.0, 0.5, 94.2, 2.0**53, 2.0**63, float("inf")))
FRACTIONS = st.decimals(-1000, 1000, places=3)
BEYOND = st.sampled_from((2**63, -(2**64), 2**100))
COLUMNS = {
    "n": Column("INTEGER", INTEGERS, (INTEGERS | BEYOND | FRACTIONS).map(number)),
    "x": Column("REAL", FLOATS, (INTEGERS | BEYOND | FRACTIONS).map(number)),
    "s": Column("TEXT", TEXTS, TEXTS.map(string), has_patterns=True),
}


@pytest.fixture(scope="module")
def sqlite() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA case_sensitive_like = TRUE")
    connection.execute(f"CREATE TABLE event ({', '.join(f'{name} {column.type}' for name, column in COLUMNS.items())})")
    return connection


def answers(sqlite: sqlite3.Connection, rows: list[dict[str, Any]], text: str) -> list[Truth]:
    sqlite.execute("DELETE FROM event")
    sqlite.executemany("INSERT INTO event VALUES (:n, :x, :s)", rows)
    return [None if found is None else bool(found) for (found,) in sqlite.execute(f"SELECT {text} FROM event")]


def ours(expression: Expression, rows: list[dict[str, Any]]) -> list[Truth]:
    return [truth(expression, Reading(Event.of(row))) for row in rows]


@given(rows_of(COLUMNS), expressions_over(COLUMNS, TEXTS, ignore_case=False), st.randoms(use_true_random=False))
@example([{"n": 1, "x": 2.0**53, "s": ""}], Comparison(Attribute(("x",)), Operator.LESS, number(2**53 + 1)), Random(0))
def test_sqlite_agrees(
    sqlite: sqlite3.Connection, rows: list[dict[str, Any]], expression: Expression, random: Random
) -> None:
    text = Spelling(random).text(expression)
    assert ours(expression, rows) == answers(sqlite, rows, text)
    if "\\" not in text:
        assert parse(text) == expression


# Texts made of pieces of subscriptions in any order: what is accepted here is SQL, and means the same

PIECES = "n n x s s = <> < >= 1 2 0.5 'a' 'b' 'a%' AND OR NOT NOT ( ) ( ) , LIKE IS NULL IN BETWEEN TRUE ESCAPE '!'"
WHOLE = """
n = 1 AND x = 1
NOT n = 1
n BETWEEN 1 AND 2
n NOT BETWEEN 1 AND 2 AND x = 1
n IN ( 1 , 2 )
n NOT IN ( 1 )
s LIKE 'a%'
s NOT LIKE 'b'
s NOT LIKE 'a' ESCAPE '!'
n IS NULL
n IS NOT NULL OR x = 1
( n = 1 OR x < 2 ) AND NOT s = 'b'
1 < n
TRUE AND n = 1
n = 1 OR n = 2 AND s = 'a'
NOT ( n IS NULL )
""".strip().splitlines()
ROWS = [{"n": n, "x": x, "s": s} for n in (None, 0, 1, 2) for x in (None, 0.5, 1.0) for s in (None, "a", "b", "ab")]


def mixed(random: Random) -> str:
    pieces = random.choice(WHOLE).split()
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(pieces) + 1)
        match random.randrange(4):
            case 0:
                pieces.insert(at, random.choice(PIECES.split()))
            case 1:
                del pieces[at : at + 1]
            case 2:
                pieces[at : at + 1] = [random.choice(PIECES.split())]
            case _:
                pieces[at:at] = [random.choice(("AND", "OR", "NOT")), *random.choice(WHOLE).split()]
    return " ".join(pieces)


def typed(predicate: Predicate) -> bool:
    """Whether it asks a column for what the column holds."""
    holds_text = predicate.attribute.path == ("s",)
    match predicate:
        case Comparison(_, _, literal):
            literals: tuple[Literal, ...] = (literal,)
        case Between(_, low, high):
            literals = (low, high)
        case In(_, several):
            literals = several
        case _:
            return holds_text or isinstance(predicate, IsNull)
    return {literal.type for literal in literals} == {AttributeType.STRING if holds_text else AttributeType.NUMBER}


@pytest.mark.parametrize("seed", range(3))
def test_what_is_accepted_means_the_same_to_sqlite(sqlite: sqlite3.Connection, seed: int) -> None:
    random, compared = Random(seed), 0
    while compared < 400:
        text = mixed(random)
        try:
            expression = parse(text)
        except SubscriptionError:
            continue
        if all(map(typed, predicates_of(expression))):
            compared += 1
            assert (text, answers(sqlite, ROWS, text)) == (text, ours(expression, ROWS))
