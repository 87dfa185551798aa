"""An event that satisfies a subscription, in so far as one is easily found.

The expression is walked from its root: for AND every part is made true, for OR one of them, for NOT its part is made
false, and each predicate writes the value it needs into the event. Where two predicates want different things of one
attribute the later one wins, so the result often satisfies the subscription and never surely does.
"""

from __future__ import annotations

from copy import deepcopy
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from language.xpath_strategies import NAMESPACE, prefixed
from tidings.model import text, xpath
from tidings.model.predicates import (
    And,
    Between,
    Comparison,
    Constant,
    Expression,
    HasAll,
    HasAny,
    In,
    IsNull,
    Like,
    LikePattern,
    Matches,
    Not,
    Operator,
    Or,
    Predicate,
    Regex,
    Similarity,
    Wildcard,
    XPath,
)
from tidings.model.values import Literal

# RE2 expressions, each with a string in which it is found.
REGEXES = {
    "": "",
    "a": "bab",
    "^ab?$": "a",
    "[0-9]{2,3}": "x123",
    r"\d+\.\d": "1.5",
    "(?i)ABC|x": "abc",
    "^$": "",
    ".": "é",
    r"\pL": "é",
    "(a|b)*c": "ababc",
    r"'": "it's",
    r"\\": "\\",
}
STRANGE = "zzz"  # a string and a word that no subscription of the strategies asks for


class NoValueError(Exception):
    """No value is known that gives the predicate the truth that is wanted."""


def satisfying(expression: Expression, event: dict[str, Any], random: Random) -> dict[str, Any]:
    """The event, changed so that the expression may hold."""
    changed = deepcopy(event)
    _make(expression, True, changed, random)
    return changed


def _make(expression: Expression, wanted: bool, event: dict[str, Any], random: Random) -> None:
    match expression:
        case Not(part):
            _make(part, not wanted, event, random)
        case And(parts) | Or(parts):
            needed = parts if isinstance(expression, And) is wanted else [random.choice(parts)]
            for part in needed:
                _make(part, wanted, event, random)
        case Constant():
            return
        case _:
            try:
                value = _value(expression, wanted, random)
            except NoValueError:
                return
            _write(event, expression.attribute.path, value)


