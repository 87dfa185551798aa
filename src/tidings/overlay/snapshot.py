"""What the nodes of an overlay know at this moment, as the arrays of the bulk kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidings.overlay.bulk_kernels import NOBODY
from tidings.overlay.bulk_tables import ChordTables, PastryTables, Places, node_array
from tidings.overlay.chord import Chord
from tidings.overlay.chord_node import finger_count
from tidings.overlay.pastry import Pastry


def chord_snapshot(overlay: Chord) -> ChordTables:
    """Whoever is gone is left out of the tables of others."""
    nodes = node_array(overlay.nodes, overlay.space)
    place_of = {node: place for place, node in enumerate(overlay.nodes)}
    states = [overlay.state(node) for node in overlay.nodes]
    before = _places(place_of, [(state.predecessor,) for state in states], 1)[:, 0]
    after = _places(place_of, [state.successors for state in states], overlay.successors)
    fingers = _places(place_of, [state.fingers for state in states], finger_count(overlay.space))
    return ChordTables(overlay.space, nodes, np.ones(len(nodes), np.bool_), before, after, fingers)


def pastry_snapshot(overlay: Pastry) -> PastryTables:
    """Whoever is gone is left out of the tables of others."""
    nodes = node_array(overlay.nodes, overlay.space)
    place_of = {node: place for place, node in enumerate(overlay.nodes)}
    states = [overlay.state(node) for node in overlay.nodes]
    half = overlay.settings.leaves // 2
    smaller = _places(place_of, [state.leaf_set.smaller for state in states], half)
    larger = _places(place_of, [state.leaf_set.larger for state in states], half)
    neighbours = _places(place_of, [state.neighbours for state in states], overlay.settings.neighbours)
    rows = np.full((len(nodes), overlay.space.length, overlay.space.base), NOBODY, np.int32)
    for place, state in enumerate(states):
        for number, row in enumerate(state.rows):
            for digit, entry in row.items():
                rows[place, number, digit] = place_of.get(entry, NOBODY)
    return PastryTables(overlay.space, nodes, np.ones(len(nodes), np.bool_), smaller, larger, rows, neighbours)


def _places(place_of: dict[int, int], lists: Sequence[Sequence[int | None]], width: int) -> Places:
    found = np.full((len(lists), width), NOBODY, np.int32)
    for place, entries in enumerate(lists):
        for number, entry in enumerate(entries):
            found[place, number] = NOBODY if entry is None else place_of.get(entry, NOBODY)
    return found
