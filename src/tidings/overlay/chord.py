"""Chord (Stoica et al. 2003): a key belongs to the first node at or after it on the circle; fingers halve the way.

A lookup takes about half of log2 N hops. It is right as long as no node loses its whole successor list between two
repairs: `successors` - 1 neighbouring failures do no harm. `Chord.settled` makes a network in which everybody knows
what maintenance would have told it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from tidings.errors import SettingError
from tidings.overlay import chord_upkeep
from tidings.overlay.bulk_kernels import NOBODY
from tidings.overlay.bulk_tables import settled_chord
from tidings.overlay.chord_invariants import check_chord
from tidings.overlay.chord_node import ChordNode, finger_count
from tidings.overlay.interface import Route
from tidings.overlay.network import IDENTIFIER_BYTES, Network, Process
from tidings.overlay.simulated import Decision, SimulatedOverlay
from tidings.overlay.spaces import IdentifierSpace

RING = IdentifierSpace(base=2, length=32)


class Chord(SimulatedOverlay[ChordNode]):
    def __init__(self, space: IdentifierSpace = RING, network: Network | None = None, *, successors: int = 8) -> None:
        super().__init__(space, network)
        if successors < 1:
            raise SettingError(f"a Chord node has a list of {successors} successors; it needs at least 1")
        self.successors = successors

    @classmethod
    def settled(
        cls,
        nodes: Iterable[int],
        space: IdentifierSpace = RING,
        network: Network | None = None,
        *,
        successors: int = 8,
    ) -> Chord:
        overlay = cls(space, network, successors=successors)
        tables = settled_chord(nodes, space, successors)
        for place, node in enumerate(tables.nodes.tolist()):
            state = overlay.enter(node)
            if len(tables.nodes) > 1:
                state.predecessor = int(tables.nodes[tables.predecessors[place]])
            state.successors = tables.nodes[tables.successors[place]].tolist()
            for number, finger in enumerate(tables.fingers[place]):
                state.fingers[number] = int(tables.nodes[finger]) if finger != NOBODY else None
        return overlay

    def _new_state(self, node: int) -> ChordNode:
        return ChordNode(self.space, node, self.successors)

    # The whole.

    def following(self, place: int, count: int) -> tuple[int, ...]:
        """The nodes after the one at a place of `nodes`, without that one."""
        total = len(self._nodes)
        return tuple(self._nodes[(place + step) % total] for step in range(1, min(count, total - 1) + 1))

    def owner_of(self, key: int) -> int:
        return self._nodes[bisect_left(self._nodes, key) % len(self._nodes)]

    def holders_of(self, key: int, count: int) -> tuple[int, ...]:
        """The owner and its successors."""
        place = bisect_left(self._nodes, key) % len(self._nodes)
        return (self._nodes[place], *self.following(place, count - 1))

    def heirs(self, node: int, key: int, count: int) -> tuple[int, ...]:
        return tuple(self.state(node).successors[:count])

    def check(self, *, settled: bool = True) -> None:
        check_chord(self, settled=settled)

    # Coming and going.

    def joining(self, node: int, via: int) -> Process[bool]:
        return chord_upkeep.joining(self, node, via)

    def leaving(self, node: int) -> Process[None]:
        return chord_upkeep.leaving(self, node)

    def stabilising(self, node: int) -> Process[None]:
        return chord_upkeep.stabilising(self, node)

    @property
    def rounds_to_see_all(self) -> int:
        return finger_count(self.space)

    def forwarding_join(self, via: int, node: int) -> Process[Route[int]]:
        """Who joins needs its predecessor too: the way ends with the hop from there, also if it began at its end."""
        return self._forwarding(via, node, "join", IDENTIFIER_BYTES, newcomer=node, whole_way=True)

    def forwarding_around(self, node: int, kind: str, payload_bytes: int) -> Process[Route[int]]:
        """Once around the circle and back to the node, by the one that takes it for its successor."""
        return self._forwarding(node, node, kind, payload_bytes, whole_way=True)

    def _decision(self, node: int, key: int, whole_way: bool) -> Decision:
        state = self.state(node)
        return state.decide_forward(key) if whole_way else state.decide(key)

    def missed(self, node: int, gone: int) -> None:
        if self.network.is_up(node):
            self.state(node).forget(gone)
