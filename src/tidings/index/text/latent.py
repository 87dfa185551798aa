"""Similarity in a latent space: profiles as one matrix of unit vectors, multiplied with the texts in blocks.

The law: a profile is found exactly when the rounded cosine of `analysis.latent` reaches its threshold. The product is
in float32, and says for certain what is farther from the threshold than float32 can err. What is nearer is computed in
float64, and what is near still by the definition's own function, from the same weights.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tidings.analysis.cosine import frequency_weight
from tidings.analysis.latent import LatentSpace, latent_cosine
from tidings.analysis.words import Analyser
from tidings.index.facts import Facts, Texts
from tidings.index.layout import Array
from tidings.index.runs import places_in
from tidings.index.text.dictionary import Dictionary
from tidings.index.text.exact_cosines import ByDefinition
from tidings.index.text.latent_kernels import (
    LatentFound,
    Placed,
    TermArrays,
    Vectors,
    place_vectors,
    take_from_block,
)
from tidings.index.text.similarity import Pairs
from tidings.index.text.similarity_building import reaches
from tidings.index.text.similarity_counting import counted
from tidings.index.text.words import Reader, texts_of
from tidings.index.views import directory
from tidings.model.predicates import Operator, Similarity

# Of a block. Smaller ones stay in the cache, and are a tenth faster on one thread; but numpy's threads wait for each
# other at the end of each product, which on a busy machine took as long as the products themselves.
TEXTS, PROFILES = 128, 32_768
NEAR = 1e-9  # a cosine in float64 differs less from the true one, where no doubt of a place is above DOUBTFUL
DOUBTFUL = 1e-11
_Place = tuple[float, ...]


class LatentArrays(NamedTuple):
    """Profile n has the terms vector_start[n] : vector_start[n + 1], and the place unit[n * d : (n + 1) * d] for d
    dimensions, with the length 1; all zeros, where it has none of the space's terms."""

    vector_start: Array  # int64, one more than there are profiles
    vector_term: Array  # int32
    vector_weight: Array  # float64
    unit: Array  # float32
    threshold: Array  # float64
    strict: Array  # bool: more than the threshold, and not only as much


class LatentEngine:
    """`build` makes one from questions with the model lsi, `from_arrays` opens one. Threads may share it."""

    def __init__(self, profiles: LatentArrays, analyser: Analyser, space: LatentSpace) -> None:
        space.check_analyser(analyser)
        self._profiles = profiles
        self._vectors = Vectors(profiles.vector_start, profiles.vector_term, profiles.vector_weight)
        self._places = _Places(analyser, space)
        margin = (space.dimensions + 8) * 2.0**-23  # rounding of both vectors, of each step and of the sum, in float32
        at_zero = reaches(0.0, profiles.threshold, profiles.strict)
        self._at_zero = np.flatnonzero(at_zero).astype(np.int32)
        # A profile without terms has the cosine 0 with everything, which satisfies it or does not.
        nowhere, always = np.diff(profiles.vector_start) == 0, np.where(at_zero, -np.inf, np.inf)
        self._least = np.where(nowhere, always, profiles.threshold - margin).astype(np.float32)
        self._certain = np.where(nowhere, always, profiles.threshold + margin).astype(np.float32)

    @classmethod
    def build(cls, questions: Sequence[Similarity], analyser: Analyser, space: LatentSpace) -> LatentEngine:
        """Question number n is fact number n."""
        places = _Places(analyser, space)
        vectors = places.vectors(texts_of([question.profile for question in questions]))
        unit = places.units(vectors).astype(np.float32)
        threshold = np.array([question.threshold for question in questions], np.float64)
        strict = np.array([question.operator is Operator.GREATER for question in questions], np.bool_)
        return cls(LatentArrays(*vectors, unit.reshape(-1), threshold, strict), analyser, space)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], analyser: Analyser, space: LatentSpace) -> LatentEngine:
        """What `arrays` gave, under the analyser and in the space that it was built with."""
        return cls(LatentArrays(*(arrays[name] for name in LatentArrays._fields)), analyser, space)

    def arrays(self) -> dict[str, Array]:
        return self._profiles._asdict()

    def __len__(self) -> int:
        return len(self._profiles.threshold)

    def find(self, texts: Texts) -> Facts:
        """The profiles that are similar to each text, in rising order."""
        pairs = self._similar(self._places.vectors(texts), texts)
        return Facts(pairs.start(len(texts.start)), pairs.profile)

    def cosines(self, texts: Texts, text: Array, profile: Array) -> Array:
        """Those of pairs of a text and a profile, as the definition rounds them; pairs of one text stand together."""
        found = np.empty(len(text))
        self._definition(self._places.vectors(texts)).put(found, np.arange(len(text)), text, profile)
        return found

    def check(self) -> None:
        """Every invariant: the unit vectors above all are those of the terms."""
        start, dimensions = self._profiles.vector_start, self._places.space.dimensions
        assert start[0] == 0
        assert len(start) == len(self) + 1
        assert start[-1] == len(self._profiles.vector_term) == len(self._profiles.vector_weight)
        assert len(self._profiles.strict) == len(self)
        assert len(self._profiles.unit) == len(self) * dimensions
        for number in range(len(self)):
            assert len(_weights(self._vectors, number)) == start[number + 1] - start[number]
        units = self._places.units(self._vectors).astype(np.float32)
        assert (units.reshape(-1) == self._profiles.unit).all()

    def _similar(self, vectors: Vectors, texts: Texts) -> Pairs:
        """Texts and the profiles that are similar to them, in order."""
        units = self._places.units(vectors)
        somewhere = np.asarray(units.any(axis=1))
        text, profile, certain = self._candidates(units.astype(np.float32), somewhere)
        similar, definition = certain.astype(np.bool_), self._definition(vectors)
        unsure = np.flatnonzero(~similar)
        for at in range(0, len(unsure), PROFILES):
            here = unsure[at : at + PROFILES]
            similar[here] = self._decided(units, definition, text[here], profile[here])
        nowhere = np.flatnonzero(~somewhere & ~texts.raw)
        text = np.concatenate([text[similar], np.repeat(nowhere, len(self._at_zero))])
        profile = np.concatenate([profile[similar], np.tile(self._at_zero, len(nowhere))])
        order = np.argsort(text, kind="stable")  # the profiles of each text are in order already
        return Pairs(text[order], profile[order])

    def _decided(self, units: Array, definition: ByDefinition[_Place], text: Array, profile: Array) -> Array:
        """Whether profiles are similar to texts, in float64, or, where that is too near to say, by the definition."""
        threshold, strict = self._profiles.threshold[profile], self._profiles.strict[profile]
        cosine = np.einsum("pd,pd->p", self._places.units(_some(self._vectors, profile)), units[text])
        definition.put(cosine, np.flatnonzero(np.abs(cosine - threshold) <= NEAR), text, profile)
        return reaches(cosine, threshold, strict)

    def _definition(self, vectors: Vectors) -> ByDefinition[_Place]:
        def place(of: Vectors, number: int) -> _Place:
            return self._places.space.placed(_weights(of, number))

        return ByDefinition(
            lambda text: place(vectors, text),
            lambda text, profile: latent_cosine(place(self._vectors, profile), text),
        )

    def _candidates(self, units: Array, somewhere: Array) -> tuple[Array, Array, Array]:
        """Text, profile and whether it is certain, of all that reach their threshold, or nearly so."""
        matrix = self._profiles.unit.reshape(len(self), -1) if len(self) else np.empty((0, units.shape[1]), np.float32)
        numbers = np.flatnonzero(somewhere)
        room = TEXTS * PROFILES
        found = LatentFound(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.uint8))
        to_found, cosines = directory(found), np.empty(room, np.float32)
        parts = [(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.uint8))]
        for text in range(0, len(numbers), TEXTS):
            block = units[numbers[text : text + TEXTS]]
            for profile in range(0, len(self), PROFILES):
                against = matrix[profile : profile + PROFILES].T
                product = cosines[: len(block) * against.shape[1]].reshape(len(block), -1)
                np.matmul(block, against, out=product)
                used = take_from_block(product, self._least, self._certain, text, profile, to_found, 0)
                if used:
                    parts.append((numbers[found.text[:used]], found.profile[:used].copy(), found.certain[:used].copy()))
        of, profiles, certain = (np.concatenate(column) for column in zip(*parts, strict=True))
        return of, profiles, certain


