"""Where subscriptions go in a segment.

Each conjunction is placed under its access predicate (`planning.access`), with one further range as the order within
its bucket where enough conjunctions share that pair of slots; the rest of its terms become checks. Conjunctions of
plain comparisons, which are nearly all, are placed by a recipe that is made once for all that are alike; the choice of
the access predicate is then that of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidings.index import layout
from tidings.index.checks import Checks
from tidings.index.layout import LEAST
from tidings.index.literals import bounds_of, is_long, key_of, too_long
from tidings.index.slots import OF_TYPE, Slots
from tidings.model.predicates import (
    And,
    Attribute,
    Between,
    Comparison,
    Conjunction,
    Expression,
    HasAll,
    HasAny,
    In,
    Like,
    LikePattern,
    Not,
    Operator,
    Predicate,
    Wildcard,
)
from tidings.model.values import AttributeType
from tidings.planning.access import Access, AccessPath, access_of, path_of
from tidings.planning.simplify import empty, simplified
from tidings.planning.statistics import EventStatistics


@dataclass(slots=True)
class Placed:
    """One conjunction in one place: the table it goes to, its key there, and what is left to check."""

    member: int
    kind: int
    lead: int
    key: int
    text: int  # the string behind the key, or -1
    second: int  # the slot of the range that could order it, or -1
    order: int  # the kind of that range
    low: int
    high: int
    second_checks: tuple[int, ...]  # the same range as checks, for when the group is too small
    checks: tuple[int, ...]
    whole: int = -1  # SUBSTRING: the whole string


Signature = tuple[tuple[Attribute, Operator | None, AttributeType], ...]  # of comparisons; None stands for BETWEEN


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which part of a conjunction is looked up by value, which one orders it, and the slot of each part; -1 is none."""

    value: int
    ordered: int
    slots: list[int]


def _signature(parts: Sequence[Expression]) -> Signature | None:
    """What comparisons have in common with others that are placed in the same way; None where it is not so simple."""
    found: list[tuple[Attribute, Operator | None, AttributeType]] = []
    for part in parts:
        if type(part) is Comparison:
            if part.operator is Operator.NOT_EQUAL or is_long(part.literal):
                return None
            found.append((part.attribute, part.operator, part.literal.type))
        elif type(part) is Between:
            if is_long(part.low) or is_long(part.high) or empty(part):
                return None
            found.append((part.attribute, None, part.low.type))
        else:
            return None
    return tuple(found)


