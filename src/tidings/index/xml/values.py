"""Values of nodes: text as a number the way libxml2 reads it, and the tests that the value of a node passes.

libxml2 adds up digits as it goes, so that a long number can differ from the nearest float64 in its last bits, keeps 20
digits of a fraction, and takes an exponent. Numbers are compared by their keys (`keys.number_key`); text that is none
has a key below all others.
"""

from __future__ import annotations

import numpy as np

from tidings.index.check_kernels import contains_bytes, same_bytes
from tidings.index.compiling import compiled, compiled_into_callers
from tidings.index.keys import hash_bytes
from tidings.index.lookup_kernels import first_at_least
from tidings.index.views import int32s, int64s, uint8s, uint64s
from tidings.index.xml import layout
from tidings.index.xml.layout import NODES as N
from tidings.index.xml.layout import PLAN as P
from tidings.index.xml.layout import RUN as R

FRACTION = 20  # digits of a fraction, not counting the zeros it begins with
LARGEST_EXPONENT = 1_000_000

_NAN = np.int64(layout.NAN_KEY)
_EQUAL, _NOT_EQUAL = layout.EQUAL, layout.NOT_EQUAL
_LESS, _LESS_OR_EQUAL = layout.LESS, layout.LESS_OR_EQUAL
_GREATER, _GREATER_OR_EQUAL = layout.GREATER, layout.GREATER_OR_EQUAL
_TEXT_EQUAL, _TEXT_NOT_EQUAL = layout.TEXT_EQUAL, layout.TEXT_NOT_EQUAL
_CONTAINS, _STARTS_WITH = layout.CONTAINS, layout.STARTS_WITH
_ROW = layout.KINDS_OF_TEST + 1
_SCANNED = layout.SCANNED
_ONE, _LOW_SIX = np.uint64(1), np.uint64(63)
_MIRROR = np.int64(0x7FFFFFFFFFFFFFFF)


@compiled_into_callers
def _is_blank(byte):  # type: ignore[no-untyped-def]
    return byte == 32 or byte == 9 or byte == 10 or byte == 13


@compiled_into_callers
def _is_digit(data, at, end):  # type: ignore[no-untyped-def]
    return at < end and 48 <= data[at] <= 57


@compiled
def number_key(data, at, end):  # type: ignore[no-untyped-def]
    """The key of the number that the text is, or NAN_KEY."""
    while at < end and _is_blank(data[at]):
        at += 1
    negative = at < end and data[at] == 45
    if negative:
        at += 1
    if not _is_digit(data, at, end) and not (at < end and data[at] == 46):
        return _NAN
    value, digits = 0.0, at
    while _is_digit(data, at, end):
        value = value * 10.0 + (np.float64(data[at]) - 48.0)
        at += 1
    if at < end and data[at] == 46:
        if digits == at and not _is_digit(data, at + 1, end):
            return _NAN
        fraction, at = _fraction(data, at + 1, end)
        value += fraction
    exponent = 0
    if at < end and (data[at] | 32) == 101:
        exponent, at = _exponent(data, at + 1, end)
    while at < end and _is_blank(data[at]):
        at += 1
    if at < end:
        return _NAN
    if exponent != 0:
        value *= np.float64(10.0) ** np.float64(exponent)
    return float_key(-value if negative else value)


@compiled
def _fraction(data, at, end):  # type: ignore[no-untyped-def]
    """The value of the digits behind the point, and the place behind them."""
    start, value = at, 0.0
    while at < end and data[at] == 48:
        at += 1
    most = at + FRACTION
    while at < most and _is_digit(data, at, end):
        value = value * 10.0 + (np.float64(data[at]) - 48.0)
        at += 1
    value /= np.float64(10.0) ** np.float64(at - start)
    while _is_digit(data, at, end):
        at += 1
    return value, at


@compiled
def _exponent(data, at, end):  # type: ignore[no-untyped-def]
    negative = at < end and data[at] == 45
    if negative or (at < end and data[at] == 43):
        at += 1
    found = np.int64(0)
    while _is_digit(data, at, end):
        if found < LARGEST_EXPONENT:
            found = found * 10 + np.int64(data[at]) - 48
        at += 1
    return (-found if negative else found), at


