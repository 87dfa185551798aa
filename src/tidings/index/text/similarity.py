"""Similarity by words: which profiles are similar to a text, by an inverted index of their heaviest words.

The law: a profile is found exactly when the rounded cosine of `analysis.cosine` reaches its threshold. The kernel
(`similarity_kernels`) finds candidates and computes; whatever comes out near a threshold is computed once more by the
definition's own function, from the same weights. Arrays are described in `ProfileArrays`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tidings.analysis.cosine import cosine_of_products, frequency_weight, sum_of_squares
from tidings.analysis.statistics import TextStatistics, rarity
from tidings.analysis.words import Analyser
from tidings.index.facts import Facts, Texts
from tidings.index.layout import Array
from tidings.index.text.dictionary import Dictionary
from tidings.index.text.similarity_building import check_profiles, profile_arrays, reaches
from tidings.index.text.similarity_counting import Counted, counted
from tidings.index.text.similarity_kernels import LARGEST, NEAR, FoundSimilar, ProfileArrays, Room, find_similar
from tidings.index.text.words import Reader
from tidings.index.views import directory
from tidings.model.predicates import Similarity

_ROOM = 2**16  # for findings, beyond those of one text


class Scored(NamedTuple):
    """Facts with their cosines, as the definition rounds them: those of text n are start[n] : start[n + 1]."""

    start: Array  # int64, one more than there are texts
    fact: Array  # int32
    cosine: Array  # float64


class SimilarityEngine:
    """`build` makes one from questions without a model, `from_arrays` opens one. Threads may share it."""

    def __init__(self, dictionary: Dictionary, profiles: ProfileArrays, documents: Array, analyser: Analyser) -> None:
        self._dictionary = dictionary
        self._profiles = profiles
        self._documents = documents  # int64[1]: of the statistics
        self._directory = directory(profiles)
        self._reader = Reader(dictionary, analyser)
        self._unknown_idf = rarity(int(documents[0]), 0)
        self._always = np.flatnonzero(reaches(0.0, profiles.threshold, profiles.strict)).astype(np.int32)
        self._of_thread = threading.local()

    @classmethod
    def build(cls, questions: Sequence[Similarity], analyser: Analyser, statistics: TextStatistics) -> SimilarityEngine:
        """Question number n is fact number n."""
        dictionary, profiles = profile_arrays(questions, analyser, statistics)
        return cls(dictionary, profiles, np.array([statistics.documents]), analyser)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], analyser: Analyser) -> SimilarityEngine:
        """What `arrays` gave, under the analyser that it was built with."""
        profiles = ProfileArrays(*(arrays[name] for name in ProfileArrays._fields))
        return cls(Dictionary.from_arrays(arrays), profiles, arrays["documents"], analyser)

    def arrays(self) -> dict[str, Array]:
        return {**self._dictionary.arrays(), **self._profiles._asdict(), "documents": self._documents}

    def __len__(self) -> int:
        return len(self._profiles.threshold)

    def find(self, texts: Texts) -> Facts:
        """The profiles that are similar to each text, in rising order."""
        pairs = self._similar(self._counted(texts), texts)
        return Facts(pairs.start(len(texts.start)), pairs.profile)

    def scores(self, texts: Texts) -> Scored:
        """The same with their cosines."""
        words = self._counted(texts)
        pairs = self._similar(words, texts)
        exact = _Definition(self._profiles, words, self._unknown_idf)
        cosines = map(exact.cosine, pairs.text.tolist(), pairs.profile.tolist())
        cosine = np.fromiter(cosines, np.float64, len(pairs.text))
        return Scored(pairs.start(len(texts.start)), pairs.profile, cosine)

    def check(self) -> None:
        """Every invariant, that of the postings above all: what is not indexed cannot reach the threshold."""
        self._dictionary.check()
        check_profiles(self._profiles, len(self._dictionary))

    def _counted(self, texts: Texts) -> Counted:
        return counted(self._reader.read(texts), self._room()[1])

    def _room(self) -> tuple[Room, Array]:
        """This thread's scratch, and where it counts words."""
        kept: tuple[Room, Array] | None = getattr(self._of_thread, "room", None)
        if kept is None:
            words, profiles = len(self._dictionary), len(self)
            room = Room(
                np.zeros(words),
                np.zeros(profiles, np.float32),
                np.empty(profiles + 1, np.int32),
                np.empty(LARGEST + 1, np.float32),
            )
            kept = self._of_thread.room = (room, np.zeros(words, np.int32))
        return kept

    def _similar(self, words: Counted, texts: Texts) -> Pairs:
        """Texts and the profiles that are similar to them, in order."""
        text, profile, cosine = self._candidates(words)
        threshold, strict = self._profiles.threshold[profile], self._profiles.strict[profile]
        exact = _Definition(self._profiles, words, self._unknown_idf)
        for at in np.flatnonzero(np.abs(cosine - threshold) <= NEAR).tolist():
            cosine[at] = exact.cosine(int(text[at]), int(profile[at]))
        similar = reaches(cosine, threshold, strict)
        read = np.flatnonzero(~texts.raw)
        return Pairs.sorted(
            np.concatenate([text[similar], np.repeat(read, len(self._always))]),
            np.concatenate([profile[similar], np.tile(self._always, len(read))]),
        )

    def _candidates(self, words: Counted) -> tuple[Array, Array, Array]:
        """Text, profile and computed cosine of all that reach their threshold, or nearly so, text after text."""
        size = len(self) + _ROOM
        texts, text = len(words.start) - 1, 0
        found = FoundSimilar(np.zeros(texts, np.int64), np.empty(size, np.int32), np.empty(size))
        room, _ = self._room()
        to_words, to_room, to_found = directory(words), directory(room), directory(found)
        parts = [(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))]
        while text < texts:
            stop = find_similar(self._directory, to_words, text, to_room, to_found, self._unknown_idf)
            counts, used = np.diff(found.end[text:stop], prepend=0), int(found.end[stop - 1])
            of = np.repeat(np.arange(text, stop), counts)
            parts.append((of, found.profile[:used].copy(), found.cosine[:used].copy()))
            text = stop
        of, profile, cosine = (np.concatenate(column) for column in zip(*parts, strict=True))
        return of, profile, cosine


