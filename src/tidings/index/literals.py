"""Literals as keys: what a term of a subscription compares with, in the numbers that the kernels compare."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from tidings.index.keys import EXACT_INTEGERS, SIGNIFICANT_DIGITS, SMALLEST_NORMAL, number_key
from tidings.index.layout import LEAST, MOST
from tidings.model.predicates import Between, Comparison, HasAll, HasAny, In, Not, Operator, Predicate
from tidings.model.values import AttributeType, Literal

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def key_of(literal: Literal) -> int:
    value = literal.value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime):
        return (value - _EPOCH) // _MICROSECOND
    assert isinstance(value, int | Decimal)
    return number_key(float(value))


def bounds_of(operator: Operator, key: int) -> tuple[int, int]:
    """A comparison as a closed interval of keys: keys are whole numbers, so x < c is x <= c - 1."""
    match operator:
        case Operator.EQUAL:
            return key, key
        case Operator.LESS:
            return LEAST, key - 1
        case Operator.LESS_OR_EQUAL:
            return LEAST, key
        case Operator.GREATER:
            return key + 1, MOST
        case _:
            return key, MOST


def too_long(term: Predicate | Not) -> bool:
    """Whether a term compares with a number that float64 does not tell from its neighbours."""
    predicate = term.part if isinstance(term, Not) else term
    match predicate:
        case Comparison(_, _, literal):
            return is_long(literal)
        case Between(_, low, high):
            return is_long(low) or is_long(high)
        case In(_, literals) | HasAll(_, literals) | HasAny(_, literals):
            return any(map(is_long, literals))
        case _:
            return False


def _short(written: str) -> bool:
    return len(written) <= SIGNIFICANT_DIGITS and "E" not in written


def is_long(literal: Literal) -> bool:
    """Whether float64 may take the number for another one.

    It does not of whole numbers that are float64s, nor of numbers of at most 15 digits, no two of which share one.
    """
    value = literal.value
    if type(value) is str or (type(value) is Decimal and _short(str(value))):  # most literals
        return False
    if literal.type is not AttributeType.NUMBER or not isinstance(value, int | Decimal):
        return False
    if isinstance(value, int):
        return abs(value) > EXACT_INTEGERS and int(float(value)) != value
    digits = len("".join(map(str, value.as_tuple().digits)).strip("0"))
    return digits > SIGNIFICANT_DIGITS or abs(float(value)) < SMALLEST_NORMAL
