"""Questions as programs, which decide them exactly about a document in arrays. `verifying` runs them.

What stands in the operands of an operation:

    ALL, ANY                 its parts are operation_list[a:b]
    NONE                     its part is a
    EXISTS                   the path a
    COMPARE, STRING_TEST     the path a, the kind of test b; the key of a number, or the number of a literal
    POSITION, LAST           the kind of test b, the key of a number
    POSITION_LAST            the kind of test b
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

import numpy as np

from tidings.index.layout import Array
from tidings.index.xml.layout import (
    ALL,
    ANY,
    ANY_SYMBOL,
    COMPARE,
    CONTAINS,
    EQUAL,
    EXISTS,
    GREATER,
    GREATER_OR_EQUAL,
    LAST,
    LESS,
    LESS_OR_EQUAL,
    NONE,
    NOT_EQUAL,
    POSITION,
    POSITION_LAST,
    STARTS_WITH,
    STEP_ATTRIBUTE,
    STEP_ELEMENT,
    STEP_TEXT,
    STEP_WHOLE,
    STRING_TEST,
    TEXT_EQUAL,
    TEXT_NOT_EQUAL,
)
from tidings.index.xml.paths import Names
from tidings.index.xml.values import number_key
from tidings.model.xpath import (
    ANY_NAME,
    And,
    Comparator,
    Comparison,
    Exists,
    NodeKind,
    Not,
    Or,
    Path,
    Place,
    Step,
    StringFunction,
    StringTest,
    XPathExpression,
    text_of_literal,
)

DESCENDANT, POSITIONAL = 8, 16  # added to the kind of a step
NUMBER_TESTS = {
    Comparator.EQUAL: EQUAL,
    Comparator.NOT_EQUAL: NOT_EQUAL,
    Comparator.LESS: LESS,
    Comparator.LESS_OR_EQUAL: LESS_OR_EQUAL,
    Comparator.GREATER: GREATER,
    Comparator.GREATER_OR_EQUAL: GREATER_OR_EQUAL,
}
TEXT_TESTS = {Comparator.EQUAL: TEXT_EQUAL, Comparator.NOT_EQUAL: TEXT_NOT_EQUAL}
STRING_TESTS = {StringFunction.CONTAINS: CONTAINS, StringFunction.STARTS_WITH: STARTS_WITH}
_STEP_KINDS = {
    NodeKind.ELEMENT: STEP_ELEMENT,
    NodeKind.ATTRIBUTE: STEP_ATTRIBUTE,
    NodeKind.TEXT: STEP_TEXT,
    NodeKind.SELF: STEP_WHOLE,
}


@lru_cache(maxsize=65_536)
def key_of(literal: str | Decimal) -> int:
    """The key of a literal as a number: libxml2 reads one in an expression as it reads one in a document."""
    written = literal if isinstance(literal, str) else text_of_literal(literal)
    data = np.frombuffer(written.encode(), np.uint8).copy()  # writable, as the kernel's other callers have it
    return int(number_key(data, 0, len(data)))


class Literals:
    """Strings that documents are compared with, each once."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def texts(self) -> list[str]:
        return list(self._numbers)


class Programs:
    """Operations, steps and paths as they are added."""

    def __init__(self, names: Names, literals: Literals) -> None:
        self._names = names
        self._literals = literals
        self._operation: list[int] = []
        self._a: list[int] = []
        self._b: list[int] = []
        self._key: list[int] = []
        self._list: list[int] = []
        self._step_kind: list[int] = []
        self._step_symbol: list[int] = []
        self._step_predicates: list[int] = []
        self._path_steps: list[int] = []
        self.levels = 1

    def add(self, expression: XPathExpression, level: int = 1) -> int:
        """The number of the operation that decides the expression."""
        self.levels = max(self.levels, level)
        match expression:
            case And(parts) | Or(parts):
                first, end = self._listed(parts, level)
                return self._new(ALL if isinstance(expression, And) else ANY, first, end)
            case Not(part):
                return self._new(NONE, self.add(part, level))
            case Exists(path):
                return self._new(EXISTS, self._path(path, level))
            case Comparison(Place.POSITION, comparator, Place()):
                return self._new(POSITION_LAST, 0, NUMBER_TESTS[comparator])
            case Comparison(Place() as place, comparator, (str() | Decimal()) as right):
                operation = POSITION if place is Place.POSITION else LAST
                return self._new(operation, 0, NUMBER_TESTS[comparator], key_of(right))
            case Comparison(Path() as path, comparator, (str() | Decimal()) as right):
                kind, key = compared(comparator, right, self._literals.number)
                return self._new(COMPARE, self._path(path, level), kind, key)
            case StringTest(function, path, literal):
                kind, key = STRING_TESTS[function], self._literals.number(literal)
                return self._new(STRING_TEST, self._path(path, level), kind, key)
            case _:
                raise ValueError(f"no XPath expression of the subset: {expression!r}")

    def _listed(self, parts: tuple[XPathExpression, ...], level: int) -> tuple[int, int]:
        numbers = [self.add(part, level) for part in parts]
        first = len(self._list)
        self._list += numbers
        return first, len(self._list)

    def _new(self, operation: int, a: int, b: int = 0, key: int = 0) -> int:
        self._operation.append(operation)
        self._a.append(a)
        self._b.append(b)
        self._key.append(key)
        return len(self._operation) - 1

    def _path(self, path: Path, level: int) -> int:
        predicates = [self._listed(step.predicates, level + 1) for step in path.steps]
        first = len(self._step_kind)
        for step, listed in zip(path.steps, predicates, strict=True):
            self._step(step, listed)
        self._path_steps += (first, len(self._step_kind))
        return len(self._path_steps) // 2 - 1

    def _step(self, step: Step, predicates: tuple[int, int]) -> None:
        named = step.kind in (NodeKind.ELEMENT, NodeKind.ATTRIBUTE) and step.name != ANY_NAME
        positional = any(map(asks_position, step.predicates))
        kind = _STEP_KINDS[step.kind] + DESCENDANT * step.descendant + POSITIONAL * positional
        self._step_kind.append(kind)
        self._step_symbol.append(self._names.symbol(step) if named else ANY_SYMBOL)
        self._step_predicates += predicates

    def arrays(self) -> dict[str, Array]:
        return {
            "operation": np.array(self._operation, np.uint8),
            "operand_a": np.array(self._a, np.int32),
            "operand_b": np.array(self._b, np.int32),
            "operand_key": np.array(self._key, np.int64),
            "operation_list": np.array(self._list, np.int32),
            "step_kind": np.array(self._step_kind, np.uint8),
            "step_symbol": np.array(self._step_symbol, np.int32),
            "step_predicates": np.array(self._step_predicates, np.int32),
            "path_steps": np.array(self._path_steps, np.int32),
        }


def compared(comparator: Comparator, right: str | Decimal, number: Callable[[str], int]) -> tuple[int, int]:
    """The kind of test of a comparison, and its key or the number of its literal. Order is always that of numbers."""
    if isinstance(right, str) and comparator in TEXT_TESTS:
        return TEXT_TESTS[comparator], number(right)
    return NUMBER_TESTS[comparator], key_of(right)


def asks_position(expression: XPathExpression) -> bool:
    """Whether position() or last() of the node itself is asked for."""
    match expression:
        case And(parts) | Or(parts):
            return any(map(asks_position, parts))
        case Not(part):
            return asks_position(part)
        case Comparison(left):
            return isinstance(left, Place)
        case _:
            return False
