"""The further columns of subscriptions: kept in the segment files, row by row as the subscriptions are numbered there.

So they belong to the same version as the subscriptions, reach executors with them, and need no join. A file of arrays
holds numbers, so the table is one array of bytes, in Arrow's file format, which is read where it is mapped. Their
schema is in the settings too, so that an index without any subscription still has its columns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tidings.errors import SettingError, StoreError
from tidings.index.array_file import ArrayFile
from tidings.index.folder import Version
from tidings.index.layout import Array

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.types import StructType

ARRAY = "metadata"  # the name of the bytes in a segment file, and of the schema in its notes and in the settings


def metadata_bytes(table: pyarrow.Table) -> Array:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return np.frombuffer(sink.getvalue(), np.uint8)


def metadata_in(file: ArrayFile) -> dict[str, pyarrow.Array]:
    """The columns in a segment file by name, over the same memory; none where it has none."""
    import pyarrow as pa

    if ARRAY not in file.arrays:
        return {}
    table = pa.ipc.open_file(pa.py_buffer(file.arrays[ARRAY])).read_all()
    return {name: table[name].combine_chunks() for name in table.column_names}


def schema_note(schema: StructType) -> dict[str, Any]:
    """The schema in the form in which the notes of a file and the settings hold it."""
    return {ARRAY: json.loads(schema.json())["fields"]}


def metadata_schema(version: Version, files: Sequence[ArrayFile]) -> StructType:
    """The further columns: those of all segments together, and those that are known without any subscription.

    A column has one type in all of them: see `must_fit`.
    """
    from pyspark.sql.types import StructType

    notes = [version.settings, *(file.notes for file in files)]
    found = {field["name"]: field for note in notes for field in note.get(ARRAY, ())}
    return StructType.fromJson({"type": "struct", "fields": list(found.values())})


def with_columns_of(known: StructType, added: StructType) -> StructType:
    """The further columns of an index to which subscriptions with some are added."""
    from pyspark.sql.types import StructType

    return StructType([*known, *(field for field in added if field.name not in known.names)])


def must_fit(added: StructType, kept: StructType) -> None:
    """A further column keeps its type in an index."""
    types = {field.name: field.dataType.simpleString() for field in kept}
    for field in added:
        given = field.dataType.simpleString()
        if types.get(field.name, given) != given:
            raise SettingError(
                f"the column {field.name!r} of the subscriptions is {given}, and {types[field.name]} in the index; "
                "cast it, leave it out, or compile a new index"
            )


def must_have_all(files: Sequence[ArrayFile], names: Sequence[str], known: StructType) -> None:
    """The columns are in the index, and no segment has lost them: one that a Matcher has written has none."""
    for name in names:
        if name not in known.names:
            have = ", ".join(known.names) or "none"
            raise SettingError(f"the index has no subscription column {name!r}; it has: {have}")
    for file in files if names else ():
        if file.notes["subscriptions"] and ARRAY not in file.notes:
            raise StoreError(
                f"{file.path.name} holds subscriptions without their further columns, because a Matcher has added or "
                f"merged them; leave out subscription_columns, or compile the index anew with {', '.join(names)}"
            )
