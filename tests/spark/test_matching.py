"""Events and subscriptions as DataFrames: the forms of the answer, the types of columns, ids, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from spark.frames import in_parts, rows_of
from tidings import EventError, IdentifierError, Matcher, SettingError, StoreError
from tidings.index.folder import read_version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUBSCRIPTIONS = {
    "cheap": ("symbol = 'IBM' AND low <= 95", "ann"),
    "spark": ("matches(title, 'spark')", "bob"),
    "all": ("TRUE", None),
}
EVENTS = [("e1", "IBM", 90.0, "about Spark"), ("e2", "IBM", 99.0, None), (None, "IBM", 1.0, "spark")]
PAIRS = [("e1", "all"), ("e1", "cheap"), ("e1", "spark"), ("e2", "all")]


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tidings.spark import compile_index

    path = tmp_path_factory.mktemp("matching") / "index"
    compile_index(subscriptions(spark), path, segments=2, progress=False)
    return path


def subscriptions(spark: SparkSession) -> DataFrame:
    rows = [(id, where, owner) for id, (where, owner) in SUBSCRIPTIONS.items()]
    return in_parts(spark.createDataFrame(rows, "id string, where string, owner string"))


def events(spark: SparkSession) -> DataFrame:
    schema = "id string, symbol string, low double, title string"
    return in_parts(spark.createDataFrame(EVENTS, schema))


def asked(spark: SparkSession, wheres: Sequence[str], given: DataFrame) -> list[tuple[Any, ...]]:
    """The pairs of an event's id and the number of a condition."""
    from tidings.spark import match

    table = spark.createDataFrame(list(enumerate(wheres)), "id int, where string")
    return rows_of(match(given, table))


# Forms


def test_pairs(spark: SparkSession, index: Path) -> None:
    from tidings.spark import match

    found = match(events(spark), index)
    assert [field.simpleString() for field in found.schema] == ["event_id:string", "subscription_id:string"]
    assert rows_of(found) == PAIRS
    assert rows_of(match(events(spark), str(index), "replicated")) == PAIRS
    assert rows_of(match(events(spark), index.as_uri())) == PAIRS


