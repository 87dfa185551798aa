"""A forest of string trees on a Pastry network: finding, making and walking Tnodes, message by message (paper 1, 3.1).

Invariants. The root of a tree is at the owner of the hash of its replica and first character, or clockwise next to it;
a child is where its parent's row of Pastry's table points (row: depth + 1, modulo `levels`), or at the owner of the
identifier that the empty entry stands for, or clockwise next to it. A peer keeps a label for one forest only: so
`replicas` - 1 failures leave one forest whole, label by label. A step from Tnode to Tnode on one peer is no message.
"""

from __future__ import annotations

from typing import NamedTuple

from tidings.overlay.network import Process, Send
from tidings.overlay.pastry import Pastry
from tidings.systems.pastry_strings.ground import POINTER_BYTES, Ground
from tidings.systems.pastry_strings.parts import Parts
from tidings.systems.pastry_strings.places import Label
from tidings.systems.pastry_strings.settings import ForestSettings
from tidings.systems.pastry_strings.tnode import Name, Pointer, Tnode


class Position(NamedTuple):
    """A copy of a Tnode that was reached, and after how many messages."""

    peer: int
    replica: int
    hops: int


class Forest(Ground):
    def __init__(self, overlay: Pastry, settings: ForestSettings) -> None:
        super().__init__(overlay, settings)
        self.parts = Parts(self)

    # Finding.

    def entering(self, start: int, tree: Label, replica: int, payload_bytes: int = 0) -> Process[Position | None]:
        """To a root of the tree: of that forest, or of the next one where it cannot be found; None if there is none."""
        hops = 0
        for turn in range(self.settings.replicas):
            chosen = (replica + turn) % self.settings.replicas
            found = yield from self._finding_root(start, tree, chosen, payload_bytes)
            hops += found.hops
            if self.tnode(found.peer, chosen, tree) is not None:
                return Position(found.peer, chosen, hops)
            if (yield Send("answer", found.peer, start)) and found.peer != start:
                hops += 1
        return None

    def _finding_root(self, start: int, tree: Label, replica: int, payload_bytes: int) -> Process[Position]:
        """Where the search ended: at the root, or where it was given up."""
        key = self.root_key(replica, tree)
        route = yield from self.overlay.routing(start, key, "route", payload_bytes)
        here, hops = route.end, route.hops
        for _ in range(self.settings.replicas if self.settings.replicas > 1 else 0):
            if self.tnode(here, replica, tree) is not None:
                break
            following = yield from self.passing_clockwise(here, "route")
            if following is None:
                break
            here, hops = following, hops + 1
        return Position(here, replica, hops)

    def stepping(
        self, at: Position, label: Label, replica: int, identifiers: int = 0, payload_bytes: int = 0
    ) -> Process[Position | None]:
        """From a Tnode to its child with that label: in the forest asked for, or in another where that peer is gone."""
        children = self.known(at.peer, at.replica, label[:-1]).children.get(label[-1], {})
        for turn in range(self.settings.replicas):
            chosen = (replica + turn) % self.settings.replicas
            peer = children.get(chosen)
            if peer is None:
                continue
            arrived = yield from self.carrying("walk", at.peer, peer, identifiers, payload_bytes)
            if arrived and self.tnode(peer, chosen, label) is not None:
                return Position(peer, chosen, at.hops + (peer != at.peer))
        return None

    def switching(self, at: Position, label: Label, tried: set[int]) -> Process[Position | None]:
        """To a copy of the same Tnode in a forest that was not tried."""
        for replica, peer in tuple(self.known(at.peer, at.replica, label).copies.items()):
            if replica in tried or not (yield Send("walk", at.peer, peer, POINTER_BYTES)):
                continue
            if self.tnode(peer, replica, label) is not None:
                return Position(peer, replica, at.hops + 1)
        return None

    def reaching(
        self, start: int, label: Label, replica: int, create: bool, payload_bytes: int = 0
    ) -> Process[Position | None]:
        """To the Tnode of the label; made with all on the way where `create` says so, else None if there is none."""
        at = yield from self.entering(start, label[:1], replica, payload_bytes)
        if at is None and create:
            yield from self.planting(start, label[:1])
            at = yield from self.entering(start, label[:1], replica, payload_bytes)
        for length in range(2, len(label) + 1):
            if at is None:
                return None
            if create and label[length - 1] not in self.known(at.peer, at.replica, label[: length - 1]).children:
                yield from self.growing(at, label[:length])
            at = yield from self.stepping(at, label[:length], replica, 0, payload_bytes)
        return at

    # Making.

    def planting(self, start: int, tree: Label) -> Process[None]:
        """The roots of a new tree, one in each forest."""
        hosts: dict[int, int] = {}
        for replica in range(self.settings.replicas):
            route = yield from self.overlay.routing(start, self.root_key(replica, tree), "place", POINTER_BYTES)
            host = yield from self.settling(route.end, replica, tree)
            if host is not None:
                hosts[replica] = host
                self.peers[host].tnodes[Name(replica, tree)] = Tnode(Name(replica, tree), None, {replica: host})
        for replica, host in hosts.items():
            self.known(host, replica, tree).copies.update(hosts)
            yield from self.linking(host, replica, tree)

    def growing(self, at: Position, label: Label) -> Process[None]:
        """A new child in each forest: the Tnode that was asked tells its copies."""
        made: dict[int, int] = {}
        for replica, peer in sorted(self.known(at.peer, at.replica, label[:-1]).copies.items()):
            if (yield Send("place", at.peer, peer, POINTER_BYTES)):
                host = yield from self.placing(peer, replica, label)
                if host is not None:
                    made[replica] = host
                    tnode = Tnode(Name(replica, label), peer, {replica: host})
                    self.peers[host].tnodes[tnode.name] = tnode
        for replica, host in made.items():
            self.known(host, replica, label).copies.update(made)
            yield from self.linking(host, replica, label)

    def placing(self, parent: int, replica: int, label: Label) -> Process[int | None]:
        """The peer that is to host a child of a Tnode at the parent's peer: by its table, or the owner's."""
        entry, wanted = self.entry_for(parent, len(label) - 2, label[-1])
        if entry is None or not (yield Send("place", parent, entry, POINTER_BYTES)):
            route = yield from self.overlay.routing(parent, wanted, "place", POINTER_BYTES)
            entry = route.end
        return (yield from self.settling(entry, replica, label))

    def settling(self, peer: int, replica: int, label: Label) -> Process[int | None]:
        """The peer, or the first one clockwise without a Tnode of the label; parts of it that are there must go."""
        here: int | None = peer
        for _ in range(self.settings.replicas):
            if here is None or self.is_free(here, replica, label):
                break
            here = yield from self.passing_clockwise(here, "place")
        if here is None or not self.is_free(here, replica, label):
            return None
        yield from self.parts.evicting(here, replica, label)
        return here

    # Pointers.

    def linking(self, peer: int, replica: int, label: Label) -> Process[None]:
        """A Tnode that is new at this peer makes itself known to all that point to it."""
        tnode = self.known(peer, replica, label)
        for other, at in tuple(tnode.copies.items()):
            if other != replica and (yield Send("pointer", peer, at, POINTER_BYTES)):
                copy = self.tnode(at, other, label)
                if copy is not None:
                    copy.copies[replica] = peer
        for digit in tuple(tnode.children):
            child = tnode.child(digit)
            if child is not None and (yield Send("pointer", peer, child, POINTER_BYTES)):
                below = self.tnode(child, replica, (*label, digit))
                if below is not None:
                    below.parent = peer
        for part in tnode.parts:
            if (yield Send("pointer", peer, part, POINTER_BYTES)) and tnode.name in self.peers[part].parts:
                self.peers[part].parts[tnode.name].primary = peer
        if tnode.parent is not None:
            yield from self._linking_above(tnode, peer)

    def _linking_above(self, tnode: Tnode, peer: int) -> Process[None]:
        (replica, label), own = tnode.name, tnode.parent
        assert own is not None
        if (yield Send("pointer", peer, own, POINTER_BYTES)) and self.tnode(own, replica, label[:-1]) is not None:
            above = Position(own, replica, 0)
        else:  # gone, and not restored yet: a copy of it must know, or nobody would find this one
            found = yield from self.reaching(peer, label[:-1], replica, False, POINTER_BYTES)
            if found is None:
                return
            above = found
        parent = self.known(above.peer, above.replica, label[:-1])
        for other, at in tuple(parent.copies.items()):
            if (yield Send("pointer", above.peer, at, POINTER_BYTES)):
                copy = self.tnode(at, other, parent.name.label)
                if copy is not None:
                    copy.children.setdefault(label[-1], {})[replica] = peer
        if above.replica == replica:
            yield from self._linking_siblings(tnode, peer, parent, above.peer)
            yield from self._linking_grandparent(tnode, peer, parent, above.peer)

    def _linking_grandparent(self, tnode: Tnode, peer: int, parent: Tnode, above: int) -> Process[None]:
        """Its descendant pointer leads to the leftmost child of each of its children."""
        replica, label = tnode.name
        over = parent.parent if self.leftmost(parent) == label[-1] else None
        if over is not None and (yield Send("pointer", above, over, POINTER_BYTES)):
            grandparent = self.tnode(over, replica, label[:-2])
            if grandparent is not None:
                grandparent.descendants[label[-2]] = Pointer(label[-1], peer)

    def _linking_siblings(self, tnode: Tnode, peer: int, parent: Tnode, above: int) -> Process[None]:
        digits = self.digits_below(parent)
        at = digits.index(tnode.name.label[-1])
        left = digits[at - 1] if at > 0 else None
        right = digits[at + 1] if at + 1 < len(digits) else None
        yield Send("pointer", above, peer, 2 * POINTER_BYTES)
        tnode.left, tnode.right = self.pointer(parent, left), self.pointer(parent, right)
        mine = Pointer(digits[at], peer)
        for digit, is_left in ((left, True), (right, False)):
            sibling_peer = None if digit is None else parent.child(digit)
            if digit is None or sibling_peer is None or not (yield Send("pointer", above, sibling_peer, POINTER_BYTES)):
                continue
            sibling = self.tnode(sibling_peer, tnode.name.replica, (*parent.name.label, digit))
            if sibling is not None and is_left:
                sibling.right = mine
            elif sibling is not None:
                sibling.left = mine

    def digits_below(self, tnode: Tnode) -> list[int]:
        """The children in the same forest, from left to right."""
        return sorted(digit for digit in tnode.children if tnode.child(digit) is not None)

    def leftmost(self, tnode: Tnode) -> int | None:
        return next(iter(self.digits_below(tnode)), None)

    def pointer(self, parent: Tnode, digit: int | None) -> Pointer | None:
        peer = None if digit is None else parent.child(digit)
        return None if digit is None or peer is None else Pointer(digit, peer)
