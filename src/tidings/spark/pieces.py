"""What tasks that compile send to the driver: pieces of segment files, and the rows that were refused.

One schema holds both, since a task has one output: a row has either a piece, with its place in the file of a segment,
or a refused subscription. Rows of one segment and group stay together on their way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import Row

TYPES = {
    "segment": "int", "group": "int", "place": "bigint", "data": "binary",
    "id": "", "where": "string", "position": "int", "message": "string",
}  # fmt: skip
REFUSED = ("id", "where", "position", "message")


def schema(id_type: str, names: Iterable[str] = TYPES) -> str:
    """As Spark reads it; the type of ids is that of the table."""
    return ", ".join(f"{name} {TYPES[name] or id_type}" for name in names)


def batch(id_type: str, rows: int, **columns: Any) -> pyarrow.RecordBatch:
    """A batch of this schema: a single value stands for all rows, a column not named is null."""
    import pyarrow as pa

    kinds = {"int": pa.int32(), "bigint": pa.int64(), "binary": pa.binary(), "string": pa.string()}
    made = [
        pa.array(each if isinstance(each, list) else [each] * rows, kinds[TYPES[name] or id_type])
        for name, each in ((name, columns.get(name)) for name in TYPES)
    ]
    return pa.RecordBatch.from_arrays(made, list(TYPES))


def received(rows: Iterable[Row], folder: Path, refuse: Callable[[Row], None]) -> dict[int, Path]:
    """The files of the segments by their numbers, whole: every piece is written where it belongs."""
    paths: dict[int, Path] = {}
    for row in rows:
        if row.data is None:
            refuse(row)
            continue
        if row.segment not in paths:
            paths[row.segment] = folder / f"{row.segment}.segment"
            paths[row.segment].touch()
        with paths[row.segment].open("r+b") as file:
            file.seek(row.place)
            file.write(row.data)
    return {segment: paths[segment] for segment in sorted(paths)}
