"""What benchmarks on Spark measure against is right: workloads and alternatives agree with the reference, in small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import spark as end_to_end
from benchmarks import spark_memory, spark_shards, stocks
from benchmarks.alternatives import spark_joins
from benchmarks.data import Publication, made_publications, quotes
from benchmarks.measuring import Measured
from benchmarks.on_spark import cached, compiled, numbered, shuffled_by, to_nowhere
from benchmarks.spark_shards_figure import Case, draw
from benchmarks.workloads.skewed import SkewedBands
from benchmarks.workloads.strings import StringQuestion, questions
from tidings import holds, parse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Pair = tuple[int, int]


def expected(texts: Sequence[str], events: Sequence[Mapping[str, Any]]) -> set[Pair]:
    """By the reference: numbers of events, and of the texts that hold of them."""
    wheres = [parse(text) for text in texts]
    return {
        (at, number) for at, event in enumerate(events) for number, where in enumerate(wheres) if holds(where, event)
    }


def pairs_in(answers: DataFrame) -> set[Pair]:
    found = answers.toArrow()
    pairs = list(zip(*(found[name].to_pylist() for name in ("event_id", "subscription_id")), strict=True))
    assert len(set(pairs)) == len(pairs), "a pair was given twice"
    return set(pairs)


# Joins


def test_joins_find_the_alerts(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIDINGS_DATA", str(tmp_path))
    table, _ = quotes(30)
    made = stocks.alerts(table, 300)
    assert {alert[0] for alert in made} == set(range(5))
    wanted = expected(stocks.texts(made), table.to_pylist())
    joins = spark_joins.AlertJoins(spark, made, table)
    for how in spark_joins.WAYS:
        assert pairs_in(joins.pairs(how)) == wanted
    joins.forget()


@pytest.mark.parametrize(
    ("how", "hashed"),
    [(spark_joins.BROADCAST_EVENTS, 0), (spark_joins.BROADCAST_ALERTS, 0), (spark_joins.SHUFFLED_HASH, 4)],
)
def test_joins_are_made_as_they_are_named(spark: SparkSession, how: str, hashed: int) -> None:
    made = [(kind, "a", 1.0, 2.0) for kind in range(5)]
    table = pa.table({"symbol": ["a"], "open": [1.0], "high": [1.0], "low": [1.0], "volume": [1]})
    joins = spark_joins.AlertJoins(spark, made, table)
    plan = joins.pairs(how)._jdf.queryExecution().sparkPlan().toString()
    assert plan.count("ShuffledHashJoin") == hashed
    assert plan.count("BroadcastHashJoin") == 4 - hashed
    side = "BuildRight" if how == spark_joins.BROADCAST_ALERTS else "BuildLeft"
    assert plan.count(f"BroadcastNestedLoopJoin {side}") == 1
    joins.forget()


def test_patterns_of_titles_are_found_by_joins(spark: SparkSession) -> None:
    records = [*made_publications(30), Publication("It's 100% \\ _ done (a+b)", ()), Publication("aXb a_b", ())]
    asked = [each for kind in ("prefix", "suffix", "word", "substring") for each in questions(kind, records, 40)]
    asked = [each for each in asked if each.attribute == "title"]
    asked += [StringQuestion("substring", "title", piece) for piece in ("100%", "\\ _", "a_b", "t's", "(a+b)")]
    titles = [record.title for record in records]
    wanted = expected([spark_joins.like_text(each) for each in asked], [{"title": title} for title in titles])
    assert wanted == {
        (at, number) for at, title in enumerate(titles) for number, each in enumerate(asked) if each.holds(title)
    }
    joins = spark_joins.TitleJoins(spark, asked, titles)
    for how in (spark_joins.LIKE, spark_joins.RLIKE):
        assert pairs_in(joins.pairs(how)) == wanted


def test_questions_about_titles_are_of_all_kinds() -> None:
    asked = end_to_end.title_questions(made_publications(50), 20)
    assert len(asked) == 20
    assert {each.kind for each in asked} == set(end_to_end.PATTERN_KINDS)
    assert {each.attribute for each in asked} == {"title"}


# Limits


def test_constant_answers_have_the_size_that_is_asked_for(spark: SparkSession) -> None:
    events = cached(spark, pa.table({"id": np.arange(70), "more": np.arange(70)}))
    lists = end_to_end.constant_lists(events, 3_000).toArrow()
    assert sorted(lists["event_id"].to_pylist()) == list(range(70))
    assert {len(each) for each in lists["subscription_ids"].to_pylist()} == {3_000}
    assert end_to_end.constant_pairs(events, 3_000).count() == 70 * 3_000
    events.unpersist()


# Shards


@pytest.mark.parametrize("skew", [0.0, 1.2])
def test_an_event_has_about_ten_matches_and_a_scan_finds_them(skew: float) -> None:
    workload = SkewedBands.of(400, 10, skew)
    events = workload.events(10)
    counts = np.bincount([at for at, _ in expected(workload.texts(), events.to_pylist())], minlength=10)
    assert workload.scan(events) == counts.tolist()
    for count in (3_000, 30_000):
        many = SkewedBands.of(count, 30, skew)
        assert np.mean(many.scan(many.events(300))) == pytest.approx(10, rel=0.15)


def test_symbols_are_drawn_by_zipfs_law() -> None:
    drawn = np.bincount(SkewedBands.of(20_000, 10, 1.2).symbol)
    assert drawn[0] / drawn[3] == pytest.approx(4**1.2, rel=0.15)
    assert np.bincount(SkewedBands.of(20_000, 10, 0).symbol) == pytest.approx(2_000, rel=0.1)


def test_every_way_gives_the_same_pairs_and_tells_what_it_shuffles(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import open_index

    workload = SkewedBands.of(300, 10, 1.2)
    table = workload.events(50)
    events = cached(spark, numbered(table))
    made = compiled(spark, workload.texts(), tmp_path, 1)
    wanted = expected(workload.texts(), table.to_pylist())
    with open_index(spark, made.path) as index:
        ways = spark_shards.prepared(events, index, made.seconds)
        answers = [spark_shards.answered(spark, way, f"{tmp_path} {way.name}") for way in ways]
    assert [set(map(tuple, each.pairs.T.tolist())) for each in answers] == [wanted] * 3
    replicated, treated, untreated = (each.shuffled for each in answers)
    assert (replicated.nbytes, replicated.rows) == (0, 0)
    assert untreated.rows == sum(untreated.read_by) == 50  # an event has one key, which is on one shard
    assert treated.rows == sum(treated.read_by) >= 50
    assert min(treated.nbytes, untreated.nbytes) > 0
    assert ways[1].largest_over_mean < ways[2].largest_over_mean  # a quarter of all subscriptions has the first key
    events.unpersist()


def test_what_is_shuffled_is_counted_once(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(0, 1_000, 1, 4).selectExpr("cast(id % 2 as int) part").repartitionById(2, "part")
    shuffled = shuffled_by(spark, lambda: to_nowhere(frame), f"{tmp_path} once")
    assert (shuffled.rows, shuffled.read_by) == (1_000, (500, 500))
    assert shuffled.nbytes > 0


def test_the_figure_names_its_ways_and_axes(tmp_path: Path) -> None:
    cases = [
        Case(way, keys, size, Measured(way, 10, (1.0, 2.0, 4.0)), 1.0, 0 if way == "one" else 500, 1.5, 1.2, 1.1, 1.3)
        for keys in ("uniform", "Zipf")
        for size in (10_000, 100_000)
        for way in ("one", "two", "three")
    ]
    drawn = draw(cases, 10, tmp_path / "new" / "figure.svg").read_text()
    for text in [
        "one (uniform)",
        "two (Zipf)",
        "three (Zipf)",
        "subscriptions",
        "100,000",
        "seconds to match 10 events",
    ]:
        assert f">{text}</text>" in drawn


# Memory

BLOCKS = """\
7f00-7f10 r--s 00000000 fe:00 11                         /x/index/a.segment
Rss:                  12 kB
Pss:                   6 kB
Shared_Clean:          8 kB
Shared_Dirty:          0 kB
Private_Clean:         4 kB
Private_Dirty:         0 kB
VmFlags: rd mr me ms sd
7f20-7f30 r--s 00000000 fe:00 12                         /x/index/b.segment
Rss:                   4 kB
Pss:                   4 kB
Shared_Clean:          0 kB
Shared_Dirty:          0 kB
Private_Clean:         0 kB
Private_Dirty:         4 kB
7f40-7f50 rw-p 00000000 00:00 0
Rss:                 100 kB
7f60-7f70 r--s 00000000 fe:00 13                         /x/index-of-another/a.segment
Rss:                 100 kB
"""


def test_the_memory_of_mapped_files_is_added_up() -> None:
    memory, inodes = spark_memory.memory_of_files(BLOCKS, "/x/index")
    assert inodes == {"11", "12"}
    assert memory == spark_memory.Memory(*(kilobytes * 1024 for kilobytes in (16, 10, 8, 8, 4)))


@pytest.mark.skipif(not spark_memory.SMAPS.exists(), reason="only Linux tells how memory is shared")
def test_two_workers_match_and_share_the_index(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import Row

    workload = SkewedBands.of(5_000, 10, 0)
    batch = workload.events(200)
    made = compiled(spark, workload.texts(), tmp_path, 1)
    rows, size = spark_memory.looked(spark, made.path, batch, tmp_path)
    assert 0 < max(row.files_rss for row in rows) < 1.1 * size
    assert [row.look for row in rows] == [0, 0, 1, 1, 2, 2]
    assert [row.matches for row in rows[-2:]] == [sum(workload.scan(batch))] * 2
    assert not rows[0].inodes
    spark_memory.must_be_shared(rows)
    alone = [Row(**row.asDict() | {"files_shared": 0, "files_rss": 2**24}) for row in rows]
    with pytest.raises(SystemExit, match=r"worker \d+ shares 0 of 16,777,216 bytes of the index"):
        spark_memory.must_be_shared(alone)
