"""Storing, removing and collecting identifiers at Tnodes, also at full ones that have spilled (paper 1, 3.4 and 4).

Invariant: each forest that is whole holds every entry once under each of its labels, at the label's Tnode or in one of
its parts. What is stored carries what an event must satisfy: the Tnode asks that of the event before it hands an
identifier out, so that cut labels, numbers between two steps and `a%c` are right too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from tidings.model.event import Event
from tidings.model.predicates import Conjunction
from tidings.overlay.network import Process, Send
from tidings.rendezvous.scheme import Verified
from tidings.systems.interface import IDENTIFIER_BYTES
from tidings.systems.pastry_strings.forest import Forest, Position
from tidings.systems.pastry_strings.places import Label, ListName, Walk
from tidings.systems.pastry_strings.tnode import Lists, Tnode

_VERIFIED = Verified()


@dataclass(frozen=True, slots=True)
class Collected:
    """What a walk brought back, how long its chain of messages was, and how many entries were turned away."""

    entries: frozenset[Hashable]
    hops: int
    rejected: int = 0


class Keeper:
    """What is stored in a forest, and how it gets there and back."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest

    # Storing.

    def storing(
        self, start: int, name: ListName, label: Label, replica: int, entry: Hashable, check: Conjunction
    ) -> Process[int]:
        """At the label's Tnode in one forest; returns the hops. Where its peer is gone, repair will bring the entry."""
        at = yield from self.forest.reaching(start, label, replica, True, IDENTIFIER_BYTES)
        if at is None or at.replica != replica:
            return 0 if at is None else at.hops
        further = yield from self.adding(at.peer, self.forest.known(at.peer, replica, label), name, entry, check)
        return at.hops + further

    def adding(self, peer: int, tnode: Tnode, name: ListName, entry: Hashable, check: Conjunction) -> Process[int]:
        """To the Tnode itself, or to a part of it when it is full; returns the messages in a chain."""
        fullest = self.forest.settings.fullest
        if fullest is None or len(tnode.lists) < fullest:
            tnode.lists.add(name, entry, check)
            return 0
        for host, held in tuple(tnode.parts.items()):
            if held < fullest and (yield from self._sending_entry(peer, host)) and self.forest.parts.part(host, tnode):
                self._add_to_part(host, tnode, name, entry, check)
                return 1
        chosen, hops = yield from self.forest.parts.spilling(peer, tnode)
        if chosen is None:
            tnode.lists.add(name, entry, check)
            return hops
        yield from self._sending_entry(peer, chosen)
        self._add_to_part(chosen, tnode, name, entry, check)
        return hops + 1

    def _sending_entry(self, source: int, target: int) -> Process[bool]:
        return (yield from self.forest.carrying("store", source, target, 1, IDENTIFIER_BYTES))

    def _add_to_part(self, host: int, tnode: Tnode, name: ListName, entry: Hashable, check: Conjunction) -> None:
        self.forest.peers[host].parts[tnode.name].lists.add(name, entry, check)
        tnode.parts[host] += 1

    # Removing.

    def removing(self, start: int, name: ListName, label: Label, replica: int, entry: Hashable) -> Process[int]:
        at = yield from self.forest.reaching(start, label, replica, False, IDENTIFIER_BYTES)
        if at is None or at.replica != replica:
            return 0 if at is None else at.hops
        tnode = self.forest.known(at.peer, replica, label)
        if tnode.lists.remove(name, entry):
            return at.hops
        for host in tuple(tnode.parts):
            arrived = yield Send("store", at.peer, host, IDENTIFIER_BYTES)
            part = self.forest.parts.part(host, tnode) if arrived else None
            if part is not None and part.lists.remove(name, entry):
                tnode.parts[host] -= 1
                if not part.lists:
                    del tnode.parts[host], self.forest.peers[host].parts[tnode.name]
                break
        return at.hops + 1

    # Collecting.

    def collecting(self, start: int, walk: Walk, event: Event, event_bytes: int, replica: int) -> Process[Collected]:
        """Walks the path, and brings everything that was found on it back to the start."""
        forest, found, rejected = self.forest, set[Hashable](), 0
        at = yield from self._entering(start, walk.label[:1], replica, event_bytes)
        last: Position | None = None
        for length in range(min(1, len(walk.label)), len(walk.label) + 1):
            if at is None:
                break
            label = walk.label[:length]
            lists = walk.on_the_way + (walk.at_the_end if length == len(walk.label) else ())
            gathered = yield from self._gathering_anywhere(at, label, lists, event, event_bytes)
            last, entries, refused = gathered
            found, rejected = found | entries, rejected + refused
            at = yield from self._stepping(last, walk.label, length, replica, found, event_bytes)
        if last is None:
            return Collected(frozenset(), 0)
        bytes_found = len(found) * IDENTIFIER_BYTES
        yield from forest.carrying("answer", last.peer, start, len(found), bytes_found)
        return Collected(frozenset(found), last.hops + (last.peer != start), rejected)

    def _entering(self, start: int, tree: Label, replica: int, event_bytes: int) -> Process[Position | None]:
        at = yield from self.forest.entering(start, tree, replica, event_bytes)
        if at is None and self.forest.settings.whole_paths:
            yield from self.forest.planting(start, tree)
            at = yield from self.forest.entering(start, tree, replica, event_bytes)
        return at

    def _stepping(
        self, at: Position, label: Label, length: int, replica: int, found: set[Hashable], event_bytes: int
    ) -> Process[Position | None]:
        if length == len(label):
            return None
        forest, child = self.forest, label[: length + 1]
        if child[-1] not in forest.known(at.peer, at.replica, label[:length]).children:
            if not forest.settings.whole_paths:
                return None
            yield from forest.growing(at, child)
        payload_bytes = event_bytes + len(found) * IDENTIFIER_BYTES
        return (yield from forest.stepping(at, child, replica, len(found), payload_bytes))

    def _gathering_anywhere(
        self, at: Position, label: Label, names: Iterable[ListName], event: Event, event_bytes: int
    ) -> Process[tuple[Position, set[Hashable], int]]:
        """From this copy of the Tnode, or from another one where a part of this one is gone."""
        names = tuple(names)
        tried: set[int] = set()
        best: tuple[set[Hashable], int] = set(), 0
        here: Position | None = at
        while here is not None:
            at = here
            tried.add(here.replica)
            entries, refused, whole = yield from self._gathering(here, label, names, event, event_bytes)
            best = best[0] | entries, max(best[1], refused)
            if whole:
                break
            here = yield from self.forest.switching(here, label, tried)
        return at, *best

    def _gathering(
        self, at: Position, label: Label, names: tuple[ListName, ...], event: Event, event_bytes: int
    ) -> Process[tuple[set[Hashable], int, bool]]:
        tnode = self.forest.known(at.peer, at.replica, label)
        entries, refused = satisfied(tnode.lists, names, event)
        whole = True
        for host in tuple(tnode.parts):
            arrived = yield Send("walk", at.peer, host, event_bytes)
            part = self.forest.parts.part(host, tnode) if arrived else None
            if part is None:
                whole = False
                continue
            more, turned_away = satisfied(part.lists, names, event)
            yield from self.forest.carrying("answer", host, at.peer, len(more), len(more) * IDENTIFIER_BYTES)
            entries, refused = entries | more, refused + turned_away
        return entries, refused, whole


def satisfied(lists: Lists, names: Iterable[ListName], event: Event) -> tuple[set[Hashable], int]:
    """The entries of these lists whose check the event satisfies, and how many others there were."""
    found: set[Hashable] = set()
    refused = 0
    for name in names:
        for entry, check in lists.entries(name).items():
            if _VERIFIED.verify(check, event):
                found.add(entry)
            else:
                refused += 1
    return found, refused
