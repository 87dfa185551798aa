"""Peers come, go and fail, no more between two times of healing than is promised: no match is lost or made up."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tidings.overlay.chord import Chord
from tidings.overlay.network import Network
from tidings.overlay.pastry import Pastry
from tidings.overlay.pastry_node import PastrySettings
from tidings.overlay.spaces import IdentifierSpace
from tidings.reference import holds
from tidings.systems.substring import SubstringSystem, complete_ind, complete_ps, ngrams_ind, ngrams_ps
from tidings.systems.substring_keys import SubstringSettings

RING = IdentifierSpace(2, 8)
DIGITS = IdentifierSpace(3, 5)
REPLICAS = 3
CHOSEN = SubstringSettings(gram=2, longest=3, replicas=REPLICAS)
TURNS = st.integers(0, 1_000)
TEXTS = st.text("ab", min_size=1, max_size=4)
SHAPES = st.sampled_from(("s LIKE '%{}%'", "s LIKE '{}%'", "s = '{}'"))


def on_chord() -> Chord:
    return Chord.settled(RING.spread(8), RING, Network(keep_trace=False), successors=4)


def on_pastry() -> Pastry:
    few = PastrySettings(leaves=8, neighbours=2)
    return Pastry.settled(DIGITS.spread(8), DIGITS, Network(keep_trace=False), few)


class Churn(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.system = self.make()
        self.wheres: dict[int, str] = {}
        self.failures = 0
        self.number = 0

    def make(self) -> SubstringSystem:
        raise NotImplementedError

    def peer(self, turn: int) -> int:
        return self.system.peers[turn % len(self.system.peers)]

    @initialize(texts=st.lists(st.tuples(SHAPES, TEXTS), min_size=1, max_size=5))
    def begin(self, texts: list[tuple[str, str]]) -> None:
        for shape, text in texts:
            self.subscribe(shape, text, self.number)

    @rule(shape=SHAPES, text=TEXTS, turn=TURNS)
    def subscribe(self, shape: str, text: str, turn: int) -> None:
        self.number += 1
        self.wheres[self.number] = shape.format(text)
        self.system.subscribe(self.number, self.wheres[self.number], self.peer(turn))

    @precondition(lambda self: self.wheres)
    @rule(turn=TURNS)
    def unsubscribe(self, turn: int) -> None:
        chosen = sorted(self.wheres)[turn % len(self.wheres)]
        del self.wheres[chosen]
        self.system.unsubscribe(chosen)

    @rule(value=st.text("ab", max_size=6), turn=TURNS)
    def publish(self, value: str, turn: int) -> None:
        event: dict[str, Any] = {"s": value}
        expected = {number for number, where in self.wheres.items() if holds(where, event)}
        assert self.system.publish(event, self.peer(turn)).matches == expected

    @rule(node=st.integers(0, DIGITS.size - 1))
    def join(self, node: int) -> None:
        if node not in self.system.peers:
            self.system.join(node)

    @precondition(lambda self: len(self.system.peers) > 5)
    @rule(turn=TURNS)
    def leave(self, turn: int) -> None:
        self.system.leave(self.peer(turn))

    @precondition(lambda self: self.failures < REPLICAS - 1 and len(self.system.peers) > 5)
    @rule(turn=TURNS)
    def fail(self, turn: int) -> None:
        self.system.fail(self.peer(turn))
        self.failures += 1

    @rule()
    def heal(self) -> None:
        self.system.heal()
        self.failures = 0

    @invariant()
    def holds_together(self) -> None:
        if not self.failures:
            self.system.check()


class CompleteOnChord(Churn):
    def make(self) -> SubstringSystem:
        return complete_ind(on_chord(), CHOSEN)


class GramsOnPastry(Churn):
    def make(self) -> SubstringSystem:
        return ngrams_ind(on_pastry(), CHOSEN)


class CompleteInTrees(Churn):
    def make(self) -> SubstringSystem:
        return complete_ps(on_pastry(), CHOSEN)


class GramsInTrees(Churn):
    def make(self) -> SubstringSystem:
        return ngrams_ps(on_pastry(), CHOSEN)


FEWER = settings(max_examples=max(8, settings.default.max_examples // 20), stateful_step_count=15)  # type: ignore[union-attr]  # there is one
TestCompleteOnChord = CompleteOnChord.TestCase
TestCompleteOnChord.settings = FEWER
TestGramsOnPastry = GramsOnPastry.TestCase
TestGramsOnPastry.settings = FEWER
TestCompleteInTrees = CompleteInTrees.TestCase
TestCompleteInTrees.settings = FEWER
TestGramsInTrees = GramsInTrees.TestCase
TestGramsInTrees.settings = FEWER
