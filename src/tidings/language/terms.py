"""Shapes that are a row of comparisons: what is known of all their texts before a literal is read.

Nearly all subscriptions that come by the million compare some attributes with numbers and strings, joined by AND.
Whoever takes them by columns needs which attribute is compared by which operator with which literal, no expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import exp

from tidings.language.builder import FLIPPED, OPERATORS, Builder, stripped
from tidings.language.lexer import Kind
from tidings.model.predicates import Attribute, Operator
from tidings.model.values import AttributeType

LONGEST_NUMBER = 15  # characters: no number this short is out of range, and float64 tells all of them apart
_TYPES = {Kind.NUMBER: AttributeType.NUMBER, Kind.STRING: AttributeType.STRING}


class Term(NamedTuple):
    """A comparison with one literal, or BETWEEN two."""

    attribute: Attribute
    operator: Operator | None  # None: BETWEEN
    type: AttributeType  # NUMBER or STRING
    literals: tuple[int, ...]  # which of the literals of the text
    negative: tuple[bool, ...]  # of each, whether a minus sign stands before it


def terms_of(builder: Builder, tree: exp.Expr) -> tuple[Term, ...] | None:
    """The terms of a condition, in the order of the parts of its expression; None where it has anything else in it.

    It is asked of what the builder has accepted: nothing is refused here.
    """
    terms: list[Term] = []
    waiting = [tree]
    while waiting:
        node = stripped(waiting.pop())
        if isinstance(node, exp.And):
            waiting += [node.expression, node.this]
            continue
        term = _term(builder, node)
        if term is None:
            return None
        terms.append(term)
    return tuple(terms)


def _term(builder: Builder, node: exp.Expr) -> Term | None:
    if isinstance(node, exp.Between):
        return _made(builder, node.this, None, [node.args["low"], node.args["high"]])
    operator = OPERATORS.get(type(node))
    if operator is None:
        return None
    left, right = stripped(node.this), stripped(node.expression)
    if isinstance(left, exp.Literal):
        left, right, operator = right, left, FLIPPED.get(operator, operator)
    return _made(builder, left, operator, [right])


def _made(builder: Builder, left: exp.Expr, operator: Operator | None, values: Sequence[exp.Expr]) -> Term | None:
    if not isinstance(stripped(left), exp.Column):
        return None
    tokens = [builder.token(stripped(value)) for value in values]
    if tokens[0].kind not in _TYPES:
        return None
    return Term(
        builder.attribute(left),
        operator,
        _TYPES[tokens[0].kind],
        tuple(builder.ordinals[int(stripped(value).name)] for value in values),
        tuple(token.negative for token in tokens),
    )
