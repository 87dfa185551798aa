"""From documents to facts, compiled: read, run the automaton, look at the compounds of atoms that hold, write down.

`match_documents` goes through a batch and comes back early where something has to be done outside: a document is
FOREIGN, or something does not fit and has to grow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic, overload

from tidings.index.compiling import compiled
from tidings.index.views import int32s, int64s, uint8s, uint64s
from tidings.index.xml import layout
from tidings.index.xml.automaton import run_over
from tidings.index.xml.layout import NODES as N
from tidings.index.xml.layout import PLAN as P
from tidings.index.xml.layout import RUN as R
from tidings.index.xml.scanning import scan
from tidings.index.xml.values import holds
from tidings.index.xml.verifying import truth

_DONE, _MORE_NODES, _MORE_FACTS, _MORE_LISTS = layout.DONE, layout.MORE_NODES, layout.MORE_FACTS, layout.MORE_LISTS
_FACTS, _SERIAL, _VERIFIED, _CANDIDATES = layout.FACTS, layout.SERIAL, layout.VERIFIED, layout.CANDIDATES
_QUESTIONS, _LEVELS = layout.QUESTIONS, layout.LEVELS
_ONE, _LOW_SIX, _NONE = np.uint64(1), np.uint64(63), np.uint64(0)


def lowest_bit(bits: Any) -> int:
    """The number of the lowest bit that is set; one must be."""
    return (int(bits) & -int(bits)).bit_length() - 1


def _lowest_code(typing: Any, bits: Any) -> Any:  # compiled: one instruction
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


_lowest: Any = intrinsic(_lowest_code)


@overload(lowest_bit)
def _compiled_lowest_bit(bits):  # type: ignore[no-untyped-def]
    def take(bits):  # type: ignore[no-untyped-def]
        return _lowest(np.uint64(bits))

    return take


@compiled
def look_at(plan, run, nodes, compound):  # type: ignore[no-untyped-def]
    """Writes the fact of a compound down if it holds."""
    asked, counts = int64s(run, R.asked), int64s(run, R.counts)
    if asked[compound] == counts[_SERIAL]:
        return
    asked[compound] = counts[_SERIAL]
    held, needs, atoms = uint64s(run, R.held), int64s(plan, P.needs), int32s(plan, P.need_atom)
    for at in range(needs[compound], needs[compound + 1]):
        if not holds(held, np.int64(atoms[at])):
            return
    program = np.int64(int32s(plan, P.compound_program)[compound])
    if program >= 0 and not is_settled(plan, run, compound):
        counts[_VERIFIED] += 1
        if not truth(plan, run, nodes, program, np.int64(0), np.int64(1), np.int64(1), np.int64(0)):
            return
    int32s(run, R.facts)[counts[_FACTS]] = int32s(plan, P.compound_fact)[compound]
    counts[_FACTS] += 1


@compiled
def is_settled(plan, run, compound):  # type: ignore[no-untyped-def]
    """Whether the nodes at which a compound branches are each the only one of its path: then its atoms are enough."""
    points, atoms, repeated = int64s(plan, P.points), int32s(plan, P.point_atom), uint64s(run, R.repeated)
    for at in range(points[compound], points[compound + 1]):
        if atoms[at] < 0 or holds(repeated, np.int64(atoms[at])):
            return False
    return True


@compiled
def conclude(plan, run, nodes):  # type: ignore[no-untyped-def]
    """Writes the facts of a document, from the atoms that hold; `held` is empty again afterwards."""
    held, counts, facts = uint64s(run, R.held), int64s(run, R.counts), int32s(run, R.facts)
    repeated = uint64s(run, R.repeated)
    access, compounds = int64s(plan, P.access), int32s(plan, P.access_compound)
    filters, atom_fact = uint64s(plan, P.access_bits), int32s(plan, P.atom_fact)
    for compound in int32s(plan, P.always):
        look_at(plan, run, nodes, np.int64(compound))
    for word in range(len(held)):
        bits = held[word] & filters[word]
        while bits != _NONE:
            atom = 64 * word + lowest_bit(bits)
            bits &= bits - _ONE
            counts[_CANDIDATES] += access[atom + 1] - access[atom]
            for at in range(access[atom], access[atom + 1]):
                look_at(plan, run, nodes, np.int64(compounds[at]))
    written = counts[_FACTS]
    for word in range(len(held)):
        bits = held[word]
        held[word], repeated[word] = _NONE, _NONE
        while bits != _NONE:
            fact = atom_fact[64 * word + lowest_bit(bits)]
            bits &= bits - _ONE
            if fact >= 0:
                facts[written] = fact
                written += 1
    counts[_FACTS] = written


@compiled
def match_document(plan, lazy, run, nodes):  # type: ignore[no-untyped-def]
    """Adds the facts of the document in `nodes`: DONE, or what does not fit; then nothing is added."""
    counts, held = int64s(run, R.counts), uint64s(run, R.held)
    sizes = int64s(plan, P.sizes)
    if counts[_FACTS] + sizes[_QUESTIONS] > len(int32s(run, R.facts)):
        return _MORE_FACTS
    if layout.LISTS * sizes[_LEVELS] * (int64s(nodes, N.used)[layout.NODE_COUNT] + 1) > len(int32s(run, R.lists)):
        return _MORE_LISTS
    counts[_SERIAL] += 1
    found = run_over(plan, lazy, run, nodes)
    if found != _DONE:
        held[:] = _NONE
        uint64s(run, R.repeated)[:] = _NONE
        return found
    conclude(plan, run, nodes)
    return _DONE


@compiled
def match_documents(plan, lazy, run, nodes, texts, ends, first):  # type: ignore[no-untyped-def]
    """Adds the facts of documents from number `first` on; `ends` is where those of each end.

    Gives the number of the document that it could not do, times 16, plus why; the number behind the last one otherwise.
    """
    counts, data, start = int64s(run, R.counts), uint8s(texts, 0), int64s(texts, 1)
    length, raw = int64s(texts, 2), uint8s(texts, 3)
    for number in range(first, len(start)):
        if 2 * length[number] + layout.SLACK > len(uint8s(nodes, N.values)):
            return 16 * number + _MORE_NODES
        found = scan(plan, nodes, data, start[number], start[number] + length[number], raw[number] != 0)
        if found == _DONE:
            found = match_document(plan, lazy, run, nodes)
        if found != _DONE:
            return 16 * number + found
        ends[number] = counts[_FACTS]
    return 16 * len(start)
