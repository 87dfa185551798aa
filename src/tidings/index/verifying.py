"""What the kernels leave undecided, decided by the reference: each question once for a row, however many ask it.

Opaque terms are checks that name their text, and equal ones are one check. An entry that is undecided because of these
holds if they do. A whole subscription is asked only where more is unknown: one with several conjunctions, of which the
kernels say the first that is undecided, and every one in a row that has an INEXACT number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tidings.index import layout
from tidings.index.columns import TextColumn
from tidings.index.encode import EncodedBatch
from tidings.index.layout import INEXACT, Array, Segment
from tidings.index.runs import places_in
from tidings.language.parser import parse
from tidings.model.predicates import Expression, negation
from tidings.reference import Reading, truth

KEPT_EXPRESSIONS = 16_384  # of those that only the reference can decide

expression_of = lru_cache(KEPT_EXPRESSIONS)(parse)


@dataclass(frozen=True, slots=True)
class Verifier:
    """Decides entries of one segment in one batch. `wheres` are the texts of its subscriptions."""

    segment: Segment
    wheres: TextColumn
    encoded: EncodedBatch
    reading: Callable[[int], Reading]

    def __call__(self, entry: Array, row: Array) -> Array:
        """Whether entry[i] holds of row[i], for each i."""
        member = self.segment.entry_member[entry]
        whole = (self.segment.member_shared[member] != 0) | np.isin(row, self._inexact_rows())
        holds = np.ones(len(entry), np.bool_)
        some = np.flatnonzero(whole)
        holds[some] = self._asked(member[some], row[some], lambda number: expression_of(self.wheres[number]))
        some, check = self._opaque(entry, np.flatnonzero(~whole))
        holds[some[~self._asked(check, row[some], self._term)]] = False
        return holds

    def _inexact_rows(self) -> Array:
        inexact = np.flatnonzero(self.encoded.flags & INEXACT)
        return np.unique(np.searchsorted(self.encoded.starts, inexact, side="right") - 1)

    def _opaque(self, entry: Array, some: Array) -> tuple[Array, Array]:
        """The opaque checks of some of the entries, each with the place of its entry among all."""
        first = self.segment.entry_checks[entry[some]]
        sizes = self.segment.entry_checks[entry[some] + 1] - first
        check = self.segment.entry_check[places_in(first, sizes)]
        opaque = self._columns(check).operation == layout.OPAQUE
        return np.repeat(some, sizes)[opaque], check[opaque]

    def _term(self, check: int) -> Expression:
        columns = self._columns(np.array([check]))
        number, start = int(columns.a[0]), self.segment.text_start
        term = expression_of(self.segment.text_data[start[number] : start[number + 1]].tobytes().decode())
        return negation(term) if columns.flags[0] & layout.NEGATED else term

    def _columns(self, check: Array) -> layout.CheckColumns:
        return layout.check_columns(self.segment.check_rows.reshape(-1, 4)[check])

    def _asked(self, number: Array, row: Array, expression: Callable[[int], Expression]) -> Array:
        """Whether the expression of that number is true of that row: every pair once."""
        span = int(number.max(initial=0)) + 1
        pairs, at = np.unique(row * span + number, return_inverse=True)
        truths = [truth(expression(pair % span), self.reading(pair // span)) is True for pair in pairs.tolist()]
        return np.array(truths, np.bool_)[at]
