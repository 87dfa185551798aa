"""What is true of the arrays of every engine of text patterns, as assertions."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tidings.index.layout import Array
from tidings.index.text.chain_kernels import PatternArrays
from tidings.index.text.normalising import NO


class _Node(NamedTuple):
    place: int
    path: tuple[int, ...]  # the tests of the nodes above it, and its own
    answers: list[int]
    end: int


def check_arrays(kept: PatternArrays, words: int, prefixes: int) -> None:
    items = words + prefixes
    word_item, first_prefix = kept.word_rows.reshape(-1, 2).T
    assert len(word_item) == words + 1
    assert sorted([*word_item[:-1].tolist(), *kept.prefix_item.tolist()]) == list(range(items))
    assert (np.diff(kept.prefix_length) > 0).all()
    assert (np.diff(first_prefix) >= 0).all()
    assert (first_prefix[0], first_prefix[-1]) == (0, len(kept.word_prefix))
    assert set(kept.word_prefix.tolist()) <= set(kept.prefix_item.tolist())
    _check_chains(kept, items)
    answers = [answer for node in _check_tries(kept, items) for answer in node.answers]
    questions = [answer if answer >= 0 else ~answer for answer in answers]
    assert all(0 <= question < kept.questions[0] for question in questions)
    times = Counter(questions)  # what several conjunctions lead to says so each time
    assert all(times[answer] == 1 for answer in answers if answer >= 0)
    _check_programs(kept, items)


def _check_chains(kept: PatternArrays, items: int) -> None:
    rows = kept.chain_rows.reshape(-1, 3).tolist()
    row = chains = 0
    while row < len(rows):
        _, size, number = rows[row]
        assert size > 1
        assert number == chains
        assert all(least >= 0 and (most == -1 or least <= most) for _, least, most in rows[row + 1 : row + size])
        row, chains = row + size, chains + 1
    assert row == len(rows)
    used = {item for item, _, _ in rows}
    assert used <= set(range(items))
    assert _set_bits(kept.in_chains) == sorted(used)


def _check_programs(kept: PatternArrays, items: int) -> None:
    """Rows lead back only, so that every program ends."""
    rows = kept.program_rows.reshape(-1, 3).tolist()
    chains = len(kept.chain_rows) // 3
    for row, (test, *following) in enumerate(rows):
        assert 0 <= test < items + chains
        assert all(NO <= each < row for each in following)
    assert all(NO <= first < len(rows) for first in kept.program_first.tolist())


def _check_tries(kept: PatternArrays, items: int) -> list[_Node]:
    """All nodes, in the order in which they stand."""
    last = 2 * items + 2 * (len(kept.chain_rows) // 3) + len(kept.program_first)
    nodes: list[_Node] = []
    children = 0
    assert len(kept.item_rows) == 4 * (items + 1)
    rows = kept.item_rows.reshape(-1, 4).tolist()
    # Items whose tries come first have the lower numbers, and the children of each stand side by side.
    for item, (first, end, bit, conjunctions) in enumerate(rows):
        under = [node for child in range(first, end) for node in _subtree(kept, int(kept.child_node[child]))]
        assert conjunctions == sum(len(node.answers) for node in under)
        assert (conjunctions == 0) == (first == end)
        assert first in (end, children)
        children += end - first
        bits = kept.child_bit[first:end].tolist()
        assert bits == [min(node.path[0], items) for node in under if len(node.path) == 1]
        assert bit == (items + 1 if not bits else bits[0] if len(bits) == 1 else items)
        assert item == items or item not in [test for node in under for test in node.path]
        nodes += under
    assert children == len(kept.child_bit) == len(kept.child_node)
    assert [node.place for node in nodes] == [0, *[node.end for node in nodes[:-1]]][: len(nodes)]
    assert (nodes[-1].end if nodes else 0) == len(kept.tries)
    # What the path to a node tests rises, and every leaf answers something.
    assert all(sorted(set(node.path)) == list(node.path) and 0 <= node.path[-1] <= last for node in nodes)
    ended = pairwise([*nodes, _Node(len(kept.tries), (), [], len(kept.tries))])
    assert all(node.answers or after.path[:-1] == node.path for node, after in ended)
    return nodes


def _subtree(kept: PatternArrays, place: int, above: tuple[int, ...] = ()) -> list[_Node]:
    test, end, count = kept.tries[place : place + 3].tolist()
    after = place + 3 + count
    found = [_Node(place, (*above, test), kept.tries[place + 3 : after].tolist(), after)]
    while after < end:
        found += _subtree(kept, after, found[0].path)
        after = found[-1].end
    assert after == end
    return found


def _set_bits(bits: Array) -> list[int]:
    found: list[int] = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()
    return found
