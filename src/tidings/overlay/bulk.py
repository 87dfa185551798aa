"""Millions of messages at once: routes over arrays, where they end, their hops, and the load that they put on nodes.

When to choose it: for networks of tens of thousands of nodes whose tables do not change while messages are under way.
There are no latencies and no loss; hops, ends and counts are those that the same tables give message by message.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidings.errors import SettingError
from tidings.overlay import bulk_kernels
from tidings.overlay.bulk_kernels import NOBODY
from tidings.overlay.bulk_tables import ChordTables, Identifiers, Places, Tables
from tidings.overlay.ledger import Ledger
from tidings.overlay.network import HEADER_BYTES


class Routed(NamedTuple):
    """What became of many messages: their owners' places (-1: not delivered) and hops; what each node carried."""

    ends: Places
    hops: NDArray[np.int32]
    sent: NDArray[np.int64]  # by node
    received: NDArray[np.int64]  # by node


def route_all(tables: Tables, starts: Places, keys: Identifiers) -> Routed:
    """Routes message i from the node at place starts[i] to the owner of keys[i]."""
    starts, keys = np.ascontiguousarray(starts, np.int32), np.ascontiguousarray(keys, np.int64)
    _check(tables, starts, keys)
    total = len(tables.nodes)
    most_hops = 2 * tables.space.length + total
    ends, hops = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    sent, received = np.zeros(total, np.int64), np.zeros(total, np.int64)
    if isinstance(tables, ChordTables):
        bulk_kernels.route_chord(
            tables.nodes, tables.space.size, tables.predecessors, tables.successors, tables.fingers,
            starts, keys, most_hops, ends, hops, sent, received,
        )  # fmt: skip
    else:
        bulk_kernels.route_pastry(
            tables.nodes, tables.space.size, np.array(tables.space.places, np.int64),
            tables.smaller, tables.larger, tables.rows, tables.neighbours,
            starts, keys, most_hops, ends, hops, sent, received,
        )  # fmt: skip
    return Routed(ends, hops, sent, received)


def _check(tables: Tables, starts: Places, keys: Identifiers) -> None:
    if len(starts) != len(keys):
        raise SettingError(f"there are {len(starts)} starts for {len(keys)} keys; each message needs one of each")
    if not len(keys):
        return
    if starts.min() < 0 or starts.max() >= len(tables.nodes) or not tables.up[starts].all():
        raise SettingError(f"a start is not the place of a node that is up: places are 0 to {len(tables.nodes) - 1}")
    if keys.min() < 0 or keys.max() >= tables.space.size:
        raise SettingError(f"a key is outside of the space: keys are 0 to {tables.space.size - 1}")


def path_of(tables: Tables, start: int, key: int) -> tuple[int, ...]:
    """The identifiers on the way of one message, for a look at it."""
    here, path, last = np.int32(start), [int(tables.nodes[start])], False
    while not last and len(path) <= 2 * tables.space.length + len(tables.nodes):
        if isinstance(tables, ChordTables):
            target, last = bulk_kernels.chord_step(
                tables.nodes, tables.space.size, tables.predecessors, tables.successors, tables.fingers, here, key
            )
        else:
            target = bulk_kernels.pastry_step(
                tables.nodes, tables.space.size, np.array(tables.space.places, np.int64),
                tables.smaller, tables.larger, tables.rows, tables.neighbours, here, key,
            )  # fmt: skip
            last = target == here
        if target != here:
            path.append(int(tables.nodes[target]))
            here = np.int32(target)
    return tuple(path)


def owners(tables: Tables, keys: Identifiers) -> Places:
    """The places of the nodes that own the keys, among those that are up, by definition."""
    living = np.flatnonzero(tables.up).astype(np.int32)
    identifiers = tables.nodes[living]
    after = np.searchsorted(identifiers, keys) % len(living)
    if isinstance(tables, ChordTables):
        return living[after]
    before = (after - 1) % len(living)
    far = [np.abs(identifiers[side] - keys) for side in (before, after)]
    near_before, near_after = (np.minimum(apart, tables.space.size - apart) for apart in far)
    tie = (near_before == near_after) & (identifiers[before] < identifiers[after])
    return living[np.where((near_before < near_after) | tie, before, after)]


def record(ledger: Ledger, tables: Tables, routed: Routed, kind: str = "route", payload_bytes: int = 0) -> None:
    """Adds what was routed to a ledger; every message weighs the same."""
    delivered = routed.hops[routed.ends != NOBODY]
    ledger.add_hops(kind, np.bincount(delivered).tolist())
    ledger.add_nodes(kind, tables.nodes, routed.sent, routed.received, HEADER_BYTES + payload_bytes)
