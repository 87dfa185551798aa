"""What every publish/subscribe system of the papers can do, and what each operation says about its cost.

Two promises. Matches are those of the definition of a match (`tidings.reference`), also while peers come and go, if no
more of them fail between two calls of `heal` than the system says it survives. And nothing is free: whatever one peer
must tell another is a message in the cost, by kind; a step that stays within one peer is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tidings.errors import IdentifierError
from tidings.language.parser import parse
from tidings.model.event import Event, Identifier
from tidings.model.normal_form import conjunctions
from tidings.model.predicates import Conjunction, Expression

IDENTIFIER_BYTES = (
    12  # of a subscription's identifier in a message: peer, number there, predicates (paper 1, section 4)
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Messages and bytes by kind, of one operation or, added up, of many.

    `hops` is the length of the longest chain of messages each of which waited for the one before: the operation's
    latency in messages. `identifiers` counts the subscription identifiers that messages carried, once for each message
    (paper 1, 5.3.2 calls this the traffic of an event).
    """

    messages: Mapping[str, int] = field(default_factory=dict)
    bytes: Mapping[str, int] = field(default_factory=dict)
    hops: int = 0
    identifiers: int = 0

    @property
    def total_messages(self) -> int:
        return sum(self.messages.values())

    @property
    def total_bytes(self) -> int:
        return sum(self.bytes.values())

    def __add__(self, other: Cost) -> Cost:
        """The cost of both. Two operations do not wait for each other, so the longer chain is the latency."""
        return Cost(
            dict(Counter(self.messages) + Counter(other.messages)),
            dict(Counter(self.bytes) + Counter(other.bytes)),
            max(self.hops, other.hops),
            self.identifiers + other.identifiers,
        )


@dataclass(frozen=True, slots=True)
class Published:
    """What became of an event: who is to hear of it, how many identifiers reached the publisher (the result set, in
    which an identifier may occur several times), and what it cost."""

    matches: frozenset[Identifier]
    collected: int
    cost: Cost


class System(Protocol):
    """Subscriptions and events on simulated peers. Peers are named by their identifiers in the overlay."""

    @property
    def name(self) -> str: ...

    @property
    def peers(self) -> Sequence[int]:
        """Those that are up, in ascending order."""
        ...

    def subscribe(self, subscription_id: Identifier, where: str | Expression, peer: int) -> Cost:
        """Stores a subscription that a client of the peer makes. Refuses what this system has no place for."""
        ...

    def unsubscribe(self, subscription_id: Identifier) -> Cost: ...

    def publish(self, event: Event | Mapping[str, Any], peer: int) -> Published:
        """Finds the subscriptions that an event satisfies, which a client of the peer publishes."""
        ...

    def join(self, peer: int) -> Cost:
        """A new peer arrives and takes over what it is responsible for."""
        ...

    def leave(self, peer: int) -> Cost:
        """A peer says that it goes, and hands over what it has."""
        ...

    def fail(self, peer: int) -> None:
        """A peer is gone without a word, with all that it had. Nobody has noticed yet."""
        ...

    def heal(self) -> Cost:
        """The peers that are left notice who is gone, and repair what they know and hold."""
        ...

    def stored(self) -> Mapping[int, int]:
        """How many identifiers each peer that is up holds: its storage load."""
        ...

    def check(self) -> None:
        """Raises AssertionError where an invariant does not hold."""
        ...


def conjunctions_of(where: str | Expression) -> tuple[Conjunction, ...]:
    """What a subscription asks, as conjunctions of which one must be true."""
    return conjunctions(parse(where) if isinstance(where, str) else where)


def must_be_new(subscription_id: Identifier, known: Mapping[Identifier, object]) -> None:
    if subscription_id in known:
        raise IdentifierError(
            f"there is a subscription {subscription_id!r} already; unsubscribe it first, or choose another identifier"
        )


def must_be_known(subscription_id: Identifier, known: Mapping[Identifier, object]) -> None:
    if subscription_id not in known:
        raise IdentifierError(f"there is no subscription {subscription_id!r} to unsubscribe")
