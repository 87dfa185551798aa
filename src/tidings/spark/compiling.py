"""Subscriptions from a DataFrame into a folder: made into segments on executors (`jobs`), one version by the driver.

Few subscriptions are not compiled: as those that a Matcher has added last, they are asked one by one, until there are
more than a few in all. Whatever fails, nothing is changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.analysis.latent import LatentSpace
from tidings.analysis.statistics import TextStatistics
from tidings.errors import IdentifierError, SettingError
from tidings.index.array_file import ArrayFile
from tidings.index.changes import COMPILED, Change
from tidings.index.columns import IdColumn
from tidings.index.folder import Writer, holds_index, read_version
from tidings.index.layout import Array
from tidings.matcher import UNCOMPILED
from tidings.model.event import Identifier
from tidings.spark.columns import numbered
from tidings.spark.index import IDS_NOTE, INTEGERS, TEXTS
from tidings.spark.jobs import Compiled, Job, Made
from tidings.spark.metadata import ARRAY, metadata_schema, must_fit, schema_note, with_columns_of
from tidings.spark.places import place_of
from tidings.spark.tasks import one_by_one
from tidings.spark.uncompiled import uncompiled_again
from tidings.store import MOST_CHANGES, Contents, Wanted, settings_of, settings_record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

REPORT, RAISE = "report", "raise"


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
    uncompiled: int = UNCOMPILED,
    progress: bool = True,
) -> Compiled:
    """Adds the subscriptions of a table (`id`, `where`, and further columns, which are kept) to the index at a path.

    A row that cannot be added is in `errors` of the result; `on_error="raise"` raises instead, and changes nothing. An
    id that the index has already is such a row, unless `replace`. With `instead`, the new version has the subscriptions
    of the table and no others. `segments` is how many tasks compile, and how many files there are of it; without it, as
    many as Spark finds worth while, up to 8. `uncompiled` is how many subscriptions an index may have that are asked
    one by one: what would make them more is compiled.
    """
    if on_error not in (REPORT, RAISE):
        raise SettingError(f"on_error is {REPORT!r} or {RAISE!r}, not {on_error!r}")
    if segments is not None and segments < 1:
        raise SettingError(f"segments is a number of tasks, 1 or more, not {segments}")
    if uncompiled < 0:
        raise SettingError(f"uncompiled is a number of subscriptions, 0 or more, not {uncompiled}")
    start = time.perf_counter()
    spark = subscriptions.sparkSession
    job = Job(spark, *rows_of(subscriptions), replace, on_error == RAISE, segments, uncompiled, progress)
    with place_of(spark, path).writable() as folder:
        wanted = Wanted(analyser, statistics, latent)
        change = (_made_anew if instead else _changed) if holds_index(folder) else _created
        number = change(folder, job, wanted)
    return job.compiled(path, number, start)


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
        column = numbered(ids).select(_as_id("c0", field.name, field.dataType)).distinct()
        return [row[0] for row in one_by_one(column) if row[0] is not None]
    if isinstance(ids, str | bytes | int):
        raise IdentifierError(
            f"ids is a DataFrame or several ids, such as ['a', 'b'], not {ids!r}; a single id stands in a list too"
        )
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
    chosen = numbered(subscriptions).select(*columns)
    return chosen, TEXTS if isinstance(fields["id"].dataType, StringType) else INTEGERS, schema


def _as_id(column: str, name: str, kind: DataType) -> Any:
    from pyspark.sql.functions import col
    from pyspark.sql.types import IntegralType, StringType

    if not isinstance(kind, StringType | IntegralType):
        raise IdentifierError(
            f"the column {name!r} is {kind.simpleString()}; ids are strings or integers of up to 64 bits: cast it"
        )
    return col(column) if isinstance(kind, StringType) else col(column).cast(INTEGERS)


# The folder


def _created(folder: Path, job: Job, wanted: Wanted) -> int:
    record = settings_record(wanted.settings()) | {IDS_NOTE: job.id_type} | schema_note(job.metadata)
    with Writer.create(folder, record, job.received(record)) as writer:
        return writer.version.number


def _made_anew(folder: Path, job: Job, wanted: Wanted) -> int:
    """A version without anything of the one before but its settings."""
    with Writer.open(folder) as writer:
        known = settings_of(writer.version.settings, folder)
        wanted.must_be(known, folder)
        record = {**writer.version.settings, IDS_NOTE: job.id_type, **schema_note(job.metadata)}
        made = [writer.write_segment(arrays, notes) for arrays, notes in job.received(record)]
        return writer.commit(made, record).number


def _changed(folder: Path, job: Job, wanted: Wanted) -> int:
    """Adds to what there is: few subscriptions behind all that was there; compiled ones behind what is compiled."""
    with Writer.open(folder) as writer:
        wanted.must_be(settings_of(writer.version.settings, folder), folder)
        version, files = read_version(folder)
        columns = metadata_schema(version, files)
        must_fit(job.metadata, columns)
        contents = Contents(folder, version, files)
        _must_be_of_kind(contents, job.id_type)
        if not contents.recent and not any(map(len, contents.parts)):
            files, contents = (), Contents(folder, replace(version, segments=()), ())  # ids of both kinds do not mix
        room = job.uncompiled - len(contents.recent) if len(contents.changes) < MOST_CHANGES else 0
        made = list(job.received(version.settings, folder, max(0, room)))
        if any(notes[COMPILED] for _, notes in made):
            segments = _behind_compiled(writer, contents, files, made)
        else:
            before = version.segments if files else ()
            segments = [*before, *(writer.write_segment(arrays, notes) for arrays, notes in made)]
        record = {**version.settings, **schema_note(with_columns_of(columns, job.metadata))}
        if made or record[ARRAY] != version.settings.get(ARRAY):
            writer.commit(segments, record)
        return writer.version.number


def _behind_compiled(writer: Writer, contents: Contents, files: Sequence[ArrayFile], made: Sequence[Made]) -> list[str]:
    """The segments of an index with compiled ones more. Those stand before what is not compiled, as a Matcher has them:
    what that removes is removed by the first new one, and what it adds is written once more, without what is replaced.
    """
    changes = [Change.from_file(file) for file in files if not file.notes[COMPILED]]
    removed = dict.fromkeys(id for change in changes for id in change.removed)
    segments, replaced = [str(part.file) for part in contents.parts], set[Identifier]()
    for arrays, notes in made:
        here = IdColumn.from_arrays("removed", arrays)
        replaced.update(here)
        all_removed = IdColumn.of([*dict.fromkeys([*here, *removed])])
        removed = {}  # once is enough
        segments.append(writer.write_segment(_without_removed(arrays) | all_removed.arrays("removed"), notes))
    recent = {id: where for id, where in contents.recent.items() if id not in replaced}
    return [*segments, *(writer.write_segment(arrays, notes) for arrays, notes in uncompiled_again(files, recent))]


def _without_removed(arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name: array for name, array in arrays.items() if name.partition("_")[0] != "removed"}


def _must_be_of_kind(contents: Contents, id_type: str) -> None:
    some = next((part.ids.column for part in contents.parts if len(part)), None) or next(iter(contents.recent), None)
    if some is None:
        return
    are_texts = some.are_texts if isinstance(some, IdColumn) else isinstance(some, str)
    if are_texts != (id_type == TEXTS):
        have, given = ("strings", "integers") if are_texts else ("integers", "strings")
        raise IdentifierError(f"the ids of the index are {have}, and those of the table {given}; cast the column 'id'")
