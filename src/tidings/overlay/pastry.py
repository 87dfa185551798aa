"""Pastry (Rowstron and Druschel 2001): routing by digits, to the node whose identifier is closest to the key.

A message gains one digit a hop, so it takes about log_β N of them. Delivery is right as long as fewer than half a leaf
set of neighbouring nodes fail between two repairs. `Pastry.settled` makes a network in which everybody knows what
maintenance would have told it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from tidings.overlay import pastry_upkeep
from tidings.overlay.bulk_kernels import NOBODY
from tidings.overlay.bulk_tables import settled_pastry
from tidings.overlay.interface import Route
from tidings.overlay.network import IDENTIFIER_BYTES, Network, Process
from tidings.overlay.pastry_invariants import check_pastry
from tidings.overlay.pastry_node import PastryNode, PastrySettings
from tidings.overlay.simulated import SimulatedOverlay
from tidings.overlay.spaces import IdentifierSpace

DIGITS = IdentifierSpace(base=16, length=12)


class Pastry(SimulatedOverlay[PastryNode]):
    def __init__(
        self,
        space: IdentifierSpace = DIGITS,
        network: Network | None = None,
        settings: PastrySettings | None = None,
    ) -> None:
        super().__init__(space, network)
        self.settings = settings or PastrySettings()

    @classmethod
    def settled(
        cls,
        nodes: Iterable[int],
        space: IdentifierSpace = DIGITS,
        network: Network | None = None,
        settings: PastrySettings | None = None,
    ) -> Pastry:
        overlay = cls(space, network, settings)
        tables = settled_pastry(nodes, space, overlay.settings, overlay.network.latencies)
        for node, behind, ahead, rows in zip(
            tables.nodes.tolist(), tables.nodes[tables.smaller], tables.nodes[tables.larger], tables.rows, strict=True
        ):
            entries = (
                {digit: int(tables.nodes[entry]) for digit, entry in enumerate(row) if entry != NOBODY} for row in rows
            )
            overlay.enter(node).start_with(behind.tolist(), ahead.tolist(), entries)
        return overlay

    def _new_state(self, node: int) -> PastryNode:
        return PastryNode(self.space, node, self.settings, self.network.latencies)

    # The whole.

    def owner_of(self, key: int) -> int:
        """The node numerically closest to the key, the shorter way round; of two, the smaller identifier."""
        return self.holders_of(key, 1)[0]

    def holders_of(self, key: int, count: int) -> tuple[int, ...]:
        """The nodes closest to the key, the closest first."""
        total = len(self._nodes)
        at = bisect_left(self._nodes, key)
        around = {self._nodes[place % total] for place in range(at - min(count, total), at + min(count, total))}
        return tuple(sorted(around, key=lambda node: (self.space.distance(node, key), node)))[:count]

    def heirs(self, node: int, key: int, count: int) -> tuple[int, ...]:
        members = self.state(node).leaf_set.members()
        return tuple(sorted(members, key=lambda other: (self.space.distance(key, other), other)))[:count]

    def check(self, *, settled: bool = True) -> None:
        check_pastry(self, settled=settled)

    # Coming and going.

    def joining(self, node: int, via: int) -> Process[bool]:
        return pastry_upkeep.joining(self, node, via)

    def leaving(self, node: int) -> Process[None]:
        return pastry_upkeep.leaving(self, node)

    def stabilising(self, node: int) -> Process[None]:
        return pastry_upkeep.stabilising(self, node)

    @property
    def rounds_to_see_all(self) -> int:
        return max(self.space.base - 1, self.settings.leaves, self.settings.neighbours)

    def forwarding_join(self, via: int, node: int) -> Process[Route[int]]:
        return self._forwarding(via, node, "join", IDENTIFIER_BYTES, newcomer=node)

    # What the protocol does to the tables of nodes that are up; of others, nothing.

    def learn(self, node: int, other: int) -> None:
        if self.network.is_up(node):
            self.state(node).learn(other)

    def missed(self, node: int, gone: int) -> None:
        """The node forgets one that does not answer, and sets off the repair of its tables."""
        if not self.network.is_up(node):
            return
        state = self.state(node)
        sides = tuple(
            ahead for ahead, side in ((True, state.leaf_set.larger), (False, state.leaf_set.smaller)) if gone in side
        )
        lost_entry = gone in state.entries()
        state.forget(gone)
        if sides or lost_entry:
            self.network.start(pastry_upkeep.repairing(self, node, gone, sides, lost_entry))

    def knows_entry(self, node: int, row: int, digit: int) -> bool:
        return self.network.is_up(node) and digit in self.state(node).rows[row]
