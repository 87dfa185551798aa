"""Lists of one event from several shards put together: the rows of an event come one after the other, and become one.

A row has the event's id, what is carried, a hash of the event, its shard, the first of its shards, and a list. Events
that are the same in everything have rows that are the same too: the first rows of all shards make one list, the second
ones another, so that as many come out as went in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from tidings.index.layout import Array

if TYPE_CHECKING:
    import pyarrow

ROWS = 10_000  # that are put together at once, when all of them are there
ADDED = 4  # columns at the end: the hash, the shard, the first shard, the list


def merged(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """From rows in the order of the hash, the id and the shard."""
    import pyarrow as pa

    waiting: pyarrow.Table | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        rows = pa.Table.from_batches([batch])
        rows = rows if waiting is None else pa.concat_tables([waiting, rows])
        last = int(_first_of_events(rows)[-1])
        if last:
            yield _put_together(rows.slice(0, last))
        waiting = rows.slice(last)
    if waiting is not None:
        yield _put_together(waiting)


def merged_when_all_came(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The same from rows in any order: all of a task are in memory at once."""
    import pyarrow as pa

    kept = [batch for batch in batches if batch.num_rows]
    if not kept:
        return
    import pyarrow.compute as pc

    table = pa.Table.from_batches(kept)
    names = [table.column_names[at] for at in (-ADDED, 0, 1 - ADDED)]
    order = pc.sort_indices(table.select(names), [(name, "ascending") for name in names])
    some = (table.take(order.slice(start, ROWS)).combine_chunks() for start in range(0, len(order), ROWS))
    yield from merged(batch for each in some for batch in each.to_batches())


def _first_of_events(rows: pyarrow.Table) -> Array:
    """The numbers of rows at which the rows of another event begin."""
    import pyarrow.compute as pc

    tags, ids = rows.column(rows.num_columns - ADDED).to_numpy(), rows.column(0)
    other = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).to_numpy()
    return np.flatnonzero(np.concatenate([[True], (tags[1:] != tags[:-1]) | other]))


def _put_together(rows: pyarrow.Table) -> pyarrow.RecordBatch:
    """Of whole events."""
    import pyarrow as pa

    first = _first_of_events(rows)
    event = np.repeat(np.arange(len(first)), np.diff(np.append(first, rows.num_rows)))
    shards = rows.column(rows.num_columns - ADDED + 1).to_numpy()
    again = _times_before(event, shards)
    order = np.lexsort((shards, again, event))
    (batch,) = rows.take(pa.array(order)).combine_chunks().to_batches()
    event, again = event[order], again[order]
    begins = np.flatnonzero(np.concatenate([[True], (event[1:] != event[:-1]) | (again[1:] != again[:-1])]))
    lists = batch.column(batch.num_columns - 1)
    offsets = lists.offsets.to_numpy()
    joined = pa.ListArray.from_arrays(np.append(offsets[begins], offsets[-1:]) - offsets[0], lists.flatten())
    columns = [*batch.take(pa.array(begins)).columns[:-ADDED], joined]
    return pa.RecordBatch.from_arrays(columns, [f"c{at}" for at in range(len(columns))])


def _times_before(event: Array, shards: Array) -> Array:
    """For each row how many rows of the same event and shard stand before it; they stand side by side."""
    new = np.concatenate([[True], (event[1:] != event[:-1]) | (shards[1:] != shards[:-1])])
    begins = np.flatnonzero(new)
    times: Array = np.arange(len(event)) - begins[np.cumsum(new) - 1]
    return times
