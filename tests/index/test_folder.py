"""The versions of an index: what readers see, what is kept and removed, and that no interruption can do harm.

Version n of the tests has the segments made for n - 2, n - 1 and n, whose content follows from that number, as the
settings follow from n. So any mixture of versions is noticed.
"""

from __future__ import annotations

import errno
import fcntl
import inspect
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import UserDict
from collections.abc import Iterator, Sequence, ValuesView
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidings
from tidings.errors import StoreError
from tidings.index import folder as folder_module
from tidings.index.array_file import ArrayFile, open_arrays
from tidings.index.folder import KEPT, TRIES, Version, Writer, holds_index, pin, read_version, unpin
from tidings.index.layout import Array


def content(number: int) -> tuple[dict[str, Array], dict[str, int]]:
    return {"numbers": np.full(number * 7919 % 30_000, number)}, {"number": number}


def settings(number: int) -> dict[str, int]:
    return {"since": number - number % 3}


def commit_next(writer: Writer) -> Version:
    number = writer.version.number + 1
    name = writer.write_segment(*content(number))
    return writer.commit([*writer.version.segments[-2:], name], settings(number))


def check(version: Version, files: Sequence[ArrayFile]) -> None:
    numbers = list(range(max(1, version.number - 2), version.number + 1))
    assert [file.notes["number"] for file in files] == numbers, (version, numbers)
    assert version.settings == settings(version.number), version
    for number, file in zip(numbers, files, strict=True):
        file.verify()
        assert len(file.arrays["numbers"]) == number * 7919 % 30_000
        assert (file.arrays["numbers"] == number).all()


# For other processes, which do not import this module and what it imports.
SHARED = "\n".join(
    ["from __future__ import annotations", "import json, os, signal, sys, time", "import numpy as np"]
    + ["from pathlib import Path", "from tidings.errors import StoreError"]
    + ["from tidings.index.folder import Writer, holds_index, pin, read_version, unpin"]
    + [inspect.getsource(function) for function in (content, settings, commit_next, check)]
)


def checked(folder: Path, number: int | None = None) -> int:
    """The number of the version that is read, which must be whole and consistent."""
    version, files = read_version(folder, number)
    check(version, files)
    return version.number


def create(folder: Path, versions: int = 1) -> Path:
    """A closed index of that many versions."""
    with Writer.create(folder, settings(1), [content(1)]) as writer:
        for _ in range(versions - 1):
            commit_next(writer)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def expected_names(*versions: int, pinned: tuple[int, ...] = ()) -> list[str]:
    """What is in a folder of the tests and no more."""
    found = {"lock", "lock-pins"}
    for number in (*versions, *pinned):
        found.add(f"{'version' if number in versions else 'kept'}-{number:010}.json")
        found.add(f"settings-{max(1, number - number % 3):010}.json")
        found |= {f"segment-{each:010}.tidings" for each in range(max(1, number - 2), number + 1)}
    return sorted(found)


@contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """Within, the folder may be neither read nor changed, also if it is root who tests."""
    folder.chmod(0)
    if root := os.geteuid() == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)


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
    words = "is open in another matcher; close that one first"
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


# Damage


def test_damage_of_the_newest_version_is_an_error_and_no_step_back(tmp_path: Path) -> None:
    create(tmp_path, 4)
    path = tmp_path / "version-0000000004.json"
    whole = path.read_bytes()
    flipped = [
        whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :]
        for place in range(len(whole))
        for bit in range(8)
    ]
    with path.open("r+b", buffering=0) as file:
        for content in [*flipped, *(whole[:size] for size in reversed(range(len(whole))))]:
            os.pwrite(file.fileno(), content, 0)
            os.truncate(path, len(content))
            with pytest.raises(StoreError, match=r"version-0000000004\.json (is damaged|has the format)"):
                read_version(tmp_path)
    with pytest.raises(StoreError, match=r"version-0000000004\.json is damaged, or was not written by tidings"):
        Writer.open(tmp_path)
    assert checked(tmp_path, 3) == 3
    assert len([name for name in names(tmp_path) if name.startswith("segment")]) == 4
    path.write_bytes(whole)
    assert checked(tmp_path) == 4


