"""The tree and its splits: the paper's example, each kind of split, what a build promises, and a new kind of split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from rendezvous.workloads import workload
from tidings.errors import SettingError
from tidings.language.parser import parse
from tidings.model.event import Event
from tidings.model.normal_form import conjunctions
from tidings.model.predicates import Conjunction
from tidings.model.values import AttributeType
from tidings.rendezvous.matching_tree import InnerNode, LeafNode, MatchingTree, build
from tidings.rendezvous.scheme import EVERYWHERE
from tidings.rendezvous.splits import (
    VALUE_SPLITS,
    Answers,
    AttributeSet,
    Branch,
    Branches,
    ElementSet,
    Leaf,
    Maximum,
    Minimum,
    Question,
    Questions,
    Split,
    ValueRange,
    answers_of,
    balanced_pivot,
    questions_of,
)

TYPES = list(AttributeType)


def conjunction(where: str) -> Conjunction:
    return conjunctions(parse(where))[0]


def asked(split: Split, where: str) -> str:
    return "".join(sorted(split.subscription_branches(questions_of(conjunction(where), 0))))


def answered(split: Split, **event: object) -> str:
    return "".join(sorted(split.event_branches(answers_of(Event.of(event), 0))))


def at(value: object, kind: AttributeType = AttributeType.NUMBER) -> tuple[int, object]:
    return TYPES.index(kind), value


def name_hash(name: str) -> int:
    return questions_of(conjunction(f"{name} = 1"), 0)[name].name_hash


def element_hash(text: str) -> int:
    return questions_of(conjunction(f"array_contains(x, '{text}')"), 0)["x"].elements[0]


# The example of the paper, 3.2 and Figure 1


def march() -> ValueRange:
    return ValueRange("date", at(datetime(2005, 3, 1, tzinfo=UTC), AttributeType.TIMESTAMP))


def test_the_papers_date_node() -> None:
    assert asked(march(), "date > DATE '2004-12-01' AND array_contains(authors, 'X')") == "LR"
    assert asked(march(), "date < DATE '2005-02-01'") == "L"
    assert asked(march(), "date >= DATE '2005-03-01'") == "R"
    assert asked(march(), "array_contains(authors, 'X')") == "*"
    assert answered(march(), date=datetime(2005, 5, 1), authors=["Y", "Z"]) == "*R"
    assert answered(march(), date=datetime(2005, 5, 1)) == "R"  # who is in * asks for something else
    assert answered(march(), authors=["Y", "Z"]) == "*"


def test_the_papers_authors_node() -> None:
    split = ElementSet("authors", 0, max(element_hash("Y"), element_hash("Z")), 2**64)
    assert answered(split, authors=["Y", "Z"], date=1) == "*LR"
    assert asked(split, "title = 'T'") == "*"
    first = "Y" if element_hash("Y") < element_hash("Z") else "Z"
    assert asked(split, f"array_contains(authors, '{first}')") == "L"
    assert len(asked(split, "has_all(authors, 'Y', 'Z')")) == 1  # any one of them
    assert asked(split, "has_any(authors, 'Y', 'Z')") == "LR"
    assert asked(split, "authors > 'A'") == "LR"


def test_the_papers_root() -> None:
    names = sorted(("date", "authors"), key=name_hash)
    split = AttributeSet(0, 0, name_hash(names[1]), 2**64)
    assert asked(split, f"{names[0]} = 1") == "L"
    assert asked(split, f"{names[1]} = 1") == "R"
    assert answered(split, date=datetime(2005, 5, 1), authors=["Y", "Z"]) == "*LR"


# Each kind of split


def test_attributes_are_ordered_by_selectivity() -> None:
    """Equality, then sets, then ranges, then the rest (3.3)."""
    where = "z RLIKE 'a' AND y > 5 AND has_any(x, 1, 2) AND w = 'a' AND NOT v = 1 AND y < 9"
    assert list(questions_of(conjunction(where), 0)) == ["w", "x", "y", "z"]
    second = AttributeSet(1, 0, 2**63, 2**64)
    assert asked(second, where) == ("L" if name_hash("x") < 2**63 else "R")
    assert asked(second, "w = 'a' AND NOT v = 1") == "*"


def test_names_outside_of_the_range_of_a_node_lead_nowhere() -> None:
    split = AttributeSet(0, 0, 1, name_hash("a"))
    assert answered(split, a=1) == "*"


@pytest.mark.parametrize(
    ("where", "branches"),
    [
        ("x = 4", "L"),
        ("x = 5", "R"),
        ("x < 5", "L"),
        ("x <= 5", "LR"),
        ("x >= 5", "R"),
        ("x > 4", "LR"),
        ("x BETWEEN 1 AND 4", "L"),
        ("x IN (1, 9)", "LR"),
        ("x <> 9", "LR"),
        ("x >= 1 AND x <= 3", "L"),
        ("x BETWEEN 9 AND 1", ""),
        ("x = 'a'", "R"),  # strings lie above numbers, in subscriptions and in events
        ("x RLIKE 'a'", "LR"),
        ("matches(x, 'a')", "LR"),
        ("NOT x = 4", "*"),
        ("x IS NULL", "*"),
        ("y = 1", "*"),
    ],
)
def test_value_ranges(where: str, branches: str) -> None:
    assert asked(ValueRange("x", at(5)), where) == branches


def test_an_event_goes_one_way_of_a_value_range_and_an_array_every_way() -> None:
    split = ValueRange("x", at(5))
    assert answered(split, x=4.9) == "L"
    assert answered(split, x=5) == "R"
    assert answered(split, x="a") == "R"
    assert answered(split, x=[1, 9, None]) == "LR"
    assert answered(split, x=float("nan")) == answered(split, x=None) == answered(split, y=1) == "*"


def test_strings_are_split_like_ranges() -> None:
    split = ValueRange("s", at("mn", AttributeType.STRING))
    assert asked(split, "s LIKE 'm%'") == "LR"
    assert asked(split, "s LIKE 'ma%'") == "L"
    assert asked(split, "s LIKE 'mn%'") == "R"
    assert asked(split, "s ILIKE 'ma%'") == "LR"
    assert answered(split, s="mm") == "L"


def test_minimum_and_maximum_send_a_subscription_one_way() -> None:
    least, most = Minimum("x", at(5)), Maximum("x", at(5))
    assert asked(least, "x BETWEEN 4 AND 9") == "L"
    assert asked(least, "x BETWEEN 6 AND 9") == "R"
    assert asked(least, "x < 9") == "L"
    assert (answered(least, x=4), answered(least, x=5)) == ("L", "LR")
    assert asked(most, "x BETWEEN 1 AND 4") == "L"
    assert asked(most, "x BETWEEN 1 AND 6") == "R"
    assert asked(most, "x > 1") == "R"
    assert (answered(most, x=4), answered(most, x=5)) == ("LR", "R")


def test_a_pivot_balances() -> None:
    assert balanced_pivot([1, 2, 3, 4]) == 3
    assert balanced_pivot([1, 1, 1, 2]) == 2
    assert balanced_pivot([1, 2, 2, 2]) == 2
    assert balanced_pivot([7]) == 7


# Trees


@pytest.mark.parametrize("data", ["stock", "schemas", "sets", "strings", "ranges", "mixed"])
@pytest.mark.parametrize("capacity", [1, 10, 100])
def test_a_tree_keeps_its_invariants(data: str, capacity: int) -> None:
    stored, _ = workload(data, 300, 0)
    tree = build(stored, capacity)
    tree.check()
    sizes = {leaf.name: leaf.size for leaf in tree.leaves()}
    held = [key for c in stored for key in tree.subscription_keys(c) if key != EVERYWHERE]
    assert sum(sizes.values()) == len(held)
    for name, size in sizes.items():
        assert sum(key.label == name for key in held) == size
    assert len(held) <= 8 * len(stored)


def test_leaves_stay_within_the_capacity_where_subscriptions_differ() -> None:
    stored, _ = workload("stock", 1000, 0)
    assert max(leaf.size for leaf in build(stored, 20).leaves()) <= 20


def test_what_no_split_divides_stays_together() -> None:
    same = [conjunction("a = 1 AND b = 2")] * 10
    assert [leaf.size for leaf in build(same, 2).leaves()] == [10]
    unordered = [conjunction(f"a RLIKE '{letter}'") for letter in "abcdefgh"]
    assert [leaf.size for leaf in build(unordered, 2).leaves()] == [8]


def test_overlapping_ranges_do_not_blow_up_the_tree() -> None:
    wide = [conjunction(f"x >= {100 - number} AND x <= {100 + number}") for number in range(100)]
    tree = build(wide, 1)
    assert sum(leaf.size for leaf in tree.leaves()) <= 4 * len(wide)


def test_the_most_even_split_is_taken() -> None:
    """All name a; half of them b: a is split by its values."""
    stored = [conjunction(f"a = {number}" + (" AND b = 1" if number % 2 else "")) for number in range(10)]
    root = build(stored, 5).root
    assert isinstance(root, InnerNode)
    assert root.split == ValueRange("a", at(5))


def test_different_attributes_are_split_by_name() -> None:
    stored = [conjunction(f"a{number} = 1") for number in range(10)]
    root = build(stored, 5).root
    assert isinstance(root, InnerNode)
    assert isinstance(root.split, AttributeSet)
    assert [child.size for child in root.children if isinstance(child, LeafNode)] == [0, 5, 5]


def test_equal_first_attributes_are_split_by_the_second() -> None:
    stored = [conjunction(f"a = 1 AND b{number} > 1") for number in range(10)]
    root = build(stored, 5, kinds=()).root
    assert isinstance(root, InnerNode)
    assert isinstance(root.split, AttributeSet)
    assert root.split.order == 1


def test_an_empty_tree_and_an_empty_event() -> None:
    tree = build([], 5)
    assert tree == MatchingTree(LeafNode("", 0), 5, 0)
    assert len(tree.subscription_keys(conjunction("a = 1"))) == 1
    assert tree.event_keys(Event.of({})) == {EVERYWHERE}


def test_seeds_make_other_trees() -> None:
    stored, _ = workload("schemas", 300, 0)
    assert build(stored, 10, seed=1) == build(stored, 10, seed=1)
    assert build(stored, 10, seed=1) != build(stored, 10, seed=2)


def test_a_leaf_holds_something() -> None:
    with pytest.raises(SettingError, match="a leaf holds at least 1 subscription, not 0"):
        build([], 0)


# A kind of split that the paper does not have, by the number of attributes: an event of n attributes can satisfy only
# subscriptions that ask for at most n.


@dataclass(frozen=True, slots=True)
class Width:
    least: int

    def subscription_branches(self, questions: Questions) -> Branches:
        return frozenset((Branch.LEFT if len(questions) < self.least else Branch.RIGHT,))

    def event_branches(self, answers: Answers) -> Branches:
        return frozenset((Branch.LEFT, Branch.RIGHT) if len(answers) >= self.least else (Branch.LEFT,))

    @classmethod
    def splits_of(cls, leaf: Leaf) -> Iterator[Width]:
        yield cls(balanced_pivot([len(questions) for questions in leaf.subscriptions]))


def test_a_new_kind_of_split_plugs_in() -> None:
    stored, events = workload("schemas", 200, 40)
    tree = build(stored, 10, kinds=(Width, *VALUE_SPLITS))
    assert isinstance(tree.root, InnerNode)
    assert isinstance(tree.root.split, Width)
    for event in events:
        visited = tree.event_keys(event)
        assert all(tree.subscription_keys(c) & visited for c in stored if tree.verify(c, event))


def test_questions_know_their_ends() -> None:
    question = questions_of(conjunction("x >= 1 AND x <= 3"), 0)["x"]
    assert isinstance(question, Question)
    assert (question.low, question.high) == (at(1), at(3))
