"""What an engine of text patterns is made of, and whether a chain of words occurs in a text, compiled.

Words and wildcard words are *items*, numbered from the rarest on. Where an item occurs in the text at hand is a list of
*occurrences*, linked when the first chain is asked of that text. All positions that can be reached are followed, as in
`analysis.patterns`; both lists rise, so a chain takes time linear in the occurrences of its items. Also runs as plain
Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.layout import Array
from tidings.index.text.dictionary_kernels import field_numbers
from tidings.index.views import int32s, int64s, uint64s


class PatternArrays(NamedTuple):
    """The arrays of an engine beside its two dictionaries, of words and of what stands before the * of wildcard words.

    What is needed together stands together, in rows of a few numbers: a look at memory that is far costs more than all
    else. A test is one number. With i items and c rows of chains: item n is there (n), chain n is there (i + n), item n
    is not there (i + c + n), chain n is not there (2i + c + n), always true (2i + 2c), and what program n says
    (2i + 2c + 1 + n).
    """

    word_rows: Array  # int32[words + 1, 2]: a word's item, and where its part of `word_prefix` begins
    word_prefix: Array  # int32: the items of the wildcard words that a word satisfies
    prefix_item: Array  # int32, by the number in the dictionary of prefixes
    prefix_length: Array  # int32: the numbers of bytes that prefixes have, rising

    # The last item is none: nothing leads to its trie.
    item_rows: Array  # int32[items + 1, 4]: the first child of its trie and the end of them; a bit that is set where
    # any child may hold; how many conjunctions there are
    child_bit: Array  # int32: a bit that is set where the test of the child may hold
    child_node: Array  # int32: where in `tries` it stands
    tries: Array  # int32: see `trie_kernels`

    # A chain is known by the number of its first row.
    chain_rows: Array  # int32[., 3]: of a chain's first item that item, how many items it has and how many chains are
    # before it; of every other the item and how many words are between it and the one before, at least and at most,
    # where -1 is no bound
    in_chains: Array  # uint64: a bit for each item that is in some chain, so that where it occurs must be known

    # A program is what a pattern of too many conjunctions is decided by, see `program_kernels`.
    program_first: Array  # int32: the row that each begins with
    program_rows: Array  # int32[., 3]: a test that an item or a chain is there, the row to go on with where it holds,
    # and that where it does not
    questions: Array  # int64[1]: how many there are


class PatternScratch(NamedTuple):
    """What the kernels write while they work; `serial` marks what was written for the text at hand."""

    there: Array  # uint64: a bit for each item that is in the text, then one that is set, then one that is not
    items: Array  # int32: those items, each once, and the last item
    kept: Array  # int32: those of them that are kept
    nodes: Array  # int32: the nodes under them that may hold
    prefixes: Array  # int32: the wildcard words that one word satisfies
    occurrence_item: Array  # int32: in the order of positions
    occurrence_place: Array  # int32: the position
    occurrence_next: Array  # int32: the next occurrence of the same item, or -1
    item_first: Array  # int32: the first occurrence of an item, where there is one
    reached: Array  # int32: positions, for two steps of a chain one after the other
    memo: Array  # int64: for each chain, the serial of the text it was last asked of, and its truth in the last bit
    said: Array  # int64: for each program the same
    stamp: Array  # int64: for each question, the serial of the text in which it was last found
    state: Array  # int64: see below


E, SCRATCH = field_numbers(PatternArrays), field_numbers(PatternScratch)
S = SCRATCH
# In `state`: text at hand, its occurrences, the text whose occurrences are linked, and over all texts answers,
# conjunctions that stood under an item of a text, and tests; whether wildcard words are in chains; and what was read
# only so that it is near when it is needed, written down so that the compiler does not leave the reading out
SERIAL, OCCURRENCES, LINKED, ANSWERS, CANDIDATES, TESTS, CHAINED_PREFIXES, TOUCHED = 0, 1, 2, 3, 4, 5, 6, 7
STATES = 8
_U32 = np.uint32


@compiled
def bit_of(bits, number):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    """1 or 0. The number has no sign, which need not be looked at then."""
    return np.int64((bits[number >> _U32(6)] >> np.uint64(number & _U32(63))) & np.uint64(1))


@compiled
def link_occurrences(scratch):  # type: ignore[no-untyped-def]  # compiled: types come from the call
    state, first = int64s(scratch, S.state), int32s(scratch, S.item_first)
    if state[LINKED] == state[SERIAL]:
        return
    item, following = int32s(scratch, S.occurrence_item), int32s(scratch, S.occurrence_next)
    for i in range(state[OCCURRENCES]):
        first[item[i]] = -1
    for i in range(state[OCCURRENCES] - 1, -1, -1):
        following[i] = first[item[i]]
        first[item[i]] = i
    state[LINKED] = state[SERIAL]


@compiled
def chain_holds(engine, scratch, chain):  # type: ignore[no-untyped-def]
    """Whether a chain, all of whose items are in the text, occurs in it; asked once per text."""
    memo, serial = int64s(scratch, S.memo), int64s(scratch, S.state)[SERIAL]
    number = int32s(engine, E.chain_rows)[3 * chain + 2]
    if memo[number] >> 1 != serial:
        link_occurrences(scratch)
        memo[number] = serial << 1 | chain_occurs(engine, scratch, chain)
    return memo[number] & 1 == 1


@compiled
def chain_is_there(engine, scratch, chain):  # type: ignore[no-untyped-def]
    """The same of a chain of which some items may not be in the text."""
    rows, there = int32s(engine, E.chain_rows), uint64s(scratch, S.there)
    for row in range(chain, chain + rows[3 * chain + 1]):
        if bit_of(there, _U32(rows[3 * row])) == 0:
            return False
    return chain_holds(engine, scratch, chain)


@compiled
def chain_occurs(engine, scratch, chain):  # type: ignore[no-untyped-def]
    rows = int32s(engine, E.chain_rows)
    place, following = int32s(scratch, S.occurrence_place), int32s(scratch, S.occurrence_next)
    first, reached = int32s(scratch, S.item_first), int32s(scratch, S.reached)
    half = len(reached) // 2
    count, at = 0, first[rows[3 * chain]]
    while at >= 0:
        reached[count] = place[at]
        count += 1
        at = following[at]
    for step in range(1, rows[3 * chain + 1]):
        before = half * ((step - 1) % 2)
        count = reach(engine, scratch, chain + step, before, count, half - before)
        if count == 0:
            return 0
    return 1


@compiled
def reach(engine, scratch, row, before, count, after):  # type: ignore[no-untyped-def]
    """Writes at `after` the places of the item of a row that have one of the `count` places from `before` on at an
    allowed distance before them; how many these are."""
    rows, place = int32s(engine, E.chain_rows), int32s(scratch, S.occurrence_place)
    following, reached = int32s(scratch, S.occurrence_next), int32s(scratch, S.reached)
    least, most = rows[3 * row + 1], rows[3 * row + 2]
    found, low = 0, 0
    at = int32s(scratch, S.item_first)[rows[3 * row]]
    while at >= 0:
        if most >= 0:
            while low < count and reached[before + low] < place[at] - 1 - most:
                low += 1
        if low < count and reached[before + low] <= place[at] - 1 - least:
            reached[after + found] = place[at]
            found += 1
        at = following[at]
    return found