def _write(event: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    record = event
    for name in path[:-1]:
        if not isinstance(record.get(name), dict):
            record[name] = {}
        record = record[name]
    record[path[-1]] = value


def _value(predicate: Predicate, wanted: bool, random: Random) -> Any:
    """A value on which the predicate is true, or false if that is wanted."""
    match predicate:
        case IsNull():
            return None if wanted else random.choice(("", 0, [], {}))
        case HasAll(_, literals) | HasAny(_, literals) if not wanted:
            return [_compared(Operator.NOT_EQUAL, literals[0], random)] if len(literals) == 1 else []
        case HasAll(_, literals):
            return [literal.value for literal in literals] + [STRANGE] * random.randrange(2)
        case HasAny(_, literals):
            return [STRANGE] * random.randrange(2) + [random.choice(literals).value]
        case _:
            scalar = _scalar(predicate, wanted, random)
            return [scalar, None] if wanted and random.random() < 0.1 else scalar


def _scalar(predicate: Predicate, wanted: bool, random: Random) -> Any:
    match predicate:
        case Comparison(_, operator, literal):
            return _compared(operator if wanted else _OPPOSITE[operator], literal, random)
        case Between(_, low, high):
            return low.value if wanted else _compared(Operator.GREATER, high, random)
        case In(_, literals):
            return random.choice(literals).value if wanted else _compared(Operator.NOT_EQUAL, literals[0], random)
        case Like(_, pattern, ignore_case):
            return _like(pattern, ignore_case, random) if wanted else STRANGE
        case Regex(_, pattern):
            return REGEXES.get(pattern, pattern.replace("\\", "")) if wanted else STRANGE
        case Matches(_, pattern):
            return " ".join(_words(pattern, wanted, random))
        case Similarity(_, profile):
            return profile if wanted else STRANGE
        case XPath(_, expression):
            return _document(expression, wanted, random)
    raise NoValueError


# Comparisons

_OPPOSITE = {
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.NOT_EQUAL: Operator.EQUAL,
    Operator.LESS: Operator.GREATER_OR_EQUAL,
    Operator.GREATER_OR_EQUAL: Operator.LESS,
    Operator.GREATER: Operator.LESS_OR_EQUAL,
    Operator.LESS_OR_EQUAL: Operator.GREATER,
}
_STEPS = {
    Operator.EQUAL: (0,),
    Operator.NOT_EQUAL: (-1, 1),
    Operator.LESS: (-1,),
    Operator.LESS_OR_EQUAL: (-1, 0),
    Operator.GREATER: (1,),
    Operator.GREATER_OR_EQUAL: (0, 1),
}


def _compared(operator: Operator, literal: Literal, random: Random) -> Any:
    step, value = random.choice(_STEPS[operator]), literal.value
    if isinstance(value, bool):
        return value if step == 0 else not value
    if isinstance(value, str):
        return {0: value, 1: value + "a", -1: value[:-1]}[step]
    if isinstance(value, datetime):
        try:
            return value + step * timedelta(microseconds=1)
        except OverflowError:
            raise NoValueError from None
    moved = value if step == 0 else value + step  # adding 0 would round a Decimal
    return random.choice((moved, moved, Decimal(moved), float(moved)))


# Strings and texts


def _like(pattern: LikePattern, ignore_case: bool, random: Random) -> str:
    filling = {Wildcard.ONE: ("a", "é", "😀", "%"), Wildcard.ANY: ("", "", "b", "_x")}
    parts = [random.choice(filling[part]) if isinstance(part, Wildcard) else part for part in pattern]
    found = "".join(parts)
    return found.swapcase() if ignore_case and len(found.swapcase()) == len(found) else found


def _words(pattern: text.TextPattern, wanted: bool, random: Random) -> list[str]:
    match pattern:
        case text.Not(part):
            return _words(part, not wanted, random)
        case text.AllOf(parts) | text.AnyOf(parts):
            needed = parts if isinstance(pattern, text.AllOf) is wanted else [random.choice(parts)]
            return [word for part in needed for word in _words(part, wanted, random)]
        case text.Terms(terms, gaps):
            if not wanted:
                return [STRANGE]
            words = [STRANGE, terms[0]]
            for gap, term in zip(gaps, terms[1:], strict=True):
                words += [STRANGE] * gap.least + [term]
            return words


# XML: a tree of [name, attributes, content] that is given the nodes each path asks for


class _Element:
    def __init__(self, name: str) -> None:
        self.name = name
        self.attributes: dict[str, str] = {}
        self.content: list[_Element | str] = []

    def child(self, name: str, fresh: bool) -> _Element:
        same = [one for one in self.content if isinstance(one, _Element) and one.name == name and not fresh]
        if not same:
            same = [_Element(name)]
            self.content.append(same[0])
        return same[0]

    def __str__(self) -> str:
        attributes = "".join(f" {prefixed(name)}={quoteattr(value)}" for name, value in self.attributes.items())
        name = prefixed(self.name)
        return f"<{name}{attributes} xmlns:n='{NAMESPACE}'>{''.join(map(_content, self.content))}</{name}>"


def _content(node: _Element | str) -> str:
    return escape(node) if isinstance(node, str) else str(node)


def _document(expression: xpath.XPathExpression, wanted: bool, random: Random) -> str:
    top = _Element("")  # stands for the document, which has one element
    _plant(expression, wanted, top, random)
    roots = [node for node in top.content if isinstance(node, _Element)]
    if not roots:
        return f"<{STRANGE}/>"
    if len(roots) > 1:  # paths that begin with // are found below the first root too
        roots[0].content += roots[1:]
    return str(roots[0])


def _plant(expression: xpath.XPathExpression, wanted: bool, here: _Element, random: Random) -> None:
    """Gives the element below which a path begins what makes the expression true; of what is to be false, nothing."""
    match expression:
        case xpath.Not(part):
            _plant(part, not wanted, here, random)
        case xpath.And(parts) | xpath.Or(parts):
            needed = parts if isinstance(expression, xpath.And) is wanted else [random.choice(parts)]
            for part in needed:
                _plant(part, wanted, here, random)
        case xpath.Exists(path):
            _plant_path(path, "x", wanted, here, random)
        case xpath.StringTest(_, path, literal):
            _plant_path(path, literal, wanted, here, random)
        case xpath.Comparison(xpath.Path() as path, comparator, right):
            _plant_path(path, _compared_text(comparator, right), wanted, here, random)


def _plant_path(path: xpath.Path, value: str, wanted: bool, here: _Element, random: Random) -> None:
    if not wanted:
        return
    for step in path.steps:
        name = "a" if step.name == xpath.ANY_NAME else step.name
        if step.kind is xpath.NodeKind.ATTRIBUTE:
            here.attributes[name] = value
            return
        if step.kind is not xpath.NodeKind.ELEMENT:
            break
        here = here.child(name, fresh=here.name != "" and random.random() < 0.2)
        for predicate in step.predicates:
            _plant(predicate, True, here, random)
    if here.name:
        here.content.append(value)


def _compared_text(comparator: xpath.Comparator, right: str | Decimal | xpath.Place) -> str:
    if isinstance(right, xpath.Place):
        return ""
    if isinstance(right, str):
        return right if "=" in comparator and comparator != "!=" else STRANGE
    step = {"=": 0, "<=": 0, ">=": 0, "!=": 1, ">": 1, "<": -1}[comparator]
    return format(right + step, "f")
