"""Documents as flat arrays: the room for them, and the way through libxml2 for those that the scanner hands over.

libxml2 reads such a document and writes it down again as one that the scanner takes (`analysis.xml.as_plain`); what it
does not take even then is walked node by node. All ways fill the same arrays with the same numbers; `tests/index/xml`
holds them against each other. What libxml2 refuses is refused here with the reference's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tidings.analysis.xml import Document
from tidings.index.layout import Array
from tidings.index.views import directory
from tidings.index.xml.layout import (
    COMMENT,
    DOCUMENT,
    FIRST_NAME,
    INSTRUCTION,
    OTHER_ATTRIBUTE,
    OTHER_ELEMENT,
    TEXT,
    Nodes,
)
from tidings.index.xml.scanning import MOST_ATTRIBUTES

LEAST_NODES = 4 * MOST_ATTRIBUTES
LEAST_VALUES = 4_096


class Room:
    """Arrays for one document after the other; they grow, and their directory changes with them."""

    __slots__ = ("directory", "nodes")

    def __init__(self) -> None:
        self.nodes = _allocated(LEAST_NODES, LEAST_VALUES)
        self.directory = directory(self.nodes)

    def fit_nodes(self, count: int) -> None:
        """Room for at least so many nodes. What was in the arrays is gone."""
        if count > len(self.nodes.symbol):
            self._replace(_allocated(count, len(self.nodes.values)))

    def fit_values(self, size: int) -> None:
        if size > len(self.nodes.values):
            self._replace(_allocated(len(self.nodes.symbol), size))

    def _replace(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.directory = directory(nodes)


def _allocated(nodes: int, values: int) -> Nodes:
    return Nodes(
        symbol=np.zeros(nodes, np.int32),
        parent=np.zeros(nodes, np.int32),
        end=np.zeros(nodes, np.int32),
        value=np.zeros(nodes, np.int64),
        length=np.zeros(nodes, np.int64),
        state=np.zeros(nodes, np.int32),
        alike=np.zeros(nodes, np.int32),
        values=np.zeros(values, np.uint8),
        used=np.zeros(4, np.int64),
    )


def walk(document: Document, number_of: Callable[[str], int], room: Room) -> None:
    """Fills the arrays from libxml2's tree. `number_of` gives the number of a name, or -1."""
    walked = _Walk(number_of)
    root = document.tree.getroot()
    for beside in reversed(list(root.itersiblings(preceding=True))):
        walked.aside(beside, 0)
    walked.element(root)
    for beside in root.itersiblings():
        walked.aside(beside, 0)
    walked.store(room)


class _Walk:
    """Nodes as lists, in document order."""

    def __init__(self, number_of: Callable[[str], int]) -> None:
        self._number_of = number_of
        self._symbol = [DOCUMENT]
        self._parent = [-1]
        self._end = [0]
        self._value = [0]  # in the texts; ~place in the rest
        self._length = [0]
        self._texts = bytearray()
        self._rest = bytearray()
        self._deepest = 0

    def element(self, root: Any) -> None:
        """Without recursion, because elements nest as deep as Python's stack may be."""
        open_nodes: list[tuple[int, Any]] = []
        self._open(root, 0, open_nodes)
        while open_nodes:
            node, children = open_nodes[-1]
            child = next(children, None)
            if child is None:
                self._close(node)
                open_nodes.pop()
            elif isinstance(child, str):
                self._text(child, node)
            elif isinstance(child.tag, str):
                self._open(child, node, open_nodes)
            else:
                self.aside(child, node)

    def _open(self, element: Any, parent: int, open_nodes: list[tuple[int, Any]]) -> None:
        node = self._add(self._symbol_of(element.tag, OTHER_ELEMENT), parent, len(self._texts), 0)
        for name, value in element.attrib.items():
            self._beside(self._symbol_of(name, OTHER_ATTRIBUTE), node, value)
        open_nodes.append((node, _content(element)))
        self._deepest = max(self._deepest, len(open_nodes))

    def _close(self, node: int) -> None:
        self._end[node] = len(self._symbol)
        self._length[node] = len(self._texts) - self._value[node]

    def _text(self, text: str, parent: int) -> None:
        encoded = text.encode()
        self._add(TEXT, parent, len(self._texts), len(encoded))
        self._texts += encoded

    def aside(self, node: Any, parent: int) -> None:
        """A comment or an instruction. lxml has no text for one that is empty."""
        self._beside(INSTRUCTION if hasattr(node, "target") else COMMENT, parent, node.text or "")

    def _beside(self, symbol: int, parent: int, value: str) -> None:
        encoded = value.encode()
        self._add(symbol, parent, ~len(self._rest), len(encoded))
        self._rest += encoded

    def _add(self, symbol: int, parent: int, value: int, length: int) -> int:
        node = len(self._symbol)
        self._symbol.append(symbol)
        self._parent.append(parent)
        self._end.append(node + 1)
        self._value.append(value)
        self._length.append(length)
        return node

    def _symbol_of(self, name: str, other: int) -> int:
        """lxml writes a name in a namespace as {namespace}name, and so do questions."""
        number = self._number_of(name)
        return other if number < 0 else FIRST_NAME + 2 * number + (other == OTHER_ATTRIBUTE)

    def store(self, room: Room) -> None:
        self._end[0], self._length[0] = len(self._symbol), len(self._texts)
        count, texts = len(self._symbol), len(self._texts)
        room.fit_nodes(count)
        room.fit_values(texts + len(self._rest))
        nodes, value = room.nodes, np.array(self._value, np.int64)
        columns: tuple[tuple[Array, Any], ...] = (
            (nodes.symbol, self._symbol),
            (nodes.parent, self._parent),
            (nodes.end, self._end),
            (nodes.length, self._length),
            (nodes.value, np.where(value < 0, texts + ~value, value)),
        )
        for array, column in columns:
            array[:count] = column
        nodes.values[: texts + len(self._rest)] = np.frombuffer(bytes(self._texts + self._rest), np.uint8)
        nodes.used[:] = count, self._deepest, texts, texts + len(self._rest)


def _content(element: Any) -> Iterator[Any]:
    """Texts and children in their order. An empty text is there where lxml has '' and not None."""
    if element.text is not None:
        yield element.text
    for child in element:
        yield child
        if child.tail is not None:
            yield child.tail
