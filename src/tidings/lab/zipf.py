"""Zipf popularity: the item of rank i is drawn in proportion to i ** -skew; skew 0 is uniform (paper 1, note 5)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


def shares(items: int, skew: float) -> NDArray[np.float64]:
    """How often each item is drawn, the most popular one first; together 1."""
    weights: NDArray[np.float64] = np.arange(1, items + 1, dtype=np.float64) ** -skew
    total: NDArray[np.float64] = weights / weights.sum()
    return total


def draw(items: int, skew: float, count: int, random: Generator) -> NDArray[np.int64]:
    """`count` items, from 0 (the most popular) to items - 1."""
    ends = np.cumsum(shares(items, skew))
    found: NDArray[np.int64] = np.searchsorted(ends, random.random(count) * ends[-1], side="right")
    found[found == items] = items - 1
    return found


def draw_attributes(attributes: int, skew: float, count: int, random: Generator) -> NDArray[np.bool_]:
    """For each of `count` records, which attributes it has: the one of rank i with probability i ** -skew.

    So a record has 1 to `attributes` of them, all of them where nothing is skewed, and fewer the more it is: popularity
    determines the number of attributes, as both papers say. How exactly it does they do not say; this is our choice.
    """
    chances = np.arange(1, attributes + 1, dtype=np.float64) ** -skew
    return random.random((count, attributes)) < chances
