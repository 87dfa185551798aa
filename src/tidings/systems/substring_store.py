"""Texts at the owners of their hashes, on any overlay: under the DHT-independent algorithms (paper 2, 4.1, 4.2).

Invariant: when peers have come or gone in peace, and after `heal`, a text is held by its owner and by the peers that
would own it next, `replicas` of them in all, and by nobody else; all hold the same. Whoever owns a text after fewer
failures than that therefore has it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import islice

from tidings.errors import SettingError
from tidings.model.event import Event
from tidings.model.predicates import Conjunction
from tidings.overlay.chord import Chord
from tidings.overlay.network import Process, Send
from tidings.overlay.pastry import Pastry
from tidings.rendezvous.scheme import Verified
from tidings.systems.substring_keys import Deposit, Keys, SubstringSettings, Text

_VERIFIED = Verified()


class HashedTexts:
    def __init__(self, overlay: Chord | Pastry, keys: Keys, settings: SubstringSettings) -> None:
        known = overlay.successors if isinstance(overlay, Chord) else overlay.settings.leaves // 2
        if settings.replicas > known:
            raise SettingError(
                f"{settings.replicas} replicas need peers that know as many neighbours on a side; these know {known}"
            )
        self.overlay = overlay
        self.identifiers = 0  # that messages have carried so far
        self._keys = keys
        self._settings = settings
        self._held: dict[int, dict[Text, dict[Hashable, Conjunction | None]]] = {node: {} for node in overlay.nodes}
        self._failures = 0  # since it was healed

    @property
    def name(self) -> str:
        return "IND"

    def key_of(self, text: Text) -> int:
        return self.overlay.space.key_of("\0".join(text), self._settings.seed)

    # Processes.

    def storing(self, start: int, deposits: Iterable[Deposit]) -> Process[int]:
        """Returns the longest chain of messages."""
        longest = 0
        for text, item, check, _ in deposits:
            key = self.key_of(text)
            route = yield from self.overlay.routing(start, key, "store", self._keys.item_bytes)
            self.identifiers += route.hops
            kept = Conjunction(check) if check else None
            self._held[route.end].setdefault(text, {})[item] = kept
            copies = yield from self._telling_heirs(route.end, key)
            for heir in copies:
                self._held[heir].setdefault(text, {})[item] = kept
            longest = max(longest, route.hops + bool(copies))
        return longest

    def _telling_heirs(self, owner: int, key: int) -> Process[list[int]]:
        """An item is sent to as many heirs as are to hold it too; who does not answer is passed over."""
        wanted, told = self._settings.replicas - 1, list[int]()
        for heir in self.overlay.heirs(owner, key, len(self.overlay.nodes)):
            if len(told) == wanted:
                break
            self.identifiers += 1
            if (yield Send("copy", owner, heir, self._keys.item_bytes)):
                told.append(heir)
        return told

    def removing(self, start: int, deposits: Iterable[Deposit]) -> Process[int]:
        longest = 0
        for text, item, _, _ in deposits:
            key = self.key_of(text)
            route = yield from self.overlay.routing(start, key, "store", self._keys.item_bytes)
            self._drop(route.end, text, item)
            copies = yield from self._telling_heirs(route.end, key)
            for heir in copies:
                self._drop(heir, text, item)
            longest = max(longest, route.hops + bool(copies))
        return longest

    def _drop(self, peer: int, text: Text, item: Hashable) -> None:
        items = self._held[peer].get(text, {})
        items.pop(item, None)
        if not items:
            self._held[peer].pop(text, None)

    def collecting(self, start: int, event: Event, event_bytes: int) -> Process[tuple[list[Hashable], int]]:
        """Everything that the event finds at the texts it visits, and the longest chain of messages."""
        found: list[Hashable] = []
        longest = 0
        for text in self._keys.visits(event):
            route = yield from self.overlay.routing(start, self.key_of(text), "visit", event_bytes)
            items = self._satisfied(route.end, text, event)
            found.extend(items)
            if route.end != start:
                self.identifiers += len(items)
                yield Send("answer", route.end, start, self._keys.item_bytes * len(items))
            longest = max(longest, route.hops + (route.end != start))
        return found, longest

    def _satisfied(self, peer: int, text: Text, event: Event) -> list[Hashable]:
        items = self._held[peer].get(text, {}).items()
        return [item for item, check in items if check is None or _VERIFIED.verify(check, event)]

    # Coming and going.

    def join(self, peer: int) -> None:
        if self.overlay.join(peer):
            self._held[peer] = {}
            self.overlay.network.complete(self._rearranging())

    def leave(self, peer: int) -> None:
        if len(self.overlay.nodes) == 1:
            raise SettingError(f"peer {peer} cannot leave: it is the only one; let another one join first")
        network = self.overlay.network
        self.overlay.leave(peer)
        network.attach(peer, receiving=False)  # out of the overlay, and on the wire until all is handed over
        network.complete(self._rearranging())
        network.detach(peer)
        del self._held[peer]

    def fail(self, peer: int) -> None:
        self.overlay.fail(peer)
        del self._held[peer]
        self._failures += 1

    def heal(self) -> None:
        self.overlay.settle()
        self.overlay.network.complete(self._rearranging())
        self._failures = 0

    def _rearranging(self) -> Process[None]:
        """Texts go to those who are to hold them by now; those who are not any more give them up."""
        for text, peers in self._holders().items():
            everything = {item: kept for peer in peers for item, kept in self._held[peer][text].items()}
            due = self.overlay.holders_of(self.key_of(text), self._settings.replicas)
            for holder in due:
                missing = everything.keys() - self._held[holder].get(text, {}).keys()
                source = next((peer for peer in peers if missing and missing <= self._held[peer][text].keys()), None)
                if source is not None:
                    self.identifiers += len(missing)
                    if (yield Send("move", source, holder, self._keys.item_bytes * len(missing))):
                        self._held[holder].setdefault(text, {}).update({item: everything[item] for item in missing})
            if any(text in self._held[holder] for holder in due):
                for peer in peers:
                    if peer not in due:
                        del self._held[peer][text]

    def _holders(self) -> dict[Text, list[int]]:
        found: dict[Text, list[int]] = {}
        for peer in sorted(self._held):
            for text in self._held[peer]:
                found.setdefault(text, []).append(peer)
        return found

    # The whole.

    def stored(self) -> Mapping[int, int]:
        return {peer: sum(map(len, self._held[peer].values())) for peer in self.overlay.nodes}

    def check(self) -> None:
        assert sorted(self._held) == list(self.overlay.nodes), "peers that hold texts are not those that are up"
        for text, peers in self._holders().items():
            assert all(self._held[peer][text] for peer in peers), f"{text} is held, but nothing under it"
            if self._failures == 0:
                due = sorted(self.overlay.holders_of(self.key_of(text), self._settings.replicas))
                assert peers == due, f"{text} is held by {peers}, not by {due}"
                first = self._held[peers[0]][text]
                assert all(self._held[peer][text] == first for peer in islice(peers, 1, None)), f"{text} differs"
