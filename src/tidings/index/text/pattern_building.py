"""From normal patterns to the arrays of an engine: how rare items are, the tests of conjunctions, and their tries.

How rare an item is comes from the document frequencies of a corpus, and without one from the patterns themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from tidings.analysis.statistics import TextStatistics
from tidings.index.layout import Array
from tidings.index.text.chain_kernels import PatternArrays
from tidings.index.text.dictionary import Dictionary, encoded, packed
from tidings.index.text.normalising import NormalPatterns
from tidings.index.text.pattern_kernels import prefixes_of_words
from tidings.index.text.trie_kernels import lead_with, make_tries, write_bits_of_items, write_tests
from tidings.index.views import directory
from tidings.language.text import print_pattern
from tidings.model.text import TextPattern

# Which of its items a conjunction stands under, by the names of paper 4, sections 3.1 and 4.9. The choice changes what
# a text costs, and never what is found:
# - `rarest`, the least frequent word (LFWI): the one to use, and the only one that a `Matcher` makes.
# - `random`, a random word (RWI): there to be compared, `python -m benchmarks text` does so.
Choice = Literal["rarest", "random"]
_SEED = 4  # of the random choice, so that equal patterns make equal engines


class Built(NamedTuple):
    words: Dictionary
    prefixes: Dictionary
    arrays: PatternArrays


def built(patterns: NormalPatterns, asked: Sequence[TextPattern], statistics: TextStatistics, choice: Choice) -> Built:
    """`asked` are all questions, of which `patterns` is the normal form."""
    rank = _ranks(patterns, statistics)
    # Frequent words first: what most texts ask for lies together then, and stays in the processor's caches.
    names, of_words = list(patterns.words), rank[: len(patterns.words)]
    words = Dictionary.build(names[number] for number in np.argsort(-of_words))
    prefixes = Dictionary.build(patterns.prefixes)
    lengths = sorted({len(encoded(prefix)) for prefix in patterns.prefixes})
    chains = _chains(patterns, rank)
    evaluated_data, evaluated_start = packed([encoded(print_pattern(asked[n])) for n in patterns.evaluated])
    item_rows, child_bit, child_node, tries = _tries(patterns, chains, len(rank), choice)
    arrays = PatternArrays(
        word_rows=np.zeros(0, np.int32),
        word_prefix=np.zeros(0, np.int32),
        prefix_item=rank[len(words) :],
        prefix_length=np.array(lengths, np.int32),
        item_rows=item_rows,
        child_bit=child_bit,
        child_node=child_node,
        tries=tries,
        chain_rows=chains.rows.ravel(),
        in_chains=_bits(chains.rows[:, 0], len(rank)),
        evaluated=np.array(patterns.evaluated, np.int32),
        evaluated_start=evaluated_start,
        evaluated_data=evaluated_data,
        questions=np.array([len(asked)], np.int64),
    )
    return Built(words, prefixes, _with_rows_of_words(arrays, words, prefixes, -np.sort(-of_words)))


def _with_rows_of_words(arrays: PatternArrays, words: Dictionary, prefixes: Dictionary, items: Array) -> PatternArrays:
    data, start, _ = words.arrays().values()
    first, engine = np.zeros(len(start), np.int64), directory(arrays)
    count = prefixes_of_words(engine, prefixes.directory, data, start, first, np.empty(0, np.int32))
    word_prefix = np.empty(count, np.int32)
    prefixes_of_words(engine, prefixes.directory, data, start, first, word_prefix)
    rows = np.zeros((len(start), 2), np.int32)  # the last row only says where the one before it ends
    rows[:-1, 0], rows[:, 1] = items, first
    return arrays._replace(word_rows=rows.ravel(), word_prefix=word_prefix)


def _ranks(patterns: NormalPatterns, statistics: TextStatistics) -> Array:
    """The number of each item, words before wildcard words, when all are numbered from the rarest on."""
    asked = _times_asked(patterns)
    of_words = asked[: len(patterns.words)]
    if statistics.documents:
        frequency = statistics.document_frequency
        of_words = np.array([frequency.get(word, 0) for word in patterns.words], np.int64)
        names, weights = list(frequency), np.fromiter(frequency.values(), np.int64, len(frequency))
    else:
        names, weights = list(patterns.words), of_words
    of_prefixes = _frequency_of_prefixes(list(patterns.prefixes), names, weights)
    order = np.lexsort((asked, np.concatenate([of_words, of_prefixes])))
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


def _times_asked(patterns: NormalPatterns) -> Array:
    """How many literals have the item."""
    literal = np.array(patterns.literal, np.int64)
    start, item = np.array(patterns.chain_start, np.int64), patterns.items()
    of_chains = np.bincount(np.where(literal >= 0, literal, ~literal), minlength=len(start) - 1)
    items = len(patterns.words) + len(patterns.prefixes)
    weights = np.repeat(of_chains, np.diff(start))
    return np.bincount(item, weights=weights, minlength=items).astype(np.int64)


def _frequency_of_prefixes(prefixes: list[str], names: list[str], weights: Array) -> Array:
    """How often words that begin so occur; a text that has two of them is counted twice."""
    order = sorted(range(len(names)), key=names.__getitem__)
    sums = np.zeros(len(names) + 1, np.int64)
    np.cumsum(weights[order], out=sums[1:])
    in_order = [names[number] for number in order]
    spans = [_span(prefix, in_order) for prefix in prefixes]
    return np.array([sums[end] - sums[first] for first, end in spans], np.int64)


def _span(prefix: str, in_order: list[str]) -> tuple[int, int]:
    first = bisect_left(in_order, prefix)
    return first, bisect_left(in_order, True, first, key=lambda word: not word.startswith(prefix))


# Chains


class _Chains(NamedTuple):
    """All chains, and the rows of those of more than one item."""

    start: Array
    item: Array
    row: Array  # the first row of each chain, or -1
    rows: Array  # int32[., 3]


def _chains(patterns: NormalPatterns, rank: Array) -> _Chains:
    start, item = np.array(patterns.chain_start, np.int64), rank[patterns.items()]
    size = np.diff(start)
    is_long = size > 1
    first = np.cumsum(size * is_long) - size
    columns = (item, np.array(patterns.chain_least, np.int32), np.array(patterns.chain_most, np.int32))
    rows = np.stack(columns, axis=1)[np.repeat(is_long, size)]
    rows[first[is_long], 1:] = np.stack((size[is_long], np.arange(is_long.sum())), axis=1)
    return _Chains(start, item, np.where(is_long, first, -1), rows)


def _bits(numbers: Array, count: int) -> Array:
    """A bit for each number below `count`, set for those given."""
    bits = np.zeros(64 * (count // 64 + 1), np.bool_)
    bits[numbers] = True
    return np.packbits(bits, bitorder="little").view(np.uint64)


# Tries


def _tries(patterns: NormalPatterns, chains: _Chains, items: int, choice: Choice) -> tuple[Array, Array, Array, Array]:
    """The rows of the items, the bits and nodes of their children, and all tries."""
    start, tests = _tests(patterns, chains, items)
    if choice == "random":
        _lead_at_random(start, tests, items)
    # Bytes in big-endian order compare as the sequences of numbers do.
    data, byte_start = tests.astype(">u4").tobytes(), (4 * start).tolist()
    keys = [data[a:b] for a, b in pairwise(byte_start)]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    question = np.array(patterns.conjunction_question, np.int32)[order]
    answer = np.where(np.array(patterns.shared, np.bool_)[question], ~question, question).astype(np.int32)
    item_rows = np.zeros(4 * (items + 1), np.int32)
    child_bit, child_node, tries = (np.empty(size, np.int32) for size in (len(keys), len(keys), 3 * len(tests)))
    path = np.empty(np.diff(start).max(initial=0), np.int64)
    children, end = make_tries(start, tests, order, answer, items, item_rows, child_bit, child_node, tries, path)
    write_bits_of_items(item_rows, child_bit, items)
    return item_rows, child_bit[:children].copy(), child_node[:children].copy(), tries[:end].copy()


def _tests(patterns: NormalPatterns, chains: _Chains, items: int) -> tuple[Array, Array]:
    """The tests of all conjunctions, and where those of each begin."""
    start, literal = np.array(patterns.conjunction_start, np.int64), np.array(patterns.literal, np.int32)
    room = int(np.diff(chains.start)[np.where(literal >= 0, literal, ~literal)].sum()) + len(literal) + 2 * len(start)
    tests, ends = np.empty(room, np.int32), np.empty(len(start) - 1, np.int64)
    write_tests(start, literal, chains.start, chains.item, chains.row, items, len(chains.rows), tests, ends)
    found = np.concatenate([np.zeros(1, np.int64), ends])
    return found, tests[: found[-1]]


def _lead_at_random(start: Array, tests: Array, items: int) -> None:
    """Any of the items that must be there; where there are none, what is first stays first."""
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(tests < items)])
    leading = before[start[1:]] - before[start[:-1]]
    chosen = np.random.default_rng(_SEED).integers(0, np.maximum(leading, 1))
    lead_with(start, tests, chosen)
