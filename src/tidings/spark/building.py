"""What a task does to compile subscriptions: rows in, the bytes of one segment file and the rows that were refused out.

Few rows are not compiled: they are written down, and asked one by one, so that nobody waits for a compiler.

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
from tidings.index.changes import Change
from tidings.index.columns import IdColumn
from tidings.index.layout import Array
from tidings.language.parser import Asked, Unbound, collecting_young_only, parse, read
from tidings.model.event import Identifier
from tidings.model.predicates import Expression
from tidings.reference import Settings, check_answerable
from tidings.spark import pieces
from tidings.spark.attributes import NOTE, add_attributes
from tidings.spark.files import IndexFiles
from tidings.spark.metadata import ARRAY, metadata_bytes
from tidings.spark.opening import choose_kernel_cache, opened
from tidings.store import learned_of, settings_of

if TYPE_CHECKING:
    import pyarrow

PIECE = 2**20  # bytes of a file in one row
GROUP = 2**25  # bytes that one task hands to the driver, about: all of it is in the driver's memory at once
ROWS = 8_192  # rows that become Python objects together
SAMPLED = 1_000  # subscriptions that say what is asked for; they are parsed twice
SHOWN = 1_000  # characters of a refused text, and of what is wrong with it
Made = tuple[IdColumn, dict[str, Array], dict[str, Any]]  # the ids in the order of a segment, its arrays, its notes


@dataclass(frozen=True, slots=True)
class Building:
    """What a task is told: the settings of the index as it records them, which identifiers are taken, and the schema of
    the further columns, for the notes."""

    settings: Mapping[str, Any]
    taken: IndexFiles | None
    replace: bool
    id_type: str
    metadata_note: dict[str, Any]
    uncompiled: int = 0  # so many rows of a task, or fewer, are written down as they are

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
    attributes = set[str]()
    accepted = _accepted(building, table, refusals, attributes)
    if table.num_rows > building.uncompiled:
        ids, arrays, notes = _compiled(building, table, accepted)
    else:
        ids, arrays, notes = _written_down(accepted)
    if len(ids):
        rows = pc.index_in(ids.arrow().cast(table["id"].type), table["id"].combine_chunks())
        removed = sorted(replaced.intersection(ids))
        arrays |= IdColumn.of(removed).arrays("removed")
        notes |= {**building.metadata_note, NOTE: sorted(attributes), "removed": len(removed)}
        if building.further:
            arrays[ARRAY] = metadata_bytes(table.drop(["id", "where"]).take(rows).rename_columns(building.further))
        yield from _pieces(building, segment, arrays, notes)
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
    index = opened(building.taken)
    ids = table["id"].to_pylist()
    found = index.among(ids)
    if building.replace:
        return found
    for id, where in _rows(table):
        if id in found:
            refusals.add(id, where, f"the id {id!r} is taken; remove it first, or compile with replace=True")
    return found


def _accepted(
    building: Building, table: pyarrow.Table, refusals: Refusals, attributes: set[str]
) -> Iterator[tuple[Identifier, str, Asked]]:
    """The rows without those that are refused here or were before; `attributes` grows by what they ask about."""
    refused, settings = set(refusals.id), settings_of(building.settings, Path("the index"))
    for id, where in collecting_young_only(_rows(table)):
        if id in refused:
            continue
        try:
            asked = _answerable(where, settings)
        except TidingsError as error:
            refusals.add(id, where, error)
            continue
        add_attributes(asked, attributes)
        yield id, where, asked


def _written_down(accepted: Iterable[tuple[Identifier, str, Asked]]) -> Made:
    change = Change.of((), {id: where for id, where, _ in accepted})
    return change.ids, change.arrays(), change.notes()


def _compiled(building: Building, table: pyarrow.Table, accepted: Iterable[tuple[Identifier, str, Asked]]) -> Made:
    from tidings.index.part import PartBuilder
    from tidings.planning.statistics import learn_from_subscriptions

    sample = table["where"].take(np.arange(0, table.num_rows, max(1, table.num_rows // SAMPLED)))
    known = [expression for text in sample.to_pylist() if (expression := _readable(text)) is not None]
    learned = learned_of(building.settings, Path("the index")) or learn_from_subscriptions(known)
    builder = PartBuilder(learned, settings_of(building.settings, Path("the index")))
    for id, where, asked in accepted:
        builder.add(id, where, asked)
    part = builder.part()
    return part.ids.column, part.arrays(), part.notes()


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
    building: Building, segment: int, arrays: Mapping[str, Array], notes: Mapping[str, Any]
) -> Iterator[pyarrow.RecordBatch]:
    """The segment file, in rows: where in the file they begin, and bytes."""
    from tidings.index.array_file import write_arrays

    with tempfile.TemporaryDirectory(prefix="tidings-") as folder:
        path = Path(folder) / "segment"
        write_arrays(path, arrays, notes)
        with path.open("rb") as file:
            place = 0
            while piece := file.read(PIECE):
                yield pieces.batch(building.id_type, 1, segment=segment, group=place // GROUP, place=place, data=piece)
                place += len(piece)


def _refused(building: Building, segment: int, refusals: Refusals) -> Iterator[pyarrow.RecordBatch]:
    for start in range(0, len(refusals.id), ROWS):
        some = slice(start, start + ROWS)
        yield pieces.batch(
            building.id_type,
            len(refusals.id[some]),
            segment=segment,
            group=-1 - start // ROWS,
            id=refusals.id[some],
            where=refusals.where[some],
            position=refusals.position[some],
            message=refusals.message[some],
        )
