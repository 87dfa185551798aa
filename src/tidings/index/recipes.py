"""Conjunctions of comparisons that are alike, placed many at a time.

Nearly all subscriptions compare some attributes with literals, and nearly all of these differ from others in the
literals only. What has been met before gets a *recipe*: which predicate all of that kind are found by, which one orders
them, and what is left to check; the choice is that of the first. Conjunctions wait in their recipe until there are
many, and then their literals become columns of keys together. Those that were read as a row of comparisons (`Unbound`)
wait as they are written, and never become expressions. What a recipe cannot place it hands back: long numbers, and
intervals that are empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tidings.index import layout
from tidings.index.checks import Checks
from tidings.index.entries import Columns, alike
from tidings.index.layout import LEAST, MOST, Array
from tidings.index.literals import ORDERED, bounds_of, keys_of, keys_of_written
from tidings.language.literals import string_of
from tidings.language.parser import Template, Unbound
from tidings.language.terms import Term
from tidings.model.predicates import And, Between, Comparison, Conjunction, Expression, Operator
from tidings.model.values import AttributeType
from tidings.planning.access import access_of
from tidings.planning.selectivity import share_of
from tidings.planning.statistics import EventStatistics

WAITING = 16_384  # conjunctions that wait before they are placed together
SIGNATURES = 16_384  # that are remembered, once met and with a recipe
Parts = Sequence[Any]  # each a Comparison or a Between
Signature = tuple[Any, ...]  # of each part the attribute, the operator, and the Python type of the literal
_ORDERS = {
    Operator.EQUAL: layout.VALUE,
    Operator.LESS: layout.UPPER,
    Operator.LESS_OR_EQUAL: layout.UPPER,
    Operator.GREATER: layout.LOWER,
    Operator.GREATER_OR_EQUAL: layout.LOWER,
}


@dataclass(slots=True)
class Recipe:
    """How conjunctions of one kind are placed. Parts are named by their numbers; -1 is none."""

    value: int  # the part that is looked up by its value
    low: int  # the part that has the lower bound
    high: int  # the part that has the upper bound: the same for BETWEEN, another one for PAIR
    rest: list[int]  # the parts that are checked
    slots: list[int]  # of all parts
    place: dict[str, int]  # what their entries have in common: kind, lead, second, order
    template: Template | None = None  # of which the literals wait as they are written; None: parts wait
    members: list[int] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)  # of each member its parts, or its literals

    def placed(self, checks: Checks) -> tuple[Columns, list[tuple[int, Expression]]]:
        """Places what waits: the entries, and what cannot be placed in this way."""
        members, rows = self.members, self.rows
        self.members, self.rows = [], []
        columns = [self._column(number, rows) for number in range(len(self.slots))]
        odd = np.any([column.odd for column in columns], axis=0)
        back = [(members[number], self._expression(rows[number])) for number in np.flatnonzero(odd).tolist()]
        if back:
            kept = np.flatnonzero(~odd)
            members = [members[number] for number in kept.tolist()]
            columns = [column.only(kept) for column in columns]
        return self._entries(members, columns, checks), back

    def _column(self, number: int, rows: Sequence[Any]) -> Column:
        if self.template is None:
            return _column([parts[number] for parts in rows])
        assert self.template.terms is not None
        return _written_column(self.template.terms[number], rows)

    def _expression(self, row: Any) -> Expression:
        if self.template is not None:
            return self.template.bind(row)
        return And(tuple(row)) if len(row) > 1 else row[0]

    def _entries(self, members: list[int], columns: list[Column], checks: Checks) -> Columns:
        found: dict[str, Any] = {"member": np.array(members, np.int32), **self.place}
        if self.value >= 0:
            column = columns[self.value]
            found |= {"key": column.low} if column.texts is None else {"text": checks.strings.number_all(column.texts)}
        if self.low >= 0 or self.high >= 0:
            found["low"] = columns[self.low].low if self.low >= 0 else LEAST
            found["high"] = columns[self.high].high if self.high >= 0 else MOST
        if self.place.get("order") == layout.TEXT_POINT:
            found["low"] = checks.strings.number_all(columns[self.low].texts or ())  # their hashes are made later
        if self.rest:
            checked = [columns[number].checks(self.slots[number], checks) for number in self.rest]
            found |= {"checks": len(checked), "check": np.array(checked, np.int32).T.ravel()}
        return alike(len(members), **found)


@dataclass(frozen=True, slots=True)
class Column:
    """The same part of many conjunctions: strings to be equal to, or closed intervals of keys."""

    texts: list[str] | None
    low: Array
    high: Array
    odd: Array  # which compare with a long number, or with nothing

    def only(self, kept: Array) -> Column:
        texts = None if self.texts is None else [self.texts[number] for number in kept.tolist()]
        return Column(texts, self.low[kept], self.high[kept], self.odd[kept])

    def checks(self, slot: int, checks: Checks) -> list[int]:
        """The numbers of the checks that say the same."""
        if self.texts is not None:
            return checks.number_all(
                (layout.TEXT_EQUAL, 0, slot, text, 0) for text in checks.strings.number_all(self.texts)
            )
        bounds = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return checks.number_all((layout.INTERVAL, 0, slot, low, high) for low, high in bounds)


def _column(terms: Sequence[Any]) -> Column:
    first = terms[0]
    if type(first) is Between:
        low, long_low = keys_of(first.low.type, [term.low.value for term in terms])
        high, long_high = keys_of(first.low.type, [term.high.value for term in terms])
        return Column(None, low, high, long_low | long_high | (low > high))
    values = [term.literal.value for term in terms]
    if first.literal.type is AttributeType.STRING:
        none = np.zeros(len(terms), np.int64)
        return Column(values, none, none, none > 0)
    keys, long = keys_of(first.literal.type, values)
    least, most = bounds_of(first.operator, keys)
    return Column(None, np.broadcast_to(least, keys.shape), np.broadcast_to(most, keys.shape), long)


def _written_column(term: Term, rows: Sequence[Sequence[str]]) -> Column:
    """The same of one term of a shape, from the literals of many texts."""
    written = [[row[ordinal] for row in rows] for ordinal in term.literals]
    none = np.zeros(len(rows), bool)
    if term.type is AttributeType.STRING:
        nothing = np.zeros(len(rows), np.int64)
        return Column(list(map(string_of, written[0])), nothing, nothing, none)
    keys = [keys_of_written(each, negative) for each, negative in zip(written, term.negative, strict=True)]
    if term.operator is None:
        low, high = keys
        return Column(None, low, high, low > high)
    least, most = bounds_of(term.operator, keys[0])
    return Column(None, np.broadcast_to(least, none.shape), np.broadcast_to(most, none.shape), none)


class Recipes:
    """The recipes of a segment in the making, and what waits in them."""

    def __init__(self, checks: Checks, statistics: EventStatistics) -> None:
        self._checks = checks
        self._statistics = statistics
        self._recipes: dict[Signature | Template, Recipe | None] = {}
        self._met: set[Signature] = set()
        self._waiting = 0

    @property
    def full(self) -> bool:
        return self._waiting >= WAITING

    def take(self, member: int, parts: Sequence[Any]) -> bool:
        """Takes a conjunction, if there is a recipe for it, and says whether there is."""
        signature: list[Any] = []
        for part in parts:
            kind = type(part)
            if kind is Comparison:
                # The hash of an operator is Python code, that of its place in memory is not.
                signature += (part.attribute.path, id(part.operator), type(part.literal.value))
            elif kind is Between:
                signature += (part.attribute.path, Between, type(part.low.value))
            else:
                return False
        recipe = self._recipes.get(tuple(signature)) or self._learned(tuple(signature), parts)
        if recipe is None:
            return False
        recipe.members.append(member)
        recipe.rows.append(parts)
        self._waiting += 1
        return True

    def take_written(self, member: int, asked: Unbound) -> bool:
        """The same of a conjunction whose literals are as they are written."""
        template = asked.template
        recipe = self._recipes.get(template)
        if recipe is None:
            if template in self._recipes:
                return False
            expression = asked.bound()
            recipe = self._new(expression.parts if type(expression) is And else (expression,))
            self._recipes[template] = recipe
            if recipe is None:
                return False
            recipe.template = template
        recipe.members.append(member)
        recipe.rows.append(asked.written)
        self._waiting += 1
        return True

    def placed(self) -> Iterator[tuple[Columns, list[tuple[int, Expression]]]]:
        """Places what waits; of each recipe the entries, and what has to be placed in another way."""
        for recipe in self._recipes.values():
            if recipe is not None and recipe.rows:
                yield recipe.placed(self._checks)
        self._waiting = 0
        if len(self._recipes) > SIGNATURES:
            self._recipes.clear()

    def _learned(self, signature: Signature, parts: Parts) -> Recipe | None:
        """A recipe for what is met for the second time: one that is used only once is not worth its making."""
        if signature in self._recipes:
            return None
        if signature in self._met:
            self._recipes[signature] = found = self._new(parts)
            return found
        if len(self._met) > SIGNATURES:
            self._met.clear()
        self._met.add(signature)
        return None

    def _new(self, parts: Parts) -> Recipe | None:
        orders = [layout.BETWEEN if type(part) is Between else _ORDERS.get(part.operator, -1) for part in parts]
        types = [(part.low if type(part) is Between else part.literal).type for part in parts]
        unlike = {(part.attribute, kind, order) for part, kind, order in zip(parts, types, orders, strict=True)}
        if len(unlike) < len(parts):
            return None  # they may simplify
        if any(order < 0 or (order and kind not in ORDERED) for order, kind in zip(orders, types, strict=True)):
            return None
        slots = [self._checks.slot(part, kind) for part, kind in zip(parts, types, strict=True)]
        access = access_of(Conjunction(tuple(parts)), self._statistics)
        lead = next(number for number, part in enumerate(parts) if part is access.predicate)
        shares = [share_of(part, self._statistics) for part in parts]
        return _recipe(lead, orders, slots, [kind is AttributeType.STRING for kind in types], shares)


def _recipe_of_two_values(value: int, equal: int, orders: list[int], slots: list[int], texts: list[bool]) -> Recipe:
    """Looked up by one value, and by the other among those of the first."""
    rest = [number for number in range(len(orders)) if number != value and (number != equal or texts[equal])]
    order = layout.TEXT_POINT if texts[equal] else layout.POINT
    place = {"kind": layout.VALUE, "lead": slots[value], "second": slots[equal], "order": order}
    return Recipe(value, equal, equal, rest, slots, place)


def _recipe(lead: int, orders: list[int], slots: list[int], texts: list[bool], shares: list[float]) -> Recipe:
    """The recipe for parts of these kinds in these slots: found by `lead`, ordered by the most selective other one."""
    value = lead if orders[lead] == layout.VALUE else -1
    others = [number for number in range(len(orders)) if slots[number] != slots[lead]]
    first = lead if value < 0 else min(others, key=shares.__getitem__, default=-1)
    if value >= 0 and first >= 0 and orders[first] == layout.VALUE:
        return _recipe_of_two_values(value, first, orders, slots, texts)
    if first < 0:
        rest = [number for number in range(len(orders)) if number != value]
        return Recipe(value, -1, -1, rest, slots, {"kind": layout.VALUE, "lead": slots[lead]})
    order, slot = orders[first], slots[first]
    opposite = {layout.UPPER: layout.LOWER, layout.LOWER: layout.UPPER}.get(order)
    other = next((n for n in range(len(orders)) if slots[n] == slot and orders[n] == opposite), -1)
    low, high = (first, other) if order == layout.LOWER else (other, first)
    if order == layout.BETWEEN:
        low = high = first
    elif other >= 0:
        order = layout.PAIR
    rest = [number for number in range(len(orders)) if number not in (value, low, high)]
    place = {"kind": order, "lead": slot}
    if value >= 0:
        place = {"kind": layout.VALUE, "lead": slots[lead], "second": slot, "order": order}
    return Recipe(value, low, high, rest, slots, place)
