"""Text patterns, compiled: from the words of a text through tries to the questions that hold.

Under each item stands a trie of the conjunctions whose rarest item it is: a node is a test, and where the test fails
its subtree is passed over, so that what many conjunctions ask is tested once for all of them. Nodes lie in the order of
a walk, each knows where its subtree ends, and the items of a text are a set of bits, so that a test of a word is a look
at memory that is near. Also runs as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.keys import HASH_START, hash_end, hash_step
from tidings.index.layout import Array
from tidings.index.text.chain_kernels import (
    ANSWERS,
    CANDIDATES,
    OCCURRENCES,
    SERIAL,
    TESTS,
    E,
    S,
    chain_holds,
)
from tidings.index.text.dictionary_kernels import field_numbers, word_number
from tidings.index.text.reading_kernels import READ as R
from tidings.index.views import int32s, int64s, uint8s, uint64s


class PatternFacts(NamedTuple):
    """Where answers are written; as many as fit."""

    start: Array  # int64, one more than there are texts
    fact: Array  # int32


F = field_numbers(PatternFacts)
_ONE, _LOW_SIX = np.uint64(1), np.uint64(63)


@compiled
def find_patterns(engine, prefixes, words, raw, scratch, facts, first):  # type: ignore[no-untyped-def]
    """Answers the texts from `first` on; the first one for which there was not room enough, or how many there are."""
    start, state = int64s(facts, F.start), int64s(scratch, S.state)
    for text in range(first, len(start) - 1):
        before = state[ANSWERS], state[CANDIDATES], state[TESTS]
        if not raw[text] and not find_in_text(engine, prefixes, words, scratch, facts, text):
            state[ANSWERS], state[CANDIDATES], state[TESTS] = before
            return text
        start[text + 1] = state[ANSWERS]
    return len(start) - 1


@compiled
def find_in_text(engine, prefixes, words, scratch, facts, text):  # type: ignore[no-untyped-def]
    state, items, there = int64s(scratch, S.state), int32s(scratch, S.items), uint64s(scratch, S.there)
    state[SERIAL] += 1
    state[OCCURRENCES] = 0
    count, fits = note_words(engine, prefixes, words, scratch, text)
    fits = fits and walk_tries(engine, scratch, facts, count)
    for i in range(count):
        there[items[i] >> 6] = 0
    return fits


# The items of a text


@compiled
def note_words(engine, prefixes, words, scratch, text):  # type: ignore[no-untyped-def]
    """Notes the items of a text and where they occur; how many there are, and whether the occurrences had room."""
    start, word, state = int64s(words, R.start), int32s(words, R.word), int64s(scratch, S.state)
    word_rows, word_prefix = int32s(engine, E.word_rows), int32s(engine, E.word_prefix)
    has_prefixes = len(int32s(engine, E.prefix_item)) > 0
    room = len(int32s(scratch, S.occurrence_item)) - len(int32s(engine, E.prefix_length)) - 1
    count = 0
    for i in range(start[text], start[text + 1]):
        if state[OCCURRENCES] > room:
            return count, False
        number, place = word[i], i - start[text]
        if number >= 0:
            count = note_item(engine, scratch, word_rows[2 * number], place, count)
            for one in range(word_rows[2 * number + 1], word_rows[2 * number + 3]):
                count = note_item(engine, scratch, word_prefix[one], place, count)
        elif has_prefixes:
            found = int32s(scratch, S.prefixes)
            data, at, length = uint8s(words, R.data), int64s(words, R.at)[i], int32s(words, R.length)[i]
            for one in range(prefixes_of(engine, prefixes, data, at, length, found)):
                count = note_item(engine, scratch, found[one], place, count)
    return count, True


@compiled
def note_item(engine, scratch, item, place, count):  # type: ignore[no-untyped-def]
    there, state = uint64s(scratch, S.there), int64s(scratch, S.state)
    bit = _ONE << (np.uint64(item) & _LOW_SIX)
    if uint64s(engine, E.in_chains)[item >> 6] & bit != 0:
        int32s(scratch, S.occurrence_item)[state[OCCURRENCES]] = item
        int32s(scratch, S.occurrence_place)[state[OCCURRENCES]] = place
        state[OCCURRENCES] += 1
    if there[item >> 6] & bit == 0:
        there[item >> 6] |= bit
        int32s(scratch, S.items)[count] = item
        count += 1
    return count


@compiled
def prefixes_of(engine, prefixes, data, at, length, found):  # type: ignore[no-untyped-def]
    """Writes the wildcard words that the word data[at : at + length] satisfies, by one look for each length that some
    of them has; how many they are."""
    prefix_item = int32s(engine, E.prefix_item)
    hashed, key, count = 0, HASH_START, 0
    for size in int32s(engine, E.prefix_length):
        if size > length:
            break
        while hashed < size:
            key = hash_step(key, data[at + hashed])
            hashed += 1
        prefix = word_number(prefixes, data, at, np.int64(size), hash_end(key))
        if prefix >= 0:
            found[count] = prefix_item[prefix]
            count += 1
    return count


@compiled
def prefixes_of_words(engine, prefixes, data, start, first, word_prefix):  # type: ignore[no-untyped-def]
    """The same for all words of a dictionary, those of word n from first[n] on; how many there are, of which as many
    are written as there is room for."""
    found, count = np.empty(len(int32s(engine, E.prefix_length)), np.int32), 0
    for word in range(len(start) - 1):
        of_word = prefixes_of(engine, prefixes, data, start[word], start[word + 1] - start[word], found)
        for i in range(of_word):
            if count < len(word_prefix):
                word_prefix[count] = found[i]
            count += 1
        first[word + 1] = count
    return count


# Tries


@compiled
def walk_tries(engine, scratch, facts, count):  # type: ignore[no-untyped-def]
    """Writes the answers of the tries under the items of the text, and of the one that nothing leads to; false where
    they do not fit."""
    item_rows, nodes, answers = int32s(engine, E.item_rows), int32s(engine, E.node_rows), int32s(engine, E.node_answers)
    items, there, state = int32s(scratch, S.items), uint64s(scratch, S.there), int64s(scratch, S.state)
    all_items = len(item_rows) // 2 - 1
    candidates = tests = 0
    for i in range(count + 1):
        item = np.int64(items[i]) if i < count else all_items
        node = np.int64(item_rows[2 * item])
        if node < 0:
            continue
        candidates += item_rows[2 * item + 1]
        end = nodes[2 * node + 1]
        if answers[node] < answers[node + 1] and not write_answers(engine, scratch, facts, node):
            return False
        node += 1
        while node < end:
            test = np.int64(nodes[2 * node])
            tests += 1
            if test < all_items:
                holds = (there[test >> 6] >> (np.uint64(test) & _LOW_SIX)) & _ONE == _ONE
            else:
                holds = holds_otherwise(engine, scratch, test - all_items, all_items)
            if not holds:
                node = np.int64(nodes[2 * node + 1])
                continue
            if answers[node] < answers[node + 1] and not write_answers(engine, scratch, facts, node):
                return False
            node += 1
    state[CANDIDATES] += candidates
    state[TESTS] += tests
    return True


@compiled
def holds_otherwise(engine, scratch, test, items):  # type: ignore[no-untyped-def]
    """A test other than that an item is there, counted from the first of those."""
    chains = len(int64s(engine, E.chain_start)) - 1
    if test < chains:
        return chain_holds(engine, scratch, test)
    test -= chains
    if test < items:
        there = uint64s(scratch, S.there)
        return (there[test >> 6] >> (np.uint64(test) & _LOW_SIX)) & _ONE == 0
    return not (all_there(engine, scratch, test - items) and chain_holds(engine, scratch, test - items))


@compiled
def all_there(engine, scratch, chain):  # type: ignore[no-untyped-def]
    start, item, there = int64s(engine, E.chain_start), int32s(engine, E.chain_item), uint64s(scratch, S.there)
    for i in range(start[chain], start[chain + 1]):
        if (there[item[i] >> 6] >> (np.uint64(item[i]) & _LOW_SIX)) & _ONE == 0:
            return False
    return True


@compiled
def write_answers(engine, scratch, facts, node):  # type: ignore[no-untyped-def]
    answers, answer = int32s(engine, E.node_answers), int32s(engine, E.answer)
    fact, state, stamp = int32s(facts, F.fact), int64s(scratch, S.state), int64s(scratch, S.stamp)
    if state[ANSWERS] + answers[node + 1] - answers[node] > len(fact):
        return False
    for i in range(answers[node], answers[node + 1]):
        question = answer[i]
        if question < 0:
            question = ~question
            if stamp[question] == state[SERIAL]:
                continue
            stamp[question] = state[SERIAL]
        fact[state[ANSWERS]] = question
        state[ANSWERS] += 1
    return True
