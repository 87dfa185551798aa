"""The ground that trees stand on: what the peers of a forest keep, what each knows by itself, how one tells another."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from tidings.errors import SettingError
from tidings.overlay.network import Process, Send
from tidings.overlay.pastry import Pastry
from tidings.overlay.spaces import IdentifierSpace
from tidings.systems.pastry_strings.places import Label
from tidings.systems.pastry_strings.settings import ForestSettings
from tidings.systems.pastry_strings.tnode import Name, Peer, Tnode

POINTER_BYTES = 16


class Ground:
    def __init__(self, overlay: Pastry, settings: ForestSettings) -> None:
        if settings.replicas > overlay.settings.leaves // 2 or settings.replicas > len(overlay.nodes):
            raise SettingError(
                f"{settings.replicas} replica forests need as many peers, of which each knows as many on either side; "
                f"there are {len(overlay.nodes)} peers with {overlay.settings.leaves // 2} leaves on a side"
            )
        self.overlay = overlay
        self.settings = settings
        self.levels = settings.levels or rows_filled(len(overlay.nodes), overlay.space.base, overlay.space.length)
        if self.levels > overlay.space.length:
            raise SettingError(f"levels is at most {overlay.space.length}, the digits of identifiers: {self.levels}")
        self.peers: dict[int, Peer] = {node: Peer() for node in overlay.nodes}
        self.random = random.Random(settings.seed)
        self.identifiers = 0  # that messages have carried so far
        self.leaver: int | None = None  # who is handing over: nothing is to be placed there

    # What a peer knows by itself.

    def tnode(self, peer: int, replica: int, label: Label) -> Tnode | None:
        return self.peers[peer].tnodes.get(Name(replica, label)) if peer in self.peers else None

    def known(self, peer: int, replica: int, label: Label) -> Tnode:
        return self.peers[peer].tnodes[Name(replica, label)]

    def root_key(self, replica: int, tree: Label) -> int:
        return root_key(self.overlay.space, replica, tree, self.settings.seed)

    def entry_for(self, peer: int, depth: int, digit: int) -> tuple[int | None, int]:
        """Whom Pastry's table of the peer names for a child of a Tnode at that depth, and which identifier it is.

        A table may name somebody who has said goodbye since.
        """
        space = self.overlay.space
        row = (depth + 1) % self.levels
        had = space.digit(peer, row)
        wanted = peer + (digit - had) * space.places[row]
        named = peer if digit == had else self.overlay.state(peer).rows[row].get(digit)
        return (None if named == self.leaver else named), wanted

    def root_hosts(self, tree: Label) -> dict[int, int]:
        """Where the roots of a tree belong: clockwise from the owners of their keys, each at another peer."""
        nodes = self.overlay.nodes
        hosts: dict[int, int] = {}
        for replica in range(min(self.settings.replicas, len(nodes))):
            at = nodes.index(self.overlay.owner_of(self.root_key(replica, tree)))
            while nodes[at % len(nodes)] in hosts.values():
                at += 1
            hosts[replica] = nodes[at % len(nodes)]
        return hosts

    def is_free(self, peer: int, replica: int, label: Label) -> bool:
        """Whether the peer hosts the label's Tnode in no other forest."""
        return not any(Name(r, label) in self.peers[peer].tnodes for r in range(self.settings.replicas) if r != replica)

    def keeps_nothing(self, peer: int, label: Label) -> bool:
        """Whether the peer has neither a Tnode of the label nor a part of one."""
        return not self.peers[peer].replicas_of(label, self.settings.replicas)

    # Carrying.

    def carrying(self, kind: str, source: int, target: int, identifiers: int, payload_bytes: int) -> Process[bool]:
        if source != target:
            self.identifiers += identifiers
        return (yield Send(kind, source, target, payload_bytes))

    def passing_clockwise(self, peer: int, kind: str) -> Process[int | None]:
        """To the next peer that is up; None where there is no other."""
        for following in tuple(self.overlay.state(peer).leaf_set.larger):
            if (yield Send(kind, peer, following)):
                return following
        return None

    # The whole.

    def tnodes(self) -> Iterator[tuple[int, Tnode]]:
        """Every Tnode that there is, with its peer; parents before children."""
        everything = ((peer, tnode) for peer, state in self.peers.items() for tnode in state.tnodes.values())
        return iter(sorted(everything, key=lambda found: (len(found[1].name.label), found[1].name, found[0])))

    def trees(self) -> Iterable[Label]:
        return sorted({tnode.name.label[:1] for _, tnode in self.tnodes()})


def root_key(space: IdentifierSpace, replica: int, tree: Label, seed: int) -> int:
    """The identifier at which the root of a tree is to be found."""
    return space.key_of(f"root {replica} {' '.join(map(str, tree))}", seed)


def rows_filled(peers: int, base: int, length: int) -> int:
    """How many rows of Pastry's tables a network of that size fills: log_β N, rounded up."""
    rows = 1
    while rows < length and base**rows < peers:
        rows += 1
    return rows
