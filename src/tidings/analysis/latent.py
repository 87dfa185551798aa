"""A latent space: texts as points in few dimensions, where texts on one topic are near each other without common words.

Latent semantic indexing. A sample's tf-idf vectors, each of length 1, are taken apart by a truncated singular value
decomposition; `matrix` holds what each term is worth in each dimension, as float32, which is exact from then on. A text
is projected by adding up its terms' rows by weight. Words that are no terms of the space count for nothing. All sums
are by math.fsum, so that the same space gives the same cosine on every machine; it is rounded like that of words.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidings.analysis.cosine import cosine_of_products, frequency_weight, sum_of_squares
from tidings.analysis.statistics import (
    TextStatistics,
    analyser_arrays,
    joined_words,
    separate_words,
    stored_analyser,
)
from tidings.analysis.words import Analyser, AnalyserVersion, Word
from tidings.errors import SettingError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

STATISTICS = "statistics_"  # before the names of the arrays of the statistics


@dataclass(frozen=True, slots=True, eq=False)
class LatentSpace:
    """Term n is worth matrix[n * dimensions : (n + 1) * dimensions]. `fit` makes a space, `from_arrays` opens one."""

    terms: tuple[str, ...]
    matrix: Array  # float32, row after row
    singular_values: Array  # float64, falling: how much of the sample each dimension carries
    analyser: AnalyserVersion
    statistics: TextStatistics
    numbers: Mapping[str, int] = field(init=False, repr=False)  # of the terms

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", {term: number for number, term in enumerate(self.terms)})
        if len(self.numbers) != len(self.terms):
            raise SettingError("the terms of a latent space are distinct; some of those given are there twice")
        if len(self.matrix) != len(self.terms) * self.dimensions or not self.dimensions:
            size = len(self.terms) * self.dimensions
            raise SettingError(
                f"a latent space of {len(self.terms):,} terms and {self.dimensions} dimensions has {size:,} numbers, "
                f"in 1 dimension or more; {len(self.matrix):,} were given"
            )

    @property
    def dimensions(self) -> int:
        return len(self.singular_values)

    def weights(self, words: Iterable[Word]) -> dict[int, float]:
        """The terms that are among the words, by number, with their weights (1 + ln tf) * idf."""
        counts = Counter(word.text for word in words if word.text in self.numbers)
        return {
            self.numbers[word]: frequency_weight(count) * self.statistics.idf(word) for word, count in counts.items()
        }

    def project(self, words: Iterable[Word]) -> tuple[float, ...]:
        """A text's place in the space; all zeros where none of its words is a term."""
        return self.placed(self.weights(words))

    def placed(self, weights: Mapping[int, float]) -> tuple[float, ...]:
        """The place of what has these weights."""
        import numpy as np

        if not weights:
            return (0.0,) * self.dimensions
        rows = self.matrix.reshape(-1, self.dimensions)[list(weights)].astype(np.float64)
        worth = rows * np.fromiter(weights.values(), np.float64, len(weights))[:, None]
        return tuple(map(math.fsum, worth.T.tolist()))

    def check_analyser(self, analyser: Analyser) -> None:
        """Refuses another analyser than that of the sample: its words would be other terms."""
        self.analyser.must_be_of(analyser, "the latent space was fitted", "fit it")

    def arrays(self) -> dict[str, Array]:
        """Everything in flat arrays, none of them an object."""
        data, start = joined_words(self.terms)
        return {
            "term_data": data,
            "term_start": start,
            "matrix": self.matrix,
            "singular_values": self.singular_values,
            **analyser_arrays(self.analyser),
            **{STATISTICS + name: array for name, array in self.statistics.arrays().items()},
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> LatentSpace:
        """The space that `arrays` wrote."""
        names = [name for name in arrays if name.startswith(STATISTICS)]
        of_statistics = {name.removeprefix(STATISTICS): arrays[name] for name in names}
        return cls(
            tuple(separate_words(arrays["term_data"], arrays["term_start"])),
            arrays["matrix"],
            arrays["singular_values"],
            stored_analyser(arrays),
            TextStatistics.from_arrays(of_statistics),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LatentSpace):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        return all(mine[name].tobytes() == theirs[name].tobytes() for name in mine)

    def __hash__(self) -> int:
        return hash((self.terms, self.dimensions))


def latent_cosine(profile: Sequence[float], document: Sequence[float]) -> float:
    """Of two places in the space: from -1.0 to 1.0, rounded; 0.0 where one of them is all zeros."""
    products = [a * b for a, b in zip(profile, document, strict=True)]
    return cosine_of_products(products, sum_of_squares(profile), sum_of_squares(document))


def latent_contributions(
    space: LatentSpace, profile_words: Iterable[Word], document_words: Iterable[Word]
) -> tuple[tuple[str, float], ...]:
    """Each term of the document with its part of the cosine, largest first. The parts add up to the cosine; a term
    that leads away from the profile has a negative one."""
    weights = space.weights(document_words)
    profile, document = space.project(profile_words), space.placed(weights)
    norms = math.sqrt(sum_of_squares(profile) * sum_of_squares(document))
    if not norms:
        return ()
    shares = [
        (space.terms[number], math.fsum(a * b for a, b in zip(profile, space.placed({number: weight}), strict=True)))
        for number, weight in weights.items()
    ]
    return tuple((term, share / norms) for term, share in sorted(shares, key=lambda each: (-each[1], each[0])))


def fit(
    texts: Iterable[str], dimensions: int, analyser: Analyser, statistics: TextStatistics, seed: int = 0
) -> LatentSpace:
    """The space of a sample of texts. The same sample, seed and version of scipy give the same space.

    Terms are the words of the sample. There are fewer dimensions than texts, and than terms.
    """
    statistics.check_analyser(analyser)
    read = (Counter(word.text for word in analyser.words(text)) for text in texts)
    counts = [count for count in read if count]
    terms = sorted(set().union(*counts))
    most = min(len(counts), len(terms)) - 1
    if not 1 <= dimensions <= most:
        raise SettingError(
            f"a sample of {len(counts):,} texts that have words, {len(terms):,} different ones, has room for 1 to "
            f"{max(most, 0):,} dimensions; {dimensions:,} were asked for; take fewer of them, or a larger sample"
        )
    rows = _unit_rows(counts, {term: number for number, term in enumerate(terms)}, statistics)
    matrix, values = _decomposed(rows, dimensions, seed)
    return LatentSpace(tuple(terms), matrix, values, AnalyserVersion.of(analyser), statistics)


def _unit_rows(counts: Sequence[Counter[str]], numbers: Mapping[str, int], statistics: TextStatistics) -> Any:
    """The sample as a sparse matrix, a text a row, each of length 1."""
    import numpy as np

    weights = [[frequency_weight(tf) * statistics.idf(word) for word, tf in count.items()] for count in counts]
    data = np.concatenate([np.array(row) / math.sqrt(sum_of_squares(row)) for row in weights])
    columns = [numbers[word] for count in counts for word in count]
    start = np.concatenate([[0], np.cumsum([len(row) for row in weights])])
    return _scipy("scipy.sparse").csr_matrix((data, columns, start), shape=(len(counts), len(numbers)))


def _decomposed(rows: Any, dimensions: int, seed: int) -> tuple[Array, Array]:
    """The right singular vectors of the largest singular values, term after term, and these values."""
    import numpy as np

    # The solver begins at a random vector. It is given one, so that the outcome is that of the seed.
    begin = np.random.default_rng(seed).standard_normal(min(rows.shape))
    _, values, vectors = _scipy("scipy.sparse.linalg").svds(rows, k=dimensions, v0=begin, solver="arpack")
    order = np.argsort(-values, kind="stable")
    vectors = vectors[order]
    # A vector and its negative are as good: the one whose largest part is positive is taken.
    largest = vectors[np.arange(dimensions), np.argmax(np.abs(vectors), axis=1)]
    vectors = vectors * np.where(largest < 0, -1.0, 1.0)[:, None]
    return np.ascontiguousarray(vectors.T, np.float32).reshape(-1), values[order]


def _scipy(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise SettingError("fitting a latent space needs scipy; install it: pip install 'tidings[lsi]'") from missing
