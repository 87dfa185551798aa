"""How common words are: the number of documents, and in how many of them each word occurs.

Similarity weighs words by these. Statistics are explicit values, given or learned from a sample, and belong to the
analyser that made the words; the same statistics give the same weights everywhere.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tidings.analysis.words import Analyser
from tidings.errors import SettingError

MOST_DOCUMENTS = 2**63 - 1  # an int64, so that every store of statistics can hold it


@dataclass(frozen=True, slots=True)
class TextStatistics:
    """Of `documents` documents, `document_frequency[word]` hold the word; a word that is not named is in none."""

    documents: int
    document_frequency: Mapping[str, int]

    def __post_init__(self) -> None:
        if not _is_count(self.documents):
            raise SettingError(
                f"the number of documents is an integer from 0 to {MOST_DOCUMENTS}; {self.documents!r} was given"
            )
        for word, frequency in self.document_frequency.items():
            if not _is_word(word) or not _is_count(frequency) or frequency > self.documents:
                raise SettingError(
                    f"the document frequency of {word!r} is {frequency!r}; words are strings, "
                    f"and frequencies are integers from 0 to the number of documents, here {self.documents}"
                )

    def idf(self, word: str) -> float:
        """The weight of a word for its rarity: ln((1 + N) / (1 + df)) + 1, which is never below 1."""
        return math.log((1 + self.documents) / (1 + self.document_frequency.get(word, 0))) + 1.0

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it, words in order, so that equal statistics are equal text."""
        return {"documents": self.documents, "document_frequency": dict(sorted(self.document_frequency.items()))}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> TextStatistics:
        """The statistics that `to_dict` wrote; SettingError for anything else."""
        match stored:
            case {"documents": documents, "document_frequency": Mapping() as frequency, **rest} if not rest:
                return cls(documents, dict(frequency))
        raise SettingError(
            "text statistics are a mapping of exactly 'documents' to a number and 'document_frequency' to a mapping "
            f"of words to numbers; {_described(stored)} was given"
        )


def learn(texts: Iterable[str], analyser: Analyser) -> TextStatistics:
    """The statistics of a sample of texts, each one document."""
    documents = 0
    frequency: Counter[str] = Counter()
    for text in texts:
        documents += 1
        frequency.update({word.text for word in analyser.words(text)})
    return TextStatistics(documents, dict(frequency))


def _is_word(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_DOCUMENTS


def _described(stored: object) -> str:
    if isinstance(stored, Mapping):
        return f"a mapping with the keys {sorted(map(str, stored))}"
    return f"a {type(stored).__name__}"


NO_STATISTICS = TextStatistics(0, {})  # every idf is ln(1 / 1) + 1 = 1
