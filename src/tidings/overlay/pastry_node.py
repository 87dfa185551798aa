"""What one Pastry node knows, and the decisions it takes by itself: routing table, leaf set, neighbourhood set.

Row l of the routing table has, for each digit d, a node that shares exactly the first l digits with this one and has d
next; of several known ones the nearest by latency. The neighbourhood set has the nearest nodes by latency. (Rowstron
and Druschel 2001, 2.2 and 2.3.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidings.errors import SettingError
from tidings.overlay.leaf_set import LeafSet
from tidings.overlay.network import Latencies
from tidings.overlay.simulated import Decision
from tidings.overlay.spaces import IdentifierSpace, numerically_closest


@dataclass(frozen=True, slots=True)
class PastrySettings:
    """`leaves` in the leaf set, half of them on each side, and `neighbours` in the neighbourhood set."""

    leaves: int = 16
    neighbours: int = 16

    def __post_init__(self) -> None:
        if self.leaves < 2 or self.leaves % 2 or self.neighbours < 0:
            raise SettingError(
                f"leaves {self.leaves}, neighbours {self.neighbours}: leaves is an even number from 2 on, "
                "neighbours is 0 or more"
            )


class PastryNode:
    __slots__ = ("_latencies", "_most_neighbours", "_space", "identifier", "leaf_set", "neighbours", "round", "rows")

    def __init__(self, space: IdentifierSpace, identifier: int, settings: PastrySettings, latencies: Latencies) -> None:
        self._space = space
        self._latencies = latencies
        self._most_neighbours = settings.neighbours
        self.identifier = identifier
        self.leaf_set = LeafSet(space, identifier, settings.leaves // 2)
        self.rows: tuple[dict[int, int], ...] = tuple({} for _ in range(space.length))
        self.neighbours: list[int] = []
        self.round = 0  # of maintenance: which entry of each table is asked next

    def known(self) -> tuple[int, ...]:
        """Every node in any table, each once, in ascending order."""
        return tuple(sorted({*self.leaf_set.members(), *self.entries(), *self.neighbours}))

    def entries(self) -> Iterator[int]:
        for row in self.rows:
            yield from row.values()

    def decide(self, key: int) -> Decision:
        """The owner knows that it is one when it finds nobody closer."""
        target = self._next_hop(key)
        return Decision(target, target == self.identifier)

    def _next_hop(self, key: int) -> int:
        """As published: by the leaf set, else one more digit, else any known node that is closer."""
        if self.leaf_set.covers(key):
            return self.leaf_set.closest(key)
        shared = self._space.shared_digits(self.identifier, key)
        if shared == self._space.length:
            return self.identifier
        entry = self.rows[shared].get(self._space.digit(key, shared))
        return entry if entry is not None else self._closer(key, shared)

    def _closer(self, key: int, shared: int) -> int:
        """The known node closest to the key of those that share no fewer digits with it than this one; or this one."""
        candidates = (node for node in self.known() if self._space.shared_digits(node, key) >= shared)
        return numerically_closest(self._space, key, (self.identifier, *candidates))

    def wants(self, node: int) -> bool:
        """Whether knowing the node would change a table."""
        if node == self.identifier:
            return False
        return self.leaf_set.wants(node) or self._wants_entry(node) or self._wants_neighbour(node)

    def _wants_entry(self, node: int) -> bool:
        row = self._space.shared_digits(self.identifier, node)
        held = self.rows[row].get(self._space.digit(node, row))
        return held is None or (held != node and self._latency(node) < self._latency(held))

    def _wants_neighbour(self, node: int) -> bool:
        if node in self.neighbours or not self._most_neighbours:
            return False
        return len(self.neighbours) < self._most_neighbours or self._latency(node) < self._latency(self.neighbours[-1])

    def _latency(self, node: int) -> tuple[float, int]:
        return self._latencies.between(self.identifier, node), node

    def start_with(self, smaller: list[int], larger: list[int], rows: Iterable[dict[int, int]]) -> None:
        """Tables from elsewhere; the neighbourhood set is made of the nearest of those in them."""
        self.leaf_set.smaller, self.leaf_set.larger = smaller, larger
        for row, entries in zip(self.rows, rows, strict=False):
            row.update(entries)
        self.neighbours = sorted(self.known(), key=self._latency)[: self._most_neighbours]

    def learn(self, node: int) -> None:
        """Takes a node into every table where it belongs."""
        if node == self.identifier:
            return
        self.leaf_set.add(node)
        if self._wants_entry(node):
            row = self._space.shared_digits(self.identifier, node)
            self.rows[row][self._space.digit(node, row)] = node
        if self._wants_neighbour(node):
            self.neighbours = sorted((*self.neighbours, node), key=self._latency)[: self._most_neighbours]

    def forget(self, node: int) -> None:
        """Takes a node that is gone out of every table."""
        self.leaf_set.remove(node)
        row = self._space.shared_digits(self.identifier, node)
        digit = self._space.digit(node, row)
        if self.rows[row].get(digit) == node:
            del self.rows[row][digit]
        if node in self.neighbours:
            self.neighbours.remove(node)

    def tables(self) -> tuple[object, ...]:
        """What it knows, as one value: to see whether anything changed."""
        rows = tuple(tuple(sorted(row.items())) for row in self.rows)
        return tuple(self.leaf_set.smaller), tuple(self.leaf_set.larger), rows, tuple(self.neighbours)
