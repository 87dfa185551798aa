"""`tidings match`: files of every format in and out, tables and streams, what is refused, and the exit status."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from tidings import EventError, SettingError, TidingsError
from tidings.cli import app
from tidings.match_files import Request, Summary, match_files, stream
from tidings.spark_session import SparkError, said_by, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidings.spark import BatchMetrics

SUBSCRIPTIONS: list[dict[str, Any]] = [
    {"id": "cheap", "where": "symbol = 'IBM' AND low <= 95", "owner": "ann"},
    {"id": "007", "where": "matches(title, '\"key rate\"')\nOR symbol = ','", "owner": "bob"},
    {"id": "all", "where": "TRUE", "owner": None},
]
EVENTS: list[dict[str, Any]] = [
    {"id": "e1", "symbol": "IBM", "low": 90.5, "title": 'the "key" rate'},
    {"id": "02", "symbol": "IBM", "low": 99.0, "title": None},
    {"id": "e3", "symbol": ",", "low": None, "title": None},
]
PAIRS = [("02", "all"), ("e1", "007"), ("e1", "all"), ("e1", "cheap"), ("e3", "007"), ("e3", "all")]


def written(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows in a file of the format that its ending says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".gz":
        bare = path.with_suffix("")
        bare.write_bytes(gzip.decompress(path.read_bytes()))
        return read(bare)
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return rows
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def pairs_in(path: Path) -> list[tuple[Any, Any]]:
    return sorted((row["event_id"], row["subscription_id"]) for row in read(path))


def pairs_in_batches(folder: Path) -> list[tuple[Any, Any]]:
    return sorted(pair for part in folder.glob("batch=*/part-*") for pair in pairs_in(part))


def request(folder: Path, out: str = "matches.jsonl", **options: Any) -> Request:
    """Of these subscriptions and events as json lines, where no others are named."""
    paths: dict[str, Any] = {
        "subscriptions": options.pop("subscriptions", None) or written(folder / "subscriptions.jsonl", SUBSCRIPTIONS),
        "events": options.pop("events", None) or written(folder / "events.jsonl", EVENTS),
    }
    return Request(**paths, out=str(folder / out), **{"problems": False, "top": 0, **options})


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["match", *arguments])


# Formats


@pytest.mark.parametrize(
    ("given", "events", "out"), [("csv", "csv", "csv"), ("jsonl", "parquet", "jsonl"), ("parquet", "json", "parquet")]
)
def test_every_format_in_and_out(spark: SparkSession, tmp_path: Path, given: str, events: str, out: str) -> None:
    summary = match_files(
        request(
            tmp_path,
            f"matches.{out}",
            subscriptions=written(tmp_path / f"subscriptions.{given}", SUBSCRIPTIONS),
            events=written(tmp_path / f"events.{events}", EVENTS),
            top=2,
        )
    )
    assert pairs_in(tmp_path / f"matches.{out}") == PAIRS
    assert (summary.subscriptions, summary.events, summary.known, summary.matches) == (3, 3, 3, 6)
    assert [(each.id, each.matches) for each in summary.top] == [("all", 3), ("007", 2)]
    assert summary.usable
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")], "part files were left"


def test_lists_with_columns_of_both_sides_from_a_folder_of_files(spark: SparkSession, tmp_path: Path) -> None:
    for number, event in enumerate(EVENTS):
        written(tmp_path / "events" / f"{number}.json", [event])
    options = {"lists": True, "event_columns": ("symbol",), "subscription_columns": ("owner",), "top": 1}
    summary = match_files(request(tmp_path, "matches", events=str(tmp_path / "events"), format="jsonl", **options))
    rows = [row for part in (tmp_path / "matches").glob("part-*") for row in read(part)]
    found = {
        row["event_id"]: (row["symbol"], {each["subscription_id"] for each in row["subscriptions"]}) for row in rows
    }
    assert found == {"e1": ("IBM", {"007", "all", "cheap"}), "02": ("IBM", {"all"}), "e3": (",", {"007", "all"})}
    assert {each.get("owner") for row in rows for each in row["subscriptions"]} == {"ann", "bob", None}
    assert (summary.matches, summary.top[0].id) == (6, "all")


def test_a_schema_and_options_of_the_reader(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("key;at\n1;2026-03-02 10:00:00\n", encoding="utf-8")
    summary = match_files(
        request(
            tmp_path,
            "matches.csv",
            subscriptions=written(tmp_path / "s.csv", [{"id": 1, "where": "at = TIMESTAMP '2026-03-02 10:00:00'"}]),
            events=str(tmp_path / "events.csv"),
            read_options={"sep": ";"},
            schema="key int, at timestamp",
            id_column="key",
        )
    )
    assert (summary.matches, pairs_in(tmp_path / "matches.csv")) == (1, [("1", "1")])


@pytest.mark.parametrize("out", ["matches.csv.gz", "matches.jsonl.gz"])
def test_one_compressed_file(spark: SparkSession, tmp_path: Path, out: str) -> None:
    match_files(request(tmp_path, out))
    assert pairs_in(tmp_path / out) == PAIRS


def test_a_path_as_hadoop_writes_it_is_a_file_too(spark: SparkSession, tmp_path: Path) -> None:
    asked = request(tmp_path)
    match_files(replace(asked, out=f"file://{tmp_path}/m.csv", events=f"file://{asked.events}"))
    assert pairs_in(tmp_path / "m.csv") == PAIRS


def test_a_quoted_value_may_have_line_breaks(spark: SparkSession, tmp_path: Path) -> None:
    events = written(tmp_path / "e.csv", [{"id": "e1", "title": "the key\nrate", "low": 1}])
    summary = match_files(request(tmp_path, events=events, problems=True))
    assert (summary.events, summary.problems) == (1, 0)
    assert pairs_in(tmp_path / "matches.jsonl") == [("e1", "007"), ("e1", "all")]


@pytest.mark.parametrize(("strategy", "scheme"), [("sharded", "elements"), ("replicated", None)])
def test_strategies_answer_alike(spark: SparkSession, tmp_path: Path, strategy: str, scheme: str | None) -> None:
    summary = match_files(request(tmp_path, strategy=strategy, scheme=scheme))
    assert summary.scanned >= 1  # `all`, and the others too while so few are not compiled
    assert pairs_in(tmp_path / "matches.jsonl") == PAIRS


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_files_without_a_row_are_no_error(spark: SparkSession, tmp_path: Path, ending: str) -> None:
    empty = tmp_path / f"empty.{ending}"
    empty.touch()
    summary = match_files(request(tmp_path, events=str(empty), event_columns=("low",)))
    assert (summary.subscriptions, summary.events, summary.usable) == (3, 0, True)
    summary = match_files(request(tmp_path, subscriptions=str(empty), overwrite=True))
    assert (summary.subscriptions, summary.events, summary.matches, summary.usable) == (0, 3, 0, True)


def test_subscriptions_of_a_header_alone_have_its_columns(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "header.csv").write_text("id,where,owner\n")
    asked = request(tmp_path, "m.csv", subscriptions=str(tmp_path / "header.csv"), subscription_columns=("owner",))
    summary = match_files(asked)
    assert (summary.subscriptions, summary.events, summary.matches, summary.usable) == (0, 3, 0, True)
    assert (tmp_path / "m.csv").read_text() == "event_id,subscription_id,owner\n"


@pytest.mark.parametrize("out", ["none.csv", "none.jsonl", "none.parquet"])
def test_no_match_is_a_file_without_rows(spark: SparkSession, tmp_path: Path, out: str) -> None:
    nobody = written(tmp_path / "nobody.jsonl", [{"id": 1, "where": "symbol = 'X'"}])
    summary = match_files(request(tmp_path, out, subscriptions=nobody, top=3))
    assert (read(tmp_path / out), summary.matches, summary.top, summary.usable) == ([], 0, (), True)


def test_a_compiled_index_is_kept_and_used_again(spark: SparkSession, tmp_path: Path) -> None:
    index = str(tmp_path / "index")
    match_files(request(tmp_path, "first.jsonl", index=index))
    summary = match_files(request(tmp_path, "second.jsonl", subscriptions=index, subscription_columns=("owner",)))
    assert (summary.subscriptions, summary.refused) == (3, 0)
    assert pairs_in(tmp_path / "second.jsonl") == pairs_in(tmp_path / "first.jsonl") == PAIRS
    with pytest.raises(SettingError, match="holds an index already; give it as SUBSCRIPTIONS"):
        match_files(request(tmp_path, "third.jsonl", index=index))
    fewer = written(tmp_path / "fewer.jsonl", SUBSCRIPTIONS[:1])
    summary = match_files(request(tmp_path, "first.jsonl", subscriptions=fewer, index=index, overwrite=True))
    assert (summary.subscriptions, pairs_in(tmp_path / "first.jsonl")) == (1, [("e1", "cheap")])


def test_a_run_that_cannot_be_leaves_no_index(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(TidingsError, match=r"the events in .*x\*.jsonl cannot be read"):
        match_files(request(tmp_path, events=str(tmp_path / "x*.jsonl"), index=str(tmp_path / "index")))
    assert not (tmp_path / "index").exists()


# Rows in error


def test_bad_rows_are_counted_told_and_written_beside_the_output(spark: SparkSession, tmp_path: Path) -> None:
    subscriptions = written(
        tmp_path / "s.jsonl",
        [*SUBSCRIPTIONS, {"id": "bad", "where": "low <"}, {"id": "x", "where": "xpath_boolean(d, '//a')"}],
    )
    events = tmp_path / "events.jsonl"
    written(events, [*EVENTS, {"symbol": "IBM"}, {"id": "e5", "d": "<a>"}])
    with events.open("a", encoding="utf-8") as file:
        file.write('{"id": "e6", \n')
    ran = command(subscriptions, str(events), "--out", str(tmp_path / "matches.csv"))
    assert ran.exit_code == 0, ran.output
    assert [row["id"] for row in read(tmp_path / "matches.refused.jsonl")] == ["bad"]
    reasons = {row.get("event_id"): row["reason"] for row in read(tmp_path / "matches.problems.jsonl")}
    assert "malformed" in reasons["e5"]
    assert len(read(tmp_path / "matches.problems.jsonl")) == 3
    lines = {line[:15].strip(): line[15:] for line in ran.stdout.splitlines()}
    assert lines["subscriptions"] == "4, 1 refused"
    assert lines["events"] == "6, 2 without an id, which are not matched"
    assert lines["rows in error"] == "3"
    assert "bad: found the end after <, expected a value" in ran.stdout
    assert 'the row cannot be read: {"id": "e6",' in ran.stdout
    assert lines["output"] == str(tmp_path / "matches.csv")


def test_short_rows_of_csv_are_reported_and_matched_by_what_they_have(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("id,symbol,low\ne1,IBM,90\ne2,IBM\n", encoding="utf-8")
    events = str(tmp_path / "events.csv")
    summary = match_files(request(tmp_path, events=events, problems=True))
    assert (summary.problems, summary.first_problems[0].id) == (1, "e2")
    assert pairs_in(tmp_path / "matches.jsonl") == [("e1", "all"), ("e1", "cheap"), ("e2", "all")]


def test_columns_of_a_type_that_nobody_asks_for_are_told(spark: SparkSession, tmp_path: Path) -> None:
    events = tmp_path / "events.csv"
    events.write_text("id,low,zip,at\ne1,90,00501,2026-03-02\ne2,oops,10,2026-03-02\n", encoding="utf-8")
    wheres = ("low < 95", "zip = '00501' OR low IS NULL", "at > TIMESTAMP '2026-01-01 00:00:00'", "low LIKE 'x%'")
    subscriptions = written(tmp_path / "s.jsonl", [{"id": n, "where": where} for n, where in enumerate(wheres[:3])])
    summary = match_files(request(tmp_path, "m.csv", subscriptions=subscriptions, events=str(events)))
    schema = "id string, low double, zip string, at date"
    assert summary.warnings == (
        "low is text, and subscriptions compare it with numbers, which is never true",
        "zip is a number, and subscriptions compare it with text, which is never true",
        f"to read it otherwise: --schema '{schema}'",
    )
    assert pairs_in(tmp_path / "m.csv") == [("e1", "2"), ("e2", "2")]
    subscriptions = written(tmp_path / "s.jsonl", [{"id": n, "where": where} for n, where in enumerate(wheres)])
    options = {"subscriptions": subscriptions, "events": str(events), "overwrite": True}
    summary = match_files(request(tmp_path, "m.csv", **options, schema=schema))
    assert summary.warnings == ("low is a number, and subscriptions compare it with text, which is never true",)
    assert pairs_in(tmp_path / "m.csv") == [("e1", "0"), ("e1", "1"), ("e1", "2"), ("e2", "1"), ("e2", "2")]


def test_status_1_when_all_rows_are_in_error(spark: SparkSession, tmp_path: Path) -> None:
    wrong = written(tmp_path / "wrong.jsonl", [{"id": 1, "where": "a =="}])
    events = written(tmp_path / "events.jsonl", EVENTS)
    ran = command(wrong, events, "-o", str(tmp_path / "m.jsonl"), "--no-problems", "--top", "0", "--json")
    answer = json.loads(ran.stdout)
    assert (ran.exit_code, answer["ok"], answer["refused"], answer["events"]) == (1, False, 1, 3)
    nameless = written(tmp_path / "nameless.jsonl", [{"id": None, "a": 1}, {"id": None, "a": 2}])
    summary = match_files(request(tmp_path, events=nameless, schema="id string, a int"))
    assert (summary.events, summary.known, summary.usable) == (2, 0, False)


# Streams


def test_a_stream_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "events"
    for number, event in enumerate(EVENTS[:2]):
        written(folder / f"{number}.json", [event])
    said: list[str] = []
    asked = request(tmp_path, "matches", events=str(folder), format="jsonl", streaming=True, files_per_batch=1, top=1)
    first = match_files(asked, said.append)
    assert (first.batches, first.events, first.matches) == (2, 2, 4)
    assert [line.split(",")[0] for line in said if line.startswith("batch")] == [
        "batch 0: 1 event",
        "batch 1: 1 event",
    ]
    again = match_files(asked)
    assert (again.batches, again.events, again.top, again.usable) == (0, 0, (), True)
    written(folder / "2.json", [EVENTS[2]])
    third = match_files(asked)
    assert (third.batches, third.matches, third.top[0].matches) == (1, 2, 1)
    assert pairs_in_batches(tmp_path / "matches") == PAIRS


def test_a_stream_may_be_sharded(spark: SparkSession, tmp_path: Path) -> None:
    written(tmp_path / "events" / "0.json", EVENTS)
    options: dict[str, Any] = {"streaming": True, "strategy": "sharded", "scheme": "elements"}
    summary = match_files(request(tmp_path, "matches", events=str(tmp_path / "events"), format="jsonl", **options))
    assert summary.matches == len(PAIRS)
    assert pairs_in_batches(tmp_path / "matches") == PAIRS


def test_a_restart_delivers_each_match_once_and_a_begun_batch_keeps_its_subscriptions(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run ends where it hurts most: a batch is delivered, and Spark has not been told. Meanwhile the file of
    subscriptions changes, which counts from the next batch on: `all` is gone, `low` is new."""
    folder = tmp_path / "events"
    written(folder / "0.json", EVENTS[:1])
    asked = request(tmp_path, "matches", events=str(folder), format="jsonl", streaming=True)
    with monkeypatch.context() as patched:
        patched.setattr(stream._Run, "after_batch", killed_after_batch_0)
        with pytest.raises(SparkError, match="killed"):
            match_files(asked)
    assert len(list((tmp_path / "matches").glob("batch=*"))) == 1
    written(tmp_path / "subscriptions.jsonl", [*SUBSCRIPTIONS[:2], {"id": "low", "where": "low > 0", "owner": "cyd"}])
    written(folder / "1.json", EVENTS[1:2])
    said: list[str] = []
    summary = match_files(asked, said.append)
    assert [line.split(",")[0] for line in said if line.startswith("batch")] == [
        "batch 0: delivered before",
        "batch 1: 1 event",
    ]
    assert (summary.subscriptions, summary.batches, summary.events, summary.matches) == (3, 2, 1, 1)
    assert pairs_in_batches(tmp_path / "matches") == [("02", "low"), ("e1", "007"), ("e1", "all"), ("e1", "cheap")]


