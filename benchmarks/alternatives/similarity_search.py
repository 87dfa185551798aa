"""Similarity without tidings: all cosines of a block of documents with all profiles, by scipy's sparse products.

Vectors are made beforehand and are no part of the time. Two ways: the documents as a sparse matrix, which gives a
sparse block, and the documents as a dense one, which gives a dense block. Every cosine is then compared with the
threshold. In a latent space the vectors are dense, and one product of numpy is all there is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse  # type: ignore[import-untyped]  # without type information

from tidings.analysis.cosine import DECIMALS
from tidings.analysis.latent import LatentSpace
from tidings.analysis.statistics import TextStatistics
from tidings.analysis.words import Analyser

SPARSE_BLOCK, DENSE_BLOCK = 25, 32  # documents; the fastest of 25, 100 and 400, and of 8, 16, 32, 64 and 128

Array = np.ndarray[Any, np.dtype[Any]]


class Products:
    """Unit vectors of profiles and documents, over the words that either has."""

    def __init__(
        self, profiles: Sequence[str], documents: Sequence[str], analyser: Analyser, statistics: TextStatistics
    ) -> None:
        numbers: dict[str, int] = {}
        parts = [_unit_vectors(texts, numbers, analyser, statistics) for texts in (profiles, documents)]
        self._profiles, self._documents = (
            sparse.csr_matrix((weight, word, start), shape=(len(start) - 1, len(numbers)))
            for start, word, weight in parts
        )
        self._profiles_by_word = self._profiles.T.tocsr()

    def by_sparse_blocks(self, threshold: float) -> Array:
        """How many profiles reach the threshold, for each document."""
        counts = []
        for block in _blocks(self._documents, SPARSE_BLOCK):
            cosines = block @ self._profiles_by_word
            reached = np.round(cosines.data, DECIMALS) >= threshold
            counts.append(np.bincount(_rows(cosines)[reached], minlength=block.shape[0]))
        return np.concatenate(counts)

    def by_dense_blocks(self, threshold: float) -> Array:
        counts = []
        for block in _blocks(self._documents, DENSE_BLOCK):
            cosines = self._profiles @ np.ascontiguousarray(block.toarray().T)
            counts.append((cosines >= threshold - 0.5 * 10.0**-DECIMALS).sum(axis=0))
        return np.concatenate(counts)


def unit_places(texts: Sequence[str], analyser: Analyser, space: LatentSpace) -> Array:
    """The places of texts in a latent space, one a row, with the length 1, or 0 where a text has none of its terms."""
    numbers = dict(space.numbers)
    start, word, weight = _unit_vectors(texts, numbers, analyser, space.statistics)
    vectors = sparse.csr_matrix((weight, word, start), shape=(len(texts), len(numbers)))
    places = vectors[:, : len(space.terms)] @ space.matrix.reshape(-1, space.dimensions).astype(np.float64)
    lengths = np.linalg.norm(places, axis=1, keepdims=True)
    return np.asarray(np.divide(places, lengths, out=np.zeros_like(places), where=lengths > 0))


def reached(places: Array, profiles: Array, threshold: float, block: int) -> Array:
    """How many profiles reach the threshold, for each document, by the product of so many documents at a time."""
    least = threshold - 0.5 * 10.0**-DECIMALS
    counts = [((places[at : at + block] @ profiles.T) >= least).sum(axis=1) for at in range(0, len(places), block)]
    return np.concatenate(counts)


def bare_products(places: Array, profiles: Array, block: int, profiles_of_a_block: int) -> Array:
    """All cosines, each block written over the one before and looked at by nobody: the least that can be done. Gives
    the last block."""
    room = np.empty((block, profiles_of_a_block), np.float32)
    for at in range(0, len(places), block):
        here = places[at : at + block]
        for first in range(0, len(profiles), profiles_of_a_block):
            against = profiles[first : first + profiles_of_a_block].T
            last = room[: len(here), : against.shape[1]]
            np.matmul(here, against, out=last)
    return last


def _unit_vectors(
    texts: Sequence[str], numbers: dict[str, int], analyser: Analyser, statistics: TextStatistics
) -> tuple[Array, Array, Array]:
    """Where each text begins, its words and their weights. Words without a number get the next."""
    start, words, weights = [0], [], []
    for text in texts:
        counts = Counter(word.text for word in analyser.words(text))
        row = [(1.0 + math.log(count)) * statistics.idf(word) for word, count in counts.items()]
        length = math.sqrt(math.fsum(weight * weight for weight in row))
        words += [numbers.setdefault(word, len(numbers)) for word in counts]
        weights += [weight / length for weight in row]
        start.append(len(words))
    return np.array(start), np.array(words, np.int32), np.array(weights)


def _blocks(matrix: Any, rows: int) -> Iterator[Any]:
    for first in range(0, matrix.shape[0], rows):
        yield matrix[first : first + rows]


def _rows(matrix: Any) -> Array:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
