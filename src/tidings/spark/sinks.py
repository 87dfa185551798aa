"""Where the matches of a stream go, batch by batch: files, a terminal, a function of one's own; or postgres.py.

A batch may be delivered again, whole, after a failure or a kill; it has the same matches then. A sink that is to hold
nothing twice knows by the number of the batch, or by a key of the match, what it has. It runs one action on the
matches, or keeps them first: each action matches anew.
"""

from __future__ import annotations

import json
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tidings.errors import SettingError, StoreError
from tidings.spark.sessions import hadoop_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OWNER = "_tidings-stream.json"  # readers pass over names that begin with _ and have no = in them
WRITING = "_writing-"
COLUMN = "batch"

log = logging.getLogger("tidings.spark")


@dataclass(frozen=True, slots=True)
class Batch:
    """The number of a batch, the version of the index that it sees, and the name of its stream."""

    number: int
    version: int
    stream: str


class Sink(ABC):
    """Takes the matches of one batch after another."""

    def prepare(self, spark: SparkSession, stream: str) -> None:  # noqa: B027  # most sinks need nothing
        """Called when the stream starts, in the driver: raises if the sink cannot take its batches."""

    @abstractmethod
    def write(self, matches: DataFrame, batch: Batch) -> None:
        """Called in the driver. When it returns, the batch is delivered; if it raises, the batch is tried again."""


@dataclass(frozen=True, slots=True)
class FunctionSink(Sink):
    """A function of the matches and the number of the batch, as `foreachBatch` takes it."""

    function: Callable[[DataFrame, int], Any]

    def write(self, matches: DataFrame, batch: Batch) -> None:
        self.function(matches, batch.number)


def sink_of(given: Sink | Callable[[DataFrame, int], Any]) -> Sink:
    if isinstance(given, Sink):
        return given
    if not callable(given):
        raise SettingError(
            f"a sink is a ParquetSink, a PostgresSink, a ConsoleSink, another Sink, or a function of the matches and "
            f"the number of the batch, not {given!r}"
        )
    return FunctionSink(given)


@dataclass(frozen=True, slots=True)
class ConsoleSink(Sink):
    """Prints how many matches a batch has, and the first of them. Keeps them meanwhile: for looking, not for much."""

    rows: int = 20

    def write(self, matches: DataFrame, batch: Batch) -> None:
        kept = matches.persist()
        try:
            print(f"batch {batch.number}, version {batch.version} of the index: {kept.count()} rows")
            kept.show(self.rows, truncate=False)
        finally:
            kept.unpersist()


class FilesSink(Sink):
    """Files in `<path>/batch=<number>`, one folder for each batch, of a format that Spark writes, with its options.

    A folder is written under a name that readers pass over, and appears whole, by renaming; one that is there is not
    written again. So whoever reads the path sees each match once, and `batch` as a column. A path belongs to one
    stream, since two of them have batches of the same numbers. The file system must rename a folder in one step, as
    local ones and HDFS do, and object stores do not.
    """

    def __init__(self, path: str | os.PathLike[str], format: str = "parquet", **options: str) -> None:
        self.path = os.fspath(path).rstrip("/")
        self.format = format
        self.options = options

    def prepare(self, spark: SparkSession, stream: str) -> None:
        files, path = self._files(spark)
        owner = path(f"{self.path}/{OWNER}")
        if files.exists(owner):
            source = files.open(owner)
            found = json.loads(bytes(source.readAllBytes()))["stream"]
            source.close()
            if found != stream:
                raise SettingError(
                    f"{self.path} holds batches of another stream, or of this one before its checkpoint was removed; "
                    "choose another path, or the checkpoint that belongs to it"
                )
        elif any(name[0] not in "_." for name in self._listed(files, path)):  # those are passed over by readers
            raise SettingError(f"{self.path} is not empty, and not from a stream; choose a path that is new or empty")
        else:
            target = files.create(owner, True)
            target.write(json.dumps({"stream": stream}).encode())
            target.close()
        for name in self._listed(files, path):
            if name.startswith(WRITING):  # left by a process that was killed
                files.delete(path(f"{self.path}/{name}"), True)

    def write(self, matches: DataFrame, batch: Batch) -> None:
        if COLUMN in matches.columns:
            raise SettingError(
                f"the matches have a column {COLUMN!r}, and so do the folders of {self.path}; rename that of "
                "the events or subscriptions"
            )
        files, path = self._files(matches.sparkSession)
        final = path(f"{self.path}/{COLUMN}={batch.number}")
        if files.exists(final):
            log.info("batch %d is in %s already, and is left as it is", batch.number, self.path)
            return
        begun = f"{self.path}/{WRITING}{batch.number}-{uuid4().hex}"  # of this attempt alone
        try:
            matches.write.format(self.format).options(**self.options).save(begun)
            if not files.rename(path(begun), final):
                raise StoreError(f"{begun} cannot be renamed to {COLUMN}={batch.number}")
        except BaseException:
            files.delete(path(begun), True)
            raise

    def _files(self, spark: SparkSession) -> tuple[Any, Any]:
        files, path, _ = hadoop_files(spark, self.path)
        return files, path

    def _listed(self, files: Any, path: Any) -> list[str]:
        if not files.exists(path(self.path)):
            return []
        return [str(each.getPath().getName()) for each in files.listStatus(path(self.path))]


class ParquetSink(FilesSink):
    """Parquet files, a folder for each batch."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
