"""The sharded strategy answers as the reference does, whatever scheme, shards and form; and it evens the load."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings

from conformance.groups import GROUPS
from conformance.test_conformance import REFERENCE, outcome_of
from spark.frames import frames_of, in_parts, rows_of, together
from spark.test_conformance import ALIKE, events_of, subscriptions_of
from strategies import Batch, batches
from tidings import Matcher, SettingError, Settings, holds, print_expression
from tidings.rendezvous.composite import single
from tidings.rendezvous.ranges import Intervals
from tidings.spark.merging import merged, merged_when_all_came
from tidings.spark.routing import column_of_attribute, keys_of_events
from tidings.spark.sharding import SCHEMES, Sharding

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidings.spark.shards import Shards

FEW = 40  # examples of hypothesis, in one job


# The conformance suite


@pytest.mark.parametrize("shards", [pytest.param(1, marks=pytest.mark.slow), 5])
def test_conformance(spark: SparkSession, tmp_path: Path, shards: int) -> None:
    from tidings.spark import compile_index, match

    for number, some in enumerate(ALIKE.values()):
        path = tmp_path / str(number)
        keys = [(each.name, id) for each in some for id in subscriptions_of(each)]
        places = [(each.name, position) for each in some for position in range(len(events_of(each)))]
        wheres = [where for each in some for where in subscriptions_of(each).values()]
        how = getattr(some[0], "settings", Settings())
        table = spark.createDataFrame(list(enumerate(wheres)), "id int, where string")
        compile_index(table, path, analyser=how.analyser.name, statistics=how.statistics, segments=2, progress=False)
        carried = frames_of(spark, [event for each in some for event in events_of(each)])
        sharding = Sharding(shards, by_events=False)  # the frames are many, and each would be a job
        pairs = rows_of(together([match(frame, path, "sharded", sharding=sharding) for frame in carried.frames]))
        assert len(set(pairs)) == len(pairs), "a match was given twice"
        matcher = Matcher.load(path)
        answers = [matcher.match_many(table) for table in carried.tables]
        assert set(pairs) == {
            pair for each in answers for pair in zip(*map(pa.ChunkedArray.to_pylist, each.columns), strict=True)
        }
        named = {(places[event], keys[id]) for event, id in pairs}
        for each in some:
            if each in GROUPS:
                here = {(place[1], key[1]) for place, key in named if place[0] == key[0] == each.name}
                unable = {places[position][1] for position in carried.unable if places[position][0] == each.name}
                expected = outcome_of(REFERENCE.name, each.name).pairs
                assert here == {pair for pair in expected if pair[0] not in unable}, each.name


# What hypothesis draws


def drawn() -> list[Batch]:
    found: list[Batch] = []

    @settings(max_examples=FEW, phases=[Phase.generate])
    @given(batches())
    def collect(batch: Batch) -> None:
        found.append(batch)

    collect()
    return found


def test_shards_answer_as_the_reference(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import compile_index, match

    examples = drawn()
    wheres = [where for subscriptions, _ in examples for where in subscriptions]
    events: list[Any] = [event for _, sources in examples for event in sources if "id" not in event]
    carried = frames_of(spark, events)
    texts = [(f"s{number}", print_expression(where)) for number, where in enumerate(wheres)]
    table = spark.createDataFrame(texts, "id string, where string")
    compile_index(table, tmp_path / "index", segments=2, progress=False)
    sharding = Sharding(3, by_events=False)
    found = [match(frame, tmp_path / "index", "sharded", sharding=sharding) for frame in carried.frames]
    pairs = rows_of(together(found))
    assert len(set(pairs)) == len(pairs)
    expected = {
        (event, f"s{number}")
        for event in range(len(events))
        for number, where in enumerate(wheres)
        if event not in carried.unable and holds(where, events[event])
    }
    wrong = {*pairs} ^ expected
    assert [(texts[int(id[1:])][1], events[event], (event, id) in expected) for event, id in wrong] == []


# Small tables of every kind

SUBSCRIPTIONS = [
    "symbol = 'a'",
    "symbol IN ('a', 'b', 'c')",
    "symbol = 'b' AND n > 3",
    "n BETWEEN 2 AND 4",
    "n >= 5",
    "n < 100",
    "n = 7 OR symbol = 'c'",
    "symbol LIKE 'lo%'",
    "symbol LIKE '%ger'",
    "symbol LIKE '%ong%'",
    "symbol ILIKE 'LON%'",
    "symbol LIKE 'l%r' OR n = 1",
    "has_all(tags, 'x', 'y')",
    "has_any(tags, 'y', 'z')",
    "array_contains(tags, 'x') AND r.`a.b` = 1",
    "r.`a.b` > 0",
    "NOT symbol = 'a'",
    "symbol IS NULL",
    "TRUE",
    "n BETWEEN 5 AND 4",
    "at >= TIMESTAMP '2024-01-02 00:00:00' AND symbol <> 'b'",
]
SCHEMA = "id int, symbol string, n int, tags array<string>, r struct<`a.b`: double>, at timestamp"


def events(spark: SparkSession) -> DataFrame:
    from datetime import UTC, datetime

    symbols, tags = ["a", "b", "c", "longer", "LONG", None], [["x", "y"], ["z"], ["x"], [], None]
    rows = [
        (
            number,
            symbols[number % 6],
            None if number % 11 == 0 else number % 9,
            tags[number % 5],
            {"a.b": float(number % 3)},
            datetime(2024, 1, 1 + number % 3, tzinfo=UTC),
        )
        for number in range(60)
    ]
    return in_parts(spark.createDataFrame(rows, SCHEMA))


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tidings.spark import compile_index, remove_ids

    path = tmp_path_factory.mktemp("sharded") / "index"
    rows = [(number, where, f"owner {number}") for number, where in enumerate([*SUBSCRIPTIONS, "TRUE"])]
    table = spark.createDataFrame(rows, "id int, where string, owner string")
    compile_index(table, path, segments=2, progress=False)
    remove_ids(spark, path, [len(SUBSCRIPTIONS)])
    return path


@pytest.mark.parametrize("treat_heavy", [True, False], ids=["treated", "not treated"])
def test_every_scheme_gives_the_same_matches(spark: SparkSession, index: Path, treat_heavy: bool) -> None:
    from pyspark.sql.functions import lit

    from tidings.spark import match

    given, expected = events(spark), rows_of(match(events(spark), index, "replicated"))
    schemes: list[Any] = [*SCHEMES, single(Intervals(2))] if treat_heavy else ["access predicate", "matching tree"]
    found = []
    for number, scheme in enumerate(schemes):
        sharding = Sharding(4, scheme, treat_heavy, by_events=number % 2 == 0)
        found.append(match(given, index, "sharded", sharding=sharding).select(lit(number), "*"))
    rows = rows_of(together(found))
    for number, scheme in enumerate(schemes):
        assert [row[1:] for row in rows if row[0] == number] == expected, scheme


@pytest.mark.parametrize("lists", [False, True], ids=["pairs", "lists"])
def test_forms_are_those_of_the_replicated_strategy(spark: SparkSession, index: Path, lists: bool) -> None:
    from tidings.spark import match

    given = events(spark)
    given = given.union(given.where("id < 9"))  # the same events twice
    for chosen in ({}, {"event_columns": ["n", "tags"], "subscription_columns": ["owner"]}):
        columns: Mapping[str, Any] = {"lists": lists, **chosen}
        expected = match(given, index, "replicated", **columns)
        found = match(given, index, "sharded", sharding=Sharding(3, "every gram"), **columns)
        assert found.schema == expected.schema
        assert alike(found, lists) == alike(expected, lists)


def test_more_shards_than_bits_in_a_word(spark: SparkSession, index: Path) -> None:
    from tidings.spark import match

    expected = rows_of(match(events(spark), index, "replicated"))
    assert rows_of(match(events(spark), index, "sharded", sharding=Sharding(70, "every gram"))) == expected


def alike(frame: DataFrame, lists: bool) -> list[str]:
    """The rows in one order, and lists in one order."""
    rows = [[*row.values()] for row in frame.toArrow().to_pylist()]
    if lists:
        rows = [[*row[:-1], sorted(map(repr, row[-1]))] for row in rows]
    return sorted(map(repr, rows))


def test_what_a_matcher_added_is_sharded_too(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import match

    matcher = Matcher(tmp_path / "index")
    matcher.add_many([("one", "symbol = 'a'"), ("two", "n > 3")])
    matcher.remove("two")
    matcher.add("three", "symbol = 'a' AND n = 0")
    given = spark.createDataFrame([(1, "a", 0), (2, "b", 9)], "id int, symbol string, n int")
    assert rows_of(match(given, tmp_path / "index", "sharded")) == [(1, "one"), (1, "three")]
    matcher.close()


def test_nothing_to_match(spark: SparkSession, index: Path) -> None:
    from tidings.spark import match

    never = spark.createDataFrame([("never", "FALSE")], "id string, where string")
    none = never.where("FALSE")
    for table in (never, none):
        assert match(events(spark), table, "sharded").count() == 0
    assert match(events(spark), never, "sharded", lists=True).count() == 60
    assert match(events(spark).where("FALSE"), index, "sharded").count() == 0
    assert match(events(spark).selectExpr("cast(NULL as int) as id", "n"), index, "sharded").count() == 0


def test_a_stream_is_sharded(spark: SparkSession, index: Path, tmp_path: Path) -> None:
    from tidings.spark import match

    (tmp_path / "events").mkdir()
    for number in range(2):
        lines = [{"id": 2 * number + k, "symbol": "ab"[k], "n": 5 * k, "tags": ["x", "y"]} for k in range(2)]
        (tmp_path / "events" / f"{number}.json").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(tmp_path / "events"))
    expected = match(spark.read.schema(SCHEMA).json(str(tmp_path / "events")), index, "replicated")
    for lists in (False, True):
        found = match(source, index, "sharded", lists=lists, sharding=Sharding(3))
        assert found.isStreaming
        name = f"sharded_{lists}"
        query = found.writeStream.format("memory").queryName(name).trigger(availableNow=True).start()
        assert query.awaitTermination(120)
        assert query.exception() is None
        table = spark.table(name)
        if lists:
            assert table.count() == 4
            table = table.selectExpr("event_id", "explode(subscription_ids)")
        assert rows_of(table) == rows_of(expected)


# Load


def skewed(spark: SparkSession, keys: int = 200, exponent: float = 1.2) -> tuple[DataFrame, DataFrame]:
    """Subscriptions and events whose symbols follow Zipf's law."""
    generator = np.random.default_rng(7)
    weights = 1 / np.arange(1, keys + 1) ** exponent
    asked, seen = (generator.choice(keys, size, p=weights / weights.sum()).tolist() for size in (4000, 1500))
    lows = generator.integers(0, 100, 4000).tolist()
    wheres = [(n, f"symbol = 'S{key}' AND low <= {low}") for n, (key, low) in enumerate(zip(asked, lows, strict=True))]
    quotes = [(number, f"S{key}", number % 100) for number, key in enumerate([*seen, *range(keys, keys + 500)])]
    return (
        spark.createDataFrame(wheres, "id int, where string"),
        in_parts(spark.createDataFrame(quotes, "id int, symbol string, low int")),
    )


