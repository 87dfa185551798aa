"""Deciding a question about a document exactly, compiled: its program is run step by step over lists of nodes.

A step leads from a list of nodes, in document order and each once, to another such list, so that the time of a path is
at most its steps times the nodes, and predicates inside one another multiply it. A position counts the nodes that the
step selects below one parent and that the predicates before it left.
"""

from __future__ import annotations

import numpy as np

from tidings.index.compiling import compiled, compiled_into_callers
from tidings.index.views import int32s, int64s, uint8s
from tidings.index.xml import layout
from tidings.index.xml.layout import NODES as N
from tidings.index.xml.layout import PLAN as P
from tidings.index.xml.layout import RUN as R
from tidings.index.xml.programs import DESCENDANT, POSITIONAL
from tidings.index.xml.values import float_key, number_key, number_passes, text_passes

_ALL, _ANY, _NONE, _EXISTS, _COMPARE = layout.ALL, layout.ANY, layout.NONE, layout.EXISTS, layout.COMPARE
_POSITION, _LAST, _POSITION_LAST = layout.POSITION, layout.LAST, layout.POSITION_LAST
_ELEMENT, _ATTRIBUTE, _TEXT_STEP, _WHOLE = (
    layout.STEP_ELEMENT,
    layout.STEP_ATTRIBUTE,
    layout.STEP_TEXT,
    layout.STEP_WHOLE,
)
_TEXT, _OTHER_ELEMENT, _OTHER_ATTRIBUTE = layout.TEXT, layout.OTHER_ELEMENT, layout.OTHER_ATTRIBUTE
_TEXT_EQUAL, _CONTAINS, _SCANNED = layout.TEXT_EQUAL, layout.CONTAINS, layout.SCANNED
_SERIAL, _ALIKE, _NODE_COUNT = layout.SERIAL, layout.ALIKE, layout.NODE_COUNT
_OF_HEAD, _FROM, _UP_TO, _FOR = layout.OF_HEAD, 0, 1, 2  # what `head` has of a symbol
_KIND = 7


@compiled_into_callers
def selects(kind, wanted, symbol):  # type: ignore[no-untyped-def]
    """Whether a step of this kind and name selects a node below the one before."""
    if kind == _ELEMENT:
        return symbol == wanted or (wanted < 0 and symbol >= _OTHER_ELEMENT and symbol & 1 == 0)
    if kind == _ATTRIBUTE:
        return symbol == wanted or (wanted < 0 and symbol >= _OTHER_ATTRIBUTE and symbol & 1 == 1)
    return symbol == _TEXT


@compiled
def passes(plan, run, nodes, node, kind, key):  # type: ignore[no-untyped-def]
    """Whether the value of a node passes a test."""
    start = int64s(nodes, N.value)[node]
    end = start + int64s(nodes, N.length)[node]
    data = uint8s(nodes, N.values)
    if kind >= _TEXT_EQUAL:
        int64s(run, R.counts)[_SCANNED] += end - start if kind == _CONTAINS else 1
        return text_passes(plan, kind, key, data, start, end)
    return number_passes(kind, number_key(data, start, end), key)


