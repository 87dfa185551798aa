"""What each batch of a stream did: a line in the log, and a table of JSON lines below the checkpoint.

The table has one row for each batch, also for one that was run again. It is in blocks of BLOCK batches, of which one is
written anew after each batch: no line is ever torn, and the files stay few.
"""

from __future__ import annotations

import json
import logging
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tidings.spark.columns import numbered
from tidings.spark.records import Records, records_of

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, Observation, SparkSession

TABLE = "metrics"  # the folder of the table, in that of the stream's records
BLOCK = 1_000
WAIT_SECONDS = 2.0  # at most, for Spark to tell its listeners what happened until a sink returned

log = logging.getLogger("tidings.spark")


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """One batch. Events and matches are those of the first action that the sink ran, and None if it ran none.

    Candidates are subscriptions that were looked at one by one, in all actions of the sink: those that a slice of an
    index answers as a whole are not among them, so that there may be fewer candidates than matches.
    """

    batch: int
    version: int
    subscriptions: int
    events: int | None
    events_without_id: int | None
    candidates: int | None
    matches: int | None
    seconds: float
    started: str  # in UTC, ISO 8601


@dataclass(frozen=True, slots=True, eq=False)
class Counting:
    """Counts of rows that are taken while they pass."""

    spark: SparkSession
    events: Observation
    matches: Observation
    candidates: Accumulator[int]

    def counted(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Events, those without an id, candidates, and matches."""
        _wait_for_listeners(self.spark)
        events, matches = _observed(self.events), _observed(self.matches)
        if events is None or matches is None:
            return None, None, None, None
        return events["events"], events["events"] - events["ids"], self.candidates.value, matches["matches"] or 0


def candidates_counted(spark: SparkSession) -> Accumulator[int]:
    return spark.sparkContext.accumulator(0)


def events_counted(events: DataFrame, id_column: str) -> tuple[DataFrame, Observation]:
    from pyspark.sql import Observation
    from pyspark.sql.functions import col, count, lit

    observation, ids = Observation(), f"c{events.columns.index(id_column)}"
    counts = (count(lit(1)).alias("events"), count(col(ids)).alias("ids"))
    return numbered(events).observe(observation, *counts).toDF(*events.columns), observation


def matches_counted(matches: DataFrame, lists: bool) -> tuple[DataFrame, Observation]:
    from pyspark.sql import Observation
    from pyspark.sql.functions import col, lit, size
    from pyspark.sql.functions import sum as total

    observation, by_number = Observation(), numbered(matches)
    each = size(col(by_number.columns[-1])) if lists else lit(1)
    return by_number.observe(observation, total(each).alias("matches")).toDF(*matches.columns), observation


def _wait_for_listeners(spark: SparkSession) -> None:
    """Counts come by a listener, after the end of the action that they were taken in. When the listeners have heard all
    that happened, a count that is not there never comes: the sink ran no action."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # without type information

    with suppress(Py4JJavaError):  # there is always more to tell: then what is there by now must do
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(int(1_000 * WAIT_SECONDS))


def _observed(observation: Observation) -> dict[str, Any] | None:
    """`Observation.get` waits for an action, for ever if the sink runs none: so it is asked for when it is there."""
    future = observation._jo.future()  # type: ignore[union-attr]  # it is there once something is observed
    return observation.get if future.isCompleted() else None


def record(records: Records, row: BatchMetrics) -> None:
    name = f"{TABLE}/{row.batch // BLOCK:010}.jsonl"
    rows = {each["batch"]: each for each in _lines(records, name)} | {row.batch: asdict(row)}
    text = "".join(json.dumps(rows[batch]) + "\n" for batch in sorted(rows))
    records.write(name, text.encode())
    log.info(
        "batch %d: version %d with %d subscriptions, %s events, %s candidates, %s matches, %.3f s",
        row.batch, row.version, row.subscriptions, row.events, row.candidates, row.matches, row.seconds,
    )  # fmt: skip


def metrics(checkpoint: str | os.PathLike[str], spark: SparkSession | None = None) -> list[BatchMetrics]:
    """The batches of the stream with this checkpoint, in order; none if it has run none. A session is needed for a
    checkpoint that Hadoop opens; without one given, the active one is taken."""
    from pyspark.sql import SparkSession

    records = records_of(spark or SparkSession.getActiveSession(), checkpoint)
    names = [f"{TABLE}/{name}" for name in records.names(TABLE)]
    return [BatchMetrics(**each) for name in names for each in _lines(records, name)]


def _lines(records: Records, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (records.read(name) or b"").splitlines()]