@pytest.mark.parametrize("content", [b"", b"null", b"[1]", b"{}", b"\xff\xfe", b'{"version": 4}', b"[" * 100_000])
@pytest.mark.parametrize("name", ["version-0000000004.json", "settings-0000000003.json"])
def test_foreign_files_are_refused(tmp_path: Path, content: bytes, name: str) -> None:
    create(tmp_path, 4)
    (tmp_path / name).write_bytes(content)
    errors = []  # each holds the frames it came through, and what is open in them
    for opening in (read_version, Writer.open, Writer.open):
        with pytest.raises(StoreError) as error:
            opening(tmp_path)
        errors.append(error.value)
    words = "is damaged, or was not written by tidings: its checksum does not fit; restore it from a copy, or make the"
    assert {str(each) for each in errors} == {f"{tmp_path / name} {words} matcher anew"}
    assert (tmp_path / name).read_bytes() == content


@pytest.mark.parametrize("name", ["version-0000000004.json", "settings-0000000003.json"])
def test_another_format_is_refused(tmp_path: Path, name: str) -> None:
    create(tmp_path, 4)
    (tmp_path / name).write_text('{"format": 2, "anything": "else"}')
    with pytest.raises(StoreError) as error:
        read_version(tmp_path)
    assert str(error.value) == f"{tmp_path / name} has the format 2, and this version of tidings reads 1"


