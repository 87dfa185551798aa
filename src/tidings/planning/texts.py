"""The share of texts that satisfy a pattern, or are similar to a profile, from how many documents have each word.

Words of one text go together, so that a product of shares would promise too much: of an AND, a phrase or a chain the
share is that of its rarest word, and of an OR the sum. Without statistics of texts every word is as rare as the next,
unless subscriptions ask little else (`AttributeStatistics.patterns`). What is learned of a term is kept, because the
same few are in most patterns.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cached_property
from itertools import accumulate

from tidings.analysis.cosine import frequency_weight
from tidings.analysis.statistics import NO_STATISTICS, TextStatistics
from tidings.analysis.words import SIMPLE, Analyser
from tidings.model.predicates import Operator, Similarity
from tidings.model.text import AllOf, AnyOf, Not, Terms, TextPattern

DEFAULT_TEXT_SHARE = 0.05
_UNHEARD = 0.5  # documents that have a word which no document of the statistics has
_AFTER_ALL = "\U0010ffff"


class TextShares:
    """Estimates by the statistics that an index has, if it has any, and its analyser."""

    def __init__(self, analyser: Analyser = SIMPLE, statistics: TextStatistics = NO_STATISTICS) -> None:
        self._analyser = analyser
        self._statistics = statistics
        self._of_term: dict[tuple[str, bool], float] = {}

    def of_pattern(self, pattern: TextPattern, asked: int = 0) -> float:
        """Of texts that are asked for so many different patterns; 0 where that is not known."""
        match pattern:
            case Terms(terms, _, prefixes):
                if not self._statistics.documents:
                    return max(DEFAULT_TEXT_SHARE, 1.0 / asked) if asked else DEFAULT_TEXT_SHARE
                return min(self._share(term, number in prefixes) for number, term in enumerate(terms))
            case AllOf(parts):
                return min(self.of_pattern(part, asked) for part in parts)
            case AnyOf(parts):
                return min(1.0, sum(self.of_pattern(part, asked) for part in parts))
            case Not(part):  # that little is asked says that words may be common, not that they are
                return 1.0 - self.of_pattern(part)

    def of_similarity(self, asked: Similarity) -> float:
        """Of the texts with one of a profile's rarest words: those without which the others are too short a vector to
        reach the threshold. These are more than are similar, and the fewer the higher the threshold."""
        if asked.operator is Operator.GREATER_OR_EQUAL and asked.threshold <= 0.0 and asked.model is None:
            return 1.0
        if asked.model is not None or not self._statistics.documents:
            return DEFAULT_TEXT_SHARE
        counts = Counter(word.text for word in self._analyser.words(asked.profile))
        squares = {
            word: (frequency_weight(times) * self._statistics.idf(word)) ** 2
            for word, times in sorted(counts.items(), key=lambda each: self._of_word(each[0]))
        }
        rest = sum(squares.values())
        least, share = asked.threshold**2 * rest, 0.0
        for word, square in squares.items():
            if rest < least:
                break
            share, rest = share + self._of_word(word), rest - square
        return min(1.0, share)

    def _share(self, term: str, is_prefix: bool) -> float:
        """Of a term of a pattern, which may be several words."""
        found = self._of_term.get((term, is_prefix))
        if found is None:
            *words, last = [word.text for word in self._analyser.words(term)] or [""]
            end = self._of_prefix(last) if is_prefix else self._of_word(last)
            found = self._of_term[term, is_prefix] = min([end, *map(self._of_word, words)])
        return found

    def _of_word(self, word: str) -> float:
        return (self._statistics.document_frequency.get(word) or _UNHEARD) / self._statistics.documents

    def _of_prefix(self, prefix: str) -> float:
        words, before = self._in_order
        first, end = bisect_left(words, prefix), bisect_left(words, prefix + _AFTER_ALL)
        return min(1.0, max(_UNHEARD, before[end] - before[first]) / self._statistics.documents)

    @cached_property
    def _in_order(self) -> tuple[list[str], list[int]]:
        """All words in order, and how many documents those before each of them have together."""
        frequency = self._statistics.document_frequency
        words = sorted(frequency)
        return words, list(accumulate(map(frequency.__getitem__, words), initial=0))
