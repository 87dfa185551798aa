"""Where events go: their keys, the shards on which someone has subscribed under one of them, and a row for each shard.

Keys are made of each different value of a column once for a batch, if the scheme makes them of single values; only of
columns under which anyone subscribed. The table of keys that exist is two mapped arrays: an event's key that is not in
it goes no further. Invariant: where an event goes depends on the event alone, so that a task that runs again does the
same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tidings.index.layout import Array
from tidings.model.event import Event, rows_of_arrow
from tidings.model.values import normal
from tidings.rendezvous.composite import AccessScheme
from tidings.rendezvous.scheme import EVERYWHERE, Scheme, key_hash
from tidings.spark.answering import Asking, events_in
from tidings.spark.files import IndexFiles, opened_files
from tidings.spark.keying import set_bits
from tidings.spark.placement import Placement

if TYPE_CHECKING:
    import pyarrow

ROWS = 4_096  # events that are routed together: the table of their visits has a byte for each of them and shard
EVERYWHERE_HASH = key_hash(EVERYWHERE)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The keys that exist, as hashes in order, and where each one is."""

    keys: Array  # uint64
    placement: Placement
    filled: Array  # shards that have subscriptions

    def arrays(self) -> dict[str, Array]:
        placement = self.placement
        return {
            "keys": self.keys,
            "key_parts": placement.key_parts,
            "part_shards": placement.part_shards,
            "shard": placement.shard,
            "filled": self.filled,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], shards: int) -> Plan:
        placement = Placement(shards, arrays["key_parts"], arrays["part_shards"], arrays["shard"])
        return cls(arrays["keys"], placement, arrays["filled"])

    def visits(self, rows: Array, keys: Array, ids: Array, all_somewhere: bool) -> Array:
        """Which shards (columns) the events (rows) visit, from pairs of a row and the hash of a key.

        Of the shards of one part an event takes one that it visits already, else one by the hash of its id. With
        `all_somewhere` an event that nobody waits for visits one shard nevertheless.
        """
        count, placement = len(ids), self.placement
        found = np.zeros((count, placement.shards), np.bool_)
        parts, rows = self._parts(rows, keys)
        places = np.diff(placement.part_shards)[parts]
        alone = places == 1
        found[rows[alone], placement.shard[placement.part_shards[parts[alone]]]] = True
        parts, rows = parts[~alone], rows[~alone]
        for part in np.unique(parts).tolist():
            some = np.unique(rows[parts == part])
            shards = placement.shard[placement.part_shards[part] : placement.part_shards[part + 1]]
            new = some[~found[np.ix_(some, shards)].any(1)]
            found[new, _one_of(shards, ids[new])] = True
        if all_somewhere:
            nowhere = np.flatnonzero(~found.any(1))
            found[nowhere, _one_of(self.filled, ids[nowhere])] = True
        return found

    def _parts(self, rows: Array, keys: Array) -> tuple[Array, Array]:
        """The parts of the keys that exist, each with its row."""
        at = np.minimum(np.searchsorted(self.keys, keys), max(0, len(self.keys) - 1))
        there = self.keys[at] == keys if len(self.keys) else np.zeros(len(keys), np.bool_)
        at, rows = at[there], rows[there]
        counts = self.placement.part_counts()[at]
        total = int(counts.sum())
        within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(self.placement.key_parts[at], counts) + within, np.repeat(rows, counts)


def _one_of(shards: Array, hashes: Array) -> Array:
    return shards[(hashes % np.uint64(len(shards))).astype(np.int64)]


# What a task does


@dataclass(frozen=True, slots=True)
class Routing:
    """What a task is told: the table of keys, how to make them, what the columns of a batch are, and whether events
    that nobody waits for go somewhere too. The last column of a batch is a hash of the event."""

    plan: IndexFiles
    shards: int
    scheme: Scheme
    columns: Mapping[str, frozenset[str]] | None  # that keys are made of, with their kinds; None: of all
    asking: Asking
    all_somewhere: bool

    @property
    def words(self) -> int:
        return words_of(self.shards)


