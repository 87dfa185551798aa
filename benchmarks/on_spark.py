"""What the benchmarks on Spark share: a session on two cores, how tables come in, where answers go, what was shuffled.

Answers go to Spark's no-op sink, which takes every row and keeps none. pyspark is imported when it is needed, so that
the other benchmarks run where it is not installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks.measuring import scale
from tidings.spark_session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidings.spark import Compiled

CORES = 2
PARTITIONS = 2 * CORES  # of events: a handful
SETTINGS = {
    "spark.driver.memory": "6g",  # local executors live in the driver; a join that broadcasts all alerts needs some
    "spark.driver.maxResultSize": "2g",  # the keys of five million subscriptions come to the driver
}
ROOT = Path(__file__).parents[1]


@contextmanager
def session(name: str) -> Iterator[SparkSession]:
    """A session of two cores whose Python workers can import this package, wherever they were started."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with spark_session(f"tidings benchmark {name}", f"local[{CORES}]", SETTINGS) as spark:
        yield spark


def to_nowhere(frame: DataFrame) -> None:
    """Makes every row, and keeps none."""
    frame.write.format("noop").mode("overwrite").save()


def cached(spark: SparkSession, table: pa.Table, partitions: int = PARTITIONS) -> DataFrame:
    """The table in the memory of the session, in that many partitions."""
    frame = spark.createDataFrame(table).repartition(partitions).cache()
    if frame.count() != table.num_rows:
        raise SystemExit(f"Spark has another number of rows than the {table.num_rows:,} that it was given")
    return frame


def numbered(table: pa.Table) -> pa.Table:
    """Events with their positions as ids."""
    return table.add_column(0, "id", pa.array(np.arange(table.num_rows)))


def compiled(spark: SparkSession, texts: Sequence[str], folder: Path, segments: int) -> Compiled:
    """An index of the texts in a new folder `index`; their ids are their positions. They come from a Parquet file."""
    from tidings.spark import compile_index

    file = folder / "subscriptions.parquet"
    pyarrow.parquet.write_table(pa.table({"id": np.arange(len(texts)), "where": pa.array(texts, pa.string())}), file)
    made = compile_index(spark.read.parquet(str(file)), folder / "index", segments=segments, progress=False)
    file.unlink()
    if made.added != len(texts):
        raise SystemExit(f"of {len(texts):,} subscriptions {made.added:,} were added, and {made.refused:,} refused")
    return made


def figure_file(name: str) -> Path:
    """Where a figure is drawn: that of the documents is of a full run only."""
    return ROOT / "benchmarks" / "figures" / name if scale() == 1 else ROOT / "out" / name


# Shuffles


@dataclass(frozen=True, slots=True)
class Shuffled:
    """What a job wrote for other tasks: bytes and rows; and for each task of the stages that read it, rows."""

    nbytes: int
    rows: int
    read_by: tuple[int, ...]


def shuffled_by(spark: SparkSession, work: Callable[[], Any], group: str) -> Shuffled:
    """What `work` shuffles, as its stages reported it. `group` names its jobs, and is used once in a session."""
    context = spark.sparkContext
    context.setJobGroup(group, group)
    try:
        work()
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]  # None takes it away
    java: Any = context._jsc
    java.sc().listenerBus().waitUntilEmpty()  # reports arrive in a thread of their own
    store, tracker = java.sc().statusStore(), context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    ids = sorted({stage for job in jobs if job is not None for stage in job.stageIds})
    stages = [store.lastStageAttempt(stage) for stage in ids]
    return Shuffled(
        sum(int(stage.shuffleWriteBytes()) for stage in stages),
        sum(int(stage.shuffleWriteRecords()) for stage in stages),
        tuple(rows for stage in stages if stage.shuffleReadRecords() for rows in _read_by_task(store, stage)),
    )


def _read_by_task(store: Any, stage: Any) -> list[int]:
    tasks = store.taskList(stage.stageId(), stage.attemptId(), stage.numTasks())
    metrics = [tasks.apply(number).taskMetrics() for number in range(tasks.size())]
    return [int(each.get().shuffleReadMetrics().recordsRead()) for each in metrics if each.isDefined()]