def test_a_version_under_the_number_of_another_is_refused(tmp_path: Path) -> None:
    create(tmp_path, 3)
    shutil.copy(tmp_path / "version-0000000003.json", tmp_path / "version-0000000009.json")
    with pytest.raises(StoreError, match=r"version-0000000009\.json holds version 3: it was copied or renamed; undo"):
        read_version(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    create(tmp_path, 4)
    segment, settings = tmp_path / "segment-0000000004.tidings", tmp_path / "settings-0000000003.json"
    segment.rename(tmp_path / "away")
    for opening in (read_version, Writer.open):
        with pytest.raises(StoreError) as error:
            opening(tmp_path)
        assert str(error.value) == f"there is no file {segment}"
    (tmp_path / "away").rename(segment)
    settings.unlink()
    for opening in (read_version, Writer.open):
        with pytest.raises(StoreError) as error:
            opening(tmp_path)
        assert str(error.value) == f"version 4 of {tmp_path} is not complete: there is no {settings.name}"


def test_a_cut_segment_is_refused(tmp_path: Path) -> None:
    create(tmp_path, 2)
    os.truncate(tmp_path / "segment-0000000002.tidings", 1000)
    with pytest.raises(StoreError, match="is cut short"):
        read_version(tmp_path)


# Failures while writing


def no_space(*arguments: object, **options: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_commit_that_fails_leaves_the_old_version_and_the_writer_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(tmp_path, 4)
    with Writer.open(tmp_path) as writer:
        for name in ("fsync", "replace"):
            with monkeypatch.context() as patch:
                patch.setattr(os, name, no_space)
                for call in (lambda: writer.write_segment(*content(5)), lambda: writer.commit([], {"since": 1})):
                    with pytest.raises(StoreError, match=r"cannot be written: .*No space left on device"):
                        call()
            assert checked(tmp_path) == writer.version.number == 4
        assert names(tmp_path) == expected_names(3, 4)
        version = writer.commit([], {})
    assert read_version(tmp_path)[0] == version
    assert version.number > 4


def test_a_version_that_may_not_have_reached_the_disk_is_never_written_a_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Writer.create(tmp_path, {"a": 1}) as writer:
        with monkeypatch.context() as patch:
            patch.setattr("tidings.index.array_file.sync_folder", no_space)
            with pytest.raises(StoreError, match="No space left"):
                writer.commit([])
        assert writer.version.number == 1
        assert read_version(tmp_path)[0].number == 2  # readers may see it
        assert writer.commit([], {"a": 2}).number == 3
    assert read_version(tmp_path, 2)[0].settings == {"a": 1}


def test_what_cannot_be_removed_fails_no_commit_and_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path, 3)
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", no_space)
        with Writer.open(tmp_path) as writer:
            for number in range(4, 8):
                assert commit_next(writer).number == number == checked(tmp_path)
        with pytest.raises(StoreError, match=r"what is no longer needed in .* cannot be removed"):
            Writer.open(tmp_path)
    assert [checked(tmp_path, number) for number in range(2, 8)] == [2, 3, 4, 5, 6, 7]
    removed: list[str] = []
    unlink = os.unlink

    def traced(path: Path) -> None:
        removed.append(path.name)
        unlink(path)

    monkeypatch.setattr(os, "unlink", traced)
    Writer.open(tmp_path).close()
    assert names(tmp_path) == expected_names(6, 7)
    # The oldest first: a listing that misses a version has missed all older ones too, or they are gone when looked for.
    assert removed[:4] == [f"version-{number:010}.json" for number in (2, 3, 4, 5)]


def test_everything_is_on_the_disk_before_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order that a loss of power demands: content, name, folder; segment, settings, version; then the removals."""
    create(tmp_path, 4)
    steps: list[str] = []
    fsync, replace, unlink = os.fsync, os.replace, os.unlink

    def traced_fsync(descriptor: int) -> None:
        node = os.fstat(descriptor).st_ino
        steps.append(
            "sync " + next(path.name for path in (*tmp_path.iterdir(), tmp_path) if path.stat().st_ino == node)
        )
        fsync(descriptor)

    def traced_replace(old: Path, new: Path) -> None:
        steps.append(f"name {Path(new).name}")
        replace(old, new)

    def traced_unlink(path: Path) -> None:
        steps.append(f"remove {Path(path).name}")
        unlink(path)

    with Writer.open(tmp_path) as writer:
        for name, traced in (("fsync", traced_fsync), ("replace", traced_replace), ("unlink", traced_unlink)):
            monkeypatch.setattr(os, name, traced)
        segment = writer.write_segment(*content(5))
        writer.commit([segment], {"new": 1})
    durable = [
        step
        for name in ("segment-0000000005.tidings", "settings-0000000005.json", "version-0000000005.json")
        for step in (f"sync {name}.tmp", f"name {name}", f"sync {tmp_path.name}")
    ]
    assert steps[:9] == durable
    assert steps[9] == "remove version-0000000003.json"
    assert steps[10:] == ["remove segment-0000000001.tidings"]


def test_new_folders_are_on_the_disk_with_their_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(folder_module, "sync_folder", synced.append)
    Writer.create(tmp_path / "a" / "b", {}).close()
    assert sorted(synced) == [tmp_path, tmp_path / "a"]


# Readers beside a writer


def test_a_reader_whose_version_is_replaced_takes_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path, 3)
    with Writer.open(tmp_path) as writer:

        def late(path: Path) -> ArrayFile:
            while writer.version.number < 9:
                commit_next(writer)
                if writer.version.number % 3 == 0:  # nothing is left of the version that is being opened
                    break
            return open_arrays(path)

        monkeypatch.setattr(folder_module, "open_arrays", late)
        assert checked(tmp_path) == 9


def test_a_reader_who_is_never_quick_enough_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path, 3)
    with Writer.open(tmp_path) as writer:

        def too_late(path: Path) -> ArrayFile:
            for _ in range(3):
                commit_next(writer)
            return open_arrays(path)

        monkeypatch.setattr(folder_module, "open_arrays", too_late)
        with pytest.raises(StoreError, match="there is no file"):
            read_version(tmp_path)
        assert writer.version.number == 3 + 3 * TRIES
        with pytest.raises(StoreError, match=r"has no version 62; its versions: 65, 66$"):
            read_version(tmp_path, 62)


def test_a_listing_that_misses_names_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is not listed in one moment: here the names of the newest versions are missed, then all of them."""
    create(tmp_path, 9)
    pin(tmp_path, "old", 8)
    with Writer.open(tmp_path) as writer:
        for _ in range(3):
            commit_next(writer)
    whole = set(names(tmp_path))
    without = {name for name in whole if not name.startswith("version")}
    listings = [without | {"version-0000000007.json"}, without, without, whole]
    monkeypatch.setattr(folder_module, "_listed", lambda folder: listings.pop(0) if listings else whole)
    assert checked(tmp_path) == 12


READER = """
folder, last = Path(sys.argv[1]), int(sys.argv[2])
reads, seen = 0, [0]
while seen[-1] < last:
    version, files = read_version(folder)
    assert version.number >= seen[-1], (version.number, seen[-1])
    check(version, files)
    if version.number > seen[-1]:
        seen.append(version.number)
    reads += 1
    if reads == 1:
        print("ready", flush=True)
print(reads, len(seen) - 1)
"""


def started(program: str, *arguments: object, stderr: int | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(tidings.__file__).parents[1])}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=stderr, text=True)


