"""Literals as keys: what a term of a subscription compares with, in the numbers that the kernels compare."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from tidings.index.keys import number_keys
from tidings.index.layout import LEAST, MOST, Array
from tidings.index.numbers import number_of
from tidings.model.moments import microseconds
from tidings.model.predicates import Between, Comparison, Operator, Predicate, literals_of
from tidings.model.values import AttributeType, Literal
from tidings.planning.long_numbers import SIGNIFICANT_DIGITS, is_long

ORDERED = (AttributeType.NUMBER, AttributeType.TIMESTAMP, AttributeType.BOOLEAN)  # strings have no order of keys
Key = TypeVar("Key", int, Array)


def key_of(literal: Literal) -> int:
    value = literal.value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime):
        return microseconds(value)
    assert isinstance(value, int | Decimal)
    key, _, _ = number_of(value)
    return key


def keys_of(kind: AttributeType, values: Sequence[Any]) -> tuple[Array, Array]:
    """The keys of the values of literals, all of one type that is not a string, and which of them are long."""
    none = np.zeros(len(values), bool)
    if kind is AttributeType.BOOLEAN:
        return np.array(values, np.int64), none
    if kind is AttributeType.TIMESTAMP:
        return np.array([microseconds(value) for value in values], np.int64), none
    written = list(map(str, values))  # which is how a Decimal becomes a float too
    keys = number_keys(np.fromiter(map(float, written), np.float64, len(written)))
    if max(map(len, written), default=0) <= SIGNIFICANT_DIGITS and "E" not in "".join(written):  # nearly always
        return keys, none
    return keys, np.array([is_long(Literal(kind, value)) for value in values], bool)


def keys_of_written(numbers: Sequence[str], negative: bool) -> Array:
    """The keys of numbers as they are written, all of them short (`language.terms`)."""
    values = np.fromiter(map(float, numbers), np.float64, len(numbers))
    return number_keys(-values if negative else values)


def bounds_of(operator: Operator, key: Key) -> tuple[Key | int, Key | int]:
    """A comparison as a closed interval of keys: keys are whole numbers, so x < c is x <= c - 1.

    Not of long numbers: what is below one of these may have its key.
    """
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


def long_intervals(predicate: Predicate) -> tuple[int, ...] | None:
    """What a comparison with long numbers asks for, as intervals of keys and rests; None if only the reference can say.

    Whatever is compared with it is a whole number there, or INEXACT, so that the next rest is the next number.
    """
    numbers = [number_of(literal.value) for literal in literals_of(predicate)]  # type: ignore[arg-type]  # all of one type
    if not all(exact for _, _, exact in numbers):
        return None
    points = [(key, rest) for key, rest, _ in numbers]
    match predicate:
        case Comparison(_, operator, _):
            return _compared(operator, *points[0])
        case Between():
            return (*points[0], *points[1])
        case _:
            return tuple(chain.from_iterable((*point, *point) for point in sorted(set(points))))


def _compared(operator: Operator, key: int, rest: int) -> tuple[int, ...]:
    match operator:
        case Operator.EQUAL:
            return key, rest, key, rest
        case Operator.NOT_EQUAL:
            return *_compared(Operator.LESS, key, rest), *_compared(Operator.GREATER, key, rest)
        case Operator.LESS:
            return LEAST, 0, key, rest - 1
        case Operator.LESS_OR_EQUAL:
            return LEAST, 0, key, rest
        case Operator.GREATER:
            return key, rest + 1, MOST, 0
        case Operator.GREATER_OR_EQUAL:
            return key, rest, MOST, 0
