"""Subscriptions of an index that are not compiled, with their further columns.

Any number of small changes hold them, of Spark and of a Matcher, which knows nothing of further columns; later ones
come before earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidings.index.array_file import ArrayFile
from tidings.index.changes import COMPILED, Change
from tidings.index.layout import Array
from tidings.model.event import Identifier
from tidings.spark.metadata import ARRAY, metadata_bytes, metadata_in

if TYPE_CHECKING:
    import pyarrow


def columns_of(files: Sequence[ArrayFile], ids: Sequence[Identifier]) -> dict[str, pyarrow.Array]:
    """The further columns of these subscriptions, in this order; nulls where a change has no such column."""
    import pyarrow as pa

    place: dict[Identifier, int] = {}
    tables: list[tuple[int, dict[str, pyarrow.Array]]] = []
    rows = 0
    for file in _uncompiled(files):
        here = Change.from_file(file).ids
        place.update(zip(here, range(rows, rows + len(here)), strict=True))
        tables.append((len(here), metadata_in(file)))
        rows += len(here)
    wanted = pa.array([place[id] for id in ids], pa.int64())
    kinds = {name: column.type for _, columns in tables for name, column in columns.items()}
    return {
        name: pa.concat_arrays(
            [columns[name].cast(kind) if name in columns else pa.nulls(count, kind) for count, columns in tables]
        ).take(wanted)
        for name, kind in kinds.items()
    }


def uncompiled_again(
    files: Sequence[ArrayFile], recent: Mapping[Identifier, str]
) -> Iterator[tuple[dict[str, Array], dict[str, Any]]]:
    """Changes that add these subscriptions anew: those with further columns, and those that never had any."""
    import pyarrow as pa

    noted: dict[Identifier, bool] = {}
    fields: dict[str, Any] = {}
    for file in _uncompiled(files):
        noted.update(dict.fromkeys(Change.from_file(file).ids, ARRAY in file.notes))
        fields |= {field["name"]: field for field in file.notes.get(ARRAY, ())}
    for with_columns in (True, False):
        change = Change.of((), {id: where for id, where in recent.items() if noted[id] is with_columns})
        arrays, notes = change.arrays(), change.notes()
        if with_columns:
            notes[ARRAY] = list(fields.values())
            if columns := columns_of(files, list(change.ids)):
                arrays[ARRAY] = metadata_bytes(pa.table(columns))
        if len(change.ids):
            yield arrays, notes


def _uncompiled(files: Sequence[ArrayFile]) -> Iterator[ArrayFile]:
    return (file for file in files if not file.notes[COMPILED])
