"""Bulk routing takes the same way as message by message, from the same tables, and counts the same.

Runs compiled, and with NUMBA_DISABLE_JIT=1 as plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.errors import SettingError
from tidings.overlay import bulk
from tidings.overlay.bulk_tables import settled_chord, settled_pastry, without
from tidings.overlay.chord import Chord
from tidings.overlay.ledger import Ledger
from tidings.overlay.network import Network
from tidings.overlay.pastry import Pastry
from tidings.overlay.pastry_node import PastrySettings
from tidings.overlay.snapshot import chord_snapshot, pastry_snapshot
from tidings.overlay.spaces import IdentifierSpace

RING = IdentifierSpace(2, 10)
DIGITS = IdentifierSpace(3, 6)
FEW = PastrySettings(leaves=4, neighbours=3)
KINDS = st.sampled_from(("chord", "pastry"))


def settled(kind: str, nodes: list[int]) -> tuple[Any, Any]:
    """An overlay with objects, and the tables that it knows by."""
    if kind == "chord":
        chord = Chord.settled(nodes, RING, Network(keep_trace=False), successors=3)
        return chord, chord_snapshot(chord)
    pastry = Pastry.settled(nodes, DIGITS, Network(keep_trace=False), FEW)
    return pastry, pastry_snapshot(pastry)


def snapshot(overlay: Any) -> Any:
    return chord_snapshot(overlay) if isinstance(overlay, Chord) else pastry_snapshot(overlay)


def assert_same_routes(overlay: Any, tables: Any, keys: list[int]) -> None:
    starts = [key % len(overlay.nodes) for key in keys]
    overlay.network.ledger = Ledger()
    routes = [overlay.route(overlay.nodes[start], key) for start, key in zip(starts, keys, strict=True)]
    paths = [bulk.path_of(tables, start, key) for start, key in zip(starts, keys, strict=True)]
    assert paths == [route.path for route in routes]
    routed = bulk.route_all(tables, np.array(starts, np.int32), np.array(keys, np.int64))
    assert routed.hops.tolist() == [route.hops for route in routes]
    assert tables.nodes[routed.ends].tolist() == [route.end for route in routes]
    ledger = Ledger()
    bulk.record(ledger, tables, routed)
    assert ledger == overlay.network.ledger


NODES = st.lists(st.integers(0, DIGITS.size - 1), min_size=1, max_size=50, unique=True)
KEYS = st.lists(st.integers(0, DIGITS.size - 1), min_size=1, max_size=20)


@given(KINDS, NODES, KEYS)
def test_settled_networks_route_the_same_way(kind: str, nodes: list[int], keys: list[int]) -> None:
    overlay, tables = settled(kind, nodes)
    assert_same_routes(overlay, tables, keys)
    assert bulk.owners(tables, np.array(keys)).tolist() == [overlay.nodes.index(overlay.owner_of(key)) for key in keys]


@settings(max_examples=25)
@given(KINDS, st.lists(st.integers(0, DIGITS.size - 1), min_size=6, max_size=20, unique=True), KEYS)
def test_networks_in_the_middle_of_change_route_the_same_way(kind: str, nodes: list[int], keys: list[int]) -> None:
    overlay: Any = (
        Chord(RING, Network(keep_trace=False), successors=3)
        if kind == "chord"
        else Pastry(DIGITS, Network(keep_trace=False), FEW)
    )
    for node in nodes:
        overlay.join(node)
    overlay.leave(nodes[2])
    overlay.fail(nodes[4])
    overlay.stabilise()
    gone = [node for node in nodes if node not in overlay.nodes]
    for node in overlay.nodes:  # all find out who is gone; what repairs that sets off is not awaited
        for other in gone:
            overlay.state(node).forget(other)
    assert_same_routes(overlay, snapshot(overlay), keys)


@given(KINDS, NODES)
def test_tables_made_in_bulk_are_those_of_a_settled_overlay(kind: str, nodes: list[int]) -> None:
    _, tables = settled(kind, nodes)
    if kind == "chord":
        made: Any = settled_chord(nodes, RING, 3)
        assert (made.predecessors == tables.predecessors).all()
        assert (made.fingers == tables.fingers).all()
        width = made.successors.shape[1]
        assert (made.successors == tables.successors[:, :width]).all()
        assert (tables.successors[:, width:] == -1).all()
    else:
        made = settled_pastry(nodes, DIGITS, FEW, Network().latencies)
        depth = made.rows.shape[1]
        assert (made.rows == tables.rows[:, :depth]).all()
        assert (tables.rows[:, depth:] == -1).all()


@given(KINDS, st.lists(st.integers(0, DIGITS.size - 1), min_size=12, max_size=50, unique=True), KEYS, st.data())
def test_failures_within_the_tolerance_lose_no_message(
    kind: str, nodes: list[int], keys: list[int], data: st.DataObject
) -> None:
    """A Pastry node here tolerates one failure among its four leaves for certain, a Chord node two among three."""
    _, tables = settled(kind, nodes)
    first = data.draw(st.integers(0, len(nodes) - 1))
    gone = np.zeros(len(nodes), np.bool_)
    gone[[(first + step) % len(nodes) for step in range(2 if kind == "chord" else 1)]] = True
    left = without(tables, gone)
    places = np.flatnonzero(left.up)
    starts = places[np.array(keys) % len(places)].astype(np.int32)
    routed = bulk.route_all(left, starts, np.array(keys))
    assert (routed.ends == bulk.owners(left, np.array(keys))).all()
    assert not routed.sent[gone].any()


@pytest.mark.parametrize("kind", ["chord", "pastry"])
def test_what_is_no_message_is_refused(kind: str) -> None:
    _, tables = settled(kind, [1, 5, 9])
    one = np.zeros(1, np.int32)
    with pytest.raises(SettingError, match="there are 1 starts for 2 keys"):
        bulk.route_all(tables, one, np.array([1, 2]))
    with pytest.raises(SettingError, match="a start is not the place of a node that is up: places are 0 to 2"):
        bulk.route_all(tables, one + 3, np.array([1]))
    with pytest.raises(SettingError, match="a start is not the place of a node that is up"):
        bulk.route_all(without(tables, np.array([True, False, False])), one, np.array([1]))
    with pytest.raises(SettingError, match="a key is outside of the space"):
        bulk.route_all(tables, one, np.array([-1]))
    assert len(bulk.route_all(tables, one[:0], np.array([], np.int64)).ends) == 0
