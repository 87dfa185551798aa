"""The same forest over arrays: where its Tnodes are, what requests cost, and what they bring, for millions of requests.

When to choose it: for experiments at the size of the papers, in a network that does not change. Tnodes are at the peers
where `Forest` would put them, and messages of the kinds `route`, `walk` and `answer` are those that it would send; not
counted are those for making Tnodes (`place`, `pointer`) and for looking for trees that do not exist. Labels must say
all there is to say: strings no longer than the trees are deep, numbers on the steps of their domain, no `a%c`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tidings.overlay.bulk import route_all
from tidings.overlay.bulk_tables import PastryTables
from tidings.systems.pastry_strings.ground import root_key, rows_filled
from tidings.systems.pastry_strings.labels import Labels
from tidings.systems.pastry_strings.settings import ForestSettings

Integers: TypeAlias = NDArray[np.int64]


class Requests(NamedTuple):
    """What many walks cost: messages of each (routed to the root, from Tnode to Tnode), the Tnode where each ended, and
    by peer the routed messages passed on, the routed and the walking ones received, and the Tnodes visited."""

    routed: Integers
    walked: Integers
    ends: Integers
    passed_on: Integers
    route_received: Integers
    walk_received: Integers
    visits: Integers

    @property
    def messages(self) -> Integers:
        return self.routed + self.walked


class Contents(NamedTuple):
    """Lists of all Tnodes, one after the other: list i of Tnode t is `entries[start[k] : start[k + 1]]`, where k is the
    place of t * lists + i in `names`."""

    names: Integers
    start: Integers
    entries: Integers
    lists: int

    def bounds(self, tnodes: Integers, lists: Integers) -> tuple[Integers, Integers]:
        """Where the entries of these lists begin and end; nowhere for a Tnode -1 or a list -1."""
        wanted = tnodes * self.lists + lists
        at = np.searchsorted(self.names, wanted)
        found = (tnodes >= 0) & (lists >= 0) & (at < len(self.names))
        found[found] = self.names[at[found]] == wanted[found]
        low = np.where(found, self.start[np.where(found, at, 0)], 0)
        return low, np.where(found, self.start[np.where(found, at + 1, 0)], low)


class BulkForest:
    """Trees for all the given labels; `labels` are codes of `Labels`."""

    def __init__(self, tables: PastryTables, settings: ForestSettings, labels: Integers) -> None:
        self.tables = tables
        self.settings = settings
        self.labels = Labels(tables.space.base, settings.depth)
        self.levels = settings.levels or rows_filled(len(tables.nodes), tables.space.base, tables.space.length)
        self.codes = self.labels.with_beginnings(labels)
        self.lengths = self.labels.lengths(self.codes)
        self.parents = self.find(self.labels.cut(self.codes, self.lengths - 1))
        self.parents[self.lengths <= 1] = -1
        self.hosts = np.empty((settings.replicas, len(self.codes)), np.int64)
        self.steps = np.zeros((settings.replicas, len(self.codes)), np.int64)  # messages from the root
        self._keys = np.zeros((settings.replicas, len(self.codes)), np.int64)  # of the roots
        self._owners = np.zeros((settings.replicas, len(self.codes)), np.int64)
        self._place_roots()
        for length in range(2, settings.depth + 1):
            self._place_children(np.flatnonzero(self.lengths == length))

    def find(self, codes: Integers) -> Integers:
        """The Tnodes of labels; -1 where there is none."""
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[at] == codes, at, -1)

    def paths(self, codes: Integers) -> Integers:
        """The Tnodes that walks to these labels visit: row k after k characters, row 0 for empty labels; -1: none."""
        lengths = self.labels.lengths(codes)
        rows = [np.where(codes == 0, self.find(codes), -1)]
        for length in range(1, self.settings.depth + 1):
            found = self.find(self.labels.cut(codes, np.full(len(codes), length)))
            rows.append(np.where(lengths < length, -1, found))
        return np.array(rows)

    # Placing.

    def _place_roots(self) -> None:
        total = len(self.tables.nodes)
        for root in np.flatnonzero(self.lengths <= 1):
            tree = self.labels.digits(int(self.codes[root]))
            taken: list[int] = []
            for replica in range(self.settings.replicas):
                key = root_key(self.tables.space, replica, tree, self.settings.seed)
                owner = int(owners(self.tables, np.array([key]))[0])
                host = owner
                while host in taken:
                    host = (host + 1) % total
                taken.append(host)
                self.hosts[replica, root], self._owners[replica, root] = host, owner
                self._keys[replica, root] = key

    def _place_children(self, tnodes: Integers) -> None:
        total, parents = len(self.tables.nodes), self.parents[tnodes]
        for replica in range(self.settings.replicas):
            above = self.hosts[replica, parents]
            host = self._named(above, self.lengths[tnodes] - 2, self.labels.last_digits(self.codes[tnodes]))
            unsure = np.arange(len(tnodes))
            while replica and len(unsure):
                taken = (self.hosts[:replica, tnodes[unsure]] == host[unsure]).any(axis=0)
                unsure = unsure[taken]
                host[unsure] = (host[unsure] + 1) % total
            self.hosts[replica, tnodes] = host
            self.steps[replica, tnodes] = self.steps[replica, parents] + (host != above)

    def _named(self, peers: Integers, depths: Integers, digits: Integers) -> Integers:
        """Whom the tables of the peers name for children with these digits, and the owners where they name nobody."""
        rows = (depths + 1) % self.levels
        places: Integers = np.array(self.tables.space.places, np.int64)[rows]
        had = self.tables.nodes[peers] // places % self.tables.space.base
        filled = self.tables.rows.shape[1]
        entries = self.tables.rows[peers, np.minimum(rows, filled - 1), digits].astype(np.int64)
        entries = np.where(rows < filled, entries, -1)
        wanted = (self.tables.nodes[peers] + (digits - had) * places).astype(np.int64)
        named = np.where(entries >= 0, entries, owners(self.tables, wanted))
        return np.where(had == digits, peers, named)

    # Requests.

    def walk(self, starts: Integers, codes: Integers, replicas: Integers) -> Requests:
        """Walks from peers (their places in the tables) towards labels, as far as there are Tnodes."""
        total, paths = len(self.tables.nodes), self.paths(codes)
        roots = paths[:2].max(axis=0)
        there = roots >= 0
        routed, passed_on, route_received = self._route(starts[there], roots[there], replicas[there])
        ends, visits, walk_received = roots.copy(), np.zeros(total, np.int64), np.zeros(total, np.int64)
        here = np.where(there, self.hosts[replicas, roots], -1)
        visits += np.bincount(here[there], minlength=total)
        for tnodes in paths[2:]:
            moved = tnodes >= 0
            hosts = self.hosts[replicas[moved], tnodes[moved]]
            visits += np.bincount(hosts, minlength=total)
            walk_received += np.bincount(hosts[hosts != here[moved]], minlength=total)
            here[moved], ends[moved] = hosts, tnodes[moved]
        hops, walked = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
        hops[there] = routed
        walked[there] = self.steps[replicas[there], ends[there]]
        return Requests(hops, walked, ends, passed_on, route_received, walk_received, visits)

    def _route(self, starts: Integers, roots: Integers, replicas: Integers) -> tuple[Integers, Integers, Integers]:
        """The messages of each route to a root; by peer those passed on, and those received."""
        total = len(self.tables.nodes)
        routes = route_all(self.tables, starts.astype(np.int32), self._keys[replicas, roots])
        hosts, owned = self.hosts[replicas, roots], self._owners[replicas, roots]
        further = (hosts - owned) % total  # clockwise from the owner
        received = routes.received.astype(np.int64)
        passed_on = received - np.bincount(owned[routes.hops > 0], minlength=total)
        for step in range(1, self.settings.replicas):
            went = further >= step
            received += np.bincount((owned[went] + step) % total, minlength=total)
            passed_on += np.bincount((owned[went] + step - 1) % total, minlength=total)
        return routes.hops.astype(np.int64) + further, passed_on, received

    def stored(self, tnodes: Integers) -> Integers:
        """Identifiers by peer when one is stored at each of these Tnodes, in every forest."""
        total = len(self.tables.nodes)
        by_forest = [np.bincount(hosts[tnodes], minlength=total) for hosts in self.hosts]
        total_stored: Integers = np.array(by_forest, np.int64).sum(axis=0)
        return total_stored

    # What is found.

    def contents(self, tnodes: Integers, lists: Integers, entries: Integers, list_count: int) -> Contents:
        """Entry i in list lists[i] (0 to list_count - 1) of Tnode tnodes[i]."""
        names = tnodes * list_count + lists
        order = np.argsort(names, kind="stable")
        unique, start = np.unique(names[order], return_index=True)
        return Contents(unique, np.append(start, len(names)).astype(np.int64), entries[order], list_count)

    def carried(
        self, contents: Contents, starts: Integers, codes: Integers, on_the_way: Integers, at_the_end: Integers,
        replicas: Integers,
    ) -> tuple[Integers, Integers, Integers]:  # fmt: skip
        """For each walk: identifiers that messages carry, identifiers that arrive at the start, answers sent.

        Every message from Tnode to Tnode carries what was found before, and the answer carries everything.
        """
        found, traffic = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
        here = np.full(len(codes), -1, np.int64)
        lengths = self.labels.lengths(codes)
        for length, tnodes in enumerate(self.paths(codes)):
            there = tnodes >= 0
            hosts = np.where(there, self.hosts[replicas, tnodes], here)
            traffic += np.where((here >= 0) & (hosts != here), found, 0)
            here = hosts
            for lists in (on_the_way, np.where(lengths == length, at_the_end, -1)):
                low, high = contents.bounds(tnodes, lists)
                found += high - low
        answered = (here >= 0) & (here != starts)
        return traffic + np.where(answered, found, 0), found, answered.astype(np.int64)

    def matches(
        self, contents: Contents, events: Integers, codes: Integers, on_the_way: Integers, at_the_end: Integers,
        needed: Integers,
    ) -> tuple[Integers, Integers]:  # fmt: skip
        """Pairs (event, entry) of entries found in as many lists as `needed` says, by the walks of each event."""
        lengths = self.labels.lengths(codes)
        met: list[Integers] = []
        for length, tnodes in enumerate(self.paths(codes)):
            for lists in (on_the_way, np.where(lengths == length, at_the_end, -1)):
                low, high = contents.bounds(tnodes, lists)
                pairs = np.repeat(events, high - low) * len(needed) + contents.entries[_ranges(low, high)]
                met.append(pairs)
        pairs, counts = np.unique(np.concatenate(met), return_counts=True)
        found, entries = np.divmod(pairs, len(needed))
        is_match = counts == needed[entries]
        return found[is_match], entries[is_match]


def owners(tables: PastryTables, keys: Integers) -> Integers:
    """The places of the peers numerically closest to the keys; of two, the one with the smaller identifier."""
    nodes, size, total = tables.nodes, tables.space.size, len(tables.nodes)
    above = np.searchsorted(nodes, keys) % total
    below = (above - 1) % total
    apart = [np.minimum(np.abs(nodes[at] - keys), size - np.abs(nodes[at] - keys)) for at in (below, above)]
    is_below = (apart[0] < apart[1]) | ((apart[0] == apart[1]) & (nodes[below] < nodes[above]))
    return np.where(is_below, below, above)


def _ranges(low: Integers, high: Integers) -> Integers:
    """All numbers of the ranges low[i] to high[i] - 1, one range after the other."""
    sizes = high - low
    ends = np.cumsum(sizes)
    found: Integers = np.arange(ends[-1] if len(ends) else 0) + np.repeat(low - (ends - sizes), sizes)
    return found
