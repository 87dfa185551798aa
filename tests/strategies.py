"""Hypothesis strategies for subscriptions and events, shared by all tests.

Subscriptions come in the one form that the model keeps (see `tidings.model.predicates`) and within the language's
limits. Names and values are few, so that predicates often meet a value of their type. Random pairs still match rarely:
in `matching_pairs` every second event is built from the subscription (see `properties.satisfaction`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any, TypeAlias, TypeVar

import re2
from hypothesis import strategies as st

from language.text_strategies import odd_terms, text_patterns, texts
from language.xpath_strategies import xml_documents, xpath_expressions
from properties.satisfaction import REGEXES, satisfying
from tidings.language import limits
from tidings.language.printer import print_expression
from tidings.model.normal_form import conjunction_count
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
    all_of,
    any_of,
    like,
    negation,
)
from tidings.model.values import AttributeType, Literal, boolean, number, string, timestamp

T = TypeVar("T")
EventSource: TypeAlias = dict[str, Any]
Batch: TypeAlias = tuple[list[Expression], list[EventSource]]

NAMES = ("n", "s", "flag", "at", "tags", "body", "doc")  # of one type each in most events, of any type in some
PATHS = (("r", "n"), ("r", "s"), ("list", "n"), ("r", "deep", "s"), ("n", "s"), ("s", "or"))
ODD_NAMES = ("a.b", "last name", "AND", "is", "`", "``x", "é", "1st", "", "\n", "\0", "date", "contains", "ıs", "_")
STRINGS = ("", "a", "b", "ab", "abc", "A", "é", "e\u0301", "ß", "%", "_", "\\", "'", '"', "a b", "5", "\0", "😀")
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MOMENTS = (
    NOW,
    NOW + timedelta(microseconds=1),
    datetime(2026, 1, 31, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(999, 12, 31, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
)
INTEGERS = (0, 1, 2, 5, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 10**30, 10**308, -(10**308))
FRACTIONS = tuple(map(Decimal, ("0.5", "0.1", "94.2", "-0.5", "1.000000000000000000000000000000000001", "1E-308")))


def mostly(usual: st.SearchStrategy[T], other: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    """Three of four times the usual. `one_of` would count every alternative inside of `other`."""
    return st.integers(0, 3).flatmap(lambda drawn: other if drawn == 3 else usual)


def without_surrogates(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


# Literals and attributes


def _any_text(min_size: int = 0) -> st.SearchStrategy[str]:
    return st.text(st.characters(codec="utf-8"), min_size=min_size, max_size=8)


def numbers() -> st.SearchStrategy[Literal]:
    """Integers and numbers with a fraction, also far outside of float64's precision, and at the ends of its range."""
    wide = st.integers(-(10**40), 10**40)
    short = st.decimals(-10_000, 10_000, places=2)
    long = st.builds(lambda digits, places: Decimal(f"{digits}E-{places}"), wide, st.integers(1, 60))
    known = st.sampled_from(INTEGERS) | st.sampled_from(FRACTIONS)
    return st.one_of(st.integers(-5, 5), known, short, wide, long).map(_number)


def _number(value: int | Decimal) -> Literal:
    """With no zeros that mean nothing; `normalize` would round to the precision of the context."""
    if isinstance(value, Decimal) and value != value.to_integral_value():
        sign, digits, exponent = value.as_tuple()
        while not digits[-1]:
            digits, exponent = digits[:-1], int(exponent) + 1
        return Literal(AttributeType.NUMBER, Decimal((sign, digits, int(exponent))))
    return number(value)


def strings() -> st.SearchStrategy[Literal]:
    return (st.sampled_from(STRINGS) | _any_text()).map(string)


def moments() -> st.SearchStrategy[Literal]:
    return (st.sampled_from(MOMENTS) | st.datetimes(timezones=st.just(UTC))).map(timestamp)


def booleans() -> st.SearchStrategy[Literal]:
    return st.booleans().map(boolean)


def literals() -> st.SearchStrategy[Literal]:
    return st.one_of(numbers(), strings(), moments(), booleans())


def attributes() -> st.SearchStrategy[Attribute]:
    """Mostly one of the few names that events have too; sometimes any path of any names."""
    any_name = st.sampled_from([name for name in ODD_NAMES if name]) | _any_text(min_size=1)
    odd = st.lists(any_name, min_size=1, max_size=3).map(tuple).filter(lambda path: path[0] != "id")
    usual = st.sampled_from([*((name,) for name in NAMES), *PATHS])
    return mostly(usual, odd).map(Attribute)


# Predicates


def like_patterns() -> st.SearchStrategy[LikePattern]:
    parts = st.one_of(st.sampled_from(Wildcard), st.sampled_from(STRINGS), _any_text())
    return st.lists(parts, max_size=5).map(like)


