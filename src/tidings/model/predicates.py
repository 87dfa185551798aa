"""What a subscription asks: predicates on attributes, and AND, OR, NOT over them. Plain frozen values.

Trees are kept in one form, so that equal questions are equal values: AND holds no AND and OR no OR directly, NOT holds
no NOT, and a LIKE pattern has one spelling. Build them with `all_of`, `any_of`, `negation` and `like`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TypeAlias

from tidings.model.text import TextPattern
from tidings.model.values import Literal
from tidings.model.xpath import XPathExpression


@dataclass(frozen=True, slots=True)
class Attribute:
    """Where an event keeps a value: the names on the way to it through nested records."""

    path: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.path)


class Operator(StrEnum):
    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


class Wildcard(Enum):
    """What a LIKE pattern holds besides literal text."""

    ONE = "_"
    ANY = "%"


LikePattern: TypeAlias = tuple[str | Wildcard, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    attribute: Attribute
    operator: Operator
    literal: Literal


@dataclass(frozen=True, slots=True)
class Between:
    """low <= value <= high. Not the same as two comparisons: in an array one element must satisfy both."""

    attribute: Attribute
    low: Literal
    high: Literal


@dataclass(frozen=True, slots=True)
class In:
    attribute: Attribute
    literals: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Like:
    """`LIKE`, `ILIKE`, `startswith`, `endswith` and `contains` all become this one kind."""

    attribute: Attribute
    pattern: LikePattern
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class Regex:
    """An RE2 regular expression, found anywhere in the value."""

    attribute: Attribute
    pattern: str


@dataclass(frozen=True, slots=True)
class HasAll:
    """An array that holds every one of the literals (`array_contains`, `has_all`)."""

    attribute: Attribute
    literals: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class HasAny:
    """An array that holds at least one of the literals (`has_any`, `arrays_overlap`)."""

    attribute: Attribute
    literals: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    attribute: Attribute


@dataclass(frozen=True, slots=True)
class Matches:
    """A text that satisfies a pattern of words, phrases and proximity."""

    attribute: Attribute
    pattern: TextPattern


@dataclass(frozen=True, slots=True)
class Similarity:
    """A text whose cosine with the profile is at least (or more than) the threshold."""

    attribute: Attribute
    profile: str
    operator: Operator
    threshold: float
    model: str | None = None


@dataclass(frozen=True, slots=True)
class XPath:
    """An XML document of which the expression is true."""

    attribute: Attribute
    expression: XPathExpression


Predicate: TypeAlias = (
    Comparison | Between | In | Like | Regex | HasAll | HasAny | IsNull | Matches | Similarity | XPath
)


@dataclass(frozen=True, slots=True)
class Constant:
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True)
class Not:
    part: Expression


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Expression, ...]


Expression: TypeAlias = Predicate | Constant | Not | And | Or


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Predicates, and negations of predicates, that must all be true. None at all is always true."""

    terms: tuple[Predicate | Not, ...]


def all_of(parts: Iterable[Expression]) -> Expression:
    """AND of the parts, flat."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,)))
    return flat[0] if len(flat) == 1 else And(flat)


def any_of(parts: Iterable[Expression]) -> Expression:
    """OR of the parts, flat."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,)))
    return flat[0] if len(flat) == 1 else Or(flat)


def predicates_of(expression: Expression) -> Iterator[Predicate]:
    """From left to right, each as often as it stands there."""
    match expression:
        case And(parts) | Or(parts):
            for part in parts:
                yield from predicates_of(part)
        case Not(part):
            yield from predicates_of(part)
        case Constant():
            return
        case _:
            yield expression


def literals_of(predicate: Expression) -> tuple[Literal, ...]:
    """The values that a predicate compares with, all of one type; none of what does not compare."""
    match predicate:
        case Comparison(_, _, literal):
            return (literal,)
        case Between(_, low, high):
            return low, high
        case In(_, literals) | HasAll(_, literals) | HasAny(_, literals):
            return literals
        case _:
            return ()


def negation(part: Expression) -> Expression:
    """NOT of the part; two of them cancel, in three-valued logic too."""
    return part.part if isinstance(part, Not) else Not(part)


def like(parts: Iterable[str | Wildcard]) -> LikePattern:
    """The one spelling of a pattern: literal text merged, and in a run of wildcards each _ once, then a single %."""
    spelled: list[str | Wildcard] = []
    literal, ones, any_number = "", 0, False
    for part in parts:
        if isinstance(part, Wildcard):
            ones += part is Wildcard.ONE
            any_number = any_number or part is Wildcard.ANY
            if literal:
                spelled.append(literal)
                literal = ""
        elif part:
            spelled.extend([Wildcard.ONE] * ones + [Wildcard.ANY] * any_number)
            literal, ones, any_number = literal + part, 0, False
    if literal:
        spelled.append(literal)
    return (*spelled, *[Wildcard.ONE] * ones, *[Wildcard.ANY] * any_number)
