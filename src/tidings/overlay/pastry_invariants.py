"""What must be so in a Pastry network: at every moment, and when maintenance has nothing left to do."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from tidings.overlay.pastry_node import PastryNode

if TYPE_CHECKING:
    from tidings.overlay.pastry import Pastry


def check_pastry(overlay: Pastry, *, settled: bool) -> None:
    nodes = overlay.nodes
    assert all(one < other for one, other in pairwise(nodes)), "nodes are not in ascending order"
    for place, node in enumerate(nodes):
        assert overlay.network.is_up(node), f"node {node} is listed, but the network does not know it"
        _check_form(overlay, overlay.state(node))
        if settled:
            _check_leaf_set(overlay, place, overlay.state(node))
            _check_entries(overlay, overlay.state(node))


def _check_form(overlay: Pastry, state: PastryNode) -> None:
    space, node, leaf_set = overlay.space, state.identifier, state.leaf_set
    ahead = [space.clockwise(node, other) for other in leaf_set.larger]
    behind = [space.clockwise(other, node) for other in leaf_set.smaller]
    for side in (ahead, behind):
        assert len(side) <= leaf_set.half, f"a side of the leaf set of node {node} has {len(side)} members"
        assert all(one < other for one, other in pairwise([0, *side])), f"leaf set of node {node} is out of order"
    for number, row in enumerate(state.rows):
        for digit, entry in row.items():
            shared = space.shared_digits(node, entry)
            assert entry != node, f"node {node} is in its own routing table"
            assert shared == number, f"entry {entry} in row {number} of node {node} shares {shared} digits with it"
            assert space.digit(entry, number) == digit, f"entry {entry} of node {node} stands under digit {digit}"
    assert len(set(state.neighbours)) == len(state.neighbours), f"node {node} has a neighbour twice"
    assert len(state.neighbours) <= overlay.settings.neighbours, f"node {node} has too many neighbours"
    assert node not in state.neighbours, f"node {node} is its own neighbour"


def _check_leaf_set(overlay: Pastry, place: int, state: PastryNode) -> None:
    nodes, half = overlay.nodes, state.leaf_set.half
    reach = min(half, len(nodes) - 1)
    larger = [nodes[(place + step) % len(nodes)] for step in range(1, reach + 1)]
    smaller = [nodes[place - step] for step in range(1, reach + 1)]
    assert state.leaf_set.larger == larger, f"node {state.identifier} has {state.leaf_set.larger} ahead, not {larger}"
    assert state.leaf_set.smaller == smaller, (
        f"node {state.identifier} has {state.leaf_set.smaller} behind, not {smaller}"
    )


def _check_entries(overlay: Pastry, state: PastryNode) -> None:
    """Everybody in a table is up, and a place is empty only if no node fits it."""
    for other in state.known():
        assert overlay.network.is_up(other), f"node {state.identifier} knows {other}, which is gone"
    space, nodes = overlay.space, overlay.nodes
    for row, place in enumerate(space.places):
        block = state.identifier - state.identifier % (place * space.base)
        for digit in range(space.base):
            first = bisect_left(nodes, block + digit * place)
            fits = first < len(nodes) and nodes[first] < block + (digit + 1) * place
            own = digit == space.digit(state.identifier, row)
            assert not fits or own or digit in state.rows[row], (
                f"node {state.identifier} has no entry in row {row} for digit {digit}; {nodes[first]} fits"
            )