def test_heavy_keys(spark: SparkSession, tmp_path: Path) -> None:
    """The same matches with and without treatment; with it, both loads are more even."""
    from tidings.spark import compile_index, match, open_index
    from tidings.spark.question import asked
    from tidings.spark.sharded import _asking, _expected, _routing, _sample, prepared

    subscriptions, quotes = skewed(spark)
    compile_index(subscriptions, tmp_path / "index", progress=False)
    expected = rows_of(match(quotes, tmp_path / "index", "replicated"))
    loads: dict[bool, tuple[Shards, Any]] = {}
    with open_index(spark, tmp_path / "index") as opened:
        for treat_heavy in (False, True):
            sharding = Sharding(8, treat_heavy=treat_heavy)
            assert rows_of(match(quotes, opened, "sharded", sharding=sharding)) == expected
            question = asked(quotes, opened, "id", (), (), False, "auto")
            shards, sample = prepared(question, sharding), _sample(question)
            assert sample is not None
            loads[treat_heavy] = shards, _expected(_routing(question, shards, _asking(question)), shards, sample)
    (plain, plain_visits), (treated, treated_visits) = loads[False], loads[True]
    assert (plain.replication, plain.split_keys, plain.replicated_keys) == (1, 0, 0)
    assert treated.split_keys > 0
    assert 1 < treated.replication <= 1.5
    assert treated.largest_over_mean < 1.3 < 1.5 < plain.largest_over_mean
    assert (
        treated_visits.visits.max() / treated_visits.visits.mean()
        < 1.5
        < plain_visits.visits.max() / plain_visits.visits.mean()
    )
    assert plain_visits.dropped == treated_visits.dropped > 0
    assert plain_visits.visits.sum() == plain_visits.events - plain_visits.dropped
    assert treated_visits.visits.sum() > plain_visits.visits.sum()


