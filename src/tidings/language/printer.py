"""From an expression to its canonical text: parse(print(x)) == x, and equal expressions print equal.

Comparisons are printed attribute first, strings in single quotes, times in UTC, an AND inside an OR in parentheses.
"""

from __future__ import annotations

import re
from datetime import datetime, time
from decimal import Decimal

from tidings.language.lexer import KEYWORDS
from tidings.language.text import print_pattern
from tidings.language.wildcards import text_of
from tidings.language.xpath import print_namespaces, print_xpath
from tidings.model.predicates import (
    And,
    Attribute,
    Between,
    Comparison,
    Constant,
    Expression,
    HasAll,
    HasAny,
    In,
    IsNull,
    Like,
    Matches,
    Not,
    Or,
    Regex,
    Similarity,
    XPath,
)
from tidings.model.values import Literal

_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_CONTROLS = str.maketrans({"\\": "\\\\", "'": "''", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"})
LONG_NUMBER = 20  # decimal exponent, up or down
_BINDING = {Or: 1, And: 2, Not: 3}  # what binds tighter has the higher number


def print_expression(expression: Expression, binding: int = 0) -> str:
    """The canonical text; in parentheses where the surroundings bind tighter than the expression itself."""
    own = _BINDING.get(type(expression), 4)
    text = _printed(expression, own)
    return f"({text})" if own < binding else text


def _printed(expression: Expression, own: int, negated: str = "") -> str:
    match expression:
        case Or(parts):  # an AND inside needs no parentheses, and is easier to read in them
            return " OR ".join(print_expression(part, _BINDING[Not]) for part in parts)
        case And(parts):
            return " AND ".join(print_expression(part, _BINDING[Not]) for part in parts)
        case Not(IsNull(attribute)):
            return f"{print_attribute(attribute)} IS NOT NULL"
        case Not(Between() | In() | Like() | Regex() as part):
            return _printed(part, own, "NOT ")
        case Not(part):
            return f"NOT {print_expression(part, own + 1)}"
        case Constant(value):
            return "TRUE" if value else "FALSE"
        case IsNull(attribute):
            return f"{print_attribute(attribute)} IS NULL"
        case Comparison(attribute, operator, literal):
            return f"{print_attribute(attribute)} {operator} {print_literal(literal)}"
        case Between(attribute, low, high):
            return f"{print_attribute(attribute)} {negated}BETWEEN {print_literal(low)} AND {print_literal(high)}"
        case In(attribute, literals):
            return f"{print_attribute(attribute)} {negated}IN ({_listed(literals)})"
        case Like(attribute, pattern, ignore_case):
            word = "ILIKE" if ignore_case else "LIKE"
            return f"{print_attribute(attribute)} {negated}{word} {print_string(text_of(pattern))}"
        case Regex(attribute, pattern):
            return f"{print_attribute(attribute)} {negated}RLIKE {print_string(pattern)}"
        case HasAll(attribute, (literal,)):
            return f"array_contains({print_attribute(attribute)}, {print_literal(literal)})"
        case HasAll(attribute, literals):
            return f"has_all({print_attribute(attribute)}, {_listed(literals)})"
        case HasAny(attribute, literals):
            return f"has_any({print_attribute(attribute)}, {_listed(literals)})"
        case Matches(attribute, pattern):
            return f"matches({print_attribute(attribute)}, {print_string(print_pattern(pattern))})"
        case Similarity(attribute, profile, operator, threshold, model):
            option = f", model => {print_string(model)}" if model else ""
            arguments = f"{print_attribute(attribute)}, {print_string(profile)}{option}"
            return f"similarity({arguments}) {operator} {_number(Decimal(repr(threshold)))}"
        case XPath(attribute, path):
            namespaces = print_namespaces(path)
            option = f", namespaces => {print_string(namespaces)}" if namespaces else ""
            return f"xpath_boolean({print_attribute(attribute)}, {print_string(print_xpath(path))}{option})"


def print_attribute(attribute: Attribute) -> str:
    return ".".join(_name(name, len(attribute.path) == 1) for name in attribute.path)


def print_literal(literal: Literal) -> str:
    value = literal.value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return print_string(value)
    if isinstance(value, datetime):
        return _moment(value)
    return _number(Decimal(value))


def _number(value: Decimal) -> str:
    """In full, or with an exponent where that would be long: 1e300 is not printed as three hundred zeros."""
    if -LONG_NUMBER < value.adjusted() < LONG_NUMBER:
        shown = f"{value:f}"
        return shown.rstrip("0").rstrip(".") if "." in shown else shown  # 0.50 equals 0.5, and prints as it
    sign, digits, exponent = value.as_tuple()
    shown = "".join(map(str, digits)).rstrip("0")
    assert isinstance(exponent, int)
    return f"{'-' * sign}{shown}e{exponent + len(digits) - len(shown)}"


def print_string(text: str) -> str:
    return f"'{text.translate(_CONTROLS)}'"


def _listed(literals: tuple[Literal, ...]) -> str:
    return ", ".join(print_literal(literal) for literal in literals)


def _name(name: str, alone: bool) -> str:
    plain = _PLAIN_NAME.fullmatch(name) and not (alone and name.upper() in KEYWORDS)
    return name if plain else "`" + name.replace("`", "``") + "`"


def _moment(value: datetime) -> str:
    if value.timetz().replace(tzinfo=None) == time():
        return f"DATE '{value:%Y-%m-%d}'" if value.year >= 1000 else f"DATE '{value.date().isoformat()}'"
    return f"TIMESTAMP '{value.replace(tzinfo=None).isoformat(' ')}'"
