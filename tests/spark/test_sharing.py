"""The memory of an index: mapped by all Python workers of a host from the same files, and copied by none."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tidings.spark import compile_index, match, open_index
from tidings.spark.files import IndexFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMAPS = Path("/proc/self/smaps")
pytestmark = pytest.mark.skipif(not SMAPS.exists(), reason="only Linux tells how memory is shared")


def looking(files: IndexFiles, meeting: Path) -> Any:
    """A task that opens the index, reads all of it, waits for another worker to have done so, and looks."""

    def look(batches: Iterable[Any]) -> Iterator[Any]:
        import os

        import pyarrow as pa

        from tidings.spark.opening import opened

        for _ in batches:
            assert opened(files) is opened(files)  # kept for the next task
            for part in opened(files).parts:
                assert sum(int(array.sum()) for array in part.segment) != 0
            (meeting / str(os.getpid())).touch()
            deadline = time.monotonic() + 60
            while len(list(meeting.iterdir())) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            rows = [{"pid": os.getpid(), **each} for each in mappings(files.folder)]
            time.sleep(0.5)  # what the other one sees must still be mapped here
            yield pa.RecordBatch.from_pylist(rows)

    return look


def mappings(folder: str) -> list[dict[str, Any]]:
    """Of each mapped segment in a folder: the file, and how many kB are there, shared, private and written to."""
    found = []
    for block in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", SMAPS.read_text()):
        head, *lines = block.splitlines()
        if folder in head:
            sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith("kB")}
            inode = head.split()[4]
            found.append({"inode": inode, "rss": sizes["Rss"], "pss": sizes["Pss"], "dirty": sizes["Private_Dirty"]})
    return found


def test_workers_share_the_files_that_they_map(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.range(20_000).selectExpr("id", "concat('a = ', id, ' AND s = \"', id, '\"') where")
    compile_index(table, tmp_path / "index", segments=1, progress=False)
    (tmp_path / "meeting").mkdir()
    with open_index(spark, tmp_path / "index") as index:
        work = looking(index.in_place, tmp_path / "meeting")
        seen = spark.range(0, 2, 1, 2).mapInArrow(
            work, "pid bigint, inode string, rss bigint, pss bigint, dirty bigint"
        )
        rows = seen.collect()
    assert len({row.pid for row in rows}) == 2, "the two tasks ran in one worker"
    assert len({row.inode for row in rows}) == 1, "the workers have mapped different files"
    for row in rows:
        assert row.rss * 1024 > 0.5 * index.nbytes, "the worker has not read the index"
        assert row.dirty == 0, "pages of the index were copied"
        assert row.pss <= 0.6 * row.rss, "the pages are not shared"


def test_a_worker_hides_what_it_has_loaded_from_the_collector(spark: SparkSession) -> None:
    """Spark has a worker collect after every task; a driver, which is the user's own process, is left alone."""
    before = gc.get_freeze_count()
    table = spark.createDataFrame([(1, "n = 1")], "id int, where string")
    events = spark.range(0, 4, 1, 4).selectExpr("id", "id AS n")
    assert match(events, table).count() == 1

    def hidden(batches: Iterable[Any]) -> Iterator[Any]:
        import gc

        import pyarrow as pa

        for _ in batches:
            yield pa.RecordBatch.from_arrays([pa.array([gc.get_freeze_count()])], ["hidden"])

    counts = spark.range(0, 4, 1, 4).mapInArrow(hidden, "hidden bigint").collect()
    assert max(row.hidden for row in counts) > 10_000
    assert gc.get_freeze_count() == before
