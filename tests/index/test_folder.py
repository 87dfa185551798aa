"""The versions of an index: what readers see, what is kept, pinned and removed, and what is refused."""

from __future__ import annotations

import fcntl
from collections import UserDict
from collections.abc import ValuesView
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.folder_states import (
    SHARED,
    check,
    checked,
    commit_next,
    content,
    create,
    expected_names,
    names,
    no_space,
    run,
    settings,
    without_rights,
)
from tidings.errors import StoreError
from tidings.index.folder import KEPT, Version, Writer, holds_index, pin, read_version, unpin
from tidings.index.layout import Array

# Versions


def test_a_new_index_has_one_version_with_what_was_given(tmp_path: Path) -> None:
    given = {"analyser": "simple", "nested": {"list": [1, 2.5, None]}}
    with Writer.create(tmp_path / "a" / "b", given) as writer:
        assert writer.version == Version(1, (), given)
    assert read_version(tmp_path / "a" / "b") == (Version(1, (), given), ())


def test_the_first_version_can_have_segments(tmp_path: Path) -> None:
    create(tmp_path)
    assert checked(tmp_path) == 1
    assert names(tmp_path) == expected_names(1)


def test_each_commit_is_a_version_and_the_last_two_stay(tmp_path: Path) -> None:
    with Writer.create(tmp_path, settings(1), [content(1)]) as writer:
        for number in range(2, 12):
            assert commit_next(writer).number == number == checked(tmp_path)
            assert checked(tmp_path, number - 1) == number - 1
            assert names(tmp_path) == expected_names(number - 1, number)


def test_a_later_writer_continues(tmp_path: Path) -> None:
    create(tmp_path, 5)
    with Writer.open(tmp_path) as writer:
        assert writer.version == read_version(tmp_path)[0]
        assert commit_next(writer).number == 6
    assert checked(tmp_path) == 6
    assert names(tmp_path) == expected_names(5, 6)


def test_settings_stay_until_others_are_given_and_are_written_only_then(tmp_path: Path) -> None:
    with Writer.create(tmp_path, {"a": 1, "b": (2,)}) as writer:
        assert writer.commit([]).settings == {"a": 1, "b": [2]}
        writer.commit([], {"b": [2], "a": 1})
        assert [name for name in names(tmp_path) if "settings" in name] == ["settings-0000000001.json"]
        assert writer.commit([], {"a": True, "b": [2]}).settings["a"] is True
        assert read_version(tmp_path)[0].settings["a"] is True
        assert "settings-0000000004.json" in names(tmp_path)


def test_a_name_is_never_used_for_two_segments(tmp_path: Path) -> None:
    """Else a reader who has read a version could open segments of a later one under the names it knows."""
    with Writer.create(tmp_path, {}) as writer:
        first = writer.write_segment(*content(1))
        writer.commit([first])
        for _ in range(KEPT):
            writer.commit([])
    assert first not in names(tmp_path)
    with Writer.open(tmp_path) as writer:
        assert writer.write_segment(*content(1)) not in ("", first)


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    others = [
        "notes.txt",
        "version-1.json",
        "segment-0000000009.json",
        "x.tmp",
        "segment-00000000001.tidings",
        "pin-.json",
    ]
    for name in others:
        (tmp_path / name).write_text("mine")
    create(tmp_path, 4)
    Writer.open(tmp_path).close()
    assert checked(tmp_path) == 4
    assert names(tmp_path) == sorted([*expected_names(3, 4), *others])


def test_readers_keep_what_they_have_opened(tmp_path: Path) -> None:
    create(tmp_path)
    version, files = read_version(tmp_path)
    with Writer.open(tmp_path) as writer:
        for _ in range(10):
            commit_next(writer)
    check(version, files)


def test_a_segment_waits_for_its_commit_through_those_of_others(tmp_path: Path) -> None:
    class Committing(UserDict[str, Array]):
        """Arrays that are read while their file is half written."""

        def values(self) -> ValuesView[Array]:
            commit_next(writer)
            return self.data.values()

    with Writer.create(tmp_path, settings(1), [content(1)]) as writer:
        slow = writer.write_segment(Committing(content(99)[0]), {})
        for _ in range(5):
            commit_next(writer)
        writer.commit([slow])
    np.testing.assert_array_equal(read_version(tmp_path)[1][0].arrays["numbers"], content(99)[0]["numbers"])


