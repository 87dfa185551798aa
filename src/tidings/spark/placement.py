"""Which keys live on which shards: the cost model of the sharded strategy. Arrays in, arrays out, and no Spark.

A key is cut into parts, each with its share of the key's subscriptions, and a part stands on one or more shards with
all of that share. An event visits one shard of every part of its keys. So a key with many subscriptions is split, as a
full node is in paper 1 (3.4), and one with many events is replicated (paper 3, 3.5; paper 4, 4.9). All shards of a key
differ. The formulas are in docs/spark-sharding.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tidings.errors import SettingError
from tidings.index.layout import Array
from tidings.spark.sizes import size

# Of a mean shard: what a part may have of the subscriptions, and a shard of it of the visits. With half of it loads are
# hardly more even, since small keys fill the gaps, and under Zipf 1.2 events visit up to 1.7 times as many shards.
HEAVY = 1
COPIED = 1 / 2  # of all subscriptions: how many copies may be made for the sake of events
SMALL = 1 / 64  # of a mean shard: keys below it are dealt out together
MOST_SHARDS = 4_096
MAPPED = 1 / 2  # of a host's memory: what an index may take that every host maps
SCANNED = 1 / 2  # of the subscriptions: above it nearly all events would visit many shards


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Parts of key k are key_parts[k]:key_parts[k + 1]; shards of part p are at part_shards[p]:part_shards[p + 1]."""

    shards: int
    key_parts: Array  # int64[keys + 1]
    part_shards: Array  # int64[parts + 1]
    shard: Array  # int32

    def parts_of(self, key: int) -> list[list[int]]:
        """The shards of each part of a key."""
        parts = range(int(self.key_parts[key]), int(self.key_parts[key + 1]))
        return [self.shard[self.part_shards[part] : self.part_shards[part + 1]].tolist() for part in parts]

    def part_counts(self) -> Array:
        return np.diff(self.key_parts)

    def check(self) -> None:
        """Every invariant, or AssertionError."""
        assert self.key_parts[0] == self.part_shards[0] == 0
        assert (np.diff(self.key_parts) >= 1).all()
        assert (np.diff(self.part_shards) >= 1).all()
        assert self.key_parts[-1] == len(self.part_shards) - 1
        assert self.part_shards[-1] == len(self.shard)
        assert ((self.shard >= 0) & (self.shard < self.shards)).all()
        of_key = np.repeat(np.arange(len(self.key_parts) - 1), np.diff(self.part_shards[self.key_parts]))
        places = of_key * self.shards + self.shard
        assert len(np.unique(places)) == len(places), "a key is on a shard twice"


def placed(
    subscriptions: Array, visits: Array | None, shards: int, everywhere: int = -1, treat_heavy: bool = True
) -> Placement:
    """Where the keys go, by how many subscriptions each has and how many events of a sample visit it, if known.

    `everywhere` is the number of the key that all events visit: its parts take turns over all shards, so that an event
    finds each of them on a shard that it visits anyway, or on any. Without `treat_heavy` every other key is one part on
    one shard.
    """
    if not 1 <= shards <= MOST_SHARDS:
        raise SettingError(f"there are 1 to {MOST_SHARDS} shards, not {shards}")
    stored = subscriptions.astype(np.float64)
    visited = np.zeros(len(stored)) if visits is None else visits.astype(np.float64)
    ordinary = np.arange(len(stored)) != everywhere
    parts, copies = np.ones(len(stored), np.int64), np.ones(len(stored), np.int64)
    if treat_heavy:
        parts[ordinary] = _parts(stored[ordinary], shards)
        copies[ordinary] = _copies(stored[ordinary], visited[ordinary], parts[ordinary], shards)
    one, several = _packed(stored / parts, visited / copies, parts * copies, ordinary, shards)
    units = parts * copies
    if everywhere >= 0:
        parts[everywhere] = everywhere_parts(int(stored[everywhere]), float(stored.sum()), shards)
        units[everywhere], several[everywhere] = shards, np.arange(shards)
    return _placement(parts, units, one, several, shards)


def everywhere_parts(scanned: int, stored: float, shards: int) -> int:
    """Into how many parts that is cut which meets every event: a part is at most as large as a mean shard.

    Every event visits that many shards, at least; each shard holds one part.
    """
    return min(shards, max(1, scanned), math.ceil(scanned * shards / stored) or 1) if stored else 1


