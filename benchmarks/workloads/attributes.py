"""The synthetic workload of section 6.1 of the paper on the matching tree over Brushwood: records without a schema.

A subscription has 1 to 10 predicates, an event 1 to 20 of 1,000 numeric attributes; operators and the values 0 to 999
are drawn uniformly, attributes uniformly or by a Zipf distribution. The predicates of a subscription draw their
attributes independently, as the paper says, so an attribute may be asked twice, and some subscriptions can never
match. An event has each attribute once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

ATTRIBUTES, VALUES = 1_000, 1_000
MOST_PREDICATES, MOST_ATTRIBUTES = 10, 20
OPERATORS = ("=", "<", "<=", ">", ">=")
ZIPF = 0.8
CHUNK = 10_000  # events whose attributes are drawn at once: a random number for each attribute of each
Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Predicates:
    """All predicates, side by side, ordered by subscription: `attribute` `operator` `value`."""

    subscriptions: int
    subscription: Numbers
    attribute: Numbers
    operator: Numbers  # its place in OPERATORS
    value: Numbers

    def texts(self) -> list[str]:
        written = [
            f"a{attribute} {OPERATORS[operator]} {value}"
            for attribute, operator, value in zip(
                self.attribute.tolist(), self.operator.tolist(), self.value.tolist(), strict=True
            )
        ]
        ends = np.cumsum(np.bincount(self.subscription, minlength=self.subscriptions)).tolist()
        starts = [0, *ends[:-1]]
        return [" AND ".join(written[start:end]) for start, end in zip(starts, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class Records:
    """Events as flat arrays: those of event e lie from offsets[e] up to offsets[e + 1]."""

    offsets: Numbers
    attribute: Numbers
    value: Numbers

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def dicts(self) -> list[dict[str, int]]:
        names, values, offsets = [f"a{each}" for each in self.attribute], self.value.tolist(), self.offsets.tolist()
        return [dict(zip(names[start:end], values[start:end], strict=True)) for start, end in pairwise(offsets)]

    def table(self, start: int, end: int) -> pa.Table:
        """Events from `start` up to `end` as columns, one for each attribute, null where an event lacks it."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        chosen = slice(int(self.offsets[start]), int(self.offsets[end]))
        values = np.zeros((ATTRIBUTES, end - start), np.int64)
        absent = np.ones((ATTRIBUTES, end - start), np.bool_)
        values[self.attribute[chosen], rows[chosen] - start] = self.value[chosen]
        absent[self.attribute[chosen], rows[chosen] - start] = False
        return pa.table({f"a{each}": pa.array(values[each], mask=absent[each]) for each in range(ATTRIBUTES)})


def shares(skew: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """How likely each attribute is to be drawn: the k-th in proportion to k ** -skew; all alike for 0."""
    weights: np.ndarray[Any, np.dtype[np.float64]] = np.arange(1, ATTRIBUTES + 1, dtype=np.float64) ** -skew
    weights /= weights.sum()
    return weights


def predicates(count: int, skew: float, seed: int = 1) -> Predicates:
    chance = np.random.default_rng(seed)
    lengths = chance.integers(1, MOST_PREDICATES + 1, count)
    total = int(lengths.sum())
    return Predicates(
        count,
        np.repeat(np.arange(count), lengths),
        chance.choice(ATTRIBUTES, total, p=shares(skew)),
        chance.integers(0, len(OPERATORS), total),
        chance.integers(0, VALUES, total),
    )


def records(count: int, skew: float, seed: int = 2) -> Records:
    chance = np.random.default_rng(seed)
    lengths = chance.integers(1, MOST_ATTRIBUTES + 1, count)
    drawn = [_without_repetition(chance, skew, lengths[at : at + CHUNK]) for at in range(0, count, CHUNK)]
    attribute = np.concatenate(drawn)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return Records(offsets, attribute, chance.integers(0, VALUES, len(attribute)))


def _without_repetition(chance: np.random.Generator, skew: float, lengths: Numbers) -> Numbers:
    """For each length so many different attributes. The largest of log(share) + Gumbel noise are such a draw."""
    noisy = np.log(shares(skew)) + chance.gumbel(size=(len(lengths), ATTRIBUTES))
    best = np.argsort(-noisy, axis=1)[:, :MOST_ATTRIBUTES]
    return best[np.arange(MOST_ATTRIBUTES) < lengths[:, None]]
