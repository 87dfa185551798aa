"""Damaged files of an index, and disks that are full or fail: an error that says so, and no version lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from index.folder_states import checked, commit_next, content, create, expected_names, names, no_space
from tidings.errors import StoreError
from tidings.index import folder as folder_module
from tidings.index.folder import Writer, read_version

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
