"""Finding similar profiles, compiled: partial cosines over the posting lists, a bound, and the whole cosine where the
bound leaves it open.

A profile that the bound gives up cannot reach its threshold, whatever was rounded on the way; for all others the cosine
is computed in float64, and who calls decides those that come out near the threshold. Weights in postings are those of
unit vectors, and elsewhere as the definition has them. Also runs as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.layout import Array
from tidings.index.text.dictionary_kernels import field_numbers
from tidings.index.text.similarity_counting import Counted
from tidings.index.views import int32s, int64s, uint8s

NEAR = 1e-8  # computed cosines differ less than this from true ones: rounding adds up to 1e-9 at ten million words
LARGEST = 64  # so many of a document's largest weights are kept for the bound; half of them let twice as much through


class ProfileArrays(NamedTuple):
    """Profile n has the words profile_start[n] : profile_start[n + 1]. Those in front, the rarest, are indexed.

    A document with none of them has a cosine below the threshold, since the vector of the others, the `rest`, is
    shorter than that. A profile that holds of every text, or of none, is in no posting list.
    """

    profile_start: Array  # int64, one more than there are profiles
    profile_word: Array  # int32
    profile_weight: Array  # float64
    squares: Array  # float64: the sum of the squares of the weights
    threshold: Array  # float64
    strict: Array  # bool: more than the threshold, and not only as much
    idf: Array  # float64, of each word
    posting_start: Array  # int64, one more than there are words
    posting_profile: Array  # int32
    posting_weight: Array  # float32, in the unit vector
    enough: Array  # float32: what a partial cosine and the bound of the rest must reach, less than the threshold
    rest: Array  # float32: the length of the rest
    rest_words: Array  # uint8: how many words it has; LARGEST for any more


class Room(NamedTuple):
    """Scratch of one thread. `weight` and `partial` are zeros before a text and after it."""

    weight: Array  # float64, of each word: its weight in the text
    partial: Array  # float32, of each profile
    touched: Array  # int32: one more than there are profiles
    reach: Array  # float32, LARGEST + 1 of them: the length of the n largest weights of the text; 1 at the end


class FoundSimilar(NamedTuple):
    """Profiles that reach their threshold, or nearly so, text after text: those of text n end at end[n]."""

    end: Array  # int64
    profile: Array  # int32
    cosine: Array  # float64, as computed here


_P, _C = field_numbers(ProfileArrays), field_numbers(Counted)
_R, _F = field_numbers(Room), field_numbers(FoundSimilar)
_F32, _F64, _U32 = np.float32, np.float64, np.uint32
_ROUNDED_UP = 1.0 + 1e-6


@compiled
def find_similar(profiles, counted, text, room, found, unknown_idf):  # type: ignore[no-untyped-def]  # compiled
    """Takes texts from number `text` on, while there is room for all profiles; gives the number of the next one."""
    start, end = int64s(counted, _C.start), int64s(found, _F.end)
    most = len(int64s(profiles, _P.profile_start)) - 1
    used = 0
    while text < len(start) - 1 and used + most <= len(int32s(found, _F.profile)):
        if start[text] < start[text + 1]:
            length = math.sqrt(_take_weights(profiles, counted, text, room, unknown_idf))
            touched = _add_postings(profiles, counted, text, room, length)
            used = _verify(profiles, room, touched, length, found, used)
            _give_back_weights(counted, text, room)
        end[text] = used
        text += 1
    return text


@compiled
def _take_weights(profiles, counted, text, room, unknown_idf):  # type: ignore[no-untyped-def]
    """Fills in the weights of a text's words and `reach`; the sum of the squares of the weights."""
    start, word, times = int64s(counted, _C.start), int32s(counted, _C.word), int32s(counted, _C.times)
    idf, weight = int64s(profiles, _P.idf).view(_F64), int64s(room, _R.weight).view(_F64)
    largest = np.zeros(LARGEST)
    squares = 0.0
    for place in range(start[text], start[text + 1]):
        number = word[place]
        found = (1.0 + math.log(times[place])) * (idf[number] if number >= 0 else unknown_idf)
        squares += found * found
        if number >= 0:
            weight[number] = found
            if found > largest[-1]:
                _insert(largest, found)
    reach = int32s(room, _R.reach).view(_F32)
    reach[0], together = 0.0, 0.0
    for i in range(LARGEST):
        together += largest[i] * largest[i]
        reach[i + 1] = math.sqrt(together / squares) * _ROUNDED_UP
    reach[LARGEST] = _ROUNDED_UP
    return squares


