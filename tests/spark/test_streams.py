"""Streams: each batch sees one version of the index, the same one when it runs again, and is delivered once."""

from __future__ import annotations

import json
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tidings
from spark.frames import rows_of
from tidings.errors import SettingError, StoreError
from tidings.index.folder import Writer, read_version
from tidings.spark import Batch, BatchMetrics, Index, ParquetSink, Sharding, Sink, metrics, problems, sharded, stream
from tidings.spark import streaming as streaming_module
from tidings.spark.measuring import WAIT_SECONDS
from tidings.spark.question import Question
from tidings.spark.shards import Shards

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "id string, n int"
SECONDS = 120  # in which any of these streams ends, however busy the machine


class Setting:
    """A folder with an index, events, a checkpoint and a place for matches."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.index = folder / "index"
        self.events = folder / "events"
        self.checkpoint = folder / "checkpoint"
        self.matches = folder / "matches"
        self.events.mkdir()

    def subscribe(self, **wheres: str) -> None:
        with tidings.Matcher(self.index) as matcher:
            matcher.add_many(wheres.items())

    def unsubscribe(self, id: str) -> None:
        with tidings.Matcher(self.index) as matcher:
            matcher.remove(id)

    def publish(self, number: int, *rows: tuple[str | None, int]) -> None:
        lines = "\n".join(json.dumps({"id": id, "n": n}) for id, n in rows)
        begun = self.events / f".{number}.json"
        begun.write_text(lines, encoding="utf-8")
        begun.rename(self.events / f"{number}.json")

    def source(self) -> DataFrame:
        return self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(self.events))

    def run(self, sink: Sink | Callable[[DataFrame, int], Any] | None = None, **options: Any) -> None:
        """Delivers what there is, or raises what stopped it."""
        query = stream(
            self.source(),
            options.pop("index", self.index),
            sink or ParquetSink(self.matches),
            options.pop("checkpoint", self.checkpoint),
            trigger="available",
            **options,
        )
        try:
            assert query.awaitTermination(SECONDS)
        finally:
            query.stop()

    def delivered(self) -> list[tuple[Any, ...]]:
        return rows_of(self.spark.read.parquet(str(self.matches)).select("event_id", "subscription_id", "batch"))

    def pins(self) -> list[str]:
        return sorted(path.stem.split("-")[-1] for path in self.index.glob("pin-stream-*.json"))


@pytest.fixture
def setting(spark: SparkSession, tmp_path: Path) -> Setting:
    return Setting(spark, tmp_path)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming_module, "PAUSE_SECONDS", 0.0)


def test_subscriptions_count_from_the_next_batch_on(setting: Setting) -> None:
    setting.subscribe(five="n >= 5", all="TRUE")
    setting.publish(0, ("a", 5), ("b", 4), (None, 9))
    setting.run()
    setting.subscribe(new="n < 5")
    setting.unsubscribe("all")
    setting.publish(1, ("c", 4), ("d", 6))
    setting.run()
    assert setting.delivered() == [
        ("a", "all", 0), ("a", "five", 0), ("b", "all", 0), ("c", "new", 1), ("d", "five", 1),
    ]  # fmt: skip
    first, second = metrics(setting.checkpoint)
    assert (first.batch, first.subscriptions, first.events, first.events_without_id, first.matches) == (0, 2, 3, 1, 3)
    assert (second.batch, second.subscriptions, second.events, second.matches) == (1, 2, 2, 2)
    assert (first.candidates, second.candidates) == (4, 4)  # few subscriptions are looked at one by one
    assert first.version < second.version == read_version(setting.index)[0].number


def test_a_batch_that_runs_again_sees_the_version_it_began_with(setting: Setting) -> None:
    setting.subscribe(old="TRUE")
    setting.publish(0, ("a", 1))
    seen: list[tuple[int, list[tuple[Any, ...]]]] = []

    def fails(matches: DataFrame, batch: int) -> None:
        seen.append((batch, rows_of(matches)))
        raise RuntimeError("the sink is away")

    with pytest.raises(Exception, match="the sink is away"):
        setting.run(fails)
    assert seen == [(0, [("a", "old")])] * 3
    setting.unsubscribe("old")
    for number in range(4):  # enough changes for the version to be removed if it were not kept
        setting.subscribe(**{f"new{number}": "TRUE"})
    assert setting.pins() == ["0"]
    setting.publish(1, ("b", 1))
    setting.run()
    assert setting.delivered() == [("a", "old", 0), *(("b", f"new{number}", 1) for number in range(4))]
    assert setting.pins() == ["1"]  # it is not known to be committed until the next one starts


def test_a_sink_that_fails_once_is_tried_again(setting: Setting) -> None:
    setting.subscribe(all="TRUE")
    setting.publish(0, ("a", 1))
    calls: list[int] = []

    def fails_once(matches: DataFrame, batch: int) -> None:
        calls.append(matches.count())
        if len(calls) == 1:
            raise RuntimeError("not now")

    setting.run(fails_once)
    assert calls == [1, 1]
    assert [(row.events, row.matches) for row in metrics(setting.checkpoint)] == [(1, 1)]


class DiesAfterWriting(Sink):
    """Delivers, and fails before the stream hears of it, as a kill at this point does."""

    def __init__(self, path: Path) -> None:
        self.sink = ParquetSink(path)

    def prepare(self, spark: SparkSession, stream: str) -> None:
        self.sink.prepare(spark, stream)

    def write(self, matches: DataFrame, batch: Batch) -> None:
        self.sink.write(matches, batch)
        raise RuntimeError("killed")


def test_what_was_delivered_before_the_stream_died_is_not_delivered_twice(setting: Setting) -> None:
    setting.subscribe(all="TRUE")
    setting.publish(0, ("a", 1), ("b", 2))
    with pytest.raises(Exception, match="killed"):
        setting.run(DiesAfterWriting(setting.matches), attempts=1)
    setting.run()
    assert setting.delivered() == [("a", "all", 0), ("b", "all", 0)]
    (row,) = metrics(setting.checkpoint)
    assert (row.batch, row.events, row.matches) == (0, None, None)  # nothing was matched this time


def test_a_version_that_is_gone_is_an_error_and_not_another_version(setting: Setting, tmp_path: Path) -> None:
    setting.subscribe(old="TRUE")
    setting.publish(0, ("a", 1))

    def fails(matches: DataFrame, batch: int) -> None:
        raise RuntimeError("away")

    with pytest.raises(Exception, match="away"):
        setting.run(fails, attempts=1)
    setting.index.rename(tmp_path / "moved")
    setting.subscribe(other="TRUE")  # a new index, which has a version of the same number
    with pytest.raises(Exception, match=r"batch 0 was begun with version 2 of .*another version of this number"):
        setting.run()
    setting.run(index=tmp_path / "moved")
    assert setting.delivered() == [("a", "old", 0)]


def test_after_a_batch_its_events_and_version_can_be_looked_at(setting: Setting) -> None:
    setting.subscribe(all="TRUE")
    setting.publish(0, ("a", 1), (None, 2))
    seen: list[tuple[Any, ...]] = []

    def look(events: DataFrame, index: Index, batch: BatchMetrics) -> None:
        seen.append((batch.batch, batch.matches, index.version.number, problems(events, index).count()))

    setting.run(after=look)
    assert seen == [(0, 1, read_version(setting.index)[0].number, 1)]


def test_lists_and_columns(setting: Setting) -> None:
    setting.subscribe(one="n = 1", all="TRUE")
    setting.publish(0, ("a", 1), ("b", 2))
    setting.run(lists=True, event_columns=["n"])
    found = setting.spark.read.parquet(str(setting.matches)).drop("batch")
    assert [(id, n, sorted(ids)) for id, n, ids in rows_of(found)] == [("a", 1, ["all", "one"]), ("b", 2, ["all"])]
    assert [row.matches for row in metrics(setting.checkpoint)] == [3]


@pytest.mark.parametrize("sharding", [None, Sharding(3, "elements"), Sharding(2, "matching tree", by_events=False)])
def test_a_sharded_stream(setting: Setting, monkeypatch: pytest.MonkeyPatch, sharding: Sharding | None) -> None:
    """Each version of the index is divided as was asked, and the matches are those of any stream."""
    divided: list[tuple[int, Sharding]] = []
    prepare = sharded._prepared

    def noted(question: Question, how: Sharding) -> Shards:
        divided.append((question.index.version.number, how))
        return prepare(question, how)

    monkeypatch.setattr(sharded, "_prepared", noted)
    options: dict[str, Any] = {"strategy": "sharded", "sharding": sharding}
    setting.subscribe(one="n = 1", all="TRUE")
    setting.publish(0, ("a", 1), ("b", 2))
    setting.run(**options)
    setting.subscribe(two="n = 2")
    setting.publish(1, ("c", 1), ("d", 2))
    setting.run(**options)
    first = [("a", "all", 0), ("a", "one", 0), ("b", "all", 0)]
    assert setting.delivered() == [*first, ("c", "all", 1), ("c", "one", 1), ("d", "all", 1), ("d", "two", 1)]
    assert divided == [(row.version, sharding or Sharding()) for row in metrics(setting.checkpoint)]


def test_a_sink_that_runs_no_action_leaves_the_counts_unknown(setting: Setting) -> None:
    """And nobody waits for them."""
    setting.subscribe(all="TRUE")
    setting.publish(0, ("a", 1))
    setting.publish(1, ("b", 1))
    setting.run(lambda matches, batch: None)
    rows = metrics(setting.checkpoint)
    assert [(row.batch, row.events, row.matches) for row in rows] == [(0, None, None), (1, None, None)]
    assert rows[1].seconds < WAIT_SECONDS


def test_no_subscriptions_and_no_matches_are_empty_batches(setting: Setting) -> None:
    Writer.create(setting.index, _settings(setting)).close()
    setting.publish(0, ("a", 1))
    setting.run()
    assert setting.delivered() == []
    assert [(row.subscriptions, row.events, row.matches) for row in metrics(setting.checkpoint)] == [(0, 1, 0)]


def _settings(setting: Setting) -> dict[str, Any]:
    from tidings.analysis.statistics import NO_STATISTICS
    from tidings.analysis.words import SIMPLE
    from tidings.reference import Settings
    from tidings.store import settings_record

    return settings_record(Settings(SIMPLE, NO_STATISTICS))


def test_events_with_one_id_are_two_events(setting: Setting) -> None:
    setting.subscribe(one="n = 1")
    setting.publish(0, ("a", 1), ("a", 1), ("a", 2))
    setting.run()
    assert setting.delivered() == [("a", "one", 0), ("a", "one", 0)]


def test_an_event_schema_that_changes_between_runs(setting: Setting) -> None:
    setting.subscribe(wide="m = 'x'", narrow="n = 1")
    setting.publish(0, ("a", 1))
    setting.run()
    (setting.events / "1.json").write_text('{"id": "b", "n": 1, "m": "x"}', encoding="utf-8")
    wider = setting.spark.readStream.schema("id string, m string, n bigint").json(str(setting.events))
    query = stream(wider, setting.index, ParquetSink(setting.matches), setting.checkpoint, trigger="available")
    assert query.awaitTermination(SECONDS)
    assert setting.delivered() == [("a", "narrow", 0), ("b", "narrow", 1), ("b", "wide", 1)]


def test_an_index_that_is_emptied_under_a_stream(setting: Setting) -> None:
    from tidings.spark import compile_index

    table = setting.spark.createDataFrame([("all", "TRUE", "ann")], "id string, where string, owner string")
    compile_index(table, setting.index, progress=False)
    setting.publish(0, ("a", 1))
    query = stream(
        setting.source(),
        setting.index,
        ParquetSink(setting.matches),
        setting.checkpoint,
        subscription_columns=["owner"],
    )
    try:
        query.processAllAvailable()
        compile_index(table.limit(0), setting.index, instead=True, progress=False)
        setting.publish(1, ("b", 2))
        query.processAllAvailable()
    finally:
        query.stop()
    assert setting.delivered() == [("a", "all", 0)]
    assert [(row.subscriptions, row.matches) for row in metrics(setting.checkpoint)] == [(1, 1), (0, 0)]


def test_events_with_names_that_differ_in_case_only(setting: Setting) -> None:
    setting.subscribe(one="n = 1 AND Id = 'a'")
    setting.publish(0, ("a", 1), ("b", 1))
    cased = setting.source().selectExpr("id", "n", "id AS Id")
    query = stream(cased, setting.index, ParquetSink(setting.matches), setting.checkpoint, trigger="available")
    assert query.awaitTermination(SECONDS)
    assert setting.delivered() == [("a", "one", 0)]
    assert [(row.events, row.matches) for row in metrics(setting.checkpoint)] == [(2, 1)]


def test_a_stream_runs_until_it_is_stopped(setting: Setting) -> None:
    setting.subscribe(all="TRUE")
    setting.publish(0, ("a", 1))
    query = stream(setting.source(), setting.index, ParquetSink(setting.matches), setting.checkpoint, name="tidings")
    try:
        query.processAllAvailable()
        setting.publish(1, ("b", 1))
        query.processAllAvailable()
        assert query.isActive
        assert query.name == "tidings"
    finally:
        query.stop()
    assert setting.delivered() == [("a", "all", 0), ("b", "all", 1)]


def test_a_stream_that_is_stopped_in_a_batch_does_not_try_it_again(setting: Setting) -> None:
    setting.subscribe(all="TRUE")
    setting.publish(0, ("a", 1))
    called = threading.Event()
    calls: list[int] = []
    finished = setting.events.parent / "finished"

    def long(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            time.sleep(SECONDS)  # the work; it is cancelled, and nobody waits for it
            finished.touch()
            yield batch

    def waits(matches: DataFrame, batch: int) -> None:
        calls.append(batch)
        called.set()
        matches.mapInArrow(long, matches.schema).collect()

    query = stream(setting.source(), setting.index, waits, setting.checkpoint)
    assert called.wait(SECONDS)
    query.stop()
    assert not finished.exists()
    assert calls == [0]
    setting.run()  # it is not lost
    assert setting.delivered() == [("a", "all", 0)]


def test_a_stream_that_is_stopped_says_so_in_few_words(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the error of the sink is; and Spark takes it for what it is, and not for a failure."""
    setting.subscribe(all="TRUE")
    setting.publish(0, ("a", 1))
    called = threading.Event()
    said: list[str] = []
    run = streaming_module._Batches.__call__

    def noted(batches: streaming_module._Batches, events: DataFrame, number: int) -> None:
        try:
            run(batches, events, number)
        except Exception:
            said.append(traceback.format_exc())
            raise

    def fails_when_stopped(matches: DataFrame, batch: int) -> None:
        jvm: Any = matches.sparkSession._jvm
        called.set()
        try:
            never = jvm.java.util.concurrent.CountDownLatch(1)
            getattr(never, "await")(SECONDS, jvm.java.util.concurrent.TimeUnit.SECONDS)  # stopping interrupts it
        except Exception as error:
            raise RuntimeError(f"{error}{'x' * 100_000}") from error

    monkeypatch.setattr(streaming_module._Batches, "__call__", noted)
    query = stream(setting.source(), setting.index, fails_when_stopped, setting.checkpoint)
    assert called.wait(SECONDS)
    query.stop()
    assert query.exception() is None
    [text] = said
    assert text.endswith(f"{streaming_module.INTERRUPTED}\n")
    assert text.count("calling") == 1
    setting.run()
    assert setting.delivered() == [("a", "all", 0)]


