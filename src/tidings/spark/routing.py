"""Where events go: their keys, the shards on which someone has subscribed under one of them, and a row for each shard.

The table of keys that exist is mapped: an event's key that is not in it goes no further. Invariant: where an event goes
depends on the event alone, so that a task that runs again does the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tidings.index.layout import Array
from tidings.rendezvous.scheme import Scheme
from tidings.spark.answering import Asking, events_in
from tidings.spark.event_keys import Columns, EventKeys, number_of_everywhere
from tidings.spark.files import IndexFiles, opened_files
from tidings.spark.keying import set_bits
from tidings.spark.placement import Placement
from tidings.spark.recent import LastUsed

if TYPE_CHECKING:
    import pyarrow

ROWS = 4_096  # events that are routed together: the table of their visits has a byte for each of them and shard
KEPT_OPEN = 2  # plans in a worker: that of the running query, and the one before it
_open: LastUsed[IndexFiles, Router] = LastUsed(KEPT_OPEN)


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
        """Which shards (columns) the events (rows) visit, from pairs of a row and the number of a key.

        Of the shards of one part an event takes one that it visits already, else one by the hash of its id. With
        `all_somewhere` an event that nobody waits for visits one shard nevertheless.
        """
        count, placement = len(ids), self.placement
        found = np.zeros((count, placement.shards), np.bool_)
        everywhere = number_of_everywhere(self.keys)
        if everywhere >= 0:
            rows = np.concatenate([rows, np.arange(count)])
            keys = np.concatenate([keys, np.full(count, everywhere)])
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
        """The parts of the keys, each with its row."""
        counts = self.placement.part_counts()[keys]
        total = int(counts.sum())
        within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(self.placement.key_parts[keys], counts) + within, np.repeat(rows, counts)


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
    columns: Columns | None  # None: of all
    asking: Asking
    all_somewhere: bool

    @property
    def words(self) -> int:
        return words_of(self.shards)


@dataclass(frozen=True, slots=True, eq=False)
class Router:
    """What a worker has opened: the table of keys, and the keys of the values that it has seen."""

    plan: Plan
    keys: EventKeys

    @classmethod
    def of(cls, routing: Routing, plan: Plan) -> Router:
        return cls(plan, EventKeys(routing.scheme, routing.columns, plan.keys))


def words_of(shards: int) -> int:
    """How many 64-bit words have a bit for each shard."""
    return -(-shards // 64)


def routed(routing: Routing, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The events with their hash, then the shard to visit, the first of all shards that the event visits, and a mask of
    them, which is 0 where there is one only: a row for each shard."""
    import pyarrow as pa

    router = _router(routing)
    for whole in batches:
        for start in range(0, whole.num_rows, ROWS):
            batch = whole.slice(start, ROWS)
            rows, shards, masks, home = visited(routing, router, batch)
            for first in range(0, len(rows), 2 * ROWS):
                some = slice(first, first + 2 * ROWS)
                columns = batch.take(pa.array(rows[some])).columns
                columns += [pa.array(shards[some]), pa.array(home[rows[some]])]
                columns += [pa.array(mask[rows[some]]) for mask in masks]
                yield pa.RecordBatch.from_arrays(columns, [f"c{at}" for at in range(len(columns))])


def visited(routing: Routing, router: Router, batch: pyarrow.RecordBatch) -> tuple[Array, Array, list[Array], Array]:
    """Rows and the shards they go to; for each row of the batch the words of its mask, and its first shard."""
    count = batch.num_rows
    rows, keys = router.keys.found(events_in(routing.asking, batch))
    hashes = batch.column(batch.num_columns - 1).to_numpy().view(np.uint64)
    found = router.plan.visits(rows, keys, hashes, routing.all_somewhere)
    at, shards = np.nonzero(found)
    masks = np.zeros((routing.words, count), np.uint64)
    several = found.sum(1)[at] > 1
    set_bits(masks, at[several], shards[several])
    return at, shards.astype(np.int32), [mask.view(np.int64) for mask in masks], found.argmax(1).astype(np.int32)


def _router(routing: Routing) -> Router:
    """The same one as long as it is kept. The folder of a plan is made for one scheme, and never used again."""
    return _open.get(routing.plan, lambda: Router.of(routing, _plan(routing)))


def _plan(routing: Routing) -> Plan:
    return Plan.from_arrays(opened_files(routing.plan)[2][0].arrays, routing.shards)
