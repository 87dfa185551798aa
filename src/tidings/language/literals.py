"""From a literal as it is written to its value, by Spark SQL's rules for quoting.

Each function takes the source text of one literal; its errors point into that text, and `parser` moves them to where
the literal stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from tidings.errors import LimitError, SubscriptionError
from tidings.language import limits
from tidings.model.values import AttributeType, Literal, instant

_ESCAPE = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-1][0-7]{2})|(.))|''|\"\"""", re.DOTALL)
_NAMED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_TIMESTAMP = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)\s*(.*))?", re.ASCII)
_SHORT_NUMBER = 18  # digits that always fit an int64
_OFFSET = re.compile(r"[+-]\d{2}:?\d{2}", re.ASCII)


def string_of(written: str) -> str:
    """The text of a quoted literal: escapes replaced, a doubled quote read as one."""
    if written[0] in "rR":
        return written[2:-1]
    inner = written[1:-1]
    if "\\" not in inner and written[0] not in inner:
        return inner
    other = '""' if written[0] == "'" else "''"  # only the literal's own quote is doubled
    return _ESCAPE.sub(lambda found: other if found.group() == other else _unescaped(found, written), inner)


def _unescaped(found: re.Match[str], written: str) -> str:
    short, long, octal, single = found.groups()
    if single is not None:
        return _NAMED.get(single, single)
    if octal is not None:
        return chr(int(octal, 8))
    if short is None and long is None:
        return found.group()[0]
    code = int(short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise SubscriptionError(
            f"{found.group()} is not a Unicode character", written, found.start() + 1, length=len(found.group())
        )
    return chr(code)


def read_string(written: str) -> Literal:
    return Literal(AttributeType.STRING, string_of(written))


def read_number(written: str) -> Literal:
    """An int, or a Decimal where there is a fraction; refused beyond the range of a float64."""
    if len(written) <= _SHORT_NUMBER and written.isdigit():  # most numbers
        return Literal(AttributeType.NUMBER, int(written))
    if len(written) <= _SHORT_NUMBER and not written.isalnum() and "e" not in written and "E" not in written:
        before, _, after = written.partition(".")
        if after.strip("0"):  # nearly all others: a few digits with a point between them
            return Literal(AttributeType.NUMBER, Decimal(written))
        return Literal(AttributeType.NUMBER, int(before or "0"))
    if len(written) > limits.DIGITS:
        problem = f"the number has {len(written)} characters, and at most {limits.DIGITS} are allowed"
        raise LimitError(problem, written, 0, length=len(written))
    value = Decimal(written)
    exponent = value.adjusted() if value else 0
    if abs(exponent) >= limits.EXPONENT and (abs(exponent) > limits.EXPONENT or math.isinf(float(value))):
        problem = f"the number has the decimal exponent {exponent}, and at most {limits.EXPONENT} up or down is allowed"
        raise LimitError(problem, written, 0, length=len(written))
    whole = int(value)
    return Literal(AttributeType.NUMBER, whole if whole == value else value)


def read_negative_number(written: str) -> Literal:
    literal = read_number(written)
    value = literal.value
    assert isinstance(value, int | Decimal)
    # A minus sign before a Decimal rounds it to the precision of the context.
    return Literal(AttributeType.NUMBER, value.copy_negate() if isinstance(value, Decimal) else -value)


def read_boolean(written: str) -> Literal:
    return Literal(AttributeType.BOOLEAN, written.upper() == "TRUE")


def read_date(written: str) -> Literal:
    text = string_of(written).strip()
    try:
        if len(text) != len("2026-01-31"):
            raise ValueError(text)
        return Literal(AttributeType.TIMESTAMP, instant(date.fromisoformat(text)))
    except ValueError:
        raise SubscriptionError(
            f"{text!r} is not a date", written, 0, length=len(written), hint="write DATE 'YYYY-MM-DD'"
        ) from None


def read_timestamp(written: str) -> Literal:
    text = string_of(written).strip()
    try:
        matched = _TIMESTAMP.fullmatch(text)
        if matched is None:
            raise ValueError(text)
        day, clock, zone = matched.groups()
        moment = datetime.fromisoformat(f"{day} {_six_decimals(clock or '00:00')}")
        return Literal(AttributeType.TIMESTAMP, instant(_in_zone(moment, zone or "")))
    except (ValueError, OverflowError, OSError, KeyError):  # ZoneInfo raises OSError or KeyError for strange names
        raise SubscriptionError(
            f"{text!r} is not a timestamp",
            written,
            0,
            length=len(written),
            hint="write TIMESTAMP 'YYYY-MM-DD HH:MM:SS.ffffff' and, if it is not UTC, a zone: +02:00 or Europe/Athens",
        ) from None


def _six_decimals(clock: str) -> str:
    head, dot, fraction = clock.partition(".")
    return f"{head}.{fraction:0<6}" if dot else head


def _in_zone(moment: datetime, zone: str) -> datetime:
    if not zone or zone in ("Z", "UTC"):
        return moment
    if _OFFSET.fullmatch(zone):
        return datetime.fromisoformat(moment.isoformat() + zone)
    return moment.replace(tzinfo=ZoneInfo(zone))


READERS: dict[str, Callable[[str], Literal]] = {
    "STRING": read_string,
    "NUMBER": read_number,
    "BOOLEAN": read_boolean,
    "DATE": read_date,
    "TIMESTAMP": read_timestamp,
}