def words_of(shards: int) -> int:
    """How many 64-bit words have a bit for each shard."""
    return -(-shards // 64)


def routed(routing: Routing, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The events with their hash, then the shard to visit, the first of all shards that the event visits, and a mask of
    them, which is 0 where there is one only: a row for each shard."""
    import pyarrow as pa

    plan = _plan(routing)
    for whole in batches:
        for start in range(0, whole.num_rows, ROWS):
            batch = whole.slice(start, ROWS)
            rows, shards, masks, home = visited(routing, plan, batch)
            for first in range(0, len(rows), 2 * ROWS):
                some = slice(first, first + 2 * ROWS)
                columns = batch.take(pa.array(rows[some])).columns
                columns += [pa.array(shards[some]), pa.array(home[rows[some]])]
                columns += [pa.array(mask[rows[some]]) for mask in masks]
                yield pa.RecordBatch.from_arrays(columns, [f"c{at}" for at in range(len(columns))])


def visited(routing: Routing, plan: Plan, batch: pyarrow.RecordBatch) -> tuple[Array, Array, list[Array], Array]:
    """Rows and the shards they go to; for each row of the batch the words of its mask, and its first shard."""
    count = batch.num_rows
    rows, keys = keys_of_events(routing.scheme, routing.columns, events_in(routing.asking, batch))
    rows = np.concatenate([rows, np.arange(count)])
    keys = np.concatenate([keys, np.full(count, EVERYWHERE_HASH, np.uint64)])
    hashes = batch.column(batch.num_columns - 1).to_numpy().view(np.uint64)
    found = plan.visits(rows, keys, hashes, routing.all_somewhere)
    at, shards = np.nonzero(found)
    masks = np.zeros((routing.words, count), np.uint64)
    several = found.sum(1)[at] > 1
    set_bits(masks, at[several], shards[several])
    return at, shards.astype(np.int32), [mask.view(np.int64) for mask in masks], found.argmax(1).astype(np.int32)


def _plan(routing: Routing) -> Plan:
    return Plan.from_arrays(opened_files(routing.plan)[2][0].arrays, routing.shards)


# The keys of events


def key_visits(
    scheme: Scheme,
    columns: Mapping[str, frozenset[str]] | None,
    known: Array,
    asking: Asking,
    batch: pyarrow.RecordBatch,
) -> Array:
    """How many of the events visit each of the known keys."""
    _, keys = keys_of_events(scheme, columns, events_in(asking, batch))
    at = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
    return np.bincount(at[known[at] == keys], minlength=len(known)) if len(known) else np.zeros(0, np.int64)


def keys_of_events(
    scheme: Scheme, columns: Mapping[str, frozenset[str]] | None, events: pyarrow.Table
) -> tuple[Array, Array]:
    """Pairs of a row and the hash of a key, EVERYWHERE left out. `columns` are those under which anyone subscribed,
    each with the kinds of keys."""
    if not isinstance(scheme, AccessScheme):
        return _flat(_keys_of_rows(scheme, events), np.arange(events.num_rows))
    found = [(np.zeros(0, np.int64), np.zeros(0, np.uint64))]
    for name in events.column_names:
        if columns is None:
            found.append(_keys_of_column(scheme, events.select([name])))
        elif name in columns:
            found.append(_keys_of_column(scheme.narrowed(columns[name]), events.select([name])))
    rows, keys = zip(*found, strict=True)
    return np.concatenate(rows), np.concatenate(keys)


def _keys_of_column(scheme: Scheme, column: pyarrow.Table) -> tuple[Array, Array]:
    """Of a column of scalars each different value is asked about once."""
    import pyarrow as pa

    if pa.types.is_null(column.schema.types[0]):
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    if pa.types.is_nested(column.schema.types[0]):
        return _flat(_keys_of_rows(scheme, column), np.arange(column.num_rows))
    encoded = column.column(0).combine_chunks().dictionary_encode()
    values = pa.table([encoded.dictionary], column.column_names)
    rows, keys = _flat(_keys_of_rows(scheme, values), np.arange(values.num_rows))
    there = np.flatnonzero(encoded.indices.is_valid().to_numpy(zero_copy_only=False))
    value_of = encoded.indices.drop_null().to_numpy()
    counts = np.bincount(rows, minlength=values.num_rows)
    starts = np.cumsum(counts) - counts
    times = counts[value_of]
    within = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(there, times), keys[np.repeat(starts[value_of], times) + within]


def _keys_of_rows(scheme: Scheme, events: pyarrow.Table) -> Iterator[list[int]]:
    for row in rows_of_arrow(events):
        yield [key_hash(key) for key in scheme.event_keys(Event(None, normal(row))) if key != EVERYWHERE]


def _flat(found: Iterable[list[int]], rows: Array) -> tuple[Array, Array]:
    lists = list(found)
    counts = [len(keys) for keys in lists]
    return np.repeat(rows, counts), np.array([key for keys in lists for key in keys], np.uint64)


def column_of_attribute(attribute: str) -> str:
    """The first name of a path that `scheme.attribute_name` wrote."""
    name, characters = [], iter(attribute)
    for character in characters:
        if character == ".":
            break
        name.append(next(characters) if character == "\\" else character)
    return "".join(name)
