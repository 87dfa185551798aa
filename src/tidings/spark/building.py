"""What a task does to compile subscriptions: rows in, the bytes of one segment file and the rows that were refused out.

The same rows give the same file, whatever their order: they are sorted first. So the parts of a file may reach the
driver from two attempts of a task, as happens when an executor is lost.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tidings.errors import SubscriptionError, TidingsError
from tidings.language.parser import Asked, Unbound, collecting_young_only, parse, read
from tidings.model.predicates import Expression
from tidings.reference import Settings, check_answerable
from tidings.spark.attributes import NOTE, add_attributes
from tidings.spark.files import IndexFiles
from tidings.spark.metadata import ARRAY, metadata_bytes
from tidings.spark.opening import choose_kernel_cache, opened
from tidings.store import learned_of, settings_of

if TYPE_CHECKING:
    import pyarrow

    from tidings.index.part import Part

PIECE = 2**20  # bytes of a file in one row
GROUP = 2**25  # bytes that one task hands to the driver, about: all of it is in the driver's memory at once
ROWS = 8_192  # rows that become Python objects together
SAMPLED = 1_000  # subscriptions that say what is asked for; they are parsed twice
SHOWN = 1_000  # characters of a refused text, and of what is wrong with it
COLUMNS = ("segment", "group", "place", "data", "id", "where", "position", "message")


@dataclass(frozen=True, slots=True)
class Building:
    """What a task is told: the settings of the index as it records them, which identifiers are taken, and the schema of
    the further columns, for the notes."""

    settings: Mapping[str, Any]
    taken: IndexFiles | None
    replace: bool
    id_type: str
    metadata_note: dict[str, Any]

    @property
    def further(self) -> list[str]:
        return [field["name"] for field in self.metadata_note[ARRAY]]


@dataclass(slots=True)
class Refusals:
    """The rows that were refused, as columns."""

    id: list[Any]
    where: list[str | None]
    position: list[int | None]
    message: list[str]

    def add(self, id: Any, where: str | None, error: TidingsError | str) -> None:
        self.id.append(id)
        self.where.append(_shown(where))
        self.position.append(error.position if isinstance(error, SubscriptionError) else None)
        self.message.append(str(_shown(str(error))))


def built(building: Building, segment: int, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Batches have `id`, `where` and the further columns, in this order; all rows of one identifier are in one task."""
    import pyarrow as pa
    import pyarrow.compute as pc

    choose_kernel_cache()
    kept = list(batches)
    if not kept:
        return
    refusals = Refusals([], [], [], [])
    table = _unique(pa.Table.from_batches(kept), refusals).sort_by("id")
    replaced = _replaced(building, table, refusals)
    part, attributes = _part(building, table, refusals)
    if len(part):
        rows = pc.index_in(part.ids.column.arrow().cast(table["id"].type), table["id"].combine_chunks())
        further = table.drop(["id", "where"]).take(rows).rename_columns(building.further)
        notes = building.metadata_note | {NOTE: sorted(attributes)}
        yield from _pieces(building, segment, part, sorted(id for id in replaced if part.find(id) >= 0), further, notes)
    yield from _refused(building, segment, refusals)


# Which rows are taken


