"""An XPath 1.0 expression of the supported subset, as a tree. Asked is always its truth: boolean(expression).

Trees are kept in one form, so that equal questions are equal values: AND holds no AND and OR no OR directly, NOT holds
no NOT, a literal stands on the right of its comparison, [3] is position() = 3, and a path outside [ ] is absolute.
A `.` is left out of a path except as its last step after `//`. A name in a namespace is `{namespace}name`, whatever its
prefix was; one without braces is in no namespace. A string literal never holds both kinds of quote,
since XPath 1.0 cannot write it. Build AND, OR and NOT with `all_of`, `any_of` and `negation`; `text_of` and its
neighbours write the one text of a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, StrEnum
from typing import TypeAlias

ANY_NAME = "*"
XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"  # of xml:lang and its like

NameWriter: TypeAlias = Callable[[str], str]  # how a name stands in the text; `*` is a name here


class Comparator(StrEnum):
    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


class StringFunction(StrEnum):
    CONTAINS = "contains"
    STARTS_WITH = "starts-with"


class Place(Enum):
    """The numbers of the node that a predicate is asked about: its own, and that of the last one beside it."""

    POSITION = "position()"
    LAST = "last()"


class NodeKind(Enum):
    """What a step selects. `SELF` is the step `.`, which selects nodes of every kind."""

    ELEMENT = "element"
    ATTRIBUTE = "attribute"
    TEXT = "text"
    SELF = "self"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `descendant` says that `//` stands before it. Only elements and attributes have a name, or `*`."""

    kind: NodeKind
    name: str = ""
    descendant: bool = False
    predicates: tuple[XPathExpression, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """Steps from the document node (absolute) or from the node that a predicate is asked about. No steps: that node."""

    absolute: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """The path selects at least one node."""

    path: Path


@dataclass(frozen=True, slots=True)
class Comparison:
    """A path compares true if any node that it selects does. `Place.LAST` is on the right of `Place.POSITION` only."""

    left: Path | Place
    comparator: Comparator
    right: str | Decimal | Place


@dataclass(frozen=True, slots=True)
class StringTest:
    """`contains` and `starts-with`: asked of the first node that the path selects, and of '' if there is none."""

    function: StringFunction
    path: Path
    literal: str


@dataclass(frozen=True, slots=True)
class Not:
    part: XPathExpression


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[XPathExpression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[XPathExpression, ...]


XPathExpression: TypeAlias = Exists | Comparison | StringTest | Not | And | Or


def split_name(name: str) -> tuple[str, str]:
    """The namespace of a name, or '', and the name in it."""
    namespace, _, local = name[1:].rpartition("}") if name[:1] == "{" else ("", "", name)
    return namespace, local


def all_of(parts: Iterable[XPathExpression]) -> XPathExpression:
    """AND of the parts, flat."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,)))
    return flat[0] if len(flat) == 1 else And(flat)


def any_of(parts: Iterable[XPathExpression]) -> XPathExpression:
    """OR of the parts, flat."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,)))
    return flat[0] if len(flat) == 1 else Or(flat)


def negation(part: XPathExpression) -> XPathExpression:
    """NOT of the part; two of them cancel."""
    return part.part if isinstance(part, Not) else Not(part)


def text_of(expression: XPathExpression, name: NameWriter = str) -> str:
    """The one text of an expression."""
    match expression:
        case Or(parts):
            return " or ".join(text_of(part, name) for part in parts)
        case And(parts):
            written = ((part, text_of(part, name)) for part in parts)
            return " and ".join(f"({text})" if isinstance(part, Or) else text for part, text in written)
        case Not(part):
            return f"not({text_of(part, name)})"
        case Comparison(left, comparator, right):
            asked = left.value if isinstance(left, Place) else text_of_path(left, name)
            return f"{asked} {comparator} {text_of_literal(right)}"
        case StringTest(function, path, literal):
            return f"{function}({text_of_path(path, name)}, {text_of_literal(literal)})"
        case Exists(path):
            return text_of_path(path, name)


def text_of_path(path: Path, name: NameWriter = str) -> str:
    """Without steps it is `.` or `/.`: after a bare `/` the word `and` would be read as a name."""
    if not path.steps:
        return "/." if path.absolute else "."
    steps = "".join(("//" if step.descendant else "/") + _text_of_step(step, name) for step in path.steps)
    if path.absolute:
        return steps
    return f".{steps}" if path.steps[0].descendant else steps.removeprefix("/")


def text_of_literal(literal: str | Decimal | Place) -> str:
    if isinstance(literal, Place):
        return literal.value
    if isinstance(literal, Decimal):
        return format(literal, "f")
    return f'"{literal}"' if "'" in literal else f"'{literal}'"


def _text_of_step(step: Step, name: NameWriter) -> str:
    match step.kind:
        case NodeKind.ELEMENT:
            test = name(step.name)
        case NodeKind.ATTRIBUTE:
            test = "@" + name(step.name)
        case NodeKind.TEXT:
            test = "text()"
        case NodeKind.SELF:
            test = "."
    return test + "".join(f"[{_text_of_predicate(predicate, name)}]" for predicate in step.predicates)


def _text_of_predicate(predicate: XPathExpression, name: NameWriter) -> str:
    match predicate:
        case Comparison(Place.POSITION, Comparator.EQUAL, (Decimal() | Place()) as place):
            return text_of_literal(place)
        case _:
            return text_of(predicate, name)