def regexes() -> st.SearchStrategy[str]:
    quoted: st.SearchStrategy[str] = _any_text().map(re2.escape)
    return st.sampled_from(sorted(REGEXES)) | quoted


def similarities(attribute: st.SearchStrategy[Attribute], answerable: bool) -> st.SearchStrategy[Similarity]:
    """With `answerable` without a model: what has one can be written, and not yet asked."""
    profiles = texts() | _any_text(min_size=1)
    thresholds = st.sampled_from((0.0, 0.1, 0.5, 0.7071, 1.0)) | st.floats(0, 1).filter(lambda x: x == 0 or x > 1e-307)
    return st.builds(
        Similarity,
        attribute,
        profiles.filter(lambda text: any(character.isalnum() for character in text)),
        st.sampled_from((Operator.GREATER, Operator.GREATER_OR_EQUAL)),
        thresholds.map(lambda x: x if math.copysign(1, x) > 0 else 0.0),
        st.none() if answerable else st.sampled_from((None, "lsi")),
    )


def predicates(answerable: bool = True) -> st.SearchStrategy[Predicate]:
    """Every kind of predicate, mostly on an attribute that has the type it asks for."""
    texts_of_events, any_terms = _asked_of("body", "s"), odd_terms().filter(without_surrogates)
    patterns = text_patterns() | text_patterns(terms=any_terms, max_leaves=3)
    by_type = [
        _on_literals(numbers(), "n", "r.n", "list.n", "tags"),
        _on_literals(strings(), "s", "r.s", "tags", "r.deep.s"),
        _on_literals(moments(), "at"),
        _on_literals(booleans(), "flag"),
    ]
    kinds: list[st.SearchStrategy[Predicate]] = [
        *(st.one_of(of_types) for of_types in zip(*by_type, strict=True)),
        st.builds(Like, _asked_of("s", "r.s", "tags"), like_patterns(), st.booleans()),
        st.builds(Regex, _asked_of("s", "tags"), regexes()),
        st.builds(IsNull, attributes()),
        st.builds(Matches, texts_of_events, patterns),
        similarities(texts_of_events, answerable),
        st.builds(XPath, _asked_of("doc"), xpath_expressions()),
    ]
    return st.sampled_from(kinds).flatmap(lambda kind: kind)  # one_of would draw a kind for each type it comes in


def _asked_of(*names: str) -> st.SearchStrategy[Attribute]:
    usual = st.sampled_from([Attribute(tuple(name.split("."))) for name in names])
    return mostly(usual, attributes())


def _on_literals(literal: st.SearchStrategy[Literal], *names: str) -> list[st.SearchStrategy[Predicate]]:
    """The kinds that compare with literals of one type."""
    attribute = _asked_of(*names)
    arrays = _asked_of("tags", *names)
    several = st.lists(literal, min_size=1, max_size=4).map(tuple)
    return [
        st.builds(Comparison, attribute, st.sampled_from(Operator), literal),
        st.builds(Between, attribute, literal, literal),
        st.builds(In, attribute, several),
        st.builds(HasAll, arrays, several),
        st.builds(HasAny, arrays, several),
    ]


def expressions(
    leaves: st.SearchStrategy[Expression] | None = None, *, answerable: bool = True, max_leaves: int = 8
) -> st.SearchStrategy[Expression]:
    """AND, OR and NOT in any nesting over predicates (or other `leaves`) and constants, within the limits."""
    constants = st.booleans().map(Constant)
    found: st.SearchStrategy[Expression] = predicates(answerable) if leaves is None else leaves
    return st.recursive(found | found | found | constants, _combined, max_leaves=max_leaves).filter(_within_limits)


