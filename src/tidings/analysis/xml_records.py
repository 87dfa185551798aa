"""A large XML file cut into records: one document for each child of its root, read as it comes, never the whole.

Read as safely as single documents are (`analysis.xml`): no entity is expanded and nothing is loaded. A record that
refers to an entity is a problem, unless its characters are given (`analysis.xml_entities`). A record that cannot be
used says why, and the others follow; a file that is broken gives the records before the fault, and then an EventError
that says where it is. What is in memory is a record, whatever stands before, between and behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

from lxml import etree

from tidings.analysis.xml import DEFAULT_LIMITS, SAFELY, DocumentLimits, first_complaint, said
from tidings.analysis.xml_entities import VisibleEntities, entity_in
from tidings.errors import EventError

CHUNK = 32 * 1024  # bytes that are read at once
MOST_BESIDE = 16 * 2**20  # bytes before or behind the root element, where comments are kept until the file ends
NO_ENTITIES: Mapping[str, str] = {}
_NOT_GIVEN = ", and `entities` does not say what it stands for"


@dataclass(frozen=True, slots=True)
class XmlRecord:
    """A child of the root: its number from 0, its name, and itself as a document, or why it is none.

    What stands between two records and refers to an entity may have been one, and is a record with a problem.
    """

    number: int
    name: str
    document: str | None
    problem: str | None = None


def xml_records(
    source: IO[bytes], limits: DocumentLimits = DEFAULT_LIMITS, entities: Mapping[str, str] = NO_ENTITIES
) -> Iterator[XmlRecord]:
    """The records of a file, in order. EventError where the file cannot be read any further.

    `entities` are the characters that the names of entities stand for, such as `html.entities.entitydefs`.
    """
    stream = VisibleEntities(source, entities)
    parser: Any = etree.XMLPullParser(events=("start", "end"), encoding=stream.encoding, **SAFELY)
    records = _Records(limits)
    ended, beside = False, 0
    while not ended:
        chunk = stream.read(CHUNK)
        ended = not chunk
        fault = _fault(parser, chunk)
        yield from records.read(parser.read_events())
        if fault is not None:
            raise EventError(f"the XML file cannot be read beyond its record {records.number}: {fault}")
        beside = 0 if records.depth else beside + len(chunk)
        if beside > MOST_BESIDE:
            raise EventError(f"the XML file has over {MOST_BESIDE} bytes before or behind its root element")


def _fault(parser: Any, chunk: bytes) -> str | None:
    """Parses a chunk, or the end of the file; what is wrong with it."""
    try:
        parser.feed(chunk) if chunk else parser.close()
    except etree.XMLSyntaxError as error:
        complaint = first_complaint(parser.feed_error_log)
        return str(error.msg) if complaint is None else said(complaint)
    return None


class _Records:
    """Records as the elements of a file begin and end."""

    def __init__(self, limits: DocumentLimits) -> None:
        self.number = 0  # of the next one
        self.depth = 0
        self._limits = limits
        self._root: Any = None

    def read(self, events: Iterator[tuple[str, Any]]) -> Iterator[XmlRecord]:
        for event, element in events:
            if event == "start":
                self._root = element if self._root is None else self._root
                self.depth += 1
                continue
            self.depth -= 1
            if self.depth == 1:
                yield from self._let_go(element)
                yield self._record(element)
                element.clear(keep_tail=True)
            elif self.depth == 0:
                yield from self._let_go(None)
        if self._root is not None:  # its last child may be open
            yield from self._let_go(next(self._root.iterchildren(reversed=True), None))

    def _record(self, element: Any) -> XmlRecord:
        number, self.number = self.number, self.number + 1
        document = etree.tostring(element, encoding="unicode", with_tail=False)
        if (entity := entity_in(document)) is not None:
            return XmlRecord(number, element.tag, None, f"the record needs the entity {entity}{_NOT_GIVEN}")
        if (size := len(document.encode())) > self._limits.size:
            problem = f"the record has {size} bytes, and at most {self._limits.size} are allowed"
            return XmlRecord(number, element.tag, None, problem)
        return XmlRecord(number, element.tag, document)

    def _let_go(self, last: Any) -> Iterator[XmlRecord]:
        """Lets go what the root has before one of its children; of None all, once nothing follows."""
        if last is None and self.depth:
            return  # there is text only, which the parser may be adding to
        between, self._root.text = [self._root.text], None
        first: Any
        while (first := next(self._root.iterchildren(), None)) is not last:
            between.append(first.tail)
            del self._root[0]
        if (entity := entity_in("".join(filter(None, between)))) is not None:
            number, self.number = self.number, self.number + 1
            yield XmlRecord(number, "", None, f"between the records stands the entity {entity}{_NOT_GIVEN}")
