"""The demo's batches on Spark, as one would do it: an index, a stream into Parquet files, and notifications of them.

The stream watches a folder, and each batch is a file that is put there. A batch sees the newest version of the index as
it is when the batch begins, so that subscriptions may change while the stream runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings import Matcher
from tidings.demo.data import EVENT_SCHEMA, Wish, gist
from tidings.demo.engines import Delivered, Event, Notification, Refused, Told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidings.spark import BatchMetrics

MADE = ("index", "events", "arriving", "matches", "checkpoint", "notifications")  # in its folder
PAYLOAD = ("headline", "symbol", "low", "record")  # the columns that subscribers read
EVERY = "100 milliseconds"  # how often the folder is looked at


@dataclass(slots=True)
class SparkEngine:
    spark: SparkSession
    folder: Path
    _query: Any = None
    _done: list[BatchMetrics] = field(default_factory=list)

    @property
    def index(self) -> Path:
        return self.folder / "index"

    @property
    def inbox(self) -> Path:
        return self.folder / "events"

    @property
    def matches(self) -> Path:
        return self.folder / "matches"

    def add(self, wishes: Sequence[Wish]) -> tuple[Refused, ...]:
        from tidings.spark import compile_index

        rows = [(wish.id, wish.where, wish.subscriber) for wish in wishes]
        table = self.spark.createDataFrame(rows, "id string, where string, subscriber string").coalesce(1)
        made = compile_index(table, self.index, segments=1, progress=False)
        return tuple(Refused(row.id, row.message) for row in made.errors.collect()) if made.refused else ()

    def remove(self, ids: Sequence[str]) -> None:
        from tidings.spark import remove_ids

        remove_ids(self.spark, self.index, ids)

    @contextmanager
    def streaming(self) -> Iterator[None]:
        from tidings.spark import ParquetSink, stream

        self.inbox.mkdir(parents=True)
        self._query = stream(
            self.spark.readStream.schema(EVENT_SCHEMA).json(str(self.inbox)),
            self.index,
            ParquetSink(self.matches),
            self.folder / "checkpoint",
            event_columns=["kind"],
            subscription_columns=["subscriber"],
            trigger=EVERY,
            after=lambda events, index, batch: self._done.append(batch),
        )
        try:
            yield
        finally:
            self._query.stop()

    def deliver(self, events: Sequence[Event]) -> Delivered:
        number = len(self._done)
        begun = self.folder / "arriving"
        begun.write_text("".join(json.dumps(event, default=_written) + "\n" for event in events), encoding="utf-8")
        begun.rename(self.inbox / f"{number:03}.json")  # whole, or not there
        self._query.processAllAvailable()
        return Delivered(len(events), self._pairs(number), self._done[number].version, self._done[number].seconds)

    def _pairs(self, number: int) -> tuple[tuple[str, str], ...]:
        import pyarrow.parquet as pq

        table = pq.read_table(self.matches / f"batch={number}", partitioning=None)
        ids = zip(table["event_id"].to_pylist(), table["subscription_id"].to_pylist(), strict=True)
        return tuple(ids)

    def told(self, each: int) -> Told:
        """The notifications are written to files, with who is to be told, when it was, and what the event said."""
        import pyarrow.parquet as pq

        from tidings.spark import notifications

        events = self.spark.read.schema(EVENT_SCHEMA).json(str(self.inbox))
        matches = self.spark.read.parquet(str(self.matches))
        place = str(self.folder / "notifications")
        notifications(matches, events=events, payload=PAYLOAD, event_time="at").write.parquet(place)
        told = self.spark.read.parquet(place)
        first = notifications(told, per_subscriber=each, event_time="at")
        return Told(pq.read_table(place).num_rows, tuple(_notifications(first)))

    def matcher(self) -> Matcher:
        return Matcher.load(self.index)


def _notifications(table: DataFrame) -> list[Notification]:
    from pyspark.sql.functions import date_format

    timed = table.withColumn("time", date_format("at", "HH:mm:ss"))
    return [
        Notification(row["subscriber"], row["time"], row["event_id"], row["subscription_id"], gist(row.asDict()))
        for row in timed.sort("subscriber", "at", "event_id", "subscription_id").collect()
    ]


def _written(value: Any) -> str:
    assert isinstance(value, datetime)
    return value.isoformat()
