"""All paths of all questions as one automaton, which shares their beginnings.

As in YFilter and paper 5: a state for each distinct beginning of a path, `//` a state of its own behind the one before
it, in which the automaton stays while it goes down. States are made once for each beginning, so that every state is
reached by exactly one edge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tidings.index.hashing import fill_hash
from tidings.index.keys import hash_strings
from tidings.index.layout import Array
from tidings.index.xml.layout import (
    BELOW,
    DOCUMENT,
    FIRST_NAME,
    OTHER_ATTRIBUTE,
    OTHER_ELEMENT,
    PLAIN,
    TEXT,
    WHOLE,
)
from tidings.model.xpath import ANY_NAME, NodeKind, Step

ROOT = 0
_EDGE = 1 << 24  # more than there can be symbols


class Names:
    """Names that questions ask for, numbered as they come."""

    __slots__ = ("_numbers",)

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._numbers = {name: number for number, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def symbols(self) -> int:
        """More than the largest symbol."""
        return FIRST_NAME + 2 * len(self)

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def find(self, name: str) -> int:
        return self._numbers.get(name, -1)

    def symbol(self, step: Step) -> int:
        """What the step leads to. `*` has the symbol of any other name, and `//.` that of the document."""
        match step.kind:
            case NodeKind.ELEMENT:
                return OTHER_ELEMENT if step.name == ANY_NAME else FIRST_NAME + 2 * self.number(step.name)
            case NodeKind.ATTRIBUTE:
                return OTHER_ATTRIBUTE if step.name == ANY_NAME else FIRST_NAME + 1 + 2 * self.number(step.name)
            case NodeKind.TEXT:
                return TEXT
            case NodeKind.SELF:
                return DOCUMENT

    def arrays(self) -> tuple[Array, Array, Array]:
        """name_start, name_data and name_places of a plan."""
        starts, data = packed(self._numbers)
        return starts, data, hash_places(hash_strings(data, starts))


class Paths:
    """The automaton while it is built: states are numbered as they come, and an edge leads from state and symbol."""

    __slots__ = ("_below", "_edges", "names", "symbols")

    def __init__(self) -> None:
        self.names = Names()
        self.symbols = [DOCUMENT]  # of each state: what the edge to it is
        self._edges: dict[int, int] = {}
        self._below: dict[int, int] = {}

    def after(self, state: int, step: Step) -> int:
        """The state behind a step, without its predicates."""
        symbol = self.names.symbol(step)
        return self._led(self._behind(state) if step.descendant and symbol != DOCUMENT else state, symbol)

    def is_named(self, state: int) -> bool:
        """Whether the last step to a state says what it leads to; the document and `//.` do not."""
        return self.symbols[state] != DOCUMENT

    def anywhere(self, state: int) -> int:
        """The state of the same last step behind // from the document. It must be a named one."""
        return self._led(self._behind(ROOT), self.symbols[state])

    def _behind(self, state: int) -> int:
        """The state of // behind a state."""
        found = self._below.get(state)
        if found is None:
            found = self._below[state] = self._new(DOCUMENT)
        return found

    def _led(self, state: int, symbol: int) -> int:
        key = state * _EDGE + symbol
        found = self._edges.get(key)
        if found is None:
            found = self._edges[key] = self._new(symbol)
        return found

    def along(self, state: int, steps: Iterable[Step]) -> int:
        for step in steps:
            state = self.after(state, step)
        return state

    def _new(self, symbol: int) -> int:
        self.symbols.append(symbol)
        return len(self.symbols) - 1

    def arrays(self) -> Automaton:
        """Its arrays, with states numbered anew: those first from which something leads on."""
        count = len(self.symbols)
        keys = np.fromiter(self._edges, np.int64, len(self._edges))
        source, symbol = keys // _EDGE, keys % _EDGE
        target = np.fromiter(self._edges.values(), np.int64, len(self._edges))
        below_of = np.fromiter(self._below, np.int64, len(self._below))
        below = np.fromiter(self._below.values(), np.int64, len(self._below))
        kind = np.full(count, PLAIN, np.uint8)
        kind[below], kind[target[symbol == DOCUMENT]] = BELOW, WHOLE
        inner = kind != PLAIN
        inner[source[symbol != DOCUMENT]] = True
        inner[ROOT] = True
        order = np.argsort(~inner, kind="stable")
        number = np.empty(count, np.int64)
        number[order] = np.arange(count)
        edges, loops = (number[source], symbol, number[target]), (number[below_of], number[below])
        return _automaton(number, int(inner.sum()), kind[order], edges, loops, self.names.symbols)


class Automaton(NamedTuple):
    """The arrays of a plan that are the automaton, and the new numbers of the states."""

    number: Array
    inner: int
    edge_key: Array
    edge_target: Array
    any_element: Array
    any_attribute: Array
    below: Array
    whole: Array
    kind: Array
    leads: Array


def _automaton(
    number: Array,
    inner: int,
    kind: Array,
    edges: tuple[Array, Array, Array],
    below: tuple[Array, Array],
    symbols: int,
) -> Automaton:
    source, symbol, target = edges
    count = len(number)

    def led(chosen: Array) -> Array:
        found = np.full(count, -1, np.int32)
        found[source[chosen]] = target[chosen]
        return found

    behind = np.full(count, -1, np.int32)
    behind[below[0]] = below[1]
    is_attribute = (symbol >= OTHER_ATTRIBUTE) & (symbol % 2 == 1)
    leads = np.zeros(count, np.uint8)
    leads[source[is_attribute]] |= 1
    leads[source[symbol == TEXT]] |= 2
    leads[kind == WHOLE] |= 2
    named = (symbol == TEXT) | (symbol >= FIRST_NAME)
    keys = source[named] * symbols + symbol[named]
    places = hash_places(keys)
    taken = places >= 0
    edge_key, edge_target = np.full(len(places), -1, np.int64), np.full(len(places), -1, np.int32)
    edge_key[taken], edge_target[taken] = keys[places[taken]], target[named][places[taken]]
    return Automaton(
        number, inner, edge_key, edge_target, led(symbol == OTHER_ELEMENT), led(symbol == OTHER_ATTRIBUTE), behind,
        led(symbol == DOCUMENT), kind, leads,
    )  # fmt: skip


def packed(texts: Iterable[str]) -> tuple[Array, Array]:
    """Strings as UTF-8 behind one another: where each begins, and the bytes."""
    encoded = [text.encode() for text in texts]
    starts = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=starts[1:])
    return starts, np.frombuffer(b"".join(encoded), np.uint8)


def hash_places(keys: Array) -> Array:
    """An open hash table of the numbers of keys, half of it free or more; -1 where free."""
    size = 4
    while size < 2 * len(keys):
        size *= 2
    places = np.full(size, -1, np.int64)
    fill_hash(np.array([0, size], np.int64), np.array([0, len(keys)], np.int64), keys, places)
    return places.astype(np.int32)
