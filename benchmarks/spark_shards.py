"""Sharded against replicated on Spark: what it takes to prepare and to match, what is shuffled, how even the load is.

Subscriptions `symbol = … AND price BETWEEN … AND …` on 100,000 to 5,000,000 subscriptions, symbols uniform or by Zipf,
heavy keys treated or not. On one machine sharding saves no memory and no network: what is seen here is its price, and
what it does to the loads. The pairs of each way are compared. Draws figures/spark_shards.svg; a scaled run in ../out.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.measuring import Measured, in_turn, same_counts, scaled
from benchmarks.on_spark import (
    CORES,
    Shuffled,
    cached,
    compiled,
    figure_file,
    numbered,
    session,
    shuffled_by,
    to_nowhere,
)
from benchmarks.spark_shards_figure import Case, draw
from benchmarks.workloads.skewed import Array, SkewedBands

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidings.spark import Index, Sharding

SIZES = tuple(scaled(size, least=1_000) for size in (100_000, 1_000_000, 5_000_000))
SYMBOLS = scaled(10_000, least=100)
EVENTS = scaled(200_000, least=10_000)
SKEWS = {"uniform": 0.0, "Zipf 1.2": 1.2}
SHARDS = 8
SCANNED = 20  # events that are compared with all subscriptions
REPETITIONS = 3
REPLICATED, TREATED, UNTREATED = "replicated", "sharded", "sharded, heavy keys as they are"


@dataclass(frozen=True, slots=True)
class Prepared:
    """One way to match: how, seconds before the first event, and what it does to the subscriptions."""

    name: str
    ask: Callable[[], DataFrame]
    seconds: float
    copies: float = 1.0
    largest_over_mean: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """The pairs of one way, and what was shuffled for them."""

    name: str
    pairs: Array
    shuffled: Shuffled


def run() -> None:
    print(f"\nsharded against replicated: {EVENTS:,} events, {SYMBOLS:,} symbols, {SHARDS} shards, {CORES} cores")
    cases = []
    with session("spark_shards") as spark:
        for keys, skew in SKEWS.items():
            for size in dict.fromkeys(SIZES):
                with tempfile.TemporaryDirectory(prefix="tidings-shards-") as folder:
                    cases += measure(spark, SkewedBands.of(size, SYMBOLS, skew), keys, Path(folder))
    print(f"\ndrawn in {draw(cases, EVENTS, figure_file('spark_shards.svg'))}")


def measure(spark: SparkSession, workload: SkewedBands, keys: str, folder: Path) -> list[Case]:
    """Each way on one set of subscriptions, in turn."""
    from tidings.spark import open_index

    size, table = len(workload.symbol), workload.events(EVENTS)
    events = cached(spark, numbered(table))
    made = compiled(spark, workload.texts(), folder, CORES)
    with open_index(spark, made.path) as index:
        ways = prepared(events, index, made.seconds)
        answers = [answered(spark, way, f"{way.name}, {keys}, {size}") for way in ways]
        matches = _verified(workload, table, answers)
        print(f"\n{keys} keys, {size:,} subscriptions: {matches / EVENTS:.1f} matches an event; pairs verified")
        measured = in_turn(REPETITIONS, EVENTS, **{way.name: partial(_asked, way) for way in ways})
        cases = [
            _case(way, keys, size, measured[way.name], answer.shuffled)
            for way, answer in zip(ways, answers, strict=True)
        ]
    for case in cases:
        _report(case)
    events.unpersist()
    return cases


def prepared(events: DataFrame, index: Index, compiling: float) -> list[Prepared]:
    """Replicated, and sharded with and without treatment of heavy keys. Both are made of a compiled index."""
    from tidings.spark import Sharding, match

    ways = [Prepared(REPLICATED, partial(match, events, index, "replicated"), compiling)]
    for name, treat_heavy in ((TREATED, True), (UNTREATED, False)):
        ways.append(_sharded(name, events, index, Sharding(SHARDS, treat_heavy=treat_heavy)))
    return ways


def _sharded(name: str, events: DataFrame, index: Index, sharding: Sharding) -> Prepared:
    from tidings.spark import match
    from tidings.spark.question import asked
    from tidings.spark.reaching import AUTO
    from tidings.spark.sharded import prepared as made

    start = time.perf_counter()
    shards = made(asked(events, index, "id", (), (), False, AUTO), sharding)
    seconds = time.perf_counter() - start
    ask = partial(match, events, index, "sharded", sharding=sharding)
    return Prepared(name, ask, seconds, shards.replication, shards.largest_over_mean)


def _asked(way: Prepared) -> None:
    to_nowhere(way.ask())


def answered(spark: SparkSession, way: Prepared, group: str) -> Answered:
    found: list[Array] = []
    shuffled = shuffled_by(spark, lambda: found.append(sorted_pairs(way.ask())), group)
    return Answered(way.name, found[0], shuffled)


def _verified(workload: SkewedBands, table: pa.Table, answers: list[Answered]) -> int:
    """How many pairs there are: the same in all ways, and in some events as many as a comparison with all finds."""
    first, *others = answers
    count = int(first.pairs.shape[1])
    for other in others:
        if not np.array_equal(other.pairs, first.pairs):
            raise SystemExit(f"{other.name} gave {other.pairs.shape[1]:,} pairs, not the {count:,} of {first.name}")
    counts = np.bincount(first.pairs[0], minlength=table.num_rows)[:SCANNED]
    same_counts(np.array(workload.scan(table.slice(0, SCANNED))), replicated=counts)
    return count


def sorted_pairs(answers: DataFrame) -> Array:
    """Events in the first row, subscriptions in the second; in order."""
    table = answers.toArrow()
    pairs = np.stack([table[name].to_numpy() for name in ("event_id", "subscription_id")])
    ordered: Array = pairs[:, np.lexsort(pairs[::-1])]
    return ordered


def _case(way: Prepared, keys: str, size: int, measured: Measured, shuffled: Shuffled) -> Case:
    busiest = max(shuffled.read_by) * SHARDS / sum(shuffled.read_by) if shuffled.rows else 1.0
    return Case(
        way.name,
        keys,
        size,
        measured,
        way.seconds,
        shuffled.nbytes,
        shuffled.rows / EVENTS,
        way.copies,
        way.largest_over_mean,
        busiest,
    )


def _report(case: Case) -> None:
    before = "compiled in" if case.way == REPLICATED else "sharded in"
    print(f"  {case.way}")
    print(
        f"    {before} {case.preparing:.1f} s; matched in {case.measured.median:.2f} s, spread "
        f"{case.measured.spread:.0%}, {case.measured.rate:,.0f} events/s"
    )
    if case.shuffled:
        print(
            f"    {case.shuffled / 1e6:,.2f} MB shuffled, {case.visits:.2f} visits an event; {case.copies:.2f} copies; "
            f"largest shard {case.largest:.2f} of the mean, busiest {case.busiest:.2f}"
        )