def killed_after_batch_0(run: Any, events: Any, index: Any, batch: BatchMetrics) -> None:
    del run, events, index
    assert batch.matches == 3
    raise RuntimeError("killed")


def test_a_begun_batch_that_was_not_delivered_sees_the_subscriptions_it_was_begun_with(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "events" / "0.json", EVENTS)
    asked = request(tmp_path, "matches", events=str(tmp_path / "events"), format="jsonl", streaming=True)
    with monkeypatch.context() as patched:
        patched.setattr("tidings.spark.sinks.FilesSink.write", _no_room)
        patched.setattr("tidings.spark.streaming.PAUSE_SECONDS", 0)
        with pytest.raises(SparkError, match="no room"):
            match_files(asked)
    written(tmp_path / "subscriptions.jsonl", [{"id": "none", "where": "FALSE", "owner": None}])
    assert match_files(asked).matches == len(PAIRS)
    assert pairs_in_batches(tmp_path / "matches") == PAIRS


def _no_room(self: Any, matches: Any, batch: Any) -> None:
    raise OSError("no room")


def test_a_stream_keeps_its_index_where_it_is_told(spark: SparkSession, tmp_path: Path) -> None:
    written(tmp_path / "events" / "0.json", EVENTS[:1])
    options = {
        "events": str(tmp_path / "events"),
        "format": "jsonl",
        "streaming": True,
        "index": str(tmp_path / "index"),
    }
    assert match_files(request(tmp_path, "matches", **options)).matches == 3
    written(tmp_path / "events" / "1.json", EVENTS[1:])
    assert match_files(request(tmp_path, "matches", **options)).matches == 3  # of the same index, made anew
    assert not (tmp_path / "matches" / "_checkpoint" / "tidings" / "subscriptions").exists()
    with pytest.raises(SettingError, match="holds an index already"):
        match_files(request(tmp_path, "others", **options))
    overwritten = match_files(request(tmp_path, "matches", **options, overwrite=True))
    assert (overwritten.batches, overwritten.matches) == (1, 6)
    assert pairs_in_batches(tmp_path / "matches") == PAIRS


