"""Nodes come, go and fail in any order, within the promised tolerance, and every lookup ends at the owner."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tidings.overlay.chord import Chord
from tidings.overlay.network import Network
from tidings.overlay.pastry import Pastry
from tidings.overlay.pastry_node import PastrySettings
from tidings.overlay.spaces import IdentifierSpace

RING = IdentifierSpace(2, 8)
DIGITS = IdentifierSpace(3, 5)
IDENTIFIERS = st.integers(0, min(RING.size, DIGITS.size) - 1)
TURNS = st.integers(0, 1_000)


class Churn(RuleBasedStateMachine):
    """`tolerated` failures between two times of settling."""

    tolerated = 0

    def __init__(self) -> None:
        super().__init__()
        self.overlay: Any = self.make()
        self.failures = 0

    def make(self) -> Any:
        raise NotImplementedError

    def node(self, turn: int) -> int:
        return int(self.overlay.nodes[turn % len(self.overlay.nodes)])

    @initialize(nodes=st.lists(IDENTIFIERS, min_size=1, max_size=20, unique=True))
    def begin(self, nodes: list[int]) -> None:
        for node in nodes:
            assert self.overlay.join(node)

    @rule(node=IDENTIFIERS, turn=TURNS)
    def join(self, node: int, turn: int) -> None:
        if node not in self.overlay.nodes:
            assert self.overlay.join(node, self.node(turn))

    @precondition(lambda self: len(self.overlay.nodes) > 1)
    @rule(turn=TURNS)
    def leave(self, turn: int) -> None:
        self.overlay.leave(self.node(turn))

    @precondition(lambda self: self.failures < self.tolerated and len(self.overlay.nodes) > 1)
    @rule(turn=TURNS)
    def fail(self, turn: int) -> None:
        self.overlay.fail(self.node(turn))
        self.failures += 1

    @rule()
    def stabilise(self) -> None:
        self.overlay.stabilise()

    @rule()
    def settle(self) -> None:
        self.overlay.settle()
        self.overlay.check()
        self.failures = 0

    @rule(turn=TURNS, key=IDENTIFIERS)
    def look_up(self, turn: int, key: int) -> None:
        route = self.overlay.route(self.node(turn), key)
        assert route.delivered
        assert route.end == self.overlay.owner_of(key)

    @invariant()
    def is_well_formed(self) -> None:
        self.overlay.check(settled=False)

    def teardown(self) -> None:
        """However it was left, maintenance makes it right."""
        self.overlay.settle()
        self.overlay.check()


class ChordChurn(Churn):
    tolerated = 2

    def make(self) -> Chord:
        return Chord(RING, Network(keep_trace=False), successors=3)


class PastryChurn(Churn):
    tolerated = 2

    def make(self) -> Pastry:
        return Pastry(DIGITS, Network(keep_trace=False), PastrySettings(leaves=6, neighbours=4))


# A step is dozens of messages: fewer examples than elsewhere, and more where more are asked for.
FEWER = settings(max_examples=max(15, settings.default.max_examples // 10), stateful_step_count=20)  # type: ignore[union-attr]  # there is one
TestChordChurn = ChordChurn.TestCase
TestChordChurn.settings = FEWER
TestPastryChurn = PastryChurn.TestCase
TestPastryChurn.settings = FEWER


@FEWER
@given(
    st.sampled_from((ChordChurn, PastryChurn)),
    st.lists(IDENTIFIERS, min_size=3, max_size=15, unique=True),
    st.integers(1, 5),
)
def test_nodes_that_join_at_the_same_time_are_all_in_when_things_have_settled(
    kind: type[Churn], nodes: list[int], first: int
) -> None:
    overlay = kind().overlay
    for node in nodes[:first]:
        overlay.join(node)
    via = overlay.nodes[0]
    tasks = [overlay.network.start(overlay.joining(node, via)) for node in nodes[first:]]
    overlay.network.run()
    assert all(task.done and task.result for task in tasks)
    overlay.settle()
    overlay.check()


@FEWER
@given(
    st.sampled_from((ChordChurn, PastryChurn)),
    st.lists(IDENTIFIERS, min_size=8, max_size=20, unique=True),
    st.integers(0, 2),
    st.data(),
)
def test_failures_while_maintenance_is_under_way_are_repaired(
    kind: type[Churn], nodes: list[int], failures: int, data: st.DataObject
) -> None:
    overlay = kind().overlay
    for node in nodes:
        overlay.join(node)
    for node in overlay.nodes:
        overlay.network.start(overlay.stabilising(node))
    for _ in range(failures):
        overlay.fail(data.draw(st.sampled_from(overlay.nodes)))
    overlay.network.run()
    overlay.settle()
    overlay.check()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [ChordChurn, PastryChurn])
def test_a_network_that_loses_a_fifth_of_all_messages_settles_too(kind: type[Churn], seed: int) -> None:
    overlay = kind().overlay
    overlay.network = Network(seed=seed, loss=0.2, attempts=12, keep_trace=False)
    for node in overlay.space.spread(15, seed):
        assert overlay.join(node)
    overlay.fail(overlay.nodes[3])
    overlay.leave(overlay.nodes[7])
    overlay.settle()
    overlay.check()
    total = overlay.network.ledger.total()
    assert 0.7 < total.received / total.sent < 0.9