def test_a_path_may_be_relative(spark: SparkSession, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the folder that the driver is in, and not to that of a worker."""
    from tidings.spark import match

    monkeypatch.chdir(index.parent)
    assert rows_of(match(events(spark), index.name)) == PAIRS


def test_lists_have_a_row_for_each_event(spark: SparkSession, index: Path) -> None:
    from tidings.spark import match

    found = {row.event_id: sorted(row.subscription_ids) for row in match(events(spark), index, lists=True).collect()}
    assert found == {"e1": ["all", "cheap", "spark"], "e2": ["all"]}


def test_columns_are_carried_along(spark: SparkSession, index: Path) -> None:
    from tidings.spark import match

    owners = {id: owner for id, (_, owner) in SUBSCRIPTIONS.items()}
    titles = {event[0]: (event[3], event[1]) for event in EVENTS}
    chosen = {"event_columns": ["title", "symbol"], "subscription_columns": ["owner"]}
    found = match(events(spark), index, **chosen)  # type: ignore[arg-type]  # as they are named
    assert found.columns == ["event_id", "title", "symbol", "subscription_id", "owner"]
    assert rows_of(found) == sorted([(e, *titles[e], s, owners[s]) for e, s in PAIRS], key=repr)
    found = match(events(spark), index, event_columns=["low"])
    assert rows_of(found) == sorted([(e, 90.0 if e == "e1" else 99.0, s) for e, s in PAIRS], key=repr)
    found = match(events(spark), index, subscription_columns=["owner"])
    assert rows_of(found) == sorted([(e, s, owners[s]) for e, s in PAIRS], key=repr)
    found = match(events(spark), index, lists=True, **chosen)  # type: ignore[arg-type]  # the same
    assert found.columns == ["event_id", "title", "symbol", "subscriptions"]
    lists = {
        row.event_id: (row.title, {each.subscription_id: each.owner for each in row.subscriptions})
        for row in found.collect()
    }
    assert lists == {"e1": ("about Spark", owners), "e2": (None, {"all": None})}


def test_subscriptions_may_be_a_table(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    from tidings.spark import match

    table = subscriptions(spark).union(
        spark.createDataFrame([("bad", "low <", "x")], "id string, where string, owner string")
    )
    assert rows_of(match(events(spark), table)) == PAIRS
    assert "1 subscriptions were refused, such as id 'bad': found the end" in caplog.text
    found = match(
        events(spark), table.drop("owner").selectExpr("*", "upper(id) `A.b`", "1 WHERE"), subscription_columns=["A.b"]
    )
    assert rows_of(found) == [(event, id, id.upper()) for event, id in PAIRS]


def test_it_says_what_it_does(spark: SparkSession, index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tidings.spark import match

    match(events(spark).selectExpr("*", "'x' unneeded"), index, explain=True)
    said = capsys.readouterr().out
    assert "strategy   replicated: " in said
    assert f"index      {index}, version 1: 3 subscriptions in 2 segments" in said
    assert "executors  read in place: executors run in the driver" in said
    assert "columns    4 of 5 go to Python; subscriptions read symbol, low, title" in said


@pytest.mark.parametrize("strategy", ["replicated", "sharded"])
def test_names_that_differ_in_case_only_are_different(spark: SparkSession, strategy: str) -> None:
    from tidings.spark import Sharding, match

    rows = [("s", "n = 1 AND N = 2", "ann", "cat", "x")]
    table = spark.createDataFrame(rows, "id string, where string, Owner string, owner string, Subscription_ID string")
    given = spark.createDataFrame([("e", 1, 2, "E")], "id string, n int, N int, Id string")
    columns = {"event_columns": ["Id"], "subscription_columns": ["Owner", "owner", "Subscription_ID"]}
    found = match(given, table, strategy, sharding=Sharding(2), **columns)  # type: ignore[arg-type]  # as they are named
    assert found.columns == ["event_id", "Id", "subscription_id", "Owner", "owner", "Subscription_ID"]
    assert rows_of(found) == [("e", "E", "s", "ann", "cat", "x")]
    (row,) = match(given, table, strategy, sharding=Sharding(2), lists=True, **columns).collect()  # type: ignore[arg-type]
    assert [tuple(each) for each in row.subscriptions] == [("s", "ann", "cat", "x")]


def test_a_result_with_two_columns_of_one_name_is_refused(spark: SparkSession, index: Path) -> None:
    from tidings.spark import match

    for name, options in (
        ("subscription_ids", {"lists": True}),
        ("subscriptions", {"lists": True, "subscription_columns": ["owner"]}),
        ("subscription_id", {}),
        ("event_id", {}),
    ):
        given = events(spark).withColumnRenamed("title", name)
        with pytest.raises(SettingError, match=f"the result would have two columns {name}; rename"):
            match(given, index, event_columns=[name], **options)
    twice = spark.createDataFrame([], "id int, where string, subscription_id string")
    with pytest.raises(SettingError, match="two columns subscription_id"):
        match(events(spark), twice, lists=True, subscription_columns=["subscription_id"])


# Ids


def test_an_event_without_an_id_is_reported_and_not_matched(spark: SparkSession, index: Path) -> None:
    from tidings.spark import problems

    assert rows_of(problems(events(spark), index)) == [(None, None, "the event has no id, and is not matched")]


def test_what_cannot_be_read_is_reported_and_the_rest_matched(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import compile_index, match, problems

    rows = [(1, "n = 1"), (2, "xpath_boolean(doc, '/a')"), (3, "t IS NULL")]
    compile_index(spark.createDataFrame(rows, "id int, where string"), tmp_path / "index", progress=False)
    given = spark.createDataFrame([(1, "<a/>", 1), (2, "<a>", 1), (None, "<", 1)], "id int, doc string, n int")
    given = given.selectExpr("*", "INTERVAL '1' DAY t")
    assert rows_of(match(given, tmp_path / "index")) == [(1, 1), (1, 2), (2, 1)]
    found = {(event, attribute): reason for event, attribute, reason in rows_of(problems(given, tmp_path / "index"))}
    assert set(found) == {(1, "t"), (2, "t"), (2, "doc"), (None, None)}
    assert "malformed" in found[2, "doc"]


@pytest.mark.parametrize("kind", ["tinyint", "smallint", "int", "bigint", "string"])
def test_ids_of_events_keep_their_type(spark: SparkSession, index: Path, kind: str) -> None:
    from tidings.spark import match

    given = in_parts(spark.createDataFrame([(1,), (2,)], "number int").selectExpr(f"cast(number as {kind}) `the key`"))
    found = match(given, index, id_column="the key")
    assert found.dtypes[0] == ("event_id", kind)
    assert {str(row[0]) for row in found.collect()} == {"1", "2"}


def test_what_is_asked_for_must_be_there(spark: SparkSession, index: Path, tmp_path: Path) -> None:
    from tidings.spark import match

    given = events(spark)
    for wrong, error, message in (
        (
            lambda: match(given.drop("id"), index),
            EventError,
            "no column 'id' for their ids; they have: symbol, low, title. Name",
        ),
        (lambda: match(given.selectExpr("low id"), index), IdentifierError, "the column 'id' of the events is double"),
        (lambda: match(given.selectExpr("*", "1 low"), index), EventError, "two columns 'low'"),
        (
            lambda: match(given, index, event_columns=["high"]),
            SettingError,
            "no column 'high' to carry along; they have: id",
        ),
        (lambda: match(given, index, event_columns=["low", "low"]), SettingError, "would have two columns low"),
        (lambda: match(given, index, "hashed"), SettingError, "strategy is one of auto, replicated"),
        (lambda: match(given, index, reach="far"), SettingError, "reach is one of 'auto', 'path', 'copy', not 'far'"),
        (lambda: match(given, tmp_path / "none"), StoreError, "holds no saved matcher"),
        (lambda: match(given, "file://host/index"), SettingError, "names the host 'host'"),
        (lambda: match(given, 5), SettingError, "a DataFrame, the path of an index or an open index, not a int"),  # type: ignore[arg-type]
        (lambda: match(given, given), SettingError, "one column 'where'"),
    ):
        with pytest.raises(error, match=message):
            wrong()  # type: ignore[no-untyped-call]  # a lambda


# Columns


def test_names_are_told_apart_by_case_and_may_hold_anything(spark: SparkSession) -> None:
    given = spark.createDataFrame([(1, 1, 2, 3, 4, 5)], "id int, a int, A int, `a.b` int, `a``b` int, `?` int")
    wheres = ["a = 1", "A = 2", "A = 1", "`a.b` = 3", "`a``b` = 4 AND `?` = 5", "a.b = 3", "ID = 1"]
    assert asked(spark, wheres, given) == [(1, 0), (1, 1), (1, 3), (1, 4)]


def test_nested_columns_arrays_and_maps(spark: SparkSession) -> None:
    schema = (
        "id int, r struct<n: int, deep: struct<s: string>>, tags array<string>, items array<struct<price: double>>, "
        "m map<string, int>"
    )
    rows = [
        (1, (5, ("x",)), ["a", None], [(1.5,), (None,)], {"k": 1}),
        (2, (None, None), [], None, {}),
    ]
    wheres = [
        "r.n = 5 AND r.deep.s = 'x'",
        "has_any(tags, 'a', 'b')",
        "items.price > 1",
        "m.k = 1",
        "r.deep.s IS NULL",
        "tags IS NOT NULL",
    ]
    found = asked(spark, wheres, in_parts(spark.createDataFrame(rows, schema)))
    assert found == [(1, 0), (1, 1), (1, 2), (1, 3), (1, 5), (2, 4), (2, 5)]


@contextmanager
def zone(spark: SparkSession, name: str) -> Iterator[None]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", name)
    try:
        yield
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))


@pytest.mark.parametrize("name", ["UTC", "America/New_York", "GMT+05:30"])
def test_times_are_moments_whatever_the_zone_of_the_session(spark: SparkSession, name: str) -> None:
    """A timestamp is its moment; one without a zone, and a date, are read as UTC. Index and reference agree."""
    wheres = [
        "at = TIMESTAMP '2026-01-31 12:00:00Z'",
        "clock = TIMESTAMP '2026-01-31 12:00:00Z'",
        "day = DATE '2026-01-31' AND day < TIMESTAMP '2026-01-31 00:00:01Z'",
        "moments.at = TIMESTAMP '2026-01-31 12:00:00Z'",
    ]
    verified = [f"{where} AND s RLIKE '^x$'" for where in wheres]
    with zone(spark, name):
        given = spark.sql(
            "SELECT 1 id, timestamp_seconds(1769860800) at, TIMESTAMP_NTZ '2026-01-31 12:00:00' clock, "
            "DATE '2026-01-31' day, array(struct(timestamp_seconds(1769860800) at)) moments, 'x' s, "
            "map('k', timestamp_seconds(1769860800)) by_name"
        )
        found = asked(spark, [*wheres, *verified, "by_name.k < DATE '2026-02-01'"], given)
    assert datetime.fromtimestamp(1769860800, UTC) == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert found == [(1, number) for number in range(9)]


def test_decimals_text_and_xml(spark: SparkSession) -> None:
    schema = "id int, amount decimal(38, 18), title string, doc string, raw binary, day date, flag boolean"
    rows = [
        (1, Decimal("94.200000000000000001"), "Neural networks", "<a year='2008'/>", b"<a/>", date(2026, 1, 31), True)
    ]
    wheres = [
        "amount > 94.2",
        "amount = 94.2",
        "matches(title, 'neural ->[0,0] networks')",
        "similarity(title, 'networks') > 0.5",
        "xpath_boolean(doc, '/a[@year > 2007]')",
        "xpath_boolean(raw, '/a')",
        "flag AND title ILIKE 'NEURAL%' AND title RLIKE 'net'",
    ]
    assert asked(spark, wheres, spark.createDataFrame(rows, schema)) == [(1, 0), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6)]


FOREIGN = {
    "INTERVAL '1' YEAR": "interval year",
    "make_interval(1, 1)": "interval",
    "parse_json('{\"value\": 1}')": "variant",
}


@pytest.mark.parametrize("value", FOREIGN)
def test_values_of_types_that_no_attribute_has_are_unknown_and_reported(spark: SparkSession, value: str) -> None:
    from tidings.spark import match, problems

    wheres = [
        "v IS NULL", "v IS NOT NULL", "v.value IS NULL", "v.value = 1", "n = 1", "r.n = 1", "r.v IS NULL", "a IS NULL",
    ]  # fmt: skip
    given = spark.sql(
        f"SELECT id, if(id = 1, v, null) v, 1 n, named_struct('n', 1, 'v', v) r, array(v) a, map('k', v) m "
        f"FROM (SELECT explode(array(1, 2)) id, {value} v)"
    )
    assert asked(spark, wheres, given) == [(1, 4), (1, 5), (2, 0), (2, 2), (2, 4), (2, 5)]
    table = spark.createDataFrame([(1, "v = 1 OR m.k = 1")], "id int, where string")
    reason = f"a value of the type {FOREIGN[value]} is none of the types that an attribute can have"
    assert rows_of(problems(given, table)) == [(1, "m.k", reason), (1, "v", reason), (2, "m.k", reason)]
    if "interval" in FOREIGN[value]:
        with pytest.raises(SettingError, match=f"the column 'v' of the events is {FOREIGN[value]}, .*cast it to a str"):
            match(given, table, event_columns=["v"])
    else:
        assert match(given, table, lists=True, event_columns=["v"]).selectExpr("v:value::int = 1").first()[0]  # type: ignore[index]


def test_events_of_other_columns_and_types_than_the_last(spark: SparkSession, index: Path) -> None:
    from tidings.spark import match

    for select, expected in (
        ("'e' id, 'IBM' symbol, 90 low", ["all", "cheap"]),
        ("'e' id, 'IBM' symbol, cast(90.5 as decimal(10, 2)) low, 'spark' title", ["all", "cheap", "spark"]),
        ("'e' id, 'IBM' symbol, '90' low", ["all"]),
        ("'e' id, array('X', 'IBM') symbol, array(200, 90) low, array('a spark') title", ["all", "cheap", "spark"]),
        ("'e' id, named_struct('x', 1) symbol, null low", ["all"]),
        ("'e' id", ["all"]),
    ):
        assert rows_of(match(spark.sql(f"SELECT {select}"), index)) == [("e", id) for id in expected]


@pytest.mark.parametrize("strategy", ["replicated", "sharded"])
def test_events_that_are_not_as_they_should_be_in_every_strategy(
    spark: SparkSession, tmp_path: Path, strategy: str
) -> None:
    """Ids that are null are left out, those that stand twice are two events; other columns and types are unknown."""
    from tidings.spark import Sharding, compile_index, match

    wheres = [(1, "n = 1"), (2, "n = 2"), (3, "m IS NULL"), (4, "m = 'x'")]
    compile_index(spark.createDataFrame(wheres, "id int, where string"), tmp_path / "index", progress=False)

    def rows(given: DataFrame, **options: Any) -> list[tuple[Any, ...]]:
        return rows_of(match(given, tmp_path / "index", strategy, sharding=Sharding(2), **options))

    twice = spark.createDataFrame([("e", 1), ("e", 2), ("e", 1), (None, 1)], "id string, n int")
    assert rows(twice) == [("e", 1), ("e", 1), ("e", 2), ("e", 3), ("e", 3), ("e", 3)]
    assert sorted((id, sorted(found)) for id, found in rows(twice, lists=True)) == [
        ("e", [1, 3]), ("e", [1, 3]), ("e", [2, 3]),
    ]  # fmt: skip
    for select, expected in (("'1' n", [3]), ("1 n, 'x' m", [1, 4]), ("1.0 n, 5 m", [1]), ("array(1, 2) n", [1, 2, 3])):
        assert rows(spark.sql(f"SELECT 'e' id, {select}")) == [("e", id) for id in expected], select


def test_no_events(spark: SparkSession, index: Path) -> None:
    from tidings.spark import match, problems

    none = events(spark).where("FALSE")
    for found in (match(none, index), match(none, index, lists=True), problems(none, index)):
        assert found.collect() == []


# Versions


def test_a_query_sees_the_version_of_its_planning(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import match, open_index, remove_ids

    path = tmp_path / "index"
    with Matcher(path) as matcher:
        matcher.add("first", "TRUE")
    planned = match(events(spark), path)
    held = open_index(spark, path)
    with Matcher(path) as matcher:
        for number in range(4):
            matcher.add(f"later {number}", "TRUE")
    remove_ids(spark, path, ["first"])
    assert rows_of(planned) == [("e1", "first"), ("e2", "first")]
    assert rows_of(match(events(spark), held)) == [("e1", "first"), ("e2", "first")]
    assert match(events(spark), path).count() == 8
    with open_index(spark, path, version=held.version.number) as again:
        assert again.digest == held.digest
    held.close()
    held.close()


def test_the_pins_of_dead_processes_are_given_up(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.index.folder import pin
    from tidings.spark import open_index
    from tidings.spark.index import _machine

    path = tmp_path / "index"
    with Matcher(path) as matcher:
        matcher.add("first", "TRUE")
    number = read_version(path)[0].number
    for name in (
        f"spark-{_machine()}-4194305-0",
        "spark-0123456789ab-4194305-0",
        "other",
    ):  # no process has that number
        pin(path, name, number)
    with open_index(spark, path) as held:
        names = {file.name for file in path.glob("pin-*")}
        assert names == {f"pin-{held._pin}.json", "pin-spark-0123456789ab-4194305-0.json", "pin-other.json"}
    assert {file.name for file in path.glob("pin-*")} == names - {f"pin-{held._pin}.json"}


def test_an_index_that_executors_cannot_see_is_shipped(spark: SparkSession, index: Path, tmp_path: Path) -> None:
    """It is planned with a folder that is gone when it runs; what was shipped is still there."""
    import shutil

    from tidings.spark import match

    folder = tmp_path / "index"
    shutil.copytree(index, folder)
    shipped, in_place = (match(events(spark), folder, reach=reach) for reach in ("copy", "path"))
    folder.rename(tmp_path / "moved")
    assert rows_of(shipped) == PAIRS
    with pytest.raises(Exception, match="cannot be read on the host"):
        in_place.collect()


# Bounds


def test_answers_leave_in_batches_of_bounded_size(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tidings.spark import answering, compile_index, open_index

    texts = [(f"s{number}", f"a >= {number % 5} AND b <> {number}", f"owner {number}") for number in range(60)]
    compile_index(
        spark.createDataFrame(texts, "id string, where string, owner string"),
        tmp_path / "index",
        segments=2,
        progress=False,
    )
    given = pa.record_batch(
        {"id": pa.array(range(40)), "a": pa.array([n % 7 for n in range(40)]), "b": pa.array([0] * 40)}
    )
    expected = {
        (event, f"s{number}") for event in range(40) for number in range(60) if event % 7 >= number % 5 and number
    }
    monkeypatch.setattr(answering, "ANSWERS", 17)
    monkeypatch.setattr(answering, "MOST_ANSWERS", 100)
    monkeypatch.setattr(answering, "ROWS", 9)
    for bytes_of_hits in (2**30, 8 * 60 * 2):  # all rows at once, and two
        monkeypatch.setattr(answering, "BYTES_OF_HITS", bytes_of_hits)
        with open_index(spark, tmp_path / "index") as index:
            for form in (answering.PAIRS, answering.LISTS, answering.PIECES):
                for columns in ((), ("owner",)):
                    asking = answering.Asking(index.in_place, ((1, "a"), (2, "b")), (), (1,), columns, True, form)
                    batches = list(answering.answered(asking, [given.slice(0, 23), given.slice(23)]))
                    assert pairs_in(batches, form) == expected
                    sizes = [
                        len(batch.column(-1).flatten()) if form != answering.PAIRS else batch.num_rows
                        for batch in batches
                    ]
                    assert max(sizes) <= 17 or form == answering.LISTS
                    if form == answering.LISTS:
                        assert sum(batch.num_rows for batch in batches) == 40
                        assert all(batch.num_rows == 1 for batch, size in zip(batches, sizes, strict=True) if size > 17)


def pairs_in(batches: Sequence[pa.RecordBatch], form: str) -> set[tuple[int, str]]:
    rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    if form != "pairs":
        assert all(row[1] == row[0] % 7 for row in rows), "the column that is carried is not that of the event"
        rows = [(row[0], one) for row in rows for one in row[2]]
    found = [(row[0], row[1]["subscription_id"] if isinstance(row[1], dict) else row[1]) for row in rows]
    owners = [
        row[1]["owner"] if isinstance(row[1], dict) else row[2]
        for row in rows
        if isinstance(row[1], dict) or len(row) > 2
    ]
    assert all(owner == f"owner {id[1:]}" for owner, (_, id) in zip(owners, found, strict=False))
    assert len(set(found)) == len(found)
    return set(found)


def test_one_event_may_match_everything(spark: SparkSession, tmp_path: Path) -> None:
    """More matches than go into one batch, in every form."""
    from tidings.spark import compile_index, match
    from tidings.spark.answering import ANSWERS

    many = ANSWERS + 1_000
    table = spark.range(many).selectExpr("id", "concat('a >= -', id) where")
    compile_index(table, tmp_path / "index", segments=2, progress=False)
    given = spark.sql("SELECT 'e' id, 0 a, 'carried' c")
    assert match(given, tmp_path / "index").selectExpr("count(*)", "count(distinct subscription_id)").first() == (
        many,
        many,
    )
    assert match(given, tmp_path / "index", event_columns=["c"]).selectExpr("count(*)", "min(c)").first() == (
        many,
        "carried",
    )
    assert match(given, tmp_path / "index", lists=True).selectExpr("size(subscription_ids)").first() == (many,)