def _unique(table: pyarrow.Table, refusals: Refusals) -> pyarrow.Table:
    """The rows whose identifier is there, and occurs once: among several, Spark has no first and no last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    there = pc.is_valid(table["id"])
    for where in table.filter(pc.invert(there))["where"].to_pylist():
        refusals.add(None, where, "the id is null; a subscription has an id, a string or an integer")
    table = table.filter(there)
    counted = table["id"].value_counts()
    values, counts = counted.field("values"), counted.field("counts")
    if not len(counts) or pc.max(counts).as_py() == 1:
        return table
    repeated = dict(zip(*(each.filter(pc.greater(counts, 1)).to_pylist() for each in (values, counts)), strict=True))
    double = pc.is_in(table["id"], pa.array(list(repeated), table["id"].type))
    for id, where in _rows(table.filter(double)):
        refusals.add(id, where, f"the id {id!r} stands {repeated[id]} times in the table; none of them was added")
    return table.filter(pc.invert(double))


def _replaced(building: Building, table: pyarrow.Table, refusals: Refusals) -> set[Any]:
    """The identifiers that the index has already."""
    if building.taken is None:
        return set()
    index = opened(building.taken).compiled
    ids = table["id"].to_pylist()
    found = index.among(ids)
    if building.replace:
        return found
    for id, where in _rows(table):
        if id in found:
            refusals.add(id, where, f"the id {id!r} is taken; remove it first, or compile with replace=True")
    return found


def _part(building: Building, table: pyarrow.Table, refusals: Refusals) -> tuple[Part, set[str]]:
    """The compiled rows, without those that are refused here or were before; and the attributes they ask about."""
    from tidings.index.part import PartBuilder
    from tidings.planning.statistics import learn_from_subscriptions

    refused = set(refusals.id)
    sample = table["where"].take(np.arange(0, table.num_rows, max(1, table.num_rows // SAMPLED)))
    known = [expression for text in sample.to_pylist() if (expression := _readable(text)) is not None]
    settings = settings_of(building.settings, Path("the index"))
    learned = learned_of(building.settings, Path("the index")) or learn_from_subscriptions(known)
    builder, attributes = PartBuilder(learned, settings), set[str]()
    for id, where in collecting_young_only(_rows(table)):
        if id in refused:
            continue
        try:
            asked = _answerable(where, settings)
        except TidingsError as error:
            refusals.add(id, where, error)
            continue
        builder.add(id, where, asked)
        add_attributes(asked, attributes)
    return builder.part(), attributes


def _rows(table: pyarrow.Table) -> Iterator[tuple[Any, Any]]:
    for batch in table.select(["id", "where"]).to_batches(ROWS):
        yield from zip(batch["id"].to_pylist(), batch["where"].to_pylist(), strict=True)


def _answerable(where: str | None, settings: Settings) -> Asked:
    if where is None:
        raise TidingsError("where is null; it is the text of a condition")
    asked = read(where)
    if not isinstance(asked, Unbound):  # comparisons can always be answered
        check_answerable(asked, settings)
    return asked


def _readable(where: str | None) -> Expression | None:
    try:
        return None if where is None else parse(where)
    except TidingsError:
        return None


def _shown(text: str | None) -> str | None:
    return text if text is None or len(text) <= SHOWN else text[: SHOWN - 1] + "…"


# What goes to the driver


def _pieces(
    building: Building, segment: int, part: Part, replaced: list[Any], further: pyarrow.Table, notes: dict[str, Any]
) -> Iterator[pyarrow.RecordBatch]:
    """The segment file, in rows: where in the file they begin, and bytes."""
    from tidings.index.array_file import write_arrays
    from tidings.index.columns import IdColumn

    arrays = part.arrays() | IdColumn.of(replaced).arrays("removed")
    if further.num_columns:
        arrays[ARRAY] = metadata_bytes(further)
    with tempfile.TemporaryDirectory(prefix="tidings-") as folder:
        path = Path(folder) / "segment"
        write_arrays(path, arrays, part.notes() | notes)
        with path.open("rb") as file:
            place = 0
            while piece := file.read(PIECE):
                yield _batch(building, 1, segment=segment, group=place // GROUP, place=place, data=piece)
                place += len(piece)


def _refused(building: Building, segment: int, refusals: Refusals) -> Iterator[pyarrow.RecordBatch]:
    for start in range(0, len(refusals.id), ROWS):
        some = slice(start, start + ROWS)
        yield _batch(
            building,
            len(refusals.id[some]),
            segment=segment,
            group=-1 - start // ROWS,
            id=refusals.id[some],
            where=refusals.where[some],
            position=refusals.position[some],
            message=refusals.message[some],
        )


def _batch(building: Building, rows: int, **columns: Any) -> pyarrow.RecordBatch:
    """A batch of `rows_schema`; a single value stands for all rows, a column not named is null."""
    import pyarrow as pa

    id_type = pa.string() if building.id_type == "string" else pa.int64()
    types = (pa.int32(), pa.int32(), pa.int64(), pa.binary(), id_type, pa.string(), pa.int32(), pa.string())
    given = [columns.get(name) for name in COLUMNS]
    made = [each if isinstance(each, list) else [each] * rows for each in given]
    return pa.RecordBatch.from_arrays([pa.array(each, kind) for each, kind in zip(made, types, strict=True)], COLUMNS)
