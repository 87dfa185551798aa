"""`notifications`: matches with what is needed to tell someone: the subscriber, and what the event said.

One row for each event and subscription, however often the match, the event or the subscription was given; and on
request no more than some for each subscriber in each window of time, the earliest by the time of the event, then by its
id. The same rows whatever the order and partitions of the tables. Of a stream, it holds within a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from tidings.errors import SettingError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PAIR = ("event_id", "subscription_id")


def notifications(
    matches: DataFrame,
    subscriptions: DataFrame | None = None,
    events: DataFrame | None = None,
    *,
    subscriber: str = "subscriber",
    payload: Sequence[str] | None = None,
    id_column: str = "id",
    event_time: str | None = None,
    per_subscriber: int | None = None,
    window: timedelta | None = None,
) -> DataFrame:
    """Rows of `event_id`, `subscription_id`, the subscriber, the payload, and whatever else the matches carry.

    `subscriber` is a column of `subscriptions`, which has `id`, or of the matches, if they carry it. `payload` are
    columns of `events`, whose ids are in `id_column`; without it, all of them. `per_subscriber` keeps that many for
    each subscriber, the earliest by the column `event_time`; with `window`, that many in each stretch of this length.
    """
    _check(matches, per_subscriber, window, event_time)
    joined = matches
    if subscriptions is not None:
        joined = _with_subscriber(joined, subscriptions, subscriber)
    if events is not None:
        joined = _with_payload(joined, events, id_column, payload, event_time)
    elif payload is not None:
        raise SettingError("payload names columns of events, and no events are given; give them, or leave it out")
    for name, what in ((subscriber, "subscriber"), (event_time, "event_time")):
        if name is not None and name not in joined.columns:
            raise SettingError(
                f"{what} is {name!r}, and no table has that column; there are: {', '.join(joined.columns)}"
            )
    rest = [name for name in joined.columns if name not in (*PAIR, subscriber)]
    once = _once(joined.select(*map(_quoted, (*PAIR, subscriber, *rest))), event_time)
    known = once.where(_quoted(subscriber).isNotNull())
    return known if per_subscriber is None else _limited(known, subscriber, per_subscriber, event_time, window)


def _check(matches: DataFrame, most: int | None, window: timedelta | None, event_time: str | None) -> None:
    missing = [name for name in PAIR if name not in matches.columns]
    if missing:
        raise SettingError(
            f"the matches have no column {', '.join(missing)}; they have: {', '.join(matches.columns)}. Notifications "
            "are made of pairs, not of lists"
        )
    if matches.isStreaming:
        raise SettingError(
            "notifications are made of a table of matches; of a stream, make them in a function that is its sink, "
            "which gets each batch as a table"
        )
    if most is not None and most < 1:
        raise SettingError(f"per_subscriber is a number of notifications, 1 or more, not {most}")
    if window is not None and (most is None or event_time is None):
        raise SettingError("window needs per_subscriber, how many in each, and event_time, the column that says when")
    if window is not None and window <= timedelta(0):
        raise SettingError(f"window is a length of time above zero, not {window}")


# Joining


def _with_subscriber(matches: DataFrame, subscriptions: DataFrame, subscriber: str) -> DataFrame:
    _must_have(subscriptions, ("id", subscriber), "subscriptions")
    _must_be_new(matches, (subscriber,), "subscriptions")
    known = subscriptions.select(_quoted("id").alias("subscription_id"), _quoted(subscriber))
    return matches.join(known, "subscription_id")


def _with_payload(
    matches: DataFrame, events: DataFrame, id_column: str, payload: Sequence[str] | None, event_time: str | None
) -> DataFrame:
    """A match whose event is not in the table keeps its place, with nulls: the subscriber is told at least its id."""
    wanted = [name for name in events.columns if name != id_column] if payload is None else list(payload)
    if event_time is not None and event_time not in (*wanted, *matches.columns):
        wanted.append(event_time)
    _must_have(events, (id_column, *wanted), "events")
    _must_be_new(matches, wanted, "events")
    said = events.select(_quoted(id_column).alias("event_id"), *map(_quoted, wanted))
    return matches.join(said, "event_id", "left")


def _must_have(table: DataFrame, names: Sequence[str], what: str) -> None:
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise SettingError(f"the {what} have no column {', '.join(missing)}; they have: {', '.join(table.columns)}")


def _must_be_new(matches: DataFrame, names: Sequence[str], what: str) -> None:
    double = [name for name in names if name in matches.columns]
    if double:
        raise SettingError(
            f"the matches have {', '.join(double)} already, and the {what} as well; leave out or rename one of the two"
        )


# Choosing


def _once(joined: DataFrame, event_time: str | None) -> DataFrame:
    """One row for each pair. Of rows that differ, as those of an event with two payloads do, the earliest, then the
    first by its text: any would do, but it must be the same each time."""
    from pyspark.sql.functions import struct, to_json

    everything = to_json(struct(*map(_quoted, joined.columns)))
    return _first(joined, PAIR, [*_by_time(event_time), everything.asc()], 1)


def _limited(
    once: DataFrame, subscriber: str, most: int, event_time: str | None, window: timedelta | None
) -> DataFrame:
    from pyspark.sql.functions import lit, pmod

    groups: list[str | Column] = [subscriber]
    if window is not None and event_time is not None:
        micros = _micros(once, event_time)
        groups.append(micros - pmod(micros, lit(window // timedelta(microseconds=1))))
    order = [*_by_time(event_time), *(_quoted(name).asc() for name in PAIR)]
    return _first(once, groups, order, most)


def _micros(table: DataFrame, name: str) -> Column:
    """Since 1970 in UTC. What has no zone is as if in UTC, as elsewhere here; Spark would take that of the session."""
    from pyspark.sql.functions import lit, timestamp_diff, unix_micros
    from pyspark.sql.types import DateType, TimestampNTZType

    if isinstance(table.schema[name].dataType, DateType | TimestampNTZType):
        start = lit("1970-01-01 00:00:00").cast("timestamp_ntz")
        return timestamp_diff("MICROSECOND", start, _quoted(name).cast("timestamp_ntz"))
    return unix_micros(_quoted(name).cast("timestamp"))


def _first(table: DataFrame, groups: Sequence[str | Column], order: Sequence[Column], most: int) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql.functions import row_number

    by = [_quoted(group) if isinstance(group, str) else group for group in groups]
    place = "tidings place"  # no one has a column of this name
    numbered = table.withColumn(place, row_number().over(Window.partitionBy(*by).orderBy(*order)))
    return numbered.where(_quoted(place) <= most).drop(place)


def _by_time(event_time: str | None) -> list[Column]:
    return [] if event_time is None else [_quoted(event_time).asc_nulls_last()]


def _quoted(name: str) -> Column:
    """The column of exactly this name: Spark reads dots in names."""
    from pyspark.sql.functions import col

    return col("`" + name.replace("`", "``") + "`")
