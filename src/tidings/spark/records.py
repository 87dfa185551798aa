"""Small files that a stream keeps below its checkpoint: each appears whole, in place of an old one of its name.

They are in `<checkpoint>/tidings`, beside the files of Spark, so that whoever moves or removes a checkpoint moves or
removes them too. A checkpoint without a scheme, or with that of local files, is a local folder, written with care for
a loss of power; any other is opened by Hadoop, and is as durable as its file system makes a renamed file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit
from uuid import uuid4

from tidings.errors import SettingError, StoreError
from tidings.index.array_file import TEMPORARY, new_file
from tidings.spark.places import LocalPlace, place_of
from tidings.spark.sessions import hadoop_files, java_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = "tidings"  # in a checkpoint; Spark has no folder of this name there


class Records(Protocol):
    """Files by names, which may have one folder in them: `metrics/0.jsonl`."""

    @property
    def checkpoint(self) -> str:
        """The checkpoint as Spark finds it, whatever file system it takes for paths without a scheme."""

    def read(self, name: str) -> bytes | None:
        """What a file holds; None if there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Returns when the file has this content; a process killed meanwhile leaves what was there before."""

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""

    def names(self, folder: str = "") -> list[str]:
        """The names of the files in a folder, in order."""


def records_of(spark: SparkSession | None, checkpoint: str | os.PathLike[str]) -> Records:
    if urlsplit(os.fspath(checkpoint)).scheme not in ("", "file") and spark is None:
        raise SettingError(f"{os.fspath(checkpoint)} is opened by Hadoop, and there is no Spark session; start one")
    place = place_of(spark, checkpoint)  # type: ignore[arg-type]  # a local one needs no session
    if isinstance(place, LocalPlace):
        return LocalRecords(place.folder.absolute() / FOLDER)
    assert spark is not None
    return HadoopRecords(spark, f"{os.fspath(checkpoint).rstrip('/')}/{FOLDER}")


class LocalRecords:
    """Files on this host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def checkpoint(self) -> str:
        return f"file://{self.folder.parent}"

    def read(self, name: str) -> bytes | None:
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{self.folder / name} cannot be read: {error}") from None

    def write(self, name: str, content: bytes) -> None:
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{path.parent} cannot be made a folder: {error}") from None
        with new_file(path) as file:
            file.write(content)

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def names(self, folder: str = "") -> list[str]:
        there = self.folder / folder
        paths: Iterator[Path] = there.iterdir() if there.exists() else iter(())
        return sorted(path.name for path in paths if path.is_file() and not path.name.endswith(TEMPORARY))


class HadoopRecords:
    """Files behind org.apache.hadoop.fs.FileContext, which, unlike FileSystem, renames over a file in one step."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self._uri = uri
        self._files, self._path, configuration = hadoop_files(spark, uri)
        java = java_of(spark, uri)
        self._context = java.org.apache.hadoop.fs.FileContext.getFileContext(self._path(uri).toUri(), configuration)
        options = getattr(java, "org.apache.hadoop.fs.Options$Rename")
        self._overwriting = spark.sparkContext._gateway.new_array(options, 1)  # type: ignore[union-attr]  # classic: it has one
        self._overwriting[0] = options.OVERWRITE

    @property
    def checkpoint(self) -> str:
        return self._uri.removesuffix(f"/{FOLDER}")

    def read(self, name: str) -> bytes | None:
        path = self._named(name)
        if not self._files.exists(path):
            return None
        source = self._files.open(path)
        try:
            return bytes(source.readAllBytes())
        finally:
            source.close()

    def write(self, name: str, content: bytes) -> None:
        path, temporary = self._named(name), self._named(f"{name}-{uuid4().hex}{TEMPORARY}")
        target = self._files.create(temporary, True)
        target.write(content)
        target.close()
        self._context.rename(temporary, path, self._overwriting)

    def remove(self, name: str) -> None:
        self._files.delete(self._named(name), False)

    def names(self, folder: str = "") -> list[str]:
        there = self._named(folder) if folder else self._path(self._uri)
        if not self._files.exists(there):
            return []
        found = [str(each.getPath().getName()) for each in self._files.listStatus(there) if each.isFile()]
        return sorted(name for name in found if not name.endswith(TEMPORARY))

    def _named(self, name: str) -> Any:
        return self._path(f"{self._uri}/{name}")
