"""On Spark, end to end: a million stock alerts on two cores of one machine, answers to the no-op sink.

Two limits are measured in the same run: twice what `Matcher.match_many` does on one core with the same index, and how
fast the session takes constant answers of the same size out of Python. What one would write today are joins: one for
each template of alerts, and one of titles with patterns. Counts are verified against the kernel by hand of `stocks`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.alternatives.spark_joins import LIKE, RLIKE, WAYS, AlertJoins, TitleJoins, like_text
from benchmarks.data import Publication, publications, quotes
from benchmarks.measuring import Measured, in_turn, report, same_count, same_counts, scaled
from benchmarks.on_spark import CORES, cached, compiled, numbered, session, to_nowhere
from benchmarks.stocks import Alert, Limit, alerts, texts
from benchmarks.workloads.strings import StringQuestion, questions
from tidings import Matcher

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUBSCRIPTIONS = scaled(1_000_000)
EVENTS = scaled(371_803, least=20_000)  # all that there are
JOINED = scaled(8_000, least=2_000)
PATTERN_KINDS = ("prefix", "suffix", "word", "substring")
PATTERNS, TITLES = scaled(10_000, least=1_000), scaled(2_000, least=500)
SEGMENTS = 1  # asked about each event
BATCH = 10_000  # rows that Spark hands to Python at a time, unless told otherwise
REPETITIONS = 3
TARGET = 0.6  # of the lower limit


def run() -> None:
    table, where_from = quotes(EVENTS)
    made = alerts(table, SUBSCRIPTIONS)
    print(f"\nSpark, {CORES} cores: {SUBSCRIPTIONS:,} subscriptions, {EVENTS:,} events ({where_from})")
    with tempfile.TemporaryDirectory(prefix="tidings-spark-") as folder, session("spark") as spark:
        index = compiled(spark, texts(made), Path(folder), SEGMENTS)
        print(f"  compiled by Spark in {index.seconds:.1f} s, into {SEGMENTS} segment")
        end_to_end(spark, made, table, Path(index.path))
        against_joins(spark, made, table.slice(0, JOINED), Path(index.path))
        against_patterns(spark, Path(folder))


# Against the limits


def end_to_end(spark: SparkSession, made: list[Alert], table: pa.Table, index: Path) -> None:
    from tidings.spark import match

    events, matcher = cached(spark, numbered(table)), Matcher.load(index)
    batches = [table.slice(at, BATCH) for at in range(0, table.num_rows, BATCH)]
    matches = _verified(made, table, match(events, index, lists=True), match(events, index))
    length = max(1, round(matches / table.num_rows))
    for lists, constant in ((True, constant_lists), (False, constant_pairs)):
        fixed = constant(events, length)
        to_nowhere(fixed)
        measured = in_turn(
            REPETITIONS,
            matches,
            match=partial(_written, partial(match, events, index, lists=lists)),
            match_many_on_one_core=partial(_one_by_one, matcher, batches, lists),
            constant_answers=partial(to_nowhere, fixed),
        )
        measured["constant_answers"] = replace(measured["constant_answers"], count=length * table.num_rows)
        _report_limits("lists" if lists else "pairs", measured)
    events.unpersist()


def _one_by_one(matcher: Matcher, batches: list[pa.Table], lists: bool) -> None:
    for batch in batches:
        matcher.match_many(batch, lists=lists)


def _verified(made: list[Alert], table: pa.Table, lists: DataFrame, pairs: DataFrame) -> int:
    """The number of matches: of each event in its list, and of all in the pairs, as by hand."""
    limit = Limit(made, table)
    expected = np.array([len(limit.run(row, row + 1)) for row in range(table.num_rows)])
    sizes = lists.selectExpr("event_id", "size(subscription_ids) found").sort("event_id").toArrow()
    same_counts(expected, match_lists=sizes["found"].to_numpy())
    matches = int(expected.sum())
    same_count(matches, match_pairs=pairs.count())
    print(f"  {matches:,} matches, {matches / table.num_rows:,.1f} an event; verified")
    return matches


def _report_limits(form: str, measured: dict[str, Measured]) -> None:
    ours, alone, constant = (measured[name] for name in ("match", "match_many_on_one_core", "constant_answers"))
    limits = {f"{CORES} x match_many on one core": CORES * alone.rate, "constant answers": constant.rate}
    lower = min(limits, key=limits.__getitem__)
    print(f"\n{form} to the no-op sink, against the limits")
    print(f"  {'match':<30} {ours.rate:>14,.0f} matches/s   spread {ours.spread:>4.0%}")
    for (name, rate), each in zip(limits.items(), (alone, constant), strict=True):
        print(f"  {name:<30} {rate:>14,.0f} matches/s   spread {each.spread:>4.0%}")
    share = ours.rate / limits[lower]
    verdict = "reached" if share >= TARGET else "missed"
    print(f"  match does {share:.2f} of the lower limit, {lower}; {TARGET} is the target: {verdict}")


def constant_lists(events: DataFrame, length: int) -> DataFrame:
    """For each event a list of that length, always with the same content."""
    from tidings.spark.answering import ANSWERS

    most = max(1, ANSWERS // length)

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        offsets = np.arange(most + 1, dtype=np.int32) * np.int32(length)
        lists = pa.ListArray.from_arrays(offsets, pa.array(np.arange(most * length)))
        for batch in batches:
            for start in range(0, batch.num_rows, most):
                ids = batch.column(0).slice(start, most)
                yield pa.RecordBatch.from_arrays([ids, lists.slice(0, len(ids))], ["event_id", "subscription_ids"])

    return events.select("id").mapInArrow(write, "event_id bigint, subscription_ids array<bigint>")


def constant_pairs(events: DataFrame, length: int) -> DataFrame:
    """For each event that many rows, always with the same content."""
    from tidings.spark.answering import ANSWERS

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = pa.array(np.arange(ANSWERS))
        rows = pa.RecordBatch.from_arrays([numbers, numbers], ["event_id", "subscription_id"])
        for batch in batches:
            left = batch.num_rows * length
            while left:
                yield rows.slice(0, left)
                left -= min(left, ANSWERS)

    return events.select("id").mapInArrow(write, "event_id bigint, subscription_id bigint")


# Against what one would write today


def against_joins(spark: SparkSession, made: list[Alert], table: pa.Table, index: Path) -> None:
    """One join for each template, and `match`: pairs of ids to the no-op sink."""
    from tidings.spark import match

    joins, events = AlertJoins(spark, made, table), cached(spark, numbered(table))
    ways: dict[str, Callable[[], DataFrame]] = {how.replace(" ", "_"): partial(joins.pairs, how) for how in WAYS}
    ways["match"] = partial(match, events, index)
    same_count(len(Limit(made, table).run(0, table.num_rows)), **{name: way().count() for name, way in ways.items()})
    measured = in_turn(REPETITIONS, table.num_rows, **_to_nowhere(ways))
    title = f"against one join per template, {len(made):,} subscriptions, {table.num_rows:,} events, pairs; verified"
    report(title, measured, "events", "broadcast_events", "match")
    joins.forget()
    events.unpersist()


def against_patterns(spark: SparkSession, folder: Path) -> None:
    """A join of titles with patterns, by LIKE and by RLIKE, and `match` with the same patterns as subscriptions."""
    from tidings.spark import match

    records, where_from = publications()
    asked = title_questions(records, PATTERNS)
    titles = [record.title for record in Random(7).sample(records, TITLES)]
    place = folder / "patterns"
    place.mkdir()
    index = compiled(spark, [like_text(each) for each in asked], place, SEGMENTS)
    joins, events = TitleJoins(spark, asked, titles), cached(spark, numbered(pa.table({"title": titles})))
    ways: dict[str, Callable[[], DataFrame]] = {f"{how}_join": partial(joins.pairs, how) for how in (LIKE, RLIKE)}
    ways["match"] = partial(match, events, index.path)
    expected = sum(each.holds(title) for each in asked for title in titles)
    same_count(expected, **{name: way().count() for name, way in ways.items()})
    measured = in_turn(REPETITIONS, len(titles), **_to_nowhere(ways))
    title = f"against a join by pattern, {len(asked):,} subscriptions, {len(titles):,} titles ({where_from}), "
    report(f"{title}{expected:,} pairs; verified", measured, "events", f"{LIKE}_join", "match")


def title_questions(records: list[Publication], count: int) -> list[StringQuestion]:
    """As many beginnings, ends, words and pieces of titles."""
    share = -(-count // len(PATTERN_KINDS))
    both = [each for kind in PATTERN_KINDS for each in questions(kind, records, 2 * share)]  # of titles and authors
    return [each for each in both if each.attribute == "title"][:count]


def _to_nowhere(ways: dict[str, Callable[[], DataFrame]]) -> dict[str, Callable[[], None]]:
    return {name: partial(_written, way) for name, way in ways.items()}


def _written(way: Callable[[], DataFrame]) -> None:
    """Planned anew each time: that is part of what a query takes."""
    to_nowhere(way())
