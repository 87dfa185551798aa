"""What every overlay offers: who is there, who owns a key, how a message gets to the owner, and how nodes come and go.

A node is named by its address on the network, a whole number. Keys are of the overlay's own kind `Key`: identifiers
for Chord and Pastry (there an address is an identifier too). The place for others is that type: the keys of a skip
graph are ordered values and those of CAN points, and the rest of this page stays as it is.

Two forms of everything that sends: a process (`routing`, `joining`, …), to be used with `yield from` in a process of
one's own, so that many things can be under way at once; and a plain call (`route`, `join`, …), which runs the network
until it is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tidings.overlay.network import Network, Process

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Route(Generic[Key]):
    """A way through an overlay: the nodes in their order, the start first. Where it was not delivered it just ends.

    What was sent more than once on the way, or to nodes that were gone, is in the ledger and not here.
    """

    key: Key
    path: tuple[int, ...]
    delivered: bool

    @property
    def hops(self) -> int:
        return len(self.path) - 1

    @property
    def end(self) -> int:
        return self.path[-1]


class Overlay(Protocol[Key]):
    network: Network

    # What is known to who looks at the whole: for tests, experiments, and the start of things. Costs no message.

    @property
    def nodes(self) -> Sequence[int]:
        """The nodes that are up, in ascending order."""
        ...

    def owner_of(self, key: Key) -> int:
        """The node that owns a key among those that are up, by the overlay's definition."""
        ...

    def holders_of(self, key: Key, count: int) -> tuple[int, ...]:
        """The owner and the nodes that would own the key next if it failed, and so on: where copies are to be."""
        ...

    def check(self, *, settled: bool = True) -> None:
        """Raises an AssertionError that names the first thing that does not hold.

        With `settled` everything, as it is when nobody came or went since maintenance was done; without, only what
        holds at every moment.
        """
        ...

    # What a node knows by itself. Costs no message.

    def next_hop(self, node: int, key: Key) -> int:
        """To which node this node would send a message for the key; to itself where it takes itself for the owner."""
        ...

    def heirs(self, node: int, key: Key, count: int) -> tuple[int, ...]:
        """The nodes that would own a key of this node's after it, as far as it knows: where its copies are to be."""
        ...

    # Messages.

    def routing(self, start: int, key: Key, kind: str = "route", payload_bytes: int = 0) -> Process[Route[Key]]:
        """Hop by hop to the owner. Nodes found to be gone are forgotten on the way, and others are tried."""
        ...

    def route(self, start: int, key: Key, kind: str = "route", payload_bytes: int = 0) -> Route[Key]: ...

    # Coming and going.

    def joining(self, node: int, via: int) -> Process[bool]:
        """A new node enters through one that is in, by the published protocol; False if nobody let it in."""
        ...

    def leaving(self, node: int) -> Process[None]:
        """A node says farewell to those who know it, and is gone."""
        ...

    def stabilising(self, node: int) -> Process[None]:
        """One round of maintenance at one node: what it does now and then."""
        ...

    def join(self, node: int, via: int | None = None) -> bool:
        """Without `via`, through the node that is up and has the smallest address."""
        ...

    def leave(self, node: int) -> None: ...

    def fail(self, node: int) -> None:
        """The node is gone without a word; the others find out when they miss its answers."""
        ...

    def stabilise(self, rounds: int = 1) -> None:
        """Rounds of maintenance, in each one at every node, one after the other in ascending order."""
        ...

    def settle(self) -> None:
        """Rounds of maintenance until no table changes."""
        ...
