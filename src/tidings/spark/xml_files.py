"""`xml_records`: large XML files as events, one for each child of the root, as dblp.xml has them.

A file is read by one task, as a stream: what is in memory is one record, and the batch that it goes into. Spark divides
the records afterwards as it divides any rows (`repartition`).
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from tidings.analysis.xml_records import XmlRecord
from tidings.analysis.xml_records import xml_records as records_in
from tidings.errors import EventError, SettingError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

SCHEMA = "id string, file string, number bigint, name string, document string, problem string"
BYTES = 4 * 2**20  # of documents in one batch
GZIP = b"\x1f\x8b"


def xml_records(files: DataFrame) -> DataFrame:
    """The records of XML files: `id` (the file and the number), `file`, `number`, `name` of the element, `document`.

    `files` has a column `path`, and the contents in a column `content`, as `spark.read.format("binaryFile")` and its
    stream give them; without that column the path is opened by the task, which allows files of any size on a disk that
    all executors see. Contents may be compressed with gzip. What cannot be used is a row with a `problem` and no
    document; a broken file ends with such a row, after the records that could be read.
    """
    columns = files.columns
    if "path" not in columns:
        raise SettingError(f"files have a column 'path', as the source binaryFile gives it; these have: {columns}")
    chosen = files.select("path", "content") if "content" in columns else files.select("path")

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        return cut(batches)

    return chosen.mapInArrow(work, SCHEMA)


def cut(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for batch in batches:
        for row in range(batch.num_rows):
            path = batch.column(0)[row].as_py()
            content = batch.column(1)[row].as_py() if batch.num_columns > 1 else None
            yield from _batches(path, _records(path, content))


def _records(path: str, content: bytes | None) -> Iterator[XmlRecord]:
    number = 0
    try:
        with _opened(path, content) as source:
            for record in records_in(source):
                number = record.number + 1
                yield record
    except (EventError, OSError, EOFError) as error:
        yield XmlRecord(number, "", None, str(error))


def _opened(path: str, content: bytes | None) -> IO[bytes]:
    if content is None:
        source: IO[bytes] = open(unquote(urlsplit(path).path) if path.startswith("file:") else path, "rb")  # noqa: SIM115, PTH123
    else:
        source = io.BytesIO(content)
    packed = source.read(2) == GZIP
    source.seek(0)
    return gzip.open(source) if packed else source  # type: ignore[return-value]  # it is read as a file is


def _batches(path: str, records: Iterator[XmlRecord]) -> Iterator[pyarrow.RecordBatch]:
    kept: list[XmlRecord] = []
    size = 0
    for record in records:
        kept.append(record)
        size += len(record.document or "")
        if size >= BYTES:
            yield _batch(path, kept)
            kept, size = [], 0
    if kept:
        yield _batch(path, kept)


def _batch(path: str, records: list[XmlRecord]) -> pyarrow.RecordBatch:
    import pyarrow as pa

    texts = {
        "id": [f"{path}#{record.number}" for record in records],
        "file": [path] * len(records),
        "name": [record.name or None for record in records],
        "document": [record.document for record in records],
        "problem": [record.problem for record in records],
    }
    columns = {name: pa.array(values, pa.string()) for name, values in texts.items()}
    columns["number"] = pa.array([record.number for record in records], pa.int64())
    names = ["id", "file", "number", "name", "document", "problem"]
    return pa.RecordBatch.from_arrays([columns[name] for name in names], names)
