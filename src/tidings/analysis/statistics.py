"""How common words are: the number of documents, and in how many of them each word occurs.

Similarity weighs words by these. Statistics are explicit values, given or learned from a sample; the same statistics
give the same weights everywhere. They name the analyser that made the words, and fit no other: under that one the
words would be others, and all of them unheard of. Those of two samples that share no document are added.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tidings.analysis.words import Analyser, AnalyserVersion
from tidings.errors import SettingError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_ANY = AnalyserVersion("", "")  # in arrays, in place of none: no analyser has an empty name
MOST_DOCUMENTS = 2**63 - 1  # an int64, so that every store of statistics can hold it


@dataclass(frozen=True, slots=True)
class TextStatistics:
    """Of `documents` documents, `document_frequency[word]` hold the word; a word that is not named is in none.

    The words are those of `analyser`; only statistics of no document have none, and fit any.
    """

    documents: int
    document_frequency: Mapping[str, int]
    analyser: AnalyserVersion | None = None

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

        if not self.documents:  # then every word is as rare as the next, whoever makes it
            object.__setattr__(self, "analyser", None)
        elif self.analyser is None:
            raise SettingError(
                "text statistics name the analyser that made their words, and these name none; "
                "give tidings.AnalyserVersion.of(analyser), or count them with tidings.analysis.statistics.learn"
            )

    def check_analyser(self, analyser: Analyser) -> None:
        """Refuses another analyser than that of the words."""
        if self.analyser is not None:
            self.analyser.must_be_of(analyser, "the text statistics were counted", "count them")

    def idf(self, word: str) -> float:
        """The weight of a word for its rarity."""
        return rarity(self.documents, self.document_frequency.get(word, 0))

    def __add__(self, other: TextStatistics) -> TextStatistics:
        """The statistics of both samples together. Both were read with one analyser."""
        if not isinstance(other, TextStatistics):
            return NotImplemented
        if self.analyser is not None and other.analyser is not None and self.analyser != other.analyser:
            (one, its), (another, theirs) = self.analyser, other.analyser
            raise SettingError(
                f"text statistics counted with version {its} of the analyser {one!r} cannot be added to those of "
                f"version {theirs} of {another!r}; count both samples with one"
            )
        frequency = Counter(self.document_frequency)
        frequency.update(other.document_frequency)
        return TextStatistics(self.documents + other.documents, dict(frequency), self.analyser or other.analyser)

    def arrays(self) -> dict[str, Array]:
        """As flat arrays, words in order."""
        import numpy as np

        words = sorted(self.document_frequency)
        data, start = joined_words(words)
        return {
            "documents": np.array([self.documents], np.int64),
            "word_data": data,
            "word_start": start,
            "document_frequency": np.array([self.document_frequency[word] for word in words], np.int64),
            **analyser_arrays(self.analyser or _ANY),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> TextStatistics:
        """The statistics that `arrays` wrote."""
        stored = stored_analyser(arrays)
        words = separate_words(arrays["word_data"], arrays["word_start"])
        frequency = dict(zip(words, arrays["document_frequency"].tolist(), strict=True))
        return cls(int(arrays["documents"][0]), frequency, None if stored == _ANY else stored)

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it, words in order, so that equal statistics are equal text."""
        return {
            "analyser": None if self.analyser is None else self.analyser._asdict(),
            "documents": self.documents,
            "document_frequency": dict(sorted(self.document_frequency.items())),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> TextStatistics:
        """The statistics that `to_dict` wrote; SettingError for anything else."""
        match stored:
            case {
                "analyser": None | {"name": str(), "version": str()} as analyser,
                "documents": documents,
                "document_frequency": Mapping() as frequency,
                **rest,
            } if not rest:
                made_by = None if analyser is None else AnalyserVersion(analyser["name"], analyser["version"])
                return cls(documents, dict(frequency), made_by)
        raise SettingError(
            "text statistics are a mapping of exactly 'analyser' to its 'name' and 'version' or null, 'documents' to a "
            f"number and 'document_frequency' to a mapping of words to numbers; {_described(stored)} was given"
        )


def learn(texts: Iterable[str], analyser: Analyser) -> TextStatistics:
    """The statistics of a sample of texts, each one document."""
    documents = 0
    frequency: Counter[str] = Counter()
    for text in texts:
        documents += 1
        frequency.update({word.text for word in analyser.words(text)})
    return TextStatistics(documents, dict(frequency), AnalyserVersion.of(analyser))


def rarity(documents: int, frequency: int) -> float:
    """The weight of every word in so many of the documents: ln((1 + N) / (1 + df)) + 1, which is never below 1."""
    return math.log((1 + documents) / (1 + frequency)) + 1.0


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


def analyser_arrays(analyser: AnalyserVersion) -> dict[str, Array]:
    """The name and the version of an analyser as arrays."""
    return {"analyser": _as_bytes(analyser.name), "analyser_version": _as_bytes(analyser.version)}


def stored_analyser(arrays: Mapping[str, Array]) -> AnalyserVersion:
    """The same again."""
    return AnalyserVersion(arrays["analyser"].tobytes().decode(), arrays["analyser_version"].tobytes().decode())


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