def test_an_index_and_a_checkpoint_that_hadoop_opens(setting: Setting, tmp_path: Path) -> None:
    """One at a time, through a view of local files."""
    names = {f"fs.viewfs.mounttable.streams.link./{name}": f"file://{tmp_path / name}" for name in ("all",)}
    (tmp_path / "all").mkdir()
    conf = {**names, "fs.viewfs.impl.disable.cache": "true"}
    for name, value in conf.items():
        setting.spark.conf.set(name, value)
    try:
        setting.index = tmp_path / "all" / "index"
        setting.subscribe(old="TRUE")
        setting.publish(0, ("a", 1))
        with pytest.raises(Exception, match="killed"):
            setting.run(DiesAfterWriting(setting.matches), attempts=1, index="viewfs://streams/all/index")
        for number in range(4):
            setting.subscribe(**{f"new{number}": "n = 2"})
        setting.publish(1, ("b", 2))
        other = tmp_path / "others"
        setting.run(index="viewfs://streams/all/index")
        assert setting.delivered() == [("a", "old", 0), *(("b", f"new{at}", 1) for at in range(4)), ("b", "old", 1)]
        copies = list((setting.checkpoint / "tidings").glob("index-*"))
        assert len(copies) == 1

        uri = "viewfs://streams/all/checkpoint"
        for _ in range(2):
            setting.run(ParquetSink(other), checkpoint=uri)
        assert [row.batch for row in metrics(uri)] == [0, 1]
        assert [row.matches for row in metrics(uri, setting.spark)] == [1, 5]
        with pytest.raises(SettingError, match="put one of the two into a local folder"):
            stream(setting.source(), "viewfs://streams/all/index", ParquetSink(other), uri)
    finally:
        for name in conf:
            setting.spark.conf.unset(name)


