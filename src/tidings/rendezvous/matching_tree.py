"""The matching tree: subscriptions grouped by a tree of splits, whose leaves are the keys.

Paper 3 (matching tree on Brushwood), 3.2 and 3.5. A conjunction goes down to one or more leaves, an event to all that
may hold a match; a leaf is named by the branches on the way to it. Names sort in pre-order, the branches of a node in
the order *, L, R (the paper draws L, R, *). All three exist below each node, also where nothing is stored yet: a later
subscription finds its place. A conjunction without a predicate that needs a value stays outside: EVERYWHERE.
Replicating a leaf that events overload is no split of subscriptions, and left to whoever balances load.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tidings.errors import SettingError
from tidings.model.event import Event
from tidings.model.predicates import Conjunction
from tidings.rendezvous.scheme import EVERYWHERE, Key, Verified
from tidings.rendezvous.splits import (
    VALUE_SPLITS,
    AttributeSet,
    Branch,
    Branches,
    Leaf,
    Questions,
    Split,
    answers_of,
    questions_of,
)

DEEPEST = 64
# What goes both ways is stored twice, again at each level below: a split may send a quarter of the leaf so, and it must
# then take a quarter off. Without a bound, overlapping ranges double the tree at every level.
COPIED, TAKEN_OFF = 1 / 4, 1 / 4


@dataclass(frozen=True, slots=True)
class LeafNode:
    """A leaf: its name, and how many conjunctions it held when the tree was built."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class InnerNode:
    split: Split
    children: tuple[Node, ...]  # in the order of Branch


Node: TypeAlias = LeafNode | InnerNode


@dataclass(frozen=True, slots=True)
class MatchingTree(Verified):
    """The scheme whose keys are leaves. Built by `build`; adding subscriptions later does not change it."""

    root: Node
    capacity: int
    seed: int

    @property
    def name(self) -> str:
        return f"matching tree, capacity {self.capacity}"

    def subscription_keys(self, conjunction: Conjunction) -> frozenset[Key]:
        questions = questions_of(conjunction, self.seed)
        if not questions:
            return frozenset((EVERYWHERE,))
        return frozenset(map(_key, _reached(self.root, lambda split: split.subscription_branches(questions))))

    def event_keys(self, event: Event) -> frozenset[Key]:
        answers = answers_of(event, self.seed)
        reached = _reached(self.root, lambda split: split.event_branches(answers)) if answers else ()
        return frozenset((EVERYWHERE, *map(_key, reached)))

    def leaves(self) -> Iterator[LeafNode]:
        """In the order of their names."""
        return _reached(self.root, lambda split: frozenset(Branch))

    def check(self) -> None:
        """Every invariant of the structure, or AssertionError."""
        for name, node in _named(self.root, ""):
            if isinstance(node, LeafNode):
                assert node.name == name, (node, name)
                assert node.size >= 0, node
            else:
                assert len(node.children) == len(Branch), name
            assert len(name) <= DEEPEST, name
        names = [leaf.name for leaf in self.leaves()]
        assert names == sorted(set(names)), names


def build(
    conjunctions: Iterable[Conjunction],
    capacity: int,
    seed: int = 0,
    kinds: Sequence[type[Split]] = VALUE_SPLITS,
) -> MatchingTree:
    """The tree for these conjunctions: a leaf of more than `capacity` is split, unless no split would help.

    The seed salts the hashes of names and elements; nothing else is random. `kinds` are the splits by value; what they
    cannot split is split by attribute set.
    """
    if capacity < 1:
        raise SettingError(f"a leaf holds at least 1 subscription, not {capacity}")
    asked = (questions_of(conjunction, seed) for conjunction in conjunctions)
    leaf = Leaf(tuple(questions for questions in asked if questions))
    return MatchingTree(_grown(leaf, capacity, tuple(kinds)), capacity, seed)


def _grown(leaf: Leaf, capacity: int, kinds: tuple[type[Split], ...]) -> Node:
    split = None
    if len(leaf.subscriptions) > capacity and len(leaf.path) < DEEPEST:
        split = _best_split(leaf, kinds)
    if split is None:
        return LeafNode("".join(branch for _, branch in leaf.path), len(leaf.subscriptions))
    parts: dict[Branch, list[Questions]] = {branch: [] for branch in Branch}
    for questions in leaf.subscriptions:
        for branch in split.subscription_branches(questions):
            parts[branch].append(questions)
    leaves = (Leaf(tuple(part), (*leaf.path, (split, branch))) for branch, part in parts.items())
    return InnerNode(split, tuple(_grown(part, capacity, kinds) for part in leaves))


def _best_split(leaf: Leaf, kinds: tuple[type[Split], ...]) -> Split | None:
    """The best balance by value; else by attribute set, the first order that helps; of equal ones the first (3.5)."""
    by_value = (split for kind in kinds for split in kind.splits_of(leaf))
    scored = [(score, split) for split in by_value if (score := _score(split, leaf)) is not None]
    if scored:
        return min(scored, key=lambda found: found[0])[1]
    return next((split for split in AttributeSet.splits_of(leaf) if _score(split, leaf) is not None), None)


def _score(split: Split, leaf: Leaf) -> tuple[int, int] | None:
    """The largest branch and all copies, the fewer the better; None if the split does not help."""
    sizes: Counter[Branch] = Counter()
    for branches, times in Counter(map(split.subscription_branches, leaf.subscriptions)).items():
        sizes.update(dict.fromkeys(branches, times))
    count, largest, copies = len(leaf.subscriptions), max(sizes.values(), default=0), sizes.total()
    if copies <= count:
        return (largest, copies) if largest < count else None
    helps = copies <= (1 + COPIED) * count and largest <= (1 - TAKEN_OFF) * count
    return (largest, copies) if helps else None


def _reached(node: Node, branches_of: Callable[[Split], Branches]) -> Iterator[LeafNode]:
    if isinstance(node, LeafNode):
        yield node
        return
    branches = branches_of(node.split)
    for branch, child in zip(Branch, node.children, strict=True):
        if branch in branches:
            yield from _reached(child, branches_of)


def _named(node: Node, name: str) -> Iterator[tuple[str, Node]]:
    yield name, node
    if isinstance(node, InnerNode):
        for branch, child in zip(Branch, node.children, strict=True):
            yield from _named(child, name + branch)


def _key(leaf: LeafNode) -> Key:
    return Key("leaf", "", leaf.name)