class Placing:
    """Takes subscriptions one by one, numbered from 0; `assembling` makes a segment of what it has taken."""

    def __init__(self, slots: Slots, statistics: EventStatistics) -> None:
        self.slots = slots
        self.statistics = statistics
        self.checks = Checks(slots)
        self.placed: list[Placed] = []
        self.shared: list[int] = []  # per subscription
        self._recipes: dict[Signature, Recipe | None] = {}

    def add(self, expression: Expression) -> None:
        member = len(self.shared)
        self.shared.append(0)
        parts = expression.parts if type(expression) is And else (expression,)
        signature = _signature(parts)
        if signature is not None and (recipe := self._recipe(signature, parts)) is not None:
            self.placed.append(self._cooked(member, recipe, parts))
            return
        accesses = [self._access(conjunction) for conjunction in simplified(expression)]
        before = len(self.placed)
        for access in accesses:
            self._place(member, access)
        self.shared[member] = int(len(self.placed) - before > 1)

    # The common case: comparisons of different attributes. The way to place them is found once for all that are alike.

    def _recipe(self, signature: Signature, parts: Sequence[Expression]) -> Recipe | None:
        if signature not in self._recipes:
            self._recipes[signature] = self._new_recipe(signature, parts)
        return self._recipes[signature]

    def _new_recipe(self, signature: Signature, parts: Sequence[Any]) -> Recipe | None:
        if len({attribute for attribute, _, _ in signature}) < len(signature):
            return None  # two comparisons of one attribute may simplify
        access = access_of(Conjunction(tuple(parts)), self.statistics)
        lead = next(number for number, part in enumerate(parts) if part is access.predicate)
        slots = [self.slots.number(attribute.path, OF_TYPE[kind]) for attribute, _, kind in signature]
        ranges = [
            number for number, part in enumerate(parts) if number != lead and self.checks.interval(part) is not None
        ]
        if access.path is AccessPath.RANGE:
            return Recipe(-1, lead, slots) if self.checks.interval(parts[lead]) is not None else None
        return Recipe(lead, ranges[0] if ranges else -1, slots)

    def _cooked(self, member: int, recipe: Recipe, parts: Sequence[Any]) -> Placed:
        """The entry of one conjunction by the recipe of its kind."""
        entry = Placed(member, layout.VALUE, -1, 0, -1, -1, -1, 0, 0, (), ())
        value, ordered, slots = recipe.value, recipe.ordered, recipe.slots
        if value >= 0:
            entry.lead = slots[value]
            entry.key, entry.text = self.checks.key(parts[value].literal)
        if ordered >= 0:
            part = parts[ordered]
            if type(part) is Between:
                entry.order, entry.low, entry.high = layout.BETWEEN, key_of(part.low), key_of(part.high)
            else:
                entry.low, entry.high = bounds_of(part.operator, key_of(part.literal))
                entry.order = layout.UPPER if entry.low == LEAST else layout.LOWER
            if value < 0:
                entry.kind, entry.lead = entry.order, slots[ordered]
            else:
                entry.second = slots[ordered]
        if len(parts) > (value >= 0) + (ordered >= 0):
            rest = (part for number, part in enumerate(parts) if number not in (value, ordered))
            entry.checks = tuple(self.checks.check(part) for part in rest)
        return entry

    def _access(self, conjunction: Conjunction) -> Access:
        """The access by what this index can look up: numbers of more digits than a float64 has are only verified."""
        indexable = tuple(term for term in conjunction.terms if path_of(term) is not None and not too_long(term))
        if not indexable:
            return Access(conjunction, AccessPath.SCAN, None, False, 1.0, "nothing can be looked up")
        best = access_of(Conjunction(indexable), self.statistics)
        return Access(conjunction, best.path, best.predicate, best.exact, best.share, best.reason)

    def _place(self, member: int, access: Access) -> None:
        predicate = access.predicate
        residual = access.residual
        if predicate is None:
            self.placed.append(self._entry(member, layout.SCAN, -1, 0, -1, residual))
            return
        match predicate:
            case Comparison(_, Operator.EQUAL, literal) | HasAll(_, (literal, *_)):
                wanted = [literal]
            case In(_, literals) | HasAny(_, literals):
                wanted = list(literals)
            case Like(_, pattern):
                self._place_pattern(member, predicate, pattern, residual)
                return
            case _:
                self._place_range(member, predicate, residual)
                return
        if isinstance(predicate, HasAll | HasAny):
            residual = (predicate, *[term for term in residual if term is not predicate])  # an array is asked for
        for literal in wanted:
            lead = self.checks.slot(predicate, literal.type)
            key, text = self.checks.key(literal)
            self.placed.append(self._entry(member, layout.VALUE, lead, key, text, residual))

    def _place_range(self, member: int, predicate: Predicate, residual: tuple[Predicate | Not, ...]) -> None:
        if self.checks.interval(predicate) is None:  # strings: verified, not looked up
            self.placed.append(self._entry(member, layout.SCAN, -1, 0, -1, (predicate, *residual)))
            return
        entry = self._entry(member, layout.VALUE, -1, 0, -1, (predicate, *residual))
        entry.kind, entry.lead, entry.second, entry.second_checks = entry.order, entry.second, -1, ()
        self.placed.append(entry)

    def _place_pattern(
        self, member: int, predicate: Like, pattern: LikePattern, residual: tuple[Predicate | Not, ...]
    ) -> None:
        lead = self.checks.slot(predicate, AttributeType.STRING)
        whole = not any(isinstance(part, Wildcard) for part in pattern)
        if whole:
            text = "".join(part for part in pattern if isinstance(part, str)).encode()
            self._append_text(member, layout.VALUE, lead, text, residual)
        elif isinstance(pattern[0], str):
            self._append_text(member, layout.PREFIX, lead, pattern[0].encode(), residual)
        elif isinstance(pattern[-1], str):
            self._append_text(member, layout.SUFFIX, lead, pattern[-1].encode()[::-1], residual)
        else:
            piece = max((part.encode() for part in pattern if isinstance(part, str)), key=len)
            entry = self._entry(member, layout.SUBSTRING, lead, 0, -1, residual, order=False)
            entry.whole = self.checks.strings.number(piece)
            self.placed.append(entry)

    def _append_text(
        self, member: int, kind: int, lead: int, text: bytes, residual: tuple[Predicate | Not, ...]
    ) -> None:
        number = self.checks.strings.number(text)
        self.placed.append(self._entry(member, kind, lead, 0, number, residual, order=kind == layout.VALUE))

    def _entry(
        self,
        member: int,
        kind: int,
        lead: int,
        key: int,
        text: int,
        residual: tuple[Predicate | Not, ...],
        order: bool = True,
    ) -> Placed:
        """An entry under a value; the first range among the other terms may order it within its bucket."""
        entry = Placed(member, kind, lead, key, text, -1, -1, 0, 0, (), ())
        checks = []
        for term in residual:
            check = self.checks.check(term)
            interval = self.checks.interval(term) if order and kind == layout.VALUE else None
            if interval is not None and interval[1] != lead and _ordered_by(entry, interval):
                entry.second_checks += (check,)
            else:
                checks.append(check)
        entry.checks = tuple(checks)
        return entry


def _ordered_by(entry: Placed, interval: tuple[int, int, int, int]) -> bool:
    """Makes the range the order of the entry, if it has none, or joins an upper and a lower bound on the same slot."""
    order, slot, low, high = interval
    if entry.second < 0:
        entry.order, entry.second, entry.low, entry.high = interval
        return True
    if entry.second == slot and {entry.order, order} == {layout.UPPER, layout.LOWER}:
        entry.order, entry.low, entry.high = layout.PAIR, max(entry.low, low), min(entry.high, high)
        return True
    return False
