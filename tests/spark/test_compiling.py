"""Subscriptions from a table into a folder: what is taken, what is refused and why, and what is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from spark.frames import in_parts, rows_of
from tidings import IdentifierError, Matcher, RefusedError, SettingError, StoreError
from tidings.analysis import words
from tidings.analysis.statistics import TextStatistics
from tidings.analysis.words import ENGLISH, SIMPLE, AnalyserVersion
from tidings.index.answers import numbers_found
from tidings.index.array_file import open_arrays
from tidings.index.folder import read_version
from tidings.reference import Settings
from tidings.store import settings_record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidings.spark import Compiled

GOOD = [(1, "symbol = 'IBM' AND low <= 95"), (2, "matches(title, 'spark')"), (3, "TRUE")]


def table(spark: SparkSession, rows: Sequence[tuple[Any, ...]], schema: str = "id int, where string") -> DataFrame:
    return in_parts(spark.createDataFrame(list(rows), schema))


def compiled(subscriptions: DataFrame, path: Path, **options: Any) -> Compiled:
    from tidings.spark import compile_index

    return compile_index(subscriptions, path, **{"segments": 2, "progress": False, **options})


def rows_in(batch: pa.RecordBatch) -> Any:
    """As the driver has them."""
    return [SimpleNamespace(**row) for row in batch.to_pylist()]


def ids_in(path: Path, **event: Any) -> list[Any]:
    """Whom the event finds in the newest version, by the embedded matcher."""
    return sorted(Matcher.load(path).match(event).ids)


# Rows


def test_bad_rows_are_reported_and_the_others_added(spark: SparkSession, tmp_path: Path) -> None:
    bad = [
        (4, "low <"),
        (5, None),
        (None, "TRUE"),
        (6, "a = 1"),
        (6, "a = 2"),
        (7, "similarity(t, 'x', model => 'lsi') > 0.5"),
    ]
    made = compiled(table(spark, [*GOOD, *bad]), tmp_path / "index")
    assert (made.version, made.added, made.replaced, made.refused) == (1, 3, 0, 6)
    errors = {(row["id"], row["where"]): (row["position"], row["message"]) for row in made.errors.collect()}
    assert set(errors) == set(bad)
    position, message = errors[4, "low <"]
    assert position == 5
    assert message.startswith("found the end after <, expected a value")
    assert message.endswith("  low <\n       ^")
    assert errors[5, None] == (None, "where is null; it is the text of a condition")
    assert errors[None, "TRUE"] == (None, "the id is null; a subscription has an id, a string or an integer")
    assert errors[6, "a = 1"] == (None, "the id 6 stands 2 times in the table; none of them was added")
    assert "lsi" in errors[bad[-1]][1]
    assert ids_in(tmp_path / "index", symbol="IBM", low=90, title="Spark") == [1, 2, 3]


def test_refused_rows_are_on_disk_and_not_in_the_driver(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tidings.spark import refused

    monkeypatch.setattr(refused, "ROWS", 7)
    monkeypatch.setattr(refused, "RAISED", 5)
    bad = [(number, "low <") for number in range(10, 50)]
    made = compiled(table(spark, [*GOOD, *bad]), tmp_path / "index")
    assert (made.added, made.refused, made.errors.count()) == (3, 40, 40)
    assert made.errors.dtypes == [("id", "bigint"), ("where", "string"), ("position", "int"), ("message", "string")]
    assert sorted(row["id"] for row in made.errors.collect()) == [id for id, _ in bad]
    with pytest.raises(RefusedError, match=r"and 37 more; \.refused has the first 5$") as told:
        compiled(table(spark, bad), tmp_path / "index", on_error="raise")
    assert len(told.value.refused) == 5


def test_nothing_is_changed_if_errors_are_to_be_raised(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(
        RefusedError, match=r"1 subscriptions were refused, and nothing was changed\.\nid 4: found the end"
    ) as told:
        compiled(table(spark, [*GOOD, (4, "low <")]), tmp_path / "index", on_error="raise")
    assert [row.id for row in told.value.refused] == [4]
    with pytest.raises(StoreError, match="holds no saved matcher"):
        Matcher.load(tmp_path / "index")


def test_nothing_is_changed_if_the_job_fails(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    path = tmp_path / "index"
    compiled(table(spark, GOOD), path)
    failing = table(spark, [(4, "a = 1"), (5, "a = 2")]).selectExpr(
        "id", "if(id = 5, raise_error('gone'), where) where"
    )
    with pytest.raises(PySparkException, match="gone"):
        compiled(failing, path)
    assert (read_version(path)[0].number, len(Matcher.load(path))) == (1, 3)
    assert compiled(table(spark, [(4, "a = 1")]), path).version == 2  # the lock was given back


def test_no_subscriptions_are_an_index_too(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import match

    events = spark.createDataFrame([(1, 2)], "id int, a int")
    for kind in ("string", "bigint"):
        made = compiled(spark.createDataFrame([], f"id {kind}, where string"), tmp_path / kind)
        assert (made.version, made.added, made.refused, made.errors.count()) == (1, 0, 0, 0)
        pairs, lists = (match(events, tmp_path / kind, lists=each) for each in (False, True))
        assert (pairs.dtypes[1], rows_of(pairs)) == (("subscription_id", kind), [])
        assert (lists.dtypes[1], rows_of(lists)) == (("subscription_ids", f"array<{kind}>"), [(1, [])])


WRONG = {
    "no where": ("id int, condition string", "one column 'where'; this one has the columns id, condition"),
    "where of another type": ("id int, where int", "the column 'where' of the subscriptions is int"),
    "id of another type": (
        "id decimal(20, 0), where string",
        r"the column 'id' is decimal\(20,0\); ids are strings or",
    ),
    "two of one name": (
        "id int, where string, a int, a int",
        "two further columns of the subscriptions have one name: a, a",
    ),
    "two ids": ("id int, where string, id int", "one column 'id'"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_table_of_another_form_is_refused(spark: SparkSession, tmp_path: Path, what: str) -> None:
    schema, message = WRONG[what]
    with pytest.raises((SettingError, IdentifierError), match=message):
        compiled(spark.createDataFrame([], schema), tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_options_that_cannot_be_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    subscriptions = spark.createDataFrame([], "id int, where string")
    for options, message in (
        ({"on_error": "ignore"}, "on_error is 'report' or 'raise', not 'ignore'"),
        ({"segments": 0}, "segments is a number of tasks, 1 or more, not 0"),
        ({"analyser": "klingon"}, "klingon"),
    ):
        with pytest.raises(SettingError, match=message):
            compiled(subscriptions, tmp_path / "index", **options)
    stream = spark.readStream.format("rate").load().selectExpr("value id", "'TRUE' where")
    with pytest.raises(SettingError, match="compiled from a table, not from a stream"):
        compiled(stream, tmp_path / "index")


# Changes


def test_later_tables_add_to_the_index_and_write_new_segments_only(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "index"
    compiled(table(spark, GOOD), path)
    first = {file.name: file.stat().st_mtime_ns for file in path.glob("segment-*")}
    made = compiled(table(spark, [(3, "FALSE"), (4, "low > 1")]), path)
    assert (made.version, made.added, made.replaced, made.refused) == (2, 1, 0, 1)
    assert rows_of(made.errors) == [
        (3, "FALSE", None, "the id 3 is taken; remove it first, or compile with replace=True")
    ]
    replaced = compiled(table(spark, [(3, "low > 100"), (5, "low > 2")]), path, replace=True)
    assert (replaced.version, replaced.added, replaced.replaced, replaced.refused) == (3, 1, 1, 0)
    assert first.items() <= {file.name: file.stat().st_mtime_ns for file in path.glob("segment-*")}.items()
    assert ids_in(path, symbol="IBM", low=90, title="Spark") == [1, 2, 4, 5]
    assert ids_in(path, low=101) == [3, 4, 5]


def test_a_table_instead_of_what_there_is(spark: SparkSession, tmp_path: Path) -> None:
    """The new version has the table alone, also with ids of another kind; whoever holds the old one reads on."""
    from tidings.spark import match, open_index

    path = tmp_path / "index"
    assert compiled(table(spark, [(1, "low > 1"), (2, "low > 2")]), path, instead=True).version == 1
    with open_index(spark, path) as before:
        named = spark.createDataFrame([("2", "low > 20"), ("x", "low <")], "id string, where string")
        made = compiled(named, path, instead=True)
        assert (made.version, made.added, made.replaced, made.refused) == (2, 1, 0, 1)
        events = spark.createDataFrame([("e", 30)], "id string, low int")
        assert rows_of(match(events, path)) == [("e", "2")]
        assert rows_of(match(events, before)) == [("e", 1), ("e", 2)]
    assert compiled(named.limit(0), path, instead=True).version == 3
    assert rows_of(match(events, path)) == []


def test_a_bad_row_replaces_nothing(spark: SparkSession, tmp_path: Path) -> None:
    compiled(table(spark, GOOD), tmp_path / "index")
    made = compiled(table(spark, [(3, "low <")]), tmp_path / "index", replace=True)
    assert (made.version, made.added, made.replaced, made.refused) == (1, 0, 0, 1)
    assert ids_in(tmp_path / "index") == [3]


def test_ids_are_removed_by_writing_them_down(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import remove_ids

    path = tmp_path / "index"
    compiled(table(spark, GOOD), path)
    segments = set(path.glob("segment-*"))
    removed = remove_ids(spark, path, table(spark, [(3,), (3,), (9,), (None,)], "id int"))
    assert (removed.version, removed.removed, removed.missing) == (2, 1, 1)
    (new,) = set(path.glob("segment-*")) - segments
    assert new.stat().st_size < 1_024
    assert remove_ids(spark, path, [3, "x"]).version == 2  # nothing to remove, nothing written
    assert ids_in(path, title="spark") == [2]
    with pytest.raises(IdentifierError, match=r"not 2\.5"):
        remove_ids(spark, path, [2.5])  # type: ignore[list-item]  # that is the fault
    for one in ("ab", b"ab", 2):  # the characters of a string are not ids
        with pytest.raises(
            IdentifierError, match=r"several ids, such as \['a', 'b'\], not .*; a single id stands in a list"
        ):
            remove_ids(spark, path, one)  # type: ignore[arg-type]  # that is the fault
    assert compiled(table(spark, [(3, "TRUE")]), path).added == 1
    assert ids_in(path) == [3]


def test_ids_stay_of_one_kind_while_there_are_any(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import match, remove_ids

    path = tmp_path / "index"
    compiled(table(spark, GOOD), path)
    texts = table(spark, [("a", "TRUE")], "id string, where string")
    with pytest.raises(IdentifierError, match="the ids of the index are integers, and those of the table strings"):
        compiled(texts, path)
    remove_ids(spark, path, [1, 2, 3])
    assert compiled(texts, path).added == 1
    assert ids_in(path) == ["a"]
    assert rows_of(match(spark.createDataFrame([(1,)], "id int"), path)) == [(1, "a")]


def test_settings_are_those_of_the_folder(spark: SparkSession, tmp_path: Path) -> None:
    path, statistics = tmp_path / "index", TextStatistics(2, {"spark": 1}, AnalyserVersion.of(ENGLISH))
    rows = table(spark, [(1, "matches(title, 'sparks')")])
    compiled(rows, path, analyser="english", statistics=statistics)
    assert ids_in(path, title="a spark") == [1]
    more = table(spark, [(2, "matches(title, 'sparking')")])
    with pytest.raises(StoreError, match="made with the analyser 'english', and 'simple' is asked for"):
        compiled(more, path, analyser="simple")
    with pytest.raises(StoreError, match="records other text statistics"):
        compiled(more, path, statistics=TextStatistics(3, {}, AnalyserVersion.of(ENGLISH)))
    assert compiled(more, path, analyser="english", statistics=statistics).added == 1
    assert ids_in(path, title="a spark") == [1, 2]


def test_a_matcher_and_spark_change_the_same_folder_in_turn(spark: SparkSession, tmp_path: Path) -> None:
    """What a Matcher has not compiled yet, and what it removed, stays so when Spark adds to it, and the other way."""
    from tidings.spark import remove_ids

    path = tmp_path / "index"
    compiled(table(spark, GOOD), path)
    with Matcher(path) as matcher:
        matcher.remove(3)
        matcher.add(10, "TRUE")
        matcher.add(11, "TRUE")
    made = compiled(table(spark, [(3, "TRUE"), (11, "FALSE"), (12, "TRUE")]), path, replace=True)
    assert (made.added, made.replaced) == (2, 1)
    assert ids_in(path) == [3, 10, 12]
    remove_ids(spark, path, [12])
    with Matcher(path) as matcher:
        matcher.add(13, "TRUE")
        assert sorted(matcher.match({}).ids) == [3, 10, 13]
        matcher.merge()
    assert ids_in(path) == [3, 10, 13]
    assert compiled(table(spark, [(10, "TRUE"), (14, "TRUE")]), path).added == 1
    assert ids_in(path, title="spark") == [2, 3, 10, 13, 14]


# What is not compiled


OWNED = "id int, where string, owner string"


def test_few_subscriptions_are_not_compiled(spark: SparkSession, tmp_path: Path) -> None:
    """Until there are more than a few in all; further columns and what is replaced are as ever."""
    from tidings.spark import match, recompile, remove_ids

    path, events = (
        tmp_path / "index",
        spark.createDataFrame([("e", 3, "a b", "<a/>")], "e string, n int, t string, x string"),
    )

    def add(*rows: tuple[int, str, str]) -> Compiled:
        return compiled(table(spark, rows, OWNED), path, segments=1, uncompiled=5, replace=True)

    def owners() -> list[tuple[Any, ...]]:
        columns: dict[str, Any] = {"id_column": "e", "subscription_columns": ["owner"]}
        (lists,) = match(events, path, lists=True, **columns).collect()
        pairs = rows_of(match(events, path, **columns).drop("event_id"))
        assert sorted(map(tuple, lists.subscriptions)) == pairs
        return pairs

    def are_compiled() -> list[bool]:
        return [file.notes["compiled"] for file in read_version(path)[1]]

    add((1, "n = 3", "ann"), (2, "matches(t, 'a')", "bob"), (3, "xpath_boolean(x, '/a')", "cy"))
    add((4, "n > 1", "dan"), (1, "n < 9", "eve"))
    assert are_compiled() == [False, False]
    assert owners() == [(1, "eve"), (2, "bob"), (3, "cy"), (4, "dan")]
    remove_ids(spark, path, [2])
    made = add((3, "TRUE", "fay"), (5, "TRUE", "gus"), (6, "FALSE", "hal"))
    assert (made.added, made.replaced) == (2, 1)
    assert are_compiled() == [True, False]
    assert owners() == [(1, "eve"), (3, "fay"), (4, "dan"), (5, "gus")]
    add((7, "TRUE", "ida"), (5, "TRUE", "jo"))
    assert are_compiled() == [True, False, False]
    assert owners() == [(1, "eve"), (3, "fay"), (4, "dan"), (5, "jo"), (7, "ida")]
    recompile(spark, path, segments=1, uncompiled=5, progress=False)
    assert are_compiled() == [True]
    recompile(spark, path, segments=1, progress=False)
    assert are_compiled() == [False]
    assert owners() == [(1, "eve"), (3, "fay"), (4, "dan"), (5, "jo"), (7, "ida")]


def test_tasks_with_few_rows_that_are_many_together_are_compiled(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(number, f"a = {number}") for number in range(20)]
    for uncompiled, expected in ((20, False), (19, True), (0, True)):
        made = compiled(
            table(spark, [*rows, (99, "a <")]), tmp_path / str(uncompiled), segments=3, uncompiled=uncompiled
        )
        assert (made.added, made.refused) == (20, 1)
        files = read_version(tmp_path / str(uncompiled))[1]
        assert [file.notes["compiled"] for file in files] == [expected] * 3
    with pytest.raises(SettingError, match="uncompiled is a number of subscriptions, 0 or more, not -1"):
        compiled(table(spark, rows), tmp_path / "none", uncompiled=-1)


def test_what_is_asked_often_is_compiled_by_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same answers, problems and columns."""
    from tidings.index.folder import Writer
    from tidings.spark import working
    from tidings.spark.building import Building, built
    from tidings.spark.pieces import received

    wheres = [f"a = {number}" for number in range(9)] + ["at = TIMESTAMP '2026-01-01 00:00:00' OR matches(t, 'x')"]
    rows = pa.table({"id": [f"s{n}" for n in range(10)], "where": wheres, "c2": [f"o{n}" for n in range(10)]})
    field = {"name": "owner", "type": "string", "nullable": True, "metadata": {}}
    settings = settings_record(Settings())
    (sent,) = built(Building(settings, None, False, "string", {"metadata": [field]}, 10), 0, rows.to_batches())
    (path,) = received(rows_in(sent), tmp_path, lambda row: pytest.fail(str(row))).values()
    file = open_arrays(path)
    Writer.create(tmp_path / "index", settings, [(file.arrays, file.notes)]).close()
    events = pa.table({"a": [1, 2, 1], "t": ["x", None, "y"], "at": [timedelta(1)] * 3})
    monkeypatch.setattr(working, "WORTH_COMPILING", 60)
    index = working.OpenIndex(tmp_path / "index", *read_version(tmp_path / "index"))
    answers = []
    for is_compiled in (False, False, True):
        matched = index.match(events)
        (found,) = matched.found
        assert index.is_compiled is is_compiled
        offsets, numbers = numbers_found(found.finder, 3)
        ids, owners = (
            column.take(pa.array(numbers)).to_pylist() for column in (found.ids.arrow(), found.columns["owner"])
        )
        assert [owner[1:] for owner in owners] == [id[1:] for id in ids]
        problems = [(problem.event, problem.attribute) for problem in matched.problems]
        answers.append(([sorted(ids[a:b]) for a, b in pairwise(offsets)], problems))
    assert answers == [([["s1", "s9"], ["s2"], ["s1"]], [(0, "at"), (1, "at"), (2, "at")])] * 3
    assert index.among(["s1", "s99"]) == {"s1"}