def test_the_index_of_a_stream_needs_a_local_folder(spark: SparkSession, tmp_path: Path) -> None:
    written(tmp_path / "events" / "0.json", EVENTS)
    options = {"events": str(tmp_path / "events"), "format": "jsonl", "streaming": True}
    with pytest.raises(SettingError, match=r"the checkpoint hdfs://.* is not a local folder.*name it with --index"):
        match_files(request(tmp_path, "matches", **options, checkpoint="hdfs://nowhere/checkpoint"))


def test_a_stream_reports_rows_in_error(spark: SparkSession, tmp_path: Path) -> None:
    events = str(tmp_path / "events")
    written(tmp_path / "events" / "0.json", [EVENTS[0], {"symbol": "IBM"}])
    summary = match_files(request(tmp_path, "matches.csv", events=events, streaming=True, problems=True))
    assert (summary.events, summary.known, summary.problems) == (2, 1, 1)
    assert summary.problems_file == str(tmp_path / "matches.csv" / "_problems")
    assert "no id" in summary.first_problems[0].message


# What cannot be done


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "xml"], "--format is one of csv, jsonl, parquet, not 'xml'"),
        (["--follow"], "--follow is for streams; add --streaming, or leave it out"),
        (["--checkpoint", "c"], "--checkpoint is for streams"),
        (["--lists", "--format", "csv"], "csv cannot hold"),
        (["--strategy", "magic"], "strategy is one of auto, replicated, sharded, not 'magic'"),
        (["--scheme", "magic"], "scheme is one of rendezvous, or the name of one"),
        (["--analyser", "klingon"], "there is no analyser named 'klingon'"),
        (["--event-column", "a", "--subscription-column", "a"], "the output would have two columns a: "),
        (["--out", "m.csv.bz2"], "what can be compressed is one file of csv or JSON lines, by gzip"),
        (["--out", "m.csv.gz", "--streaming"], "streams and clusters write folders. Leave out .gz"),
        (["--conf", "spark.x"], "--conf takes name=value, such as spark.driver.memory=4g, and was given 'spark.x'"),
        (["--no-such-option"], "No such option"),
    ],
)
def test_status_2_for_a_wrong_option(tmp_path: Path, options: list[str], said: str) -> None:
    ran = command("s.csv", "e.csv", "--out", str(tmp_path / "matches.jsonl"), *options)
    assert ran.exit_code == 2
    assert said in ran.stderr


