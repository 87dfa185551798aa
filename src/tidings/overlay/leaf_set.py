"""A Pastry node's leaf set: the nearest nodes by identifier, up to `half` of them on each side, nearest first.

In a network with few nodes a node may stand on both sides. Which keys the set decides is the arc between its two ends.
"""

from __future__ import annotations

from bisect import insort

from tidings.overlay.spaces import IdentifierSpace, numerically_closest


class LeafSet:
    __slots__ = ("_space", "half", "larger", "owner", "smaller")

    def __init__(self, space: IdentifierSpace, owner: int, half: int) -> None:
        self._space = space
        self.owner = owner
        self.half = half
        self.smaller: list[int] = []
        self.larger: list[int] = []

    def _ahead(self, node: int) -> int:
        return self._space.clockwise(self.owner, node)

    def _behind(self, node: int) -> int:
        return self._space.clockwise(node, self.owner)

    def members(self) -> tuple[int, ...]:
        """Each once, in ascending order."""
        return tuple(sorted({*self.smaller, *self.larger}))

    def wants(self, node: int) -> bool:
        """Whether the node is nearer than one that is in, or there is room."""
        if node == self.owner:
            return False
        ahead = node not in self.larger and (
            len(self.larger) < self.half or self._ahead(node) < self._ahead(self.larger[-1])
        )
        return ahead or (
            node not in self.smaller
            and (len(self.smaller) < self.half or self._behind(node) < self._behind(self.smaller[-1]))
        )

    def add(self, node: int) -> None:
        if not self.wants(node):
            return
        for side, far in ((self.larger, self._ahead), (self.smaller, self._behind)):
            if node not in side:
                insort(side, node, key=far)
                del side[self.half :]

    def remove(self, node: int) -> None:
        for side in (self.larger, self.smaller):
            if node in side:
                side.remove(node)

    def reach(self) -> tuple[int, int]:
        """How far the arc goes that the set decides: behind its owner, and ahead."""
        behind = self._behind(self.smaller[-1]) if self.smaller else 0
        return behind, self._ahead(self.larger[-1]) if self.larger else 0

    def covers(self, key: int) -> bool:
        behind, ahead = self.reach()
        return behind + ahead >= self._space.size or self._ahead(key) <= ahead or self._behind(key) <= behind

    def closest(self, key: int) -> int:
        """Of the set and its owner, the node numerically closest to the key."""
        return numerically_closest(self._space, key, (self.owner, *self.larger, *self.smaller))
