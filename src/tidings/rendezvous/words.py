"""Keys of words: a pattern is stored under its rarest word, a profile under its heaviest; a text visits all it has.

Paper 4 (DHTrie), 4.2 and 4.9: a query is indexed under one of its words, the least frequent if that is known. Of an OR
each side has its key; what holds because words are absent has none. Two texts are similar only if they share a word,
and, by prefix filtering, one of the profile's heaviest: of words so light that all of them together cannot reach the
threshold, none is needed. Invariant: words are those of the one analyser that reads the events too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tidings.analysis.cosine import frequency_weight
from tidings.analysis.patterns import chain_of, necessary
from tidings.analysis.statistics import NO_STATISTICS, TextStatistics
from tidings.analysis.words import SIMPLE, Analyser, analyser
from tidings.model.predicates import Matches, Operator, Predicate, Similarity
from tidings.model.text import Terms
from tidings.rendezvous.scheme import NEVER, Access, Key, Rank, Scalar, attribute_name, rarest

MARGIN = 1e-9  # more than a cosine is off by rounding


@dataclass(frozen=True, slots=True)
class Words:
    """`matches`, and `similarity` of words, read by the analyser of this name.

    `visits` says how many events visit a key, for the choice of the rarest word; without it the statistics do, and
    without both the longest word is taken.
    """

    analyser: str = SIMPLE.name
    statistics: TextStatistics = field(default=NO_STATISTICS, hash=False)
    visits: Mapping[Key, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        self.statistics.check_analyser(analyser(self.analyser))

    @property
    def name(self) -> str:
        return "words"

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(("word",))

    def access(self, predicate: Predicate) -> Access | None:
        attribute, read = attribute_name(predicate.attribute.path), analyser(self.analyser)
        match predicate:
            case Matches(_, pattern):
                keys = necessary(pattern, lambda terms: self._of_terms(terms, attribute, read), self._visited)
            case Similarity(_, profile, operator, threshold, None):
                strict = operator is Operator.GREATER
                keys = self._of_profile(profile, threshold, strict, attribute, read)
            case _:
                return None
        if keys is None:
            return None
        return Access(keys, (Rank.WORD, len(keys))) if keys else NEVER

    def keys_of_value(self, attribute: str, value: Scalar) -> Iterator[Key]:
        if isinstance(value, str):
            for word in {word.text for word in analyser(self.analyser).words(value)}:
                yield Key("word", attribute, word)

    def _of_terms(self, terms: Terms, attribute: str, read: Analyser) -> frozenset[Key] | None:
        """The key of the rarest of their words; None where all are wildcard words, which have no key."""
        chain = chain_of(terms, read)
        if chain is None:
            return frozenset()
        whole = [word for number, word in enumerate(chain.words) if number not in chain.prefixes]
        return frozenset((self._rarest(whole, attribute),)) if whole else None

    def _of_profile(
        self, profile: str, threshold: float, strict: bool, attribute: str, read: Analyser
    ) -> frozenset[Key] | None:
        if threshold < 0 or (threshold == 0 and not strict):
            return None  # texts without a common word are similar enough
        counts = Counter(word.text for word in read.words(profile))
        squares = {word: (frequency_weight(count) * self.statistics.idf(word)) ** 2 for word, count in counts.items()}
        lightest, light = sorted(squares, key=lambda word: (squares[word], word)), 0.0
        reached = max(0.0, threshold - MARGIN) ** 2 * sum(squares.values())
        for left_out, word in enumerate(lightest):
            light += squares[word]
            if light >= reached:
                return frozenset(Key("word", attribute, word) for word in lightest[left_out:])
        return frozenset()

    def _rarest(self, words: Iterable[str], attribute: str) -> Key:
        keys = [Key("word", attribute, word) for word in words]
        return rarest(keys, self._known(keys))

    def _visited(self, keys: frozenset[Key]) -> tuple[float, int]:
        known = self._known(keys)
        return sum(known.get(key, 0) for key in keys), len(keys)

    def _known(self, keys: Iterable[Key]) -> Mapping[Key, float]:
        return self.visits or {key: self.statistics.document_frequency.get(key.label, 0) for key in keys}
