"""The copies of indexes that a host keeps: made once, whole, and removed when no one has used them for long."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from tidings import Matcher, StoreError
from tidings.index.folder import read_version
from tidings.spark import files
from tidings.spark.files import IndexFiles, cache_folder, cached, copy_name, digest_of, opened_files, shipped_names


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return cache_folder()


def filled(path: Path, *wheres: str) -> IndexFiles:
    with Matcher(path) as matcher:
        matcher.add_many(enumerate(wheres))
    version, opened = read_version(path)
    return IndexFiles(str(path), version.number, digest_of(version, opened))


def test_a_copy_is_made_once(cache: Path) -> None:
    made: list[Path] = []

    def fill(folder: Path) -> None:
        made.append(folder)
        (folder / "a").write_text("x")

    assert cached("one", fill) == cached("one", fill)
    assert (cached("one", fill) / "a").read_text() == "x"
    assert len(made) == 1
    assert [path.name for path in cache.iterdir()] == ["index-one"]


def test_a_copy_that_fails_leaves_nothing(cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "a").touch()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cached("one", fail)
    assert list(cache.iterdir()) == []


def test_of_two_who_make_the_same_copy_one_is_kept(cache: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "mine").touch()
        other = cache / "index-one"
        other.mkdir()
        (other / "theirs").touch()

    assert [path.name for path in cached("one", fill).iterdir()] == ["theirs"]
    assert len(list(cache.iterdir())) == 1


def test_what_no_one_used_for_long_is_removed(cache: Path) -> None:
    cached("old", lambda folder: None)
    cached("new", lambda folder: None)
    long_ago = time.time() - files.UNUSED_SECONDS - 1
    os.utime(cache / "index-old", (long_ago, long_ago))
    (cache / f"shipped-{os.getpid()}-x").mkdir()
    os.utime(cache / f"shipped-{os.getpid()}-x", (long_ago, long_ago))
    (cache / "shipped-4194305-x").mkdir()  # no process has that number
    cached("another", lambda folder: None)
    assert {path.name for path in cache.iterdir()} == {"index-new", "index-another", f"shipped-{os.getpid()}-x"}


def test_a_folder_of_someone_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere" / f"tidings-{os.getuid()}").symlink_to(tmp_path)
    with pytest.raises(StoreError, match="belongs to another user; remove it, or set TMPDIR"):
        cache_folder()


def test_what_was_shipped_becomes_a_copy_and_a_broken_copy_is_made_again(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark import SparkFiles

    here = filled(tmp_path / "index", "a = 1", "b = 2")
    names = shipped_names(tmp_path / "index", here.version)
    (tmp_path / "spark").mkdir()
    for name, path in names.items():
        shutil.copyfile(path, tmp_path / "spark" / name)
    monkeypatch.setattr(SparkFiles, "get", lambda name: str(tmp_path / "spark" / name))
    wanted = IndexFiles(str(tmp_path / "nowhere"), here.version, here.digest, tuple(names))
    for _ in range(2):
        folder, version, _ = opened_files(wanted)
        assert (folder, version.number) == (cache / copy_name(here.digest), here.version)
        next(folder.glob("segment-*")).unlink()


def test_versions_share_the_names_of_what_they_share(tmp_path: Path) -> None:
    """By contents, because a folder that was made anew has other files under the same names."""
    old = filled(tmp_path / "index", "a = 1", "b = 2")
    before = shipped_names(tmp_path / "index", old.version)
    with Matcher(tmp_path / "index") as matcher:
        matcher.add(7, "c = 3")
    after = shipped_names(tmp_path / "index", old.version + 1)
    (new,) = set(after.values()) - set(before.values()) - {tmp_path / "index" / f"version-{old.version + 1:010}.json"}
    assert new.name.startswith("segment-")
    assert len(before.keys() & after.keys()) == len(after) - 2
    other = filled(tmp_path / "other", "a = 1", "b = 3")
    shared = {path.name for name, path in shipped_names(tmp_path / "other", other.version).items() if name in before}
    assert not any(name.startswith("segment-") for name in shared)


def test_what_was_given_up_is_removed_when_the_next_version_is_taken(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark import SparkFiles

    here = filled(tmp_path / "index", "a = 1")
    names = shipped_names(tmp_path / "index", here.version)
    (tmp_path / "spark").mkdir()
    for name, path in {**names, "tidings-x-old": Path(__file__), "mine": Path(__file__)}.items():
        shutil.copyfile(path, tmp_path / "spark" / name)
    cached("old", lambda folder: None)
    monkeypatch.setattr(SparkFiles, "get", lambda name: str(tmp_path / "spark" / name))
    given_up = ("tidings-x-old", copy_name("old"), "tidings-x-never")
    opened_files(IndexFiles(str(tmp_path / "nowhere"), here.version, here.digest, tuple(names), given_up))
    assert {path.name for path in (tmp_path / "spark").iterdir()} == {*names, "mine"}
    assert {path.name for path in cache.iterdir()} == {copy_name(here.digest)}


def test_a_folder_made_anew_is_not_taken_for_the_old_one(tmp_path: Path) -> None:
    old = filled(tmp_path / "old", "a = 1")
    new = filled(tmp_path / "new", "a = 2")
    assert (old.version, opened_files(old)[0]) == (new.version, tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "gone")
    (tmp_path / "new").rename(tmp_path / "old")
    with pytest.raises(
        StoreError, match=r"version \d+ of the index in .*old cannot be read on the host .*reach='copy'"
    ):
        opened_files(old)
