"""An expression as an OR of conjunctions, and how many of them that makes.

The count comes first and costs nothing, so that an expression which would explode is refused before it does. NOT is
pushed down to the predicates and stays there: `NOT price < 5` is not `price >= 5`, because `price` may be an array.
"""

from __future__ import annotations

from itertools import product
from math import prod

from tidings.model.predicates import And, Conjunction, Constant, Expression, Not, Or, Predicate


def conjunction_count(expression: Expression, negated: bool = False) -> int:
    """How many conjunctions `conjunctions` gives, before duplicates are removed."""
    match expression:
        case Not(part):
            return conjunction_count(part, not negated)
        case Constant(value):
            return int(value != negated)
        case And(parts) | Or(parts):
            counts = [conjunction_count(part, negated) for part in parts]
            return prod(counts) if isinstance(expression, And) != negated else sum(counts)
        case _:
            return 1


def conjunctions(expression: Expression) -> tuple[Conjunction, ...]:
    """The conjunctions of which at least one is true exactly when the expression is true. None: it never is."""
    return tuple(dict.fromkeys(Conjunction(tuple(dict.fromkeys(terms))) for terms in _terms(expression, False)))


def _terms(expression: Expression, negated: bool) -> list[tuple[Predicate | Not, ...]]:
    match expression:
        case Not(part):
            return _terms(part, not negated)
        case Constant(value):
            return [()] if value != negated else []
        case And(parts) | Or(parts):
            alternatives = [_terms(part, negated) for part in parts]
            if isinstance(expression, And) == negated:
                return [terms for alternative in alternatives for terms in alternative]
            return [tuple(term for part in chosen for term in part) for chosen in product(*alternatives)]
        case _:
            return [(Not(expression) if negated else expression,)]