def test_what_cannot_be_streamed_is_said_at_once(setting: Setting) -> None:
    setting.subscribe(all="TRUE")
    sink = ParquetSink(setting.matches)
    table = setting.spark.createDataFrame([("a", 1)], SCHEMA)
    with pytest.raises(SettingError, match="stream takes a streaming DataFrame"):
        stream(table, setting.index, sink, setting.checkpoint)
    with pytest.raises(SettingError, match="attempts is a number of tries, 1 or more, not 0"):
        stream(setting.source(), setting.index, sink, setting.checkpoint, attempts=0)
    with pytest.raises(SettingError, match="a sink is a ParquetSink"):
        stream(setting.source(), setting.index, "matches", setting.checkpoint)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="no column 'price' to carry along"):
        stream(setting.source(), setting.index, sink, setting.checkpoint, event_columns=["price"])
    with pytest.raises(StoreError, match="holds no saved matcher"):
        stream(setting.source(), setting.index / "none", sink, setting.checkpoint)


def test_the_table_of_metrics_is_json_lines(setting: Setting) -> None:
    setting.subscribe(all="TRUE")
    setting.publish(0, ("a", 1))
    setting.run()
    assert metrics(setting.checkpoint / "none") == []
    (row,) = setting.spark.read.json(str(setting.checkpoint / "tidings" / "metrics")).collect()
    assert BatchMetrics(**row.asDict()) == metrics(setting.checkpoint)[0]
