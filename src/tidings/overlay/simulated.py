"""What the overlays simulated here have in common: who is up, plain calls over processes, and rounds of maintenance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from tidings.errors import IdentifierError
from tidings.overlay.interface import Route
from tidings.overlay.network import Network, Process, Send
from tidings.overlay.spaces import IdentifierSpace


class Decision(NamedTuple):
    """Where a node sends a message on to; with `last`, that it is at its owner there."""

    target: int
    last: bool


class NodeState(Protocol):
    identifier: int

    def decide(self, key: int) -> Decision: ...

    def forget(self, node: int) -> None: ...

    def tables(self) -> tuple[object, ...]: ...


State = TypeVar("State", bound=NodeState)


class SimulatedOverlay(ABC, Generic[State]):
    """An overlay over an identifier space whose keys are identifiers."""

    def __init__(self, space: IdentifierSpace, network: Network | None = None) -> None:
        self.space = space
        self.network = network or Network()
        self._states: dict[int, State] = {}
        self._nodes: list[int] = []

    # The whole.

    @property
    def nodes(self) -> Sequence[int]:
        return tuple(self._nodes)

    def state(self, node: int) -> State:
        """The tables of a node that is up."""
        if node not in self._states:
            raise IdentifierError(f"node {node} is not up; {len(self._nodes)} nodes are: see `nodes`")
        return self._states[node]

    @abstractmethod
    def owner_of(self, key: int) -> int: ...

    @abstractmethod
    def holders_of(self, key: int, count: int) -> tuple[int, ...]: ...

    @abstractmethod
    def heirs(self, node: int, key: int, count: int) -> tuple[int, ...]: ...

    @abstractmethod
    def check(self, *, settled: bool = True) -> None: ...

    def next_hop(self, node: int, key: int) -> int:
        return self.state(node).decide(key).target

    # Messages.

    def route(self, start: int, key: int, kind: str = "route", payload_bytes: int = 0) -> Route[int]:
        return self.network.complete(self.routing(start, key, kind, payload_bytes))

    def routing(self, start: int, key: int, kind: str = "route", payload_bytes: int = 0) -> Process[Route[int]]:
        self.state(start)
        self.space.check_identifier(key, "the key")
        return self._forwarding(start, key, kind, payload_bytes)

    def _forwarding(
        self, start: int, key: int, kind: str, payload_bytes: int, newcomer: int | None = None, whole_way: bool = False
    ) -> Process[Route[int]]:
        """`newcomer` is joining: who knows it from an earlier stay has an entry that leads nowhere yet.

        `whole_way`: see `_decision`.
        """
        path = [start]
        delivered = False
        while not delivered and len(path) <= self.most_hops and self.network.is_up(path[-1]):
            here = path[-1]
            target, last = self._decision(here, key, whole_way)
            if target == newcomer:
                self._states[here].forget(target)
            elif target == here:
                delivered = True
            elif (yield Send(kind, here, target, payload_bytes, len(path))) and target in self._states:
                path.append(target)
                delivered = last
            else:
                self.missed(here, target)
        if delivered:
            self.network.ledger.record_route(kind, len(path) - 1)
        return Route(key, tuple(path), delivered)

    def _decision(self, node: int, key: int, whole_way: bool) -> Decision:
        """With `whole_way` an owner that could answer by itself does not: the way ends with the hop to it."""
        return self._states[node].decide(key)

    @property
    def most_hops(self) -> int:
        """Where routing gives up: tables that are wrong enough may lead in a circle."""
        return 2 * self.space.length + len(self._nodes)

    @abstractmethod
    def missed(self, node: int, gone: int) -> None:
        """A node that is up forgets one that does not answer, and may set off a repair."""

    # Coming and going.

    @abstractmethod
    def joining(self, node: int, via: int) -> Process[bool]: ...

    @abstractmethod
    def leaving(self, node: int) -> Process[None]: ...

    @abstractmethod
    def stabilising(self, node: int) -> Process[None]: ...

    @abstractmethod
    def _new_state(self, node: int) -> State: ...

    def join(self, node: int, via: int | None = None) -> bool:
        self.space.check_identifier(node, "the node")
        if node in self._states:
            raise IdentifierError(f"node {node} is up already; choose another identifier, or let it leave first")
        if not self._nodes:
            self.enter(node)
            return True
        return self.network.complete(self.joining(node, self._nodes[0] if via is None else via))

    def leave(self, node: int) -> None:
        self.state(node)
        self.network.complete(self.leaving(node))

    def fail(self, node: int) -> None:
        self.state(node)
        self.exit(node)

    def stabilise(self, rounds: int = 1) -> None:
        for _ in range(rounds):
            for node in self.nodes:
                self.network.complete(self.stabilising(node))

    def settle(self) -> None:
        unchanged = 0
        before = self.tables()
        while unchanged < self.rounds_to_see_all:
            self.stabilise()
            after = self.tables()
            unchanged = unchanged + 1 if after == before else 0
            before = after

    @property
    @abstractmethod
    def rounds_to_see_all(self) -> int:
        """After how many rounds without a change every entry of every table has been looked at."""

    def tables(self) -> dict[int, tuple[object, ...]]:
        """What every node knows, as one value."""
        return {node: self._states[node].tables() for node in self._nodes}

    def enter(self, node: int) -> State:
        """The node is up, and knows nobody."""
        state = self._new_state(node)
        self._states[node] = state
        insort(self._nodes, node)
        self.network.attach(node)
        return state

    def exit(self, node: int) -> None:
        del self._states[node]
        del self._nodes[bisect_left(self._nodes, node)]
        self.network.detach(node)
