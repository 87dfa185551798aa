"""Rebuilding what failed peers took with them, tree by tree from the roots down (paper 1, 3.5.2).

When it is done every label has a Tnode in every forest again, with the lists of a forest that was whole, and all
pointers are right. Where more peers failed than the forests survive, lists that no copy holds are lost; Tnodes whose
fathers are gone without a trace find their place again by walking there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Protocol

from tidings.model.predicates import Conjunction
from tidings.overlay.network import Process, Send
from tidings.systems.interface import IDENTIFIER_BYTES
from tidings.systems.pastry_strings.forest import Forest
from tidings.systems.pastry_strings.ground import POINTER_BYTES
from tidings.systems.pastry_strings.keeping import Keeper
from tidings.systems.pastry_strings.places import Label, ListName
from tidings.systems.pastry_strings.tnode import Name, Pointer, Tnode


class Mover(Protocol):
    def rooting(self, tree: Label) -> Process[None]: ...


class Repair:
    def __init__(self, forest: Forest, keeper: Keeper, mover: Mover) -> None:
        self.forest = forest
        self.keeper = keeper
        self.mover = mover

    def healing(self) -> Process[None]:
        """From the roots down; then those that were not reached find fathers, and all is looked at again."""
        kept = yield from self._healing_trees()
        while orphans := self._orphans(kept):
            for peer, tnode in orphans:
                yield from self._adopting(peer, tnode)
            kept = yield from self._healing_trees()
        self._give_up_all_but(kept)

    def _healing_trees(self) -> Process[set[tuple[int, Name]]]:
        """Every Tnode that can be reached from a root, when all of those that were lost are there again."""
        kept: set[tuple[int, Name]] = set()
        for tree in self.forest.trees():
            waiting = [(tree, (yield from self._healing_roots(tree)))]
            while waiting:
                label, hosts = waiting.pop()
                kept.update((peer, Name(replica, label)) for replica, peer in hosts.items())
                yield from self._agreeing(label, hosts)
                yield from self._refilling(label, hosts)
                for digit in self._digits(label, hosts):
                    child = (*label, digit)
                    waiting.append((child, (yield from self._healing_children(child, hosts))))
        return kept

    def _agreeing(self, label: Label, hosts: dict[int, int]) -> Process[None]:
        """Copies that came back by different ways hear of each other, and of each other's children."""
        copies = {replica: self.forest.known(peer, replica, label) for replica, peer in hosts.items()}
        children: dict[int, dict[int, int]] = {}
        for replica, copy in copies.items():
            for digit in self.forest.digits_below(copy):
                children.setdefault(digit, {})[replica] = copy.children[digit][replica]
        teller = next(iter(hosts.values()))
        for replica, copy in copies.items():
            if copy.copies != hosts or copy.children != children:
                yield Send("pointer", teller, hosts[replica], POINTER_BYTES * (len(hosts) + len(children)))
                copy.copies = dict(hosts)
                copy.children = {digit: dict(at) for digit, at in children.items()}

    def _orphans(self, kept: set[tuple[int, Name]]) -> list[tuple[int, Tnode]]:
        """Tnodes that no father points to, and of which there is not another one that was reached."""
        names = {name for _, name in kept}
        return [(peer, tnode) for peer, tnode in self.forest.tnodes() if tnode.name not in names]

    def _adopting(self, peer: int, tnode: Tnode) -> Process[None]:
        """A Tnode without a father walks from the root to where that one should be, and it is made if need be."""
        replica, label = tnode.name
        at = yield from self.forest.reaching(peer, label[:-1], replica, True, POINTER_BYTES)
        if at is not None and at.replica == replica:
            self.forest.known(at.peer, replica, label[:-1]).children.setdefault(label[-1], {})[replica] = peer
            tnode.parent = at.peer
            tnode.copies = {replica: peer}
            yield from self.forest.linking(peer, replica, label)
            yield from self._telling_father(peer, tnode)

    # Roots.

    def _healing_roots(self, tree: Label) -> Process[dict[int, int]]:
        if not self._hosts(tree):  # children are left
            anybody = next(peer for peer, tnode in self.forest.tnodes() if tnode.name.label[:1] == tree)
            yield from self.forest.planting(anybody, tree)
        yield from self.mover.rooting(tree)
        found = self._hosts(tree)
        for replica, host in self.forest.root_hosts(tree).items():
            if replica not in found:
                yield from self.forest.parts.evicting(host, replica, tree)
                yield from self._restoring(Name(replica, tree), host, None, found)
                found[replica] = host
        return found

    def _hosts(self, label: Label) -> dict[int, int]:
        return {tnode.name.replica: peer for peer, tnode in self.forest.tnodes() if tnode.name.label == label}

    # Below the roots.

    def _digits(self, label: Label, hosts: dict[int, int]) -> list[int]:
        return sorted({d for replica, peer in hosts.items() for d in self.forest.known(peer, replica, label).children})

    def _healing_children(self, child: Label, fathers: dict[int, int]) -> Process[dict[int, int]]:
        """Where the copies of a child are, the missing ones restored by their fathers."""
        forest, found = self.forest, dict[int, int]()
        for replica, father in fathers.items():
            peer = forest.known(father, replica, child[:-1]).child(child[-1])
            if peer is not None and forest.tnode(peer, replica, child) is not None:
                found[replica] = peer
        for replica in sorted(fathers.keys() - found.keys()):
            host = yield from forest.placing(fathers[replica], replica, child)
            if host is not None:
                yield from self._restoring(Name(replica, child), host, fathers[replica], found)
                found[replica] = host
        return found

    def _restoring(self, name: Name, host: int, father: int | None, copies: dict[int, int]) -> Process[None]:
        """A lost Tnode at its new host: children by the chain of siblings and from a copy, lists from a whole copy."""
        forest = self.forest
        tnode = Tnode(name, father, {**copies, name.replica: host})
        forest.peers[host].tnodes[name] = tnode
        if father is not None:
            yield from self._asking_the_chain(tnode, host, father)
        for replica, peer in copies.items():
            yield from self._sharing_children(tnode, host, forest.known(peer, replica, name.label), peer)
        yield from self._taking_lists(tnode, host, copies)
        yield from forest.linking(host, *name)
        yield from self._greeting_children(tnode, host)
        yield from self._telling_father(host, tnode)

    def _sharing_children(self, tnode: Tnode, host: int, copy: Tnode, peer: int) -> Process[None]:
        """A copy tells of all children that it knows in any forest, and hears of those that only the chain knew."""
        if (yield Send("restore", peer, host, POINTER_BYTES * sum(map(len, copy.children.values())))):
            for digit, hosts in copy.children.items():
                tnode.children[digit] = {**hosts, **tnode.children.get(digit, {})}
        if tnode.children != copy.children and (yield Send("restore", host, peer, POINTER_BYTES)):
            copy.children = {digit: dict(hosts) for digit, hosts in tnode.children.items()}

    def _asking_the_chain(self, tnode: Tnode, host: int, father: int) -> Process[None]:
        """The father's descendant pointer leads to one child of the lost Tnode, and sibling pointers to the others."""
        forest, (replica, label) = self.forest, tnode.name
        first = forest.known(father, replica, label[:-1]).descendants.get(label[-1])
        if first is None or not (yield Send("repair", father, first.peer, POINTER_BYTES)):
            return
        for side in ("left", "right"):
            at: Pointer | None = first
            while at is not None:
                child = forest.tnode(at.peer, replica, (*label, at.digit))
                if child is None:
                    break
                if at.digit not in tnode.children and (yield Send("repair", at.peer, host, POINTER_BYTES)):
                    tnode.children[at.digit] = {replica: at.peer}
                following: Pointer | None = child.left if side == "left" else child.right
                if following is not None and not (yield Send("repair", at.peer, following.peer, POINTER_BYTES)):
                    break
                at = following

    def _greeting_children(self, tnode: Tnode, host: int) -> Process[None]:
        """They tell of a child of theirs, and hear who their siblings are by now."""
        digits = self.forest.digits_below(tnode)
        for at, digit in enumerate(digits):
            peer = tnode.child(digit)
            child = None if peer is None else self.forest.tnode(peer, tnode.name.replica, (*tnode.name.label, digit))
            if peer is not None and child is not None and (yield Send("pointer", peer, host, POINTER_BYTES)):
                self._set_descendant(tnode, digit, child)
                yield Send("pointer", host, peer, 2 * POINTER_BYTES)
                child.left = self.forest.pointer(tnode, digits[at - 1] if at else None)
                child.right = self.forest.pointer(tnode, digits[at + 1] if at + 1 < len(digits) else None)

    def _telling_father(self, host: int, tnode: Tnode) -> Process[None]:
        replica, label = tnode.name
        if tnode.parent is not None and (yield Send("pointer", host, tnode.parent, POINTER_BYTES)):
            father = self.forest.tnode(tnode.parent, replica, label[:-1])
            if father is not None:
                self._set_descendant(father, label[-1], tnode)

    def _set_descendant(self, father: Tnode, digit: int, child: Tnode) -> None:
        leftmost = self.forest.leftmost(child)
        peer = None if leftmost is None else child.child(leftmost)
        if leftmost is None or peer is None:
            father.descendants.pop(digit, None)
        else:
            father.descendants[digit] = Pointer(leftmost, peer)

    # Lists.

    def _taking_lists(self, tnode: Tnode, host: int, copies: dict[int, int]) -> Process[None]:
        """All that a whole copy holds; where none is whole, all that any copy has left."""
        everything: dict[tuple[ListName, Hashable], Conjunction] = {}
        for replica, peer in copies.items():
            copy = self.forest.known(peer, replica, tnode.name.label)
            yield from self.forest.carrying("restore", peer, host, len(copy.lists), len(copy.lists) * IDENTIFIER_BYTES)
            for part in tuple(copy.parts):
                if self.forest.parts.part(part, copy) is not None:
                    held = copy.parts[part]
                    yield from self.forest.carrying("restore", part, host, held, held * IDENTIFIER_BYTES)
            everything.update({(name, entry): check for name, entry, check in self._held(copy)})
            if self._is_whole(copy):
                break
        yield from self._adding_missing(tnode, host, everything)

    def _refilling(self, label: Label, hosts: dict[int, int]) -> Process[None]:
        """Tnodes that lost a part get what was in it from a copy that lost none."""
        for replica, host in hosts.items():
            tnode = self.forest.known(host, replica, label)
            if not self._is_whole(tnode):
                for part in [part for part in tnode.parts if self.forest.parts.part(part, tnode) is None]:
                    del tnode.parts[part]
                others = {r: peer for r, peer in hosts.items() if r != replica}
                yield from self._taking_lists(tnode, host, others)

    def _adding_missing(
        self, tnode: Tnode, host: int, everything: dict[tuple[ListName, Hashable], Conjunction]
    ) -> Process[None]:
        had = {(name, entry) for name, entry, _ in self._held(tnode)}
        for (name, entry), check in everything.items():
            if (name, entry) not in had:
                yield from self.keeper.adding(host, tnode, name, entry, check)

    def _held(self, tnode: Tnode) -> Iterator[tuple[ListName, Hashable, Conjunction]]:
        yield from tnode.lists.everything()
        for host in tnode.parts:
            part = self.forest.parts.part(host, tnode)
            if part is not None:
                yield from part.lists.everything()

    def _is_whole(self, tnode: Tnode) -> bool:
        return all(self.forest.parts.part(host, tnode) is not None for host in tnode.parts)

    def _give_up_all_but(self, kept: set[tuple[int, Name]]) -> None:
        for peer, state in self.forest.peers.items():
            for name in tuple(state.tnodes):
                if (peer, name) not in kept:
                    del state.tnodes[name]
        for peer, state in self.forest.peers.items():
            for name, part in tuple(state.parts.items()):
                primary = self.forest.tnode(part.primary, *name)
                if primary is None or peer not in primary.parts:
                    del state.parts[name]
