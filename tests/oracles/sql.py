"""Expressions over typed columns, and their text in standard SQL, spelled in varying ways.

The text is at once SQL of SQLite and DuckDB and a subscription, except where a string holds a backslash, which in a
subscription (as in Spark) begins an escape. Each column has one type, and literals are of it: where an engine would
convert between types, this language says unknown, so there is nothing to compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import strategies as st

from strategies import expressions
from tidings.model.predicates import (
    And,
    Attribute,
    Between,
    Comparison,
    Constant,
    Expression,
    In,
    IsNull,
    Like,
    Not,
    Operator,
    Or,
    Wildcard,
    like,
)
from tidings.model.values import Literal


@dataclass(frozen=True)
class Column:
    """A column's type in SQL, what its cells hold besides NULL, and what they are compared with."""

    type: str
    cells: st.SearchStrategy[Any]
    literals: st.SearchStrategy[Literal]
    has_patterns: bool = False


def rows_of(columns: Mapping[str, Column]) -> st.SearchStrategy[list[dict[str, Any]]]:
    cells = {name: st.none() | column.cells | column.cells for name, column in columns.items()}
    return st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=4)


def expressions_over(
    columns: Mapping[str, Column], texts: st.SearchStrategy[str], *, ignore_case: bool
) -> st.SearchStrategy[Expression]:
    """Comparisons, BETWEEN, IN, LIKE, IS NULL under AND, OR and NOT, in any nesting."""
    kinds = [st.one_of(_predicates(Attribute((name,)), column)) for name, column in columns.items()]
    patterns = st.lists(st.sampled_from(Wildcard) | texts, max_size=4).map(like)
    folded = st.booleans() if ignore_case else st.just(False)
    kinds += [
        st.builds(Like, st.just(Attribute((name,))), patterns, folded)
        for name, column in columns.items()
        if column.has_patterns
    ]
    return expressions(st.sampled_from(kinds).flatmap(lambda kind: kind), max_leaves=6)


def _predicates(attribute: Attribute, column: Column) -> list[st.SearchStrategy[Expression]]:
    asked, literals = st.just(attribute), column.literals
    return [
        st.builds(Comparison, asked, st.sampled_from(Operator), literals),
        st.builds(Comparison, asked, st.sampled_from(Operator), literals),
        st.builds(Between, asked, literals, literals),
        st.builds(In, asked, st.lists(literals, min_size=1, max_size=4).map(tuple)),
        st.builds(IsNull, asked),
    ]


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_BINDING = {Or: 1, And: 2, Not: 3}  # what binds tighter has the higher number


class Spelling:
    """Writes an expression as SQL, each time choosing among the ways to say the same."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def text(self, expression: Expression, binding: int = 0) -> str:
        own = _BINDING.get(type(expression), 4)
        text = self._plain(expression, own)
        return f"({text})" if own < binding or self._random.random() < 0.1 else text

    def _plain(self, expression: Expression, own: int) -> str:
        match expression:
            case And(parts) | Or(parts):
                word = self._word(" AND " if isinstance(expression, And) else " OR ")
                return word.join(self.text(part, own + 1) for part in parts)
            case Not(Between() | In() | Like() | IsNull() as part) if self._random.random() < 0.5:
                return self._predicate(part, "NOT ")
            case Not(part):
                return self._word("NOT ") + self.text(part, own + 1)
            case Constant(value):
                return self._word("TRUE" if value else "FALSE")
            case _:
                return self._predicate(expression, "")

    def _predicate(self, predicate: Expression, negated: str) -> str:
        match predicate:
            case Comparison(attribute, operator, literal):
                return self._compared(str(attribute), operator, literal_text(literal))
            case Between(attribute, low, high):
                words = self._word(f"{negated}BETWEEN"), self._word("AND")
                return f"{attribute} {words[0]} {literal_text(low)} {words[1]} {literal_text(high)}"
            case In(attribute, literals):
                return f"{attribute} {self._word(f'{negated}IN')} ({', '.join(map(literal_text, literals))})"
            case IsNull(attribute):
                return f"{attribute} {self._word(f'IS {negated}NULL')}"
            case Like(attribute, pattern, ignore_case):
                mark = self._random.choice("!\\~e" if "\\" in str(pattern) else "!~e")
                written = "".join(self._escaped(part, mark) for part in pattern)
                word = self._word(negated + ("ILIKE" if ignore_case else "LIKE"))
                return f"{attribute} {word} {string_text(written)} {self._word('ESCAPE')} {string_text(mark)}"
        raise AssertionError(predicate)  # pragma: no cover - `expressions_over` makes no other kinds

    def _compared(self, attribute: str, operator: Operator, literal: str) -> str:
        sign = self._random.choice(("<>", "!=")) if operator is Operator.NOT_EQUAL else str(operator)
        if self._random.random() < 0.2:
            return f"{literal} {_FLIPPED.get(sign, sign)} {attribute}"
        return f"{attribute} {sign} {literal}"

    def _escaped(self, part: str | Wildcard, mark: str) -> str:
        if isinstance(part, Wildcard):
            return part.value
        return "".join(mark + character if character in ("%", "_", mark) else character for character in part)

    def _word(self, word: str) -> str:
        return self._random.choice((word, word, word.lower(), word.title()))


def literal_text(literal: Literal) -> str:
    value = literal.value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, datetime):
        moment = value.replace(tzinfo=None)
        return f"DATE '{moment.date()}'" if moment.time() == time() else f"TIMESTAMP '{moment}'"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def string_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
