"""Two ways to match the demo's batches: a stream on Spark, and the embedded matcher. They deliver the same."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tidings import Matcher, SubscriptionError
from tidings.demo.data import EVENT_SCHEMA, Wish
from tidings.model.result import EventProblem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Refused:
    id: str
    message: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """What came of one batch: pairs of event and subscription, by which version of the index, and in what time."""

    events: int
    pairs: tuple[tuple[str, str], ...]
    version: int
    seconds: float


class Engine(Protocol):
    """Subscriptions in, batches of events in, pairs out."""

    def add(self, wishes: Sequence[Wish]) -> tuple[Refused, ...]: ...

    def remove(self, ids: Sequence[str]) -> None: ...

    def deliver(self, events: Sequence[Event]) -> Delivered: ...

    def matcher(self) -> Matcher:
        """The subscriptions as they are now, to explain by."""
        ...


class EmbeddedEngine:
    """The matcher of one process, which asks so few subscriptions one by one: the definition of a match at work."""

    def __init__(self) -> None:
        self._matcher = Matcher()
        self._version = 0
        self.problems: list[EventProblem] = []  # what could not be read so far

    def add(self, wishes: Sequence[Wish]) -> tuple[Refused, ...]:
        refused = []
        for wish in wishes:
            try:
                self._matcher.add(wish.id, wish.where)
            except SubscriptionError as error:
                refused.append(Refused(wish.id, str(error)))
        self._version += 1
        return tuple(refused)

    def remove(self, ids: Sequence[str]) -> None:
        for id in ids:
            self._matcher.remove(id)
        self._version += 1

    def deliver(self, events: Sequence[Event]) -> Delivered:
        start = time.perf_counter()
        results = [self._matcher.match(event) for event in events]
        seconds = time.perf_counter() - start
        self.problems += [problem for result in results for problem in result.errors]
        pairs = [
            (str(event["id"]), str(id)) for event, result in zip(events, results, strict=True) for id in result.ids
        ]
        return Delivered(len(events), tuple(pairs), self._version, seconds)

    def matcher(self) -> Matcher:
        return self._matcher


@dataclass(slots=True)
class SparkEngine:
    """A stream that watches a folder: each batch of events is a file that is put there.

    A batch is matched with the newest version of the index, as it is when the batch begins.
    """

    spark: SparkSession
    folder: Path
    _query: Any = None
    _files: int = 0
    _took: list[tuple[float, int]] = field(default_factory=list)  # seconds of a batch, and the version of the index

    @property
    def index(self) -> Path:
        return self.folder / "index"

    @property
    def inbox(self) -> Path:
        return self.folder / "events"

    @property
    def matches(self) -> Path:
        return self.folder / "matches"

    def add(self, wishes: Sequence[Wish]) -> tuple[Refused, ...]:
        from tidings.spark import compile_index

        rows = [(wish.id, wish.where, wish.subscriber) for wish in wishes]
        table = self.spark.createDataFrame(rows, "id string, where string, subscriber string").coalesce(1)
        made = compile_index(table, self.index, segments=1, progress=False)
        return tuple(Refused(row.id, row.message) for row in made.errors.collect()) if made.refused else ()

    def remove(self, ids: Sequence[str]) -> None:
        from tidings.spark import remove_ids

        remove_ids(self.spark, self.index, ids)

    @contextmanager
    def streaming(self) -> Iterator[SparkEngine]:
        self.inbox.mkdir(parents=True)
        arriving = self.spark.readStream.schema(EVENT_SCHEMA).json(str(self.inbox))
        writer = arriving.writeStream.foreachBatch(self._batch).trigger(processingTime="100 milliseconds")
        self._query = writer.option("checkpointLocation", str(self.folder / "checkpoint")).start()
        try:
            yield self
        finally:
            self._query.stop()

    def _batch(self, events: DataFrame, number: int) -> None:
        from tidings.spark import match, open_index

        start = time.perf_counter()
        with open_index(self.spark, self.index) as index:
            found = match(events, index, event_columns=["kind"], subscription_columns=["subscriber"])
            found.write.mode("overwrite").parquet(str(self.matches / f"batch={number}"))
            self._took.append((time.perf_counter() - start, index.version.number))

    def deliver(self, events: Sequence[Event]) -> Delivered:
        number = self._files
        self._files += 1
        begun = self.folder / "arriving"
        begun.write_text("".join(json.dumps(event, default=_written) + "\n" for event in events), encoding="utf-8")
        begun.rename(self.inbox / f"{number:03}.json")  # whole, or not there
        self._query.processAllAvailable()
        seconds, version = self._took[number]
        return Delivered(len(events), self._pairs(number), version, seconds)

    def _pairs(self, number: int) -> tuple[tuple[str, str], ...]:
        import pyarrow.parquet as pq

        table = pq.read_table(self.matches / f"batch={number}", partitioning=None)
        ids = zip(table["event_id"].to_pylist(), table["subscription_id"].to_pylist(), strict=True)
        return tuple(ids)

    def matcher(self) -> Matcher:
        return Matcher.load(self.index)


def _written(value: Any) -> str:
    assert isinstance(value, datetime)
    return value.isoformat()
