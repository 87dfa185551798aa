"""What tasks do to shard subscriptions: the keys of each one, then its row once for each shard that it belongs to.

Subscriptions are named by the part of the opened index that holds them and their number there: the same files give the
same numbers in every process. Tasks divide each part among them, so that nothing but their number tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tidings.index.layout import Array
from tidings.rendezvous.scheme import Scheme
from tidings.spark.arrow_types import short_strings
from tidings.spark.files import IndexFiles, opened_files
from tidings.spark.index_keys import keys_by_value, stores_by_value
from tidings.spark.opening import opened
from tidings.spark.subscription_keys import SubscriptionKeys
from tidings.spark.working import OpenIndex

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


def keys_found(
    files: IndexFiles, scheme: Scheme, most_keys: int, task: int, tasks: int
) -> Iterator[pyarrow.RecordBatch]:
    """KEY_COLUMNS: each subscription of the task once for each key, one that has none is never satisfied; at the end
    what the keys are about, in rows without a subscription."""
    import pyarrow as pa

    made = SubscriptionKeys(scheme, most_keys)
    for number, part in enumerate(opened(files).parts):
        wheres, numbers = _arrow(part.wheres), _numbers(part, task, tasks)
        if stores_by_value(scheme):
            found = keys_by_value(part, numbers, most_keys)
            made.kinds |= found.kinds
            numbers = found.left
            yield _key_batch(np.full(len(found.key), number, np.int32), found.number, found.key)
        for start in range(0, len(numbers), ROWS):
            rows = numbers[start : start + ROWS]
            keys = [made.hashes(where) for where in wheres.take(pa.array(rows)).to_pylist()]
            counts = list(map(len, keys))
            key = np.fromiter(chain.from_iterable(keys), np.int64, sum(counts))
            yield _key_batch(np.full(len(key), number, np.int32), np.repeat(rows, counts), key)
    attributes, kinds = zip(*sorted(made.kinds), strict=True) if made.kinds else ((), ())
    none = np.full(len(kinds), -1)
    yield _key_batch(none, none, none, attributes, kinds)


def _key_batch(
    part: Array, number: Array, key: Array, attributes: Sequence[str] = (), kinds: Sequence[str] = ()
) -> pyarrow.RecordBatch:
    import pyarrow as pa

    columns = [pa.array(part, pa.int32()), pa.array(number, pa.int32()), pa.array(key, pa.int64())]
    columns += [
        pa.array(each, pa.string()) if each else pa.nulls(len(key), pa.string()) for each in (attributes, kinds)
    ]
    return pa.RecordBatch.from_arrays(columns, ["part", "number", "key", "attribute", "kind"])


def _numbers(part: Part, task: int, tasks: int) -> Array:
    """Those of the task that were not removed."""
    total = len(part.ids)
    numbers = np.arange(total * task // tasks, total * (task + 1) // tasks)
    return numbers[part.alive[numbers] != 0] if part.removed else numbers


def index_rows(files: IndexFiles, names: tuple[str, ...], task: int, tasks: int) -> Iterator[pyarrow.RecordBatch]:
    """Id, text and further columns of every subscription of the task."""
    import pyarrow as pa

    index = opened(files)
    for part in index.parts:
        ids, wheres, numbers = part.ids.column.arrow(), _arrow(part.wheres), _numbers(part, task, tasks)
        for start in range(0, len(numbers), ROWS):
            rows = pa.array(numbers[start : start + ROWS])
            columns = [
                short_strings(ids.take(rows)),
                short_strings(wheres.take(rows)),
                *_further(index, part, names, rows),
            ]
            yield pa.RecordBatch.from_arrays(columns, ["id", "where", *names])


def rows_spread(spreading: Spreading, task: int, tasks: int) -> Iterator[pyarrow.RecordBatch]:
    """Shard, id, text, further columns, and the words of the mask of its shards, once for each shard."""
    import pyarrow as pa

    index = opened(spreading.index)
    arrays = opened_files(spreading.places)[2][0].arrays
    for number, part in enumerate(index.parts):
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
            columns = [pa.array(own), short_strings(ids.take(rows)), short_strings(wheres.take(rows))]
            columns += _further(index, part, spreading.further, rows)
            columns += [pa.array(mask) for mask in masks]
            names = ["shard", "id", "where", *(f"c{at}" for at in range(len(columns) - 3))]
            yield pa.RecordBatch.from_arrays(columns, names)


def _further(index: OpenIndex, part: Part, names: tuple[str, ...], rows: pyarrow.Array) -> list[pyarrow.Array]:
    import pyarrow as pa

    have = index.columns_of(part)
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