def run(program: str, *arguments: object) -> str:
    """What a program says on both outputs."""
    with started(program, *arguments, stderr=subprocess.STDOUT) as child:
        return child.communicate(timeout=60)[0]


def test_readers_beside_a_writer_see_whole_versions_that_never_go_back(tmp_path: Path) -> None:
    last = 200
    create(tmp_path)
    readers = [started(SHARED + READER, tmp_path, last) for _ in range(2)]
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
    with Writer.open(tmp_path) as writer:
        while commit_next(writer).number < last:
            pass
    for reader in readers:
        said, _ = reader.communicate(timeout=60)
        assert reader.returncode == 0
        reads, seen = map(int, said.split())
        assert reads >= seen > 10


def test_a_version_is_never_removed_while_it_is_pinned(tmp_path: Path) -> None:
    """Pins come and go while versions do: a pin that was given is kept, or it was refused."""
    create(tmp_path, 3)
    stop = threading.Event()
    pinned = 0

    def commits() -> None:
        with Writer.open(tmp_path) as writer:
            while not stop.is_set():
                commit_next(writer)

    thread = threading.Thread(target=commits)
    thread.start()
    try:
        for _ in range(200):
            number = read_version(tmp_path)[0].number - 1
            try:
                pin(tmp_path, "test", number)
            except StoreError as error:
                assert f"has no version {number}; its versions: " in str(error)  # noqa: PT017 - others are no errors
                continue
            pinned += 1
            assert checked(tmp_path, number) == number
            unpin(tmp_path, "test")
    finally:
        stop.set()
        thread.join()
    assert pinned > 10


@pytest.mark.parametrize("attempt", range(10))
def test_of_many_who_create_at_once_one_wins(tmp_path: Path, attempt: int) -> None:
    starting = threading.Barrier(4)
    won: list[int] = []
    refused: list[str] = []

    def attempted(number: int) -> None:
        starting.wait()
        try:
            with Writer.create(tmp_path / "a" / "index", {"by": number}):
                won.append(number)
        except StoreError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=attempted, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert read_version(tmp_path / "a" / "index")[0] == Version(1, (), {"by": won[0]})
    assert len(refused) == 3
    assert all("already holds a matcher" in words or "is open in another matcher" in words for words in refused)


def test_one_who_creates_while_another_waits_for_the_lock_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer_lock = folder_module._writer_lock

    def late(folder: Path) -> BinaryIO:
        monkeypatch.setattr(folder_module, "_writer_lock", writer_lock)
        create(tmp_path)
        return writer_lock(folder)

    monkeypatch.setattr(folder_module, "_writer_lock", late)
    with pytest.raises(StoreError, match="already holds a matcher"):
        Writer.create(tmp_path, {})
    assert checked(tmp_path) == 1
    Writer.open(tmp_path).close()