def choice(nbytes: int, memory: int, scanned: float) -> tuple[bool, str]:
    """Whether to shard an index of that size, and why. `memory` is that of a host; `scanned` the share of subscriptions
    that meet every event, and gain nothing by it."""
    sizes = f"the index has {size(nbytes)}, and a host {size(memory)} of memory"
    if nbytes <= MAPPED * memory:
        return False, f"each host maps the whole index, and events stay where they are: {sizes}"
    if scanned > SCANNED:
        return False, f"{scanned:.0%} of the subscriptions meet every event wherever they are, although {sizes}"
    return True, f"{sizes}: more than {MAPPED:.0%} of it"


def water_level(loads: Array, more: float) -> float:
    """How high all shards stand when `more` is poured over them; those that are higher stay as they are."""
    ordered = np.sort(loads)
    levels = (np.cumsum(ordered) + more) / np.arange(1, len(ordered) + 1)
    reached = np.append(ordered[1:], math.inf) >= levels
    return float(levels[int(np.argmax(reached))])


def largest_over_mean(loads: Array) -> float:
    """1 where all are alike, or there is nothing."""
    return float(loads.max() / loads.mean()) if loads.sum() else 1.0


def _parts(stored: Array, shards: int) -> Array:
    """Enough for each part to be at most HEAVY of a mean shard; none is empty."""
    most = np.clip(stored, 1, shards)
    parts: Array = np.clip(np.ceil(stored * shards / (HEAVY * max(1, stored.sum()))), 1, most).astype(np.int64)
    return parts


def _copies(stored: Array, visited: Array, parts: Array, shards: int) -> Array:
    """Enough for each shard of a part to see at most HEAVY of the visits of a mean shard; the keys with the most visits
    for each subscription first, as long as the copies are affordable."""
    copies = np.ones(len(stored), np.int64)
    mean = (visited * parts).sum() / shards
    if not mean:
        return copies
    wanted = np.clip(np.ceil(visited / (HEAVY * mean)), 1, shards // parts).astype(np.int64)
    left = COPIED * float(stored.sum())
    several = np.flatnonzero(wanted > 1)
    for key in several[np.argsort(-visited[several] / np.maximum(stored[several], 1), kind="stable")].tolist():
        affordable = 1 + int(left / stored[key]) if stored[key] else shards
        copies[key] = min(wanted[key], affordable)
        left -= (copies[key] - 1) * stored[key]
    return copies


def _packed(
    stored: Array, visited: Array, units: Array, ordinary: Array, shards: int
) -> tuple[Array, dict[int, Array]]:
    """The shard of each key that has one, and the shards of the others. Large keys go one by one, the largest first, to
    the shards that have least; the small ones are poured over them."""
    shares = np.stack([_share(stored, units * ordinary), _share(visited, units * ordinary)])
    weight = shares.sum(0)
    small = ordinary & (units == 1) & (weight <= SMALL * (weight * units * ordinary).sum() / shards)
    loads = np.zeros((2, shards))
    one, several = np.zeros(len(stored), np.int32), dict[int, Array]()
    large = np.flatnonzero(ordinary & ~small)
    for key in large[np.argsort(-weight[large], kind="stable")].tolist():
        least = np.lexsort((loads.sum(0), loads.max(0)))[: units[key]]
        loads[:, least] += shares[:, key, None]
        one[key] = least[0]
        if len(least) > 1:
            several[key] = least
    few = np.random.default_rng(0).permutation(np.flatnonzero(small))  # an order that goes with no load
    one[few] = _poured(weight[few], loads.sum(0))
    return one, several


def _share(amount: Array, times: Array) -> Array:
    total = (amount * times).sum()
    return amount / total if total else np.zeros(len(amount))


def _poured(weights: Array, loads: Array) -> Array:
    """A shard for each: in the order given, up to the level that all shards reach together."""
    total = float(weights.sum())
    if not total:  # nothing is known of them: in turns
        return np.arange(len(weights)) % len(loads)
    room = np.maximum(water_level(loads, total) - loads, 0)
    middle = np.cumsum(weights) - weights / 2
    return np.minimum(np.searchsorted(np.cumsum(room), middle), len(loads) - 1)


def _placement(parts: Array, units: Array, one: Array, several: dict[int, Array], shards: int) -> Placement:
    """Unit u of a key with p parts belongs to its part u mod p."""
    key_parts, first = _starts(parts), _starts(units)
    shard, per_part = np.zeros(first[-1], np.int32), np.ones(key_parts[-1], np.int64)
    shard[first[:-1]] = one
    for key, places in several.items():
        number = int(parts[key])
        each = [places[part::number] for part in range(number)]
        shard[first[key] : first[key + 1]] = np.concatenate(each)
        per_part[key_parts[key] : key_parts[key + 1]] = [len(some) for some in each]
    return Placement(shards, key_parts, _starts(per_part), shard)


def _starts(counts: Array) -> Array:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
