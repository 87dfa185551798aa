"""An index as the driver sees it: one version, held, and what must be known of it before a query runs.

A version that is held stays readable whatever a writer commits: by a pin in its folder, or because it was copied. Pins
are named after the process that made them, so that those of processes that died are found and given up.
"""

from __future__ import annotations

import atexit
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING

from tidings.errors import StoreError
from tidings.index.array_file import ArrayFile
from tidings.index.changes import COMPILED, Change
from tidings.index.folder import Version, pin, read_version, unpin
from tidings.index.layout import OPAQUE, check_columns
from tidings.language.parser import parse
from tidings.spark.attributes import NOTE, attributes_of
from tidings.spark.files import IndexFiles, digest_of, is_running
from tidings.spark.metadata import metadata_schema
from tidings.spark.places import HadoopPlace, place_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

IDS_NOTE = "ids"  # in the settings: the kind of identifiers, for an index that has none yet
TEXTS, INTEGERS = "string", "bigint"
_HELD_TRIES = 20  # of a version that is replaced between looking it up and pinning it
_serial = count()
_held: dict[IndexFiles, Index] = {}


@dataclass(slots=True, eq=False)
class Index:
    """One version of an index. It can be read until `close`; without it, until the process ends."""

    path: str
    folder: Path
    version: Version
    files: tuple[ArrayFile, ...] = field(repr=False)
    digest: str
    _pin: str | None
    closed: bool = False

    @property
    def in_place(self) -> IndexFiles:
        return IndexFiles(str(self.folder.absolute()), self.version.number, self.digest)

    @property
    def subscriptions(self) -> int:
        return sum(int(file.notes["subscriptions"]) - len(Change.from_file(file).removed) for file in self.files)

    @property
    def nbytes(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def id_type(self) -> str:
        """Spark's name for the type of its identifiers."""
        for file in reversed(self.files):
            if file.notes["subscriptions"]:
                return TEXTS if Change.from_file(file).ids.are_texts else INTEGERS
        return str(self.version.settings.get(IDS_NOTE, TEXTS))

    @property
    def metadata(self) -> StructType:
        """The further columns of the subscriptions."""
        return metadata_schema(self.version, self.files)

    def attributes(self) -> frozenset[str] | None:
        """The columns that matching reads; None where that is unknown, and so all of them are needed."""
        found: set[str] = set()
        for file in self.files:
            read = _attributes_in(file)
            if read is None:
                return None
            found |= read
        return frozenset(found)

    def close(self) -> None:
        """Lets a writer remove the version, and whoever made something of it for executors that too."""
        self.closed = True
        if self._pin is not None:
            with suppress(StoreError):  # the folder is gone, or the pin was given up already
                unpin(self.folder, self._pin)

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_index(spark: SparkSession, path: str | os.PathLike[str], version: int | None = None) -> Index:
    """The newest version, or the one of that number, held until it is closed.

    A folder that Hadoop opens is copied to the driver's host, and has the newest version only.
    """
    place = place_of(spark, path)
    folder = place.readable()
    if isinstance(place, HadoopPlace):
        found, files = read_version(folder)
        if version not in (None, found.number):
            raise StoreError(f"{path} is read at its newest version, {found.number}; version {version} is asked for")
        return Index(os.fspath(path), folder, found, files, digest_of(found, files), None)
    for _ in range(_HELD_TRIES):
        found, files = read_version(folder, version)
        try:
            name = _pinned(folder, found.number)
        except StoreError as error:
            problem = error
            continue
        return Index(os.fspath(path), folder, found, files, digest_of(found, files), name)
    raise StoreError(
        f"version {found.number} of {folder} cannot be held while a query reads it: {problem}; make the folder "
        "writable, or copy the index to one that is"
    )


def held_index(spark: SparkSession, path: str | os.PathLike[str]) -> Index:
    """The newest version, held until the process ends: a query may run at any time after it was planned."""
    index = open_index(spark, path)
    known = _held.setdefault(index.in_place, index)
    if known is not index:
        index.close()
    return known


@atexit.register
def _let_go() -> None:
    for index in _held.values():
        if index._pin is None or _process_of(index._pin) == os.getpid():  # not in a forked child
            index.close()


# Pins


def _pinned(folder: Path, number: int) -> str:
    name = f"spark-{_machine()}-{os.getpid()}-{next(_serial)}"
    pin(folder, name, number)
    for path in folder.glob(f"pin-spark-{_machine()}-*.json"):
        stale = path.name.removeprefix("pin-").removesuffix(".json")
        if not is_running(_process_of(stale)):
            with suppress(StoreError):  # another process was first
                unpin(folder, stale)
    return name


def _machine() -> str:
    """Within which a number of a process means one process: a start of a machine, and a container in it."""
    parts = [gethostname()]
    with suppress(OSError):  # not on Linux
        parts += [Path("/proc/sys/kernel/random/boot_id").read_text(), str(Path("/proc/self/ns/pid").readlink())]
    return blake2b("\n".join(parts).encode(), digest_size=6).hexdigest()


def _process_of(name: str) -> int:
    found = re.fullmatch(r"spark-[0-9a-f]+-(\d+)-\d+", name)
    return int(found[1]) if found else os.getpid()


# What a segment reads


def _attributes_in(file: ArrayFile) -> set[str] | None:
    if NOTE in file.notes:
        return set(file.notes[NOTE])
    if not file.notes[COMPILED]:
        return attributes_of(parse(where) for where in Change.from_file(file).wheres)
    if _has_opaque(file):  # what only the reference can decide is in no slot
        return None
    return {path[0] for path, _ in file.notes["slots"]}


def _has_opaque(file: ArrayFile) -> bool:
    return bool((check_columns(file.arrays["check_rows"]).operation[file.arrays["entry_check"]] == OPAQUE).any())