FORKING = """
def locked():
    try:
        Writer.open(Path(sys.argv[1])).close()
    except StoreError:
        return True
    return False

with Writer.create(Path(sys.argv[1]), {}) as writer:
    if not os.fork():
        writer.close()
        os._exit(0)
    os.wait()
    print(locked())
    sleeping = os.fork()
    if not sleeping:
        time.sleep(60)
        os._exit(0)
print(locked())
os.kill(sleeping, 9)
"""


def test_a_forked_child_neither_gives_up_the_lock_nor_keeps_it(tmp_path: Path) -> None:
    assert run(SHARED + FORKING, tmp_path).split() == ["True", "False"]


# Processes that are killed

# Forks a child for each line, so that none has to start Python and import numpy. What a child says is one write, which
# a kill cannot tear. With `die_at` it kills itself before that step of those that change something or can wait.
CHILDREN = """
assert not {"numba", "pyarrow"} & set(sys.modules)

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def create(folder):
    Writer.create(folder, settings(1), [content(1)])

def reopen(folder):
    Writer.open(folder)

def commit(folder):
    commit_next(Writer.open(folder))

def move_pin(folder):
    pin(folder, "test", 4)
    unpin(folder, "test")

def commits(folder):
    writer = Writer.open(folder) if holds_index(folder) else Writer.create(folder, settings(1), [content(1)])
    say(writer.version.number)
    while True:
        say(commit_next(writer).number)

def die_at(step):
    steps = iter(range(1, step))
    def count(*arguments):
        if next(steps, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
    def hook(event, arguments):
        if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.listdir", "fcntl.flock", "mmap.__new__"):
            count()
    sys.addaudithook(hook)
    fsync = os.fsync
    os.fsync = lambda descriptor: (count(), fsync(descriptor))

for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if not child:
        say("started", os.getpid())
        if order["die_at"]:
            die_at(order["die_at"])
        globals()[order["action"]](Path(order["folder"]))
        os._exit(0)
    say("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


class Children:
    """Processes that do something to a folder, and are killed at it."""

    def __init__(self) -> None:
        self._server = started(SHARED + CHILDREN)

    def start(self, action: str, folder: Path, die_at: int = 0) -> int:
        """The number of the process that has begun."""
        assert self._server.stdin is not None
        order = {"action": action, "folder": str(folder), "die_at": die_at}
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        word, process = self._line()
        assert word == "started"
        return int(process)

    def end(self) -> tuple[int, list[int]]:
        """The status of that process, and the numbers it has said."""
        said = []
        while len(words := self._line()) == 1:
            said.append(int(words[0]))
        assert words[0] == "ended"
        return int(words[1]), said

    def close(self) -> None:
        self._server.communicate(timeout=60)

    def _line(self) -> list[str]:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        assert line, "the process has ended; its error is above"
        return line.split()


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    found = Children()
    yield found
    found.close()


def check_kills(children: Children, seed: int, folder: Path, kills: int) -> None:
    """Kills one process after the other, all of which commit versions to one folder."""
    chance = random.Random(seed)
    acknowledged = 0
    for _ in range(kills):
        process = children.start("commits", folder)
        time.sleep(chance.uniform(0, 0.025))
        os.kill(process, signal.SIGKILL)
        status, said = children.end()
        assert status == -signal.SIGKILL
        acknowledged = said[-1] if said else acknowledged
        found = checked(folder) if holds_index(folder) else 0
        assert found in (acknowledged, acknowledged + 1)
        acknowledged = found
    if acknowledged:
        Writer.open(folder).close()
        assert names(folder) == expected_names(*range(max(1, acknowledged - 1), acknowledged + 1))


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_process_leaves_the_last_version_or_the_next(children: Children, seed: int, tmp_path: Path) -> None:
    check_kills(children, seed, tmp_path, kills=10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 53))
def test_a_process_killed_a_thousand_times(children: Children, seed: int, tmp_path: Path) -> None:
    check_kills(children, seed, tmp_path, kills=20)


def deaths(children: Children, action: str, folder: Path, prepared: Path | None = None) -> Iterator[None]:
    """Kills a process before the first of its steps, the second, and so on to the last; each time in a new folder."""
    for step in itertools.count(1):
        shutil.rmtree(folder, ignore_errors=True)
        if prepared is not None:
            shutil.copytree(prepared, folder)
        children.start(action, folder, die_at=step)
        status, _ = children.end()
        if status == 0:
            return
        assert status == -signal.SIGKILL
        yield


def test_a_creation_killed_at_any_step_leaves_all_or_nothing(children: Children, tmp_path: Path) -> None:
    outcomes = []
    for _ in deaths(children, "create", tmp_path / "a" / "index"):
        outcomes.append(holds_index(tmp_path / "a" / "index"))
        if not outcomes[-1]:
            create(tmp_path / "a" / "index")
        else:
            Writer.open(tmp_path / "a" / "index").close()
        assert checked(tmp_path / "a" / "index") == 1
        assert names(tmp_path / "a" / "index") == expected_names(1)
    assert outcomes == sorted(outcomes)
    assert len(outcomes) > 20
    assert set(outcomes) == {False, True}


def test_a_commit_killed_at_any_step_leaves_the_old_version_or_the_new(children: Children, tmp_path: Path) -> None:
    create(tmp_path / "prepared", 4)
    pin(tmp_path / "prepared", "test", 4)
    with Writer.open(tmp_path / "prepared") as writer:
        commit_next(writer)
    outcomes = []
    for _ in deaths(children, "commit", tmp_path / "index", tmp_path / "prepared"):
        outcomes.append(checked(tmp_path / "index"))
        assert checked(tmp_path / "index", 4) == 4
        Writer.open(tmp_path / "index").close()
        assert checked(tmp_path / "index") == outcomes[-1]
        assert checked(tmp_path / "index", 4) == 4
        pinned = () if outcomes[-1] == 5 else (4,)
        newest = (4, 5) if outcomes[-1] == 5 else (5, 6)
        assert names(tmp_path / "index") == sorted([*expected_names(*newest, pinned=pinned), "pin-test.json"])
    assert outcomes == sorted(outcomes)
    assert len(outcomes) > 30
    assert set(outcomes) == {5, 6}


def test_an_opening_killed_while_it_cleans_changes_nothing_that_is_read(children: Children, tmp_path: Path) -> None:
    create(tmp_path / "prepared", 4)
    pin(tmp_path / "prepared", "test", 4)
    with Writer.open(tmp_path / "prepared") as writer, pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder_module, "_clean", lambda *arguments, **options: None)
        for _ in range(4):
            commit_next(writer)
        left = [writer.write_segment({}, {}), "version-0000000009.json.tmp", "pin-other.json.tmp"]
    for name in left:
        (tmp_path / "prepared" / name).touch()
    outcomes = []
    for _ in deaths(children, "reopen", tmp_path / "index", tmp_path / "prepared"):
        outcomes.append([checked(tmp_path / "index", number) for number in (4, 7, 8)])
        Writer.open(tmp_path / "index").close()
        assert checked(tmp_path / "index") == 8
        assert names(tmp_path / "index") == sorted([*expected_names(7, 8, pinned=(4,)), "pin-test.json"])
    assert len(outcomes) > 20
    assert [4, 7, 8] == min(outcomes) == max(outcomes)


def test_pinning_killed_at_any_step_pins_or_does_not(children: Children, tmp_path: Path) -> None:
    create(tmp_path / "prepared", 4)
    outcomes = []
    for _ in deaths(children, "move_pin", tmp_path / "index", tmp_path / "prepared"):
        outcomes.append("pin-test.json" in names(tmp_path / "index"))
        with Writer.open(tmp_path / "index") as writer:
            for _ in range(3):
                commit_next(writer)
        pinned = [*expected_names(6, 7, pinned=(4,)), "pin-test.json"]
        assert names(tmp_path / "index") == sorted(pinned if outcomes[-1] else expected_names(6, 7))
    assert [pinned for pinned, _ in itertools.groupby(outcomes)] == [False, True]