@given(st.lists(st.sampled_from(["commit", "write", "reopen", "pin", "unpin"]), max_size=12))
def test_in_any_order_of_changes_everything_needed_is_there_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    path = tmp_path_factory.mktemp("index") / "index"
    writer = Writer.create(path, settings(1), [content(1)])
    numbers, pinned = [1], None
    for step in steps:
        if step == "commit":
            numbers.append(commit_next(writer).number)
        elif step == "write":
            writer.write_segment({}, {})
        elif step == "pin":
            pin(path, "test", pinned := numbers[-1])
        elif step == "unpin" and pinned is not None:
            unpin(path, "test")
            pinned = None
        elif step == "reopen":
            writer.close()
            writer = Writer.open(path)
    writer.close()
    Writer.open(path).close()
    readable = {*numbers[-KEPT:]} | ({pinned} if pinned else set())
    named = {name for number in readable for name in read_version(path, number)[0].segments}
    assert {checked(path, number) for number in readable} == readable
    assert {name for name in names(path) if name.startswith("segment")} == named
    assert len([name for name in names(path) if name.startswith(("version", "kept"))]) == len(readable)


# Pins


def test_a_pinned_version_stays_until_it_is_given_up(tmp_path: Path) -> None:
    create(tmp_path, 3)
    pin(tmp_path, "reader-1", 3)
    pin(tmp_path, "reader_2", 3)
    with Writer.open(tmp_path) as writer:
        for _ in range(7):
            commit_next(writer)
        assert checked(tmp_path, 3) == 3
        assert checked(tmp_path) == 10
        unpin(tmp_path, "reader-1")
        commit_next(writer)
        assert checked(tmp_path, 3) == 3
        pin(tmp_path, "reader-3", 3)
        unpin(tmp_path, "reader_2")
        commit_next(writer)
        assert names(tmp_path) == sorted([*expected_names(11, 12, pinned=(3,)), "pin-reader-3.json"])
        unpin(tmp_path, "reader-3")
        assert checked(tmp_path, 3) == 3
        commit_next(writer)
    assert names(tmp_path) == expected_names(12, 13)
    with pytest.raises(StoreError) as error:
        read_version(tmp_path, 3)
    assert str(error.value) == f"{tmp_path} has no version 3; its versions: 12, 13"


def test_a_pin_of_the_same_name_moves(tmp_path: Path) -> None:
    create(tmp_path, 3)
    pin(tmp_path, "a", 2)
    pin(tmp_path, "a", 3)
    with Writer.open(tmp_path) as writer:
        for _ in range(3):
            commit_next(writer)
    assert names(tmp_path) == sorted([*expected_names(5, 6, pinned=(3,)), "pin-a.json"])


@pytest.mark.parametrize("name", ["", "a b", "a/b", "..", "ä", "a.b", "a\n", "a\0"])
def test_names_of_pins_are_checked(tmp_path: Path, name: str) -> None:
    create(tmp_path)
    words = f"{name!r} cannot be the name of a pin; use letters A to Z, a to z, digits, - and _"
    with pytest.raises(StoreError) as error:
        pin(tmp_path, name, 1)
    assert str(error.value) == words
    with pytest.raises(StoreError) as error:
        unpin(tmp_path, name)
    assert str(error.value) == words


