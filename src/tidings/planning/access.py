"""Which predicate a conjunction is found by: its *access predicate*, the most selective one that can be looked up.

An access path says whether it is exact, so that nothing is left to verify, or gives candidates. A conjunction without
any can only be scanned: every event is tested against it, and `Plan.warnings` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard

from tidings.analysis.patterns import necessary
from tidings.language.printer import print_expression
from tidings.model.predicates import (
    Attribute,
    Between,
    Comparison,
    Conjunction,
    Expression,
    HasAll,
    HasAny,
    In,
    Like,
    LikePattern,
    Matches,
    Not,
    Operator,
    Predicate,
    Similarity,
    Wildcard,
    XPath,
    literals_of,
)
from tidings.model.text import TextPattern
from tidings.model.values import AttributeType
from tidings.planning.long_numbers import has_long
from tidings.planning.selectivity import share_of
from tidings.planning.simplify import LOWER, UPPER, simplified
from tidings.planning.statistics import EventStatistics

NOTHING = EventStatistics()


class AccessPath(StrEnum):
    """How a conjunction is reached from an event. The value is how people read it."""

    VALUE = "by value"
    RANGE = "by range"
    PREFIX = "by prefix"
    SUFFIX = "by suffix"
    SUBSTRING = "by substring"
    ELEMENT = "by element"
    WORDS = "by words"
    PROFILE = "by similarity"
    DOCUMENT = "by path"
    SCAN = "scanned"
    ALWAYS = "always"


Path = tuple[AccessPath, bool]  # and whether it is exact
# Those by a key, under which conjunctions may be ordered by something else.
KEYED = (AccessPath.VALUE, AccessPath.ELEMENT, AccessPath.WORDS, AccessPath.PROFILE, AccessPath.DOCUMENT)


class Cost(StrEnum):
    """What a conjunction costs per event: nothing unless it matches, a check per candidate, or a check always."""

    DIRECT = "direct"
    VERIFIED = "verified"
    SCANNED = "scanned"


@dataclass(frozen=True, slots=True)
class Access:
    """The way to one conjunction. `predicate` is None where there is none; `share` is that of events reaching it.

    By what is `ordered` the conjunctions of one key stand in order, so that those which an event satisfies are a slice.
    An index does so where enough conjunctions have these attributes, and verifies what it does not order by.
    """

    conjunction: Conjunction
    path: AccessPath
    predicate: Predicate | None
    exact: bool
    ordered: tuple[Predicate, ...]
    share: float
    reason: str

    @property
    def residual(self) -> tuple[Predicate | Not, ...]:
        """What is verified of each candidate: whatever neither path nor order decide."""
        return undecided(self.conjunction.terms, self.predicate if self.exact else None, self.ordered)

    @property
    def cost(self) -> Cost:
        if self.path is AccessPath.SCAN:
            return Cost.SCANNED
        return Cost.VERIFIED if self.residual else Cost.DIRECT


@dataclass(frozen=True, slots=True)
class Plan:
    """How an expression is found: one access per conjunction. No conjunction: it never matches."""

    accesses: tuple[Access, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(
            f"{_shown(access.conjunction)} can only be scanned: {access.reason}"
            for access in self.accesses
            if access.path is AccessPath.SCAN
        )


def plan(expression: Expression, statistics: EventStatistics = NOTHING) -> Plan:
    """The access of every conjunction of the expression."""
    return Plan(tuple(access_of(conjunction, statistics) for conjunction in simplified(expression)))


def access_of(conjunction: Conjunction, statistics: EventStatistics = NOTHING) -> Access:
    """The access by the most selective predicate that has a path."""
    terms = conjunction.terms
    if not terms:
        return Access(conjunction, AccessPath.ALWAYS, None, True, (), 1.0, "it asks for nothing")
    shares = [share_of(term, statistics) for term in terms]
    best = most_selective(terms, shares, [path_of(term) for term in terms])
    if best is None:
        reason = "it has nothing to look up: no equality, range, list, piece of a string, element, words or path"
        return Access(conjunction, AccessPath.SCAN, None, False, (), 1.0, reason)
    number, (path, exact), share = best
    predicate = terms[number]
    assert not isinstance(predicate, Not)
    ordered = ordering(predicate, path, by_share(terms, shares))
    return Access(conjunction, path, predicate, exact, ordered, share, _reason(conjunction, share))


def most_selective(
    terms: Sequence[Predicate | Not], shares: Sequence[float], paths: Sequence[Path | None]
) -> tuple[int, Path, float] | None:
    """Which of the terms leads to the fewest events, of those that have a path; the first of equals. And their share.

    What is found by a value is ordered, among others of that value, by one further value or range: both count.
    """
    best: tuple[int, Path, float] | None = None
    least = 2.0, 2.0
    ordering = [
        (shares[number], term.attribute)  # type: ignore[union-attr]  # a predicate, as it orders
        for number, term in enumerate(terms)
        if paths[number] is not None and orders(term)
    ]
    for number, path in enumerate(paths):
        if path is None:
            continue
        own = share = shares[number]
        if path[0] is AccessPath.VALUE:
            attribute = terms[number].attribute  # type: ignore[union-attr]  # a negation has no path
            share *= min((each for each, other in ordering if other != attribute), default=1.0)
        if (share, own) < least:  # of two values the rarer leads
            least = share, own
            best = number, path, share
    return best


def by_share(terms: Sequence[Predicate | Not], shares: Sequence[float]) -> list[Predicate | Not]:
    """From the most selective on."""
    return [terms[number] for number in sorted(range(len(terms)), key=shares.__getitem__)]


def ordering(lead: Predicate, path: AccessPath, terms: Sequence[Predicate | Not]) -> tuple[Predicate, ...]:
    """By which terms the conjunctions that one key leads to are ordered: one value or range, or two bounds of one kind
    of value. The first of the terms that can; where ranges lead, the leading one itself."""
    if path is AccessPath.RANGE:
        first: Predicate | None = lead
    elif path in KEYED:
        first = next((term for term in terms if _can_order(term, lead)), None)
    else:
        first = None
    if first is None:
        return ()
    opposite = next((term for term in terms if _are_opposite(term, first)), None)
    return (first,) if opposite is None else (first, opposite)


def _can_order(term: Predicate | Not, lead: Predicate) -> TypeGuard[Predicate]:
    return orders(term) and _read_as(term) != _read_as(lead)  # type: ignore[arg-type]  # what orders is a predicate


def _are_opposite(one: Predicate | Not, other: Predicate) -> TypeGuard[Predicate]:
    """Whether they are an upper and a lower bound of the same attribute and type."""
    if not isinstance(one, Comparison) or not isinstance(other, Comparison) or _read_as(one) != _read_as(other):
        return False
    return (one.operator in UPPER and other.operator in LOWER) or (one.operator in LOWER and other.operator in UPPER)


def _read_as(predicate: Predicate) -> tuple[Attribute, object]:
    """The attribute and as what it is read: conjunctions of one key are ordered by something else than the key."""
    literals = literals_of(predicate)
    if isinstance(predicate, Like):
        return predicate.attribute, AttributeType.STRING
    return predicate.attribute, literals[0].type if literals else type(predicate)


def undecided(
    terms: Sequence[Predicate | Not], found: Predicate | None, ordered: Sequence[Predicate]
) -> tuple[Predicate | Not, ...]:
    """The terms but what is found exactly and what an order decides: not strings, which are ordered by their hashes,
    nor numbers whose keys are those of others too."""
    decided = [term for term in ordered if literals_of(term)[0].type is not AttributeType.STRING and not has_long(term)]
    return tuple(term for term in terms if term != found and term not in decided)


def orders(term: Predicate | Not) -> bool:
    """Whether subscriptions can be ordered by what a term compares with: another value, or a range on a line."""
    match term:
        case Comparison(_, Operator.EQUAL, _):
            return True
        case Comparison(_, operator, literal):
            return operator is not Operator.NOT_EQUAL and literal.type is not AttributeType.STRING
        case Between(_, low, _):
            return low.type is not AttributeType.STRING
        case _:
            return False


def path_of(term: Predicate | Not) -> Path | None:
    """The path that leads to a predicate and whether it is exact; None for what can only be verified."""
    found = _path_of(term)
    return (found[0], False) if found is not None and has_long(term) else found


def _path_of(term: Predicate | Not) -> Path | None:
    match term:
        case Comparison(_, Operator.NOT_EQUAL, _):
            return None
        case Comparison(_, Operator.EQUAL, _) | In():
            return AccessPath.VALUE, True
        case Comparison() | Between() if orders(term):
            return AccessPath.RANGE, True
        case HasAll(_, literals):
            return AccessPath.ELEMENT, len(literals) == 1
        case HasAny():
            return AccessPath.ELEMENT, True
        case Like(_, pattern, False):
            return _path_of_pattern(pattern)
        case Matches(_, words):
            return (AccessPath.WORDS, True) if _needs_a_word(words) else None
        case Similarity():
            return AccessPath.PROFILE, True
        case XPath():
            return AccessPath.DOCUMENT, True
        case _:
            return None


def _needs_a_word(pattern: TextPattern) -> bool:
    """Whether only texts with certain words can satisfy it: NOT x holds of nearly every text."""
    return necessary(pattern, lambda _: frozenset(), len) is not None


def _path_of_pattern(pattern: LikePattern) -> tuple[AccessPath, bool] | None:
    match pattern:
        case () | (str(),):
            return AccessPath.VALUE, True
        case (str(), *rest):
            return AccessPath.PREFIX, rest == [Wildcard.ANY]
        case (*rest, str()):
            return AccessPath.SUFFIX, rest == [Wildcard.ANY]
        case _ if any(isinstance(part, str) for part in pattern):
            return AccessPath.SUBSTRING, len(pattern) == 3 and pattern[0] is pattern[2] is Wildcard.ANY
        case _:
            return None


def _reason(conjunction: Conjunction, share: float) -> str:
    if len(conjunction.terms) == 1:
        return "its only predicate"
    return f"the most selective of {len(conjunction.terms)}, an estimated {share:.2g} of the events"


def _shown(conjunction: Conjunction) -> str:
    return " AND ".join(print_expression(term, 3) for term in conjunction.terms)
