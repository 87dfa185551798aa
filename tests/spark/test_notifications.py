"""Notifications: who is told what, once, and not too often."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from spark.frames import in_parts, rows_of
from tidings.errors import SettingError
from tidings.spark import notifications

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PAIRS = "event_id string, subscription_id int"
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def matches(spark: SparkSession) -> DataFrame:
    """Two of them twice."""
    rows = [("a", 1), ("a", 2), ("a", 1), ("b", 1), ("c", 3), ("c", 1), ("c", 1)]
    return in_parts(spark.createDataFrame(rows, PAIRS))


@pytest.fixture(scope="module")
def subscriptions(spark: SparkSession) -> DataFrame:
    """The third has been removed since."""
    rows = [(1, "TRUE", "ann"), (2, "TRUE", "bob"), (4, "TRUE", "eve")]
    return spark.createDataFrame(rows, "id int, where string, subscriber string")


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    """The last has no time."""
    rows = [
        ("a", "first", datetime(2026, 1, 1, 10, 10)),
        ("b", "second", datetime(2026, 1, 1, 10, 5)),
        ("c", "x", None),
    ]
    return spark.createDataFrame(rows, "id string, title string, at timestamp")


def test_a_match_is_told_once_with_what_the_event_said(
    matches: DataFrame, subscriptions: DataFrame, events: DataFrame
) -> None:
    found = notifications(matches, subscriptions, events, payload=["title"])
    assert found.columns == ["event_id", "subscription_id", "subscriber", "title"]
    assert rows_of(found) == [
        ("a", 1, "ann", "first"), ("a", 2, "bob", "first"), ("b", 1, "ann", "second"), ("c", 1, "ann", "x"),
    ]  # fmt: skip


def test_columns_that_the_matches_carry_are_enough(spark: SparkSession) -> None:
    rows = [("a", 1, "t", "ann"), ("a", 1, "t", "ann"), ("b", 2, "u", None)]
    carried = spark.createDataFrame(rows, "event_id string, subscription_id int, title string, owner string")
    found = notifications(carried, subscriber="owner")
    assert rows_of(found) == [("a", 1, "ann", "t")]  # who has no subscriber is not told
    assert found.columns == ["event_id", "subscription_id", "owner", "title"]


def test_an_event_that_is_not_in_the_table_is_told_by_its_id(
    spark: SparkSession, subscriptions: DataFrame, events: DataFrame
) -> None:
    found = notifications(spark.createDataFrame([("z", 1)], PAIRS), subscriptions, events)
    assert rows_of(found) == [("z", 1, "ann", None, None)]


def test_the_earliest_are_told(matches: DataFrame, subscriptions: DataFrame, events: DataFrame) -> None:
    def told(**limits: Any) -> list[tuple[str, str]]:
        found = notifications(matches, subscriptions, events, payload=["title"], event_time="at", **limits)
        return sorted((row.subscriber, row.event_id) for row in found.collect())

    assert told(per_subscriber=1) == [("ann", "b"), ("bob", "a")]
    assert told(per_subscriber=2) == [("ann", "a"), ("ann", "b"), ("bob", "a")]
    # What has no time is in a window of its own.
    assert told(per_subscriber=1, window=HOUR) == [("ann", "b"), ("ann", "c"), ("bob", "a")]
    assert told(per_subscriber=1, window=timedelta(minutes=10)) == [
        ("ann", "a"), ("ann", "b"), ("ann", "c"), ("bob", "a"),
    ]  # fmt: skip


def test_events_of_one_time_are_told_by_their_ids(spark: SparkSession) -> None:
    rows = [(f"e{number}", number % 2, "ann") for number in range(9, -1, -1)]
    carried = spark.createDataFrame(rows, "event_id string, subscription_id int, subscriber string")
    for parts in (1, 3):
        found = notifications(in_parts(carried, parts), per_subscriber=3)
        assert [row[0] for row in rows_of(found)] == ["e0", "e1", "e2"]


def test_an_event_given_twice_is_told_once_and_always_the_same(spark: SparkSession, subscriptions: DataFrame) -> None:
    rows = [("a", "late", datetime(2026, 1, 2)), ("a", "z", datetime(2026, 1, 1)), ("a", "y", datetime(2026, 1, 1))]
    twice = spark.createDataFrame(rows, "id string, title string, at timestamp")
    for parts in (1, 3):
        table = in_parts(twice, parts)
        found = notifications(spark.createDataFrame([("a", 1)], PAIRS), subscriptions, table, event_time="at")
        assert [row.title for row in found.collect()] == ["y"]


def test_windows_before_1970(spark: SparkSession) -> None:
    rows = [("a", 1, "ann", datetime(1969, 12, 31, 23, 30)), ("b", 1, "ann", datetime(1970, 1, 1, 0, 30))]
    carried = spark.createDataFrame(rows, f"{PAIRS}, subscriber string, at timestamp")
    found = notifications(carried, event_time="at", per_subscriber=1, window=HOUR)
    assert [row[0] for row in rows_of(found)] == ["a", "b"]


@pytest.mark.parametrize(
    ("kind", "length", "times"),
    [
        ("timestamp_ntz", HOUR, ("2026-01-01 00:10:00", "2026-01-01 00:50:00", "2026-01-01 01:10:00")),
        ("date", timedelta(days=2), ("2026-01-01", "2026-01-02", "2026-01-03")),  # 20,454 days after 1970
        ("timestamp", HOUR, ("2026-01-01 05:40:00", "2026-01-01 06:20:00", "2026-01-01 06:40:00")),
    ],
)
def test_windows_are_those_of_utc_whatever_the_zone_of_the_session(
    spark: SparkSession, kind: str, length: timedelta, times: tuple[str, str, str]
) -> None:
    """Of the three the first two are in one window."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")  # five hours and a half before UTC
    try:
        rows = [(str(number), 1, "ann", time) for number, time in enumerate(times)]
        carried = spark.createDataFrame(rows, f"{PAIRS}, subscriber string, at string")
        typed = carried.withColumn("at", carried["at"].cast(kind))
        found = notifications(typed, event_time="at", per_subscriber=1, window=length)
        assert sorted(row.event_id for row in found.collect()) == ["0", "2"]
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))


