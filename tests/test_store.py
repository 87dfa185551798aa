"""The folder of a durable matcher: what is refused, with what words, and that a foreign file is left alone."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tidings import Matcher, SettingError, StoreError, TextStatistics
from tidings.analysis import words
from tidings.analysis.words import SIMPLE, Word
from tidings.store import FILE


def test_a_folder_belongs_to_one_matcher_at_a_time(tmp_path: Path) -> None:
    with Matcher(tmp_path), pytest.raises(StoreError, match="is open in another matcher; close that one first"):
        Matcher(tmp_path)
    Matcher(tmp_path).close()


def test_saving_over_a_matcher_is_refused(tmp_path: Path) -> None:
    Matcher().save(tmp_path / "m")
    with pytest.raises(StoreError, match="already holds a matcher; choose another folder, or remove it first"):
        Matcher().save(tmp_path / "m")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is a file; a matcher is kept in a folder"):
        Matcher(tmp_path / "file")


def test_loading_from_a_folder_that_holds_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds no saved matcher: there is no subscriptions\.sqlite in it"):
        Matcher.load(tmp_path)
    assert not (tmp_path / FILE).exists()


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    content = b"not a database, but long enough to look like a file of one" * 20
    (tmp_path / FILE).write_bytes(content)
    for opening in (Matcher.load, Matcher, Matcher().save):
        with pytest.raises(StoreError, match="cannot be read"):
            opening(tmp_path)
    assert (tmp_path / FILE).read_bytes() == content


def test_a_file_whose_maker_was_stopped_at_once_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    with pytest.raises(StoreError, match="holds no saved matcher: nothing was ever written to subscriptions"):
        Matcher.load(tmp_path)
    with Matcher(tmp_path) as matcher:
        matcher.add("a", "x = 1")
    assert len(Matcher.load(tmp_path)) == 1


def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("CREATE TABLE setting (name, value)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="was not written by tidings"):
        Matcher(tmp_path)


def test_a_truncated_store_is_refused(tmp_path: Path) -> None:
    with Matcher(tmp_path) as matcher:
        matcher.add_many((number, f"price < {number}") for number in range(10_000))
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(StoreError, match=r"cannot be read|malformed"):
        Matcher.load(tmp_path)


def test_another_format_is_refused(tmp_path: Path) -> None:
    Matcher(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("UPDATE setting SET value = '99' WHERE name = 'format'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="has the format 99, and this version of tidings reads 1"):
        Matcher(tmp_path)


def test_another_analyser_is_refused(tmp_path: Path) -> None:
    Matcher(tmp_path, analyser="english").close()
    with pytest.raises(StoreError, match="made with the analyser 'english', and 'simple' is asked for"):
        Matcher(tmp_path, analyser="simple")
    Matcher(tmp_path, analyser="english").close()


class Shouting:
    """An analyser of one's own, to change its version."""

    name = "shouting"

    def __init__(self, version: str) -> None:
        self.version = version

    def words(self, text: str) -> tuple[Word, ...]:
        return SIMPLE.words(text.upper())


def test_another_version_of_the_analyser_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(words._ANALYSERS, "shouting", Shouting("1"))
    Matcher(tmp_path, analyser="shouting").close()
    monkeypatch.setitem(words._ANALYSERS, "shouting", Shouting("2"))
    with pytest.raises(StoreError, match="made with version 1 of the analyser 'shouting', and version 2 is installed"):
        Matcher(tmp_path)
    monkeypatch.delitem(words._ANALYSERS, "shouting")
    with pytest.raises(StoreError, match="cannot be used: there is no analyser named 'shouting'"):
        Matcher(tmp_path)


def test_statistics_are_kept_and_others_refused(tmp_path: Path) -> None:
    statistics = TextStatistics(10, {"common": 9})
    with Matcher(tmp_path, statistics=statistics) as matcher:
        matcher.add("a", "similarity(t, 'common rare') >= 0.6")
        before = matcher.match({"t": "common"}).ids
    with Matcher(tmp_path) as matcher:
        assert matcher.match({"t": "common"}).ids == before
    with pytest.raises(StoreError, match="records other text statistics than those given"):
        Matcher(tmp_path, statistics=TextStatistics(11, {}))


def test_impossible_statistics_are_refused() -> None:
    with pytest.raises(SettingError):
        TextStatistics(1, {"word": 2})
