"""The files of one version of an index, and how a host comes to have them.

A host maps the folder in place where it can read it; else it takes what was shipped to it, and keeps one copy for all
processes of the user, in a folder named by a digest of the version that appears whole, by renaming. The digest decides
whether two folders hold the same version: path and number alone do not, since a folder can be made anew.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from socket import gethostname
from uuid import uuid4

from tidings.errors import StoreError
from tidings.index.array_file import ArrayFile
from tidings.index.folder import Version, read_version

SHIPPED = "tidings-"  # how names of shipped files begin, with a digest behind
UNUSED_SECONDS = 30 * 86_400  # after which a copy is removed, when another one is made
Opened = tuple[Path, Version, tuple[ArrayFile, ...]]


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """What a task is told of an index. `shipped` has the names of its files among Spark's; none, if it is in place.
    `given_up` are files and copies that nobody needs any more, which the host may have."""

    folder: str
    version: int
    digest: str
    shipped: tuple[str, ...] = ()
    given_up: tuple[str, ...] = field(default=(), compare=False, repr=False)


def digest_of(version: Version, files: Sequence[ArrayFile]) -> str:
    """By the number, the settings and the headers of the segments, which hold the checksums of their arrays."""
    found = blake2b(digest_size=16)
    found.update(repr((version.number, version.segments, sorted(version.settings.items()))).encode())
    for file in files:
        found.update(_head(file))
    return found.hexdigest()


def _head(file: ArrayFile) -> bytes:
    with file.path.open("rb") as source:
        return source.read(file.size - len(file.body))


def opened_files(wanted: IndexFiles) -> Opened:
    """The version on this host."""
    here = _opened(Path(wanted.folder), wanted)
    if here is not None:
        return here
    if not wanted.shipped:
        raise StoreError(
            f"version {wanted.version} of the index in {wanted.folder} cannot be read on the host {gethostname()}; "
            "put it where all executors can read it, or ship it to them with reach='copy'"
        )
    for _ in range(2):  # a copy whose files were removed one by one, as cleaners of /tmp do, is made again
        copy = cached(wanted.digest, lambda folder: _take_shipped(wanted, folder))
        copied = _opened(copy, wanted)
        if copied is not None:
            return copied
        shutil.rmtree(copy, ignore_errors=True)
    raise StoreError(f"version {wanted.version} of {wanted.folder} was shipped to {gethostname()} and cannot be read")


def _take_shipped(wanted: IndexFiles, folder: Path) -> None:
    from pyspark import SparkFiles

    for name in wanted.given_up:
        Path(SparkFiles.get(name)).unlink(missing_ok=True)
        shutil.rmtree(cache_folder() / name, ignore_errors=True)
    for name in wanted.shipped:
        link_or_copy(Path(SparkFiles.get(name)), folder / name.removeprefix(SHIPPED).partition("-")[2])
    for file in read_version(folder, wanted.version)[1]:
        file.verify()


def _opened(folder: Path, wanted: IndexFiles) -> Opened | None:
    try:
        version, files = read_version(folder, wanted.version)
        return (folder, version, files) if digest_of(version, files) == wanted.digest else None
    except (StoreError, OSError):
        return None


def shipped_names(folder: Path, version: int) -> dict[str, Path]:
    """The files of a version under the names by which they are shipped. An application can use a name once, so these
    follow from what is in the files; those of segments from their headers, which have the checksums of the rest."""
    opened, files = read_version(folder, version)
    heads = dict(zip(opened.segments, map(_head, files), strict=True))
    small = [*folder.glob("settings-*.json"), *folder.glob(f"*-{version:010}.json")]
    heads |= {path.name: path.read_bytes() for path in small}
    return {
        f"{SHIPPED}{blake2b(head, digest_size=16).hexdigest()}-{name}": folder / name for name, head in heads.items()
    }


def copy_name(digest: str) -> str:
    return f"index-{digest}"


def link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source.resolve(), target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)


# The copies of a host


def cache_folder() -> Path:
    """Where this user's copies are on this host: below the folder for temporary files, closed to others."""
    folder = Path(tempfile.gettempdir()) / f"tidings-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise StoreError(f"{folder} belongs to another user; remove it, or set TMPDIR to a folder of your own")
    return folder


def cached(name: str, fill: Callable[[Path], None]) -> Path:
    """The copy of that name, made by `fill` if this host has none. Several processes may try at once; one succeeds."""
    root = cache_folder()
    copy = root / copy_name(name)
    if not copy.exists():
        _remove_unused(root)
        begun = root / f"{copy.name}-{uuid4().hex}.tmp"
        begun.mkdir()
        try:
            fill(begun)
            with suppress(OSError):  # another process was first
                begun.rename(copy)
        finally:
            shutil.rmtree(begun, ignore_errors=True)
    os.utime(copy)
    return copy


def _remove_unused(root: Path) -> None:
    """A copy that someone has mapped stays whole for them when it is removed."""
    long_ago = time.time() - UNUSED_SECONDS
    for folder in root.iterdir():
        shipping = re.fullmatch(r"shipped-(\d+)-.*", folder.name)
        if shipping and is_running(int(shipping[1])):  # executors that start late fetch them
            continue
        with suppress(OSError):
            if shipping or folder.stat().st_mtime < long_ago:
                shutil.rmtree(folder, ignore_errors=True)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True
