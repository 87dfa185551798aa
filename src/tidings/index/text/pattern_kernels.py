"""Text patterns, compiled: from the words of a text through tries to the questions that hold.

Under each item stands a trie of the conjunctions whose rarest item it is (`trie_kernels`), so that what many of them
ask is tested once. The items of a text are a set of bits, and the nodes right under an item are chosen by these bits
alone, in loops without branches; only those that are left are walked through. Looks at memory that is far are what a
text costs, so that what is chosen for a text is first written down and then gone through: the processor fetches several
at a time. Also runs as plain Python (NUMBA_DISABLE_JIT=1).
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
    CHAINED_PREFIXES,
    OCCURRENCES,
    SERIAL,
    TESTS,
    TOUCHED,
    E,
    S,
    bit_of,
    chain_holds,
    chain_is_there,
)
from tidings.index.text.dictionary_kernels import field_numbers, word_number
from tidings.index.text.program_kernels import program_holds
from tidings.index.text.reading_kernels import READ as R
from tidings.index.views import int32s, int64s, uint8s, uint64s


class PatternFacts(NamedTuple):
    """Where answers are written; as many as fit."""

    start: Array  # int64, one more than there are texts
    fact: Array  # int32


F = field_numbers(PatternFacts)
_U32, _ONE = np.uint32, np.uint64(1)
_A_LINE = 16  # so many int32 lie in one line of the processor's caches


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
    always = len(int32s(engine, E.item_rows)) // 4 - 1
    state[SERIAL] += 1
    state[OCCURRENCES] = 0
    there[always >> 6] |= _ONE << np.uint64(always & 63)
    count, fits = note_words(engine, prefixes, words, scratch, text)
    items[count] = always
    fits = fits and find_under_items(engine, scratch, facts, count + 1)
    for i in range(count):
        there[items[i] >> 6] = 0
    return fits


# The items of a text


@compiled
def note_words(engine, prefixes, words, scratch, text):  # type: ignore[no-untyped-def]
    """Notes the items of a text and where they occur; how many there are, and whether the occurrences had room."""
    start, word, state = int64s(words, R.start), int32s(words, R.word), int64s(scratch, S.state)
    word_rows, word_prefix = int32s(engine, E.word_rows), int32s(engine, E.word_prefix)
    has_prefixes, found = len(int32s(engine, E.prefix_item)) > 0, int32s(scratch, S.prefixes)
    room = len(int32s(scratch, S.occurrence_item)) - len(int32s(engine, E.prefix_length)) - 1
    count, occurrences = 0, 0
    for i in range(start[text], start[text + 1]):
        if occurrences > room:
            return count, False
        number, place, before = word[i], i - start[text], count
        if number >= 0:
            count, occurrences = note_item(engine, scratch, word_rows[2 * number], place, count, occurrences)
            if count == before and state[CHAINED_PREFIXES] == 0:
                continue  # the word was there before, and where it is again says nothing of wildcard words
            for one in range(word_rows[2 * number + 1], word_rows[2 * number + 3]):
                count, occurrences = note_item(engine, scratch, word_prefix[one], place, count, occurrences)
        elif has_prefixes:
            data, at, length = uint8s(words, R.data), int64s(words, R.at)[i], int32s(words, R.length)[i]
            for one in range(prefixes_of(engine, prefixes, data, at, length, found)):
                count, occurrences = note_item(engine, scratch, found[one], place, count, occurrences)
    state[OCCURRENCES] = occurrences
    return count, True


@compiled
def note_item(engine, scratch, item, place, count, occurrences):  # type: ignore[no-untyped-def]
    """Writes down an item and where it is, at the end of what is noted of both; the new ends, which stay as they were
    where the item was there already, and where it is in no chain."""
    there, number = uint64s(scratch, S.there), _U32(item)
    int32s(scratch, S.occurrence_item)[occurrences] = item
    int32s(scratch, S.occurrence_place)[occurrences] = place
    int32s(scratch, S.items)[count] = item
    occurrences += bit_of(uint64s(engine, E.in_chains), number)
    count += 1 - bit_of(there, number)
    there[number >> _U32(6)] |= _ONE << np.uint64(number & _U32(63))
    return count, occurrences


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
def find_under_items(engine, scratch, facts, count):  # type: ignore[no-untyped-def]
    """Writes the answers of the tries under so many items; false where they do not fit."""
    nodes, kept = int32s(scratch, S.nodes), keep_items(engine, scratch, count)
    chosen = choose_nodes(engine, scratch, kept)
    for i in range(chosen):
        if not walk(engine, scratch, facts, np.int64(nodes[i])):
            return False
    return True


@compiled
def keep_items(engine, scratch, count):  # type: ignore[no-untyped-def]
    """Writes down those of the noted items under which something may hold; how many they are."""
    rows, items = int32s(engine, E.item_rows), int32s(scratch, S.items)
    kept_items, there = int32s(scratch, S.kept), uint64s(scratch, S.there)
    candidates, tests, kept = 0, 0, 0
    for i in range(count):
        row = 4 * np.int64(items[i])
        candidates += rows[row + 3]
        tests += rows[row + 1] - rows[row]
        kept_items[kept] = items[i]
        kept += bit_of(there, _U32(rows[row + 2]))
    state = int64s(scratch, S.state)
    state[CANDIDATES] += candidates
    state[TESTS] += tests
    return kept


@compiled
def choose_nodes(engine, scratch, kept):  # type: ignore[no-untyped-def]
    """Writes down the children of the kept items whose bits are set; how many they are."""
    rows, items = int32s(engine, E.item_rows).view(_U32), int32s(scratch, S.kept).view(_U32)
    child_bit, child_node = int32s(engine, E.child_bit).view(_U32), int32s(engine, E.child_node)
    tries, there, nodes = int32s(engine, E.tries), uint64s(scratch, S.there), int32s(scratch, S.nodes).view(_U32)
    touched, chosen = _U32(0), 0
    for i in range(kept):
        row = _U32(4) * items[i]
        for child in range(rows[row], rows[row + _U32(1)], _A_LINE):
            touched |= child_bit[child]
    for i in range(kept):
        row = _U32(4) * items[i]
        for child in range(rows[row], rows[row + _U32(1)]):
            nodes[chosen] = child
            chosen += bit_of(there, child_bit[child])
    for i in range(chosen):
        nodes[i] = child_node[nodes[i]]
        touched |= _U32(tries[nodes[i]])
    int64s(scratch, S.state)[TOUCHED] = touched
    return chosen


@compiled
def walk(engine, scratch, facts, node):  # type: ignore[no-untyped-def]
    """Writes those answers of a node and of its subtree that hold; false where they do not fit. The bit of the node is
    known to be set."""
    tries, there = int32s(engine, E.tries), uint64s(scratch, S.there)
    items, end, tests, holds = len(int32s(engine, E.item_rows)) // 4 - 1, np.int64(tries[node + 1]), -1, True
    while node < end:
        test = np.int64(tries[node])
        if test >= items:
            holds = holds_otherwise(engine, scratch, test - items, items)
        elif tests >= 0:
            holds = bit_of(there, _U32(test)) == 1
        tests += 1
        if not holds:
            node = np.int64(tries[node + 1])
            continue
        if not write_answers(engine, scratch, facts, node):
            return False
        node += 3 + tries[node + 2]
    int64s(scratch, S.state)[TESTS] += tests
    return True


@compiled
def holds_otherwise(engine, scratch, test, items):  # type: ignore[no-untyped-def]
    """A test other than that an item is there, counted from the first of those."""
    chains = len(int32s(engine, E.chain_rows)) // 3
    if test < chains:
        return chain_holds(engine, scratch, test)
    test -= chains
    if test < items:
        return bit_of(uint64s(scratch, S.there), _U32(test)) == 0
    test -= items
    if test < chains:
        return not chain_is_there(engine, scratch, test)
    return test == chains or program_holds(engine, scratch, test - chains - 1, items)


@compiled
def write_answers(engine, scratch, facts, node):  # type: ignore[no-untyped-def]
    tries, fact, state = int32s(engine, E.tries), int32s(facts, F.fact), int64s(scratch, S.state)
    if state[ANSWERS] + tries[node + 2] > len(fact):
        return False
    for i in range(node + 3, node + 3 + tries[node + 2]):
        question = tries[i]
        if question < 0:
            question = ~question
            stamp = int64s(scratch, S.stamp)
            if stamp[question] == state[SERIAL]:
                continue
            stamp[question] = state[SERIAL]
        fact[state[ANSWERS]] = question
        state[ANSWERS] += 1
    return True
