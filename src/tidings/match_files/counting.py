"""Events matched and written, and counted on the way: the numbers come from the same pass over the data."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidings.match_files.formats import CSV, CSV_READING, JSONL, SPARK_NAMES, local_path
from tidings.match_files.output import join_parts, parts_beside, write_table
from tidings.match_files.request import Request
from tidings.match_files.sources import CORRUPT
from tidings.match_files.summary import PROBLEMS_SHOWN, Problem, TopSubscription, number_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidings.spark import Index, Sharding

ROW_SHOWN = 80  # characters of a row that cannot be read


@dataclass(frozen=True, slots=True)
class Counted:
    """What a run has seen and written. `problems` is None where they were not looked for."""

    events: int
    known: int
    matches: int
    problems: int | None
    first_problems: tuple[Problem, ...]
    problems_file: str | None
    seconds: float
    batches: int | None
    top: tuple[TopSubscription, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """One table of events that was matched."""

    events: int
    known: int
    matches: int


def counted_batch(
    spark: SparkSession, request: Request, events: DataFrame, index: str, say: Callable[[str], None]
) -> Counted:
    from tidings.spark.progress import shown_progress

    target = request.out_file
    start = time.perf_counter()
    with shown_progress(spark, "matching", sys.stderr.isatty()):
        if target is None:
            written = write_matches(request, events, index, request.out, request.overwrite)
            top = top_subscriptions(spark, request, request.out)
        else:
            with parts_beside(target) as parts:
                written = write_matches(request, events, index, str(parts), False)
                top = top_subscriptions(spark, request, str(parts))
                join_parts(parts, request.out_format, target)
    seconds = time.perf_counter() - start
    say(f"{number_of(written.events, 'event')} matched in {seconds:.1f} s")
    count, first, file = _problems(spark, request, events, index, say)
    return Counted(written.events, written.known, written.matches, count, first, file, seconds, None, top)


def write_matches(request: Request, events: DataFrame, index: str, folder: str, overwrite: bool) -> Written:
    """Writes part files into a folder, and counts what passes."""
    from pyspark.sql import Observation
    from pyspark.sql.functions import col, count, lit, size, sum

    from tidings.spark import match

    seen, found = Observation(), Observation()
    corrupt = [count(CORRUPT).alias("corrupt")] if CORRUPT in events.columns else []
    passing = events.observe(
        seen, count(lit(1)).alias("events"), count(col(f"`{request.id_column}`")).alias("known"), *corrupt
    )
    matches = match(
        passing.drop(CORRUPT),
        index,
        request.strategy,
        lists=request.lists,
        event_columns=request.event_columns,
        subscription_columns=request.subscription_columns,
        id_column=request.id_column,
        sharding=sharding_of(request),
    )
    each = sum(size(matches.columns[-1])) if request.lists else count(lit(1))
    write_table(matches.observe(found, each.alias("matches")), request.out_format, folder, overwrite)
    return Written(seen.get["events"], seen.get["known"], found.get["matches"] or 0)


def sharding_of(request: Request) -> Sharding | None:
    from tidings.spark import Sharding

    return Sharding(scheme=request.scheme) if request.scheme is not None else None


def problem_table(request: Request, events: DataFrame, index: Index | str) -> DataFrame:
    """Rows that do not fit the schema, events without an id, and values that cannot be read."""
    from pyspark.sql.functions import coalesce, col, concat, lit, substring

    from tidings.spark import problems

    id = col(f"`{request.id_column}`")
    if CORRUPT not in events.columns:
        return problems(events, index, id_column=request.id_column)
    # A row that cannot be read has no id for that reason, and is told of once.
    good = events.where(f"{CORRUPT} is null or `{request.id_column}` is not null").drop(CORRUPT)
    message = concat(lit("the row cannot be read: "), substring(CORRUPT, 1, ROW_SHOWN))
    broken = events.where(f"{CORRUPT} is not null").select(
        id.alias("event_id"), lit(None).cast("string").alias("attribute"), coalesce(message, lit("")).alias("reason")
    )
    return broken.union(problems(good, index, id_column=request.id_column))


def problem_of(row: Any) -> Problem:
    return Problem(row["event_id"], str(row["reason"]).partition("\n")[0], row["attribute"])


def _problems(
    spark: SparkSession, request: Request, events: DataFrame, index: str, say: Callable[[str], None]
) -> tuple[int | None, tuple[Problem, ...], str | None]:
    target = request.beside("problems")
    local = local_path(target)
    if local is not None:
        local.unlink(missing_ok=True)  # of an earlier run
    if not request.problems:
        return None, (), None
    say("looking for values that could not be read …")
    found = problem_table(request, events, index)
    if local is None or not request.is_local:
        write_table(found, JSONL, target, True)
        count, first = first_problems(spark, target)
        return count, first, target if count else None
    with parts_beside(local) as parts:
        write_table(found, JSONL, str(parts), False)
        count, first = first_problems(spark, str(parts))
        if count:
            join_parts(parts, JSONL, local)
    return count, first, target if count else None


def first_problems(spark: SparkSession, folder: str) -> tuple[int, tuple[Problem, ...]]:
    table = spark.read.schema("event_id string, attribute string, reason string").json(folder)
    return table.count(), tuple(problem_of(row) for row in table.take(PROBLEMS_SHOWN))


def top_subscriptions(
    spark: SparkSession, request: Request, folder: str, first_batch: int | None = None
) -> tuple[TopSubscription, ...]:
    """Those with the most matches, from what was written; of a stream, from that batch on."""
    from pyspark.sql.functions import col, explode

    if not request.top:
        return ()
    kind = request.out_format
    reader = spark.read.format(SPARK_NAMES[kind])
    if kind == CSV:
        reader = reader.options(**CSV_READING)
    table = reader.load(folder)
    if first_batch is not None:
        table = table.where(col("batch") >= first_batch)
    if request.lists and "subscription_ids" in table.columns:
        table = table.select(explode("subscription_ids").alias("subscription_id"))
    elif request.lists:
        table = table.select(explode("subscriptions.subscription_id").alias("subscription_id"))
    if "subscription_id" not in table.columns:  # nothing was written, and the format keeps no schema
        return ()
    counts = table.groupBy("subscription_id").count().orderBy(col("count").desc(), "subscription_id")
    return tuple(TopSubscription(row[0], row[1]) for row in counts.take(request.top))
