"""A stream through `match`: it is a DataFrame like any other, and sees one version of the index as long as it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from spark.frames import rows_of
from tidings.spark import compile_index, match

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_a_stream_is_matched(spark: SparkSession, tmp_path: Path) -> None:
    subscriptions = spark.createDataFrame(
        [(1, "n >= 5", "ann"), (2, "tags = 'a'", "bob")], "id int, where string, owner string"
    )
    compile_index(subscriptions, tmp_path / "index", progress=False)
    (tmp_path / "events").mkdir()
    events = spark.readStream.schema("id string, n int, tags array<string>").option("maxFilesPerTrigger", 1)
    matches = match(
        events.json(str(tmp_path / "events")), tmp_path / "index", event_columns=["n"], subscription_columns=["owner"]
    )
    assert matches.isStreaming
    publish(tmp_path, 0, [{"id": "a", "n": 5, "tags": ["a"]}, {"id": "b", "n": 4}, {"n": 9}])
    publish(tmp_path, 1, [{"id": "c", "n": 6, "tags": ["b"]}])
    run(matches, tmp_path)
    compile_index(spark.createDataFrame([(3, "TRUE")], "id int, where string"), tmp_path / "index", progress=False)
    publish(tmp_path, 2, [{"id": "d", "n": 1, "tags": ["a"]}])
    run(matches, tmp_path)
    found = spark.read.parquet(str(tmp_path / "matches"))
    assert rows_of(found) == [("a", 5, 1, "ann"), ("a", 5, 2, "bob"), ("c", 6, 1, "ann"), ("d", 1, 2, "bob")]


def publish(folder: Path, number: int, events: list[dict[str, object]]) -> None:
    lines = "\n".join(map(json.dumps, events))
    (folder / "events" / f"{number}.json").write_text(lines, encoding="utf-8")


def run(matches: DataFrame, folder: Path) -> None:
    writer = matches.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(folder / "matches"))
    assert query.awaitTermination(120)
    assert query.exception() is None
