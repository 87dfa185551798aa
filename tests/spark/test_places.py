"""An index in a folder that Hadoop opens: here a view of local files, which takes the same calls as any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark.frames import rows_of
from tidings import SettingError, StoreError
from tidings.spark import ParquetSink, compile_index, match, open_index, remove_ids
from tidings.spark.places import LOCK, HadoopPlace
from tidings.spark.records import records_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def remote(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """The folder that viewfs://indexes/all shows."""
    name = "fs.viewfs.mounttable.indexes.link./all"
    (tmp_path / "remote").mkdir()
    spark.conf.set(name, (tmp_path / "remote").as_uri())
    spark.conf.set("fs.viewfs.impl.disable.cache", "true")  # the view of another test shows another folder
    yield tmp_path / "remote"
    spark.conf.unset(name)
    spark.conf.unset("fs.viewfs.impl.disable.cache")


URI = "viewfs://indexes/all/stocks"


def table(spark: SparkSession, *rows: tuple[int, str]) -> DataFrame:
    return spark.createDataFrame(list(rows), "id int, where string")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".crc"))


def test_an_index_behind_a_file_system_of_hadoop(spark: SparkSession, remote: Path) -> None:
    events = spark.createDataFrame([(1, 5)], "id int, n int")
    made = compile_index(table(spark, (1, "n = 5"), (2, "n < 5"), (3, "TRUE")), URI, segments=1, progress=False)
    assert (made.path, made.version, made.added) == (URI, 1, 3)
    planned = match(events, URI)
    assert rows_of(planned) == [(1, 1), (1, 3)]
    assert names(remote / "stocks") == [
        "segment-0000000001.tidings",
        "settings-0000000001.json",
        "version-0000000001.json",
    ]
    assert remove_ids(spark, URI, [3]).version == 2
    assert compile_index(table(spark, (3, "n > 4"), (2, "n > 0")), URI, replace=True, progress=False).version == 3
    assert rows_of(match(events, URI)) == [(1, 1), (1, 2), (1, 3)]
    assert rows_of(planned) == [(1, 1), (1, 3)], "it was planned with the first version"
    kept = [name for name in names(remote / "stocks") if name.startswith("version")]
    assert kept == ["version-0000000002.json", "version-0000000003.json"]
    assert len(names(remote / "stocks")) == 2 + 1 + 3  # versions, settings, segments
    assert remove_ids(spark, URI, [77]).version == 3
    with pytest.raises(StoreError, match="read at its newest version, 3; version 1 is asked for"):
        open_index(spark, URI, version=1)


def test_a_second_writer_is_refused_and_told_of_the_first(spark: SparkSession, remote: Path) -> None:
    place = HadoopPlace(spark, URI)
    with (
        place.writable(),
        pytest.raises(StoreError, match=rf"another writer has {URI}: .*process \d+.*remove its file {LOCK}"),
    ):
        compile_index(table(spark, (1, "TRUE")), URI, progress=False)
    assert names(remote / "stocks") == []
    assert compile_index(table(spark, (1, "TRUE")), URI, progress=False).version == 1


def test_a_failure_leaves_the_version_before(spark: SparkSession, remote: Path) -> None:
    compile_index(table(spark, (1, "TRUE")), URI, progress=False)
    place = HadoopPlace(spark, URI)
    before = names(remote / "stocks")

    def fail() -> None:
        with place.writable() as folder:
            assert names(folder) == before
            (folder / "segment-0000000009.tidings").touch()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert names(remote / "stocks") == before


def test_there_may_be_no_index(spark: SparkSession, remote: Path) -> None:
    with pytest.raises(StoreError, match=f"{URI} holds no saved matcher"):
        open_index(spark, URI)
    (remote / "stocks").mkdir()
    (remote / "stocks" / "version-0000000001.json").write_text("{}")
    with pytest.raises(StoreError, match=r"version-0000000001\.json is damaged"):
        open_index(spark, URI)


def test_a_local_folder_by_its_address_goes_the_same_way(spark: SparkSession, tmp_path: Path) -> None:
    """`file:` is a local folder to everyone but to the class that is tested here."""
    path = tmp_path / "with a space"
    compile_index(table(spark, (1, "TRUE")), path.as_uri(), progress=False)
    place = HadoopPlace(spark, f"file://{path}")  # as Hadoop writes it
    copy = place.readable()
    assert copy != path
    assert place.readable() == copy
    assert rows_of(match(spark.createDataFrame([(7,)], "id int"), copy)) == [(7, 1)]
    remove_ids(spark, path, [1])
    assert place.readable() != copy


@pytest.mark.parametrize("uri", ["foo://bar/index", "s3a://bucket/index"])
def test_an_address_that_hadoop_does_not_know_is_refused(spark: SparkSession, uri: str) -> None:
    events = spark.createDataFrame([(1,)], "id int")
    for use in (
        lambda: compile_index(table(spark, (1, "TRUE")), uri, progress=False),
        lambda: match(events, uri),
        lambda: records_of(spark, uri),
        lambda: ParquetSink(uri).prepare(spark, "name"),
    ):
        with pytest.raises(SettingError, match=rf"Hadoop cannot open {uri}: .*\. Give the path of a local folder, or "):
            use()
