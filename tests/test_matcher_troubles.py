"""What a matcher meets in service: threads, disks that fail, odd identifiers and times, a few late additions."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tidings import IdentifierError, Matcher, StoreError
from tidings import matcher as matcher_module


def test_threads_share_a_matcher() -> None:
    random = Random(1)
    matcher = Matcher(uncompiled=0)
    matcher.add_many(
        (number, f"a = {random.randrange(50)} AND b > {random.randrange(100)} AND s LIKE '{random.choice('abc')}%'")
        for number in range(2_000)
    )
    batches = [
        pa.table(
            {
                "a": [random.randrange(50) for _ in range(300)],
                "b": [random.randrange(100) for _ in range(300)],
                "s": [random.choice(["abc", "bcd", "cde"]) for _ in range(300)],
            }
        )
        for _ in range(4)
    ]
    expected = [matcher.match_many(batch) for batch in batches]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(matcher.match_many, batches * 30))
    assert found == expected * 30


class Disk:
    """Lets a store write so many times, and then has no space left."""

    def __init__(self, keep: Callable[..., None]) -> None:
        self.keep, self.left = keep, 10**9

    def __call__(self, *arguments: Any) -> None:
        if not self.left:
            raise StoreError("no space left on the disk")
        self.left -= 1
        self.keep(*arguments)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Matcher, Disk]:
    matcher = Matcher(tmp_path / "index", uncompiled=2)
    assert matcher._store is not None
    disk = Disk(matcher._store.keep)
    monkeypatch.setattr(matcher._store, "keep", disk)
    return matcher, disk


def test_merging_that_fails_is_put_off(
    disk: tuple[Matcher, Disk], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    matcher, writes = disk
    for number in range(40):
        writes.left = 1  # of a change, and none for what follows from it
        matcher.add(number, f"x > {-number}")
        if number % 3 == 0:
            matcher.remove(number)
    matcher.check()
    expected = [number for number in range(1, 40) if number % 3]
    assert sorted(matcher.match({"x": 1}).ids) == expected
    assert "merging parts is put off: no space left on the disk" in caplog.text
    writes.left = 10**9
    matcher.merge()
    matcher.close()
    with Matcher(tmp_path / "index") as again:
        assert sorted(again.match({"x": 1}).ids) == expected


def test_merging_on_request_that_fails_changes_nothing(disk: tuple[Matcher, Disk], tmp_path: Path) -> None:
    matcher, writes = disk
    matcher.add_many((number, f"x > {-number}") for number in range(9))
    matcher.add_many((number, f"x > {-number}") for number in range(9, 18))
    matcher.remove(3)
    writes.left = 0
    with pytest.raises(StoreError, match="no space left"):
        matcher.merge()
    matcher.check()
    writes.left = 10**9
    matcher.remove(4)
    matcher.close()
    expected = sorted({*range(18)} - {3, 4})
    assert sorted(matcher.match({"x": 1}).ids) == expected
    assert sorted(Matcher.load(tmp_path / "index").match({"x": 1}).ids) == expected


def test_a_disk_that_fails_stops_no_match(
    disk: tuple[Matcher, Disk], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(matcher_module, "WORTH_ADDING", 10)
    matcher, writes = disk
    matcher.add_many((number, f"x > {-number}") for number in range(5))
    matcher.add(5, "x > -5")
    writes.left = 0
    caplog.set_level(logging.WARNING, "tidings")
    for _ in range(12):
        assert sorted(matcher.match({"x": 1}).ids) == [0, 1, 2, 3, 4, 5]
    assert caplog.text.count("compiling what was added last is put off") == 1


def test_what_was_added_last_is_compiled_once_it_was_asked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matcher_module, "WORTH_ADDING", 10)
    matcher = Matcher(uncompiled=5)
    matcher.add_many((number, f"x > {-number}") for number in range(6))
    matcher.match({"x": 1})
    matcher.add(6, "x > -6")
    assert matcher.explain(6, {"x": 1}).paths == ("by asking every subscription, as there are few",)
    for _ in range(11):
        assert len(matcher.match({"x": 1}).ids) == 7
    assert matcher.explain(6, {"x": 1}).paths == ("by lower bound of x, exact",)
    matcher.add(7, "x > -7")
    assert matcher.match_many([{"x": 1}] * 11).num_rows == 88
    assert matcher.explain(7, {"x": 1}).paths == ("by lower bound of x, exact",)


@pytest.mark.parametrize("uncompiled", [0, 1_000])
def test_identifiers_of_numpy_are_what_they_say(uncompiled: int) -> None:
    matcher = Matcher(uncompiled=uncompiled)
    matcher.add(np.str_("a"), "x > 1")
    matcher.add_many([("b", "x > 1"), (np.str_("c"), "x > 1")])
    assert [type(id) for id in matcher.match({"x": 2}).ids] == [str, str, str]
    assert np.str_("b") in matcher
    numbers = Matcher(uncompiled=uncompiled)
    numbers.add(np.int64(7), "x > 1")  # type: ignore[arg-type]
    assert numbers.match({"x": 2}).ids == [7]
    numbers.remove(np.uint8(7))  # type: ignore[arg-type]
    assert len(numbers) == 0


@pytest.mark.parametrize("uncompiled", [0, 1_000])
@pytest.mark.parametrize("id", [True, 1.0, None, [1], 2**63, "\ud800", np.bool_(True)])
def test_what_is_no_identifier_is_of_no_subscription(id: Any, uncompiled: int) -> None:
    matcher = Matcher(uncompiled=uncompiled)
    matcher.add_many([(1, "x > 1")])
    assert id not in matcher
    for use in (matcher.remove, lambda id: matcher.explain(id, {}), lambda id: matcher.remove_many([id])):
        with pytest.raises(IdentifierError, match=r"is not Unicode text|is a string or a 64-bit integer"):
            use(id)
    assert len(matcher) == 1


def test_times_of_other_libraries() -> None:
    matcher = Matcher()
    matcher.add_many([("from", "at >= TIMESTAMP '2020-01-01 00:00:00'"), ("none", "at IS NULL")])
    day = "2020-01-02"
    for unit in ("D", "s", "ms", "us", "ns"):
        assert matcher.match({"at": np.datetime64(day, unit)}).ids == ["from"]
        assert matcher.match({"at": np.array([day], f"datetime64[{unit}]")}).ids == ["from"]
    assert matcher.match({"at": pd.Timestamp(day)}).ids == ["from"]
    assert matcher.match({"at": pd.NaT}).ids == matcher.match({"at": np.datetime64("NaT")}).ids == ["none"]
    late = matcher.match({"at": np.datetime64("20000-01-01")})
    assert late.ids == []
    assert "outside the years" in str(late.errors[0])
    for span in (timedelta(1), np.timedelta64(1, "D"), np.timedelta64(1, "ns")):
        assert matcher.match({"at": span}).ids == []
    assert datetime(2020, 1, 2) == np.datetime64(day, "us").item()  # what the first of them stand for


def test_an_event_that_is_none_teaches_nothing() -> None:
    matcher = Matcher()
    matcher.learn([{"x": 1}, {1: 2}, 5, {"x": 1}])  # type: ignore[list-item, dict-item]
    assert matcher._learned is not None
    assert matcher._learned.observed == 2


def test_damage_is_found_where_it_is_looked_for(tmp_path: Path) -> None:
    matcher = Matcher(uncompiled=0)
    matcher.add_many((number, f"x > {-number}") for number in range(300))
    matcher.save(tmp_path / "index")
    assert len(Matcher.load(tmp_path / "index", verify=True)) == 300
    (segment,) = (tmp_path / "index").glob("segment-*")
    content = bytearray(segment.read_bytes())
    content[-100] ^= 4
    segment.write_bytes(content)
    Matcher.load(tmp_path / "index")  # in no time, whatever the size
    with pytest.raises(StoreError, match=r"the arrays in .*segment-.* are damaged: their checksum is"):
        Matcher.load(tmp_path / "index", verify=True)


def test_subscriptions_that_are_asked_of_every_event_are_counted() -> None:
    matcher = Matcher(uncompiled=3)
    matcher.add_many([(0, "x > 1"), (1, "s RLIKE 'a'"), (2, "x = 1 AND s RLIKE 'a'"), (3, "x <> 4"), (4, "y <> 4")])
    assert matcher.scanned == 3
    matcher.remove(3)
    assert matcher.scanned == 2
    matcher.add(5, "x = 2")
    assert matcher.scanned == 3
    matcher.merge()
    assert matcher.scanned == 2
