"""Segments made anew: the same subscriptions in fewer files, and weights of words by the statistics of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark.frames import in_parts, rows_of
from tidings import Matcher, SettingError, Settings, holds
from tidings.analysis.latent import fit
from tidings.analysis.statistics import NO_STATISTICS, learn
from tidings.analysis.words import SIMPLE, analyser
from tidings.index.folder import read_version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TEXTS = ["spark is fast", "Spark and Spark", "a fast index", None, "", "it's a matter of words"]


def subscriptions(spark: SparkSession, first: int, last: int) -> DataFrame:
    rows = [(number, f"n = {number % 7}", f"owner {number}") for number in range(first, last)]
    return in_parts(spark.createDataFrame(rows, "id int, where string, owner string"))


def matched(spark: SparkSession, path: Path) -> list[Any]:
    from tidings.spark import match

    events = in_parts(spark.createDataFrame([("e", 3), ("f", 6), ("g", 9)], "id string, n int"))
    return rows_of(match(events, str(path), subscription_columns=["owner"]))


def test_many_changes_become_few_segments_with_all_columns(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import compile_index, recompile, remove_ids

    path = tmp_path / "index"
    for first in (0, 20, 40):
        compile_index(subscriptions(spark, first, first + 20), path, segments=1, progress=False)
    remove_ids(spark, path, [3, 10, 59])
    before, segments = matched(spark, path), len(read_version(path)[0].segments)
    made = recompile(spark, path, segments=1, progress=False)
    assert (made.version, made.added, made.refused) == (5, 57, 0)
    assert (segments, len(read_version(path)[0].segments)) == (4, 1)
    assert matched(spark, path) == before != []
    again = compile_index(subscriptions(spark, 3, 4), path, progress=False)
    assert (again.added, again.version) == (1, 6)


def test_statistics_are_those_of_the_corpus(spark: SparkSession) -> None:
    from tidings.spark import text_statistics

    documents = in_parts(spark.createDataFrame([(text,) for text in TEXTS], "`the text` string"))
    for name in ("simple", "english"):
        wanted = learn([text for text in TEXTS if text is not None], analyser(name))
        assert text_statistics(documents, "the text", analyser=name) == wanted


def test_words_that_are_too_many_for_a_task_are_handed_over_in_parts(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa

    from tidings.spark import statistics

    monkeypatch.setattr(statistics, "MOST_WORDS", 3)
    given = statistics.counted("simple", [pa.record_batch([pa.array(["a b", "b c d", None, "a"])], ["text"])])
    rows = [tuple(row.values()) for batch in given for row in batch.to_pylist()]
    assert sorted(rows, key=str) == [("a", 1), ("a", 1), ("b", 2), ("c", 1), ("d", 1), (None, 1), (None, 2)]


def test_what_is_no_column_of_texts_is_refused(spark: SparkSession) -> None:
    from tidings.spark import text_statistics

    documents = spark.createDataFrame([(1, "a")], "n int, t string")
    with pytest.raises(SettingError, match="no column 'x'; they have: n, t"):
        text_statistics(documents, "x")
    with pytest.raises(SettingError, match="the column 'n' is int; statistics are counted of strings"):
        text_statistics(documents, "n")
    with pytest.raises(SettingError, match="there is no analyser named 'latin'"):
        text_statistics(documents, "t", analyser="latin")


def test_a_latent_space_goes_with_the_index(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import compile_index, match, recompile

    sample = ["the ship sails the sea", "a boat on the sea", "ship and boat", "the stock fell", "the stock of bonds"]
    space, other = (fit(sample, size, SIMPLE, learn(sample, SIMPLE), seed=1) for size in (2, 1))
    wheres = [(number, f"similarity(t, '{text}', model => 'lsi') >= 0.8") for number, text in enumerate(sample)]
    table = in_parts(spark.createDataFrame(wheres, "id int, where string"))
    events = in_parts(spark.createDataFrame([("e", "a boat at sea"), ("f", "bonds")], "id string, t string"))
    refused = compile_index(table, tmp_path / "none", progress=False)
    assert (refused.added, refused.refused) == (0, 5)
    path = tmp_path / "index"
    compile_index(table, path, latent=space, progress=False)
    for known in (space, other):
        settings = Settings(latent=known)
        expected = [
            (id, number)
            for id, text in (("e", "a boat at sea"), ("f", "bonds"))
            for number, where in wheres
            if holds(where, {"t": text}, settings)
        ]
        for strategy in ("replicated", "sharded"):
            assert rows_of(match(events, str(path), strategy)) == expected
        recompile(spark, path, latent=other, progress=False)


def test_other_statistics_count_from_the_version_on_that_has_them(spark: SparkSession, tmp_path: Path) -> None:
    """The word that all documents have weighs least: then a text that shares only it is less similar."""
    from tidings.spark import compile_index, match, open_index, recompile, text_statistics

    path = tmp_path / "index"
    rows = [(1, "similarity(t, 'spark index') >= 0.6"), (2, "matches(t, 'spark')")]
    compile_index(in_parts(spark.createDataFrame(rows, "id int, where string")), path, progress=False)
    corpus = spark.createDataFrame([("spark index",), *[("spark",)] * 50], "t string")
    events = in_parts(spark.createDataFrame([("e", "spark")], "id string, t string"))
    with open_index(spark, path) as old:
        made = recompile(spark, path, statistics=text_statistics(corpus, "t"), progress=False)
        assert rows_of(match(events, old)) == [("e", 1), ("e", 2)]
        assert rows_of(match(events, str(path))) == [("e", 2)]
        assert (old.version.number, made.version) == (1, 2)
    assert Matcher.load(path).match({"t": "spark"}).ids == [2]
    recompile(spark, path, statistics=NO_STATISTICS, progress=False)
    assert sorted(Matcher.load(path).match({"t": "spark"}).ids) == [1, 2]


def test_statistics_of_another_analyser_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import compile_index, recompile, text_statistics

    path = tmp_path / "index"
    rows = in_parts(spark.createDataFrame([(1, "similarity(t, 'networks') >= 0.6")], "id int, where string"))
    corpus = spark.createDataFrame([("networks",), ("a network",)], "t string")
    simple, english = (text_statistics(corpus, "t", analyser=name) for name in ("simple", "english"))
    message = (
        "statistics were counted with version 1 .* of the analyser 'simple', and version 1 .* of 'english' is in use"
    )
    with pytest.raises(SettingError, match=message):
        compile_index(rows, path, analyser="english", statistics=simple, progress=False)
    compile_index(rows, path, analyser="english", progress=False)
    with pytest.raises(SettingError, match=message):
        recompile(spark, path, statistics=simple, progress=False)
    assert recompile(spark, path, statistics=english, progress=False).version == 2