# Segments


def test_a_small_table_becomes_one_segment(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(number, f"a = {number}") for number in range(100)]
    compiled(table(spark, rows), tmp_path / "one", segments=None)
    compiled(table(spark, rows), tmp_path / "three", segments=3)
    assert [len(read_version(tmp_path / name)[1]) for name in ("one", "three")] == [1, 3]


def test_a_task_makes_the_same_file_of_the_same_rows() -> None:
    """Whatever their order: pieces of a file may come from two attempts of a task."""
    from tidings.spark.building import Building, built

    wheres = [f"a = {number} OR s LIKE '{number}%' OR matches(t, 'w{number}')" for number in range(500)]
    rows = pa.table({"id": [f"s{number}" for number in range(500)], "where": wheres, "c2": list(range(500))})
    settings = settings_record(Settings())
    building = Building(settings, None, False, "string", {"metadata": [{"name": "further"}]})
    files = [list(built(building, 0, some.to_batches(64))) for some in (rows, rows.take(list(range(499, -1, -1))))]
    assert files[0] == files[1]
    assert sum(batch.num_rows for batch in files[0]) == 1
    building = replace(building, uncompiled=500)
    files = [list(built(building, 0, some.to_batches(64))) for some in (rows, rows.take(list(range(499, -1, -1))))]
    assert files[0] == files[1]


