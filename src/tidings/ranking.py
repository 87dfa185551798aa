"""Matches by how similar they are: the scores of a batch of events, put in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tidings.batches import EventBatch, repeated_ids
from tidings.errors import SettingError
from tidings.index.answers import Scores
from tidings.index.columns import IdColumn
from tidings.index.layout import Array
from tidings.model.event import Identifier
from tidings.model.predicates import Expression
from tidings.reference import Reading, score

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Events by their rows, and for each of them subscriptions, the highest score first."""

    row: Array
    subscription: pyarrow.Array
    score: Array

    @classmethod
    def of(cls, found: Sequence[tuple[IdColumn, Scores]], most: int | None) -> Ranking:
        """From what all have found; of each event so many, or all of them."""
        import pyarrow as pa

        if not found:
            return cls(np.zeros(0, np.int64), pa.array([], pa.int64()), np.zeros(0))
        rows, _, scores = (np.concatenate(column) for column in zip(*(each for _, each in found), strict=True))
        order = np.lexsort((-scores, rows))
        rows = rows[order]
        if most is not None:
            chosen = np.arange(len(rows)) - np.searchsorted(rows, rows) < most
            order, rows = order[chosen], rows[chosen]
        ids = pa.concat_arrays([ids.arrow().take(pa.array(each.number)) for ids, each in found])
        return cls(rows, ids.take(pa.array(order)), scores[order])

    def pairs(self) -> list[tuple[Identifier, float]]:
        return list(zip(self.subscription.to_pylist(), self.score.tolist(), strict=True))

    def table(self, batch: EventBatch) -> pyarrow.Table:
        """One row per match: `event`, `subscription`, `score`."""
        import pyarrow as pa

        ids, texts = self.subscription, not pa.types.is_integer(self.subscription.type)
        columns = {
            "event": repeated_ids(batch, np.bincount(self.row, minlength=len(batch))),
            "subscription": ids.dictionary_encode() if texts else ids,
            "score": self.score,
        }
        return pa.table(columns)


def scores_one_by_one(wheres: Sequence[Expression], readings: Iterable[Reading]) -> Scores:
    """Those of some subscriptions with each event, by the reference."""
    found = [
        (row, number, similar)
        for row, reading in enumerate(readings)
        for number, where in enumerate(wheres)
        if (similar := score(where, reading)) is not None
    ]
    rows, numbers, scores = ([each[column] for each in found] for column in range(3))
    return Scores(np.array(rows, np.int64), np.array(numbers, np.int64), np.array(scores, np.float64))


def check_most(most: int | None) -> None:
    if most is not None and most < 1:
        raise SettingError(f"most is a number of subscriptions, 1 or more, or None for all, not {most}")
