"""Facts as entries of a batch: the texts that were encoded are handed to engines, and what holds of them is appended.

The facts of an attribute stand in a slot of their own, as the elements of an array do: one entry for each, and one
EMPTY entry where none holds. So a fact is looked up as a number is, and its negation holds of a text that has not got
it. A document that cannot be read has no entry, which is what unknown means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.encode import EncodedBatch
from tidings.index.facts import Engine, Texts
from tidings.index.layout import ARRAY, DIRTY, EMPTY, INEXACT, Array
from tidings.model.result import EventProblem


class Finder(NamedTuple):
    """An engine at work: which slots of a batch hold its texts, and which gets its facts."""

    engine: Engine
    slot: int  # of the facts: behind all slots that are encoded, so that entries can be appended
    strings: int
    raws: int  # of documents that come as bytes; -1 where bytes are no text
    name: str  # of the attribute


def with_facts(encoded: EncodedBatch, finders: Sequence[Finder]) -> EncodedBatch:
    """The batch with the facts that each engine finds in it; finders by rising slots."""
    for finder in finders:
        encoded = _with_facts_of(finder, encoded)
    return encoded


def texts_of(finder: Finder, encoded: EncodedBatch) -> tuple[Texts, Array]:
    """The texts that an engine is asked about, and the row of each."""
    (start, length, raw), rows = _texts(
        encoded.starts, encoded.slot, encoded.text, encoded.length, encoded.flags, finder.strings, finder.raws
    )
    return Texts(encoded.data, start, length, raw), rows


def _with_facts_of(finder: Finder, encoded: EncodedBatch) -> EncodedBatch:
    texts, rows = texts_of(finder, encoded)
    facts = finder.engine.find(texts)
    failed = np.zeros(len(texts.start), np.bool_)
    failed[[number for number, _ in facts.problems]] = True
    columns = (encoded.starts, encoded.slot, encoded.key, encoded.text, encoded.length, encoded.flags)
    starts, slot, key, text, lengths, flags = _appended(
        *columns, finder.slot, finder.strings, finder.raws, facts.start, facts.fact, failed
    )
    problems = [EventProblem(int(rows[number]), finder.name, reason) for number, reason in facts.problems]
    return replace(
        encoded,
        starts=starts,
        slot=slot,
        key=key,
        text=text,
        length=lengths,
        flags=flags,
        problems=(*encoded.problems, *problems),
    )


@compiled
def _texts(starts, slot, text, length, flags, strings, raws):  # type: ignore[no-untyped-def]  # compiled
    """Where each text begins, its bytes, whether it came as bytes, and its row; in the order of the entries."""
    count = 0
    for entry in range(len(slot)):
        if (slot[entry] == strings or slot[entry] == raws) and not flags[entry] & EMPTY:
            count += 1
    begin, size, raw = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.bool_)
    rows = np.empty(count, np.int64)
    at = 0
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            if (slot[entry] == strings or slot[entry] == raws) and not flags[entry] & EMPTY:
                begin[at], size[at], raw[at], rows[at] = text[entry], length[entry], slot[entry] == raws, row
                at += 1
    return (begin, size, raw), rows


@compiled
def _appended(  # type: ignore[no-untyped-def]  # compiled
    starts, slot, key, text, length, flags, number, strings, raws, fact_start, fact, failed
):
    rows, room = len(starts) - 1, len(slot) + len(fact) + len(starts)
    new_starts, new_slot, new_key = np.zeros(rows + 1, np.int64), np.empty(room, np.int32), np.empty(room, np.int64)
    new_text, new_length, new_flags = np.zeros(room, np.int64), np.zeros(room, np.int32), np.empty(room, np.uint8)
    at = asked = 0
    for row in range(rows):
        for entry in range(starts[row], starts[row + 1]):
            new_slot[at], new_key[at], new_flags[at] = slot[entry], key[entry], flags[entry]
            new_text[at], new_length[at] = text[entry], length[entry]
            at += 1
        first, texts, of_array, clean, unread = at, 0, False, False, False
        written, kinds = False, 0
        for entry in range(starts[row], starts[row + 1]):
            if slot[entry] != strings and slot[entry] != raws:
                continue
            written = True
            of_array |= flags[entry] & ARRAY != 0
            clean |= flags[entry] & DIRTY == 0
            if flags[entry] & EMPTY:
                continue
            kinds |= 1 if slot[entry] == strings else 2
            unread |= failed[asked]
            for i in range(fact_start[asked], fact_start[asked + 1]):
                new_key[at] = fact[i]
                at += 1
            asked += 1
            texts += 1
        if not written or (unread and not of_array):
            new_starts[row + 1] = at
            continue
        if texts > 1:
            distinct = np.unique(new_key[first:at])
            new_key[first : first + len(distinct)] = distinct
            at = first + len(distinct)
        # Strings and bytes in one array: each kind is a stranger to the other, and whether there are more is not known.
        marks = ARRAY | (DIRTY if unread or not clean else 0) | (INEXACT if kinds == 3 else 0)
        if at == first:
            marks |= EMPTY
            new_key[at] = 0
            at += 1
        for entry in range(first, at):
            new_slot[entry], new_flags[entry] = number, marks
        new_starts[row + 1] = at
    return new_starts, new_slot[:at], new_key[:at], new_text[:at], new_length[:at], new_flags[:at]
