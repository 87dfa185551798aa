"""Peers that come and go: Tnodes move to newcomers, are handed over by leavers, and are rebuilt after failures (3.5).

A newcomer takes the roots whose keys it owns, and each child for which a table of Pastry now names it. A leaver hands
its Tnodes to whom the tables name without it. After a failure the father finds a new host; the table of the lost Tnode
comes back from its children, reached by the descendant pointer and from there along siblings; its lists come from a
replica forest, and so does what the chain of siblings missed.
"""

from __future__ import annotations

from tidings.errors import SettingError
from tidings.overlay.network import Process, Send
from tidings.systems.interface import IDENTIFIER_BYTES
from tidings.systems.pastry_strings.forest import Forest
from tidings.systems.pastry_strings.ground import POINTER_BYTES
from tidings.systems.pastry_strings.keeping import Keeper
from tidings.systems.pastry_strings.places import Label
from tidings.systems.pastry_strings.repair import Repair
from tidings.systems.pastry_strings.tnode import Name, Peer, Tnode


class Gardener:
    def __init__(self, forest: Forest, keeper: Keeper) -> None:
        self.forest = forest
        self.keeper = keeper

    def join(self, peer: int) -> None:
        if self.forest.overlay.join(peer):
            self.forest.peers[peer] = Peer()
            self.forest.overlay.network.complete(self._welcoming(peer))

    def leave(self, peer: int) -> None:
        forest = self.forest
        if len(forest.overlay.nodes) <= forest.settings.replicas:
            raise SettingError(
                f"peer {peer} cannot leave: {forest.settings.replicas} forests need as many peers, "
                f"and {len(forest.overlay.nodes)} are up; let another one join first"
            )
        network = forest.overlay.network
        forest.overlay.leave(peer)
        network.attach(peer)  # out of the overlay, and on the wire until all is handed over
        forest.leaver = peer
        try:
            network.complete(self._handing_over(peer))
        finally:
            forest.leaver = None
        network.detach(peer)
        del forest.peers[peer]

    def heal(self) -> None:
        self.forest.overlay.settle()
        self.forest.overlay.network.complete(Repair(self.forest, self.keeper, self).healing())

    # Arrival.

    def _welcoming(self, peer: int) -> Process[None]:
        for tree in self.forest.trees():
            yield from self.rooting(tree)
        for host, tnode in self.forest.tnodes():
            replica, label = tnode.name
            for digit in self.forest.digits_below(tnode):
                named, _ = self.forest.entry_for(host, len(label) - 1, digit)
                child = tnode.child(digit)
                is_moving = named == peer != child and self.forest.is_free(peer, replica, (*label, digit))
                if is_moving and child is not None and self.forest.tnode(child, replica, (*label, digit)):
                    yield Send("place", host, child, POINTER_BYTES)
                    yield from self.moving(child, peer, Name(replica, (*label, digit)))

    def rooting(self, tree: Label) -> Process[None]:
        """Each root that is up goes to the peer that owns its key by now."""
        found = {tnode.name.replica: peer for peer, tnode in self.forest.tnodes() if tnode.name.label == tree}
        for replica, host in self.forest.root_hosts(tree).items():
            if replica in found and found[replica] != host:
                yield from self.forest.parts.evicting(host, replica, tree)
                yield from self.moving(found[replica], host, Name(replica, tree))

    def moving(self, source: int, target: int, name: Name) -> Process[None]:
        """A Tnode changes its host, with its lists and pointers; its parts stay where they are."""
        tnode = self.forest.known(source, *name)
        if not (yield Send("move", source, target, _weight(tnode))):
            return
        del self.forest.peers[source].tnodes[name]
        self.forest.peers[target].tnodes[name] = tnode
        tnode.copies[name.replica] = target
        yield from self.forest.linking(target, *name)

    # Departure.

    def _handing_over(self, peer: int) -> Process[None]:
        forest, state = self.forest, self.forest.peers[peer]
        for name in sorted(state.tnodes, key=lambda name: (len(name.label), name)):
            tnode = state.tnodes.get(name)
            if tnode is None:  # moved with its tree
                continue
            if tnode.parent is None:
                yield from self.rooting(name.label)
                continue
            above = tnode.parent if forest.tnode(tnode.parent, name.replica, name.label[:-1]) else None
            if above is None:
                target = yield from forest.settling(forest.overlay.owner_of(peer), *name)
            else:
                target = yield from forest.placing(above, *name)
            if target is not None:
                yield from self.moving(peer, target, name)
        for name in tuple(state.parts):
            yield from forest.parts.moving(peer, name)


def _weight(tnode: Tnode) -> int:
    pointers = len(tnode.copies) + len(tnode.descendants) + sum(map(len, tnode.children.values())) + len(tnode.parts)
    return len(tnode.lists) * IDENTIFIER_BYTES + pointers * POINTER_BYTES