class Pairs(NamedTuple):
    """Texts and profiles that are similar to each other."""

    text: Array  # int64, rising
    profile: Array  # int32, rising in each text

    @classmethod
    def sorted(cls, text: Array, profile: Array) -> Pairs:
        order = np.lexsort((profile, text))
        return cls(text[order], profile[order])

    def start(self, texts: int) -> Array:
        return np.searchsorted(self.text, np.arange(texts + 1))


class _Definition:
    """Cosines by the definition's own function. Keeps the vector of the text that was asked for last."""

    def __init__(self, profiles: ProfileArrays, words: Counted, unknown_idf: float) -> None:
        self._profiles = profiles
        self._words = words
        self._unknown_idf = unknown_idf
        self._text = -1
        self._weights: dict[int, float] = {}
        self._squares = 0.0

    def cosine(self, text: int, profile: int) -> float:
        if text != self._text:
            self._take(text)
        start, end = self._profiles.profile_start[profile : profile + 2]
        words, weights = self._profiles.profile_word[start:end].tolist(), self._profiles.profile_weight[start:end]
        products = (
            weight * self._weights[word]
            for word, weight in zip(words, weights.tolist(), strict=True)
            if word in self._weights
        )
        return cosine_of_products(products, float(self._profiles.squares[profile]), self._squares)

    def _take(self, text: int) -> None:
        start, end = self._words.start[text : text + 2]
        words, times = self._words.word[start:end], self._words.times[start:end].tolist()
        idf = np.full(len(words), self._unknown_idf)
        idf[words >= 0] = self._profiles.idf[words[words >= 0]]
        weights = [frequency_weight(tf) * rarity for tf, rarity in zip(times, idf.tolist(), strict=True)]
        self._text, self._squares = text, sum_of_squares(weights)
        self._weights = {word: weight for word, weight in zip(words.tolist(), weights, strict=True) if word >= 0}