def test_what_is_wrong_is_said(
    spark: SparkSession, matches: DataFrame, subscriptions: DataFrame, events: DataFrame
) -> None:
    lists = spark.createDataFrame([("a", [1])], "event_id string, subscription_ids array<int>")
    streaming = spark.readStream.format("rate").load().selectExpr("value AS event_id", "value AS subscription_id")
    with_title = matches.selectExpr("*", "'t' AS title")
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("Notifications are made of pairs, not of lists", {"matches": lists}),
        ("in a function that is its sink", {"matches": streaming}),
        ("subscriber is 'subscriber', and no table has that column", {"subscriptions": None}),
        ("the subscriptions have no column owner", {"subscriber": "owner"}),
        ("the events have no column body", {"payload": ["body"]}),
        ("the matches have title already, and the events as well", {"matches": with_title}),
        ("payload names columns of events, and no events are given", {"events": None, "payload": ["title"]}),
        ("per_subscriber is a number of notifications, 1 or more, not 0", {"per_subscriber": 0}),
        ("window needs per_subscriber", {"window": HOUR, "event_time": "at"}),
        ("window is a length of time above zero", {"window": -HOUR, "event_time": "at", "per_subscriber": 1}),
        ("event_time is 'when', and no table has that column", {"events": None, "event_time": "when"}),
    ]
    for message, options in wrong:
        given = {"matches": matches, "subscriptions": subscriptions, "events": events} | options
        with pytest.raises(SettingError, match=message):
            notifications(**given)
