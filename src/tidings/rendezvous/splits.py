"""How the nodes of a matching tree divide subscriptions: by the names of attributes, and by the values asked of one.

Paper 3 (matching tree on Brushwood), 3.2 to 3.4 and the interface of 3.6: a kind of split is a class with three
functions, branch a subscription, branch an event, split a leaf. Invariant of every split: if an event satisfies a
subscription, both take one branch in common, and go on doing so below. What Table 1 of the paper does not know keeps it
so: a predicate without spans or elements goes both ways, and an array goes every way that its elements go.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from tidings.model.event import Event
from tidings.model.predicates import Conjunction, HasAll, HasAny, Predicate
from tidings.model.values import AttributeType, type_of
from tidings.rendezvous.scheme import Key, Rank, Scalar, attribute_name, key_hash, needs_value, values_of
from tidings.rendezvous.sets import Elements, value_label
from tidings.rendezvous.spans import Span, spans_of

T = TypeVar("T")


class Branch(StrEnum):
    OTHER = "*"  # the subscription does not ask for the attribute
    LEFT = "L"
    RIGHT = "R"


Branches: TypeAlias = frozenset[Branch]
Place: TypeAlias = tuple[Any, ...]  # (type, value), ordered across types; (type ± ½,) is an end of all values of a type

_NOWHERE: Branches = frozenset()
_OTHER, _LEFT, _RIGHT = (frozenset((branch,)) for branch in Branch)
_TYPES = {kind: number for number, kind in enumerate(AttributeType)}
_FIRST, _LAST = (-1,), (len(_TYPES),)
_HASHES = 2**64


@dataclass(frozen=True, slots=True)
class Stretch:
    """From a place to a place; an open end does not belong to it."""

    low: Place
    high: Place
    high_open: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What a conjunction asks of one attribute.

    `ways` has the stretches of each predicate, one of which must hold a value. `elements` are the hashes of what its
    narrowest predicate of equality or membership names, one of which the event must have; empty if there is none.
    """

    name_hash: int
    ways: tuple[tuple[Stretch, ...], ...]
    elements: tuple[int, ...]
    of_set: bool  # asked by HAS_ALL or HAS_ANY, so that the attribute is a set
    low: Place  # no value outside of low..high satisfies the most demanding predicate
    high: Place


@dataclass(frozen=True, slots=True)
class Answer:
    """What an event has in one attribute: the places and the hashes of its values."""

    name_hash: int
    places: tuple[Place, ...]
    elements: tuple[int, ...]


Questions: TypeAlias = Mapping[str, Question]  # by attribute, the most selective first
Answers: TypeAlias = Mapping[str, Answer]


def questions_of(conjunction: Conjunction, seed: int) -> dict[str, Question]:
    """What the conjunction asks; nothing if it has no predicate that needs a value."""
    asked: dict[str, list[Predicate]] = {}
    for term in conjunction.terms:
        if needs_value(term):
            asked.setdefault(attribute_name(term.attribute.path), []).append(term)
    ordered = sorted(asked, key=lambda attribute: (min(map(_rank, asked[attribute])), attribute))
    return {attribute: _question(attribute, asked[attribute], seed) for attribute in ordered}


