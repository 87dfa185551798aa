"""`stream`: events as they come, matched batch by batch and delivered to a sink, nothing missing, nothing twice.

Before a batch runs, the version of the index that it sees is written down durably; a batch that runs again, after a
failure or a kill, sees that version again and so has the same matches; and a sink knows what it has. Subscriptions that
are added or removed meanwhile count from the next batch on. Why this holds is in docs/streams.md.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from tidings.errors import SettingError, TidingsError
from tidings.spark.index import Index, open_index
from tidings.spark.matching import matches_of
from tidings.spark.measuring import (
    BatchMetrics,
    Counting,
    candidates_counted,
    events_counted,
    matches_counted,
    record,
)
from tidings.spark.metadata import must_have_all
from tidings.spark.pinning import Pins, stream_id
from tidings.spark.question import asked
from tidings.spark.reaching import AUTO
from tidings.spark.records import Records, records_of
from tidings.spark.sessions import is_classic
from tidings.spark.sharding import Sharding
from tidings.spark.sinks import Batch, Sink, sink_of

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

After: TypeAlias = "Callable[[DataFrame, Index, BatchMetrics], Any]"
AVAILABLE = "available"
PAUSE_SECONDS = 1.0  # before a sink that failed is tried again; twice as long each time
# By this Spark knows that it has interrupted a batch by itself. It looks for it with a regular expression that goes one
# call deeper for each character behind "calling": a stack trace there, as Java's errors have it, overflows its stack.
INTERRUPTED = "py4j.protocol.Py4JJavaError: An error occurred while calling Spark: java.lang.InterruptedException"

log = logging.getLogger("tidings.spark")


def stream(
    events: DataFrame,
    index: str | os.PathLike[str],
    sink: Sink | Callable[[DataFrame, int], Any],
    checkpoint: str | os.PathLike[str],
    *,
    strategy: str = "auto",
    lists: bool = False,
    event_columns: Sequence[str] = (),
    subscription_columns: Sequence[str] = (),
    id_column: str = "id",
    reach: str = AUTO,
    sharding: Sharding | None = None,
    trigger: str | None = None,
    attempts: int = 3,
    name: str | None = None,
    after: After | None = None,
) -> StreamingQuery:
    """Starts a query that delivers the matches of `events`, a streaming DataFrame, to a sink.

    `index` is the path of an index; each batch sees its newest version. `checkpoint` is a folder of this stream alone,
    from which it goes on when it is started again. The columns and `sharding` are those of `match`. `trigger` is None
    to begin a batch when the one before is done, "available" to take what there is and end, or an interval such as "10
    seconds". A sink that fails is tried `attempts` times in a batch; then the query fails, and tries the batch again
    when it is started again. `name` is that of the query in Spark. `after` is called with the events of each batch that
    was delivered, the version of the index that it saw, and what it did; like the sink, once more if the batch is done
    once more.
    """
    if not events.isStreaming:
        raise SettingError("stream takes a streaming DataFrame, from spark.readStream; for a table there is match")
    if not is_classic(events.sparkSession):
        raise SettingError(
            "stream does its work in the driver, which in Spark Connect is a process of the server; use a classic "
            "session, or match, which takes a streaming DataFrame and sees one version of the index"
        )
    if attempts < 1:
        raise SettingError(f"attempts is a number of tries, 1 or more, not {attempts}")
    spark, delivery = events.sparkSession, sink_of(sink)
    columns = (tuple(event_columns), tuple(subscription_columns))
    asking = _Asked(strategy, lists, *columns, id_column, reach, sharding or Sharding())
    with open_index(spark, index) as newest:
        asking.matches(events, newest)  # what is wrong with the columns is said now
    records = records_of(spark, checkpoint)
    stream = stream_id(records)
    pins = Pins(records, stream, index)
    pins.check(spark)
    delivery.prepare(spark, stream)
    run = _Batches(records, pins, stream, delivery, asking, attempts, after)
    writer = events.writeStream.foreachBatch(run).option("checkpointLocation", records.checkpoint)
    if trigger is not None:
        writer = writer.trigger(availableNow=True) if trigger == AVAILABLE else writer.trigger(processingTime=trigger)
    run.query = (writer.queryName(name) if name is not None else writer).start()
    return run.query


@dataclass(frozen=True, slots=True)
class _Asked:
    """How the matches are asked for."""

    strategy: str
    lists: bool
    event_columns: tuple[str, ...]
    subscription_columns: tuple[str, ...]
    id_column: str
    reach: str
    sharding: Sharding

    def matches(self, events: DataFrame, index: Index, candidates: Accumulator[int] | None = None) -> DataFrame:
        must_have_all(index.files, self.subscription_columns, index.metadata)
        columns = (self.event_columns, self.subscription_columns)
        question = asked(events, index, self.id_column, *columns, self.lists, self.reach)
        return matches_of(replace(question, candidates=candidates), self.strategy, self.sharding)


class _StoppedError(Exception):
    """The query is being stopped in the middle of a batch."""


@dataclass(slots=True, eq=False)
class _Batches:
    """What Spark calls with each batch."""

    records: Records
    pins: Pins
    stream: str
    sink: Sink
    asking: _Asked
    attempts: int
    after: After | None
    query: StreamingQuery | None = None  # known a moment after the first batch may have begun

    def __call__(self, events: DataFrame, number: int) -> None:
        try:
            self._run(events, number)
        except Exception as error:
            if not self._is_stopping():
                raise
            log.info("batch %d was given up, because the query is being stopped: %s", number, error)
            raise _StoppedError(INTERRUPTED) from None

    def _run(self, events: DataFrame, number: int) -> None:
        started, start = datetime.now(UTC), time.perf_counter()
        with self.pins.begun(events.sparkSession, number) as index:
            batch = Batch(number, index.version.number, self.stream)
            counts = self._delivered(events, index, batch).counted()
            row = BatchMetrics(
                number,
                batch.version,
                index.subscriptions,
                *counts,
                round(time.perf_counter() - start, 3),
                started.isoformat(timespec="milliseconds"),
            )
            if self.after is not None:
                self.after(events, index, row)
        record(self.records, row)

    def _delivered(self, events: DataFrame, index: Index, batch: Batch) -> Counting:
        for attempt in range(self.attempts):
            counted, of_events = events_counted(events, self.asking.id_column)
            candidates = candidates_counted(events.sparkSession)
            found = self.asking.matches(counted, index, candidates)
            matches, of_matches = matches_counted(found, self.asking.lists)
            try:
                self.sink.write(matches, batch)
                return Counting(events.sparkSession, of_events, of_matches, candidates)
            except Exception as error:
                # What tidings says is wrong stays wrong, and the jobs of a query that is being stopped are cancelled.
                if attempt + 1 == self.attempts or isinstance(error, TidingsError) or self._is_stopping():
                    raise
                pause = PAUSE_SECONDS * 2**attempt
                log.warning("batch %d was not delivered, and is tried again in %.0f s: %s", batch.number, pause, error)
                time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _is_stopping(self) -> bool:
        return self.query is not None and not self.query.isActive
