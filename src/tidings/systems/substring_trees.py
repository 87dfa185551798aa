"""Texts in string trees over Pastry, with a table of all roots at every root (paper 2, 4.3 and 4.4).

The trees are those of PastryStrings. All roots are planted at the start, and each knows all others: whoever comes in
pays for one route, and goes from root to root with single messages. A pointer of the table that is out of date costs a
route instead. Every suffix of a value, cut to the longest text, walks its tree and collects on the way; one that
another walk passes over anyway is left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from tidings.model.event import Event
from tidings.model.predicates import Conjunction
from tidings.overlay.network import Process, Send
from tidings.overlay.pastry import Pastry
from tidings.systems.interface import IDENTIFIER_BYTES
from tidings.systems.pastry_strings.churn import Gardener
from tidings.systems.pastry_strings.forest import Forest, Position
from tidings.systems.pastry_strings.ground import POINTER_BYTES
from tidings.systems.pastry_strings.invariants import check_forest
from tidings.systems.pastry_strings.keeping import Keeper
from tidings.systems.pastry_strings.places import Label, ListName, Places, Walk
from tidings.systems.pastry_strings.settings import ForestSettings
from tidings.systems.pastry_strings.tnode import Name
from tidings.systems.substring_keys import Deposit, Keys, SubstringSettings, strings_of

LIST = "text"


class RootedForest(Forest):
    """`root_tables`: for each root, what its table says of where the roots are, itself too."""

    def __init__(self, overlay: Pastry, settings: ForestSettings, item_bytes: int) -> None:
        super().__init__(overlay, settings)
        self.root_tables: dict[Name, dict[Name, int]] = {}
        self._more_bytes = item_bytes - IDENTIFIER_BYTES
        for digit in range(overlay.space.base):
            overlay.network.complete(self.planting(overlay.nodes[0], (digit,)))

    def carrying(self, kind: str, source: int, target: int, identifiers: int, payload_bytes: int) -> Process[bool]:
        return super().carrying(kind, source, target, identifiers, payload_bytes + identifiers * self._more_bytes)

    def entering(self, start: int, tree: Label, replica: int, payload_bytes: int = 0) -> Process[Position | None]:
        pointed = self._table_at(start).get(Name(replica, tree))
        arrived = pointed is not None and (yield Send("jump", start, pointed, payload_bytes))
        if arrived and pointed is not None and self.tnode(pointed, replica, tree) is not None:
            return Position(pointed, replica, int(pointed != start))
        return (yield from super().entering(start, tree, replica, payload_bytes))

    def _table_at(self, peer: int) -> Mapping[Name, int]:
        """The table of a root that the peer hosts; nothing where it hosts none."""
        hosted = self.peers[peer].tnodes if peer in self.peers else {}
        return next((self.root_tables[name] for name in hosted if name in self.root_tables), {})

    def linking(self, peer: int, replica: int, label: Label) -> Process[None]:
        yield from super().linking(peer, replica, label)
        if len(label) == 1:
            yield from self._announcing(peer, Name(replica, label))

    def _announcing(self, peer: int, name: Name) -> Process[None]:
        """A root that is new at its peer gets a table, unless it brought its own, and tells all others where it is."""
        if name not in self.root_tables:
            self.root_tables[name] = yield from self._asking_for_table(peer, name)
        table = self.root_tables[name]
        table[name] = peer
        for other, at in tuple(table.items()):
            heard = other != name and (yield Send("pointer", peer, at, POINTER_BYTES))
            if heard and self.tnode(at, *other) is not None and other in self.root_tables:
                self.root_tables[other][name] = peer

    def _asking_for_table(self, peer: int, name: Name) -> Process[dict[Name, int]]:
        """From a copy in another forest, else from the first other root that is found."""
        if not self.root_tables:  # the first root of all
            return {}
        for replica, at in self.known(peer, *name).copies.items():
            table = yield from self._fetching_table(at, peer, Name(replica, name.label))
            if table:
                return table
        for digit in range(self.overlay.space.base):
            found = (yield from super().entering(peer, (digit,), name.replica)) if (digit,) != name.label else None
            if found is not None:
                table = yield from self._fetching_table(found.peer, peer, Name(found.replica, (digit,)))
                if table:
                    return table
        return {}

    def _fetching_table(self, source: int, peer: int, root: Name) -> Process[dict[Name, int]]:
        table = self.root_tables.get(root, {}) if self.tnode(source, *root) is not None else {}
        arrived = table and (yield Send("pointer", source, peer, POINTER_BYTES * len(table)))
        return dict(table) if arrived else {}

    def forget_roots_at(self, peer: int) -> None:
        """The peer failed, and the tables of its roots with it."""
        for name in self.peers[peer].tnodes:
            self.root_tables.pop(name, None)


class TreedTexts:
    def __init__(self, overlay: Pastry, keys: Keys, settings: SubstringSettings) -> None:
        self.overlay = overlay
        self._keys = keys
        self._shortest = settings.shortest
        self._failures = 0  # since it was healed
        forest_settings = ForestSettings(depth=keys.longest, replicas=settings.replicas, seed=settings.seed)
        self.forest = RootedForest(overlay, forest_settings, keys.item_bytes)
        self._places = Places(forest_settings, overlay.space.base)
        self._keeper = Keeper(self.forest)
        self._gardener = Gardener(self.forest, self._keeper)

    @property
    def name(self) -> str:
        return "PS"

    @property
    def identifiers(self) -> int:
        return self.forest.identifiers

    # Processes.

    def storing(self, start: int, deposits: Iterable[Deposit]) -> Process[int]:
        """To the first root by a route, and from there to all others. Returns the longest chain of messages."""
        longest = 0
        for replica in range(self.forest.settings.replicas):
            here, before = start, 0
            for text, item, check, guard in deposits:
                label = self._places.digits_of_text(text.text)
                if here == start:
                    root = yield from self.forest.entering(start, label[:1], replica, self._keys.item_bytes)
                    here, before = (root.peer, root.hops) if root is not None else (start, 0)
                at = yield from self.forest.reaching(here, label, replica, True, self._keys.item_bytes)
                if at is not None and at.replica == replica:
                    tnode = self.forest.known(at.peer, replica, label)
                    name, guarded = ListName(text.attribute, LIST), Conjunction((*guard, *check))
                    further = yield from self._keeper.adding(at.peer, tnode, name, item, guarded)
                    longest = max(longest, before + at.hops + further)
        return longest

    def removing(self, start: int, deposits: Iterable[Deposit]) -> Process[int]:
        longest = 0
        for text, item, _, _ in deposits:
            label = self._places.digits_of_text(text.text)
            for replica in range(self.forest.settings.replicas):
                hops = yield from self._keeper.removing(start, ListName(text.attribute, LIST), label, replica, item)
                longest = max(longest, hops)
        return longest

    def collecting(self, start: int, event: Event, event_bytes: int) -> Process[tuple[list[Hashable], int]]:
        """To a root by a route; from there all walks set out and come back to, and one answer goes to the start."""
        walks = self.walks(event)
        if not walks:
            return [], 0
        replica = self.forest.random.randrange(self.forest.settings.replicas)
        root = yield from self.forest.entering(start, walks[0].label[:1], replica, event_bytes)
        here, before = (root.peer, root.hops) if root is not None else (start, 0)
        found: dict[Hashable, None] = {}
        longest = 0
        for walk in walks:
            collected = yield from self._keeper.collecting(here, walk, event, event_bytes, replica)
            found.update(dict.fromkeys(collected.entries))
            longest = max(longest, collected.hops)
        bytes_found = IDENTIFIER_BYTES * len(found)
        yield from self.forest.carrying("answer", here, start, len(found), bytes_found)
        return list(found), before + longest + (here != start)

    def walks(self, event: Event) -> list[Walk]:
        found: list[Walk] = []
        for attribute, values in strings_of(event).items():
            paths = {
                self._places.digits_of_text(value[at:])
                for value in values
                for at in range(len(value) - self._shortest + 1)
            }
            passed = {path[:length] for path in paths for length in range(1, len(path))}
            found += [Walk(path, (ListName(attribute, LIST),), ()) for path in sorted(paths - passed)]
        return found

    # Coming and going.

    def join(self, peer: int) -> None:
        self._gardener.join(peer)

    def leave(self, peer: int) -> None:
        self._gardener.leave(peer)

    def fail(self, peer: int) -> None:
        self.forest.forget_roots_at(peer)
        self.overlay.fail(peer)
        del self.forest.peers[peer]
        self._failures += 1

    def heal(self) -> None:
        self._gardener.heal()
        self._failures = 0

    # The whole.

    def stored(self) -> Mapping[int, int]:
        return {peer: self.forest.peers[peer].stored() for peer in self.overlay.nodes}

    def check(self) -> None:
        if self._failures:
            return
        check_forest(self.forest)
        roots = {tnode.name: peer for peer, tnode in self.forest.tnodes() if tnode.parent is None}
        for name, table in self.forest.root_tables.items():
            assert table == roots, f"the table of root {name} is out of date"
        assert self.forest.root_tables.keys() == roots.keys(), "a root has no table"
