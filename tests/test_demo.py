"""`tidings demo` to its end: what it shows, that Spark delivers what the embedded matcher does, and without noise."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from tidings import SettingError
from tidings.demo import run_demo
from tidings.demo.data import ADDED, REMOVED, SUBSCRIPTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOISE = re.compile(r"Traceback|\bWARN(ING)?\b|warning|Exception|log4j|Stage \d+:")
EVENTS = 300


def shown(out: Path, seed: int = 7, on_spark: bool = False, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    run_demo(console, EVENTS, seed, on_spark, out)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def table_in(text: str) -> str:
    return text[text.index("what was delivered to whom") : text.index("\nrates")].partition("\nwhy")[0]


def rows_in(text: str) -> dict[str, tuple[str, str]]:
    """What each subscription got, before and after the change."""
    found = re.findall(r"^(?:\w+)? *?((?:\w+ )*\w+)  .*? +(\d+|–) +(\d+|–)$", table_in(text), re.MULTILINE)
    return {name: (before, after) for name, before, after in found}


def test_it_shows_every_kind_and_explains(tmp_path: Path) -> None:
    text = shown(tmp_path / "demo")
    for word in ("matches(", "similarity(", "xpath_boolean(", "has_any(", "RLIKE", "IS NULL", "TIMESTAMP", "events/s"):
        assert word in text
    assert "did you mean contains(attribute, 'text')?" in text
    assert "why 'rate decisions' hears of event" in text
    assert "why 'ibm below 140' does not hear of event" in text
    assert "values could not be read" in text


def test_what_is_added_and_removed_midway_counts_from_then_on(tmp_path: Path) -> None:
    rows = rows_in(shown(tmp_path / "demo"))
    assert set(rows) == {wish.id for wish in (*SUBSCRIPTIONS, *ADDED)}
    for wish in ADDED:
        assert rows[wish.id][0] == "–"
        assert int(rows[wish.id][1]) > 0
    for id in REMOVED:
        assert int(rows[id][0]) > 0
        assert rows[id][1] == "–"


def test_the_same_seed_shows_the_same(tmp_path: Path) -> None:
    first, again, other = (table_in(shown(tmp_path / "demo", seed)) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_it_fits_80_columns(tmp_path: Path) -> None:
    table = table_in(shown(tmp_path / "demo", width=80)).partition("\n\n")[0]
    assert table.count("\n") > len(SUBSCRIPTIONS)
    assert max(map(len, table.splitlines())) <= 80


def test_everyone_is_told_the_earliest(tmp_path: Path) -> None:
    text = shown(tmp_path / "demo", width=80)
    told = text[text.index("notifications, one for each match") :].splitlines()[1:10]
    assert told[0].split() == ["to", "at", "event", "subscription", "says"]
    assert [line.split()[0] for line in told[1::2]] == ["Ada", "Alan", "Emmy", "Grace"]
    assert re.search(r"09:\d\d:\d\d  e\d+ +\S", told[2])
    assert max(map(len, told)) <= 80


def test_nothing_else_is_removed_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(
        SettingError, match=r"holds thesis.txt, which is not of the demo, and would be lost; give anoth"
    ):
        shown(tmp_path)
    assert (tmp_path / "thesis.txt").exists()
    with pytest.raises(SettingError, match=r"thesis.txt is a file; give a folder"):
        shown(tmp_path / "thesis.txt")


def test_a_figure_is_written_or_its_lack_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    text = shown(tmp_path / "demo")
    figure = tmp_path / "demo" / "deliveries.png"
    assert f"figure   {figure}" in text
    assert figure.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    monkeypatch.setattr("tidings.demo.figure.find_spec", lambda name: None)
    text = shown(tmp_path / "demo")
    assert "figure   not drawn, as matplotlib is not installed: pip install 'tidings[lab]'" in text
    assert not figure.exists()


def test_spark_delivers_what_the_embedded_matcher_delivers(spark: SparkSession, tmp_path: Path) -> None:
    embedded, on_spark = shown(tmp_path / "embedded"), shown(tmp_path / "spark", on_spark=True)
    assert table_in(on_spark) == table_in(embedded)  # also of who is told what
    assert "the reference, asked one by one, finds the same" in on_spark
    versions = re.findall(r"index version (\d)", on_spark)
    assert versions == ["1", "1", "1", "3", "3", "3"]
    assert len(list((tmp_path / "spark" / "matches").glob("batch=*"))) == 6
    matches = spark.read.parquet(str(tmp_path / "spark" / "matches"))
    assert {"event_id", "subscription_id", "subscriber", "kind", "batch"} == {*matches.columns}
    assert spark.read.parquet(str(tmp_path / "spark" / "notifications")).count() == matches.count()


@pytest.mark.slow
def test_it_ends_by_itself_without_noise(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    ran = subprocess.run(
        [sys.executable, "-m", "tidings", "demo", "--out", str(tmp_path / "demo")],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert not [line for line in ran.stdout.splitlines() if NOISE.search(line)]
    assert re.search(r"^done in \d+ s$", ran.stdout.splitlines()[-1])
