"""Parts of Tnodes that were too full: where they are put, and where they go when their peer is needed (paper 1, 3.4).

A peer keeps a label for one forest only, in Tnodes and parts alike.
"""

from __future__ import annotations

from tidings.overlay.network import Process, Send
from tidings.systems.interface import IDENTIFIER_BYTES
from tidings.systems.pastry_strings.ground import POINTER_BYTES, Ground
from tidings.systems.pastry_strings.places import Label
from tidings.systems.pastry_strings.tnode import Name, Part, Tnode


class Parts:
    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    def part(self, host: int, tnode: Tnode) -> Part | None:
        """What a peer keeps for a full Tnode: nothing, where it has failed and come back."""
        return self.ground.peers[host].parts.get(tnode.name) if host in self.ground.peers else None

    def spilling(self, peer: int, tnode: Tnode) -> Process[tuple[int | None, int]]:
        """A new part at a peer chosen at random that keeps nothing of this label yet; None where all do."""
        ground = self.ground
        key = ground.random.randrange(ground.overlay.space.size)
        route = yield from ground.overlay.routing(peer, key, "place", POINTER_BYTES)
        here, hops = route.end, route.hops
        for _ in ground.overlay.nodes:
            if ground.keeps_nothing(here, tnode.name.label):
                ground.peers[here].parts[tnode.name] = Part(peer)
                tnode.parts[here] = 0
                yield Send("pointer", here, peer, POINTER_BYTES)
                return here, hops
            following = yield from ground.passing_clockwise(here, "place")
            if following is None:
                break
            here, hops = following, hops + 1
        return None, hops

    def evicting(self, peer: int, replica: int, label: Label) -> Process[None]:
        """Parts of the label in other forests leave the peer, so that its Tnode can come."""
        for name in tuple(self.ground.peers[peer].parts):
            if name.label == label and name.replica != replica:
                yield from self.moving(peer, name)

    def moving(self, source: int, name: Name) -> Process[None]:
        """A part goes to the next peer clockwise that keeps nothing of the label, or back to its Tnode."""
        ground = self.ground
        part = ground.peers[source].parts.pop(name)
        primary = ground.tnode(part.primary, *name)
        if (
            primary is None or source not in primary.parts
        ):  # lost; whoever rebuilds it takes the lists from another forest
            return
        held = primary.parts.pop(source)
        here: int | None = ground.overlay.owner_of(source)
        for _ in ground.overlay.nodes:
            if here is None or (here != source and ground.keeps_nothing(here, name.label)):
                break
            here = yield from ground.passing_clockwise(here, "place")
        if here is None or here == source or not ground.keeps_nothing(here, name.label):
            yield Send("move", source, part.primary, held * IDENTIFIER_BYTES)
            for each in part.lists.everything():
                primary.lists.add(*each)
            return
        yield Send("move", source, here, held * IDENTIFIER_BYTES)
        ground.peers[here].parts[name] = part
        primary.parts[here] = held
        yield Send("pointer", here, part.primary, POINTER_BYTES)