@compiled
def float_key(value):  # type: ignore[no-untyped-def]
    """Of infinity times nothing comes no number."""
    if value != value:
        return _NAN
    bits = np.float64(value + 0.0).view(np.int64)
    return bits if bits >= 0 else bits ^ _MIRROR


@compiled
def text_passes(plan, kind, literal, data, start, end):  # type: ignore[no-untyped-def]
    """Whether text passes a test that compares it as text."""
    texts, starts = uint8s(plan, P.text_data), int64s(plan, P.text_start)
    first, behind = starts[literal], starts[literal + 1]
    if kind == _CONTAINS:
        return contains_bytes(data, start, end - start, texts, first, behind - first)
    if kind == _STARTS_WITH:
        return end - start >= behind - first and same_bytes(data, start, texts, first, behind - first)
    same = end - start == behind - first and same_bytes(data, start, texts, first, behind - first)
    return same == (kind == _TEXT_EQUAL)


@compiled
def number_passes(kind, key, literal):  # type: ignore[no-untyped-def]
    """Whether the key of a number compares so with that of a literal. What is no number is unequal, and that only."""
    if key == _NAN or literal == _NAN:
        return kind == _NOT_EQUAL
    if kind == _EQUAL:
        return key == literal
    if kind == _NOT_EQUAL:
        return key != literal
    if kind == _LESS:
        return key < literal
    if kind == _LESS_OR_EQUAL:
        return key <= literal
    return key > literal if kind == _GREATER else key >= literal


@compiled_into_callers
def hold(held, atom):  # type: ignore[no-untyped-def]
    held[atom >> 6] |= _ONE << (np.uint64(atom) & _LOW_SIX)


@compiled_into_callers
def holds(held, atom):  # type: ignore[no-untyped-def]
    return (held[atom >> 6] >> (np.uint64(atom) & _LOW_SIX)) & _ONE != np.uint64(0)


# Tables of tests are arrays of a plan, or of the kept sets: four of a directory, from number `base` on.


@compiled
def take_tests(plan, run, nodes, node, tables, base, row, known):  # type: ignore[no-untyped-def]
    """Notes the atoms of a row of tests that the value of a node passes. `known` keeps its number and its hash."""
    kinds, row = int64s(tables, base), _ROW * row
    start = int64s(nodes, N.value)[node]
    end = start + int64s(nodes, N.length)[node]
    data = uint8s(nodes, N.values)
    if kinds[row + _TEXT_EQUAL] > kinds[row + _EQUAL]:
        if not known[0]:
            known[0], known[1] = 1, number_key(data, start, end)
        take_numbers(run, tables, base, row, known[1])
    if kinds[row + _TEXT_NOT_EQUAL] > kinds[row + _TEXT_EQUAL]:
        if not known[2]:
            known[2], known[3] = 1, hash_bytes(data, start, end)
        keys, literals, atoms = int64s(tables, base + 1), int32s(tables, base + 2), int32s(tables, base + 3)
        at = first_at_least(keys, kinds[row + _TEXT_EQUAL], kinds[row + _TEXT_NOT_EQUAL], known[3])
        while at < kinds[row + _TEXT_NOT_EQUAL] and keys[at] == known[3]:
            if text_passes(plan, np.int64(_TEXT_EQUAL), np.int64(literals[at]), data, start, end):
                hold(uint64s(run, R.held), np.int64(atoms[at]))
            at += 1
    if kinds[row + _ROW - 1] > kinds[row + _TEXT_NOT_EQUAL]:
        take_scanned(plan, run, tables, base, row, data, start, end)


