"""Dates and timestamps: instants with microseconds, and UTC wherever no zone is named. A date is its midnight."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from conformance.case import UNKNOWN, Case, Truth, comparisons, unknown_comparisons

ATHENS = ZoneInfo("Europe/Athens")
INDIA = timezone(timedelta(hours=5, minutes=30))
NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


def _case(name: str, test: str, value: object, expected: Truth) -> Case:
    return Case(name, f"a {test}", {"a": value}, expected)


COMPARISONS = [
    *comparisons("date, date literal", "DATE '2026-01-31'", date(2026, 1, 30), date(2026, 1, 31), date(2026, 2, 1)),
    *comparisons(
        "timestamp, date literal", "DATE '2026-01-01'", NEW_YEAR - MICROSECOND, NEW_YEAR, NEW_YEAR + MICROSECOND
    ),
    *comparisons("timestamp", "TIMESTAMP '2026-01-31 12:00:00'", NOON - MICROSECOND, NOON, NOON + MICROSECOND),
    *comparisons(
        "timestamp without a zone, literal with one",
        "TIMESTAMP '2026-01-31 14:00:00+02:00'",
        datetime(2026, 1, 31, 11, 59, 59, 999_999),
        datetime(2026, 1, 31, 12),
        datetime(2026, 1, 31, 12, 0, 0, 1),
    ),
]

CASES = [
    _case("a date is the midnight of a timestamp", "= TIMESTAMP '2026-01-31 00:00:00'", date(2026, 1, 31), True),
    _case("a date is before a later time of the day", "< TIMESTAMP '2026-01-31 00:00:01'", date(2026, 1, 31), True),
    # Ways to write a literal
    _case("hours and minutes only", "= TIMESTAMP '2026-01-31 12:00'", NOON, True),
    _case("a day only is its midnight", "= TIMESTAMP '2026-01-01'", NEW_YEAR, True),
    _case("a T between day and time", "= TIMESTAMP '2026-01-31T12:00:00'", NOON, True),
    _case("a Z for UTC", "= TIMESTAMP '2026-01-31 12:00:00Z'", NOON, True),
    _case("UTC by name", "= TIMESTAMP '2026-01-31 12:00:00 UTC'", NOON, True),
    _case("milliseconds", "= TIMESTAMP '2026-01-31 12:00:00.5'", NOON + timedelta(milliseconds=500), True),
    _case("microseconds", "= TIMESTAMP '2026-01-31 12:00:00.000001'", NOON + MICROSECOND, True),
    _case(
        "three decimals are thousandths",
        "= TIMESTAMP '2026-01-31 12:00:00.025'",
        NOON + timedelta(milliseconds=25),
        True,
    ),
    _case("words in small letters", "= date '2026-01-01'", NEW_YEAR, True),
    _case("double quotes", '= TIMESTAMP "2026-01-31 12:00:00"', NOON, True),
    Case("literal first", "DATE '2026-01-01' = a", {"a": NEW_YEAR}, True),
    Case("literal first, < is turned round", "DATE '2026-01-01' < a", {"a": NOON}, True),
    Case("an attribute named date", "date = DATE '2026-01-01'", {"date": NEW_YEAR}, True),
    Case("an attribute named timestamp", "timestamp < TIMESTAMP '2026-01-31 12:00:00'", {"timestamp": NEW_YEAR}, True),
    # Zones in literals
    _case("an offset to the east", "= TIMESTAMP '2026-01-31 14:00:00+02:00'", NOON, True),
    _case("an offset to the west", "= TIMESTAMP '2026-01-31 07:00:00-05:00'", NOON, True),
    _case("an offset with half an hour", "= TIMESTAMP '2026-01-31 17:30:00+05:30'", NOON, True),
    _case("an offset without a colon", "= TIMESTAMP '2026-01-31 14:00:00+0200'", NOON, True),
    _case("an offset of zero", "= TIMESTAMP '2026-01-31 12:00:00+00:00'", NOON, True),
    _case("an offset is not ignored", "= TIMESTAMP '2026-01-31 12:00:00+02:00'", NOON, False),
    _case(
        "an offset that changes the day", "= TIMESTAMP '2026-01-01 01:00:00+02:00'", datetime(2025, 12, 31, 23), True
    ),
    _case("a zone in winter", "= TIMESTAMP '2026-01-31 14:00:00 Europe/Athens'", NOON, True),
    _case("a zone in summer", "= TIMESTAMP '2026-07-31 15:00:00 Europe/Athens'", datetime(2026, 7, 31, 12), True),
    _case(
        "a zone has not one offset", "= TIMESTAMP '2026-07-31 14:00:00 Europe/Athens'", datetime(2026, 7, 31, 12), False
    ),
    _case("a zone to the west", "= TIMESTAMP '2026-01-31 07:00:00 America/New_York'", NOON, True),
    # Zones in events
    _case("an event's offset", "= TIMESTAMP '2026-01-31 12:00:00'", NOON.astimezone(INDIA), True),
    _case(
        "an event's zone in winter", "= TIMESTAMP '2026-01-31 12:00:00'", datetime(2026, 1, 31, 14, tzinfo=ATHENS), True
    ),
    _case(
        "an event's zone in summer", "= TIMESTAMP '2026-07-31 12:00:00'", datetime(2026, 7, 31, 15, tzinfo=ATHENS), True
    ),
    _case(
        "an event's zone is not ignored",
        "= TIMESTAMP '2026-01-31 12:00:00'",
        datetime(2026, 1, 31, 12, tzinfo=ATHENS),
        False,
    ),
    _case(
        "an event's day in its zone is not the day in UTC",
        ">= DATE '2026-02-01'",
        datetime(2026, 2, 1, 1, tzinfo=ATHENS),
        False,
    ),
    _case(
        "two zones, one instant",
        "= TIMESTAMP '2026-01-31 07:00:00 America/New_York'",
        datetime(2026, 1, 31, 14, tzinfo=ATHENS),
        True,
    ),
    _case("without a zone an event is in UTC", "= TIMESTAMP '2026-01-31 12:00:00Z'", datetime(2026, 1, 31, 12), True),
    # Where the clocks change: in Athens on 2026-03-29 at 01:00 UTC from +02:00 to +03:00, and back on 2026-10-25
    _case(
        "the last second of winter time",
        "= TIMESTAMP '2026-03-29 02:59:59 Europe/Athens'",
        datetime(2026, 3, 29, 0, 59, 59),
        True,
    ),
    _case(
        "the first second of summer time",
        "= TIMESTAMP '2026-03-29 04:00:00 Europe/Athens'",
        datetime(2026, 3, 29, 1),
        True,
    ),
    _case(
        "they are one second apart", "> TIMESTAMP '2026-03-29 02:59:59 Europe/Athens'", datetime(2026, 3, 29, 1), True
    ),
    _case(
        "the hour that comes twice, the first time",
        "< TIMESTAMP '2026-10-25 01:00:00Z'",
        datetime(2026, 10, 25, 3, 30, tzinfo=ATHENS, fold=0),
        True,
    ),
    _case(
        "the hour that comes twice, the second time",
        "< TIMESTAMP '2026-10-25 01:00:00Z'",
        datetime(2026, 10, 25, 3, 30, tzinfo=ATHENS, fold=1),
        False,
    ),
    _case(
        "the hour that comes twice, in full",
        "= TIMESTAMP '2026-10-25 03:30:00+02:00'",
        datetime(2026, 10, 25, 3, 30, tzinfo=ATHENS, fold=1),
        True,
    ),
    _case(
        "a day of 25 hours",
        "BETWEEN TIMESTAMP '2026-10-25 00:00 Europe/Athens' AND TIMESTAMP '2026-10-25 23:59 Europe/Athens'",
        datetime(2026, 10, 25, 21, 30),
        True,
    ),
    # The ends of the calendar
    _case("the first day", "= DATE '0001-01-01'", date(1, 1, 1), True),
    _case("the first instant", "= DATE '0001-01-01'", datetime(1, 1, 1), True),
    _case("the last day", "= DATE '9999-12-31'", date(9999, 12, 31), True),
    _case("the last instant", "= TIMESTAMP '9999-12-31 23:59:59.999999'", datetime.max, True),
    _case("the last instant is after the last midnight", "> DATE '9999-12-31'", datetime.max, True),
    _case("everything is after the first day", "> DATE '0001-01-01'", NOON, True),
    _case("before the year 1000", "= DATE '0987-06-05'", date(987, 6, 5), True),
    _case("before 1970", "< DATE '1970-01-01'", datetime(1969, 12, 31, 23, 59, 59, 999_999), True),
    _case("a leap day", "= DATE '2024-02-29'", date(2024, 2, 29), True),
    _case("the day after a leap day", "> DATE '2024-02-29'", date(2024, 3, 1), True),
    # Ranges and lists
    _case("between two days, at the end", "BETWEEN DATE '2026-01-01' AND DATE '2026-01-31'", date(2026, 1, 31), True),
    _case("between two days, later on the last", "BETWEEN DATE '2026-01-01' AND DATE '2026-01-31'", NOON, False),
    _case("between two days, at the start", "BETWEEN DATE '2026-01-01' AND DATE '2026-01-31'", NEW_YEAR, True),
    _case("between a day and a time", "BETWEEN DATE '2026-01-01' AND TIMESTAMP '2026-01-31 12:00'", NOON, True),
    _case("between, outside", "BETWEEN DATE '2026-01-01' AND DATE '2026-01-31'", date(2026, 2, 1), False),
    _case("not between", "NOT BETWEEN DATE '2026-01-01' AND DATE '2026-01-31'", date(2026, 2, 1), True),
    _case("in a list of days", "IN (DATE '2026-01-01', DATE '2026-01-31')", date(2026, 1, 31), True),
    _case("in a list of days, a time on one of them", "IN (DATE '2026-01-01', DATE '2026-01-31')", NOON, False),
    _case("in a list of a day and a time", "IN (DATE '2026-01-01', TIMESTAMP '2026-01-31 12:00:00')", NOON, True),
    _case("not in a list of days", "NOT IN (DATE '2026-01-01')", NOON, True),
    # Other types
    *unknown_comparisons("a string is no date", "DATE '2026-01-31'", "2026-01-31"),
    _case("a string is no timestamp", "= TIMESTAMP '2026-01-31 12:00:00'", "2026-01-31 12:00:00", UNKNOWN),
    _case("a timestamp is no string", "= '2026-01-31'", date(2026, 1, 31), UNKNOWN),
    _case("a timestamp is no string for LIKE", "LIKE '2026%'", NOON, UNKNOWN),
    _case("seconds are no timestamp", "> DATE '1970-01-01'", 1_769_860_800, UNKNOWN),
    _case("a timestamp is no number", "> 0", NOON, UNKNOWN),
    _case("a string is in no list of days", "IN (DATE '2026-01-31')", "2026-01-31", UNKNOWN),
    _case("a string is in no range of days", "BETWEEN DATE '2026-01-01' AND DATE '2026-12-31'", "2026-06-01", UNKNOWN),
    _case("a boolean is no timestamp", "= DATE '2026-01-31'", True, UNKNOWN),
    Case("missing", "a = DATE '2026-01-31'", {}, UNKNOWN),
]