class _Places:
    """From texts to places in the space, many at once. Threads may share it."""

    def __init__(self, analyser: Analyser, space: LatentSpace) -> None:
        self.space = space
        dictionary = Dictionary.build(space.terms)
        self._reader = Reader(dictionary, analyser)
        self._idf = np.fromiter(map(space.statistics.idf, space.terms), np.float64, len(space.terms))
        rows = space.matrix.reshape(-1, space.dimensions)
        self._terms = TermArrays(space.matrix, np.sqrt(np.einsum("td,td->t", rows, rows, dtype=np.float64)))
        self._directory = directory(self._terms)
        self._of_thread = threading.local()

    def vectors(self, texts: Texts) -> Vectors:
        """The terms of texts with their weights, as the definition has them; words that are no terms are left out."""
        words = counted(self._reader.read(texts), self._room())
        known = words.word >= 0
        before = np.zeros(len(known) + 1, np.int64)
        np.cumsum(known, out=before[1:])
        term = words.word[known]
        times, of = np.unique(words.times[known], return_inverse=True)
        frequency = np.array([frequency_weight(each) for each in times.tolist()], np.float64)
        return Vectors(before[words.start], term, frequency[of] * self._idf[term])

    def _room(self) -> Array:
        """Where this thread counts words."""
        room: Array | None = getattr(self._of_thread, "room", None)
        if room is None:
            room = self._of_thread.room = np.zeros(len(self.space.terms), np.int32)
        return room

    def units(self, vectors: Vectors) -> Array:
        """The place of each vector with the length 1; zeros where it is nowhere."""
        count, dimensions = len(vectors.start) - 1, self.space.dimensions
        placed = Placed(np.zeros(count * dimensions), np.zeros(count), np.zeros(count))
        place_vectors(directory(vectors), self._directory, directory(placed))
        place, length = placed.place.reshape(count, dimensions), placed.length
        for number in np.flatnonzero(placed.doubt > DOUBTFUL).tolist():  # terms that nearly cancel each other
            place[number] = self.space.placed(_weights(vectors, number))
            length[number] = np.linalg.norm(place[number])
        somewhere = length > 0.0
        place[somewhere] /= length[somewhere, None]
        return place


def _some(vectors: Vectors, numbers: Array) -> Vectors:
    """The vectors of these numbers, one after the other."""
    first, end = vectors.start[numbers], vectors.start[numbers + 1]
    start = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(end - first, out=start[1:])
    places = places_in(first, end - first)
    return Vectors(start, vectors.term[places], vectors.weight[places])


def _weights(vectors: Vectors, number: int) -> dict[int, float]:
    here = slice(vectors.start[number], vectors.start[number + 1])
    return dict(zip(vectors.term[here].tolist(), vectors.weight[here].tolist(), strict=True))
