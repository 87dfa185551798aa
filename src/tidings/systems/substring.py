"""Substring matching on peers, by the four algorithms of paper 2: complete and n-grams, on any DHT and in string trees.

A subscription is an OR of conjunctions. Each predicate that says which text a value contains (LIKE, =, IN) is stored
by that text; a conjunction matches when an event has found all of its predicates that are stored. What is left
(negations, numbers, …) is asked where the first of them is stored. Choose by what is scarce (paper 2, Table 2):
complete-IND runs on any DHT and needs the most messages; n-grams bring each identifier once for every gram; the trees
need Pastry, and tables of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tidings.errors import UnsupportedError
from tidings.language.printer import print_expression
from tidings.model.event import Event, Identifier
from tidings.model.predicates import Expression, Not, Predicate, all_of
from tidings.overlay.chord import Chord
from tidings.overlay.network import Process
from tidings.overlay.pastry import Pastry
from tidings.systems.interface import Cost, Published, conjunctions_of, must_be_known, must_be_new
from tidings.systems.metering import Meter
from tidings.systems.pastry_strings.system import Entry
from tidings.systems.substring_keys import (
    CompleteKeys,
    Deposit,
    GramKeys,
    Keys,
    SubstringSettings,
    Term,
    pieces_of,
)
from tidings.systems.substring_store import HashedTexts
from tidings.systems.substring_trees import TreedTexts


class Texts(Protocol):
    """Where texts are: one of the two substrates."""

    overlay: Any

    @property
    def name(self) -> str: ...

    @property
    def identifiers(self) -> int: ...

    def storing(self, start: int, deposits: Iterable[Deposit]) -> Process[int]: ...

    def removing(self, start: int, deposits: Iterable[Deposit]) -> Process[int]: ...

    def collecting(self, start: int, event: Event, event_bytes: int) -> Process[tuple[list[Hashable], int]]: ...

    def join(self, peer: int) -> None: ...

    def leave(self, peer: int) -> None: ...

    def fail(self, peer: int) -> None: ...

    def heal(self) -> None: ...

    def stored(self) -> Mapping[int, int]: ...

    def check(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Stored:
    peer: int
    deposits: tuple[Deposit, ...]


class SubstringSystem:
    """Survives `replicas` - 1 failures between two calls of `heal`."""

    def __init__(self, keys: Keys, texts: Texts, settings: SubstringSettings) -> None:
        self.texts = texts
        self.settings = settings
        self._keys = keys
        self._meter = Meter(texts.overlay.network)
        self._subscriptions: dict[Identifier, _Stored] = {}

    @property
    def name(self) -> str:
        return f"{self._keys.name}-{self.texts.name} on {type(self.texts.overlay).__name__}"

    @property
    def peers(self) -> Sequence[int]:
        peers: Sequence[int] = self.texts.overlay.nodes
        return peers

    def subscribe(self, subscription_id: Identifier, where: str | Expression, peer: int) -> Cost:
        must_be_new(subscription_id, self._subscriptions)
        self.texts.overlay.state(peer)
        stored = _Stored(peer, self._deposits(subscription_id, where, peer))
        _, cost = self._metered(self.texts.storing(peer, stored.deposits), lambda hops: hops)
        self._subscriptions[subscription_id] = stored
        return cost

    def unsubscribe(self, subscription_id: Identifier) -> Cost:
        """From where it was subscribed, or from another peer where that one is gone."""
        must_be_known(subscription_id, self._subscriptions)
        stored = self._subscriptions.pop(subscription_id)
        start = stored.peer if stored.peer in self.peers else self.peers[0]
        return self._metered(self.texts.removing(start, stored.deposits), lambda hops: hops)[1]

    def publish(self, event: Event | Mapping[str, Any], peer: int) -> Published:
        self.texts.overlay.state(peer)
        read = Event.of(event)
        event_bytes = len(repr(dict(read.attributes)))
        (items, _), cost = self._metered(self.texts.collecting(peer, read, event_bytes), lambda result: result[1])
        found = Counter((entry.subscription, entry.conjunction, entry.lists) for entry in self._keys.found(items, read))
        matches = frozenset(subscription for (subscription, _, lists), count in found.items() if count == lists)
        return Published(matches, len(items), cost)

    def join(self, peer: int) -> Cost:
        return self._meter.cost_of(lambda: self.texts.join(peer))

    def leave(self, peer: int) -> Cost:
        self.texts.overlay.state(peer)
        return self._meter.cost_of(lambda: self.texts.leave(peer))

    def fail(self, peer: int) -> None:
        self.texts.overlay.state(peer)
        self.texts.fail(peer)

    def heal(self) -> Cost:
        return self._meter.cost_of(self.texts.heal)

    def stored(self) -> Mapping[int, int]:
        return self.texts.stored()

    def check(self) -> None:
        self.texts.check()

    # Inside.

    def _metered(self, process: Process[Any], hops_of: Callable[[Any], int]) -> tuple[Any, Cost]:
        before = self.texts.identifiers
        result, cost = self._meter.run(process)
        return result, Cost(cost.messages, cost.bytes, hops_of(result), self.texts.identifiers - before)

    def _deposits(self, subscription_id: Identifier, where: str | Expression, peer: int) -> tuple[Deposit, ...]:
        deposits: list[Deposit] = []
        for number, conjunction in enumerate(conjunctions_of(where)):
            places = [term for term in conjunction.terms if self._has_place(term)]
            if not places:
                raise UnsupportedError(self._no_place(), print_expression(all_of(conjunction.terms)), 0)
            rest = tuple(term for term in conjunction.terms if not self._has_place(term))
            for index, predicate in enumerate(places):
                entry = Entry(peer, subscription_id, number, index, len(places))
                deposits += self._keys.deposits(entry, _predicate(predicate), rest if index == 0 else ())
        return tuple(deposits)

    def _has_place(self, term: Term) -> bool:
        pieces = pieces_of(term)
        return pieces is not None and all(len(piece) >= self.settings.shortest for piece in pieces)

    def _no_place(self) -> str:
        return (
            f"nothing says which text a value contains: it needs LIKE, = or IN with a text of at least "
            f"{self.settings.shortest} characters"
        )


def _predicate(term: Term) -> Predicate:
    assert not isinstance(term, Not), term
    return term


def complete_ind(overlay: Chord | Pastry, settings: SubstringSettings | None = None) -> SubstringSystem:
    chosen = settings or SubstringSettings()
    keys = CompleteKeys(chosen)
    return SubstringSystem(keys, HashedTexts(overlay, keys, chosen), chosen)


def ngrams_ind(overlay: Chord | Pastry, settings: SubstringSettings | None = None) -> SubstringSystem:
    chosen = settings or SubstringSettings()
    keys = GramKeys(chosen)
    return SubstringSystem(keys, HashedTexts(overlay, keys, chosen), chosen)


def complete_ps(overlay: Pastry, settings: SubstringSettings | None = None) -> SubstringSystem:
    chosen = settings or SubstringSettings()
    keys = CompleteKeys(chosen)
    return SubstringSystem(keys, TreedTexts(overlay, keys, chosen), chosen)


def ngrams_ps(overlay: Pastry, settings: SubstringSettings | None = None) -> SubstringSystem:
    chosen = settings or SubstringSettings()
    keys = GramKeys(chosen)
    return SubstringSystem(keys, TreedTexts(overlay, keys, chosen), chosen)
