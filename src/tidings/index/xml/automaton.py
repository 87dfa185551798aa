"""Running the automaton over a document, compiled: lazily as a deterministic one, and without that where room ends.

The states that are active at a node are a set. A set that was met is kept, with its atoms as ready words of bits, and a
move from set to set is one look-up. Where a new set does not fit any more, the sets above the current node stand on a
stack and are made anew for each node; what holds is the same.
"""

from __future__ import annotations

import numpy as np

from tidings.index.compiling import compiled, compiled_into_callers
from tidings.index.hashing import home, mixed
from tidings.index.keys import HASH_START, hash_end, hash_step
from tidings.index.views import int32s, int64s, uint8s, uint64s
from tidings.index.xml import layout
from tidings.index.xml.layout import LAZY as L
from tidings.index.xml.layout import NODES as N
from tidings.index.xml.layout import PLAN as P
from tidings.index.xml.layout import RUN as R
from tidings.index.xml.values import count_tests, hold, holds, merge_tests, take_tests

_TEXT, _OTHER_ELEMENT, _OTHER_ATTRIBUTE = layout.TEXT, layout.OTHER_ELEMENT, layout.OTHER_ATTRIBUTE
_PLAIN, _WHOLE = layout.PLAIN, layout.WHOLE
_SETS, _MEMBERS, _WORDS, _TESTS, _MOVES = layout.SETS, layout.MEMBERS, layout.WORDS, layout.TESTS, layout.MOVES
_WANTED, _WANTED_TESTS, _ROWS, _MAY_GROW = layout.WANTED, layout.WANTED_TESTS, layout.ROWS, layout.MAY_GROW
_STEPS, _SERIAL, _UNKEPT, _FRESH = layout.STEPS, layout.SERIAL, layout.UNKEPT, layout.FRESH
_INNER, _SYMBOLS, _NODE_COUNT = layout.INNER, layout.SYMBOLS, layout.NODE_COUNT
_DONE, _MORE_STATES, _MORE_STACK = layout.DONE, layout.MORE_STATES, layout.MORE_STACK
_ONE, _LOW_SIX = np.uint64(1), np.uint64(63)
NOT_KEPT = -1
START = 1


@compiled_into_callers
def is_element(symbol):  # type: ignore[no-untyped-def]
    return symbol >= _OTHER_ELEMENT and symbol & 1 == 0


@compiled_into_callers
def is_attribute(symbol):  # type: ignore[no-untyped-def]
    return symbol >= _OTHER_ATTRIBUTE and symbol & 1 == 1


@compiled
def edge(plan, state, symbol):  # type: ignore[no-untyped-def]
    """Where a state leads by a named symbol, or -1."""
    keys = int64s(plan, P.edge_key)
    key = np.int64(state) * int64s(plan, P.sizes)[_SYMBOLS] + symbol
    mask = np.int64(len(keys) - 1)
    place = home(key, len(keys))
    while keys[place] >= 0:
        if keys[place] == key:
            return np.int64(int32s(plan, P.edge_target)[place])
        place = (place + 1) & mask
    return np.int64(-1)


@compiled
def _enter(plan, run, count, state):  # type: ignore[no-untyped-def]
    """Adds a state to the fresh set, once; how many are in it."""
    stamp, fresh, step = int64s(run, R.stamp), int32s(run, R.fresh), int64s(run, R.counts)[_STEPS]
    if stamp[state] != step:
        stamp[state] = step
        fresh[count] = state
        count += 1
    return count


@compiled
def enter(plan, run, count, state):  # type: ignore[no-untyped-def]
    """The same, with the states of // and //. behind it."""
    count = _enter(plan, run, count, state)
    below, whole = np.int64(int32s(plan, P.below)[state]), np.int64(int32s(plan, P.whole)[state])
    if below >= 0:
        count = _enter(plan, run, count, below)
    if whole >= 0:
        count = _enter(plan, run, count, whole)
    return count