def test_further_columns_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import match, remove_ids

    path = tmp_path / "index"
    schema = "id int, where string, owner struct<name: string, mails: array<string>>, `max.n` map<string, int>, d date"
    from datetime import date

    rows = [(1, "TRUE", ("ann", ["a@b", None]), {"x": 1}, date(2026, 1, 31)), (2, "TRUE", None, None, None)]
    compiled(table(spark, rows, schema), path)
    compiled(
        table(
            spark, [(3, "TRUE", ("cy", []))], "id int, where string, owner struct<name: string, mails: array<string>>"
        ),
        path,
    )
    events = spark.createDataFrame([(7,)], "id int")
    found = match(events, path, subscription_columns=["owner", "max.n", "d"])
    assert {row.subscription_id: tuple(row)[2:] for row in found.collect()} == {
        1: (("ann", ["a@b", None]), {"x": 1}, date(2026, 1, 31)),
        2: (None, None, None),
        3: (("cy", []), None, None),
    }
    (lists,) = match(events, path, lists=True, subscription_columns=["d"]).collect()
    assert sorted(map(tuple, lists.subscriptions), key=lambda each: each[0]) == [
        (1, date(2026, 1, 31)),
        (2, None),
        (3, None),
    ]
    with pytest.raises(SettingError, match="the column 'd' of the subscriptions is string, and date in the index"):
        compiled(table(spark, [(4, "TRUE", "x")], "id int, where string, d string"), path)
    with pytest.raises(SettingError, match=r"no subscription column 'mail'; it has: owner, max\.n, d"):
        match(events, path, subscription_columns=["mail"])
    remove_ids(spark, path, [3])
    assert match(events, path, subscription_columns=["d"]).count() == 2
    with Matcher(path) as matcher:
        matcher.add(20, "TRUE")
    with pytest.raises(StoreError, match=r"holds subscriptions without their further columns, because a Matcher"):
        match(events, path, subscription_columns=["d"])
    assert match(events, path).count() == 3


