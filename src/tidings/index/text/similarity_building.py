"""From questions of similarity to arrays: vectors of profiles, and posting lists of as few of their words as will do.

With vectors of length 1, the part of a profile that is not indexed adds at most its own length to a cosine. So the
most common words are left out as long as they are together shorter than the threshold: a document that shares none but
these is not similar enough. The rarest words, which stay, are the heaviest, and theirs are the short lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tidings.analysis.cosine import frequency_weight, sum_of_squares
from tidings.analysis.statistics import TextStatistics, rarity
from tidings.analysis.words import Analyser
from tidings.index.layout import Array
from tidings.index.text.dictionary import Dictionary, encoded
from tidings.index.text.reading_kernels import AS_IT_STANDS, number_words
from tidings.index.text.similarity_counting import Counted, counted
from tidings.index.text.similarity_kernels import LARGEST, NEAR, ProfileArrays
from tidings.index.text.words import Reader, texts_of
from tidings.index.views import directory
from tidings.model.predicates import Operator, Similarity

_HALF_BIT = 2.0**-23  # what float32 may lose in one step, of numbers up to 1; twice that of rounding to nearest
_STEPS = 16  # beside one for each word


def reaches(cosine: Array | float, threshold: Array, strict: Array) -> Array:
    """Whether cosines, rounded as the definition has them, satisfy their questions."""
    return np.where(strict, np.greater(cosine, threshold), np.greater_equal(cosine, threshold))


def profile_arrays(
    questions: Sequence[Similarity], analyser: Analyser, statistics: TextStatistics
) -> tuple[Dictionary, ProfileArrays]:
    """The words that need a number: those of the statistics, whose rarity counts in documents even if no profile has
    them, and then what else is in profiles; and the arrays of the profiles."""
    dictionary, words = _counted_words([question.profile for question in questions], analyser, statistics)
    idf = _rarities(statistics, len(dictionary))
    times, of = np.unique(words.times, return_inverse=True)
    weight = np.array([frequency_weight(each) for each in times.tolist()], np.float64)[of] * idf[words.word]
    threshold = np.fromiter((question.threshold for question in questions), np.float64, len(questions))
    strict = np.fromiter((question.operator is Operator.GREATER for question in questions), np.bool_, len(questions))
    return dictionary, _indexed(words.start, words.word, weight, threshold, strict, idf)


def _counted_words(
    profiles: Sequence[str], analyser: Analyser, statistics: TextStatistics
) -> tuple[Dictionary, Counted]:
    """Profiles are read as texts are, which is many times as fast as by the analyser, word by word."""
    known = [encoded(word) for word in statistics.document_frequency]
    read = Reader(Dictionary.of_encoded(known), analyser).read(texts_of(profiles))
    others = np.flatnonzero(read.word < 0)
    spans = zip(read.at[others].tolist(), (read.at + read.length)[others].tolist(), strict=True)
    dictionary = Dictionary.of_encoded([*known, *dict.fromkeys(read.data[at:end].tobytes() for at, end in spans)])
    read.word[others] = AS_IT_STANDS
    number_words(dictionary.directory, directory(read), len(read.word))
    return dictionary, counted(read, np.zeros(len(dictionary), np.int32))


def _rarities(statistics: TextStatistics, words: int) -> Array:
    """Of so many words, those of the statistics first: computed once for all that are equally frequent."""
    known = np.fromiter(statistics.document_frequency.values(), np.int64)
    frequencies, of = np.unique(np.pad(known, (0, words - len(known))), return_inverse=True)
    return np.array([rarity(statistics.documents, each) for each in frequencies.tolist()], np.float64)[of]


def _indexed(start: Array, word: Array, weight: Array, threshold: Array, strict: Array, idf: Array) -> ProfileArrays:
    profiles, sizes = len(threshold), np.diff(start)
    of = np.repeat(np.arange(profiles, dtype=np.int32), sizes)
    squares = np.array([sum_of_squares(weight[a:b].tolist()) for a, b in pairwise(start.tolist())])
    length = np.sqrt(squares)[of]
    # Rarest first, by the statistics, and where these do not tell by the profiles themselves. By weight, in which the
    # frequency counts too, a fifth more postings would be read at a threshold of 0.8, and as many at 0.4.
    order = np.lexsort((np.bincount(word, minlength=len(idf))[word], -idf[word], of))
    word, weight = word[order], weight[order]
    unit = weight / length
    slack = (sizes + _STEPS) * _HALF_BIT
    left_out = _lengths_to_the_end(unit, start, of) < (threshold - slack)[of]
    rest_words = np.bincount(of[left_out], minlength=profiles)
    rest = np.sqrt(np.bincount(of, unit * unit * left_out, minlength=profiles))
    posted = np.flatnonzero(~left_out & _may_be_reached(threshold, strict)[of])
    posted = posted[np.argsort(word[posted], kind="stable")]
    return ProfileArrays(
        start,
        word,
        weight,
        squares,
        threshold,
        strict,
        idf,
        np.searchsorted(word[posted], np.arange(len(idf) + 1)),
        of[posted],
        unit[posted].astype(np.float32),
        np.nextafter((threshold - NEAR - slack).astype(np.float32), np.float32(-np.inf)),
        np.nextafter(rest.astype(np.float32), np.float32(np.inf)),
        np.minimum(rest_words, LARGEST).astype(np.uint8),
    )


def _lengths_to_the_end(unit: Array, start: Array, of: Array) -> Array:
    """The length of each vector from one word to its last."""
    sums = np.zeros(len(unit) + 1)
    np.cumsum(unit * unit, out=sums[1:])
    return np.sqrt(np.maximum(sums[start[1:]][of] - sums[:-1], 0.0))


def _may_be_reached(threshold: Array, strict: Array) -> Array:
    """By a cosine above 0, and not by 0, which every text reaches."""
    return ~reaches(0.0, threshold, strict) & reaches(1.0, threshold, strict)


def check_profiles(profiles: ProfileArrays, words: int) -> None:
    """Every invariant of the arrays, for a dictionary of so many words."""
    start, count = profiles.profile_start, len(profiles.threshold)
    assert start[0] == 0
    assert len(start) == count + 1
    assert start[-1] == len(profiles.profile_word) == len(profiles.profile_weight)
    assert all(len(array) == count for array in (profiles.squares, profiles.strict, profiles.enough, profiles.rest))
    assert len(profiles.idf) == words
    assert len(profiles.posting_start) == words + 1
    assert profiles.posting_start[-1] == len(profiles.posting_profile) == len(profiles.posting_weight)
    in_lists = np.repeat(np.arange(words), np.diff(profiles.posting_start))
    posted = set(zip(profiles.posting_profile.tolist(), in_lists.tolist(), strict=True))
    assert len(posted) == len(in_lists)
    for profile in range(count):
        here = slice(start[profile], start[profile + 1])
        vector = dict(zip(profiles.profile_word[here].tolist(), profiles.profile_weight[here].tolist(), strict=True))
        assert len(vector) == start[profile + 1] - start[profile]
        assert profiles.squares[profile] == sum_of_squares(vector.values())
        threshold, strict = profiles.threshold[profile], profiles.strict[profile]
        if vector and _may_be_reached(threshold, strict):
            rest = [weight for word, weight in vector.items() if (profile, word) not in posted]
            length = np.sqrt(sum_of_squares(rest) / profiles.squares[profile])
            assert length < threshold or not rest
            assert length <= profiles.rest[profile]
            assert min(len(rest), LARGEST) == profiles.rest_words[profile]
            assert profiles.enough[profile] < threshold
