"""XML documents, read safely, and the truth of XPath expressions about them as libxml2 computes it.

A document may come from anyone: no entity is expanded, nothing is loaded (no DTD, no external entity, no XInclude, no
network), and a document that declares or needs entities is refused. libxml2's own bounds stay on, because without them
(huge_tree) it also stops checking amplification: elements nest at most 256 deep, and a single text or attribute value
has at most 10,000,000 bytes. Defaults of attributes in a DOCTYPE are not added. Whatever is wrong is an EventError.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lxml import etree

from tidings.analysis.xml_places import place_of, place_of_attribute, place_of_text
from tidings.errors import EventError, SettingError
from tidings.model.xpath import (
    ANY_NAME,
    And,
    Comparison,
    Exists,
    Or,
    Path,
    StringTest,
    XPathExpression,
    split_name,
    text_of,
    text_of_literal,
    text_of_path,
)

DEEPEST = 256  # elements inside one another that libxml2 reads without huge_tree
COMPILED = 4_096  # expressions kept compiled
SHORT = 60  # characters of a value that an explanation shows

# How libxml2 is told to read what may come from anyone, in files of records too.
SAFELY: dict[str, Any] = {
    "resolve_entities": False,
    "load_dtd": False,
    "attribute_defaults": False,
    "no_network": True,
    "huge_tree": False,
    "collect_ids": True,  # without it lxml 6.1 makes libxml2 load the external DTD, whatever load_dtd says
}


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """How large a document may be: bytes (of its UTF-8, if it comes as a str), and elements inside one another."""

    size: int = 16 * 1024 * 1024
    depth: int = DEEPEST

    def __post_init__(self) -> None:
        if self.size < 1:
            raise SettingError(f"the size limit of XML documents is {self.size} bytes; it must be at least 1")
        if not 1 <= self.depth <= DEEPEST:
            raise SettingError(f"the depth limit of XML documents is {self.depth}; it must be from 1 to {DEEPEST}")


DEFAULT_LIMITS = DocumentLimits()


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read, as lxml's tree. Nothing changes it."""

    tree: Any  # etree._ElementTree, which lxml does not export


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node as an explanation shows it: where it stands, its line (of its element, if it has none), its value."""

    path: str
    line: int
    value: str


def read_document(source: str | bytes, limits: DocumentLimits = DEFAULT_LIMITS) -> Document:
    """The document in a str, whose encoding declaration is ignored, or in bytes, whose declaration is honoured."""
    content = _encoded(source) if isinstance(source, str) else source
    if len(content) > limits.size:
        raise EventError(f"the XML document has {len(content)} bytes, and at most {limits.size} are allowed")
    parser: Any = etree.XMLParser(encoding="utf-8" if isinstance(source, str) else None, **SAFELY)
    try:
        root = etree.fromstring(content, parser)
    except etree.LxmlError as error:
        raise _malformed(error, parser) from None
    tree = root.getroottree()
    _refuse_entities(tree, parser)
    if limits.depth < DEEPEST and _deeper_than(limits.depth)(tree):
        raise _too_deep(limits.depth)
    return Document(tree)


_ADVICE = re.compile(", (?:try|see|use) ")
_HAS_EMPTY_TEXT = etree.XPath("boolean(//text()[. = ''])", regexp=False, smart_strings=False)


def as_plain(document: Document) -> bytes | None:
    """The document in UTF-8, without its DOCTYPE; None if it has a text of no characters, which cannot be written."""
    if _HAS_EMPTY_TEXT(document.tree):
        return None
    return etree.tostring(document.tree, encoding="utf-8", xml_declaration=False, doctype="")


def xpath_holds(expression: XPathExpression, document: Document) -> bool:
    """The truth of an expression about a document."""
    return bool(_evaluated(_compiled(expression), document))


def xpath_nodes(expression: XPathExpression, document: Document, limit: int = 8) -> tuple[NodeSeen, ...]:
    """Up to `limit` nodes that satisfy the paths of an expression, in its order. What stands in not( ) has none."""
    seen: dict[str, NodeSeen] = {}
    for leaf in leaves_of(expression):
        for found in _nodes_of(leaf, document, limit):
            seen.setdefault(found.path, found)
    return tuple(seen.values())[: max(0, limit)]


# Reading


def _encoded(source: str) -> bytes:
    try:
        return source.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(source[error.start])
        problem = f"the XML document has U+{code:04X}, half of a surrogate pair, as its character {error.start + 1}"
        raise EventError(problem) from None


def _malformed(error: Exception, parser: Any) -> EventError:
    first = first_complaint(parser.error_log)
    if first is None:
        return EventError(f"the XML document is malformed: {error}")
    if first.message.startswith("Excessive depth"):
        return _too_deep(DEEPEST, f" (line {first.line}, column {first.column})")
    if first.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
        return EventError(f"the XML document passes a bound of libxml2: {said(first)}")
    return EventError(f"the XML document is malformed: {said(first)}")


def first_complaint(log: Any) -> Any:
    """The first error in a log of libxml2's, which is the cause of the others; None if there is none."""
    return next(iter(log.filter_from_errors()), None)


