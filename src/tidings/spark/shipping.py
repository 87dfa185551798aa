"""Files of indexes given to executors as files of Spark: each once, whatever versions have it, and not for ever.

Files never change, so that a version with one segment more ships that segment and two small files. What no open index
needs is taken back, so that executors which start later do not fetch it, and removed from the disks of the driver and,
when they take the next version, of executors. Spark Connect takes nothing back: there it stays as long as the session.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from tidings.spark.files import IndexFiles, cache_folder, copy_name, link_or_copy, shipped_names
from tidings.spark.recent import LastUsed
from tidings.spark.sessions import application_of, is_classic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = 4  # versions, each of another folder, that stay shipped when nobody has them open
TOLD = 1_000  # names that executors are told of, at most, when they are given up

log = logging.getLogger("tidings.spark")


class Holder(Protocol):
    """Who needs a version until it is closed."""

    @property
    def closed(self) -> bool: ...


@dataclass(slots=True, eq=False)
class Use:
    """A holder for as long as something is done."""

    closed: bool = False

    def __enter__(self) -> Use:
        return self

    def __exit__(self, *exception: object) -> None:
        self.closed = True


@dataclass(slots=True, eq=False)
class _Shipment:
    """One version, as an application has it."""

    spark: SparkSession
    files: IndexFiles
    holders: list[Holder] = field(default_factory=list)

    @property
    def is_needed(self) -> bool:
        self.holders = [holder for holder in self.holders if not holder.closed]
        return bool(self.holders)

    def is_superseded_in(self, folder: str) -> bool:
        """Whether a version of that folder comes after this one, or the folder of this one is gone."""
        return self.files.folder == folder or not Path(self.files.folder).exists()


def as_shipped(spark: SparkSession, files: IndexFiles, holder: Holder) -> IndexFiles:
    """The version as executors find it, which is theirs until the holder is closed, and somewhat longer."""
    with _one_at_a_time:  # versions share files
        key = (application_of(spark), files.digest)
        shipment = _shipments.get(key, lambda: _shipped(spark, files), lambda each: each.holders.append(holder))
        _shipments.drop(lambda each: each is not shipment and each.is_superseded_in(files.folder))
        return replace(shipment.files, given_up=tuple(_given_up))


def _shipped(spark: SparkSession, files: IndexFiles) -> _Shipment:
    names = shipped_names(Path(files.folder), files.version)
    there = _names_of(each for each in _shipments.values() if application_of(each.spark) == application_of(spark))
    for name, path in names.items():
        if name in there:
            continue
        staged = _staging() / name
        if not staged.exists():
            link_or_copy(path, staged)
        if is_classic(spark):
            spark.sparkContext.addFile(str(staged))
        else:
            spark.addArtifacts(str(staged), file=True)
    for name in (*names, copy_name(files.digest)):
        if name in _given_up:
            _given_up.remove(name)
    return _Shipment(spark, replace(files, shipped=tuple(names)))


def _give_up(shipment: _Shipment) -> None:
    unneeded = _names_of([shipment]) - _names_of(_shipments.values())
    if is_classic(shipment.spark):
        _take_back(shipment.spark, unneeded)
    _given_up.extend([*sorted(unneeded), copy_name(shipment.files.digest)])


def _names_of(shipments: Iterable[_Shipment]) -> set[str]:
    return {name for shipment in shipments for name in shipment.files.shipped}


def _take_back(spark: SparkSession, names: Iterable[str]) -> None:
    """Spark has no call for it, and does so itself when a session of Connect ends. Where another version of Spark has
    other insides, files stay shipped."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # without type information
    from pyspark import SparkFiles

    context: Any = spark.sparkContext._jsc.sc()
    for name in names:
        try:
            sessions = context.addedFiles().valuesIterator()
            while sessions.hasNext():
                added = sessions.next()
                for address in [each for each in _strings(added.keysIterator()) if each.endswith(f"/{name}")]:
                    added.remove(address)
        except Py4JError as error:
            log.warning("%s stays on executors as long as the application: %s", name, error)
            continue
        (_staging() / name).unlink(missing_ok=True)
        Path(SparkFiles.get(name)).unlink(missing_ok=True)


def _strings(iterator: Any) -> list[str]:
    found = []
    while iterator.hasNext():
        found.append(str(iterator.next()))
    return found


@cache
def _staging() -> Path:
    """Where this process has what it ships: Spark's server of files reads it there when an executor asks."""
    folder = Path(tempfile.mkdtemp(prefix=f"shipped-{os.getpid()}-", dir=cache_folder()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


_shipments: LastUsed[tuple[str, str], _Shipment] = LastUsed(KEPT, lambda shipment: shipment.is_needed, _give_up)
_given_up: deque[str] = deque(maxlen=TOLD)
_one_at_a_time = Lock()
