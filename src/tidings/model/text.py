"""Text patterns as values: words, wildcard words, phrases and proximity chains, joined by AND, OR and NOT.

A chain asks for its terms in order, with a stated number of words between one and the next (paper 4, section 3.1,
note 4); a single word and a phrase are chains too. Every value here can be printed: what a pattern cannot be written
with is refused when it is made. The parser flattens, so that no AllOf is a part of an AllOf, and no AnyOf of an AnyOf.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Gap:
    """How many words stand between two terms: at least `least`, at most `most`; None is no upper bound."""

    least: int
    most: int | None

    def __post_init__(self) -> None:
        if self.least < 0:
            raise ValueError(f"a gap begins at 0 words or more, not at {self.least}")
        if self.most is not None and self.most < self.least:
            raise ValueError(f"a gap of at least {self.least} words cannot have at most {self.most}")

    def allows(self, between: int) -> bool:
        return self.least <= between and (self.most is None or between <= self.most)


NEXT = Gap(0, 0)  # the very next word, as in a phrase


@dataclass(frozen=True, slots=True)
class Terms:
    """A word, a phrase (every gap is NEXT) or a proximity chain; `gaps[i]` lies between `terms[i]` and the next.

    `prefixes` has the numbers of the wildcard words: `terms[i]` is what stands before the * of neur*.
    """

    terms: tuple[str, ...]
    gaps: tuple[Gap, ...] = ()
    prefixes: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if not self.terms:
            raise ValueError("a pattern has at least one term")
        if len(self.gaps) != len(self.terms) - 1:
            raise ValueError(f"{len(self.terms)} terms have {len(self.terms) - 1} gaps, not {len(self.gaps)}")
        joined = "".join(self.terms)
        if not (joined.isascii() and joined.isalnum() and all(self.terms)):  # most are, and nothing can be wrong then
            for term in self.terms:
                _check_term(term)
        for number in self.prefixes:
            _check_prefix(number, self.terms)


@dataclass(frozen=True, slots=True)
class AllOf:
    """Holds when every part holds (AND)."""

    parts: tuple[TextPattern, ...]

    def __post_init__(self) -> None:
        _check_parts("AllOf", self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds when at least one part holds (OR)."""

    parts: tuple[TextPattern, ...]

    def __post_init__(self) -> None:
        _check_parts("AnyOf", self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """Holds when its part does not."""

    part: TextPattern


TextPattern: TypeAlias = Terms | AllOf | AnyOf | Not


def phrase(*terms: str) -> Terms:
    """The terms one directly after the other; of one term, that word."""
    return Terms(terms, (NEXT,) * (len(terms) - 1))


def _check_term(term: str) -> None:
    if '"' in term or term.split() != [term]:
        raise ValueError(f"a term has neither white space nor double quotes, and is not empty: {term!r}")
    if not unicodedata.is_normalized("NFC", term):
        raise ValueError(f"a term is in Unicode's normal form NFC: {term!r}")


_NOT_IN_PREFIXES = re.compile(r"^[-!]|[()*?“”„]|->")


def _check_prefix(number: int, terms: tuple[str, ...]) -> None:
    """A wildcard word has no quotes around it, so it cannot hold what must be in quotes."""
    if not 0 <= number < len(terms):
        raise ValueError(f"the prefixes of {len(terms)} terms have numbers from 0 to {len(terms) - 1}, not {number}")
    if _NOT_IN_PREFIXES.search(terms[number]):
        raise ValueError(f"a prefix has nothing that is written in quotes only: {terms[number]!r}")


def _check_parts(name: str, parts: tuple[TextPattern, ...]) -> None:
    if len(parts) < 2:
        raise ValueError(f"{name} has at least two parts, not {len(parts)}")
