"""From normal patterns to the arrays of an engine: how rare items are, the tests of conjunctions, and their tries.

How rare an item is comes from the document frequencies of a corpus, and without one from the patterns themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from tidings.analysis.patterns import necessary
from tidings.analysis.statistics import TextStatistics
from tidings.index.layout import Array
from tidings.index.text.chain_kernels import PatternArrays
from tidings.index.text.dictionary import Dictionary, encoded
from tidings.index.text.normalising import NormalPatterns
from tidings.index.text.pattern_kernels import prefixes_of_words
from tidings.index.text.trie_kernels import lead_with, make_tries, write_bits_of_items, write_tests
from tidings.index.views import directory
from tidings.model.text import Terms, TextPattern

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
    times = _times_asked(patterns)
    frequency = _frequency(patterns, times, statistics)
    programs = _add_leads(patterns, asked, frequency)
    rank = _ranks(times, frequency)
    # Frequent words first: what most texts ask for lies together then, and stays in the processor's caches.
    names, of_words = list(patterns.words), rank[: len(patterns.words)]
    words = Dictionary.build(names[number] for number in np.argsort(-of_words))
    prefixes = Dictionary.build(patterns.prefixes)
    lengths = sorted({len(encoded(prefix)) for prefix in patterns.prefixes})
    chains = _chains(patterns, rank)
    item_rows, child_bit, child_node, tries = _tries(patterns, chains, programs, len(rank), choice)
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
        program_first=np.array(patterns.program_first, np.int32),
        program_rows=_program_rows(patterns, chains, len(rank)),
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


def _times_asked(patterns: NormalPatterns) -> Array:
    """How many literals and rows of programs have the item."""
    literal = np.array(patterns.literal, np.int64)
    start, item = np.array(patterns.chain_start, np.int64), patterns.items()
    of_programs = np.array(patterns.program_rows[::3], np.int64)
    chain = np.concatenate([np.where(literal >= 0, literal, ~literal), of_programs])
    of_chains = np.bincount(chain, minlength=len(start) - 1)
    items = len(patterns.words) + len(patterns.prefixes)
    weights = np.repeat(of_chains, np.diff(start))
    return np.bincount(item, weights=weights, minlength=items).astype(np.int64)


def _frequency(patterns: NormalPatterns, asked: Array, statistics: TextStatistics) -> Array:
    """How frequent each item is, words before wildcard words."""
    of_words = asked[: len(patterns.words)]
    if statistics.documents:
        frequency = statistics.document_frequency
        of_words = np.array([frequency.get(word, 0) for word in patterns.words], np.int64)
        names, weights = list(frequency), np.fromiter(frequency.values(), np.int64, len(frequency))
    else:
        names, weights = list(patterns.words), of_words
    return np.concatenate([of_words, _frequency_of_prefixes(list(patterns.prefixes), names, weights)])


def _ranks(asked: Array, frequency: Array) -> Array:
    """The number of each item when all are numbered from the rarest on."""
    order = np.lexsort((asked, frequency))
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


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


# Programs


def _add_leads(patterns: NormalPatterns, asked: Sequence[TextPattern], frequency: Array) -> Array:
    """Adds the conjunctions under which programs stand: one for each of some chains without which the program says no.
    Gives the program of each conjunction, or -1."""
    start, item = patterns.chain_start, patterns.items()
    program = [-1] * len(patterns.conjunction_question)

    def chain(terms: Terms) -> frozenset[int]:
        number = patterns.chain(terms)
        return frozenset() if number is None else frozenset((number,))

    def cost(chains: frozenset[int]) -> tuple[int, int]:
        return sum(int(frequency[item[start[each] : start[each + 1]]].min()) for each in chains), len(chains)

    for number, question in enumerate(patterns.program_question):
        chains = necessary(asked[question], chain, cost)
        for literals in [()] if chains is None else [(each,) for each in sorted(chains)]:
            patterns.add_conjunction(question, literals)
            program.append(number)
    return np.array(program, np.int32)


def _program_rows(patterns: NormalPatterns, chains: _Chains, items: int) -> Array:
    """The rows of programs with tests in place of chains."""
    rows = np.array(patterns.program_rows, np.int32).reshape(-1, 3)
    row = chains.row[rows[:, 0]]
    rows[:, 0] = np.where(row < 0, chains.item[chains.start[rows[:, 0]]], items + row)
    return rows.ravel()


# Tries


def _tries(
    patterns: NormalPatterns, chains: _Chains, programs: Array, items: int, choice: Choice
) -> tuple[Array, Array, Array, Array]:
    """The rows of the items, the bits and nodes of their children, and all tries."""
    start, tests = _tests(patterns, chains, programs, items)
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


def _tests(patterns: NormalPatterns, chains: _Chains, programs: Array, items: int) -> tuple[Array, Array]:
    """The tests of all conjunctions, and where those of each begin."""
    start, literal = np.array(patterns.conjunction_start, np.int64), np.array(patterns.literal, np.int32)
    room = int(np.diff(chains.start)[np.where(literal >= 0, literal, ~literal)].sum()) + len(literal) + 2 * len(start)
    tests, ends = np.empty(room, np.int32), np.empty(len(start) - 1, np.int64)
    write_tests(start, literal, programs, chains.start, chains.item, chains.row, items, len(chains.rows), tests, ends)
    found = np.concatenate([np.zeros(1, np.int64), ends])
    return found, tests[: found[-1]]


def _lead_at_random(start: Array, tests: Array, items: int) -> None:
    """Any of the items that must be there; where there are none, what is first stays first."""
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(tests < items)])
    leading = before[start[1:]] - before[start[:-1]]
    chosen = np.random.default_rng(_SEED).integers(0, np.maximum(leading, 1))
    lead_with(start, tests, chosen)
