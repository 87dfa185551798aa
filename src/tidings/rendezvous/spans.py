"""The stretches of values that can satisfy a predicate: what ranges and matching trees are made of.

Invariant: a value that satisfies the predicate lies in one of its spans, in the order in which `reference` compares. A
number written with a fraction has two meanings there, itself and, beside a float64, the nearest float64: a span reaches
over both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tidings.model.predicates import Between, Comparison, HasAll, HasAny, In, Like, Operator, Predicate, Wildcard
from tidings.model.values import AttributeType, Literal

_LAST_CHARACTER = chr(sys.maxunicode)


@dataclass(frozen=True, slots=True)
class Span:
    """Values of one type between two ends, of which None is unbounded and an open one does not belong to it."""

    type: AttributeType
    low: Any = None
    high: Any = None
    low_open: bool = False
    high_open: bool = False


def spans_of(predicate: Predicate) -> tuple[Span, ...] | None:
    """The spans; none at all if no value satisfies the predicate; None where it has no spans, as a pattern has not.

    For HAS_ALL they are those of its first literal: an array that holds all holds that one.
    """
    match predicate:
        case Comparison(_, operator, literal):
            return _compared(operator, literal)
        case Between(_, low, high):
            return _between(low, high)
        case In(_, literals) | HasAny(_, literals):
            return tuple(_equal(literal) for literal in literals)
        case HasAll(_, literals) if literals:
            return (_equal(literals[0]),)
        case Like(_, pattern, False):
            return _beginning(pattern)
        case _:
            return None


def nearest_float(value: int | float | Decimal) -> float:
    """The nearest float64, infinite beyond its ends. The same for all numbers that compare equal, 0 and -0 included."""
    try:
        return float(value) + 0.0
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _meanings(literal: Literal) -> tuple[Any, Any]:
    """What the literal means to exact values, and what it means to a float64."""
    value = literal.value
    return value, float(value) if isinstance(value, Decimal) else value


def _equal(literal: Literal) -> Span:
    meanings = _meanings(literal)
    return Span(literal.type, min(meanings), max(meanings))


def _compared(operator: Operator, literal: Literal) -> tuple[Span, ...]:
    both = _equal(literal)
    below = Span(literal.type, high=both.high, high_open=True)
    above = Span(literal.type, low=both.low, low_open=True)
    match operator:
        case Operator.EQUAL:
            return (both,)
        case Operator.NOT_EQUAL:
            return below, above
        case Operator.LESS:
            return (below,)
        case Operator.LESS_OR_EQUAL:
            return (Span(literal.type, high=both.high),)
        case Operator.GREATER:
            return (above,)
        case Operator.GREATER_OR_EQUAL:
            return (Span(literal.type, low=both.low),)


def _between(low: Literal, high: Literal) -> tuple[Span, ...]:
    """Nothing only if the ends are crossed in both meanings: two literals can be apart and their float64 the same."""
    if low.type is not high.type:
        return ()
    ends = [(a, b) for a, b in zip(_meanings(low), _meanings(high), strict=True) if a <= b]
    return (Span(low.type, min(a for a, _ in ends), max(b for _, b in ends)),) if ends else ()


def _beginning(pattern: Iterable[str | Wildcard]) -> tuple[Span, ...] | None:
    parts = tuple(pattern)
    if not parts or (len(parts) == 1 and isinstance(parts[0], str)):
        text = "".join(part for part in parts if isinstance(part, str))
        return (Span(AttributeType.STRING, text, text),)
    if isinstance(parts[0], str):
        return (Span(AttributeType.STRING, parts[0], _after_all_with(parts[0]), high_open=True),)
    return None


def _after_all_with(prefix: str) -> str | None:
    """The least string above all that begin with the prefix; None if there is none."""
    shorter = prefix.rstrip(_LAST_CHARACTER)
    if not shorter:
        return None
    following = ord(shorter[-1]) + 1
    return shorter[:-1] + chr(0xE000 if 0xD800 <= following < 0xE000 else following)  # no text holds a surrogate
