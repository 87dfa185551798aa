"""PastryStrings as a system of peers: subscriptions with any predicates of which a tree has a place for one (paper 1).

A subscription is an OR of conjunctions; each conjunction is stored in a list for every predicate that a tree has a
place for, in all replica forests, and it matches when an event has found it in all of these lists (4.2). Predicates
without a place (negations, regular expressions, …) are asked where the conjunction's first predicate is stored.
Survives `replicas` - 1 failures between two calls of `heal`; with one forest a failure loses what the peer kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from tidings.errors import UnsupportedError
from tidings.language.printer import print_expression
from tidings.model.event import Event, Identifier
from tidings.model.predicates import Conjunction, Expression, Not, all_of
from tidings.overlay.network import Process
from tidings.overlay.pastry import Pastry
from tidings.systems.interface import Cost, Published, conjunctions_of, must_be_known, must_be_new
from tidings.systems.metering import Meter
from tidings.systems.pastry_strings.churn import Gardener
from tidings.systems.pastry_strings.forest import Forest
from tidings.systems.pastry_strings.invariants import check_forest
from tidings.systems.pastry_strings.keeping import Collected, Keeper
from tidings.systems.pastry_strings.places import Place, Places
from tidings.systems.pastry_strings.settings import ForestSettings

Result = TypeVar("Result")
NO_PLACE = "no string tree has a place for this: it needs =, IN, LIKE with text at an end, or a comparison of numbers"


class Entry(NamedTuple):
    """A subscription identifier as lists hold it: the peer that it came from, which conjunction of it, which of the
    lists this is, and in how many the conjunction must be found (c1, c2, c3 of the paper)."""

    peer: int
    subscription: Identifier
    conjunction: int
    list: int
    lists: int


@dataclass(frozen=True, slots=True)
class _Stored:
    peer: int
    places: tuple[tuple[Entry, Place, Conjunction], ...]


class PastryStrings:
    def __init__(self, overlay: Pastry, settings: ForestSettings | None = None) -> None:
        self.overlay = overlay
        self.settings = settings or ForestSettings()
        self.places = Places(self.settings, overlay.space.base)
        self.forest = Forest(overlay, self.settings)
        self.rejected = 0  # entries that events met and did not satisfy: 0 where labels say all there is to say
        self._keeper = Keeper(self.forest)
        self._gardener = Gardener(self.forest, self._keeper)
        self._meter = Meter(overlay.network)
        self._subscriptions: dict[Identifier, _Stored] = {}

    @property
    def name(self) -> str:
        return f"PastryStrings, base {self.overlay.space.base}, {self.settings.replicas} forests"

    @property
    def peers(self) -> Sequence[int]:
        return self.overlay.nodes

    def subscribe(self, subscription_id: Identifier, where: str | Expression, peer: int) -> Cost:
        must_be_new(subscription_id, self._subscriptions)
        self.overlay.state(peer)
        stored = _Stored(peer, self._entries(subscription_id, where, peer))
        _, cost = self._metered(self._storing(stored), lambda hops: hops)
        self._subscriptions[subscription_id] = stored
        return cost

    def unsubscribe(self, subscription_id: Identifier) -> Cost:
        must_be_known(subscription_id, self._subscriptions)
        stored = self._subscriptions.pop(subscription_id)
        return self._metered(self._removing(stored), lambda hops: hops)[1]

    def publish(self, event: Event | Mapping[str, Any], peer: int) -> Published:
        self.overlay.state(peer)
        walking = self._collecting(Event.of(event), peer)
        collected, cost = self._metered(walking, lambda walks: max((walk.hops for walk in walks), default=0))
        found: Counter[tuple[Identifier, int, int]] = Counter()
        for entry in frozenset[Hashable]().union(*(walk.entries for walk in collected)):
            assert isinstance(entry, Entry), entry
            found[entry.subscription, entry.conjunction, entry.lists] += 1
        matches = frozenset(subscription for (subscription, _, lists), count in found.items() if count == lists)
        self.rejected += sum(walk.rejected for walk in collected)
        return Published(matches, sum(len(walk.entries) for walk in collected), cost)

    def join(self, peer: int) -> Cost:
        return self._meter.cost_of(lambda: self._gardener.join(peer))

    def leave(self, peer: int) -> Cost:
        self.overlay.state(peer)
        return self._meter.cost_of(lambda: self._gardener.leave(peer))

    def fail(self, peer: int) -> None:
        self.overlay.fail(peer)
        del self.forest.peers[peer]

    def heal(self) -> Cost:
        return self._meter.cost_of(self._gardener.heal)

    def stored(self) -> Mapping[int, int]:
        return {peer: self.forest.peers[peer].stored() for peer in self.peers}

    def check(self) -> None:
        check_forest(self.forest)

    # Inside.

    def _entries(
        self, subscription_id: Identifier, where: str | Expression, peer: int
    ) -> tuple[tuple[Entry, Place, Conjunction], ...]:
        entries: list[tuple[Entry, Place, Conjunction]] = []
        for number, conjunction in enumerate(conjunctions_of(where)):
            places = self.places.of_conjunction(conjunction)
            if places is None:
                continue
            if not places:
                raise UnsupportedError(NO_PLACE, print_expression(all_of(conjunction.terms)), 0)
            placed = {predicate for _, predicate in places}
            rest = tuple(term for term in conjunction.terms if isinstance(term, Not) or term not in placed)
            for index, (place, predicate) in enumerate(places):
                entry = Entry(peer, subscription_id, number, index, len(places))
                entries.append((entry, place, Conjunction((predicate, *(rest if index == 0 else ())))))
        return tuple(entries)

    def _storing(self, stored: _Stored) -> Process[int]:
        hops = 0
        for entry, place, check in stored.places:
            for label in place.labels:
                for replica in range(self.settings.replicas):
                    took = yield from self._keeper.storing(stored.peer, place.list, label, replica, entry, check)
                    hops = max(hops, took)
        return hops

    def _removing(self, stored: _Stored) -> Process[int]:
        """From where it was subscribed, or from another peer where that one is gone."""
        start = stored.peer if stored.peer in self.forest.peers else self.peers[0]
        hops = 0
        for entry, place, _ in stored.places:
            for label in place.labels:
                for replica in range(self.settings.replicas):
                    took = yield from self._keeper.removing(start, place.list, label, replica, entry)
                    hops = max(hops, took)
        return hops

    def _collecting(self, event: Event, peer: int) -> Process[tuple[Collected, ...]]:
        found: list[Collected] = []
        event_bytes = len(repr(dict(event.attributes)))
        for walk in self.places.walks_of(event):
            replica = self.forest.random.randrange(self.settings.replicas)
            found.append((yield from self._keeper.collecting(peer, walk, event, event_bytes, replica)))
        return tuple(found)

    def _metered(self, process: Process[Result], hops_of: Callable[[Result], int]) -> tuple[Result, Cost]:
        before = self.forest.identifiers
        result, cost = self._meter.run(process)
        return result, Cost(cost.messages, cost.bytes, hops_of(result), self.forest.identifiers - before)
