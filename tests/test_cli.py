"""The command `tidings`, run as a person would: what it prints, and its exit status."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet


def tidings(*arguments: str, given: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tidings", *arguments],
        capture_output=True,
        text=True,
        input=given,
        env={**os.environ, "COLUMNS": "120", **variables},
        check=False,
    )


def test_check_shows_how_a_subscription_is_read_and_found() -> None:
    ran = tidings("check", "symbol = 'IBM' AND startswith(b.c, 'x')")
    assert ran.returncode == 0
    assert ran.stdout.splitlines() == [
        "ok symbol = 'IBM' AND b.c LIKE 'x%'",
        "found by value: symbol = 'IBM' (the most selective of 2, an estimated 0.01 of the events)",
        "then  verified: b.c LIKE 'x%'",
        "cost  verified, for an estimated 0.01 of the events",
    ]


def test_check_warns_of_what_can_only_be_scanned() -> None:
    lines = tidings("check", "a = 1 OR NOT b = 2").stdout.splitlines()
    assert lines[1:6] == [
        "or    a = 1",
        "found by value: a = 1 (its only predicate)",
        "cost  direct, for an estimated 0.01 of the events",
        "or    NOT b = 2",
        "cost  scanned, for an estimated 1 of the events",
    ]
    assert lines[6].startswith("warning NOT b = 2 can only be scanned")


def test_check_points_at_the_fault_and_exits_with_1() -> None:
    ran = tidings("check", "price == 5")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "error '==' is not a comparison of SQL\n  price == 5\n        ^^\nwrite =\n"


def test_check_prints_json_for_machines() -> None:
    good, bad = tidings("check", "a = 1 OR b", "--json"), tidings("check", "--json", "a ==")
    answer = json.loads(good.stdout)
    assert (answer["ok"], answer["canonical"], answer["warnings"]) == (True, "a = 1 OR b = TRUE", [])
    assert [(each["text"], each["path"], each["exact"], each["share"]) for each in answer["conjunctions"]] == [
        ("a = 1", "value", True, 0.01),
        ("b = TRUE", "value", True, 0.5),
    ]
    assert bad.returncode == 1
    answer = json.loads(bad.stdout)
    assert (answer["ok"], answer["problem"], answer["position"], answer["hint"]) == (
        False,
        "'==' is not a comparison of SQL",
        2,
        "write =",
    )


def test_check_says_what_is_never_and_always_true() -> None:
    assert "it never matches" in tidings("check", "FALSE").stdout
    assert "found always: every event matches" in tidings("check", "TRUE").stdout


def test_check_refuses_what_no_matcher_answers_yet() -> None:
    ran = tidings("check", "similarity(a, 'b', model => 'lsi') >= 0.5")
    assert ran.returncode == 1
    assert "needs a latent space" in ran.stderr


EVENTS = [{"id": n, "side": "buy" if n % 2 else "sell", "low": n} for n in range(200)]


@pytest.mark.parametrize("name", ["events.jsonl", "events.json.gz", "events.csv", "events.parquet"])
def test_check_estimates_by_a_sample_of_events(name: str, tmp_path: Path) -> None:
    file, table = tmp_path / name, pa.Table.from_pylist(EVENTS)
    lines = "\n".join(["not an event", *map(json.dumps, EVENTS)]).encode()
    if name.endswith("csv"):
        csv.write_csv(table, file)
    elif name.endswith("parquet"):
        parquet.write_table(table, file)
    else:
        file.write_bytes(gzip.compress(lines) if name.endswith("gz") else lines)
    asked = "side LIKE 'buy%' AND low < 20"
    assert "found by prefix: side LIKE 'buy%' (the most selective of 2" in tidings("check", asked).stdout
    found = tidings("check", asked, "--events", str(file)).stdout
    assert "found by range: low < 20 (the most selective of 2, an estimated 0.1 of the events)" in found


def test_check_says_what_is_wrong_with_a_sample(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("not an event\n")
    (tmp_path / "bad.parquet").write_text("PAR")
    for name, said in {
        "events": f"{tmp_path}/events does not say its format by its ending; those that are known are .csv, .json, ",
        "none.csv": f"the events in {tmp_path}/none.csv cannot be read: ",
        "empty.jsonl": f"there is no event in {tmp_path}/empty.jsonl, so nothing can be learned from it",
        "bad.parquet": f"the events in {tmp_path}/bad.parquet cannot be read: ",
    }.items():
        ran = tidings("check", "a = 1", "--events", str(tmp_path / name))
        assert ran.returncode == 2
        assert said in ran.stderr


@pytest.mark.parametrize(("low", "status", "why"), [(94, 0, "it matches"), (96, 1, "low <= 95 is false: low is 96")])
def test_explain_says_why_and_exits_by_the_answer(tmp_path: Path, low: int, status: int, why: str) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"symbol": "IBM", "low": low}))
    ran = tidings("explain", "symbol = 'IBM' AND low <= 95", str(event))
    assert ran.returncode == status
    assert why in ran.stdout.splitlines()[-1]
    assert "├ true    symbol = 'IBM'   (symbol is 'IBM')" in ran.stdout


def test_explain_reads_standard_input_and_timestamps() -> None:
    event = '{"at": "2026-03-02T10:00:00+02:00"}'
    ran = tidings("explain", "at = TIMESTAMP '2026-03-02 08:00:00'", "-", "--read-as", "at=timestamp", given=event)
    assert ran.returncode == 0, ran.stderr


def test_explain_stems_with_the_english_analyser() -> None:
    arguments = ("explain", "matches(t, 'network')", "-")
    assert tidings(*arguments, given='{"t": "Networks"}').returncode == 1
    assert tidings(*arguments, "--analyser", "english", given='{"t": "Networks"}').returncode == 0


def test_explain_prints_json_for_machines() -> None:
    ran = tidings("explain", "a > 1", "-", "--json", given='{"b": 1}')
    answer = json.loads(ran.stdout)
    assert (ran.returncode, answer["matches"], answer["tree"]["truth"]) == (1, False, None)
    assert answer["why"] == "it does not match: a > 1 is unknown: the event has no a"


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (("a = 1", "no-such-file.json"), None, "no-such-file.json cannot be read: No such file or directory"),
        (("a = 1", "-"), "{", "the event is not JSON: Expecting property name"),
        (("a = 1", "-"), "[1]", "an event is a mapping from attribute names to values, not [1] (list)"),
        (("a == 1", "-"), "{}", "'==' is not a comparison of SQL"),
        (("a = 1", "-", "--analyser", "klingon"), "{}", "there is no analyser named 'klingon'"),
        (("a = 1", "-", "--read-as", "a"), "{}", "--read-as takes attribute=type"),
        (("a = 1", "-", "--read-as", "a=colour"), '{"a": 1}', "read as one of timestamp, decimal, not as 'colour'"),
    ],
)
def test_explain_exits_with_2_for_what_cannot_be_asked(
    arguments: tuple[str, ...], given: str | None, said: str
) -> None:
    ran = tidings("explain", *arguments, given=given)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


def test_colours_only_in_a_terminal() -> None:
    assert "\x1b" not in tidings("check", "a = 1").stdout
    assert "\x1b" in tidings("check", "a = 1", FORCE_COLOR="1", TERM="xterm-256color").stdout


def test_version_and_help() -> None:
    assert tidings("--version").stdout == "tidings 0.1.0\n"
    for command in ("check", "explain", "match", "demo"):
        assert command in tidings("--help").stdout
    assert "Traceback" not in tidings("no-such-command").stderr
