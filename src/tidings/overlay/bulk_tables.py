"""The tables of a whole network as arrays, made for nodes that know all that maintenance would tell them.

A node is its place in the ascending array `nodes`; -1 is an empty place. These are also the tables with which
`Chord.settled` and `Pastry.settled` begin.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tidings.errors import SettingError
from tidings.overlay import bulk_kernels
from tidings.overlay.bulk_kernels import NOBODY
from tidings.overlay.chord_node import finger_count
from tidings.overlay.network import Latencies
from tidings.overlay.pastry_node import PastrySettings
from tidings.overlay.spaces import IdentifierSpace

Identifiers: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int32]

TRIES = 8  # nodes compared by latency for each place of a routing table: more bring little, as all are random ones


class ChordTables(NamedTuple):
    space: IdentifierSpace
    nodes: Identifiers
    up: NDArray[np.bool_]
    predecessors: Places  # of each node
    successors: Places  # node, number
    fingers: Places  # node, number


class PastryTables(NamedTuple):
    space: IdentifierSpace
    nodes: Identifiers
    up: NDArray[np.bool_]
    smaller: Places  # node, number: the leaf set behind, nearest first
    larger: Places  # node, number: the leaf set ahead
    rows: Places  # node, row, digit; as many rows as any node needs
    neighbours: Places  # node, number


Tables: TypeAlias = ChordTables | PastryTables
AnyTables = TypeVar("AnyTables", ChordTables, PastryTables)


def node_array(nodes: Iterable[int], space: IdentifierSpace) -> Identifiers:
    """Identifiers as `nodes` of tables: each once, in ascending order."""
    array = np.unique(np.fromiter(nodes, dtype=np.int64))
    if not len(array) or array[0] < 0 or array[-1] >= space.size:
        raise SettingError(f"{len(array)} nodes: there must be some, and their identifiers 0 to {space.size - 1}")
    return array


def settled_chord(nodes: Iterable[int], space: IdentifierSpace, successors: int = 8) -> ChordTables:
    array = node_array(nodes, space)
    total = len(array)
    own = np.arange(total)
    steps = np.arange(1, min(successors, total - 1) + 1)
    starts = (array[:, None] + (np.int64(1) << np.arange(finger_count(space)))) % space.size
    fingers = (np.searchsorted(array, starts) % total).astype(np.int32)
    fingers[fingers == own[:, None]] = NOBODY
    before = (own - 1) % total if total > 1 else np.full(1, NOBODY)
    after = (own[:, None] + steps) % total
    return ChordTables(space, array, np.ones(total, np.bool_), before.astype(np.int32), after.astype(np.int32), fingers)


def settled_pastry(
    nodes: Iterable[int],
    space: IdentifierSpace,
    settings: PastrySettings | None = None,
    latencies: Latencies | None = None,
) -> PastryTables:
    """Leaf sets are exact. Of the nodes that fit a place of a routing table, the nearest of a few picked by a hash.

    The neighbourhood sets are left out: here they would hold nobody that is not in another table.
    """
    array = node_array(nodes, space)
    total, half = len(array), (settings or PastrySettings()).leaves // 2
    own = np.arange(total)[:, None]
    steps = np.arange(1, min(half, total - 1) + 1)
    near = latencies or Latencies()
    points = np.array([near.point(int(node)) for node in array], dtype=np.float64)
    places = np.array(space.places, dtype=np.int64)
    with np.errstate(over="ignore"):  # hashing wraps around
        depth = bulk_kernels.fill_rows(array, places, points, TRIES, np.empty((total, 0, space.base), np.int32))
        rows = np.full((total, depth, space.base), NOBODY, np.int32)
        bulk_kernels.fill_rows(array, places, points, TRIES, rows)
    return PastryTables(
        space,
        array,
        np.ones(total, np.bool_),
        ((own - steps) % total).astype(np.int32),
        ((own + steps) % total).astype(np.int32),
        rows,
        np.empty((total, 0), np.int32),
    )


def without(tables: AnyTables, gone: NDArray[np.bool_]) -> AnyTables:
    """The tables after some nodes failed and those who know them found out; nothing is repaired."""

    def left(places: Places) -> Places:
        return np.where((places != NOBODY) & ~gone[places], places, NOBODY).astype(np.int32)

    up = tables.up & ~gone
    if isinstance(tables, ChordTables):
        return tables._replace(
            up=up,
            predecessors=left(tables.predecessors),
            successors=left(tables.successors),
            fingers=left(tables.fingers),
        )
    return tables._replace(
        up=up,
        smaller=left(tables.smaller),
        larger=left(tables.larger),
        rows=left(tables.rows),
        neighbours=left(tables.neighbours),
    )
