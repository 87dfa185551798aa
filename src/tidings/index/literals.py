"""Literals as keys: what a term of a subscription compares with, in the numbers that the kernels compare."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np

from tidings.index.keys import EXACT_INTEGERS, SIGNIFICANT_DIGITS, SMALLEST_NORMAL, number_key, number_keys
from tidings.index.layout import LEAST, MOST, Array
from tidings.model.predicates import Between, Comparison, HasAll, HasAny, In, Not, Operator, Predicate
from tidings.model.values import AttributeType, Literal

ORDERED = (AttributeType.NUMBER, AttributeType.TIMESTAMP, AttributeType.BOOLEAN)  # strings have no order of keys
Key = TypeVar("Key", int, Array)
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


def keys_of(kind: AttributeType, values: Sequence[Any]) -> tuple[Array, Array]:
    """The keys of the values of literals, all of one type that is not a string, and which of them are long."""
    none = np.zeros(len(values), bool)
    if kind is AttributeType.BOOLEAN:
        return np.array(values, np.int64), none
    if kind is AttributeType.TIMESTAMP:
        return np.array([(value - _EPOCH) // _MICROSECOND for value in values], np.int64), none
    written = list(map(str, values))  # which is how a Decimal becomes a float too
    keys = number_keys(np.fromiter(map(float, written), np.float64, len(written)))
    if max(map(len, written), default=0) <= SIGNIFICANT_DIGITS and "E" not in "".join(written):  # nearly always
        return keys, none
    return keys, np.array([_is_long(value) for value in values], bool)


def keys_of_written(numbers: Sequence[str], negative: bool) -> Array:
    """The keys of numbers as they are written, all of them short (`language.terms`)."""
    values = np.fromiter(map(float, numbers), np.float64, len(numbers))
    return number_keys(-values if negative else values)


def bounds_of(operator: Operator, key: Key) -> tuple[Key | int, Key | int]:
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


def is_long(literal: Literal) -> bool:
    """Whether a literal is a number that float64 may take for another one."""
    value = literal.value
    return literal.type is AttributeType.NUMBER and isinstance(value, int | Decimal) and _is_long(value)


def _is_long(value: int | Decimal) -> bool:
    """Not whole numbers that are float64s, nor numbers of at most 15 digits, no two of which share one."""
    if isinstance(value, int):
        return abs(value) > EXACT_INTEGERS and int(float(value)) != value
    written = str(value)
    if len(written) <= SIGNIFICANT_DIGITS and "E" not in written:  # most of them
        return False
    digits = len("".join(map(str, value.as_tuple().digits)).strip("0"))
    return digits > SIGNIFICANT_DIGITS or abs(float(value)) < SMALLEST_NORMAL