@compiled
def step(plan, run, members, first, end, symbol):  # type: ignore[no-untyped-def]
    """Makes the set that a set leads to by a symbol, in `fresh`, in order; how many are in it."""
    int64s(run, R.counts)[_STEPS] += 1
    inner, kind = int64s(plan, P.sizes)[_INNER], uint8s(plan, P.kind)
    named = symbol > _OTHER_ATTRIBUTE or symbol == _TEXT
    element, attribute = is_element(symbol), is_attribute(symbol)
    any_name = int32s(plan, P.any_element) if element else int32s(plan, P.any_attribute)
    count = np.int64(0)
    for at in range(first, end):
        state = np.int64(members[at])
        if state >= inner:
            break
        if named:
            target = edge(plan, state, symbol)
            if target >= 0:
                count = enter(plan, run, count, target)
        if (element or attribute) and any_name[state] >= 0:
            count = enter(plan, run, count, np.int64(any_name[state]))
        if (kind[state] == _WHOLE and not attribute) or (element and kind[state] != _PLAIN):
            count = enter(plan, run, count, state)
    int32s(run, R.fresh)[:count].sort()
    return count


@compiled
def set_key(members, first, end):  # type: ignore[no-untyped-def]
    found = HASH_START
    for at in range(first, end):
        found = hash_step(found, members[at])
    return hash_end(found)


@compiled
def kept(plan, lazy, run, count):  # type: ignore[no-untyped-def]
    """The number of the fresh set, which is kept if it is new and fits; else NOT_KEPT."""
    fresh, members, first = int32s(run, R.fresh), int32s(lazy, L.members), int64s(lazy, L.first)
    places = int32s(lazy, L.places)
    mask = np.int64(len(places) - 1)
    place = np.int64(mixed(set_key(fresh, np.int64(0), count)) & np.uint64(mask))
    while places[place] >= 0:
        number = places[place]
        if first[number + 1] - first[number] == count:
            same = True
            for at in range(count):
                if members[first[number] + at] != fresh[at]:
                    same = False
                    break
            if same:
                return np.int64(number)
        place = (place + 1) & mask
    tests = count_tests(plan, fresh, count)
    if not has_room(lazy, count, tests):
        return np.int64(NOT_KEPT)
    places[place] = int64s(lazy, L.used)[_SETS]
    return keep(plan, lazy, run, count, tests)


@compiled
def has_room(lazy, count, tests):  # type: ignore[no-untyped-def]
    """Whether a set of so many states, each of which may need a word, fits with its tests."""
    used = int64s(lazy, L.used)
    fits = (
        used[_SETS] + 1 < len(int64s(lazy, L.seen))
        and used[_MEMBERS] + count <= len(int32s(lazy, L.members))
        and used[_WORDS] + count <= len(int32s(lazy, L.word))
        and used[_TESTS] + tests <= len(int32s(lazy, L.test_atom))
    )
    if not fits:
        used[_WANTED], used[_WANTED_TESTS] = max(used[_WANTED], count), max(used[_WANTED_TESTS], tests)
    return fits


