"""Sinks: each holds a match once, however often its batch is delivered."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tidings
from spark.frames import rows_of
from tidings.errors import SettingError
from tidings.spark import Batch, ConsoleSink, FilesSink, ParquetSink, PostgresSink, metrics, stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SECONDS = 60  # in which PostgreSQL starts or stops on a busy machine
PAIRS = "event_id string, subscription_id bigint"


def batch(number: int, stream: str = "s1") -> Batch:
    return Batch(number, 1, stream)


def pairs(spark: SparkSession, *rows: tuple[str, int]) -> DataFrame:
    return spark.createDataFrame(rows, PAIRS).repartition(2)


# Parquet


def test_parquet_holds_a_batch_once(spark: SparkSession, tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path / "matches")
    sink.prepare(spark, "s1")
    sink.write(pairs(spark, ("a", 1), ("b", 2)), batch(0))
    sink.write(pairs(spark, ("c", 1)), batch(1))
    before = sorted((tmp_path / "matches" / "batch=0").iterdir())
    sink.write(pairs(spark, ("a", 1), ("b", 2)), batch(0))
    assert sorted((tmp_path / "matches" / "batch=0").iterdir()) == before  # who reads it is not disturbed
    assert rows_of(spark.read.parquet(sink.path)) == [("a", 1, 0), ("b", 2, 0), ("c", 1, 1)]


def test_files_of_another_format(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "matches" / "_checkpoint").mkdir(parents=True)  # readers pass over it, and so may a checkpoint be there
    sink = FilesSink(tmp_path / "matches", "csv", header="true")
    sink.prepare(spark, "s1")
    for _ in range(2):
        sink.write(pairs(spark, ("a", 1)), batch(0))
    assert rows_of(spark.read.option("header", "true").csv(sink.path)) == [("a", "1", 0)]


def test_what_a_killed_driver_was_writing_is_not_read_and_is_removed(spark: SparkSession, tmp_path: Path) -> None:
    sink = ParquetSink(str(tmp_path / "matches") + "/")
    sink.prepare(spark, "s1")
    sink.write(pairs(spark, ("a", 1)), batch(0))
    half = tmp_path / "matches" / "_writing-1-0123"
    shutil.copytree(tmp_path / "matches" / "batch=0", half)
    assert rows_of(spark.read.parquet(sink.path)) == [("a", 1, 0)]
    sink.prepare(spark, "s1")
    assert not half.exists()
    assert rows_of(spark.read.parquet(sink.path)) == [("a", 1, 0)]


def test_a_write_that_fails_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path / "matches")
    sink.prepare(spark, "s1")
    failing = pairs(spark, ("a", 1)).selectExpr("event_id", "subscription_id / 0 AS subscription_id")
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        sink.write(failing, batch(0))
    assert [path.name for path in (tmp_path / "matches").iterdir() if not path.name.startswith(".")] == [
        "_tidings-stream.json"
    ]


def test_a_path_belongs_to_one_stream(spark: SparkSession, tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path / "matches")
    sink.prepare(spark, "s1")
    with pytest.raises(SettingError, match="holds batches of another stream"):
        sink.prepare(spark, "s2")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(SettingError, match="is not empty, and not from a stream"):
        ParquetSink(tmp_path / "other").prepare(spark, "s1")
    with pytest.raises(SettingError, match="have a column 'batch'"):
        sink.write(pairs(spark, ("a", 1)).withColumnRenamed("event_id", "batch"), batch(0))


def test_the_console(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    ConsoleSink(rows=1).write(pairs(spark, ("a", 1), ("b", 1)).sort("event_id"), batch(3))
    said = capsys.readouterr().out
    assert "batch 3, version 1 of the index: 2 rows" in said
    assert "|a       |1              |" in said
    assert "|b" not in said


# PostgreSQL


class Server:
    """A PostgreSQL of its own, on a socket in a folder of its own."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        # It refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        self.data = folder / "data"

    @property
    def conninfo(self) -> str:
        return f"host={self.folder} dbname=postgres user=tidings"

    def start(self) -> None:
        if self.user:
            shutil.chown(self.folder, self.user)
        self._run("initdb", "-D", str(self.data), "-U", "tidings", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self.folder / "log"), "-o", options, "-w", "start")

    def stop(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop")

    def _run(self, name: str, *options: str) -> None:
        with (self.folder / f"{name}.txt").open("wb") as output:  # not a pipe, which the server would keep open
            subprocess.run(
                [self.programs / name, *options],
                user=self.user, stdout=output, stderr=output, timeout=SECONDS, check=True, cwd=self.folder,
            )  # fmt: skip


def _programs() -> Path | None:
    """The folder of initdb and pg_ctl: the newest that Debian has installed, or that of PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = debian[-1] if debian else shutil.which("initdb")
    folder = Path(found).resolve().parent if found else None
    return folder if folder is not None and (folder / "pg_ctl").exists() else None


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'tidings[postgres]'")
    programs = _programs()
    if programs is None:
        pytest.skip("there is no PostgreSQL in /usr/lib/postgresql or PATH: apt-get install postgresql")
    if os.geteuid() == 0 and not any(entry.pw_name == "postgres" for entry in pwd.getpwall()):
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    folder = Path(tempfile.mkdtemp(prefix="tidings-pg-"))  # short, for the socket, and open to that user
    server = Server(programs, folder)
    try:
        try:
            server.start()
        except (OSError, subprocess.SubprocessError) as error:
            said = "\n".join(path.read_text(errors="replace") for path in folder.glob("*.txt"))
            pytest.skip(f"PostgreSQL cannot be started here: {error}: {said[-500:]}")
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def rows_in(server: Server, query: str) -> list[tuple[Any, ...]]:
    import psycopg  # type: ignore[import-not-found, unused-ignore]  # an extra: it may not be there

    with psycopg.connect(server.conninfo) as connection:
        return list(connection.execute(query))


def change(server: Server, *statements: str) -> None:
    import psycopg

    with psycopg.connect(server.conninfo) as connection:
        for statement in statements:
            connection.execute(statement)


def test_postgres_holds_a_match_once(spark: SparkSession, server: Server) -> None:
    sink = PostgresSink(server.conninfo, "once")
    sink.prepare(spark, "s1")
    for _ in range(2):
        sink.write(pairs(spark, ("a", 1), ("b\t\\N\n'", 2), ("a", 1)), batch(0))
    sink.write(pairs(spark, ("c", 3), ("a", 1)), batch(1))
    found = rows_in(server, "SELECT event_id, subscription_id FROM once ORDER BY 1, 2")
    assert found == [("a", 1), ("b\t\\N\n'", 2), ("c", 3)]


def test_a_stream_into_postgres_from_its_beginning_once_more(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    with tidings.Matcher(tmp_path / "index") as matcher:
        matcher.add_many([(1, "n >= 1"), (2, "n >= 2")])
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "0.json").write_text('{"id": "a", "n": 1}\n{"id": "b", "n": 2}', encoding="utf-8")
    events = spark.readStream.schema("id string, n int").json(str(tmp_path / "events"))
    for checkpoint in ("first", "second"):  # as if the first had been lost
        sink = PostgresSink(server.conninfo, "streamed")
        query = stream(events, tmp_path / "index", sink, tmp_path / checkpoint, trigger="available")
        assert query.awaitTermination(2 * SECONDS)
        assert [(row.events, row.matches) for row in metrics(tmp_path / checkpoint)] == [(2, 3)]
    found = rows_in(server, "SELECT event_id, subscription_id FROM streamed ORDER BY 1, 2")
    assert found == [("a", 1), ("b", 1), ("b", 2)]


def test_postgres_takes_the_rest_of_a_batch_that_failed_half_way(spark: SparkSession, server: Server) -> None:
    sink = PostgresSink(server.conninfo, "rest")
    rows = pairs(spark, *[(f"e{number}", number) for number in range(50)])
    failing = rows.selectExpr("event_id", "subscription_id + 0 * (1 / (subscription_id - 40)) AS wrong").selectExpr(
        "event_id", "CAST(wrong AS bigint) AS subscription_id"
    )
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        sink.write(failing, batch(0))
    sink.write(rows, batch(0))
    assert rows_in(server, "SELECT count(*), count(DISTINCT event_id) FROM rest") == [(50, 50)]


def test_postgres_takes_columns_of_many_types(spark: SparkSession, server: Server) -> None:
    rows = spark.sql(
        "SELECT 'a' AS event_id, 1L AS subscription_id, DATE'2026-01-02' AS day, array('x', 'y') AS tags,"
        "       TIMESTAMP'2026-01-02 03:04:05' AS at, 1.50BD AS price, 2.5D AS ratio, true AS good,"
        "       CAST(NULL AS int) AS nothing"
    )
    PostgresSink(server.conninfo, "public.types").write(rows, batch(0))
    ((*_, day, tags, at, price, ratio, good, nothing),) = rows_in(server, "SELECT * FROM types")
    assert (day.isoformat(), tags, price, ratio, good) == ("2026-01-02", ["x", "y"], Decimal("1.50"), 2.5, True)
    assert at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert nothing is None


def test_postgres_with_lists_and_a_table_made_by_hand(spark: SparkSession, server: Server) -> None:
    change(
        server,
        "CREATE TABLE by_hand (number serial, event_id text UNIQUE, subscription_ids bigint[])",
        "INSERT INTO by_hand (event_id) VALUES ('old')",
    )
    rows = spark.createDataFrame([("a", [1, 2]), ("old", [3])], "event_id string, subscription_ids array<bigint>")
    PostgresSink(server.conninfo, "by_hand", key=["event_id"]).write(rows, batch(0))
    found = rows_in(server, "SELECT event_id, subscription_ids FROM by_hand ORDER BY 1")
    assert found == [("a", [1, 2]), ("old", None)]


def test_what_postgres_cannot_take_is_said(spark: SparkSession, server: Server) -> None:
    lists = spark.createDataFrame([("a", [1])], "event_id string, subscription_ids array<bigint>")
    with pytest.raises(SettingError, match=r"lists have a row for each event, whose key is \['event_id'\]"):
        PostgresSink(server.conninfo, "t").write(lists, batch(0))
    struct = pairs(spark, ("a", 1)).selectExpr("*", "struct(1 AS x) AS what")
    with pytest.raises(SettingError, match="'what' of the matches is struct<x:int>"):
        PostgresSink(server.conninfo, "t").write(struct, batch(0))
    change(server, "CREATE TABLE keyless (event_id text, subscription_id bigint)")
    with pytest.raises(Exception, match="no unique or exclusion constraint"):
        PostgresSink(server.conninfo, "keyless").write(pairs(spark, ("a", 1)), batch(0))
    assert "password" not in repr(PostgresSink("password=secret", "t"))


def test_a_postgres_that_is_away_is_said_when_the_stream_starts(spark: SparkSession, server: Server) -> None:
    start = time.monotonic()
    with pytest.raises(Exception, match="No such file or directory"):
        PostgresSink(f"host={server.folder}/none dbname=postgres", "t").prepare(spark, "s1")
    assert time.monotonic() - start < SECONDS
