"""What one Chord node knows, and the decisions it takes by itself: predecessor, successor list, fingers.

Finger i is the first node at or after this one's identifier plus 2^i; None where that is this node itself, or not
known. The successor list has the next nodes on the circle, nearest first. (Stoica et al. 2003, IV.)
"""

from __future__ import annotations

from collections.abc import Iterable

from tidings.overlay.simulated import Decision
from tidings.overlay.spaces import IdentifierSpace


class ChordNode:
    __slots__ = ("_most_successors", "_space", "fingers", "identifier", "next_finger", "predecessor", "successors")

    def __init__(self, space: IdentifierSpace, identifier: int, most_successors: int) -> None:
        self._space = space
        self._most_successors = most_successors
        self.identifier = identifier
        self.predecessor: int | None = None
        self.successors: list[int] = []
        self.fingers: list[int | None] = [None] * finger_count(space)
        self.next_finger = 0  # which one is looked up next

    def ahead(self, node: int) -> int:
        return self._space.clockwise(self.identifier, node)

    def decide(self, key: int) -> Decision:
        """It is this node's own if it lies between the predecessor and this node; else as `decide_forward`."""
        if key == self.identifier:
            return Decision(key, True)
        if self.predecessor is not None and self._space.is_between(key, self.predecessor, self.identifier):
            return Decision(self.identifier, True)
        return self.decide_forward(key)

    def decide_forward(self, key: int) -> Decision:
        """As published: to the successor if the key lies before it, else to the last known node before the key."""
        successor = self.successor()
        if successor is None:
            return Decision(self.identifier, True)
        if self._space.is_between(key, self.identifier, successor):
            return Decision(successor, True)
        return Decision(self.closest_preceding(key), False)

    def successor(self) -> int | None:
        """The next node; where the whole list is lost, the nearest finger takes its place."""
        if self.successors:
            return self.successors[0]
        return min((finger for finger in self.fingers if finger is not None), key=self.ahead, default=None)

    def closest_preceding(self, key: int) -> int:
        """Of the first finger from the top and the last successor that lie before the key, the farther one."""
        reach = self.ahead(key) or self._space.size
        finger = next((one for one in reversed(self.fingers) if one is not None and self.ahead(one) < reach), None)
        successor = next((one for one in reversed(self.successors) if self.ahead(one) < reach), None)
        known = [one for one in (finger, successor) if one is not None]
        return max(known, key=self.ahead)  # the successor lies before the key, or nobody would ask

    def follow(self, successor: int, its_successors: Iterable[int]) -> None:
        """Takes another node's successor list as its own, behind that node; it ends before this node comes again."""
        chain: list[int] = []
        for node in (successor, *its_successors):
            if node == self.identifier or len(chain) == self._most_successors:
                break
            if node not in chain:
                chain.append(node)
        self.successors = sorted(chain, key=self.ahead)

    def notified_by(self, node: int) -> None:
        """Another node thinks that it might be the predecessor; to one that is alone it is the successor as well."""
        if self.predecessor is None or self._space.is_between(node, self.predecessor, self.identifier):
            self.predecessor = node
        if not self.successors:
            self.successors = [node]

    def finger_start(self, number: int) -> int:
        return (self.identifier + (1 << number)) % self._space.size

    def set_finger(self, number: int, node: int) -> None:
        self.fingers[number] = None if node == self.identifier else node

    def hint_fingers(self, nodes: Iterable[int]) -> None:
        """Each finger as it would be if these nodes were all there are; looking them up makes it right."""
        ordered = sorted({self.ahead(node): node for node in nodes if node != self.identifier}.items())
        for number in range(len(self.fingers)):
            self.fingers[number] = next((node for ahead, node in ordered if ahead >= 1 << number), None)

    def forget(self, node: int) -> None:
        """Takes a node that is gone out of every table."""
        if node in self.successors:
            self.successors.remove(node)
        if node == self.predecessor:
            self.predecessor = None
        self.fingers = [None if finger == node else finger for finger in self.fingers]

    def tables(self) -> tuple[object, ...]:
        """What it knows, as one value: to see whether anything changed."""
        return self.predecessor, tuple(self.successors), tuple(self.fingers)


def finger_count(space: IdentifierSpace) -> int:
    return (space.size - 1).bit_length()
