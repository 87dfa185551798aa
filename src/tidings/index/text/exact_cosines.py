"""Cosines exactly as the definition rounds them, for both engines of similarity, mostly without asking it.

A computed cosine that errs little tells the rounded one for certain, unless it lies near the middle between two; and
whether a threshold is reached, unless it lies near that. What is left is computed by the definition's own function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from tidings.analysis.cosine import DECIMALS
from tidings.index.layout import Array

T = TypeVar("T")
_UNITS = 10.0**DECIMALS
_OF_SCALING = 1e-3  # of a unit: more than is lost in counting a cosine in units


class ByDefinition(Generic[T]):
    """`read` takes a text by its number, `cosine` the text and the number of a profile; a text is kept while it is the
    one that is asked for."""

    def __init__(self, read: Callable[[int], T], cosine: Callable[[T, int], float]) -> None:
        self._read = read
        self._cosine = cosine

    def put(self, cosine: Array, places: Array, text: Array, profile: Array) -> None:
        """Writes the cosines of some of these pairs of text and profile; pairs of one text stand together."""
        before = -1
        for place, number, asked in zip(places.tolist(), text[places].tolist(), profile[places].tolist(), strict=True):
            if number != before:
                taken, before = self._read(number), number
            cosine[place] = self._cosine(taken, asked)

    def rounded(self, cosine: Array, error: Array, text: Array, profile: Array) -> Array:
        """Cosines of pairs, which were computed with no more than these errors, as the definition rounds them."""
        units = cosine * _UNITS
        found = np.rint(units) / _UNITS
        to_the_middle = np.abs(units - np.floor(units) - 0.5)
        self.put(found, np.flatnonzero(to_the_middle <= error * _UNITS + _OF_SCALING), text, profile)
        return found
