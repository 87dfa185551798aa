"""Routing over arrays, compiled: the decisions of `ChordNode` and `PastryNode`, for millions of messages.

A node is its place in the ascending array `nodes`; -1 in a table is an empty place. Every decision here is the one that
the objects take from the same tables, also where nodes are missing from them; tests compare the two hop by hop.
"""

from __future__ import annotations

import numpy as np

from tidings.overlay.compiling import compiled

NOBODY = -1
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


@compiled
def clockwise(start, end, size):  # type: ignore[no-untyped-def]  # compiled
    return end - start if end >= start else end - start + size


@compiled
def distance(one, other, size):  # type: ignore[no-untyped-def]  # compiled
    apart = abs(one - other)
    return min(apart, size - apart)


@compiled
def shared_digits(one, other, places):  # type: ignore[no-untyped-def]  # compiled
    for row in range(len(places)):
        if one // places[row] != other // places[row]:
            return row
    return len(places)


@compiled
def first_at_or_after(nodes, low, high, identifier):  # type: ignore[no-untyped-def]  # compiled
    """The first place from `low` on, and at most `high`, whose node is not before the identifier."""
    while low < high:
        middle = (low + high) // 2
        if nodes[middle] < identifier:
            low = middle + 1
        else:
            high = middle
    return low


# Chord.


@compiled
def chord_step(nodes, size, predecessors, successors, fingers, here, key):  # type: ignore[no-untyped-def]  # compiled
    """The next place, and whether the message is at its owner there."""
    me = nodes[here]
    if key == me:
        return here, True
    before = predecessors[here]
    if before != NOBODY and clockwise(key, me, size) < clockwise(nodes[before], me, size):
        return here, True
    reach = clockwise(me, key, size)
    successor = first_successor(nodes, size, successors, fingers, here)
    if successor == NOBODY:
        return here, True
    if reach <= clockwise(me, nodes[successor], size):
        return successor, True
    return chord_closest_preceding(nodes, size, successors, fingers, here, reach), False


@compiled
def first_successor(nodes, size, successors, fingers, here):  # type: ignore[no-untyped-def]  # compiled
    for number in range(successors.shape[1]):
        if successors[here, number] != NOBODY:
            return successors[here, number]
    nearest, nearest_ahead = np.int32(NOBODY), size
    for number in range(fingers.shape[1]):
        finger = fingers[here, number]
        if finger != NOBODY and clockwise(nodes[here], nodes[finger], size) < nearest_ahead:
            nearest, nearest_ahead = finger, clockwise(nodes[here], nodes[finger], size)
    return nearest


@compiled
def chord_closest_preceding(nodes, size, successors, fingers, here, reach):  # type: ignore[no-untyped-def]  # compiled
    me = nodes[here]
    best, best_ahead = np.int32(NOBODY), np.int64(-1)
    for number in range(fingers.shape[1] - 1, -1, -1):
        # A finger lies at or after its start, so one that starts behind the key is passed without a look.
        finger = fingers[here, number]
        if (np.int64(1) << number) < reach and finger != NOBODY:
            ahead = clockwise(me, nodes[finger], size)
            if ahead < reach:
                best, best_ahead = finger, ahead
                break
    for number in range(successors.shape[1] - 1, -1, -1):
        successor = successors[here, number]
        if successor != NOBODY:
            ahead = clockwise(me, nodes[successor], size)
            if ahead < reach:
                return successor if ahead > best_ahead else best
    return best


@compiled
def route_chord(nodes, size, predecessors, successors, fingers, starts, keys, most_hops, ends, hops, sent, received):  # type: ignore[no-untyped-def]  # compiled
    """Fills in where each message ends and after how many hops, and adds to what each node sent and received."""
    for number in range(len(keys)):
        here, last, taken = starts[number], False, 0
        while not last and taken <= most_hops:
            target, last = chord_step(nodes, size, predecessors, successors, fingers, here, keys[number])
            if target != here:
                sent[here] += 1
                received[target] += 1
                taken += 1
                here = target
        ends[number] = here if last else NOBODY
        hops[number] = taken


# Pastry.


@compiled
def side_reach(nodes, size, side, here, ahead):  # type: ignore[no-untyped-def]  # compiled
    """How far the farthest member of a side of the leaf set is."""
    for number in range(side.shape[1] - 1, -1, -1):
        if side[here, number] != NOBODY:
            other = nodes[side[here, number]]
            return clockwise(nodes[here], other, size) if ahead else clockwise(other, nodes[here], size)
    return np.int64(0)


@compiled
def closer_of(nodes, size, key, best, candidate):  # type: ignore[no-untyped-def]  # compiled
    """The one numerically closer to the key; of two equally close the smaller identifier."""
    if candidate == NOBODY:
        return best
    ours, theirs = distance(nodes[best], key, size), distance(nodes[candidate], key, size)
    return candidate if theirs < ours or (theirs == ours and candidate < best) else best


