"""What a driver that runs for days keeps of the versions of an index: what is needed, the last ones, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spark.frames import rows_of
from tidings.spark import Sharding, compile_index, match, open_index
from tidings.spark.recent import LastUsed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_the_last_used_are_kept_and_those_that_are_needed() -> None:
    needed, dropped = {1}, list[int]()
    kept = LastUsed[int, int](2, needed.__contains__, dropped.append)
    for number in range(5):
        assert kept.get(number, int(number).__int__) == number
    assert (kept.values(), dropped) == ([1, 3, 4], [0, 2])
    assert kept.get(3, lambda: 33) == 3
    kept.get(5, lambda: 5)
    assert (kept.values(), dropped) == ([1, 3, 5], [0, 2, 4])
    kept.drop(lambda number: number < 4)
    assert (kept.values(), dropped) == ([1, 5], [0, 2, 4, 3])
    needed.clear()
    kept.get(6, lambda: 6)
    assert (kept.values(), dropped) == ([5, 6], [0, 2, 4, 3, 1])


def table(spark: SparkSession, *wheres: str) -> DataFrame:
    return spark.createDataFrame(list(enumerate(wheres)), "id int, where string")


def test_shards_of_old_versions_are_removed(spark: SparkSession, tmp_path: Path) -> None:
    """Those of an open version stay, and so do its queries."""
    events, sharding = spark.createDataFrame([("e", 1)], "id string, n int"), Sharding(2, by_events=False)

    def folders() -> set[Path]:
        from tidings.spark.sharded import _made

        return {shards.folder.path for shards in _made.values() if shards.index.path == str(tmp_path / "index")}

    held, queries, seen = [], [], set[Path]()
    for number in range(4):
        compile_index(table(spark, *[f"n = {number}"] * (number + 1)), tmp_path / "index", instead=True, progress=False)
        index = open_index(spark, tmp_path / "index")
        found = match(events, index, "sharded", sharding=sharding)
        assert found.count() == (2 if number == 1 else 0)
        seen |= folders()
        if number == 1:
            held.append(index)
            queries.append(found)
        else:
            index.close()
    assert len(seen) == 4
    assert {path for path in seen if path.exists()} == folders()
    assert len(folders()) == 2
    assert queries[0].count() == 2
    held[0].close()
    match(events, tmp_path / "index", "sharded", sharding=sharding)
    assert len(folders()) == 1


def test_a_version_more_ships_what_is_new_and_takes_back_what_is_old(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark import SparkFiles

    path, events = tmp_path / "index", spark.createDataFrame([("e", 1)], "id string, n int")

    def shipped() -> dict[str, int]:
        root = Path(SparkFiles.getRootDirectory())
        return {file.name: file.stat().st_size for file in root.glob("tidings-*")}

    def matches() -> list[tuple[object, ...]]:
        with open_index(spark, path) as index:
            return rows_of(match(events, index, reach="copy"))

    before = shipped().keys()
    compile_index(table(spark, *[f"n = {number % 50}" for number in range(3_000)]), path, progress=False)
    assert len(matches()) == 60
    first = shipped()
    large = max(first, key=lambda name: first[name])
    for number in range(3):
        more = spark.createDataFrame([(-1 - number, "TRUE")], "id int, where string")
        compile_index(more, path, progress=False)
        assert len(matches()) == 61 + number
    later = shipped()
    assert large in later
    assert sum(size for name, size in later.items() if name not in first) < 10_000
    assert len(later.keys() - before) <= 6, "old versions are there yet"
    compile_index(table(spark, "n = 1"), path, instead=True, progress=False)
    assert matches() == [("e", 0)]
    assert large not in shipped()
