"""The sharded strategy answers as the reference does, whatever scheme, shards and form; and it evens the load."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings

from conformance.groups import GROUPS
from conformance.test_conformance import REFERENCE, outcome_of
from matchers import options_of
from spark.frames import frames_of, in_parts, rows_of, together
from spark.test_conformance import ALIKE, events_of, subscriptions_of
from strategies import Batch, batches
from tidings import Event, Matcher, SettingError, Settings, holds, parse, print_expression
from tidings.index.compiled import CompiledIndex
from tidings.model.normal_form import conjunctions
from tidings.model.values import normal
from tidings.rendezvous.composite import single
from tidings.rendezvous.ranges import Intervals
from tidings.rendezvous.scheme import EVERYWHERE, Key, key_hash
from tidings.rendezvous.sets import Elements
from tidings.spark.event_keys import EventKeys, column_of_attribute
from tidings.spark.index_keys import keys_by_value, stores_by_value
from tidings.spark.merging import merged, merged_when_all_came
from tidings.spark.sharding import SCHEMES, Sharding
from tidings.spark.subscription_keys import FOR_ALL, SubscriptionKeys, signed_hash

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
        compile_index(table, path, **options_of(how), segments=2, uncompiled=0, progress=False)
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


def test_a_sample_of_large_events_is_small(spark: SparkSession, tmp_path: Path) -> None:
    """Whatever partitions there are, and however large an event is, the driver gets BYTES_OF_SAMPLE at most."""
    from tidings.spark import compile_index, open_index
    from tidings.spark import sharded as module
    from tidings.spark.question import asked

    compile_index(spark.createDataFrame([(1, "t = 'x'")], "id int, where string"), tmp_path / "index", progress=False)
    large = spark.range(0, 2_000, 1, 20).selectExpr("id", "repeat('x', 5000) t")
    huge = spark.range(0, 4, 1, 2).selectExpr("id", "repeat('x', 2000000) t")
    with open_index(spark, tmp_path / "index") as opened, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BYTES_OF_HEAD", 100_000)
        patch.setattr(module, "BYTES_OF_SAMPLE", 300_000)
        sample, none = (module._sample(asked(frame, opened, "id", (), (), False, "auto")) for frame in (large, huge))
    assert none is None
    assert sample is not None
    assert 150_000 < sample.nbytes <= 300_000
    ids = sample.column(0).to_pylist()
    assert len({id // 100 for id in ids}) > 10, "most partitions are in it"
    assert len(ids) == len(set(ids))


def test_explained(spark: SparkSession, index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tidings.spark import match

    match(events(spark), index, "sharded", sharding=Sharding(4), lists=True, explain=True)
    said = capsys.readouterr().out
    assert "strategy   sharded: as was asked" in said
    assert "shards     4, by access predicate: " in said
    assert re.search(
        r" visits and \d+ bytes for each event, 0% go nowhere; busiest shard .*; lists are put together", said
    )
    match(spark.range(0, 5_000, 1, 2).selectExpr("id", "id n"), index, "sharded", explain=True)
    assert re.search(r"\(of 1,000 events\); \d+\.\d kB in all, as Spark estimates the events", capsys.readouterr().out)
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
    events = [Event(None, normal(row)) for row in table.to_pylist()]
    keys = [{key for key in scheme.event_keys(event) if key != EVERYWHERE} for event in events]
    known = np.unique(
        np.array([key_hash(key) for key in set().union(*keys[1:])], np.uint64)
    )  # not those of row 0 alone
    made = EventKeys(scheme, None, known)
    for _ in range(2):  # what is remembered is what was made
        rows, numbers = made.found(table)
        for row in range(5):
            expected = {key_hash(key) for key in keys[row]} & set(known.tolist())
            assert sorted(known[numbers[rows == row]].tolist()) == sorted(expected)
    of_elements = EventKeys(scheme, {"t": frozenset(["value"])}, known)
    assert set(of_elements.found(table)[0].tolist()) == {0, 1, 4}
    of_words = EventKeys(scheme, {"t": frozenset(["word"])}, known)
    assert len(of_words.found(table)[0]) == 4  # the words of the strings
    assert len(EventKeys(scheme, None, known[:0]).found(table)[0]) == 0


def test_values_that_are_remembered_are_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.spark.event_keys.REMEMBERED", 3)
    scheme = single(Elements())
    known = np.unique(np.array([key_hash(key) for key in Elements().keys_of_value("n", 4)], np.uint64))
    made = EventKeys(scheme, None, known)
    for values in ([1, 4], [4, 5, 6], [1, 2, 3, 4, 5], [4]):
        rows, numbers = made.found(pa.table({"n": values}))
        assert (rows.tolist(), numbers.tolist()) == ([values.index(4)], [0])


@pytest.mark.parametrize("name", ["access predicate", "intervals", "elements"])
def test_subscriptions_that_are_alike_have_the_keys_of_each(name: str) -> None:
    """Keyed many at a time as one by one, where no literal decides; each under keys that cover it in any case."""
    wheres = [
        "s = 'a' AND n BETWEEN 1 AND 2", "s = 'b' AND n BETWEEN 2 AND 300", "s = 'a' AND n BETWEEN 1 AND 2",
        "n < 5", "n < 7.5", "n = 0.0", "n = -0.0", "b = TRUE", "b = FALSE", "b <> TRUE", "s = 'a' AND s = 'b'",
        "n >= 5 AND n <= 6", "n >= 1 AND n <= 2", "s IN ('a', 'b') OR n = 1", "s LIKE 'a%'", "s LIKE 'b%'", "NOT n = 1",
        "s > 'a'", "s > 'b'", "TRUE", "FALSE", "n = 1 AND FALSE", "t <= TIMESTAMP '2020-01-01 00:00:00'",
        "t <= TIMESTAMP '2021-01-01 00:00:00'", "a.b = 1 AND a.c = 'x'", "a.b = 2 AND a.c = 'y'",
    ]  # fmt: skip
    scheme = SCHEMES[name]((), 4, Settings())
    made = SubscriptionKeys(scheme, 4)
    for where in [*wheres, *wheres]:
        keys = frozenset[Key]().union(*map(scheme.subscription_keys, conjunctions(parse(where))))
        expected = FOR_ALL if len(keys) > 4 or EVERYWHERE in keys else tuple(map(signed_hash, keys))
        assert sorted(made.hashes(where)) == sorted(expected), where


def test_keys_of_what_the_index_finds_by_a_string() -> None:
    """They are read from the index, and are those of the text; all else is left, and removed ones were never asked."""
    wheres = [
        "s = 'a' AND n < 3", "s = 'b' AND n < 3", "s IN ('a', 'b')", "s = 'a' AND n < 4 OR s = 'a' AND n > 9",
        "s = 'a' OR t = 'b'", "has_any(tags, 'x', 'y')", "s LIKE 'abc'", "a.b = 'x'", "s IN ('a', 'b', 'c', 'd', 'e')",
        "n = 4", "TRUE", "FALSE", "s ILIKE 'abc'", "matches(s, 'abc')", "s = 'a' OR n = 4", "s > 'a'", "b = TRUE",
    ]  # fmt: skip
    part = CompiledIndex(Settings()).built([(number, where, parse(where)) for number, where in enumerate(wheres)])
    scheme = SCHEMES["access predicate"]((), 4, Settings())
    assert stores_by_value(scheme)
    assert not stores_by_value(single(Intervals()))
    numbers = np.delete(np.arange(len(wheres)), part.find(1))
    found = keys_by_value(part, numbers, 4)
    keys: dict[str, set[int]] = {}
    for number, key in zip(found.number.tolist(), found.key.tolist(), strict=True):
        assert key not in keys.setdefault(part.wheres[number], set())
        keys[part.wheres[number]].add(key)
    made = SubscriptionKeys(scheme, 4)
    assert keys == {where: set(made.hashes(where)) for where in [wheres[0], *wheres[2:9]]}
    assert sorted(part.wheres[number] for number in found.left.tolist()) == sorted(wheres[9:])
    assert found.kinds == {("s", "value"), ("t", "value"), ("tags", "value"), ("a.b", "value")}


def test_a_string_in_several_tables_is_one_key() -> None:
    """Enough of each kind that tables are made for both ranges."""
    wheres = ["s = 'a{0}' AND n < {0} OR s = 'a{0}' AND m > {0}".format(number % 50) for number in range(200)]
    part = CompiledIndex(Settings()).built([(number, where, parse(where)) for number, where in enumerate(wheres)])
    assert len(part.segment.table_kind) > 1
    found = keys_by_value(part, np.arange(200), 4)
    assert sorted(found.number.tolist()) == list(range(200))
    assert len(set(found.key.tolist())) == 50


def test_a_subscription_that_nothing_satisfies_teaches_nothing() -> None:
    made = SubscriptionKeys(SCHEMES["access predicate"]((), 4, Settings()), 4)
    assert made.hashes("s = 'a' AND n BETWEEN 2 AND 1") == ()
    (of_b,) = made.hashes("s = 'b' AND n BETWEEN 1 AND 2")
    assert made.kinds == {("s", "value")}
    assert of_b == signed_hash(Key("value", "s", "string b"))
    assert made.hashes("s = 'b' AND n BETWEEN 2 AND 1") in ((), (of_b,))


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
