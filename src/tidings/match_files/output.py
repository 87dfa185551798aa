"""Where matches are written: a folder of part files as Spark makes them, or one file joined from them.

Part files are written beside the file that they become, and the file appears whole, by renaming.
"""

from __future__ import annotations

import gzip
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.errors import SettingError
from tidings.match_files.formats import CSV, CSV_OPTIONS, PARQUET, SPARK_NAMES, compression_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

LINES = 2**20  # bytes that are copied at once


def write_table(table: DataFrame, kind: str, folder: str, overwrite: bool) -> None:
    writer = table.write.format(SPARK_NAMES[kind]).mode("overwrite" if overwrite else "error")
    (writer.options(**CSV_OPTIONS) if kind == CSV else writer).save(folder)


def must_hold(kind: str, columns: Iterable[StructField]) -> None:
    """Refuses what a format cannot hold, before a job that would fail at it."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    for each in columns if kind == CSV else ():
        if isinstance(each.dataType, ArrayType | MapType | StructType):
            raise SettingError(
                f"csv cannot hold the column {each.name!r}, which is {each.dataType.simpleString()}; write jsonl or "
                "parquet, or leave it out"
            )


@contextmanager
def parts_beside(target: Path) -> Iterator[Path]:
    """A folder for part files on the same disk as the file that they become; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.absolute().parent) as folder:
        yield Path(folder) / "parts"


def join_parts(parts: Path, kind: str, target: Path) -> None:
    """One file of all parts, in their order; replaces what is there."""
    paths = sorted(path for path in parts.iterdir() if path.name.startswith("part-"))
    begun = parts.parent / "joined"
    if kind == PARQUET:
        _join_parquet(paths, begun)
    else:
        _join_lines(paths, begun, has_header=kind == CSV, packed=compression_of(target.name) is not None)
    if target.is_dir():
        shutil.rmtree(target)
    begun.replace(target)


def _join_lines(paths: list[Path], target: Path, has_header: bool, packed: bool) -> None:
    with gzip.open(target, "wb") if packed else target.open("wb") as joined:
        for number, path in enumerate(paths):
            with path.open("rb") as part:
                if has_header and number:
                    part.readline()
                shutil.copyfileobj(part, joined, LINES)


def _join_parquet(paths: list[Path], target: Path) -> None:
    """Batch by batch: the parts may be larger than memory."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(target, pq.read_schema(paths[0]).remove_metadata()) as writer:
        for path in paths:
            for batch in pq.ParquetFile(path).iter_batches():
                writer.write_batch(batch)
