"""The values that events carry and subscriptions name, and their types.

Every value in the model is in one normal form: None, bool, int, float, Decimal, str, bytes, a datetime in UTC, a tuple
(an array) or a dict (a record). `normal` brings what callers hand over into that form; what has none becomes
`Unreadable`, which carries the reason, so that one bad attribute never costs the rest of its event.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

MAXIMUM_RECORD_DEPTH = 64


class AttributeType(StrEnum):
    """The types of the language. `text` and `xml` are strings as `matches` and `xpath_boolean` read them."""

    NUMBER = "number"
    STRING = "string"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"
    ARRAY = "array"
    RECORD = "record"
    BYTES = "bytes"
    TEXT = "text"
    XML = "xml"


@dataclass(frozen=True, slots=True)
class Literal:
    """A value written in a subscription: its type, and an int, Decimal, str, bool or a datetime in UTC.

    The type is kept because in Python True == 1, and in the language a boolean never equals a number. A number with no
    fraction is an int whichever way it was written; only numbers with a fraction are Decimals.
    """

    type: AttributeType
    value: int | Decimal | str | bool | datetime


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a value that has no meaning in the model, and says why. Every predicate on it is unknown."""

    reason: str


def number(value: int | float | Decimal) -> Literal:
    """The literal of a number; a float stands for the shortest decimal that reads back as it."""
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal) and value == value.to_integral_value():
        value = int(value)
    return Literal(AttributeType.NUMBER, value)


def string(value: str) -> Literal:
    return Literal(AttributeType.STRING, value)


def boolean(value: bool) -> Literal:
    return Literal(AttributeType.BOOLEAN, value)


def timestamp(value: date) -> Literal:
    return Literal(AttributeType.TIMESTAMP, instant(value))


def instant(value: date) -> datetime:
    """A moment in UTC: a date is its midnight, a time without a zone is taken as UTC."""
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if type(value) is not datetime:  # a subclass, such as that of pandas
        clock = (value.hour, value.minute, value.second, value.microsecond)
        value = datetime(value.year, value.month, value.day, *clock, value.tzinfo, fold=value.fold)
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value.astimezone(UTC)


def type_of(value: object) -> AttributeType:
    """The type of a value in normal form, which is neither None nor Unreadable."""
    return _TYPES[type(value)]


def normal(value: Any, depth: int = 0) -> Any:
    """The normal form of what a caller handed over, or Unreadable."""
    if value is None or type(value) in _UNCHANGED:
        return Unreadable("it is a signalling NaN") if type(value) is Decimal and value.is_snan() else value
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, date):
        if value != value:  # the missing time of pandas
            return None
        try:
            return instant(value)
        except OverflowError:
            return Unreadable("the time lies outside the years 1 to 9999 in UTC")
    if depth >= MAXIMUM_RECORD_DEPTH:
        return Unreadable(f"it is nested deeper than {MAXIMUM_RECORD_DEPTH} levels")
    if isinstance(value, Mapping):
        return _record(value, depth)
    if isinstance(value, (list, tuple, set, frozenset)):
        return tuple(normal(element, depth + 1) for element in value)
    return _foreign(value, depth)


_UNCHANGED = frozenset({bool, int, float, Decimal, bytes, Unreadable})
_TYPES = {
    bool: AttributeType.BOOLEAN,
    int: AttributeType.NUMBER,
    float: AttributeType.NUMBER,
    Decimal: AttributeType.NUMBER,
    str: AttributeType.STRING,
    bytes: AttributeType.BYTES,
    datetime: AttributeType.TIMESTAMP,
    tuple: AttributeType.ARRAY,
    dict: AttributeType.RECORD,
}


def _string(value: str) -> str | Unreadable:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        return Unreadable(f"character {error.start} is half of a surrogate pair, so it is not Unicode text")
    return str(value)


def _record(value: Mapping[Any, Any], depth: int) -> dict[str, Any] | Unreadable:
    for name in value:
        if not isinstance(name, str):
            return Unreadable(f"a record's field names are strings, and one is {name!r} ({type(name).__name__})")
    return {name: normal(field, depth + 1) for name, field in value.items()}


def _times(value: Any, depth: int) -> Any:
    """numpy's times in microseconds: it gives numbers for those that have no datetime."""
    if isinstance(value, list):
        return tuple(_times(element, depth + 1) for element in value)
    if isinstance(value, int):
        return Unreadable("the time lies outside the years 1 to 9999 in UTC")
    return normal(value, depth)


def _foreign(value: Any, depth: int) -> Any:
    """Numbers of other libraries (numpy's have `item` and `tolist`) and subclasses of what is known."""
    for kind in (int, float, Decimal):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    dtype = getattr(getattr(value, "dtype", None), "kind", None)
    if dtype == "m":
        return Unreadable("a span of time is none of the types that an attribute can have")
    if dtype == "M":
        return _times(value.astype("datetime64[us]").tolist(), depth)
    plain = getattr(value, "tolist", None)
    if callable(plain):
        converted = plain()
        if converted is not value and type(converted) is not type(value):
            return normal(converted, depth + 1)
    return Unreadable(f"a {type(value).__name__} is none of the types that an attribute can have")
