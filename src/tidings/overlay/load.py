"""How evenly a load is spread over nodes: the figures that the papers give of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidings.errors import SettingError


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """Of the loads of all nodes, those without any too. Where there is no load at all, it is even: zeros and a one.

    `sd` is that of a whole population, `cv` is sd over mean, `gini` is 0 where all carry the same and near 1 where one
    carries all.
    """

    nodes: int
    total: float
    mean: float
    sd: float
    cv: float
    most: float
    most_over_mean: float
    gini: float

    @classmethod
    def of(cls, loads: Iterable[float]) -> LoadSummary:
        array = _ascending(loads)
        count, total = len(array), float(array.sum())
        mean, sd, most = total / count, float(array.std()), float(array[-1])
        if total == 0:
            return cls(count, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
        ranks = np.arange(1, count + 1)
        gini = float((2 * ranks - count - 1) @ array) / (count * total)
        return cls(count, total, mean, sd, sd / mean, most, most / mean, gini)


def cumulative_curve(loads: Iterable[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The share of nodes, the most loaded first, and the share of the load that they carry; both from 0 to 1."""
    array = _ascending(loads)[::-1]
    carried = np.concatenate(([0.0], np.cumsum(array)))
    shares = np.arange(len(array) + 1) / len(array)
    return shares, carried / carried[-1] if carried[-1] else shares


def _ascending(loads: Iterable[float]) -> NDArray[np.float64]:
    array = np.sort(np.fromiter(loads, dtype=np.float64))
    if not len(array) or array[0] < 0 or not np.isfinite(array[-1]):
        raise SettingError(f"{len(array)} loads cannot be summed up: there must be some, finite and not below 0")
    return array