@compiled
def truth(plan, run, nodes, operation, node, position, last, free):  # type: ignore[no-untyped-def]
    """Whether an operation holds of a node, which has a position among `last`. `lists` is free from `free` on.

    All numbers that it is called with are int64: a function that calls itself and is kept compiled has one signature.
    """
    code = uint8s(plan, P.operation)[operation]
    a, b = np.int64(int32s(plan, P.operand_a)[operation]), np.int64(int32s(plan, P.operand_b)[operation])
    key = int64s(plan, P.operand_key)[operation]
    if code == _ALL or code == _ANY:  # noqa: SIM109 - compiled
        for at in range(a, b):
            part = np.int64(int32s(plan, P.operation_list)[at])
            if truth(plan, run, nodes, part, node, position, last, free) == (code == _ANY):
                return code == _ANY
        return code == _ALL
    if code == _NONE:
        return not truth(plan, run, nodes, a, node, position, last, free)
    if _POSITION <= code <= _POSITION_LAST:
        return place_passes(code, b, key, position, last)
    # A path: its steps, each from lists[start:end] to a list behind it
    lists, steps = int32s(run, R.lists), int32s(plan, P.path_steps)
    lists[free] = node
    start, end = free, free + 1
    for number in range(steps[2 * a], steps[2 * a + 1]):
        kind, wanted = np.int64(uint8s(plan, P.step_kind)[number]), np.int64(int32s(plan, P.step_symbol)[number])
        first, behind = int32s(plan, P.step_predicates)[2 * number], int32s(plan, P.step_predicates)[2 * number + 1]
        if kind & POSITIONAL:
            stop = parents(nodes, lists, start, end, kind)
            parent, kept = end, stop
            while parent < stop:
                group = kept
                kept = children(nodes, lists, np.int64(lists[parent]), kept, kind, wanted)
                for at in range(first, behind):
                    size, found = kept - group, group
                    for i in range(group, group + size):
                        predicate = np.int64(int32s(plan, P.operation_list)[at])
                        if truth(plan, run, nodes, predicate, np.int64(lists[i]), i - group + 1, size, group + size):
                            lists[found] = lists[i]
                            found += 1
                    kept = found
                parent += 1
            start, end = ordered(lists, stop, kept, start)
        else:
            stop = selected(run, nodes, lists, start, end, kind, wanted)
            kept = end
            for i in range(end, stop):
                good = True
                for at in range(first, behind):
                    predicate = np.int64(int32s(plan, P.operation_list)[at])
                    if not truth(plan, run, nodes, predicate, np.int64(lists[i]), np.int64(1), np.int64(1), stop):
                        good = False
                        break
                if good:
                    if code == _EXISTS and number == steps[2 * a + 1] - 1:
                        return True  # one is enough
                    lists[kept] = lists[i]
                    kept += 1
            start, end = ordered(lists, end, kept, start)
    return concluded(plan, run, nodes, lists, start, end, code, b, key)


@compiled
def place_passes(code, kind, key, position, last):  # type: ignore[no-untyped-def]
    """What a comparison with position() or last() says."""
    if code == _POSITION_LAST:
        key = float_key(np.float64(last))
    return number_passes(kind, float_key(np.float64(last if code == _LAST else position)), key)


@compiled
def concluded(plan, run, nodes, lists, start, end, code, kind, key):  # type: ignore[no-untyped-def]
    """What the nodes at the end of a path say."""
    if code == _EXISTS:
        return end > start
    if code == _COMPARE:
        for at in range(start, end):  # noqa: SIM110 - compiled
            if passes(plan, run, nodes, np.int64(lists[at]), kind, key):
                return True
        return False
    if start == end:  # a string function of no node is asked of ''
        return text_passes(plan, kind, key, uint8s(nodes, N.values), np.int64(0), np.int64(0))
    return passes(plan, run, nodes, np.int64(lists[start]), kind, key)


@compiled
def ordered(lists, first, end, to):  # type: ignore[no-untyped-def]
    """Moves a list to a place before it, in document order; where it begins and ends there."""
    rising = True
    for at in range(first, end):
        if at > first and lists[at] < lists[at - 1]:
            rising = False
        lists[to + at - first] = lists[at]
    if not rising:
        lists[to : to + end - first].sort()
    return to, to + end - first


@compiled
def selected(run, nodes, lists, start, end, kind, wanted):  # type: ignore[no-untyped-def]
    """Writes behind a list the nodes that a step selects from it, each once; where they end."""
    symbols, ends = int32s(nodes, N.symbol), int32s(nodes, N.end)
    to, plain, behind = end, kind & _KIND, np.int64(0)
    same, same_end = (
        nodes_alike(run, nodes, wanted) if kind & DESCENDANT and wanted >= 0 else (np.int64(0), np.int64(0))
    )
    alike = int32s(nodes, N.alike)
    for at in range(start, end):
        node = np.int64(lists[at])
        if not kind & DESCENDANT:
            to = children(nodes, lists, node, to, kind, wanted)
        elif plain == _WHOLE:
            if node >= behind:
                lists[to] = node
                to += 1
            for below in range(max(node + 1, behind), ends[node]):
                if not (symbols[below] >= _OTHER_ATTRIBUTE and symbols[below] & 1):
                    lists[to] = below
                    to += 1
        elif wanted >= 0:
            same = first_behind(alike, same, same_end, node)  # `same` is behind those below the nodes before this one
            while same < same_end and alike[same] < ends[node]:
                lists[to] = alike[same]
                to += 1
                same += 1
        else:
            for below in range(max(node + 1, behind), ends[node]):
                if selects(plain, wanted, symbols[below]):
                    lists[to] = below
                    to += 1
        behind = max(behind, np.int64(ends[node]))
    return to


