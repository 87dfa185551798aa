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
    products = [profile[word] * document[word] for word in profile.keys() & document.keys()]
    return cosine_of_products(products, sum_of_squares(profile.values()), sum_of_squares(document.values()))


def cosine_of_products(products: Iterable[float], profile_squares: float, document_squares: float) -> float:
    """The same from the products of the weights of common words and both vectors' sums of squares, in any order.

    The product of both lengths is one root, so that with itself a vector has exactly its dot product.
    """
    if not profile_squares or not document_squares:
        return 0.0
    return round(math.fsum(products) / math.sqrt(profile_squares * document_squares), DECIMALS)


def sum_of_squares(weights: Iterable[float]) -> float:
    return math.fsum(weight * weight for weight in weights)


def frequency_weight(count: int) -> float:
    """What a word counts for the number of times that it is there: 1 + ln tf."""
    return 1.0 + math.log(count)


def contributions(
    profile_words: Iterable[Word], document_words: Iterable[Word], statistics: TextStatistics
) -> tuple[tuple[str, float], ...]:
    """Each word that both texts have, with its part of the cosine, largest first. The parts add up to the cosine."""
    profile, document = _weights(profile_words, statistics), _weights(document_words, statistics)
    norms = math.sqrt(sum_of_squares(profile.values()) * sum_of_squares(document.values()))
    shares = [(word, profile[word] * document[word] / norms) for word in profile.keys() & document.keys()]
    return tuple(sorted(shares, key=lambda word_and_share: (-word_and_share[1], word_and_share[0])))


def _weights(words: Iterable[Word], statistics: TextStatistics) -> dict[str, float]:
    counts = Counter(word.text for word in words)
    return {word: frequency_weight(count) * statistics.idf(word) for word, count in counts.items()}