@compiled
def pastry_step(nodes, size, places, smaller, larger, rows, neighbours, here, key):  # type: ignore[no-untyped-def]  # compiled
    """The next place; the same one where the message is at its owner."""
    me = nodes[here]
    behind, ahead = side_reach(nodes, size, smaller, here, False), side_reach(nodes, size, larger, here, True)
    if behind + ahead >= size or clockwise(me, key, size) <= ahead or clockwise(key, me, size) <= behind:
        best = np.int32(here)
        for number in range(larger.shape[1]):
            best = closer_of(nodes, size, key, best, larger[here, number])
            best = closer_of(nodes, size, key, best, smaller[here, number])
        return best
    shared = shared_digits(me, key, places)
    if shared == len(places):
        return np.int32(here)
    if shared < rows.shape[1]:
        entry = rows[here, shared, key // places[shared] % rows.shape[2]]
        if entry != NOBODY:
            return entry
    return pastry_closer(nodes, size, places, smaller, larger, rows, neighbours, here, key, shared)


@compiled
def pastry_closer(nodes, size, places, smaller, larger, rows, neighbours, here, key, shared):  # type: ignore[no-untyped-def]  # compiled
    best = np.int32(here)
    for side in (smaller, larger, neighbours):
        for number in range(side.shape[1]):
            candidate = side[here, number]
            if candidate != NOBODY and shared_digits(nodes[candidate], key, places) >= shared:
                best = closer_of(nodes, size, key, best, candidate)
    for row in range(rows.shape[1]):
        for digit in range(rows.shape[2]):
            candidate = rows[here, row, digit]
            if candidate != NOBODY and shared_digits(nodes[candidate], key, places) >= shared:
                best = closer_of(nodes, size, key, best, candidate)
    return best


@compiled
def route_pastry(  # type: ignore[no-untyped-def]  # compiled
    nodes, size, places, smaller, larger, rows, neighbours, starts, keys, most_hops, ends, hops, sent, received
):
    """Fills in where each message ends and after how many hops, and adds to what each node sent and received."""
    for number in range(len(keys)):
        here, last, taken = starts[number], False, 0
        while not last and taken <= most_hops:
            target = pastry_step(nodes, size, places, smaller, larger, rows, neighbours, here, keys[number])
            last = target == here
            if not last:
                sent[here] += 1
                received[target] += 1
                taken += 1
                here = target
        ends[number] = here if last else NOBODY
        hops[number] = taken


@compiled
def mixed(value):  # type: ignore[no-untyped-def]  # compiled
    """64 bits to 64 bits, so that neighbours end up far apart (the finaliser of SplitMix64)."""
    value = (value ^ (value >> _S30)) * _MIX_1
    value = (value ^ (value >> _S27)) * _MIX_2
    return value ^ (value >> _S31)


@compiled
def nearest_of_some(nodes, points, here, first, end, salt, tries):  # type: ignore[no-untyped-def]  # compiled
    """Of the places from `first` to before `end`, a few picked by a hash: the one whose point is nearest."""
    best, best_far = np.int32(NOBODY), np.inf
    for attempt in range(min(tries, end - first)):
        chosen = first + attempt
        if end - first > tries:
            salt = mixed(salt + _GOLDEN)
            chosen = first + np.int64(salt % np.uint64(end - first))
        across, down = points[chosen, 0] - points[here, 0], points[chosen, 1] - points[here, 1]
        far = across * across + down * down
        if far < best_far:
            best, best_far = np.int32(chosen), far
    return best


@compiled
def fill_rows(nodes, places, points, tries, rows):  # type: ignore[no-untyped-def]  # compiled
    """For every node and every place of its routing table a node that fits; the depth that is needed is returned.

    Rows beyond the given array are not filled in, but counted: with an array of no rows the depth is found out.
    """
    base = rows.shape[2]
    deepest = 0
    for here in range(len(nodes)):
        first, end = 0, len(nodes)
        for row in range(len(places)):
            if end - first <= 1:
                break
            deepest = max(deepest, row + 1)
            block = nodes[here] - nodes[here] % (places[row] * base)
            own_first, own_end, start = first, end, first
            for digit in range(base):
                stop = first_at_or_after(nodes, start, end, block + (digit + 1) * places[row])
                if start <= here < stop:
                    own_first, own_end = start, stop
                elif stop > start and row < rows.shape[1]:
                    salt = mixed(np.uint64(nodes[here]) + _GOLDEN * np.uint64(row * base + digit + 1))
                    rows[here, row, digit] = nearest_of_some(nodes, points, here, start, stop, salt, tries)
                start = stop
            first, end = own_first, own_end
    return deepest
