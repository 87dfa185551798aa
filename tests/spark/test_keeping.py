"""What a driver that runs for days keeps of the versions of an index: what is needed, the last ones, and no more."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from random import Random
from threading import Event, Lock
from typing import TYPE_CHECKING

import pytest

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


def test_threads_wait_for_what_another_makes_and_for_nothing_else() -> None:
    kept, made = LastUsed[str, str](2), list[str]()
    begun, other_is_there = Event(), Event()

    def slow() -> str:
        made.append("slow")
        begun.set()
        assert other_is_there.wait(60)
        return "slow"

    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(kept.get, "slow", slow)
        assert begun.wait(60)
        second = threads.submit(kept.get, "slow", slow)
        assert threads.submit(kept.get, "other", lambda: "other").result(60) == "other"
        other_is_there.set()
        assert (first.result(60), second.result(60), made) == ("slow", "slow", ["slow"])


def test_what_a_thread_failed_to_make_another_makes() -> None:
    kept = LastUsed[str, int](2)
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: 1 // 0)
    assert kept.get("a", lambda: 2) == 2


def test_nothing_is_dropped_between_being_made_and_being_used() -> None:
    """Threads want more things than are kept; what one of them uses is there until it is done with it."""
    counting, users, gone = Lock(), Counter[int](), set[int]()
    serial = count()  # what is made again is another thing
    kept = LastUsed[int, int](1, lambda thing: users[thing] > 0, gone.add)

    def use(thing: int) -> None:
        with counting:
            users[thing] += 1

    def work(seed: int) -> None:
        choices = Random(seed)
        for _ in range(500):
            thing = kept.get(choices.randrange(6), lambda: next(serial), use)
            assert thing not in gone
            with counting:
                users[thing] -= 1

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert len(gone) > 100


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


def test_streams_of_one_driver_match_at_once(spark: SparkSession, tmp_path: Path) -> None:
    """Each runs its batches in a thread of its own: two of the same index, two of others, all of them shipped."""
    names = ("a", "a", "b", "c")
    events = spark.range(0, 40, 1, 2).selectExpr("id", "int(id % 4) n").localCheckpoint()
    for name in sorted({*names}):
        compile_index(table(spark, "n = 0", f"n = {ord(name) - 96}"), tmp_path / name, progress=False)

    def asked(name: str) -> list[list[tuple[object, ...]]]:
        found = []
        for number in range(3):
            with open_index(spark, tmp_path / name) as index:
                strategy = ("replicated", "sharded")[number % 2]
                answer = match(events, index, strategy, sharding=Sharding(2, by_events=False), reach="copy")
                found.append(sorted(rows_of(answer)))
        return found

    with ThreadPoolExecutor(len(names)) as threads:
        for name, found in zip(names, threads.map(asked, names), strict=True):
            n = ord(name) - 96
            expected = sorted([(id, 0) for id in range(0, 40, 4)] + [(id, 1) for id in range(n, 40, 4)])
            assert found == [expected] * 3