def test_what_is_not_there_cannot_be_pinned_or_given_up(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no saved matcher"):
        pin(tmp_path, "a", 1)
    assert names(tmp_path) == []
    create(tmp_path, 3)
    with pytest.raises(StoreError, match=r"has no version 1; its versions: 2, 3$"):
        pin(tmp_path, "a", 1)
    with pytest.raises(StoreError, match=r"has no pin 'a'; its pins: none$"):
        unpin(tmp_path, "a")
    pin(tmp_path, "c", 2)
    pin(tmp_path, "b", 2)
    with pytest.raises(StoreError, match=r"has no pin 'a'; its pins: b, c$"):
        unpin(tmp_path, "a")
    with pytest.raises(StoreError, match="cannot be written"):
        pin(tmp_path, "x" * 300, 2)


def test_a_damaged_pin_stops_cleaning_but_no_commit(tmp_path: Path) -> None:
    create(tmp_path)
    pin(tmp_path, "a", 1)
    with Writer.open(tmp_path) as writer:
        (tmp_path / "pin-a.json").write_text("{}")
        for _ in range(5):
            commit_next(writer)
    assert [checked(tmp_path, number) for number in range(1, 7)] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(StoreError, match=r"pin-a\.json is damaged, or was not written by tidings"):
        Writer.open(tmp_path)
    (tmp_path / "pin-a.json").unlink()
    Writer.open(tmp_path).close()
    assert names(tmp_path) == expected_names(5, 6)


# What is refused


def test_a_second_index_in_a_folder_is_refused(tmp_path: Path) -> None:
    create(tmp_path, 3)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(StoreError) as error:
        Writer.create(tmp_path, {})
    assert str(error.value) == f"{tmp_path} already holds a matcher; choose another folder, or remove it first"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("left", ["kept-0000000002.json", "pin-a.json"])
def test_remains_of_an_index_are_not_built_upon(tmp_path: Path, left: str) -> None:
    (tmp_path / left).touch()
    with pytest.raises(StoreError, match="already holds a matcher"):
        Writer.create(tmp_path, {})
    assert names(tmp_path) == [left]


def test_a_folder_belongs_to_one_writer_at_a_time(tmp_path: Path) -> None:
    words = "is being changed elsewhere, by an open matcher or a job"
    with Writer.create(tmp_path, {}), pytest.raises(StoreError, match=words):
        Writer.open(tmp_path)
    with Writer.open(tmp_path) as writer:
        with pytest.raises(StoreError, match=words):
            Writer.open(tmp_path)
        assert words in run(SHARED + "Writer.open(Path(sys.argv[1]))", tmp_path)
        writer.close()
        Writer.open(tmp_path).close()


@pytest.mark.parametrize("make", [True, False])
def test_a_folder_without_index_is_refused_and_left_alone(tmp_path: Path, make: bool) -> None:
    folder = tmp_path / "folder"
    if make:
        folder.mkdir()
    assert not holds_index(folder)
    for opening in (Writer.open, read_version):
        with pytest.raises(StoreError) as error:
            opening(folder)
        assert str(error.value) == f"{folder} holds no saved matcher: there is no version-….json in it"
    assert names(tmp_path) == (["folder"] if make else [])
    assert not make or names(folder) == []


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for opening in (Writer.open, read_version, holds_index, lambda folder: Writer.create(folder, {})):
        with pytest.raises(StoreError, match="is a file; a matcher is kept in a folder"):
            opening(tmp_path / "file")
    with pytest.raises(StoreError, match="cannot be made a folder"):
        Writer.create(tmp_path / "file" / "folder", {})


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "\ud800"])
def test_impossible_folders_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be made a folder"):
        Writer.create(tmp_path / name, {})
    for opening in (Writer.open, read_version, holds_index):
        with pytest.raises(StoreError, match="cannot be read"):
            opening(tmp_path / name)


def test_a_folder_without_rights_is_refused(tmp_path: Path) -> None:
    create(tmp_path)
    with without_rights(tmp_path):
        for opening in (Writer.open, read_version, holds_index):
            with pytest.raises(StoreError, match=r"cannot be read: .*Permission denied"):
                opening(tmp_path)
        with pytest.raises(StoreError, match=r"Permission denied"):
            Writer.create(tmp_path, {})
        with pytest.raises(StoreError, match=r"cannot be made a folder: .*Permission denied"):
            Writer.create(tmp_path / "folder", {})
    assert checked(tmp_path) == 1


def test_readers_lock_and_write_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path, 3)
    (tmp_path / "lock").unlink()
    before = names(tmp_path)
    monkeypatch.setattr(fcntl, "flock", no_space)
    assert [checked(tmp_path), checked(tmp_path, 2)] == [3, 2]
    assert names(tmp_path) == before


@pytest.mark.parametrize("value", [float("inf"), {1}, b"x"])
def test_settings_that_are_no_json_are_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(StoreError, match="the settings cannot be written as JSON"):
        Writer.create(tmp_path / "index", {"a": value})
    assert names(tmp_path) == []
    with Writer.create(tmp_path, {"a": 1}) as writer:
        with pytest.raises(StoreError, match="the settings cannot be written as JSON"):
            writer.commit([], {"a": value})
        assert writer.version == read_version(tmp_path)[0] == Version(1, (), {"a": 1})


def test_a_version_of_segments_that_are_not_there_is_refused(tmp_path: Path) -> None:
    create(tmp_path)
    (tmp_path / "other.tidings").touch()
    with Writer.open(tmp_path) as writer:
        (there,) = writer.version.segments
        for name in ("segment-0000000077.tidings", "other.tidings", "../x", ""):
            with pytest.raises(StoreError) as error:
                writer.commit([there, name])
            assert str(error.value) == (
                f"{tmp_path} has no segment {name!r}; a version has segments that write_segment has written"
            )
        with pytest.raises(StoreError, match=f"the segment '{there}' is given twice; a version has each segment once"):
            writer.commit([there, there])
        assert writer.version.number == 1
    assert checked(tmp_path) == 1


def test_a_closed_writer_refuses(tmp_path: Path) -> None:
    writer = Writer.create(tmp_path, {})
    writer.close()
    writer.close()
    for call in (lambda: writer.commit([]), lambda: writer.write_segment({}, {})):
        with pytest.raises(StoreError, match=r"^the writer of .* is closed; open another one$"):
            call()
    assert writer.version.number == 1
