"""Programs, compiled: whether a text satisfies a pattern that would be too many conjunctions.

A row asks whether an item or a chain is in the text, and says with which row to go on, so that no more is asked than
decides. Only texts with a word that the pattern needs come here, where there is such a word. Also runs as plain Python
(NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.text.chain_kernels import SERIAL, TESTS, E, S, bit_of, chain_is_there
from tidings.index.text.normalising import YES
from tidings.index.views import int32s, int64s, uint64s


@compiled
def program_holds(engine, scratch, program, items):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    """What a program says of the text at hand; asked once per text, however many words lead to it."""
    said, serial = int64s(scratch, S.said), int64s(scratch, S.state)[SERIAL]
    if said[program] >> 1 != serial:
        said[program] = serial << 1 | program_says(engine, scratch, program, items)
    return said[program] & 1 == 1


@compiled
def program_says(engine, scratch, program, items):  # type: ignore[no-untyped-def]
    rows, there = int32s(engine, E.program_rows), uint64s(scratch, S.there)
    row, tests = np.int64(int32s(engine, E.program_first)[program]), 0
    while row >= 0:
        test = np.int64(rows[3 * row])
        is_item = test < items
        holds = bit_of(there, np.uint32(test)) == 1 if is_item else chain_is_there(engine, scratch, test - items)
        row = np.int64(rows[3 * row + (1 if holds else 2)])
        tests += 1
    int64s(scratch, S.state)[TESTS] += tests
    return 1 if row == YES else 0