def test_explained(spark: SparkSession, index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tidings.spark import match

    match(events(spark), index, "sharded", sharding=Sharding(4), lists=True, explain=True)
    said = capsys.readouterr().out
    assert "strategy   sharded: as was asked" in said
    assert "shards     4, by access predicate: " in said
    assert " visits for each event, 0% go nowhere; busiest shard " in said
    assert "(of 60 events); lists are put together by a second one" in said
    match(events(spark), index, explain=True)
    assert "strategy   replicated: each host maps the whole index" in capsys.readouterr().out


def test_large_indexes_are_sharded_by_themselves(
    spark: SparkSession, index: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tidings.spark import match

    monkeypatch.setattr("tidings.spark.placement.MAPPED", 1e-9)
    monkeypatch.setattr("tidings.spark.placement.SCANNED", 0.9)
    match(events(spark), index, explain=True)
    assert "strategy   sharded: the index has " in capsys.readouterr().out
    monkeypatch.setattr("tidings.spark.placement.SCANNED", 0.0)
    match(events(spark), index, explain=True)
    assert "of the subscriptions meet every event wherever they are" in capsys.readouterr().out


def test_settings_are_checked() -> None:
    with pytest.raises(SettingError, match="shards is a number from 1 to 4096, or None for a good one, not 0"):
        Sharding(0)
    with pytest.raises(
        SettingError, match=r"scheme is one of rendezvous, or the name of one: access predicate, .*'tree'"
    ):
        Sharding(scheme="tree")


# Parts


def test_keys_of_a_column_are_those_of_its_rows() -> None:
    """Each different value is asked about once, and nothing is lost or added by that."""
    scheme = SCHEMES["access predicate"]((), 1, Settings())
    table = pa.table(
        {
            "s": ["a", None, "b", "a", "a"],
            "n": pa.array([1.5, 1.5, None, 2.0, float("nan")]),
            "t": [["x"], ["x", "y"], None, [], ["y"]],
            "nothing": pa.nulls(5),
        }
    )
    rows, keys = keys_of_events(scheme, None, table)
    one_by_one = [keys_of_events(scheme, None, table.slice(row, 1))[1] for row in range(5)]
    for row in range(5):
        assert sorted(keys[rows == row]) == sorted(one_by_one[row])
    of_elements = {"t": frozenset(["value"])}
    assert set(keys_of_events(scheme, of_elements, table)[0].tolist()) == {0, 1, 4}
    assert len(keys_of_events(scheme, {"t": frozenset(["word"])}, table)[0]) == 4  # the words of the strings


@pytest.mark.parametrize(
    ("attribute", "column"), [("a", "a"), ("a.b", "a"), (r"a\.b.c", "a.b"), (r"a\\.b", "a\\"), ("", "")]
)
def test_column_of_attribute(attribute: str, column: str) -> None:
    assert column_of_attribute(attribute) == column


def test_lists_are_put_together() -> None:
    """Of two events that are alike in everything, as many rows come out as went in, wherever batches end."""
    rows = [  # id, hash, shard, first shard, list
        ("a", 1, 0, 0, [1, 2]),
        ("a", 1, 0, 0, [1, 2]),
        ("a", 1, 2, 0, [3]),
        ("a", 1, 2, 0, [3]),
        ("b", 1, 0, 0, []),
        ("c", 2, 1, 1, [9]),
        ("c", 2, 3, 1, []),
    ]
    names = ["id", "tag", "shard", "home", "found"]
    table = pa.table([pa.array(column) for column in zip(*rows, strict=True)], names)
    expected = [("a", [1, 2, 3]), ("a", [1, 2, 3]), ("b", []), ("c", [9])]
    for size in (1, 2, 3, 7):
        for found in (
            merged(table.to_batches(size)),
            merged_when_all_came(table.take([6, 2, 4, 0, 5, 3, 1]).to_batches(size)),
        ):
            assert [tuple(row.values()) for batch in found for row in batch.to_pylist()] == expected
    assert list(merged([])) == list(merged_when_all_came([])) == []
