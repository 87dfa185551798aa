"""Where an index lives: a local folder, or a folder that Hadoop's file systems open (hdfs:, s3a:, abfs:, …).

A local folder is used as it is. A Hadoop folder has the same files, and is changed through a local one: the newest
version is fetched, changed as any folder is, and what is new is put back, segments first, then settings, the version
last and by renaming, so that readers see the old version or the new one. There are no locks between hosts that every
such file system has; a file `lock-writer` stands for one, and is left behind by a writer that was killed.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from tidings.errors import SettingError, StoreError
from tidings.index.folder import KEPT, TRIES
from tidings.spark.files import cached
from tidings.spark.sessions import hadoop_files, java_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCK = "lock-writer"
OURS = ("version-", "segment-", "settings-")  # how the names of files begin that are moved and removed


class LocalPlace:
    """A folder on this host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def writable(self) -> Iterator[Path]:
        yield self.folder

    def readable(self) -> Path:
        return self.folder


class HadoopPlace:
    """A folder behind org.apache.hadoop.fs.FileSystem, reached through the driver's Java process."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self._uri = uri
        self._files, self._path, self._configuration = hadoop_files(spark, uri)
        self._root = self._path(uri)
        self._copy = java_of(spark, uri).org.apache.hadoop.fs.FileUtil.copy

    # Reading

    def readable(self) -> Path:
        """A copy of the newest version on this host, which later changes do not reach."""
        for attempt in range(TRIES):
            names = self._listed()
            version = _newest(names)
            if version is None:
                raise StoreError(f"{self._uri} holds no saved matcher: there is no version-….json in it")
            try:
                needed = self._needed(version)
                known = repr([(name, names[name]) for name in (version, *needed)])
                key = blake2b(f"{self._uri}\n{known}".encode(), digest_size=16).hexdigest()
                return cached(key, partial(self._fetch, (*needed, version)))
            except (StoreError, KeyError):  # it may have been replaced, and its files removed
                if attempt + 1 == TRIES or _newest(self._listed()) == version:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _listed(self) -> dict[str, tuple[int, int]]:
        """Names, and what tells whether a file is still the same: its length and time."""
        if not self._files.exists(self._root):
            return {}
        return {
            str(each.getPath().getName()): (each.getLen(), each.getModificationTime())
            for each in self._files.listStatus(self._root)
        }

    def _needed(self, version: str) -> tuple[str, ...]:
        """The files that a version names."""
        with tempfile.TemporaryDirectory() as folder:
            self._fetch((version,), Path(folder))
            try:
                members = json.loads((Path(folder) / version).read_bytes())
                return (*members["segments"], members["settings"])
            except (ValueError, KeyError, TypeError):
                raise StoreError(f"{self._uri}/{version} is damaged; restore it, or compile the index anew") from None

    def _fetch(self, names: tuple[str, ...], folder: Path) -> None:
        for name in names:
            target = self._path(f"file://{folder / name}")
            self._moved(name, self._files, self._remote(name), _raw_local(self._path, self._configuration), target)

    # Writing

    @contextmanager
    def writable(self) -> Iterator[Path]:
        """A local folder with the newest version; what is committed in it is put back at the end."""
        with self._locked(), tempfile.TemporaryDirectory(prefix="tidings-") as name:
            folder = Path(name)
            version = _newest(self._listed())
            before = set() if version is None else {version, *self._needed(version)}
            self._fetch(tuple(before), folder)
            yield folder
            self._put_back(folder, before)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self._remote(LOCK)
        self._files.mkdirs(self._root)
        try:
            held = self._files.create(lock, False)
        except Exception as error:  # FileAlreadyExistsException of whatever file system, wrapped by py4j
            raise self._not_locked(error) from None
        held.write(f"{gethostname()}, process {os.getpid()}, {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC".encode())
        held.close()
        try:
            yield
        finally:
            self._files.delete(lock, False)

    def _not_locked(self, error: Exception) -> StoreError:
        if LOCK not in self._listed():
            return StoreError(f"{self._uri} cannot be written: {error}")
        with tempfile.TemporaryDirectory() as folder:
            self._fetch((LOCK,), Path(folder))
            who = (Path(folder) / LOCK).read_text()
        return StoreError(
            f"another writer has {self._uri}: {who or 'unknown'}; wait for it, or, if it is dead, remove its "
            f"file {LOCK}"
        )

    def _put_back(self, folder: Path, before: set[str]) -> None:
        """What a version needs goes before it. A reader that looks meanwhile finds the version before it whole."""
        present = {path.name for path in folder.iterdir() if path.name.startswith(OURS)}
        version = _newest(present)
        if version is None or version in before:
            return
        for name in sorted(present - before - {version}, key=lambda name: (name.startswith("version"), name)):
            self._put(folder, name, name)
        self._put(folder, version, version + ".tmp")
        if not self._files.rename(self._remote(version + ".tmp"), self._remote(version)):
            raise StoreError(f"{self._uri}/{version} cannot be written: its file cannot be renamed to this name")
        self._clean()

    def _put(self, folder: Path, name: str, under: str) -> None:
        source = self._path(f"file://{folder / name}")
        self._moved(name, _raw_local(self._path, self._configuration), source, self._files, self._remote(under))

    def _clean(self) -> None:
        """Removes what none of the last versions names, the oldest versions first."""
        names = self._listed()
        versions = _versions(names)
        needed = {LOCK, *versions[-KEPT:]}.union(*[self._needed(version) for version in versions[-KEPT:]])
        for name in [*versions, *sorted(names)]:
            if name not in needed and name.startswith(OURS):
                self._files.delete(self._remote(name), False)

    def _moved(self, name: str, source_files: Any, source: Any, target_files: Any, target: Any) -> None:
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # without type information

        try:
            self._copy(source_files, source, target_files, target, False, True, self._configuration)
        except Py4JJavaError as error:
            said = str(error.java_exception.getMessage()).partition("\n")[0]
            raise StoreError(f"{name} of {self._uri} cannot be copied: {said}") from None

    def _remote(self, name: str) -> Any:
        return self._path(self._root, name)


Place = LocalPlace | HadoopPlace


def place_of(spark: SparkSession, path: str | os.PathLike[str]) -> Place:
    """A path without a scheme, or with that of local files, is a local folder."""
    text = os.fspath(path)
    parts = urlsplit(text)
    if not parts.scheme:
        return LocalPlace(Path(text))
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost"):
            raise SettingError(f"{text} names the host {parts.netloc!r}; a file: address has three slashes: file:///…")
        return LocalPlace(Path(unquote(parts.path)))
    return HadoopPlace(spark, text)


def _versions(names: Iterable[str]) -> list[str]:
    """The files of versions, the oldest first: numbers have ten digits or more."""
    found = [name for name in names if name.startswith("version-") and name.endswith(".json")]
    return sorted(found, key=lambda name: (len(name), name))


def _newest(names: Iterable[str]) -> str | None:
    return next(reversed(_versions(names)), None)


def _raw_local(path: Any, configuration: Any) -> Any:
    """The local file system without the files of checksums that Hadoop puts beside each file."""
    return path("file:///").getFileSystem(configuration).getRawFileSystem()
