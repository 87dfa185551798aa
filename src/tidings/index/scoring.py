"""How similar what matched is to what it asks for: the scores that `reference.score` defines, many at once.

A subscription that is found in one place is one conjunction, and all of its similarities hold where it matches: one may
lead to it, the others are checks. Its score is the lowest of their cosines, which the engines give. The reference is
asked about the others that mention similarity: those with several conjunctions, and those of which every similarity
was needless. Which is which is learned of a part when its first scores are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, cast

import numpy as np

from tidings.index import layout
from tidings.index.answers import Scores, numbers_found
from tidings.index.columns import TextColumn
from tidings.index.encode import EncodedBatch
from tidings.index.facts import Texts
from tidings.index.finding import Finder, texts_of
from tidings.index.layout import Array, Segment
from tidings.index.matching import Findings
from tidings.index.runs import places_in

OfReference = Callable[[int, int], float | None]  # the score of the subscription of this number with this row


class Cosines(Protocol):
    """What engines of similarity can do beside finding facts."""

    def cosines(self, texts: Texts, text: Array, fact: Array) -> Array:
        """Those of pairs of a text and a fact, as the definition rounds them; pairs of one text stand together."""


class Similarities(NamedTuple):
    """Of subscription number n the similarities start[n] : start[n + 1], as slots of facts and facts."""

    start: Array
    slot: Array
    fact: Array
    by_reference: Array  # bool, of each subscription: the reference must be asked


def similarities(segment: Segment, wheres: TextColumn, slots: Sequence[int]) -> Similarities:
    """Of all subscriptions of a segment; facts of similarity stand in these slots."""
    checks = layout.check_columns(segment.check_rows)
    asked = np.isin(checks.slot, slots) & (checks.flags & layout.NEGATED == 0)
    checking = np.flatnonzero(asked[segment.entry_check])
    check = segment.entry_check[checking]
    leading, slot, fact = _led(segment, slots)
    entry = np.concatenate([leading, np.searchsorted(segment.entry_checks, checking, side="right") - 1])
    slot, fact = np.concatenate([slot, checks.slot[check]]), np.concatenate([fact, checks.a[check]])
    member = segment.entry_member[entry]
    alone = np.flatnonzero(segment.member_shared[member] == 0)
    order = alone[np.argsort(member[alone], kind="stable")]
    start = np.searchsorted(member[order], np.arange(len(wheres) + 1))
    return Similarities(start, slot[order], fact[order], _mentioning(wheres) & (np.diff(start) == 0))


def _led(segment: Segment, slots: Sequence[int]) -> tuple[Array, Array, Array]:
    """The entries that a fact of similarity leads to, with slot and fact."""
    lead = np.repeat(np.arange(len(segment.slot_tables) - 1), np.diff(segment.slot_tables))
    buckets = np.diff(segment.table_buckets)[: len(lead)]
    slot_of = np.repeat(lead, buckets)  # of each bucket that some slot leads
    places = layout.hash_columns(segment.hash_places)
    used = places.bucket >= 0
    key_of = np.zeros(len(segment.bucket_entries) - 1, np.int64)
    key_of[places.bucket[used]] = places.key[used]
    bucket = np.flatnonzero(np.isin(slot_of, slots))
    first, sizes = segment.bucket_entries[bucket], np.diff(segment.bucket_entries)[bucket]
    return places_in(first, sizes), np.repeat(slot_of[bucket], sizes), np.repeat(key_of[bucket], sizes)


def _mentioning(wheres: TextColumn) -> Array:
    """Which texts have the word similarity, at least in a string or a name: one pass over all of them."""
    found = np.zeros(len(wheres), np.bool_)
    at = [match.start() for match in re.finditer(b"similarity", wheres.data.tobytes().lower())]
    found[np.searchsorted(wheres.start, at, side="right") - 1] = True
    return found


def scores(
    asked: Similarities,
    findings: Findings,
    encoded: EncodedBatch,
    finders: Mapping[int, Finder],
    of_reference: OfReference,
) -> Scores:
    """The scores of what was found in a batch; the finders by the slots of a segment."""
    offsets, number = numbers_found(findings, encoded.rows)
    row = np.repeat(np.arange(encoded.rows), np.diff(offsets))
    score = np.full(len(row), np.nan)
    for at in np.flatnonzero(asked.by_reference[number]).tolist():
        found = of_reference(int(number[at]), int(row[at]))
        score[at] = np.nan if found is None else found
    sizes = asked.start[number + 1] - asked.start[number]
    match = np.repeat(np.arange(len(row)), sizes)
    place = places_in(asked.start[number], sizes)
    for slot in np.unique(asked.slot[place]).tolist():
        here = np.flatnonzero(asked.slot[place] == slot)
        cosine = _cosines(finders[slot], encoded, row[match[here]], asked.fact[place[here]])
        np.fmin.at(score, match[here], cosine)  # NaN is what has no score yet
    return Scores.of(row, number, score)


def _cosines(finder: Finder, encoded: EncodedBatch, row: Array, fact: Array) -> Array:
    """Of rows, which rise, and facts that hold of them: that of the text to which it is highest."""
    texts, row_of = texts_of(finder, encoded)
    first, end = np.searchsorted(row_of, row), np.searchsorted(row_of, row, side="right")
    counts = end - first
    pair = np.repeat(np.arange(len(row)), counts)
    text = places_in(first, counts)
    order = np.argsort(text, kind="stable")
    of_pair = np.full(len(row), -np.inf)
    cosine = cast(Cosines, finder.engine).cosines(texts, text[order], fact[pair[order]])
    np.maximum.at(of_pair, pair[order], cosine)
    return of_pair
