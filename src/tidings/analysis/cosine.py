"""Similarity of two texts: the cosine of their tf-idf vectors, with weights (1 + ln tf) * idf.

The result is rounded to 12 decimals. Implementations that add in another order differ in the last few bits; rounded,
they agree at every threshold that people write, such as 0.5 and 1, and a text is exactly 1 similar to itself.
math.fsum adds without error, so that here the order of the words cannot matter even before rounding.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from tidings.analysis.statistics import TextStatistics
from tidings.analysis.words import Word

DECIMALS = 12


def cosine(profile_words: Iterable[Word], document_words: Iterable[Word], statistics: TextStatistics) -> float:
    """From 0.0 (no word in common, or a text without words) to 1.0 (the same words in the same proportions)."""
    profile, document = _weights(profile_words, statistics), _weights(document_words, statistics)
    if not profile or not document:
        return 0.0
    dot = math.fsum(profile[word] * document[word] for word in profile.keys() & document.keys())
    return round(dot / _norms(profile, document), DECIMALS)


def contributions(
    profile_words: Iterable[Word], document_words: Iterable[Word], statistics: TextStatistics
) -> tuple[tuple[str, float], ...]:
    """Each word that both texts have, with its part of the cosine, largest first. The parts add up to the cosine."""
    profile, document = _weights(profile_words, statistics), _weights(document_words, statistics)
    common = profile.keys() & document.keys()
    shares = [(word, profile[word] * document[word] / _norms(profile, document)) for word in common]
    return tuple(sorted(shares, key=lambda word_and_share: (-word_and_share[1], word_and_share[0])))


def _weights(words: Iterable[Word], statistics: TextStatistics) -> dict[str, float]:
    counts = Counter(word.text for word in words)
    return {word: (1.0 + math.log(count)) * statistics.idf(word) for word, count in counts.items()}


def _norms(profile: dict[str, float], document: dict[str, float]) -> float:
    """The product of both vectors' lengths; as one root, so that with itself a vector has exactly its dot product."""
    return math.sqrt(_squares(profile) * _squares(document))


def _squares(weights: dict[str, float]) -> float:
    return math.fsum(weight * weight for weight in weights.values())
