"""What is true of the arrays of every engine of text patterns, as assertions."""

from __future__ import annotations

import numpy as np

from tidings.index.layout import Array
from tidings.index.text.chain_kernels import PatternArrays


def check_arrays(kept: PatternArrays, words: int, prefixes: int) -> None:
    items, chains = words + prefixes, len(kept.chain_start) - 1
    word_item, first_prefix = kept.word_rows.reshape(-1, 2).T
    assert len(word_item) == words + 1
    assert sorted([*word_item[:-1].tolist(), *kept.prefix_item.tolist()]) == list(range(items))
    assert (np.diff(kept.prefix_length) > 0).all()
    assert (np.diff(first_prefix) >= 0).all()
    assert (first_prefix[0], first_prefix[-1]) == (0, len(kept.word_prefix))
    assert set(kept.word_prefix.tolist()) <= set(kept.prefix_item.tolist())
    _check_chains(kept, items)
    _check_tries(kept, items, chains)
    questions = np.where(kept.answer >= 0, kept.answer, ~kept.answer)
    assert ((questions >= 0) & (questions < kept.questions[0])).all()
    once, times = np.unique(questions, return_counts=True)
    assert set(once[times > 1].tolist()) <= set(questions[kept.answer < 0].tolist())
    assert set(kept.evaluated.tolist()).isdisjoint(once.tolist())
    assert len(kept.evaluated_start) == len(kept.evaluated) + 1


def _check_chains(kept: PatternArrays, items: int) -> None:
    assert (np.diff(kept.chain_start) > 1).all()
    assert kept.chain_start[-1] == len(kept.chain_item) == len(kept.chain_least) == len(kept.chain_most)
    assert ((kept.chain_item >= 0) & (kept.chain_item < items)).all()
    in_chains = np.flatnonzero(np.unpackbits(kept.in_chains.view(np.uint8), bitorder="little"))
    assert in_chains.tolist() == sorted(set(kept.chain_item.tolist()))
    assert ((kept.chain_most == -1) | (kept.chain_least <= kept.chain_most)).all()


def _check_tries(kept: PatternArrays, items: int, chains: int) -> None:
    test, end = kept.node_rows.reshape(-1, 2).T
    own = np.diff(kept.node_answers)
    assert len(kept.item_rows) == 2 * (items + 1)
    root, conjunctions = kept.item_rows.reshape(-1, 2).T
    assert ((test >= 0) & (test <= 2 * items + 2 * chains)).all()
    assert (own >= 0).all()
    assert kept.node_answers[0] == 0
    assert own.sum() == conjunctions.sum() == len(kept.answer)
    roots = _roots(end)
    assert sorted(root[root >= 0].tolist()) == roots
    for node in roots:
        assert root[min(test[node], items)] == node
        assert conjunctions[min(test[node], items)] == own[node : end[node]].sum()
        assert test[node] < items or test[node] == 2 * items + 2 * chains
    _check_subtrees(test, end, own)


def _check_subtrees(test: Array, end: Array, own: Array) -> None:
    parents: list[int] = []
    for node in range(len(test)):
        while parents and end[parents[-1]] <= node:
            parents.pop()
        assert node < end[node] <= (end[parents[-1]] if parents else len(test))
        # Every leaf answers something, and what the path to it tests rises after the first test.
        assert end[node] > node + 1 or own[node]
        assert len(parents) < 2 or test[parents[-1]] < test[node]
        parents.append(node)


def _roots(end: Array) -> list[int]:
    found, node = [], 0
    while node < len(end):
        found.append(node)
        node = int(end[node])
    return found