@compiled
def _insert(largest, added):  # type: ignore[no-untyped-def]
    """Puts a number in its place in a falling order, and drops the smallest."""
    place = len(largest) - 1
    while place > 0 and largest[place - 1] < added:
        largest[place] = largest[place - 1]
        place -= 1
    largest[place] = added


@compiled
def _add_postings(profiles, counted, text, room, length):  # type: ignore[no-untyped-def]
    """Adds up partial cosines; how many profiles were touched."""
    start, word = int64s(counted, _C.start), int32s(counted, _C.word)
    posting_start = int64s(profiles, _P.posting_start).view(np.uint64)
    posting_profile = int32s(profiles, _P.posting_profile).view(_U32)
    posting_weight, weight = int32s(profiles, _P.posting_weight).view(_F32), int64s(room, _R.weight).view(_F64)
    partial, touched = int32s(room, _R.partial).view(_F32), int32s(room, _R.touched).view(_U32)
    used = np.uint64(0)
    for place in range(start[text], start[text + 1]):
        number = word[place]
        if number < 0:
            break
        share = np.float32(weight[number] / length)
        for posting in range(posting_start[number], posting_start[number + 1]):
            profile = posting_profile[posting]
            before = partial[profile]
            # Without a branch, which could not be foreseen: this alone makes the loop twice as fast. Numbers without
            # a sign, which need not be tested for one, save another quarter.
            touched[used] = profile
            used += np.uint64(before == 0.0)
            partial[profile] = before + share * posting_weight[posting]
    return used


@compiled
def _verify(profiles, room, touched_profiles, length, found, used):  # type: ignore[no-untyped-def]
    """Writes down what reaches its threshold, or nearly so; how many there are now."""
    enough, rest = int32s(profiles, _P.enough).view(_F32), int32s(profiles, _P.rest).view(_F32)
    rest_words, reach = uint8s(profiles, _P.rest_words), int32s(room, _R.reach).view(_F32)
    partial, touched = int32s(room, _R.partial).view(_F32), int32s(room, _R.touched).view(_U32)
    threshold = int64s(profiles, _P.threshold).view(_F64)
    for i in range(touched_profiles):
        profile = touched[i]
        bound = partial[profile] + rest[profile] * reach[rest_words[profile]]
        partial[profile] = 0.0
        if bound >= enough[profile]:
            cosine = _whole_cosine(profiles, profile, room, length)
            if cosine >= threshold[profile] - NEAR:
                int32s(found, _F.profile)[used] = profile
                int64s(found, _F.cosine).view(_F64)[used] = cosine
                used += 1
    return used


@compiled
def _whole_cosine(profiles, profile, room, length):  # type: ignore[no-untyped-def]
    start, word = int64s(profiles, _P.profile_start), int32s(profiles, _P.profile_word)
    profile_weight, weight = int64s(profiles, _P.profile_weight).view(_F64), int64s(room, _R.weight).view(_F64)
    dot = 0.0
    for place in range(start[profile], start[profile + 1]):
        dot += profile_weight[place] * weight[word[place]]
    return dot / (math.sqrt(int64s(profiles, _P.squares).view(_F64)[profile]) * length)


@compiled
def _give_back_weights(counted, text, room):  # type: ignore[no-untyped-def]
    start, word = int64s(counted, _C.start), int32s(counted, _C.word)
    weight = int64s(room, _R.weight).view(_F64)
    for place in range(start[text], start[text + 1]):
        if word[place] >= 0:
            weight[word[place]] = 0.0
