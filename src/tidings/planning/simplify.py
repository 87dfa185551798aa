"""From an expression to the conjunctions worth indexing: what never matches is dropped, what is implied is left out.

Every step keeps the meaning on every event, arrays included. That forbids what looks obvious on scalars: `a >= 5 AND
a <= 3` is satisfied by [2, 7], and `a = 1 AND a = 2` by [1, 2], so neither is a contradiction. Bounds of one direction
may be intersected, because any element above 5 is also above 3.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidings.language.printer import print_literal
from tidings.model.normal_form import conjunctions
from tidings.model.predicates import (
    Attribute,
    Between,
    Comparison,
    Conjunction,
    Expression,
    HasAll,
    HasAny,
    In,
    IsNull,
    Not,
    Operator,
    Predicate,
)
from tidings.model.values import AttributeType, Literal

Term = Predicate | Not
UPPER = (Operator.LESS, Operator.LESS_OR_EQUAL)
LOWER = (Operator.GREATER, Operator.GREATER_OR_EQUAL)


def simplified(expression: Expression) -> tuple[Conjunction, ...]:
    """The conjunctions of an expression, simplified; without those that another one implies. None: it never matches."""
    kept: dict[frozenset[Term], Conjunction] = {}
    for conjunction in conjunctions(expression):
        simpler = simplify(conjunction)
        if simpler is not None:
            kept.setdefault(frozenset(simpler.terms), simpler)
    return tuple(
        conjunction
        for terms, conjunction in kept.items()
        if not any(other < terms for other in kept)  # fewer terms ask for less, and match whenever this one does
    )


def simplify(conjunction: Conjunction) -> Conjunction | None:
    """An equal conjunction with fewer or simpler terms; None where no event can satisfy it."""
    terms = list(dict.fromkeys(_simpler(term) for term in conjunction.terms))
    if _contradictory(terms):
        return None
    terms = [term for term in terms if not _needless(term, terms)]
    return Conjunction(tuple(_tightest_bounds(terms)))


def _simpler(term: Term) -> Term:
    """A list of one value is an equality, and a set of one alternative a containment; values are listed once."""
    match term:
        case Not(part):
            return Not(_simpler(part))  # type: ignore[arg-type]  # in a conjunction NOT holds a predicate
        case In(attribute, literals):
            values = _ordered(literals)
            return Comparison(attribute, Operator.EQUAL, values[0]) if len(values) == 1 else In(attribute, values)
        case HasAny(attribute, literals):
            values = _ordered(literals)
            return HasAll(attribute, values) if len(values) == 1 else HasAny(attribute, values)
        case HasAll(attribute, literals):
            return HasAll(attribute, _ordered(literals))
        case _:
            return term


def _ordered(literals: Iterable[Literal]) -> tuple[Literal, ...]:
    return tuple(sorted(dict.fromkeys(literals), key=print_literal))


def _contradictory(terms: list[Term]) -> bool:
    asked = set(terms)
    null = {term.attribute for term in terms if isinstance(term, IsNull)}
    return any(
        (isinstance(term, Not) and term.part in asked)
        or (isinstance(term, Between) and empty(term))
        or (not isinstance(term, IsNull) and _attribute(term) in null)  # a null attribute makes all else unknown
        for term in terms
    )


def empty(between: Between) -> bool:
    low, high = between.low.value, between.high.value
    if between.low.type is AttributeType.NUMBER:
        return float(low) > float(high)  # type: ignore[arg-type]  # numbers, as the type says; see the reference on floats
    return low > high  # type: ignore[operator]  # of one type, which the parser sees to


def _needless(term: Term, terms: list[Term]) -> bool:
    """IS NOT NULL beside anything else that is asked of the attribute."""
    if isinstance(term, Not) and isinstance(term.part, IsNull):
        return any(other is not term and _attribute(other) == term.part.attribute for other in terms)
    return False


def _tightest_bounds(terms: list[Term]) -> list[Term]:
    tightest: dict[tuple[Attribute, AttributeType, bool], Comparison] = {}
    for term in terms:
        if isinstance(term, Comparison) and term.operator in (*UPPER, *LOWER):
            key = (term.attribute, term.literal.type, term.operator in UPPER)
            if key not in tightest or _tighter(term, tightest[key]):
                tightest[key] = term
    return [term for term in terms if not _is_bound(term) or term in tightest.values()]


def _is_bound(term: Term) -> bool:
    return isinstance(term, Comparison) and term.operator in (*UPPER, *LOWER)


def _tighter(one: Comparison, other: Comparison) -> bool:
    first, second = one.literal.value, other.literal.value
    if first == second:
        return one.operator in (Operator.LESS, Operator.GREATER)
    below = first < second  # type: ignore[operator]  # of one type, by the key
    return bool(below if one.operator in UPPER else not below)


def _attribute(term: Term) -> Attribute:
    predicate = term.part if isinstance(term, Not) else term
    return predicate.attribute  # type: ignore[union-attr]  # in a conjunction NOT holds a predicate
