"""What a network carried: messages and bytes by node and by kind, and how many hops each kind of route took.

The same ledger is filled message by message (`record`, `record_route`) and in bulk (`add_nodes`, `add_hops`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tidings.overlay.network import Message


class Traffic(NamedTuple):
    """Sent counts every message that left, lost ones too; received only those that arrived."""

    sent: int = 0
    received: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0


class Ledger:
    def __init__(self) -> None:
        # As lists, which are changed in place: every message comes here.
        self._traffic: defaultdict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        self._hops: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def record(self, message: Message) -> None:
        sender = self._traffic[message.kind, message.source]
        sender[0] += 1
        sender[2] += message.bytes
        if message.arrived:
            receiver = self._traffic[message.kind, message.target]
            receiver[1] += 1
            receiver[3] += message.bytes

    def record_route(self, kind: str, hops: int) -> None:
        self._hops[kind][hops] += 1

    def add_counts(self, kind: str, node: int, traffic: Traffic) -> None:
        counts = self._traffic[kind, node]
        for number, count in enumerate(traffic):
            counts[number] += count

    def add(self, other: Ledger) -> None:
        """Everything that another ledger has."""
        for (kind, node), counts in other._traffic.items():
            self.add_counts(kind, node, Traffic(*counts))
        for kind, hops in other._hops.items():
            self._hops[kind].update(hops)

    def add_hops(self, kind: str, counts: Iterable[int]) -> None:
        """Routes by their number of hops: how many took none, one, two, …"""
        for hops, count in enumerate(counts):
            if count:
                self._hops[kind][hops] += int(count)

    def add_nodes(
        self, kind: str, nodes: NDArray[np.int64], sent: NDArray[np.int64], received: NDArray[np.int64], each_bytes: int
    ) -> None:
        """What many nodes sent and received, all messages of the same size and all arrived."""
        for node, out, into in zip(nodes.tolist(), sent.tolist(), received.tolist(), strict=True):
            if out or into:
                self.add_counts(kind, node, Traffic(out, into, out * each_bytes, into * each_bytes))

    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted({kind for kind, _ in self._traffic} | set(self._hops)))

    def total(self, kind: str | None = None) -> Traffic:
        """All messages, or those of one kind."""
        return _sum(counts for (of, _), counts in self._traffic.items() if kind in (None, of))

    def by_kind(self) -> dict[str, Traffic]:
        found: dict[str, list[list[int]]] = {kind: [] for kind in self.kinds()}
        for (kind, _), counts in self._traffic.items():
            found[kind].append(counts)
        return {kind: _sum(counts) for kind, counts in found.items()}

    def by_node(self, kind: str | None = None) -> dict[int, Traffic]:
        """The nodes that sent or received anything, or anything of this kind, in ascending order."""
        found: defaultdict[int, list[list[int]]] = defaultdict(list)
        for (of, node), counts in self._traffic.items():
            if kind in (None, of):
                found[node].append(counts)
        return {node: _sum(found[node]) for node in sorted(found)}

    def hops(self, kind: str | None = None) -> Counter[int]:
        """How many routes there were with each number of hops."""
        found: Counter[int] = Counter()
        for of, counts in self._hops.items():
            if kind in (None, of):
                found.update(counts)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        return dict(self._traffic) == dict(other._traffic) and dict(self._hops) == dict(other._hops)

    __hash__ = None  # type: ignore[assignment]  # it changes


def _sum(counts: Iterable[list[int]]) -> Traffic:
    return Traffic(*map(sum, zip(*counts, strict=True)))
