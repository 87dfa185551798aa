"""Subscriptions from a DataFrame into a folder: parsed and compiled on executors, written by the driver as one version.

The rows are divided by their ids, so that a task sees all rows of an id; each task sends a finished segment file in
pieces. Between the tasks and the driver lies a shuffle: so all tasks run side by side before the driver takes the first
piece, each piece is asked for by itself, and no shared file system is needed. Whatever fails, nothing is changed.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.analysis.latent import LatentSpace
from tidings.analysis.statistics import TextStatistics
from tidings.errors import IdentifierError, RefusedError, SettingError
from tidings.index.array_file import open_arrays
from tidings.index.changes import COMPILED, Change
from tidings.index.columns import IdColumn
from tidings.index.folder import Writer, holds_index, read_version
from tidings.index.layout import Array
from tidings.model.event import Identifier
from tidings.spark.building import Building, built
from tidings.spark.index import IDS_NOTE, INTEGERS, TEXTS
from tidings.spark.metadata import metadata_schema, must_fit, schema_note
from tidings.spark.places import place_of
from tidings.spark.progress import shown_progress
from tidings.spark.reaching import reached_folder
from tidings.spark.tasks import in_parts, one_by_one
from tidings.store import Contents, Wanted, settings_of, settings_record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import DataType, StructType

MOST_SEGMENTS = 8  # unless more are asked for: each one is asked about each event
REFUSED_SHOWN = 3
REPORT, RAISE = "report", "raise"


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """The version that was made, what was added to the one before, and the rows that were refused."""

    path: str
    version: int
    added: int
    replaced: int
    refused: int
    errors: DataFrame  # id, where, position, message
    seconds: float


@dataclass(frozen=True, slots=True)
class Removed:
    """The version that was made, how many subscriptions were removed, and how many ids were not there."""

    path: str
    version: int
    removed: int
    missing: int
    seconds: float


def compile_index(
    subscriptions: DataFrame,
    path: str | os.PathLike[str],
    *,
    analyser: str | None = None,
    statistics: TextStatistics | None = None,
    latent: LatentSpace | None = None,
    replace: bool = False,
    instead: bool = False,
    on_error: str = REPORT,
    segments: int | None = None,
    progress: bool = True,
) -> Compiled:
    """Adds the subscriptions of a table (`id`, `where`, and further columns, which are kept) to the index at a path.

    A row that cannot be added is in `errors` of the result; `on_error="raise"` raises instead, and changes nothing. An
    id that the index has already is such a row, unless `replace`. With `instead`, the new version has the subscriptions
    of the table and no others. `segments` is how many tasks compile, and how many files there are of it; without it, as
    many as Spark finds worth while, up to 8.
    """
    if on_error not in (REPORT, RAISE):
        raise SettingError(f"on_error is {REPORT!r} or {RAISE!r}, not {on_error!r}")
    if segments is not None and segments < 1:
        raise SettingError(f"segments is a number of tasks, 1 or more, not {segments}")
    start = time.perf_counter()
    spark = subscriptions.sparkSession
    job = Job(spark, *rows_of(subscriptions), replace, on_error, segments, progress)
    with place_of(spark, path).writable() as folder:
        wanted = Wanted(analyser, statistics, latent)
        change = (_made_anew if instead else _changed) if holds_index(folder) else _created
        number = change(folder, job, wanted)
    return Compiled(
        os.fspath(path),
        number,
        job.added,
        job.replaced,
        len(job.errors),
        job.error_table(),
        time.perf_counter() - start,
    )


def remove_ids(spark: SparkSession, path: str | os.PathLike[str], ids: DataFrame | Iterable[Identifier]) -> Removed:
    """Removes subscriptions from the index at a path: by the first column of a table, or by the ids themselves.

    Writes the ids only. Those that are not there are counted.
    """
    start = time.perf_counter()
    wanted = dict.fromkeys(_listed(ids))
    with place_of(spark, path).writable() as folder, Writer.open(folder) as writer:
        found = _present(Contents(folder, *read_version(folder)), list(wanted))
        if found:
            change = Change.of(found, {})
            name = writer.write_segment(change.arrays(), change.notes())
            writer.commit([*writer.version.segments, name])
        number = writer.version.number
    return Removed(os.fspath(path), number, len(found), len(wanted) - len(found), time.perf_counter() - start)


def _listed(ids: Any) -> list[Identifier]:
    if hasattr(ids, "sparkSession"):
        field = ids.schema.fields[0]
        column = _by_position(ids).select(_as_id("c0", field.name, field.dataType)).distinct()
        return [row[0] for row in one_by_one(column) if row[0] is not None]
    listed = list(ids)
    for id in listed:
        if not isinstance(id, str) and type(id) is not int:
            raise IdentifierError(f"an id is a string or a 64-bit integer, not {id!r} ({type(id).__name__})")
    return listed


def _present(contents: Contents, ids: list[Identifier]) -> list[Identifier]:
    """Those of the ids that the version has."""
    found = {id for id in ids if id in contents.recent}
    for kind in (str, int):
        some = [id for id in ids if isinstance(id, kind)]
        for part in contents.parts:
            found.update(id for id, number in zip(some, part.find_many(some).tolist(), strict=True) if number >= 0)
    return [id for id in ids if id in found]


# The table


def rows_of(subscriptions: DataFrame) -> tuple[DataFrame, str, StructType]:
    """The columns id, where and further ones, in this order and under names of which none can be wrong; the type of the
    ids; the schema of the further columns."""
    from pyspark.sql.functions import col
    from pyspark.sql.types import StringType, StructType

    if subscriptions.isStreaming:
        raise SettingError("subscriptions are compiled from a table, not from a stream; compile each of its batches")
    names = subscriptions.columns
    for name in ("id", "where"):
        if names.count(name) != 1:
            have = ", ".join(names)
            raise SettingError(f"a table of subscriptions has one column {name!r}; this one has the columns {have}")
    fields = dict(zip(names, subscriptions.schema.fields, strict=True))
    if not isinstance(fields["where"].dataType, StringType):
        given = fields["where"].dataType.simpleString()
        raise SettingError(f"the column 'where' of the subscriptions is {given}; it is a string, a condition")
    id, where = (names.index(name) for name in ("id", "where"))
    further = [number for number in range(len(names)) if number not in (id, where)]
    schema = StructType([subscriptions.schema.fields[number] for number in further])
    if len(set(schema.names)) < len(further):
        raise SettingError(
            f"two further columns of the subscriptions have one name: {', '.join(schema.names)}; rename one"
        )
    columns = [_as_id(f"c{id}", "id", fields["id"].dataType).alias("id"), col(f"c{where}").alias("where")]
    columns += [col(f"c{number}") for number in further]
    chosen = _by_position(subscriptions).select(*columns)
    return chosen, TEXTS if isinstance(fields["id"].dataType, StringType) else INTEGERS, schema


def _by_position(table: DataFrame) -> DataFrame:
    """The table with its columns named by their numbers: Spark reads dots, and ignores case, in names."""
    return table.toDF(*[f"c{number}" for number in range(len(table.columns))])


def _as_id(column: str, name: str, kind: DataType) -> Any:
    from pyspark.sql.functions import col
    from pyspark.sql.types import IntegralType, StringType

    if not isinstance(kind, StringType | IntegralType):
        raise IdentifierError(
            f"the column {name!r} is {kind.simpleString()}; ids are strings or integers of up to 64 bits: cast it"
        )
    return col(column) if isinstance(kind, StringType) else col(column).cast(INTEGERS)


# The job


@dataclass(slots=True)
class Job:
    """The work on executors, and what came of it."""

    spark: SparkSession
    table: DataFrame
    id_type: str
    metadata: StructType
    replace: bool
    on_error: str
    segments: int | None
    progress: bool
    added: int = 0
    replaced: int = 0
    errors: list[Row] = field(default_factory=list)

    def received(
        self, settings: Mapping[str, Any], taken: Path | None
    ) -> Iterator[tuple[dict[str, Array], Mapping[str, Any]]]:
        """Arrays and notes of the segments, whole, when all have arrived; `taken` is the folder to add to."""
        files = reached_folder(self.spark, taken) if taken is not None else None
        building = Building(settings, files, self.replace, self.id_type, schema_note(self.metadata))
        with tempfile.TemporaryDirectory(prefix="tidings-") as name:
            with shown_progress(self.spark, "compiling subscriptions", self.progress):
                paths = self._collected(one_by_one(self._pieces(building)), Path(name))
            if self.errors and self.on_error == RAISE:
                raise self._refused()
            for path in paths:
                file = open_arrays(path)
                file.verify()
                replaced = len(IdColumn.from_arrays("removed", file.arrays))
                self.added += int(file.notes["subscriptions"]) - replaced
                self.replaced += replaced
                yield dict(file.arrays), file.notes

    def _pieces(self, building: Building) -> DataFrame:
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
        return in_parts(divided.mapInArrow(work, self._rows_schema()), "segment", "group")

    def _rows_schema(self) -> str:
        return (
            f"segment int, group int, place bigint, data binary, id {self.id_type}, where string, position int, "
            "message string"
        )

    def _collected(self, rows: Iterator[Row], folder: Path) -> list[Path]:
        """Writes the pieces where they belong, and gives the files in the order of their tasks."""
        paths: dict[int, Path] = {}
        with ExitStack() as stack:
            open_files: dict[int, Any] = {}
            for row in rows:
                if row.data is None:
                    self.errors.append(row)
                    continue
                if row.segment not in open_files:
                    paths[row.segment] = folder / str(row.segment)
                    open_files[row.segment] = stack.enter_context(paths[row.segment].open("wb"))
                open_files[row.segment].seek(row.place)
                open_files[row.segment].write(row.data)
        return [paths[segment] for segment in sorted(paths)]

    def error_table(self) -> DataFrame:
        columns = ("id", "where", "position", "message")
        rows = [tuple(row[name] for name in columns) for row in self.errors]
        schema = f"id {self.id_type}, where string, position int, message string"
        return self.spark.createDataFrame(rows, schema)

    def _refused(self) -> RefusedError:
        shown = "\n".join(f"id {row.id!r}: {row.message}" for row in self.errors[:REFUSED_SHOWN])
        more = f"\nand {len(self.errors) - REFUSED_SHOWN} more, in .refused" if len(self.errors) > REFUSED_SHOWN else ""
        message = f"{len(self.errors)} subscriptions were refused, and nothing was changed.\n"
        return RefusedError(message + shown + more, tuple(self.errors))


# The folder


def _created(folder: Path, job: Job, wanted: Wanted) -> int:
    record = settings_record(wanted.settings()) | {IDS_NOTE: job.id_type}
    with Writer.create(folder, record, job.received(record, None)) as writer:
        return writer.version.number


def _made_anew(folder: Path, job: Job, wanted: Wanted) -> int:
    """A version without anything of the one before but its settings."""
    with Writer.open(folder) as writer:
        known = settings_of(writer.version.settings, folder)
        wanted.must_be(known, folder)
        record = {**writer.version.settings, IDS_NOTE: job.id_type}
        made = [writer.write_segment(arrays, notes) for arrays, notes in job.received(record, None)]
        return writer.commit(made, record).number


def _changed(folder: Path, job: Job, wanted: Wanted) -> int:
    """Adds to what there is. Compiled segments stand before the small changes of a Matcher, which go on doing so: what
    those remove is removed by the first new segment, and what they add is written once more, without what is replaced.
    """
    with Writer.open(folder) as writer:
        wanted.must_be(settings_of(writer.version.settings, folder), folder)
        version, files = read_version(folder)
        must_fit(job.metadata, metadata_schema(files))
        contents = Contents(folder, version, files)
        _must_be_of_kind(contents, job.id_type)
        parts = [str(part.file) for part in contents.parts]
        changes = [Change.from_file(file) for file in files if not file.notes[COMPILED]]
        removed = [id for change in changes for id in change.removed]
        if not any(len(part) for part in contents.parts):  # its ids may have been of the other kind
            parts, removed = [], []
        replaced: set[Identifier] = set()
        for arrays, notes in job.received(version.settings, folder):
            here = IdColumn.from_arrays("removed", arrays)
            replaced.update(here)
            all_removed = IdColumn.of([*dict.fromkeys([*here, *removed])])
            removed = []  # once is enough
            parts.append(writer.write_segment(_without_removed(arrays) | all_removed.arrays("removed"), notes))
        if job.added or job.replaced:
            recent = {id: where for id, where in contents.recent.items() if id not in replaced}
            writer.commit([*parts, *([_written(writer, Change.of((), recent))] if recent else [])])
        return writer.version.number


def _without_removed(arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name: array for name, array in arrays.items() if name.partition("_")[0] != "removed"}


def _written(writer: Writer, change: Change) -> str:
    return writer.write_segment(change.arrays(), change.notes())


def _must_be_of_kind(contents: Contents, id_type: str) -> None:
    some = next((part.ids.column for part in contents.parts if len(part)), None) or next(iter(contents.recent), None)
    if some is None:
        return
    are_texts = some.are_texts if isinstance(some, IdColumn) else isinstance(some, str)
    if are_texts != (id_type == TEXTS):
        have, given = ("strings", "integers") if are_texts else ("integers", "strings")
        raise IdentifierError(f"the ids of the index are {have}, and those of the table {given}; cast the column 'id'")