def answers_of(event: Event, seed: int) -> dict[str, Answer]:
    return {attribute: _answer(attribute, values, seed) for attribute, values in values_of(event).items()}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf that is too large: its subscriptions, and the splits and branches on the way to it.

    `asked` has what is asked of the attributes that at least half of the subscriptions name, the most frequent first
    (3.5).
    """

    subscriptions: tuple[Questions, ...]
    path: tuple[tuple[Split, Branch], ...] = ()
    asked: Mapping[str, tuple[Question, ...]] = field(init=False)

    def __post_init__(self) -> None:
        named = Counter(attribute for questions in self.subscriptions for attribute in questions)
        common = [attribute for attribute, count in named.items() if 2 * count >= len(self.subscriptions)]
        common.sort(key=lambda attribute: (-named[attribute], attribute))
        asked = {
            attribute: tuple(questions[attribute] for questions in self.subscriptions if attribute in questions)
            for attribute in common
        }
        object.__setattr__(self, "asked", asked)  # every kind of split looks at it

    def asked_in_order(self) -> Iterator[tuple[str, tuple[Question, ...]]]:
        """What is mostly asked as a single value: an event with a set would go all ways of an order."""
        for attribute, questions in self.asked.items():
            if 2 * sum(question.of_set for question in questions) < len(questions):
                yield attribute, questions


class Split(Protocol):
    """The plug-in interface: a kind of split is a class with these three, its fields are the state of a node (3.6)."""

    def subscription_branches(self, questions: Questions) -> Branches: ...

    def event_branches(self, answers: Answers) -> Branches: ...

    @classmethod
    def splits_of(cls, leaf: Leaf) -> Iterable[Split]:
        """Ways to split the leaf, none if this kind knows no way; which is best, the tree decides."""
        ...


@dataclass(frozen=True, slots=True)
class AttributeSet:
    """By the hash of the name of the order-th attribute, counted from 0, within the hashes low..high - 1 (3.3).

    A subscription has one such attribute, or goes to *; an event goes wherever one of its attributes goes, and to *.
    """

    order: int
    low: int
    pivot: int
    high: int

    def subscription_branches(self, questions: Questions) -> Branches:
        question = _at(questions.values(), self.order)
        return _OTHER if question is None else _side(question.name_hash, self.pivot)

    def event_branches(self, answers: Answers) -> Branches:
        hashes = (answer.name_hash for answer in answers.values())
        return _sides((found for found in hashes if self.low <= found < self.high), self.pivot) | _OTHER

    @classmethod
    def splits_of(cls, leaf: Leaf) -> Iterator[Self]:
        for order in range(max(map(len, leaf.subscriptions))):
            ordered = (_at(questions.values(), order) for questions in leaf.subscriptions)
            hashes = [question.name_hash for question in ordered if question is not None]
            same = [(s, b) for s, b in leaf.path if isinstance(s, cls) and s.order == order]
            low, high = _owned([(split.low, split.pivot, split.high, branch) for split, branch in same])
            yield cls(order, low, balanced_pivot(hashes), high)


@dataclass(frozen=True, slots=True)
class OnAttribute:
    """A split by the values of one attribute: who does not ask for it goes to *, and so does every event (3.4).

    Except an event that has no other attribute: who went to * asks for another one.
    """

    attribute: str

    def subscription_branches(self, questions: Questions) -> Branches:
        question = questions.get(self.attribute)
        return _OTHER if question is None else self.branches_of_question(question)

    def event_branches(self, answers: Answers) -> Branches:
        answer = answers.get(self.attribute)
        if answer is None:
            return _OTHER
        branches = self.branches_of_answer(answer)
        return branches | _OTHER if len(answers) > 1 else branches

    @abstractmethod
    def branches_of_question(self, question: Question) -> Branches: ...

    @abstractmethod
    def branches_of_answer(self, answer: Answer) -> Branches: ...


@dataclass(frozen=True, slots=True)
class ValueRange(OnAttribute):
    """Values below the pivot to the left, the others to the right: a subscription may go both ways, a value goes one.

    With a string as pivot it is the paper's string partition; a prefix goes both ways if the pivot begins with it.
    """

    pivot: Place

    def branches_of_question(self, question: Question) -> Branches:
        """Of several predicates the one that goes the fewest ways: each of them must be satisfied."""
        return min((self._branches_of_way(way) for way in question.ways), key=len)

    def branches_of_answer(self, answer: Answer) -> Branches:
        return _sides(answer.places, self.pivot)

    @classmethod
    def splits_of(cls, leaf: Leaf) -> Iterator[Self]:
        for attribute, asked in leaf.asked_in_order():
            yield cls(attribute, balanced_pivot([end for question in asked for end in (question.low, question.high)]))

    def _branches_of_way(self, way: tuple[Stretch, ...]) -> Branches:
        branches = _NOWHERE
        for stretch in way:
            if stretch.low < self.pivot:
                branches |= _LEFT
            if stretch.high > self.pivot or (stretch.high == self.pivot and not stretch.high_open):
                branches |= _RIGHT
        return branches


@dataclass(frozen=True, slots=True)
class Minimum(OnAttribute):
    """By the least value asked for: a subscription goes one way; a value at or above the pivot goes both."""

    pivot: Place

    def branches_of_question(self, question: Question) -> Branches:
        return _side(question.low, self.pivot)

    def branches_of_answer(self, answer: Answer) -> Branches:
        return _sides(answer.places, self.pivot) | _LEFT

    @classmethod
    def splits_of(cls, leaf: Leaf) -> Iterator[Self]:
        for attribute, asked in leaf.asked_in_order():
            yield cls(attribute, balanced_pivot([question.low for question in asked]))


@dataclass(frozen=True, slots=True)
class Maximum(OnAttribute):
    """By the greatest value asked for: a subscription goes one way; a value below the pivot goes both."""

    pivot: Place

    def branches_of_question(self, question: Question) -> Branches:
        return _side(question.high, self.pivot)

    def branches_of_answer(self, answer: Answer) -> Branches:
        return _sides(answer.places, self.pivot) | _RIGHT

    @classmethod
    def splits_of(cls, leaf: Leaf) -> Iterator[Self]:
        for attribute, asked in leaf.asked_in_order():
            yield cls(attribute, balanced_pivot([question.high for question in asked]))


@dataclass(frozen=True, slots=True)
class ElementSet(OnAttribute):
    """By the hashes of elements within low..high - 1: a subscription follows one element that it needs, or all those of
    which it needs any; an event follows all that it has."""

    low: int
    pivot: int
    high: int

    def branches_of_question(self, question: Question) -> Branches:
        return self._sides_within(question.elements) if question.elements else _LEFT | _RIGHT

    def branches_of_answer(self, answer: Answer) -> Branches:
        return self._sides_within(answer.elements)

    @classmethod
    def splits_of(cls, leaf: Leaf) -> Iterator[Self]:
        for attribute, asked in leaf.asked.items():
            same = [(s, b) for s, b in leaf.path if isinstance(s, cls) and s.attribute == attribute]
            low, high = _owned([(split.low, split.pivot, split.high, branch) for split, branch in same])
            hashes = [element for question in asked for element in question.elements]
            within = [element for element in hashes if low <= element < high]
            if within:
                yield cls(attribute, low, balanced_pivot(within), high)

    def _sides_within(self, elements: tuple[int, ...]) -> Branches:
        return _sides((element for element in elements if self.low <= element < self.high), self.pivot)


VALUE_SPLITS: tuple[type[Split], ...] = (ValueRange, Minimum, Maximum, ElementSet)


def balanced_pivot(places: list[Any]) -> Any:
    """The place that leaves as many below as at or above it as can be; what is equal stays together."""
    ordered = sorted(places)
    middle = ordered[len(ordered) // 2]
    below, through = bisect_left(ordered, middle), bisect_right(ordered, middle)
    if through == len(ordered) or max(below, len(ordered) - below) <= max(through, len(ordered) - through):
        return middle
    return ordered[through]


def _side(place: Any, pivot: Any) -> Branches:
    return _LEFT if place < pivot else _RIGHT


def _sides(places: Iterable[Any], pivot: Any) -> Branches:
    return _NOWHERE.union(*(_side(place, pivot) for place in places))


def _owned(path: list[tuple[int, int, int, Branch]]) -> tuple[int, int]:
    """The hashes that belong to a leaf after the last split of the same kind on its way, if there was one.

    A subscription that went to * there has no such hash, and a split of it by hashes again would divide nothing.
    """
    if not path:
        return 0, _HASHES
    low, pivot, high, branch = path[-1]
    return (low, pivot) if branch is Branch.LEFT else (pivot, high)


def _at(questions: Iterable[T], order: int) -> T | None:
    for number, question in enumerate(questions):
        if number == order:
            return question
    return None


def _question(attribute: str, predicates: list[Predicate], seed: int) -> Question:
    offers = (Elements().access(predicate) for predicate in predicates)
    sets = [offer.keys for offer in offers if offer is not None and offer.keys]
    narrowest = min(sets, key=lambda keys: (len(keys), sorted(keys)), default=frozenset[Key]())
    ways = tuple(dict.fromkeys(_way(predicate) for predicate in predicates))
    elements = tuple(sorted(_hash(seed, key.label) for key in narrowest))
    of_set = any(isinstance(predicate, HasAll | HasAny) for predicate in predicates)
    low = max(min((stretch.low for stretch in way), default=_LAST) for way in ways)
    high = min(max((stretch.high for stretch in way), default=_FIRST) for way in ways)
    return Question(_hash(seed, attribute), ways, elements, of_set, low, high)


def _answer(attribute: str, values: tuple[Scalar, ...], seed: int) -> Answer:
    places = tuple((_TYPES[type_of(value)], value) for value in values)
    return Answer(_hash(seed, attribute), places, tuple(_hash(seed, value_label(value)) for value in values))


def _way(predicate: Predicate) -> tuple[Stretch, ...]:
    spans = spans_of(predicate)
    return (Stretch(_FIRST, _LAST),) if spans is None else tuple(map(_stretch, spans))


def _stretch(span: Span) -> Stretch:
    kind = _TYPES[span.type]
    low = (kind - 0.5,) if span.low is None else (kind, span.low)
    high = (kind + 0.5,) if span.high is None else (kind, span.high)
    return Stretch(low, high, span.high_open)


def _rank(predicate: Predicate) -> int:
    """Equality, then subsets, then what has an order, then the rest (3.3)."""
    offer = Elements().access(predicate)
    if offer is not None:
        return offer.rank[0]
    return Rank.UNKNOWN if spans_of(predicate) is None else Rank.RANGE


def _hash(seed: int, label: str) -> int:
    return key_hash(Key("split", str(seed), label))
