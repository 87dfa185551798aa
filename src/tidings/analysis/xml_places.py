"""Where a node stands in a document, as an explanation shows it: the names on the way to it, as the document has them.

Names are written with the document's prefixes, and without one where they stand in a default namespace: what a reader
of the document looks for. A number in brackets counts the siblings of that name, where there are several.
"""

from __future__ import annotations

from typing import Any

from lxml import etree

from tidings.model.xpath import split_name


def place_of(node: Any) -> str:
    """The place of an element, a comment or an instruction."""
    steps = []
    while node is not None:
        steps.append(_step(node))
        node = node.getparent()
    return "/" + "/".join(reversed(steps))


def place_of_attribute(value: Any) -> str:
    """The place of the attribute that lxml found with a value."""
    element = value.getparent()
    return f"{place_of(element)}/@{_attribute_as_written(value.attrname, element)}"


def place_of_text(text: Any) -> str:
    """The place of a text that lxml found."""
    beside = text.getparent()
    element = beside.getparent() if text.is_tail else beside
    return f"{place_of(element)}/text(){_number_of_text(element, beside if text.is_tail else None)}"


def _step(node: Any) -> str:
    if node.tag is etree.Comment:
        name, kind, written = "", "comment()", "comment()"
    elif node.tag is etree.ProcessingInstruction:
        name, kind = node.target, "processing-instruction()"
        written = f"processing-instruction('{name}')"
    else:
        local = split_name(node.tag)[1]
        name, kind = f"{node.prefix}:{local}" if node.prefix else local, "*"
        written = name
    before, behind = (_siblings(node, side, kind, name) for side in ("preceding", "following"))
    return f"{written}[{before + 1}]" if before or behind else written


def _siblings(node: Any, side: str, kind: str, name: str) -> int:
    """How many of a kind and name stand on one side of a node."""
    return int(node.xpath(f"count({side}-sibling::{kind}[name() = $name])", name=name))


def _attribute_as_written(name: str, element: Any) -> str:
    namespace, local = split_name(name)
    asked = "name(@*[local-name() = $local and namespace-uri() = $namespace])"
    return str(element.xpath(asked, local=local, namespace=namespace))


def _number_of_text(element: Any, before: Any) -> str:
    """`[n]` of the text in `element` that follows the child `before`, or None; nothing where it is the only one."""
    places = ([None] if element.text else []) + [child for child in element if child.tail]
    return f"[{places.index(before) + 1}]" if len(places) > 1 else ""
