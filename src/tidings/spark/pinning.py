"""Which version of the index a batch of a stream sees: written down before the batch runs, and read when it runs again.

While a batch may be run again, its version is kept: by a pin in the folder of the index or, where Hadoop opens that
folder, which has no pins, as a copy below the checkpoint. The version is pinned first, then the record of the batch is
written. A process killed between the two leaves a pin, which the same batch moves to the version that it takes then.
Spark starts a batch only when the one before is committed; so a batch that starts gives up what earlier ones held.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from tidings.errors import SettingError, StoreError
from tidings.index.array_file import TEMPORARY
from tidings.index.folder import pin, unpin
from tidings.spark.index import Index, open_index
from tidings.spark.places import HadoopPlace, place_of
from tidings.spark.records import LocalRecords, Records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAM = "stream.json"
_RECORD = re.compile(r"batch-(\d+)\.json")

log = logging.getLogger("tidings.spark")


@dataclass(frozen=True, slots=True)
class Pinned:
    """What the record of a batch says: a version, the digest that tells it from another of that number, and how it is
    kept: the folder that has it, and the name of its pin there, or none if the folder is a copy."""

    index: str
    version: int
    digest: str
    folder: str
    pin: str | None


def stream_id(records: Records) -> str:
    """The name of the stream of a checkpoint, which it keeps as long as there is the checkpoint."""
    known = records.read(STREAM)
    if known is None:
        records.write(STREAM, json.dumps({"id": uuid4().hex}).encode())
        return stream_id(records)
    return str(json.loads(known)["id"])


class Pins:
    """The versions of the batches of one stream."""

    def __init__(self, records: Records, stream: str, path: str | os.PathLike[str]) -> None:
        self._records = records
        self._stream = stream
        self._path = path

    def check(self, spark: SparkSession) -> None:
        """Raises if versions of the index cannot be kept."""
        if self._is_remote(spark) and not isinstance(self._records, LocalRecords):
            raise SettingError(
                f"the index {os.fspath(self._path)} is opened by Hadoop, and so is the checkpoint. A version of such "
                "an index is kept as a copy below the checkpoint and read there: put one of the two into a local folder"
            )

    def begun(self, spark: SparkSession, batch: int) -> Index:
        """The version of a batch: the recorded one, or else the newest, which is recorded."""
        self._give_up(batch)
        known = self._read(_named(batch))
        if known is not None:
            return self._again(spark, batch, known)
        newest = open_index(spark, self._path)
        try:
            index, pinned = self._kept(spark, batch, newest)
            self._records.write(_named(batch), json.dumps(asdict(pinned)).encode())
        except BaseException:
            newest.close()
            raise
        self._remove_copies()
        return index

    # Keeping

    def _kept(self, spark: SparkSession, batch: int, index: Index) -> tuple[Index, Pinned]:
        number, digest = index.version.number, index.digest
        if self._is_remote(spark):
            copy = self._copied(index)
            return open_index(spark, copy, number), Pinned(index.path, number, digest, str(copy), None)
        name, folder = f"stream-{self._stream}-{batch}", index.folder.absolute()
        pin(folder, name, number)  # the index is held until it is closed, so the version is there
        return index, Pinned(index.path, number, digest, str(folder), name)

    def _copied(self, index: Index) -> Path:
        assert isinstance(self._records, LocalRecords)  # see check
        copy = self._records.folder / f"index-{index.digest}"
        if not copy.exists():
            begun = copy.with_name(copy.name + TEMPORARY)
            shutil.rmtree(begun, ignore_errors=True)
            shutil.copytree(index.folder, begun, ignore=shutil.ignore_patterns("pin-*", "lock*"))
            begun.rename(copy)
        return copy

    def _again(self, spark: SparkSession, batch: int, known: Pinned) -> Index:
        try:
            index = open_index(spark, self._path if known.pin else known.folder, known.version)
        except StoreError as error:
            raise self._lost(batch, known, str(error)) from None
        if index.digest != known.digest:
            index.close()
            raise self._lost(batch, known, "the folder has another version of this number")
        log.info("batch %d was begun before, with version %d of the index, and sees it again", batch, known.version)
        return index

    def _lost(self, batch: int, known: Pinned, why: str) -> StoreError:
        return StoreError(
            f"batch {batch} was begun with version {known.version} of {known.index}, which is not in "
            f"{os.fspath(self._path)} any more: {why}. Give the stream that index again, or a copy of it with that "
            "version; or, to let the batch see the newest version, although a part of it may be delivered, remove its "
            f"record {_named(batch)}"
        )

    # Giving up

    def _give_up(self, before: int) -> None:
        for name in self._records.names():
            found = _RECORD.fullmatch(name)
            if found is None or int(found[1]) >= before:
                continue
            known = self._read(name)
            if known is not None and known.pin is not None:
                with suppress(StoreError):  # the folder is gone, or a process killed here has done it already
                    unpin(Path(known.folder), known.pin)
            self._records.remove(name)

    def _remove_copies(self) -> None:
        if not isinstance(self._records, LocalRecords):
            return
        known = [self._read(name) for name in self._records.names() if _RECORD.fullmatch(name)]
        needed = {each.folder for each in known if each is not None}
        for copy in self._records.folder.glob("index-*"):
            if str(copy) not in needed:
                shutil.rmtree(copy, ignore_errors=True)  # who has it mapped keeps it; the rest goes with the next batch

    def _is_remote(self, spark: SparkSession) -> bool:
        return isinstance(place_of(spark, self._path), HadoopPlace)

    def _read(self, name: str) -> Pinned | None:
        content = self._records.read(name)
        return None if content is None else Pinned(**json.loads(content))


def _named(batch: int) -> str:
    return f"batch-{batch:010}.json"