def test_an_index_without_subscriptions_keeps_its_columns(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import match, recompile

    path, events = tmp_path / "index", spark.createDataFrame([(7,)], "id int")
    none = spark.createDataFrame([], "id int, where string, owner string")
    tiers = spark.createDataFrame([], "id int, where string, tier array<timestamp>")
    compiled(none, path)
    assert compiled(tiers, path).version == 2
    assert compiled(tiers, path).version == 2  # nothing new
    recompile(spark, path, progress=False)
    pairs, lists = (match(events, path, lists=each, subscription_columns=["owner", "tier"]) for each in (False, True))
    assert pairs.dtypes[2:] == [("owner", "string"), ("tier", "array<timestamp>")]
    assert (rows_of(pairs), rows_of(lists)) == ([], [(7, [])])
    compiled(table(spark, [(1, "TRUE", "ann")], "id int, where string, owner string"), path)
    assert rows_of(match(events, path, subscription_columns=["owner", "tier"])) == [(7, 1, "ann", None)]
    compiled(none, path, instead=True)
    assert rows_of(match(events, path, subscription_columns=["owner"])) == []
    with pytest.raises(SettingError, match="no subscription column 'tier'; it has: owner"):
        match(events, path, subscription_columns=["tier"])


def test_spark_keeps_nothing_of_what_was_compiled(spark: SparkSession, tmp_path: Path) -> None:
    """Its scheduler holds the answers of jobs by their query; a driver that compiles for days must not fill up."""
    from tidings.spark import Sharding, match, remove_ids

    context: Any = spark.sparkContext._jsc
    try:
        kept = context.sc().dagScheduler().activeQueryToJobs()
    except Exception as error:
        if "activeQueryToJobs" not in str(error):
            raise
        pytest.skip("this version of Spark has no such table")
    before = kept.size()
    path = tmp_path / "index"
    compiled(table(spark, GOOD), path)
    compiled(table(spark, [(4, "low > 90")]), path)
    remove_ids(spark, path, table(spark, [(2, "")]))
    events = in_parts(spark.createDataFrame([(1, 94.2)], "id int, low double"))
    assert sorted(rows_of(match(events, path, "sharded", sharding=Sharding(2)))) == [(1, 3), (1, 4)]
    assert kept.size() == before


def test_workers_import_an_analyser_by_where_it_is(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import match, text_statistics

    (tmp_path / "own_reading.py").write_text(
        "from tidings.analysis.words import SIMPLE\n"
        "class Plain:\n"
        "    name, version = 'own_reading:PLAIN', '1'\n"
        "    def words(self, text):\n"
        "        return tuple(word for word in SIMPLE.words(text) if word.text not in ('a', 'of', 'the'))\n"
        "PLAIN = Plain()\n"
    )
    spark.sparkContext.addPyFile(str(tmp_path / "own_reading.py"))
    path = tmp_path / "index"
    rows = table(spark, [(1, "matches(title, '\"king spain\"')"), (2, "similarity(title, 'king of spain') >= 1")])
    assert compiled(rows, path, analyser="own_reading:PLAIN").added == 2
    events = spark.createDataFrame([("e", "The King of Spain"), ("f", "a king in Spain")], "id string, title string")
    for strategy in ("replicated", "sharded"):
        assert rows_of(match(events, path, strategy)) == [("e", 1), ("e", 2)]
    assert text_statistics(events, "title", analyser="own_reading:PLAIN").document_frequency["king"] == 2
    with pytest.raises(SettingError, match="'nowhere:PLAIN' cannot be imported: No module named 'nowhere'"):
        compiled(rows, tmp_path / "other", analyser="nowhere:PLAIN")


def test_workers_say_that_an_analyser_is_registered_in_another_process(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tidings.spark import text_statistics

    monkeypatch.setattr(words, "_ANALYSERS", {**words._ANALYSERS, "plain": SIMPLE})
    with pytest.raises(Exception, match=r"there is no analyser named 'plain' in this process; .* package.module:NAME"):
        text_statistics(table(spark, GOOD), "where", analyser="plain")