def said(complaint: Any) -> str:
    """What a complaint says, without advice to the programmer such as an option to set, and where."""
    words: str = _ADVICE.split(complaint.message.strip())[0]
    return f"{words} (line {complaint.line}, column {complaint.column})"


def _too_deep(depth: int, place: str = "") -> EventError:
    return EventError(f"the elements of the XML document are nested deeper than the {depth} levels allowed{place}")


def _refuse_entities(tree: Any, parser: Any) -> None:
    dtd = tree.docinfo.internalDTD
    if dtd is None:
        return
    declared = next(iter(dtd.iterentities()), None)
    if declared is not None:
        raise EventError(f"the XML document declares the entity {declared.name}, and entities are not allowed")
    # A reference to an entity of a DTD that was not read is only a warning to libxml2, and would vanish from the text.
    for entry in parser.error_log:
        if entry.type in (etree.ErrorTypes.WAR_UNDECLARED_ENTITY, etree.ErrorTypes.ERR_UNDECLARED_ENTITY):
            raise EventError(f"the XML document needs an entity that it does not have: {said(entry)}")


@lru_cache(maxsize=DEEPEST)
def _deeper_than(depth: int) -> etree.XPath:
    return etree.XPath(f"boolean({'/*' * (depth + 1)})", regexp=False)


# Evaluating


@lru_cache(maxsize=COMPILED)
def _compiled(expression: XPathExpression) -> etree.XPath:
    return _compile(f"boolean({text_of(expression, _name_for_libxml2)})", smart_strings=False)


def _compile(text: str, smart_strings: bool) -> etree.XPath:
    try:
        return etree.XPath(text, regexp=False, smart_strings=smart_strings)
    except etree.XPathError as error:  # not known to happen: the language is narrower than libxml2's
        raise EventError(f"libxml2 does not take the XPath expression {text}: {error}") from None


def _evaluated(compiled: etree.XPath, document: Document) -> Any:
    try:
        return compiled(document.tree)
    except etree.XPathError as error:  # not known to happen: no function of the subset fails
        raise EventError(f"libxml2 cannot evaluate the XPath expression {compiled.path}: {error}") from None


def _name_for_libxml2(name: str) -> str:
    """libxml2's XPath knows the letters of XML 1.0's fourth edition only, but its parser reads names of the fifth."""
    namespace, local = split_name(name)
    if name == ANY_NAME or (not namespace and name.isascii()):
        return name
    return f"*[local-name() = '{local}' and namespace-uri() = '{namespace}']"


# Explaining


def leaves_of(expression: XPathExpression) -> Iterator[Exists | Comparison | StringTest]:
    """The questions that an expression is put together of by `and` and `or`."""
    match expression:
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves_of(part)
        case Exists() | Comparison() | StringTest():
            yield expression
        case _:
            return


def _nodes_of(leaf: Exists | Comparison | StringTest, document: Document, limit: int) -> Iterator[NodeSeen]:
    path = leaf.left if isinstance(leaf, Comparison) else leaf.path
    if not isinstance(path, Path):
        return
    if not path.steps:  # lxml gives no object for the document node
        if xpath_holds(leaf, document):
            yield NodeSeen("/", 1, _short(document.tree.xpath("string(/)")))
        return
    yield from selected_nodes(path, document, limit + 1, _filter(leaf))


def selected_nodes(path: Path, document: Document, limit: int, satisfying: str = "") -> Iterator[NodeSeen]:
    """Up to `limit` nodes that a path with steps selects, of those that satisfy predicates written in XPath."""
    selecting = f"({text_of_path(path, _name_for_libxml2)}){satisfying}[position() <= {limit}]"
    for node in _evaluated(_compile(selecting, smart_strings=True), document):
        yield _node_seen(node)


def _filter(leaf: Exists | Comparison | StringTest) -> str:
    """The predicate that leaves the nodes that make the leaf true."""
    match leaf:
        case Comparison(_, comparator, right):
            return f"[. {comparator} {text_of_literal(right)}]"
        case StringTest(function, _, literal):
            return f"[1][{function}(., {text_of_literal(literal)})]"
        case Exists():
            return ""


def _node_seen(node: Any) -> NodeSeen:
    if not hasattr(node, "is_attribute"):  # an element, a comment or a processing instruction
        return NodeSeen(place_of(node), node.sourceline or 1, _short(node.xpath("string()")))
    place = place_of_attribute(node) if node.is_attribute else place_of_text(node)
    return NodeSeen(place, node.getparent().sourceline or 1, _short(node))


def _short(value: str) -> str:
    return str(value) if len(value) <= SHORT else value[: SHORT - 1] + "…"
