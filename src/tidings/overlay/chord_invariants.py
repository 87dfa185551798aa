"""What must be so in a Chord network: at every moment, and when maintenance has nothing left to do."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tidings.overlay.chord_node import ChordNode

if TYPE_CHECKING:
    from tidings.overlay.chord import Chord


def check_chord(overlay: Chord, *, settled: bool) -> None:
    nodes = overlay.nodes
    assert all(one < other for one, other in pairwise(nodes)), "nodes are not in ascending order"
    for place, node in enumerate(nodes):
        assert overlay.network.is_up(node), f"node {node} is listed, but the network does not know it"
        _check_form(overlay, overlay.state(node))
        if settled:
            _check_settled(overlay, place, overlay.state(node))


def _check_form(overlay: Chord, state: ChordNode) -> None:
    node = state.identifier
    aheads = [state.ahead(successor) for successor in state.successors]
    assert len(aheads) <= overlay.successors, f"node {node} has {len(aheads)} successors, more than allowed"
    assert all(one < other for one, other in pairwise([0, *aheads])), f"successors of node {node} are out of order"
    assert state.predecessor != node, f"node {node} is its own predecessor"
    for number, finger in enumerate(state.fingers):
        if finger is not None:
            assert state.ahead(finger) >= 1 << number, f"finger {number} of node {node} lies before its start"


def _check_settled(overlay: Chord, place: int, state: ChordNode) -> None:
    node = state.identifier
    alone = len(overlay.nodes) == 1
    before = None if alone else overlay.nodes[place - 1]
    assert state.predecessor == before, f"node {node} has predecessor {state.predecessor}, not {before}"
    after = list(overlay.following(place, overlay.successors))
    assert state.successors == after, f"node {node} has successors {state.successors}, not {after}"
    for number, finger in enumerate(state.fingers):
        owner = overlay.owner_of(state.finger_start(number))
        right = None if owner == node else owner
        assert finger == right, f"finger {number} of node {node} is {finger}, not {right}"
