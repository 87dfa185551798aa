"""Keys of XML documents: an expression is stored under what a document must have; a document visits all that it has.

Paper 5 (FoXtrot) spreads an automaton by its states. Here a key is what leads to a state: the whole path of names,
where the expression writes it (/nitf/body/p); else the deepest name that it asks for; or an attribute with its value.
Of an `or` each side has its key; what holds because nodes are absent has none. A name in a namespace is written with
it, {namespace}name, on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidings.analysis.xml import Document, read_document
from tidings.errors import EventError
from tidings.model.predicates import Predicate
from tidings.model.predicates import XPath as XPathPredicate
from tidings.model.xpath import (
    ANY_NAME,
    And,
    Comparator,
    Comparison,
    Exists,
    NodeKind,
    Or,
    Path,
    Step,
    StringTest,
    XPathExpression,
)
from tidings.rendezvous.scheme import Access, Key, Rank, Scalar, attribute_name

PATH, NAME, VALUE = "document path", "document name", "document value"
LONGEST = 256  # characters of a value in a label; what is longer is cut, on both sides
Label = tuple[str, str]  # kind and label of a key


@dataclass(frozen=True, slots=True)
class Documents:
    """`xpath_boolean`."""

    @property
    def name(self) -> str:
        return "documents"

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset((PATH, NAME, VALUE))

    def access(self, predicate: Predicate) -> Access | None:
        if not isinstance(predicate, XPathPredicate):
            return None
        attribute = attribute_name(predicate.attribute.path)
        labels = _needed(predicate.expression)
        if not labels:
            return None
        return Access(frozenset(Key(kind, attribute, label) for kind, label in labels), (Rank.WORD, len(labels)))

    def keys_of_value(self, attribute: str, value: Scalar) -> Iterator[Key]:
        if isinstance(value, str | bytes):
            try:
                document = read_document(value)
            except EventError:
                return  # no expression is true of what cannot be read
            for kind, label in set(_labels(document)):
                yield Key(kind, attribute, label)


def _needed(expression: XPathExpression) -> list[Label]:
    """Labels of which every document has one that the expression is true of; none where that is not known."""
    match expression:
        case Exists(path):
            return _of_path(path)
        case Comparison(Path() as path, Comparator.EQUAL, str(value)) if _last_attribute(path):
            return [(VALUE, f"{path.steps[-1].name}={value[:LONGEST]}")]
        case Comparison(Path() as path, _, _):
            return _of_path(path)
        case StringTest(_, path, literal):
            return _of_path(path) if literal else []  # every string contains the empty one, also that of no node
        case And(parts):
            return min((labels for part in parts if (labels := _needed(part))), key=len, default=[])
        case Or(parts):
            each = [_needed(part) for part in parts]
            return [label for labels in each for label in labels] if all(each) else []
        case _:
            return []


def _last_attribute(path: Path) -> bool:
    return bool(path.steps) and path.steps[-1].kind is NodeKind.ATTRIBUTE and path.steps[-1].name != ANY_NAME


def _of_path(path: Path) -> list[Label]:
    """The whole path where each step goes to a named child; else the deepest name."""
    named = [step for step in path.steps if step.kind in (NodeKind.ELEMENT, NodeKind.ATTRIBUTE)]
    plain = all(step.name != ANY_NAME and not step.descendant for step in named)
    if named and plain and path.absolute:
        return [(PATH, "".join(f"/{_name(step)}" for step in named))]
    names = [_name(step) for step in named if step.name != ANY_NAME]
    return [(NAME, names[-1])] if names else []


def _name(step: Step) -> str:
    return f"@{step.name}" if step.kind is NodeKind.ATTRIBUTE else step.name


def _labels(document: Document) -> Iterator[Label]:
    """All paths, names, and attributes with their values."""
    paths: dict[object, str] = {None: ""}
    for element in document.tree.getroot().iter("*"):
        path = paths[element] = f"{paths[element.getparent()]}/{element.tag}"
        yield PATH, path
        yield NAME, element.tag
        for name, value in element.attrib.items():
            yield NAME, f"@{name}"
            yield VALUE, f"{name}={value[:LONGEST]}"
            yield PATH, f"{path}/@{name}"
