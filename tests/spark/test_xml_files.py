"""XML files as events on Spark: cut into records, matched, and told what could not be read."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark.frames import rows_of
from tidings import SettingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIBRARY = '<?xml version="1.0" encoding="ISO-8859-1"?><dblp>{}</dblp>'
RECORDS = "<article><author>José</author><year>2007</year></article><www><year>2010</year></www>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.xml").write_bytes(LIBRARY.format(RECORDS).encode("latin-1"))
    (tmp_path / "b.xml.gz").write_bytes(gzip.compress(LIBRARY.format("<article><year>2009</year></article>").encode()))
    (tmp_path / "broken.xml").write_bytes(b"<dblp><article><year>2011</year></article><www></dblp>")
    return tmp_path


@pytest.mark.parametrize("with_content", [True, False])
def test_records_are_matched_as_events(spark: SparkSession, folder: Path, with_content: bool) -> None:
    from tidings.spark import match, xml_records

    files = spark.read.format("binaryFile").load(str(folder))
    found = xml_records(files if with_content else files.select("path")).repartition(2)
    asked = [(1, "xpath_boolean(document, '/article[year > 2008]')"), (2, "xpath_boolean(document, '//author')")]
    subscriptions = spark.createDataFrame(asked, "id int, where string")
    matches = match(found.where("problem is null"), subscriptions, event_columns=["name"])
    names = [(row[0].rpartition("/")[2], row[1], row[2]) for row in rows_of(matches)]
    assert names == [("a.xml#0", "article", 2), ("b.xml.gz#0", "article", 1), ("broken.xml#0", "article", 1)]
    (problem,) = found.where("problem is not null").collect()
    assert (problem.number, problem.document) == (1, None)
    assert "beyond its record 1: Opening and ending tag mismatch" in problem.problem


def test_names_of_files_mean_what_they_say(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import xml_records

    names = ["a b.xml", "a#1.xml", "a%20b.xml", "a?x.xml"]
    for number, name in enumerate(names):
        (tmp_path / name).write_text(f"<r><a>{number}</a></r>")
    found = xml_records(spark.read.format("binaryFile").load(str(tmp_path)).select("path"))
    assert {row.file.rpartition("/")[2]: row.document for row in found.collect()} == {
        name: f"<a>{number}</a>" for number, name in enumerate(names)
    }


def test_a_damaged_file_costs_itself_only(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import xml_records

    packed = bytearray(gzip.compress(b"<r><a/></r>"))
    packed[10] = 0xFF  # a block of a kind that there is not
    with pytest.raises(zlib.error):
        gzip.decompress(packed)
    (tmp_path / "damaged.xml.gz").write_bytes(packed)
    (tmp_path / "good.xml").write_text("<r><a t='&uuml;'/></r>")
    files = spark.read.format("binaryFile").load(str(tmp_path))
    found = xml_records(files, entities={"uuml": "ü"}).where("problem is not null or file like '%good.xml'").collect()
    assert sorted(row.document or row.problem.partition(" beyond")[0] for row in found) == [
        '<a t="ü"/>',
        "the file cannot be unpacked",
    ]


def test_files_have_a_path(spark: SparkSession) -> None:
    from tidings.spark import xml_records

    with pytest.raises(SettingError, match="files have a column 'path'"):
        xml_records(spark.createDataFrame([("a",)], "name string"))