@compiled
def nodes_alike(run, nodes, symbol):  # type: ignore[no-untyped-def]
    """Where `alike` has the nodes with a symbol, and where they end."""
    head, counts = int64s(run, R.head), int64s(run, R.counts)
    if counts[_ALIKE] != counts[_SERIAL]:
        counts[_ALIKE] = counts[_SERIAL]
        sort_alike(head, counts[_SERIAL], int32s(nodes, N.symbol), int64s(nodes, N.used)[_NODE_COUNT], nodes)
    place = _OF_HEAD * symbol
    if head[place + _FOR] != counts[_SERIAL]:
        return np.int64(0), np.int64(0)
    return head[place + _FROM], head[place + _UP_TO]


@compiled
def sort_alike(head, serial, symbols, count, nodes):  # type: ignore[no-untyped-def]
    """Sorts the nodes of a document by symbol, by counting them: once for each document, when a program first asks."""
    alike, to = int32s(nodes, N.alike), np.int64(0)
    for node in range(count):
        place = _OF_HEAD * np.int64(symbols[node])
        if head[place + _FOR] != serial:
            head[place + _FOR], head[place + _FROM], head[place + _UP_TO] = serial, -1, 0
        head[place + _UP_TO] += 1
    for node in range(count):
        place = _OF_HEAD * np.int64(symbols[node])
        if head[place + _FROM] < 0:
            head[place + _FROM], head[place + _UP_TO], to = to, to, to + head[place + _UP_TO]
        alike[head[place + _UP_TO]] = node
        head[place + _UP_TO] += 1


@compiled
def first_behind(alike, start, end, node):  # type: ignore[no-untyped-def]
    """The first place of a part of `alike` that has a node behind this one, by bisection."""
    while start < end:
        middle = (start + end) >> 1
        if alike[middle] > node:
            end = middle
        else:
            start = middle + 1
    return start


@compiled
def children(nodes, lists, node, to, kind, wanted):  # type: ignore[no-untyped-def]
    """Writes the children of a node that a step selects; where they end."""
    symbols, ends = int32s(nodes, N.symbol), int32s(nodes, N.end)
    plain, child = kind & _KIND, node + 1
    if plain == _ATTRIBUTE:  # they come before all other children, and a name comes once
        while child < ends[node] and symbols[child] >= _OTHER_ATTRIBUTE and symbols[child] & 1:
            if wanted < 0 or symbols[child] == wanted:
                lists[to] = child
                to += 1
                if wanted >= 0:
                    break
            child += 1
        return to
    while child < ends[node]:
        if selects(plain, wanted, symbols[child]):
            lists[to] = child
            to += 1
        child = np.int64(ends[child])
    return to


@compiled
def parents(nodes, lists, start, end, kind):  # type: ignore[no-untyped-def]
    """Writes behind a list the nodes whose children a step counts: those listed, and behind // all below; their end."""
    symbols, ends = int32s(nodes, N.symbol), int32s(nodes, N.end)
    to, behind = end, np.int64(0)
    for at in range(start, end):
        node = np.int64(lists[at])
        if not kind & DESCENDANT:
            lists[to] = node
            to += 1
            continue
        for below in range(max(node, behind), ends[node]):
            if symbols[below] == layout.DOCUMENT or (symbols[below] >= _OTHER_ELEMENT and symbols[below] & 1 == 0):
                lists[to] = below
                to += 1
        behind = max(behind, np.int64(ends[node]))
    return to
