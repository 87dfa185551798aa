"""Keys of elements: a value is a key. One element, the rarest, for what asks for all; every element for any of several.

Paper 3 (matching tree), 3.4: a subscription may follow any one of its keys, an event must follow all of its own; the
rarest one is what paper 4 (4.9) does with words. Invariant: values that `reference` finds equal have one label. Numbers
are labelled by their nearest float64, since a literal with a fraction equals exactly that one among the float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from tidings.model.event import Event
from tidings.model.predicates import Between, Comparison, HasAll, HasAny, In, Like, Operator, Predicate
from tidings.model.values import AttributeType, Literal
from tidings.reference import Reading, scalar_truth
from tidings.rendezvous.scheme import NEVER, Access, Key, Rank, Scalar, attribute_name, rarest
from tidings.rendezvous.spans import nearest_float

LONGEST = 256  # characters of a string in a label; what is longer is cut, on both sides


def value_label(value: Scalar) -> str:
    """One label for all values that compare equal, with the type in front: a boolean never meets a number."""
    match value:
        case bool():
            return f"boolean {str(value).lower()}"
        case int() | float() | Decimal():
            return f"number {nearest_float(value)!r}"
        case datetime():
            return f"moment {value.isoformat()}"
        case str():
            return f"string {value[:LONGEST]}"
        case bytes():
            return "bytes"  # only XPath reads them: no predicate that has a label does


@dataclass(frozen=True, slots=True)
class Elements:
    """=, IN, HAS_ALL (array_contains), HAS_ANY on every type; LIKE without wildcards; any comparison with a boolean.

    `visits` says how many events visit a key, for the choice of the rarest element; a key it does not name is rarest.
    """

    visits: Mapping[Key, float] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        return "elements"

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(("value",))

    def access(self, predicate: Predicate) -> Access | None:
        match predicate:
            case HasAll(_, literals) if literals:
                keys = self._keys(predicate, (literal.value for literal in literals))
                return Access(frozenset((rarest(keys, self.visits),)), (Rank.SET, 0))
            case HasAny(_, literals):
                return self._any_of(predicate, [literal.value for literal in literals], Rank.SET)
            case Like(_, pattern, False) if all(isinstance(part, str) for part in pattern):
                return self._any_of(predicate, ["".join(map(str, pattern))], Rank.EQUALITY)
            case Comparison() | Between() | In() if _booleans_only(predicate):
                return self._any_of(predicate, _booleans_satisfying(predicate), Rank.BOOLEAN)
            case Comparison(_, Operator.EQUAL, literal):
                return self._any_of(predicate, [literal.value], Rank.EQUALITY)
            case In(_, literals):
                return self._any_of(predicate, [literal.value for literal in literals], Rank.EQUALITY)
            case _:
                return None

    def keys_of_value(self, attribute: str, value: Scalar) -> Iterator[Key]:
        yield Key("value", attribute, value_label(value))

    def _any_of(self, predicate: Predicate, values: list[Scalar], rank: Rank) -> Access:
        keys = self._keys(predicate, values)
        return Access(keys, (rank, len(keys))) if keys else NEVER

    def _keys(self, predicate: Predicate, values: Iterable[Scalar]) -> frozenset[Key]:
        attribute = attribute_name(predicate.attribute.path)
        return frozenset(Key("value", attribute, value_label(value)) for value in values)


def _booleans_only(predicate: Comparison | Between | In) -> bool:
    literals: tuple[Literal, ...]
    match predicate:
        case Comparison(_, _, literal):
            literals = (literal,)
        case Between(_, low, high):
            literals = (low, high)
        case In(_, several):
            literals = several
    return bool(literals) and all(literal.type is AttributeType.BOOLEAN for literal in literals)


def _booleans_satisfying(predicate: Predicate) -> list[Scalar]:
    nothing_else = Reading(Event(None, {}))
    return [value for value in (False, True) if scalar_truth(predicate, value, nothing_else) is True]