@compiled
def keep(plan, lazy, run, count, tests):  # type: ignore[no-untyped-def]
    """Writes the fresh set down; its number."""
    fresh, members, used = int32s(run, R.fresh), int32s(lazy, L.members), int64s(lazy, L.used)
    atom, number, leads = int32s(plan, P.atom), used[_SETS], np.uint8(0)
    int32s(lazy, L.row)[number] = -1
    if tests:
        int32s(lazy, L.row)[number] = used[_ROWS]
        base, row = np.int64(L.test_kind), used[_ROWS]
        used[_TESTS] = merge_tests(plan, fresh, count, lazy, base, row, used[_TESTS])
        used[_ROWS] += 1
    atoms = 0
    for at in range(count):
        state = fresh[at]
        members[used[_MEMBERS]] = state
        used[_MEMBERS] += 1
        leads |= uint8s(plan, P.leads)[state]
        if atom[state] >= 0:
            fresh[atoms] = atom[state]  # what was there is written down already
            atoms += 1
    fresh[:atoms].sort()
    word, bits, last = int32s(lazy, L.word), uint64s(lazy, L.bits), np.int64(-1)
    for at in range(atoms):
        if fresh[at] >> 6 != last:
            last = np.int64(fresh[at] >> 6)
            word[used[_WORDS]], bits[used[_WORDS]] = last, np.uint64(0)
            used[_WORDS] += 1
        bits[used[_WORDS] - 1] |= _ONE << (np.uint64(fresh[at]) & _LOW_SIX)
    used[_SETS] += 1
    int64s(lazy, L.first)[number + 1] = used[_MEMBERS]
    int64s(lazy, L.words)[number + 1] = used[_WORDS]
    uint8s(lazy, L.leads)[number] = leads
    return number


@compiled
def moved(plan, lazy, run, number, symbol):  # type: ignore[no-untyped-def]
    """The set that a kept set leads to by a symbol, or NOT_KEPT, with that set in `fresh` and its size in `counts`."""
    keys, used = int64s(lazy, L.move_key), int64s(lazy, L.used)
    key = np.int64(number) * int64s(plan, P.sizes)[_SYMBOLS] + symbol
    mask = np.int64(len(keys) - 1)
    place = np.int64(mixed(key) & np.uint64(mask))
    while keys[place] >= 0:
        if keys[place] == key:
            return np.int64(int32s(lazy, L.move_target)[place])
        place = (place + 1) & mask
    first = int64s(lazy, L.first)
    count = step(plan, run, int32s(lazy, L.members), first[number], first[number + 1], symbol)
    int64s(run, R.counts)[_FRESH] = count
    if 2 * used[_MOVES] >= len(keys):
        return np.int64(NOT_KEPT)
    target = kept(plan, lazy, run, count)
    if target >= 0:
        keys[place], int32s(lazy, L.move_target)[place] = key, target
        used[_MOVES] += 1
    return target


@compiled
def begin(plan, lazy, run):  # type: ignore[no-untyped-def]
    """Keeps the empty set and the one that documents begin with."""
    int64s(run, R.counts)[_STEPS] += 1
    nothing = np.int64(0)
    kept(plan, lazy, run, nothing)
    kept(plan, lazy, run, enter(plan, run, nothing, nothing))


@compiled
def reach_kept(plan, lazy, run, nodes, node, number, known):  # type: ignore[no-untyped-def]
    """Notes what holds at a node because of a kept set: its atoms once for each document, its tests at each node."""
    seen, serial = int64s(lazy, L.seen), int64s(run, R.counts)[_SERIAL]
    if seen[number] != 2 * serial + 1:
        again = seen[number] == 2 * serial
        seen[number] = 2 * serial + again
        held, word, bits = uint64s(run, R.held), int32s(lazy, L.word), uint64s(lazy, L.bits)
        repeated = uint64s(run, R.repeated)
        for at in range(int64s(lazy, L.words)[number], int64s(lazy, L.words)[number + 1]):
            repeated[word[at]] |= bits[at] & held[word[at]]
            held[word[at]] |= bits[at]
    row = np.int64(int32s(lazy, L.row)[number])
    if row >= 0:
        known[0], known[2] = 0, 0
        take_tests(plan, run, nodes, node, lazy, np.int64(L.test_kind), row, known)


@compiled
def reach_unkept(plan, run, nodes, node, level, known):  # type: ignore[no-untyped-def]
    """The same because of a set on the stack, state by state."""
    ends = int64s(run, R.stack_end)
    first, end = ends[level - 1] if level else 0, ends[level]
    stack, atom, tested = int32s(run, R.stack), int32s(plan, P.atom), int32s(plan, P.tested)
    held = uint64s(run, R.held)
    known[0], known[2] = 0, 0
    for at in range(first, end):
        state = np.int64(stack[at])
        if atom[state] >= 0:
            if holds(held, np.int64(atom[state])):
                hold(uint64s(run, R.repeated), np.int64(atom[state]))
            hold(held, np.int64(atom[state]))
        if tested[state] >= 0:
            take_tests(plan, run, nodes, node, plan, np.int64(P.test_kind), np.int64(tested[state]), known)


