"""What an operation on a simulated network costs: the difference that it makes to the network's ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tidings.overlay.ledger import Ledger
from tidings.overlay.network import Network, Process
from tidings.systems.interface import Cost

Result = TypeVar("Result")


class Meter:
    def __init__(self, network: Network) -> None:
        self._network = network

    def run(self, process: Process[Result]) -> tuple[Result, Cost]:
        """Runs a process until nothing is under way; its result, and its messages and bytes by kind."""
        results: list[Result] = []
        cost = self.cost_of(lambda: results.append(self._network.complete(process)))
        return results[0], cost

    def cost_of(self, operation: Callable[[], object]) -> Cost:
        """The operation fills a ledger of its own, and that goes into the network's, which counts everything."""
        whole, own = self._network.ledger, Ledger()
        self._network.ledger = own
        try:
            operation()
        finally:
            self._network.ledger = whole
            _add(own, whole)
        by_kind = {kind: traffic for kind, traffic in own.by_kind().items() if traffic.sent}
        return Cost(
            {kind: traffic.sent for kind, traffic in by_kind.items()},
            {kind: traffic.sent_bytes for kind, traffic in by_kind.items()},
        )


def _add(part: Ledger, whole: Ledger) -> None:
    for kind in part.kinds():
        for node, traffic in part.by_node(kind).items():
            whole.add_counts(kind, node, traffic)
        counts = part.hops(kind)
        whole.add_hops(kind, [counts[hops] for hops in range(max(counts, default=-1) + 1)])
