"""What tasks do to shard subscriptions: the keys of each one, then its row once for each shard that it belongs to.

Subscriptions are named by the part of the opened index that holds them and their number there: the same files give the
same numbers in every process. Tasks divide each part among them, so that nothing but their number tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tidings.index.layout import Array
from tidings.language.parser import parse
from tidings.model.normal_form import conjunctions
from tidings.rendezvous.scheme import Key, Scheme, key_hash
from tidings.spark.files import IndexFiles, opened_files
from tidings.spark.opening import OpenIndex, opened

if TYPE_CHECKING:
    import pyarrow

    from tidings.index.columns import TextColumn
    from tidings.index.part import Part

ROWS = 8_192  # of a batch
KEY_COLUMNS = "part int, number int, key bigint, attribute string, kind string"


@dataclass(frozen=True, slots=True)
class Spreading:
    """What a task is told that sends rows to shards: where the index is, and where it is written which shards those
    are; the names of further columns, and how many words the mask of shards has."""

    index: IndexFiles
    places: IndexFiles
    further: tuple[str, ...]
    words: int


def keys_found(files: IndexFiles, scheme: Scheme, task: int, tasks: int) -> Iterator[pyarrow.RecordBatch]:
    """KEY_COLUMNS: each subscription of the task once for each key. One that has none is never satisfied."""
    import pyarrow as pa

    rows = (
        (part, number, _signed(key), key.attribute, key.kind)
        for part, own in enumerate(opened(files).compiled.parts)
        for number in _numbers(own, task, tasks)
        for key in keys_of(own.wheres[number], scheme)
    )
    kinds = (pa.int32(), pa.int32(), pa.int64(), pa.string(), pa.string())
    while some := list(islice(rows, ROWS)):
        columns = [pa.array(column, kind) for column, kind in zip(zip(*some, strict=True), kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, ["part", "number", "key", "attribute", "kind"])


def keys_of(where: str, scheme: Scheme) -> frozenset[Key]:
    """The keys of all its conjunctions."""
    return frozenset().union(*map(scheme.subscription_keys, conjunctions(parse(where))))


def _signed(key: Key) -> int:
    """The hash as Spark has 64-bit integers."""
    found = key_hash(key)
    return found - 2**64 if found >= 2**63 else found


def _numbers(part: Part, task: int, tasks: int) -> list[int]:
    """Those of the task that were not removed."""
    total = len(part.ids)
    numbers = np.arange(total * task // tasks, total * (task + 1) // tasks)
    kept: list[int] = (numbers[part.alive[numbers] != 0] if part.removed else numbers).tolist()
    return kept


def index_rows(files: IndexFiles, names: tuple[str, ...], task: int, tasks: int) -> Iterator[pyarrow.RecordBatch]:
    """Id, text and further columns of every subscription of the task."""
    import pyarrow as pa

    index = opened(files)
    for part in index.compiled.parts:
        ids, wheres, numbers = part.ids.column.arrow(), _arrow(part.wheres), _numbers(part, task, tasks)
        for start in range(0, len(numbers), ROWS):
            rows = pa.array(numbers[start : start + ROWS])
            columns = [_short(ids.take(rows)), _short(wheres.take(rows)), *_further(index, part, names, rows)]
            yield pa.RecordBatch.from_arrays(columns, ["id", "where", *names])


def rows_spread(spreading: Spreading, task: int, tasks: int) -> Iterator[pyarrow.RecordBatch]:
    """Shard, id, text, further columns, and the words of the mask of its shards, once for each shard."""
    import pyarrow as pa

    index = opened(spreading.index)
    arrays = opened_files(spreading.places)[2][0].arrays
    for number, part in enumerate(index.compiled.parts):
        first, shards = arrays[f"first_{number}"], arrays[f"shard_{number}"]
        ids, wheres = part.ids.column.arrow(), _arrow(part.wheres)
        total = len(part.ids)
        for start in range(total * task // tasks, total * (task + 1) // tasks, ROWS):
            end = min(start + ROWS, total * (task + 1) // tasks)
            own = shards[first[start] : first[end]]
            counts = np.diff(first[start : end + 1])
            which = np.repeat(np.arange(start, end), counts)
            rows = pa.array(which)
            masks = _masks(own, np.repeat(np.arange(end - start), counts), counts, spreading.words)
            columns = [pa.array(own), _short(ids.take(rows)), _short(wheres.take(rows))]
            columns += _further(index, part, spreading.further, rows)
            columns += [pa.array(mask) for mask in masks]
            names = ["shard", "id", "where", *(f"c{at}" for at in range(len(columns) - 3))]
            yield pa.RecordBatch.from_arrays(columns, names)


def _further(index: OpenIndex, part: Part, names: tuple[str, ...], rows: pyarrow.Array) -> list[pyarrow.Array]:
    import pyarrow as pa

    have = index.metadata.get(str(part.file), {})
    return [
        have[name].take(rows).cast(index.types[name]) if name in have else pa.nulls(len(rows), index.types[name])
        for name in names
    ]


def _masks(shards: Array, rows: Array, counts: Array, words: int) -> list[Array]:
    """For each row the bits of all shards that its subscription is on; none if it is on one only."""
    found = np.zeros((words, len(counts)), np.uint64)
    several = counts[rows] > 1
    set_bits(found, rows[several], shards[several])
    return [word[rows].view(np.int64) for word in found]


def set_bits(words: Array, rows: Array, shards: Array) -> None:
    """Sets the bit of a shard in the words of a row: words[shard // 64, row]."""
    np.bitwise_or.at(words, (shards // 64, rows), np.uint64(1) << (shards % 64).astype(np.uint64))


def _arrow(texts: TextColumn) -> Any:
    import pyarrow as pa

    buffers = [None, pa.py_buffer(texts.start), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def _short(column: pyarrow.Array) -> pyarrow.Array:
    """As Spark takes strings: with short offsets."""
    import pyarrow as pa

    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column
