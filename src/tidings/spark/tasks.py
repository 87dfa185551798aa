"""Work that is divided by number: tasks that are told which one they are, and of how many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tidings.spark.opening import IMPORTING, settle
from tidings.spark.sessions import is_classic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

MOST_CORES = 10_000  # of a session of Spark Connect
ASKED = 8  # tasks that say something of their executors, at least
PARTS = 16  # in which the driver receives files, at least: it has the memory for one or two of them


def cores_of(spark: SparkSession) -> int:
    """How many tasks run side by side. Spark Connect does not say it, but divides a range by it."""
    if is_classic(spark):
        return int(spark.sparkContext.defaultParallelism)
    from pyspark.sql.functions import spark_partition_id

    return spark.range(MOST_CORES).select(spark_partition_id()).distinct().count()


def of_tasks(spark: SparkSession, work: Callable[[int, int], Iterator[Any]], schema: str | StructType) -> DataFrame:
    """What tasks make that are told their number and how many they are."""
    tasks = 2 * cores_of(spark)

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from work(task, tasks)
        settle(IMPORTING)

    return spark.range(0, tasks, 1, tasks).mapInArrow(run, schema)


def told_by_executors(spark: SparkSession, tell: Callable[[], Any], kind: str) -> list[Any]:
    """What executors say, each answer once. As many tasks are asked as there may be executors; one that starts later
    is not."""

    def ask(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array([tell()] * batch.num_rows)], ["told"])

    tasks = max(ASKED, 2 * spark.sparkContext.defaultParallelism) if is_classic(spark) else 4 * ASKED
    answers = spark.range(0, tasks, 1, tasks).mapInArrow(ask, f"told {kind}").distinct()
    return [row.told for row in answers.collect()]


def in_parts(rows: DataFrame, *columns: str) -> DataFrame:
    """The rows in parts that the driver can ask for one after the other; those that agree in the columns stay together.

    Adaptive execution makes as few parts as their sizes allow, of as many as a shuffle has; where these are few, parts
    of a large index would be larger than the memory of the driver.
    """
    setting = rows.sparkSession.conf.get
    many = int(setting("spark.sql.shuffle.partitions") or 0) >= PARTS
    if setting("spark.sql.adaptive.enabled") == "true" and many:
        return rows.repartition(*columns)
    return rows.repartition(PARTS, *columns)


def one_by_one(rows: DataFrame) -> Iterator[Row]:
    """The rows, of which the driver has a part or two at a time.

    As an RDD, where there is one: the scheduler keeps what the jobs of a query have answered until the query ends, and
    that of `DataFrame.toLocalIterator` ends before its first job begins, so that they are kept for good. An index of a
    million subscriptions left 150 MB behind, each time that one was compiled.
    """
    if is_classic(rows.sparkSession):
        return rows.rdd.toLocalIterator(prefetchPartitions=True)
    return rows.toLocalIterator(prefetchPartitions=True)
