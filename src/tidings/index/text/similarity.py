"""Similarity by words: which profiles are similar to a text, by an inverted index of their heaviest words.

The law: a profile is found exactly when the rounded cosine of `analysis.cosine` reaches its threshold. The kernel
(`similarity_kernels`) finds candidates and computes; whatever comes out near a threshold is computed once more by the
definition's own function, from the same weights. Arrays are described in `ProfileArrays`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tidings.analysis.cosine import cosine_of_products, frequency_weight, sum_of_squares
from tidings.analysis.statistics import TextStatistics, rarity
from tidings.analysis.words import Analyser
from tidings.index.facts import Facts, Texts
from tidings.index.layout import Array
from tidings.index.runs import places_in
from tidings.index.text.dictionary import Dictionary
from tidings.index.text.exact_cosines import ByDefinition
from tidings.index.text.similarity_building import check_profiles, profile_arrays, reaches
from tidings.index.text.similarity_counting import Counted, counted
from tidings.index.text.similarity_kernels import LARGEST, NEAR, FoundSimilar, ProfileArrays, Room, find_similar
from tidings.index.text.words import Reader
from tidings.index.views import directory
from tidings.model.predicates import Similarity

_ROOM = 2**16  # for findings, beyond those of one text
_HALF_BIT = 2.0**-52  # what float64 may lose in one step, of numbers up to 1; twice that of rounding to nearest
_STEPS = 16  # beside one for each word of a profile


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

    def cosines(self, texts: Texts, text: Array, profile: Array) -> Array:
        """Those of pairs of a text and a profile, as the definition rounds them; pairs of one text stand together."""
        words = self._counted(texts)
        definition = self._definition(words)
        found, ends = np.empty(len(text)), np.flatnonzero(np.diff(text, append=-1)) + 1
        of_words = np.zeros(len(self._dictionary))
        for first, end in pairwise([0, *ends.tolist()]):
            here, weighed = slice(first, end), self._weighed(words, int(text[first]))
            of_words[weighed.word] = weighed.weight
            found[here] = self._computed(of_words, weighed.squares, profile[here])
            of_words[weighed.word] = 0.0
        # Products and their sum, of which no term is negative, the root and the quotient: half a bit for each step.
        error = (self._sizes(profile) + _STEPS) * _HALF_BIT
        return definition.rounded(found, error, text, profile)

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
        near = np.flatnonzero(np.abs(cosine - threshold) <= NEAR)
        self._definition(words).put(cosine, near, text, profile)
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

    def _definition(self, words: Counted) -> ByDefinition[_Weighed]:
        return ByDefinition(lambda text: self._weighed(words, text), self._cosine)

    def _cosine(self, text: _Weighed, profile: int) -> float:
        start, end = self._profiles.profile_start[profile : profile + 2]
        words, weights = self._profiles.profile_word[start:end].tolist(), self._profiles.profile_weight[start:end]
        products = (
            weight * text.weights[word]
            for word, weight in zip(words, weights.tolist(), strict=True)
            if word in text.weights
        )
        return cosine_of_products(products, float(self._profiles.squares[profile]), text.squares)

    def _weighed(self, words: Counted, text: int) -> _Weighed:
        start, end = words.start[text : text + 2]
        word, times = words.word[start:end], words.times[start:end].tolist()
        known = word >= 0
        idf = np.full(len(word), self._unknown_idf)
        idf[known] = self._profiles.idf[word[known]]
        weights = [frequency_weight(tf) * rarity for tf, rarity in zip(times, idf.tolist(), strict=True)]
        return _Weighed(word[known], np.array(weights)[known], sum_of_squares(weights))

    def _sizes(self, profile: Array) -> Array:
        """How many words profiles have."""
        sizes: Array = self._profiles.profile_start[profile + 1] - self._profiles.profile_start[profile]
        return sizes

    def _computed(self, of_words: Array, squares: float, profile: Array) -> Array:
        """The cosines of profiles with a text, whose words have these weights, in float64."""
        first, sizes = self._profiles.profile_start[profile], self._sizes(profile)
        places = places_in(first, sizes)
        products = of_words[self._profiles.profile_word[places]] * self._profiles.profile_weight[places]
        sums = np.bincount(np.repeat(np.arange(len(profile)), sizes), products, len(profile))
        lengths = np.sqrt(self._profiles.squares[profile] * squares)
        return np.divide(sums, lengths, out=np.zeros(len(profile)), where=lengths > 0.0)


class _Weighed:
    """What the definition knows of a text: the weights of the words that have a number, and the sum of all squares."""

    def __init__(self, word: Array, weight: Array, squares: float) -> None:
        self.word = word
        self.weight = weight
        self.squares = squares

    @cached_property
    def weights(self) -> dict[int, float]:
        """By word."""
        return dict(zip(self.word.tolist(), self.weight.tolist(), strict=True))


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
