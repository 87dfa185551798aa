"""How common words are: the number of documents, and in how many of them each word occurs.

Similarity weighs words by these. Statistics are explicit values, given or learned from a sample, and belong to the
analyser that made the words; the same statistics give the same weights everywhere. Those of two samples that share no
document are added. In a file they are flat arrays, which name the analyser too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tidings.analysis.words import Analyser
from tidings.errors import SettingError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

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
        """The weight of a word for its rarity."""
        return self.rarity(self.document_frequency.get(word, 0))

    def rarity(self, frequency: int) -> float:
        """That of every word in so many documents: ln((1 + N) / (1 + df)) + 1, which is never below 1."""
        return math.log((1 + self.documents) / (1 + frequency)) + 1.0

    def __add__(self, other: TextStatistics) -> TextStatistics:
        """The statistics of both samples together. Both must have been read with one analyser."""
        if not isinstance(other, TextStatistics):
            return NotImplemented
        frequency = Counter(self.document_frequency)
        frequency.update(other.document_frequency)
        return TextStatistics(self.documents + other.documents, dict(frequency))

    def arrays(self, analyser: str, version: str) -> dict[str, Array]:
        """As flat arrays, words in order, with the name and version of the analyser that made the words."""
        import numpy as np

        words = sorted(self.document_frequency)
        data, start = joined_words(words)
        return {
            "documents": np.array([self.documents], np.int64),
            "word_data": data,
            "word_start": start,
            "document_frequency": np.array([self.document_frequency[word] for word in words], np.int64),
            "analyser": _as_bytes(analyser),
            "analyser_version": _as_bytes(version),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], analyser: Analyser | None = None) -> TextStatistics:
        """The statistics that `arrays` wrote; with another analyser than the one given, a SettingError."""
        stored = stored_analyser(arrays)
        if analyser is not None and stored != (analyser.name, analyser.version):
            raise SettingError(
                f"the text statistics were made with version {stored[1]} of the analyser {stored[0]!r}, and version "
                f"{analyser.version} of {analyser.name!r} is in use; make them anew with this one"
            )
        words = separate_words(arrays["word_data"], arrays["word_start"])
        frequency = dict(zip(words, arrays["document_frequency"].tolist(), strict=True))
        return cls(int(arrays["documents"][0]), frequency)

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


def joined_words(words: Sequence[str]) -> tuple[Array, Array]:
    """The words as bytes, one after the other, and where each begins; the last number is where all end."""
    import numpy as np

    # One's own analyser may make words with half of a surrogate pair, which strict UTF-8 does not have.
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    start = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(word) for word in encoded], out=start[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), start


def separate_words(data: Array, start: Array) -> list[str]:
    """The words that were joined."""
    joined, ends = data.tobytes(), start.tolist()
    return [joined[first:end].decode("utf-8", "surrogatepass") for first, end in pairwise(ends)]


def stored_analyser(arrays: Mapping[str, Array]) -> tuple[str, str]:
    """The name and the version of the analyser whose words the statistics in the arrays are of."""
    return arrays["analyser"].tobytes().decode(), arrays["analyser_version"].tobytes().decode()


def _as_bytes(text: str) -> Array:
    import numpy as np

    return np.frombuffer(text.encode(), np.uint8)


def _is_word(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_DOCUMENTS


def _described(stored: object) -> str:
    if isinstance(stored, Mapping):
        return f"a mapping with the keys {sorted(map(str, stored))}"
    return f"a {type(stored).__name__}"


NO_STATISTICS = TextStatistics(0, {})  # every idf is ln(1 / 1) + 1 = 1
