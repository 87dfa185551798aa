"""Runs of places in flat arrays: what belongs to a row stands side by side, and many rows are taken at once."""

from __future__ import annotations

import numpy as np

from tidings.index.layout import Array


def places_in(first: Array, sizes: Array) -> Array:
    """The places of all runs, one run after the other: run n is first[n] : first[n] + sizes[n]."""
    ends = np.cumsum(sizes)
    places: Array = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - (ends - sizes), sizes)
    return places