@compiled
def take_scanned(plan, run, tables, base, row, data, start, end):  # type: ignore[no-untyped-def]
    """Tests that are asked one by one."""
    kinds, literals, atoms = int64s(tables, base), int32s(tables, base + 2), int32s(tables, base + 3)
    asked = kinds[row + _STARTS_WITH] - kinds[row + _CONTAINS]
    int64s(run, R.counts)[_SCANNED] += asked * (end - start) + kinds[row + _ROW - 1] - kinds[row + _TEXT_NOT_EQUAL]
    for kind in range(np.int64(_TEXT_NOT_EQUAL), _STARTS_WITH + 1):
        for at in range(kinds[row + kind], kinds[row + kind + 1]):
            if text_passes(plan, kind, np.int64(literals[at]), data, start, end):
                hold(uint64s(run, R.held), np.int64(atoms[at]))


@compiled
def take_numbers(run, tables, base, row, key):  # type: ignore[no-untyped-def]
    """Tests that a number passes: of each kind, in the order of their literals, a slice or two."""
    kinds, keys, atoms = int64s(tables, base), int64s(tables, base + 1), int32s(tables, base + 3)
    for kind in range(_EQUAL, _GREATER_OR_EQUAL + 1):
        start, end = kinds[row + kind], kinds[row + kind + 1]
        if start == end:
            continue
        if key == _NAN:
            if kind == _NOT_EQUAL:
                take_slice(run, atoms, start, end)
            continue
        at_least = first_at_least(keys, start, end, key)
        above = at_least
        while above < end and keys[above] == key:
            above += 1
        if kind == _EQUAL:
            take_slice(run, atoms, at_least, above)
        elif kind == _NOT_EQUAL:
            take_slice(run, atoms, start, at_least)
            take_slice(run, atoms, above, end)
        elif kind == _LESS:
            take_slice(run, atoms, above, end)
        elif kind == _LESS_OR_EQUAL:
            take_slice(run, atoms, at_least, end)
        else:
            take_slice(run, atoms, start, at_least if kind == _GREATER else above)


@compiled
def take_slice(run, atoms, start, end):  # type: ignore[no-untyped-def]
    held = uint64s(run, R.held)
    for at in range(start, end):
        hold(held, np.int64(atoms[at]))


@compiled
def merge_tests(plan, fresh, count, tables, base, row, to):  # type: ignore[no-untyped-def]
    """Writes the tests of a set of states as one row, from place `to` on; where they end."""
    kinds, merged = int64s(plan, P.test_kind), int64s(tables, base)
    tested, first = int32s(plan, P.tested), to
    for kind in range(_ROW - 1):
        merged[_ROW * row + kind] = to
        first = to
        for at in range(count):
            if tested[fresh[at]] >= 0:
                own = _ROW * np.int64(tested[fresh[at]])
                for source in range(kinds[own + kind], kinds[own + kind + 1]):
                    int64s(tables, base + 1)[to] = int64s(plan, P.test_key)[source]
                    int32s(tables, base + 2)[to] = int32s(plan, P.test_text)[source]
                    int32s(tables, base + 3)[to] = int32s(plan, P.test_atom)[source]
                    to += 1
        sort_tests(tables, base, first, to)
    merged[_ROW * row + _ROW - 1] = to
    return to


@compiled
def sort_tests(tables, base, first, end):  # type: ignore[no-untyped-def]
    """By key; Shell's method, since the rows are few and made once."""
    keys, texts, atoms = int64s(tables, base + 1), int32s(tables, base + 2), int32s(tables, base + 3)
    gap = (end - first) // 2
    while gap > 0:
        for at in range(first + gap, end):
            key, text, atom = keys[at], texts[at], atoms[at]
            to = at
            while to >= first + gap and keys[to - gap] > key:
                keys[to], texts[to], atoms[to] = keys[to - gap], texts[to - gap], atoms[to - gap]
                to -= gap
            keys[to], texts[to], atoms[to] = key, text, atom
        gap = 1 if gap == 2 else gap * 5 // 11


@compiled
def count_tests(plan, fresh, count):  # type: ignore[no-untyped-def]
    kinds, tested, found = int64s(plan, P.test_kind), int32s(plan, P.tested), 0
    for at in range(count):
        if tested[fresh[at]] >= 0:
            own = _ROW * np.int64(tested[fresh[at]])
            found += kinds[own + _ROW - 1] - kinds[own]
    return found
