"""Terms as checks, which the kernels evaluate: a row of numbers each, kept once however many conjunctions share it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from tidings.index import layout
from tidings.index.engines import question_of
from tidings.index.layout import LEAST, Array
from tidings.index.literals import ORDERED, bounds_of, key_of, long_intervals
from tidings.index.slots import OF_TYPE, Slots, SlotType
from tidings.language.printer import print_expression
from tidings.model.predicates import (
    Between,
    Comparison,
    HasAll,
    HasAny,
    In,
    IsNull,
    Like,
    LikePattern,
    Not,
    Operator,
    Predicate,
    Wildcard,
)
from tidings.model.values import AttributeType, Literal
from tidings.planning.long_numbers import has_long


@dataclass(slots=True)
class Strings:
    """The strings of literals, each once."""

    numbers: dict[bytes, int] = field(default_factory=dict)

    def number(self, text: bytes) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def number_all(self, texts: Iterable[str]) -> list[int]:
        numbers = self.numbers
        return [numbers.setdefault(text, len(numbers)) for text in map(str.encode, texts)]

    def arrays(self) -> tuple[Array, Array]:
        starts = np.zeros(len(self.numbers) + 1, np.int64)
        np.cumsum([len(text) for text in self.numbers], out=starts[1:])
        return starts, np.frombuffer(b"".join(self.numbers) or b"\0", np.uint8)


CheckRow = tuple[int, int, int, int, int]  # operation, flags, slot, a, b
_LONG = {HasAll: layout.HAS_ALL_LONG, HasAny: layout.HAS_ANY_LONG}
_CLOSED = {
    Operator.LESS: Operator.LESS_OR_EQUAL,
    Operator.LESS_OR_EQUAL: Operator.LESS_OR_EQUAL,
    Operator.GREATER: Operator.GREATER_OR_EQUAL,
    Operator.GREATER_OR_EQUAL: Operator.GREATER_OR_EQUAL,
}


class Checks:
    """The checks of a segment, with the lists and strings that they name."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.strings = Strings()
        self.rows: dict[CheckRow, int] = {}
        self.lists: list[int] = []
        self.questions: dict[int, dict[Any, int]] = {}  # of each slot of facts its questions, numbered
        self._list_of: dict[tuple[int, ...], int] = {}

    def slot(self, predicate: Predicate, kind: AttributeType) -> int:
        return self.slots.number(predicate.attribute.path, OF_TYPE[kind])

    def fact(self, predicate: Predicate) -> tuple[int, int] | None:
        """The slot and the number of the fact that decides a predicate; None where no engine does."""
        question = question_of(predicate)
        if question is None:
            return None
        kind, asked = question
        path = predicate.attribute.path
        self.slots.number(path, SlotType.STRING)  # the texts themselves
        if kind is SlotType.XPATH:
            self.slots.number(path, SlotType.BYTES)
        slot = self.slots.number(path, kind)
        questions = self.questions.setdefault(slot, {})
        return slot, questions.setdefault(asked, len(questions))

    def key(self, literal: Literal) -> tuple[int, int]:
        """The key of a literal and the number of its string; the key of a string is made later, for all at once."""
        if literal.type is AttributeType.STRING:
            assert isinstance(literal.value, str)
            return 0, self.strings.number(literal.value.encode())
        return key_of(literal), -1

    def interval(self, term: Predicate | Not) -> tuple[int, int, int, int] | None:
        """The kind, slot and closed bounds of a range on numbers, times or booleans; None for anything else.

        Of long numbers (`has_long`) the bounds lead to candidates.
        """
        match term:
            case Between(_, low, high) if low.type in ORDERED:
                return layout.BETWEEN, self.slot(term, low.type), key_of(low), key_of(high)
            case Comparison(_, operator, literal) if literal.type in ORDERED and operator not in (
                Operator.EQUAL,
                Operator.NOT_EQUAL,
            ):
                operator = _CLOSED[operator] if has_long(term) else operator
                least, most = bounds_of(operator, key_of(literal))
                kind = layout.UPPER if least == LEAST else layout.LOWER
                return kind, self.slot(term, literal.type), least, most
            case _:
                return None

    def point(self, term: Predicate | Not) -> tuple[int, int, int, int] | None:
        """The same for what equals one value: its key; of a string its number, whose hash is made later."""
        if not isinstance(term, Comparison) or term.operator is not Operator.EQUAL:
            return None
        key, text = self.key(term.literal)
        order, key = (layout.POINT, key) if text < 0 else (layout.TEXT_POINT, text)
        return order, self.slot(term, term.literal.type), key, key

    def check(self, term: Predicate | Not) -> int:
        flags = layout.NEGATED if isinstance(term, Not) else 0
        predicate = term.part if isinstance(term, Not) else term
        row = self._check_row(predicate, flags)  # type: ignore[arg-type]  # in a conjunction NOT holds a predicate
        return self.rows.setdefault(row, len(self.rows))

    def number_all(self, rows: Iterable[CheckRow]) -> list[int]:
        known = self.rows
        return [known.setdefault(row, len(known)) for row in rows]

    def interval_check(self, slot: int, low: int, high: int) -> int:
        """A closed interval of keys as a check."""
        row = (layout.INTERVAL, 0, slot, low, high)
        return self.rows.setdefault(row, len(self.rows))

    def arrays(self) -> dict[str, Array]:
        """The checks as a segment holds them; one at least, so that no array is empty."""
        rows = self.rows or {(layout.OPAQUE, 0, -1, -1, 0): 0}
        fields = np.fromiter(chain.from_iterable(rows), np.int64, 5 * len(rows)).reshape(-1, 5)
        return {
            "check_rows": layout.check_rows(layout.CheckColumns(*fields.T)),
            "lists": np.array(self.lists, np.int64),
        }

    def _check_row(self, predicate: Predicate, flags: int) -> CheckRow:
        if has_long(predicate):
            return self._long_row(predicate, flags)
        match predicate:
            case IsNull(attribute):
                return layout.IS_NULL, flags, self.slots.number(attribute.path, SlotType.PRESENCE), 0, 0
            case Comparison(_, operator, literal):
                return self._comparison_row(predicate, operator, literal, flags)
            case Between(_, low, high):
                return self._between_row(predicate, low, high, flags)
            case In(_, literals):
                return self._list_row(predicate, literals, flags, layout.KEY_LIST, layout.TEXT_LIST)
            case HasAll(_, literals):
                return self._list_row(predicate, literals, flags, layout.HAS_ALL_KEYS, layout.HAS_ALL_TEXTS)
            case HasAny(_, literals):
                return self._list_row(predicate, literals, flags, layout.HAS_ANY_KEYS, layout.HAS_ANY_TEXTS)
            case Like(_, pattern, False):
                return self._like_row(predicate, pattern, flags)
            case _:
                fact = self.fact(predicate)
                if fact is None:
                    return self._opaque_row(predicate, flags)
                slot, number = fact
                return layout.INTERVAL, flags, slot, number, number

    def _opaque_row(self, predicate: Predicate, flags: int) -> CheckRow:
        return layout.OPAQUE, flags, -1, self.strings.number(print_expression(predicate).encode()), 0

    def _long_row(self, predicate: Predicate, flags: int) -> CheckRow:
        intervals = long_intervals(predicate)
        if intervals is None:
            return self._opaque_row(predicate, flags)
        operation = _LONG.get(type(predicate), layout.LONG_INTERVALS)
        return operation, flags, self.slot(predicate, AttributeType.NUMBER), *self._listed(intervals)

    def _comparison_row(self, predicate: Comparison, operator: Operator, literal: Literal, flags: int) -> CheckRow:
        slot = self.slot(predicate, literal.type)
        if literal.type is not AttributeType.STRING:
            key = key_of(literal)
            if operator is Operator.NOT_EQUAL:
                return layout.OUTSIDE, flags, slot, key, key
            return layout.INTERVAL, flags, slot, *bounds_of(operator, key)
        assert isinstance(literal.value, str)
        number = self.strings.number(literal.value.encode())
        match operator:
            case Operator.EQUAL:
                return layout.TEXT_EQUAL, flags, slot, number, 0
            case Operator.NOT_EQUAL:
                return layout.TEXT_DIFFERENT, flags, slot, number, 0
            case Operator.LESS | Operator.LESS_OR_EQUAL:
                flags |= layout.OPEN_HIGH if operator is Operator.LESS else 0
                return layout.TEXT_INTERVAL, flags, slot, -1, number
            case _:
                flags |= layout.OPEN_LOW if operator is Operator.GREATER else 0
                return layout.TEXT_INTERVAL, flags, slot, number, -1

    def _between_row(self, predicate: Between, low: Literal, high: Literal, flags: int) -> CheckRow:
        slot = self.slot(predicate, low.type)
        if low.type is not AttributeType.STRING:
            return layout.INTERVAL, flags, slot, key_of(low), key_of(high)
        ends = [self.strings.number(str(end.value).encode()) for end in (low, high)]
        return layout.TEXT_INTERVAL, flags, slot, ends[0], ends[1]

    def _list_row(
        self, predicate: In | HasAll | HasAny, literals: tuple[Literal, ...], flags: int, keys: int, texts: int
    ) -> CheckRow:
        slot = self.slot(predicate, literals[0].type)
        if literals[0].type is AttributeType.STRING:
            values = tuple(sorted({self.strings.number(str(literal.value).encode()) for literal in literals}))
            operation = texts
        else:
            values = tuple(sorted({key_of(literal) for literal in literals}))
            operation = keys
        return operation, flags, slot, *self._listed(values)

    def _listed(self, values: tuple[int, ...]) -> tuple[int, int]:
        """Where these values stand in the lists, each row of values once."""
        start = self._list_of.get(values)
        if start is None:
            start = self._list_of[values] = len(self.lists)
            self.lists.extend(values)
        return start, start + len(values)

    def _like_row(self, predicate: Like, pattern: LikePattern, flags: int) -> CheckRow:
        slot = self.slot(predicate, AttributeType.STRING)
        number = self.strings.number
        match pattern:
            case ():
                return layout.TEXT_EQUAL, flags, slot, number(b""), 0
            case (str(text),):
                return layout.TEXT_EQUAL, flags, slot, number(text.encode()), 0
            case (str(text), Wildcard.ANY):
                return layout.TEXT_PREFIX, flags, slot, number(text.encode()), 0
            case (Wildcard.ANY, str(text)):
                return layout.TEXT_SUFFIX, flags, slot, number(text.encode()), 0
            case (Wildcard.ANY, str(text), Wildcard.ANY):
                return layout.TEXT_CONTAINS, flags, slot, number(text.encode()), 0
        program = b"".join(
            part.encode()
            if isinstance(part, str)
            else bytes([layout.ANY_BYTE if part is Wildcard.ANY else layout.ONE_BYTE])
            for part in pattern
        )
        return layout.TEXT_LIKE, flags, slot, number(program), 0
