"""Peers that come, go and fail in any order: no match is lost that the forests promise to keep."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from systems.forests import SPACE, plain_events, plain_subscriptions, system
from tidings.reference import holds
from tidings.systems.pastry_strings import PastryStrings
from tidings.systems.pastry_strings.tnode import Tnode

FEWEST = 6


class Churn(RuleBasedStateMachine):
    made: PastryStrings

    @initialize(
        seed=st.integers(0, 20), replicas=st.sampled_from((1, 2, 3)), fullest=st.sampled_from((None, 1, 3)),
        asked=st.lists(plain_subscriptions(), min_size=3, max_size=8),
    )  # fmt: skip
    def begin(self, seed: int, replicas: int, fullest: int | None, asked: list[str]) -> None:
        self.made = system(peers=10, seed=seed, replicas=replicas, fullest=fullest)
        self.asked: dict[int, str] = {}
        self.failed = 0
        for where in asked:
            self.subscribe(where, 3)

    def peer(self, number: int) -> int:
        return self.made.peers[number % len(self.made.peers)]

    @rule(where=plain_subscriptions(), number=st.integers(0, 99))
    def subscribe(self, where: str, number: int) -> None:
        identifier = len(self.asked)
        while identifier in self.asked:
            identifier += 1
        self.asked[identifier] = where
        self.made.subscribe(identifier, where, self.peer(number))

    @precondition(lambda self: self.asked)
    @rule(number=st.integers(0, 99))
    def unsubscribe(self, number: int) -> None:
        identifier = sorted(self.asked)[number % len(self.asked)]
        del self.asked[identifier]
        self.made.unsubscribe(identifier)

    @rule(event=plain_events(), number=st.integers(0, 99))
    def publish(self, event: dict[str, Any], number: int) -> None:
        expected = {identifier for identifier, where in self.asked.items() if holds(where, event)}
        assert self.made.publish(event, self.peer(number)).matches == expected

    @rule(peer=st.integers(0, SPACE.size - 1))
    def join(self, peer: int) -> None:
        if peer not in self.made.peers:
            self.made.join(peer)

    @precondition(lambda self: len(self.made.peers) > FEWEST)
    @rule(number=st.integers(0, 99))
    def leave(self, number: int) -> None:
        self.made.leave(self.peer(number))

    @precondition(lambda self: len(self.made.peers) > FEWEST and self.failed < self.made.settings.replicas - 1)
    @rule(number=st.integers(0, 99), event=plain_events())
    def fail(self, number: int, event: dict[str, Any]) -> None:
        self.made.fail(self.peer(number))
        self.failed += 1
        self.publish(event, number)

    @rule()
    def heal(self) -> None:
        self.made.heal()
        self.failed = 0
        self.made.check()

    @invariant()
    def whole_unless_somebody_failed(self) -> None:
        if hasattr(self, "made") and not self.failed:
            self.made.check()


TestChurn = Churn.TestCase
TestChurn.settings = settings(max_examples=10, stateful_step_count=12)


def filled(**options: Any) -> PastryStrings:
    made = system(**options)
    for number in range(30):
        where = f"n BETWEEN {6 * number} AND {6 * number + 9} AND s LIKE '{number % 4}{number // 8}%'"
        made.subscribe(number, where, made.peers[number % len(made.peers)])
    return made


@pytest.mark.parametrize("seed", range(3))
def test_without_a_replica_a_failure_loses_the_lists_of_that_peer_and_no_more(seed: int) -> None:
    made = filled(peers=20, seed=seed)
    before = sum(made.stored().values())
    gone = max(made.stored(), key=lambda peer: made.stored()[peer])
    lost = made.stored()[gone]
    made.fail(gone)
    cost = made.heal()
    made.check()
    assert lost > 0
    assert sum(made.stored().values()) == before - lost
    assert cost.messages["repair"] > 0


def test_descendant_and_sibling_pointers_bring_a_lost_routing_table_back() -> None:
    """With one forest there is no copy to take it from; its children are at other peers, so that the chain holds."""
    made = filled(peers=40)
    host, lost = next((peer, tnode) for peer, tnode in made.forest.tnodes() if _stands_alone(made, peer, tnode))
    made.fail(host)
    trace = len(made.overlay.network.trace)
    made.heal()
    repairs = {message.source for message in made.overlay.network.trace[trace:] if message.kind == "repair"}
    assert {child for at in lost.children.values() for child in at.values()} <= repairs
    (restored,) = (tnode for _, tnode in made.forest.tnodes() if tnode.name == lost.name)
    assert restored.children == lost.children
    made.check()


def _stands_alone(made: PastryStrings, peer: int, tnode: Tnode) -> bool:
    """The only Tnode of a peer, with a father elsewhere, and with several children, each at another peer."""
    children = {child for at in tnode.children.values() for child in at.values()}
    is_inner = len(tnode.children) > 1 and tnode.parent not in (None, peer)
    return is_inner and peer not in children and len(made.forest.peers[peer].tnodes) == 1


def test_a_newcomer_takes_over_roots_that_it_owns() -> None:
    made = filled(peers=10)
    root = made.forest.root_key(0, (0,))
    assert root not in made.peers
    cost = made.join(root)
    assert made.forest.tnode(root, 0, (0,)) is not None
    assert cost.messages["move"] >= 1
    made.check()


def test_a_leaver_takes_nothing_with_it() -> None:
    made = filled(peers=10)
    before = sum(made.stored().values())
    while len(made.peers) > 2:
        made.leave(made.peers[1])
        made.check()
    assert sum(made.stored().values()) == before
