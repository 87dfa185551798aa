"""Text patterns as conjunctions of chains, and everything in them numbered: words, wildcard words, chains.

A literal is the number n of a chain that must be there, or ~n of one that must not. A pattern holds exactly when all
literals of one of its conjunctions do. Making conjunctions multiplies the ORs of a pattern, so there is a bound; what
would pass it becomes a *program*: rows of a chain, the row to go on with where the chain is there, and that where it
is not, until one says YES or NO. Equal chains have one number, however they were written.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tidings.analysis.patterns import chain_of_words
from tidings.analysis.words import Analyser
from tidings.index.layout import Array
from tidings.model.text import AllOf, Not, Terms, TextPattern

MOST_CONJUNCTIONS = 512  # of one pattern: as many as it may have words, so that an OR of words always fits
YES, NO = -1, -2  # in place of the row to go on with
NO_BOUND = -1  # in place of the greatest number of words in a gap


@dataclass(slots=True)
class NormalPatterns:
    """Patterns in the order in which they were added. The items of a chain are words, or ~n for wildcard word n."""

    analyser: Analyser
    words: dict[str, int] = field(default_factory=dict)
    prefixes: dict[str, int] = field(default_factory=dict)
    chain_start: array[int] = field(default_factory=lambda: array("q", [0]))
    chain_item: array[int] = field(default_factory=lambda: array("i"))
    chain_least: array[int] = field(default_factory=lambda: array("i"))  # words between the item and the one before
    chain_most: array[int] = field(default_factory=lambda: array("i"))
    conjunction_start: array[int] = field(default_factory=lambda: array("q", [0]))
    conjunction_question: array[int] = field(default_factory=lambda: array("i"))
    literal: array[int] = field(default_factory=lambda: array("i"))
    shared: array[int] = field(default_factory=lambda: array("b"))  # of each question: it has several conjunctions
    program_question: list[int] = field(default_factory=list)
    program_first: array[int] = field(default_factory=lambda: array("i"))  # the row that each begins with
    program_rows: array[int] = field(default_factory=lambda: array("i"))  # three numbers each
    _word_chains: dict[str, int | None] = field(default_factory=dict)  # of terms that stand alone, which most do
    _chains: dict[tuple[int, ...], int] = field(default_factory=dict)  # by their items and gaps
    _of_terms: dict[str, list[str]] = field(default_factory=dict)  # the words of each term that was met

    def add(self, pattern: TextPattern) -> None:
        question = len(self.shared)
        try:
            found = _possible(self._holding(pattern, True))
        except _TooManyError:
            self.program_question.append(question)
            self.program_first.append(self._program(pattern, YES, NO))
            self.shared.append(True)  # several words may lead to it
            return
        for literals in found:
            self.add_conjunction(question, literals)
        self.shared.append(len(found) > 1)

    def add_conjunction(self, question: int, literals: Iterable[int]) -> None:
        self.literal.extend(literals)
        self.conjunction_start.append(len(self.literal))
        self.conjunction_question.append(question)

    def _holding(self, pattern: TextPattern, wanted: bool) -> list[tuple[int, ...]]:
        """The conjunctions under which the pattern is true, or, where that is wanted, false."""
        if isinstance(pattern, Terms):
            chain = self.chain(pattern)
            if chain is None:
                return [] if wanted else [()]
            return [(chain if wanted else ~chain,)]
        if isinstance(pattern, Not):
            return self._holding(pattern.part, not wanted)
        of_parts = [self._holding(part, wanted) for part in pattern.parts]
        return _all(of_parts) if isinstance(pattern, AllOf) is wanted else _any(of_parts)

    def _program(self, pattern: TextPattern, then: int, otherwise: int) -> int:
        """Writes the rows of a pattern, the last one first, and gives the row that it begins with."""
        if isinstance(pattern, Terms):
            chain = self.chain(pattern)
            if chain is None:
                return otherwise
            self.program_rows.extend((chain, then, otherwise))
            return len(self.program_rows) // 3 - 1
        if isinstance(pattern, Not):
            return self._program(pattern.part, otherwise, then)
        for part in reversed(pattern.parts):
            if isinstance(pattern, AllOf):
                then = self._program(part, then, otherwise)
            else:
                otherwise = self._program(part, then, otherwise)
        return then if isinstance(pattern, AllOf) else otherwise

    def chain(self, pattern: Terms) -> int | None:
        """The number of a chain; None where it has a term without words, and is found nowhere."""
        if len(pattern.terms) > 1 or pattern.prefixes:
            return self._numbered(pattern)
        try:
            return self._word_chains[pattern.terms[0]]
        except KeyError:
            found = self._word_chains[pattern.terms[0]] = self._numbered(pattern)
            return found

    def _numbered(self, pattern: Terms) -> int | None:
        chain = chain_of_words(pattern, [self._of_terms.get(term) or self._read(term) for term in pattern.terms])
        if chain is None:
            return None
        words, prefixes = self.words, self.prefixes
        item = [
            ~prefixes.setdefault(word, len(prefixes)) if at in chain.prefixes else words.setdefault(word, len(words))
            for at, word in enumerate(chain.words)
        ]
        least = [0, *[gap.least for gap in chain.gaps]]
        most = [0, *[NO_BOUND if gap.most is None else gap.most for gap in chain.gaps]]
        known = len(self._chains)
        number = self._chains.setdefault((*item, *least, *most), known)
        if number == known:
            self.chain_item.extend(item)
            self.chain_least.extend(least)
            self.chain_most.extend(most)
            self.chain_start.append(len(self.chain_item))
        return number

    def _read(self, term: str) -> list[str]:
        found = self._of_terms[term] = [word.text for word in self.analyser.words(term)]
        return found

    def items(self) -> Array:
        """The items of all chains: words first, and then, numbered on, wildcard words."""
        item = np.array(self.chain_item, np.int32)
        return np.where(item >= 0, item, len(self.words) + ~item).astype(np.int32)


class _TooManyError(Exception):
    """A pattern has more conjunctions than are made of one."""


def _all(of_parts: Sequence[list[tuple[int, ...]]]) -> list[tuple[int, ...]]:
    if set(map(len, of_parts)) == {1}:  # nearly all that are asked
        return [tuple([literal for part in of_parts for literal in part[0]])]
    found: list[tuple[int, ...]] = [()]
    for part in of_parts:
        if len(found) * len(part) > MOST_CONJUNCTIONS:
            raise _TooManyError
        found = [literals + more for literals in found for more in part]
    return found


def _any(of_parts: Sequence[list[tuple[int, ...]]]) -> list[tuple[int, ...]]:
    found = [literals for part in of_parts for literals in part]
    if len(found) > MOST_CONJUNCTIONS:
        raise _TooManyError
    return found


def _possible(conjunctions: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Each conjunction once, without those that ask for a chain and for its absence."""
    if len(conjunctions) > 1:
        conjunctions = list(dict.fromkeys(tuple(sorted(set(literals))) for literals in conjunctions))
    return [
        literals
        for literals in conjunctions
        if not literals or min(literals) >= 0 or not any(~literal in literals for literal in literals)
    ]
