"""Which attributes subscriptions ask about: the columns of events that have to reach the matcher, and no others."""

from __future__ import annotations

from collections.abc import Iterable

from tidings.language.parser import Asked, Unbound
from tidings.model.predicates import And, Constant, Expression, Not, Or

NOTE = "attributes"  # in the notes of a segment file: the names of the columns that its subscriptions ask about


def attributes_of(expressions: Iterable[Expression]) -> set[str]:
    """The first names of all paths."""
    found: set[str] = set()
    for expression in expressions:
        add_attributes(expression, found)
    return found


def add_attributes(asked: Asked, found: set[str]) -> None:
    """The same for one subscription. With a loop rather than by patterns: it is done once for each."""
    if isinstance(asked, Unbound):
        found.update([term.attribute.path[0] for term in asked.template.terms or ()])
        return
    waiting: list[Expression] = [asked]
    while waiting:
        each = waiting.pop()
        if isinstance(each, And | Or):
            waiting += each.parts
        elif isinstance(each, Not):
            waiting.append(each.part)
        elif not isinstance(each, Constant):
            found.add(each.attribute.path[0])
