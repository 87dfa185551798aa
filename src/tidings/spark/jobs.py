"""The work of making subscriptions into segments, on executors, and what came of it.

The rows are divided by their ids, so that a task sees all rows of an id; each task sends a finished segment file in
pieces. Between the tasks and the driver lies a shuffle: so all tasks run side by side before the driver takes the first
piece, each piece is asked for by itself, and no shared file system is needed.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.index.array_file import ArrayFile, open_arrays
from tidings.index.changes import COMPILED
from tidings.index.columns import IdColumn
from tidings.index.layout import Array
from tidings.spark import pieces
from tidings.spark.building import Building, built
from tidings.spark.metadata import schema_note
from tidings.spark.progress import shown_progress
from tidings.spark.reaching import files_in, reached
from tidings.spark.refused import RefusedRows
from tidings.spark.shipping import Use
from tidings.spark.tasks import in_parts, one_by_one

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

MOST_SEGMENTS = 8  # unless more are asked for: each one is asked about each event
Made = tuple[dict[str, Array], Mapping[str, Any]]  # arrays and notes of a segment


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """The version that was made, what was added to the one before, and the rows that were refused."""

    path: str
    version: int
    added: int
    replaced: int
    refused: int
    seconds: float
    _rows: RefusedRows = field(repr=False)
    _spark: SparkSession = field(repr=False)

    @property
    def errors(self) -> DataFrame:
        """The refused rows: id, where, position, message."""
        return self._rows.table(self._spark)


@dataclass(slots=True)
class Job:
    """A table of subscriptions, and how it is to be compiled. `raising` is what refused rows lead to."""

    spark: SparkSession
    table: DataFrame
    id_type: str
    metadata: StructType
    replace: bool
    raising: bool
    segments: int | None
    uncompiled: int
    progress: bool
    added: int = 0
    replaced: int = 0
    refused: RefusedRows = field(init=False)

    def received(
        self, settings: Mapping[str, Any], taken: Path | None = None, uncompiled: int | None = None
    ) -> Iterator[Made]:
        """The segments, whole, when all have arrived. `taken` is the folder to add to, and `uncompiled` how many
        subscriptions may stay so: either all of them, or none.

        A task does not know what the others have. Where all together are too many to stay as they are, they are
        compiled in a second run; so few rows take no time.
        """
        most = self.uncompiled if uncompiled is None else uncompiled
        with Use() as use, tempfile.TemporaryDirectory(prefix="tidings-") as name:
            files = reached(self.spark, files_in(taken), use)[0] if taken is not None else None
            building = Building(settings, files, self.replace, self.id_type, schema_note(self.metadata), most)
            with shown_progress(self.spark, "compiling subscriptions", self.progress):
                made = self._made(building, Path(name))
                waiting = [int(file.notes["subscriptions"]) for file in made if not file.notes[COMPILED]]
                if waiting and (len(waiting) < len(made) or sum(waiting) > most):
                    again = Path(name) / "again"  # what came first is mapped
                    again.mkdir()
                    made = self._made(replace(building, uncompiled=0), again)
            if self.raising and self.refused.count:
                raise self.refused.error()
            for file in made:
                file.verify()
                replaced = len(IdColumn.from_arrays("removed", file.arrays))
                self.added += int(file.notes["subscriptions"]) - replaced
                self.replaced += replaced
                yield dict(file.arrays), file.notes

    def compiled(self, path: str | os.PathLike[str], version: int, start: float) -> Compiled:
        """What came of it, since `start`."""
        counts = (self.added, self.replaced, self.refused.count)
        return Compiled(os.fspath(path), version, *counts, time.perf_counter() - start, self.refused, self.spark)

    def _made(self, building: Building, folder: Path) -> list[ArrayFile]:
        def work(batches: Iterable[Any]) -> Iterator[Any]:
            from pyspark import TaskContext

            context = TaskContext.get()
            assert context is not None
            return built(building, context.partitionId(), batches)

        if self.segments is None:
            # Spark makes fewer and larger tasks of a small table, where adaptive execution is on.
            divided = self.table.repartition("id").coalesce(MOST_SEGMENTS)
        else:
            divided = self.table.repartition(self.segments, "id")
        sent = in_parts(divided.mapInArrow(work, pieces.schema(self.id_type)), "segment", "group")
        self.refused = RefusedRows(self.id_type)
        return [open_arrays(path) for path in pieces.received(one_by_one(sent), folder, self.refused.add).values()]
