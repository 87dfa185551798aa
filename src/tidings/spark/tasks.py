"""Work that is divided by number: tasks that are told which one they are, and of how many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tidings.spark.reaching import is_classic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def cores_of(spark: SparkSession) -> int:
    """How many tasks run side by side; of a session of Spark Connect, as many as a shuffle has."""
    if is_classic(spark):
        return int(spark.sparkContext.defaultParallelism)
    return int(spark.conf.get("spark.sql.shuffle.partitions") or 2)


def of_tasks(spark: SparkSession, work: Callable[[int, int], Iterator[Any]], schema: str | StructType) -> DataFrame:
    """What tasks make that are told their number and how many they are."""
    tasks = 2 * cores_of(spark)

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from work(task, tasks)

    return spark.range(0, tasks, 1, tasks).mapInArrow(run, schema)