@compiled
def run_over(plan, lazy, run, nodes):  # type: ignore[no-untyped-def]
    """Leaves in `held` the atoms that hold of the document: DONE, or what did not fit and may be made larger.

    `state` of a node is the set that is kept, or ~n where it is the n-th on the stack.
    """
    symbols, parents, state = int32s(nodes, N.symbol), int32s(nodes, N.parent), int32s(nodes, N.state)
    leads, known = uint8s(lazy, L.leads), np.zeros(4, np.int64)
    state[0] = START
    reach_kept(plan, lazy, run, nodes, np.int64(0), np.int64(START), known)
    for node in range(1, int64s(nodes, N.used)[_NODE_COUNT]):
        symbol, before = np.int64(symbols[node]), np.int64(state[parents[node]])
        state[node] = 0
        if before == 0 or (before > 0 and not is_element(symbol) and not leads[before] & wanted(symbol)):
            continue
        target = moved(plan, lazy, run, before, symbol) if before > 0 else np.int64(NOT_KEPT)
        if target >= 0:
            state[node] = target
            reach_kept(plan, lazy, run, nodes, node, target, known)
        elif before > 0 and int64s(lazy, L.used)[_MAY_GROW] != 0:
            return _MORE_STATES
        else:
            level = push(plan, run, before, symbol)
            if level < 0:
                return _MORE_STACK
            state[node] = ~level
            reach_unkept(plan, run, nodes, node, level, known)
    return _DONE


@compiled_into_callers
def wanted(symbol):  # type: ignore[no-untyped-def]
    """The bit that `leads` has where a symbol that is no element's leads on."""
    return np.uint8(1 if is_attribute(symbol) else 2)


@compiled
def push(plan, run, before, symbol):  # type: ignore[no-untyped-def]
    """Puts the set of a node on the stack, above that of its parent; its level, or -1 if it does not fit."""
    stack, ends, fresh = int32s(run, R.stack), int64s(run, R.stack_end), int32s(run, R.fresh)
    level = np.int64(0)
    if before < 0:
        level = ~before + 1
        count = step(plan, run, stack, ends[level - 2] if level > 1 else np.int64(0), ends[level - 1], symbol)
    else:  # `moved` has made the set
        count = int64s(run, R.counts)[_FRESH]
    first = ends[level - 1] if level else 0
    if first + count > len(stack):
        return np.int64(-1)
    stack[first : first + count] = fresh[:count]
    ends[level] = first + count
    int64s(run, R.counts)[_UNKEPT] += 1
    return level


@compiled
def refill(lazy):  # type: ignore[no-untyped-def]
    """Fills the empty hash table of sets anew, after the arrays have grown."""
    places, members, first = int32s(lazy, L.places), int32s(lazy, L.members), int64s(lazy, L.first)
    mask = np.int64(len(places) - 1)
    for number in range(int64s(lazy, L.used)[_SETS]):
        found = set_key(members, first[number], first[number + 1])
        place = np.int64(mixed(found) & np.uint64(mask))
        while places[place] >= 0:
            place = (place + 1) & mask
        places[place] = number


@compiled
def refill_moves(keys, targets, old_keys, old_targets):  # type: ignore[no-untyped-def]
    mask = np.int64(len(keys) - 1)
    for old in range(len(old_keys)):
        if old_keys[old] >= 0:
            place = np.int64(mixed(old_keys[old]) & np.uint64(mask))
            while keys[place] >= 0:
                place = (place + 1) & mask
            keys[place], targets[place] = old_keys[old], old_targets[old]