def test_nothing_is_overwritten_unasked(spark: SparkSession, tmp_path: Path) -> None:
    asked = request(tmp_path)
    (tmp_path / "matches.jsonl").write_text("kept", encoding="utf-8")
    with pytest.raises(SettingError, match=r"matches.jsonl exists already; name another place .*, or add --overwrite"):
        match_files(asked)
    assert (tmp_path / "matches.jsonl").read_text(encoding="utf-8") == "kept"
    match_files(request(tmp_path, overwrite=True))
    assert pairs_in(tmp_path / "matches.jsonl") == PAIRS
    with pytest.raises(SettingError, match=r"there is no folder .*nowhere; make it first"):
        match_files(request(tmp_path, "nowhere/matches.jsonl"))


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        (
            {"subscriptions": "no-such.csv"},
            TidingsError,
            "the subscriptions in no-such.csv cannot be read: there is no such file or folder",
        ),
        (
            {"events": "no-such.jsonl"},
            TidingsError,
            "the events in no-such.jsonl cannot be read: there is no such file",
        ),
        (
            {"events": "no*such.jsonl"},
            TidingsError,
            r"the events in no\*such.jsonl cannot be read: Path does not exist",
        ),
        ({"events": "no*such"}, SettingError, r"no\*such does not say its format by its ending .*; give --events-fo"),
        ({"id_column": "key"}, EventError, "have no column 'key' for their ids; they have: .*Name it with --id-column"),
        ({"schema": "id colour"}, SettingError, "--schema takes columns and their types, such as"),
        ({"id_column": "low"}, EventError, "the column 'low' of the events is double; ids are strings or integers"),
        ({"event_columns": ("volume",)}, SettingError, "the events in .* have no column 'volume' to carry along"),
        (
            {"subscription_columns": ("nope",)},
            TidingsError,
            "the subscriptions in .* have no column 'nope'; they have: id, owner, where",
        ),
        (
            {"schema": "id string, tags array<string>", "event_columns": ("tags",), "out": "m.csv"},
            SettingError,
            "csv cannot hold the column 'tags', which is array<string>; write jsonl or parquet",
        ),
    ],
)
def test_input_that_cannot_be_used(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    kind: type[TidingsError],
    said: str,
) -> None:
    """And nothing is compiled before that is told."""
    monkeypatch.setattr("tidings.spark.compile_index", None)
    with pytest.raises(kind, match=said):
        match_files(request(tmp_path, **options))


