"""A large XML file cut into records: one document for each child of its root, read as it comes, never the whole.

Read as safely as single documents are (`analysis.xml`): no entity is expanded and nothing is loaded. The encoding is
what the file declares. A record that cannot be used says why, and the others follow; a file that is broken gives the
records before the fault, and then an EventError that says where it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from lxml import etree

from tidings.analysis.xml import DEFAULT_LIMITS, DocumentLimits
from tidings.errors import EventError


@dataclass(frozen=True, slots=True)
class XmlRecord:
    """A child of the root: its number from 0, its name, and itself as a document, or why it is none."""

    number: int
    name: str
    document: str | None
    problem: str | None = None


def xml_records(source: IO[bytes], limits: DocumentLimits = DEFAULT_LIMITS) -> Iterator[XmlRecord]:
    """The records of a file, in order. EventError where the file cannot be read any further."""
    events = etree.iterparse(
        source,
        events=("start", "end", "comment", "pi"),
        resolve_entities=False,
        load_dtd=False,
        attribute_defaults=False,
        no_network=True,
        huge_tree=False,
        collect_ids=True,  # without it lxml 6.1 makes libxml2 load the external DTD, whatever load_dtd says
    )
    depth, number = 0, 0
    try:
        for event, element in events:
            if event == "start":
                depth += 1
                continue
            if event == "end":
                depth -= 1
            if depth == 1:
                if event == "end":
                    yield _record(number, element, limits)
                    number += 1
                _forget(element)
    except etree.XMLSyntaxError as error:
        raise EventError(f"the XML file cannot be read beyond its record {number}: {error.msg}") from None


def _record(number: int, element: etree._Element, limits: DocumentLimits) -> XmlRecord:
    if next(element.iter(etree.Entity), None) is not None:
        return XmlRecord(number, element.tag, None, "the record needs an entity, and entities are not allowed")
    document = etree.tostring(element, encoding="unicode", with_tail=False)
    size = len(document.encode())
    if size > limits.size:
        problem = f"the record has {size} bytes, and at most {limits.size} are allowed"
        return XmlRecord(number, element.tag, None, problem)
    return XmlRecord(number, element.tag, document)


def _forget(element: etree._Element) -> None:
    """What was read is let go, also before it: the root would keep all of them."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
