"""Whether the words of a text satisfy a text pattern, and which words did so.

The definition, not a fast way: a term is read with the analyser that read the text; a term of several words is a
phrase of them; a term of none (possible with one's own analysers only) is found nowhere. Of a wildcard word the last
word that the analyser makes is a prefix: every word of the text that begins with it will do. A chain holds when some
positions p1 < p2 < … of its words have p(i+1) - p(i) - 1 words between within each gap. All positions that can be
reached are followed, since taking the first that fits would miss chains that need a later one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

from tidings.analysis.words import Analyser, Word
from tidings.model.text import NEXT, AllOf, AnyOf, Gap, Not, Terms, TextPattern

T = TypeVar("T")


def pattern_holds(pattern: TextPattern, words: Sequence[Word], analyser: Analyser) -> bool:
    """Whether `words`, the words of a text as `analyser` reads it, satisfy the pattern."""
    return _satisfying(pattern, positions_of(words), analyser) is not None


def pattern_witness(pattern: TextPattern, words: Sequence[Word], analyser: Analyser) -> list[int]:
    """The positions of the words that satisfied the pattern, in the order of the text: those of every part of an AND,
    those of each part of an OR that holds, one occurrence of each chain. Empty when the pattern is false, and for what
    holds because words are absent."""
    return sorted(_satisfying(pattern, positions_of(words), analyser) or ())


def necessary(
    pattern: TextPattern,
    of_terms: Callable[[Terms], frozenset[T] | None],
    cost: Callable[[frozenset[T]], Any],
    wanted: bool = True,
) -> frozenset[T] | None:
    """Marks of which every text that satisfies the pattern has one; None where it may be without any.

    `of_terms` gives those of a word or a chain. Of an AND the part whose marks cost least is enough, an OR needs those
    of all its parts, and what holds because words are absent has none. With `wanted` False, of texts that do not.
    """
    if isinstance(pattern, Terms):
        return of_terms(pattern) if wanted else None
    if isinstance(pattern, Not):
        return necessary(pattern.part, of_terms, cost, not wanted)
    each = [necessary(part, of_terms, cost, wanted) for part in pattern.parts]
    known = [marks for marks in each if marks is not None]
    if isinstance(pattern, AllOf) is wanted:
        return min(known, key=cost, default=None)
    return frozenset().union(*known) if len(known) == len(each) else None


Positions = Mapping[str, Sequence[int]]  # of each word of the text, rising


def positions_of(words: Sequence[Word]) -> Positions:
    """Where each word is: the one place in which words get their positions here."""
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        positions.setdefault(word.text, []).append(position)
    return positions


def _satisfying(pattern: TextPattern, positions: Positions, analyser: Analyser) -> frozenset[int] | None:
    """The positions of the words that satisfy the pattern; None when it is false."""
    match pattern:
        case Terms():
            return _of_terms(pattern, positions, analyser)
        case AllOf(parts):
            of_parts = [_satisfying(part, positions, analyser) for part in parts]
            return None if None in of_parts else _union(of_parts)
        case AnyOf(parts):
            of_parts = [_satisfying(part, positions, analyser) for part in parts]
            return None if all(found is None for found in of_parts) else _union(of_parts)
        case Not(part):
            return frozenset() if _satisfying(part, positions, analyser) is None else None


def _union(of_parts: Sequence[frozenset[int] | None]) -> frozenset[int]:
    return frozenset().union(*(found for found in of_parts if found is not None))


def _of_terms(pattern: Terms, positions: Positions, analyser: Analyser) -> frozenset[int] | None:
    chain = chain_of(pattern, analyser)
    return None if chain is None else _chain(chain, positions)


class Chain(NamedTuple):
    """Terms as an analyser reads them: words, the gaps between them, and the numbers of those that are prefixes."""

    words: tuple[str, ...]
    gaps: tuple[Gap, ...]
    prefixes: frozenset[int]


def chain_of(pattern: Terms, analyser: Analyser) -> Chain | None:
    """None where some term has no word, so that the chain is found nowhere."""
    return chain_of_words(pattern, [[word.text for word in analyser.words(term)] for term in pattern.terms])


def chain_of_words(pattern: Terms, of_terms: Sequence[Sequence[str]]) -> Chain | None:
    """The same from the words of each term."""
    if not all(of_terms):
        return None
    texts = tuple([text for words in of_terms for text in words])
    if len(texts) == len(of_terms):
        return Chain(texts, pattern.gaps, pattern.prefixes)
    gaps = [each for gap, words in zip((NEXT, *pattern.gaps), of_terms, strict=True) for each in _inside(gap, words)]
    ends = list(accumulate(map(len, of_terms)))
    return Chain(texts, tuple(gaps[1:]), frozenset(ends[number] - 1 for number in pattern.prefixes))


def _inside(before: Gap, words: Sequence[str]) -> list[Gap]:
    """The gaps before each word of a term: in it they are those of a phrase."""
    return [before] + [NEXT] * (len(words) - 1)


def _chain(chain: Chain, positions: Positions) -> frozenset[int] | None:
    """The positions of the occurrence of the chain that ends first; None where there is none."""
    places = [_places(word, number in chain.prefixes, positions) for number, word in enumerate(chain.words)]
    reached = [places[0]]
    for candidates, gap in zip(places[1:], chain.gaps, strict=True):
        reached.append(_reachable(reached[-1], gap, candidates))
    if not reached[-1]:
        return None
    occurrence = [reached[-1][0]]
    for before, gap in zip(reversed(reached[:-1]), reversed(chain.gaps), strict=True):
        occurrence.append(next(p for p in before if gap.allows(occurrence[-1] - p - 1)))
    return frozenset(occurrence)


def _places(word: str, is_prefix: bool, positions: Positions) -> Sequence[int]:
    if not is_prefix:
        return positions.get(word, ())
    return sorted(place for longer, places in positions.items() if longer.startswith(word) for place in places)


def _reachable(before: Sequence[int], gap: Gap, candidates: Sequence[int]) -> Sequence[int]:
    """The candidates that have a position of `before` at an allowed distance before them."""
    reachable = []
    for candidate in candidates:
        earliest = 0 if gap.most is None else candidate - 1 - gap.most
        latest = candidate - 1 - gap.least
        at = bisect_left(before, earliest)
        if at < len(before) and before[at] <= latest:
            reachable.append(candidate)
    return reachable