def _combined(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(parts, min_size=2, max_size=4)
    return several.map(all_of) | several.map(any_of) | parts.map(negation)


def _within_limits(expression: Expression) -> bool:
    return conjunction_count(expression) <= limits.CONJUNCTIONS and len(print_expression(expression)) <= limits.LENGTH


def predicates_of(expression: Expression) -> Iterator[Predicate]:
    """The predicates of an expression, in order."""
    match expression:
        case And(parts) | Or(parts):
            for part in parts:
                yield from predicates_of(part)
        case Not(part):
            yield from predicates_of(part)
        case Constant():
            return
        case _:
            yield expression


# Events


def scalars() -> st.SearchStrategy[Any]:
    """One value of each type in each of Python's forms of it."""
    return st.one_of(
        st.sampled_from(INTEGERS) | st.integers(-5, 5),
        st.floats(width=64) | st.sampled_from((0.5, 94.2, -0.0, math.nan, math.inf, -math.inf, 2.0**53)),
        st.sampled_from((*FRACTIONS, Decimal("NaN"), Decimal("Infinity"), Decimal("1.50"), Decimal("-0"))),
        st.sampled_from(STRINGS) | _any_text(),
        st.booleans(),
        st.sampled_from(MOMENTS),
        st.sampled_from((date(2026, 1, 31), datetime(2026, 1, 31, 12), NOW.astimezone(timezone(timedelta(hours=2))))),
    )


def unreadables() -> st.SearchStrategy[Any]:
    """What no predicate can read: half of a surrogate pair, a record with odd names, objects, times outside of UTC."""
    early = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    return st.sampled_from(
        ("\ud800", "a\udfff", {1: "a"}, {"s": "\ud800"}, 1j, early, Decimal("sNaN"), ["a", "\ud800"])
    )


def values() -> st.SearchStrategy[Any]:
    """A value of any kind: null, scalar, array, record, array of records, text, document, or unreadable."""
    scalar = scalars()
    maybe = st.none() | scalar
    arrays = st.lists(maybe, max_size=4)
    records = st.dictionaries(st.sampled_from(("n", "s", "or", "deep")), maybe | arrays, max_size=3)
    return st.one_of(
        maybe,
        arrays,
        arrays.map(tuple),
        st.sets(st.integers(0, 3) | st.sampled_from(STRINGS), max_size=3),
        records,
        st.lists(records | maybe, max_size=3),
        st.recursive(records, lambda inner: st.fixed_dictionaries({"deep": inner | st.lists(inner, max_size=2)})),
        texts(),
        documents(),
        unreadables(),
        st.just(b"<a/>"),
    )


def documents() -> st.SearchStrategy[str | bytes]:
    """XML, sometimes as bytes, sometimes malformed."""
    whole = xml_documents()
    cut = whole.map(lambda text: text[:-2])
    return mostly(whole, whole.map(str.encode) | cut | st.just("<a>&undeclared;</a>"))


def events() -> st.SearchStrategy[EventSource]:
    """Dicts over the names that subscriptions use too: mostly with a value of the usual type, sometimes with any."""
    usual: dict[str, st.SearchStrategy[Any]] = {
        "n": st.sampled_from((0, 1, 2, 5, 0.5, -0.0, Decimal("0.5"), 2**53 + 1)),
        "s": st.sampled_from(STRINGS),
        "flag": st.booleans(),
        "at": st.sampled_from(MOMENTS),
        "tags": st.lists(st.none() | st.sampled_from(("a", "b", "ab", 1, 5)), max_size=4),
        "body": texts() | st.lists(texts(), max_size=2),
        "doc": documents(),
        "r": st.fixed_dictionaries({}, optional={"n": scalars(), "s": scalars(), "deep": values()}),
        "list": st.lists(st.fixed_dictionaries({}, optional={"n": scalars(), "s": scalars()}), max_size=3),
        "id": st.integers(-(2**63), 2**63 - 1) | _any_text(),
    }
    mixed = {name: kind if name == "id" else mostly(kind, values()) for name, kind in usual.items()}
    odd = st.dictionaries(st.sampled_from(ODD_NAMES) | _any_text(), values(), max_size=2)
    return st.builds(
        lambda some, more: {**{name: value for name, value in more.items() if name != "id"}, **some},
        st.fixed_dictionaries({}, optional=mixed),
        odd,
    )


def matching_pairs(
    subscriptions: st.SearchStrategy[Expression] | None = None,
) -> st.SearchStrategy[tuple[Expression, EventSource]]:
    """A subscription and an event, of which every second one is built to satisfy it, in so far as that is possible."""
    drawn = expressions() if subscriptions is None else subscriptions
    built = st.tuples(drawn, events(), st.randoms(use_true_random=False)).map(
        lambda found: (found[0], satisfying(found[0], found[1], found[2]))
    )
    return st.tuples(drawn, events()) | built


def batches(
    max_subscriptions: int = 5, max_events: int = 3
) -> st.SearchStrategy[tuple[list[Expression], list[EventSource]]]:
    """Some subscriptions, and some events of which about every second one is built to satisfy one of them."""
    wished = st.tuples(st.integers(0, 2 * max_subscriptions), events(), st.randoms(use_true_random=False))
    return st.tuples(
        st.lists(expressions(max_leaves=4), min_size=1, max_size=max_subscriptions),
        st.lists(wished, min_size=1, max_size=max_events),
    ).map(_batch)


def _batch(
    drawn: tuple[list[Expression], list[tuple[int, EventSource, Random]]],
) -> Batch:
    subscriptions, wished = drawn
    built = [
        satisfying(subscriptions[number], event, random) if number < len(subscriptions) else event
        for number, event, random in wished
    ]
    return subscriptions, built