@pytest.mark.parametrize("option", [{"index": "another"}, {"analyser": "english"}])
def test_a_compiled_index_is_what_it_is(spark: SparkSession, tmp_path: Path, option: dict[str, str]) -> None:
    index = str(tmp_path / "index")
    match_files(request(tmp_path, "first.jsonl", index=index))
    with pytest.raises(SettingError, match="is a compiled index already; leave out --"):
        match_files(request(tmp_path, "second.jsonl", subscriptions=index, **option))


def test_a_stream_takes_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"--streaming takes a folder .*, and .*events.jsonl is a file; give its"):
        match_files(request(tmp_path, streaming=True))


def test_subscriptions_without_a_condition_are_told(spark: SparkSession, tmp_path: Path) -> None:
    subscriptions = written(tmp_path / "s.csv", [{"id": 1, "query": "a = 1"}])
    ran = command(subscriptions, written(tmp_path / "events.jsonl", EVENTS), "-o", str(tmp_path / "m.csv"))
    assert ran.exit_code == 1
    assert f"error the subscriptions in {subscriptions} have no column 'where'; they have: id, query" in ran.stderr


def test_an_empty_folder_is_no_events_and_cannot_say_their_types(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    options: dict[str, Any] = {"events": str(tmp_path / "inbox"), "events_format": "jsonl", "streaming": True}
    with pytest.raises(EventError, match="inbox is empty, so the types of events are not known; give them by --schema"):
        match_files(request(tmp_path, "m", format="jsonl", **options))
    summary = match_files(request(tmp_path, "m", format="jsonl", schema="id string", **options))
    assert (summary.events, summary.batches) == (0, 0)
    summary = match_files(request(tmp_path, "once.jsonl", **{**options, "streaming": False}))
    assert (summary.events, summary.usable) == (0, True)


# Spark


def tidings(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tidings", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "120", **variables},
        check=False,
    )


@pytest.mark.parametrize("name", ["match", "demo"])
def test_without_java_there_is_one_clear_message(tmp_path: Path, name: str) -> None:
    pytest.importorskip("pyspark")
    paths = (written(tmp_path / "s.csv", SUBSCRIPTIONS), written(tmp_path / "e.csv", EVENTS))
    ran = tidings(name, *(paths if name == "match" else ()), "--out", str(tmp_path / "m.csv"), JAVA_HOME=str(tmp_path))
    assert ran.returncode == 1
    assert f"error Spark needs Java 17 or newer, and none was found in JAVA_HOME ({tmp_path}) or PATH." in ran.stderr
    assert "sudo apt-get install openjdk-17-jre-headless" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_without_pyspark_there_is_one_clear_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.spark_session.find_spec", lambda name: None)
    with (
        pytest.raises(SparkError, match=r"pyspark is not installed.*\n  pip install 'tidings\[spark\]'"),
        spark_session("x"),
    ):
        pass


def test_what_spark_says_is_cut_to_its_first_line() -> None:
    said = "[PATH_NOT_FOUND] Path does not exist: file:/a. SQLSTATE: 42K03\nat java"
    assert said_by(RuntimeError(said)) == "Path does not exist: file:/a."


def test_what_a_batch_raised_is_said_instead_of_where() -> None:
    said = (
        "[STREAM_FAILED] Query [id = 1] ended. Reason: Return Message: Traceback (most recent call last):\n  File x\n"
    )
    assert said_by(RuntimeError(said + "    f()\nOSError: no room\n\n\tat py4j.Protocol")) == "OSError: no room"


def test_what_a_worker_raised_is_said() -> None:
    said = "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File x\n"
    assert said_by(RuntimeError(said + "ValueError: no 7")) == "ValueError: no 7"


def test_what_a_worker_died_of_is_said_without_the_way_it_came() -> None:
    said = "An error occurred while calling o1.csv.\n: org.SparkException: Job aborted: Lost task (TID 9): org.spark."
    assert said_by(RuntimeError(said + "SparkException: Python worker exited\n\tat a.b")) == "Python worker exited"


def test_of_many_subscriptions_the_summary_says_how_many_are_asked_of_every_event() -> None:
    numbers = dict.fromkeys(Summary.__slots__, 0) | {"subscriptions": 20_000, "scanned": 3, "known": 0}
    nothing: dict[str, Any] = {"warnings": (), "top": (), "first_refused": (), "first_problems": (), "seconds": 1.0}
    summary = Summary(**{**numbers, **nothing, "batches": None, "out": "m.csv", "index": None})
    assert dict(summary.rows())["subscriptions"] == "20,000, 3 asked of every event"
    assert dict(replace(summary, subscriptions=3).rows())["subscriptions"] == "3"


@pytest.mark.slow
def test_nothing_but_progress_and_the_summary_is_printed(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    paths = written(tmp_path / "s.csv", SUBSCRIPTIONS), written(tmp_path / "e.csv", EVENTS)
    ran = tidings("match", *paths, "--out", str(tmp_path / "matches.csv"), "--json")
    assert ran.returncode == 0, ran.stderr
    assert pairs_in(tmp_path / "matches.csv") == PAIRS
    assert set(json.loads(ran.stdout)) >= set(Summary.__slots__)
    words = [line.split()[0] for line in ran.stderr.splitlines()]
    assert words == ["starting", "3", "3", "looking"], ran.stderr
