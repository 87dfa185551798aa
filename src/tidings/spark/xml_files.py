"""`xml_records`: large XML files as events, one for each child of the root, as dblp.xml has them.

A file is read by one task, as a stream: what is in memory is one record, and the batch that it goes into. Spark divides
the records afterwards as it divides any rows (`repartition`).
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from tidings.analysis.xml_records import NO_ENTITIES, XmlRecord
from tidings.analysis.xml_records import xml_records as records_in
from tidings.errors import EventError, SettingError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

SCHEMA = "id string, file string, number bigint, name string, document string, problem string"
CHARACTERS = 4 * 2**20  # of documents in one batch
GZIP = b"\x1f\x8b"
FILE = "file:"


def xml_records(files: DataFrame, entities: Mapping[str, str] = NO_ENTITIES) -> DataFrame:
    """The records of XML files: `id` (the file and the number), `file`, `number`, `name` of the element, `document`.

    `files` has a column `path`, and the contents in a column `content`, as `spark.read.format("binaryFile")` and its
    stream give them; without that column the path is opened by the task, which allows files of any size on a disk that
    all executors see. Contents may be compressed with gzip. What cannot be used is a row with a `problem` and no
    document; a broken file ends with such a row, after the records that could be read. A record that refers to an
    entity is such a row too, unless `entities` has its characters by its name, as `html.entities.entitydefs` has.
    """
    columns = files.columns
    if "path" not in columns:
        raise SettingError(f"files have a column 'path', as the source binaryFile gives it; these have: {columns}")
    chosen = files.select("path", "content") if "content" in columns else files.select("path")

    given = dict(entities)

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        return cut(batches, given)

    return chosen.mapInArrow(work, SCHEMA)


def cut(batches: Iterable[pyarrow.RecordBatch], entities: Mapping[str, str]) -> Iterator[pyarrow.RecordBatch]:
    for batch in batches:
        for row in range(batch.num_rows):
            path = batch.column(0)[row].as_py()
            content = batch.column(1)[row].as_py() if batch.num_columns > 1 else None
            yield from _batches(path, _records(path, content, entities))


def _records(path: str, content: bytes | None, entities: Mapping[str, str]) -> Iterator[XmlRecord]:
    number = 0
    try:
        with _opened(path, content) as source:
            for record in records_in(source, entities=entities):
                number = record.number + 1
                yield record
    except (EventError, OSError) as error:
        yield XmlRecord(number, "", None, str(error))
    except (EOFError, zlib.error) as error:
        problem = f"the file cannot be unpacked beyond its record {number}, and may be damaged: {error}"
        yield XmlRecord(number, "", None, problem)


def _opened(path: str, content: bytes | None) -> IO[bytes]:
    if content is None:
        source: IO[bytes] = open(_on_disk(path), "rb")  # noqa: SIM115, PTH123 - closed by the caller; named as Spark does
    else:
        source = io.BytesIO(content)
    packed = source.read(2) == GZIP
    source.seek(0)
    return gzip.open(source) if packed else source  # type: ignore[return-value]  # it is read as a file is


def _on_disk(path: str) -> str:
    """The path of a file: binaryFile writes `file:` before it, with any slashes, and escapes nothing."""
    return f"/{path[len(FILE) :].lstrip('/')}" if path.startswith(FILE) else path


def _batches(path: str, records: Iterator[XmlRecord]) -> Iterator[pyarrow.RecordBatch]:
    kept: list[XmlRecord] = []
    size = 0
    for record in records:
        kept.append(record)
        size += len(record.document or "")
        if size >= CHARACTERS:
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
