"""The folder of a durable matcher: what is refused, with what words, and that a foreign file is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidings import Matcher, SettingError, StoreError, TextStatistics
from tidings.analysis import words
from tidings.analysis.statistics import learn
from tidings.analysis.words import ENGLISH, SIMPLE, AnalyserVersion, Word
from tidings.index.layout import LAYOUT


def test_a_folder_belongs_to_one_matcher_at_a_time(tmp_path: Path) -> None:
    with Matcher(tmp_path), pytest.raises(StoreError, match="is being changed elsewhere, by an open matcher or a job"):
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
    with pytest.raises(StoreError, match="holds no saved matcher"):
        Matcher.load(tmp_path)
    assert not list(tmp_path.iterdir())


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("segment-*.tidings"))


@pytest.mark.parametrize("uncompiled", [0, 1_000])
def test_a_truncated_segment_is_refused(tmp_path: Path, uncompiled: int) -> None:
    with Matcher(tmp_path, uncompiled=uncompiled) as matcher:
        matcher.add_many((number, f"price < {number}") for number in range(500))
    (file,) = segments(tmp_path)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    for opening in (Matcher.load, Matcher):
        with pytest.raises(StoreError, match="bytes"):
            opening(tmp_path)


def test_arrays_of_another_layout_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Matcher(tmp_path, uncompiled=0) as matcher:
        matcher.add("a", "price < 5")
    monkeypatch.setattr("tidings.index.layout.LAYOUT", LAYOUT + 1)
    with pytest.raises(
        StoreError, match=f"has arrays of the layout {LAYOUT}, and this version of tidings reads {LAYOUT + 1}"
    ):
        Matcher.load(tmp_path)


def test_a_foreign_segment_is_refused(tmp_path: Path) -> None:
    with Matcher(tmp_path) as matcher:
        matcher.add("a", "price < 5")
    (file,) = segments(tmp_path)
    file.write_bytes(b"not a file of arrays, but long enough to look like one" * 20)
    with pytest.raises(StoreError, match="was not written by tidings"):
        Matcher.load(tmp_path)


def test_readers_keep_their_version_and_writers_go_on(tmp_path: Path) -> None:
    """More changes than small files may be, with parts made and merged on the way."""
    with Matcher(tmp_path, uncompiled=10) as writer:
        writer.add_many((number, f"n = {number}") for number in range(100))
        reader = Matcher.load(tmp_path)
        for number in range(100, 180):
            writer.add(number, f"n = {number}")
            writer.remove(number - 100)
        assert len(list(tmp_path.iterdir())) < 60
        assert len(writer) == 100
        for number, there in ((0, False), (79, False), (80, True), (150, True), (179, True)):
            assert writer.match({"n": number}).ids == [number] * there
            assert reader.match({"n": number}).ids == [number] * (number < 100)
    again = Matcher.load(tmp_path)
    assert sorted(each.id for each in again.subscriptions()) == list(range(80, 180))


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
    statistics = TextStatistics(10, {"common": 9}, AnalyserVersion.of(SIMPLE))
    with Matcher(tmp_path, statistics=statistics) as matcher:
        matcher.add("a", "similarity(t, 'common rare') >= 0.6")
        before = matcher.match({"t": "common"}).ids
    with Matcher(tmp_path) as matcher:
        assert matcher.match({"t": "common"}).ids == before
    with pytest.raises(StoreError, match="records other text statistics than those given"):
        Matcher(tmp_path, statistics=TextStatistics(11, {}, AnalyserVersion.of(SIMPLE)))


def test_a_folder_says_which_analyser_its_statistics_are_of(tmp_path: Path) -> None:
    statistics = learn(["networks"], ENGLISH)
    with pytest.raises(SettingError, match=r"counted with version .* of the analyser 'english', and .* of 'simple' is"):
        Matcher(tmp_path / "new", statistics=statistics)
    Matcher(tmp_path, analyser="english", statistics=statistics).close()
    Matcher(tmp_path, statistics=statistics).close()


def test_impossible_statistics_are_refused() -> None:
    with pytest.raises(SettingError):
        TextStatistics(1, {"word": 2})
