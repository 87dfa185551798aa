"""Text and model are two forms of one thing: what is printed reads back, whatever was read before."""

from __future__ import annotations

import string
from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from strategies import attributes, expressions, numbers, predicates
from tidings.errors import SubscriptionError
from tidings.language import parser
from tidings.language.parser import Unbound, bound, parse, read
from tidings.language.printer import print_attribute, print_expression
from tidings.model.predicates import Attribute, Comparison, Expression, Operator, negation
from tidings.model.values import AttributeType, Literal

Outcome: TypeAlias = Expression | tuple[type, str]


def outcome(where: str, parse: Callable[[str], Expression] = parse) -> Outcome:
    """The expression, or the error in words."""
    try:
        return parse(where)
    except SubscriptionError as error:
        return type(error), str(error)


def read_and_bound(where: str) -> Expression:
    return bound(read(where))


def forget_shapes() -> None:
    parser._templates.clear()
    parser._seen.clear()


@given(expressions(answerable=False))
def test_what_is_printed_reads_back(expression: Expression) -> None:
    assert parse(print_expression(expression)) == expression


@given(expressions(answerable=False))
def test_printing_again_changes_nothing(expression: Expression) -> None:
    printed = print_expression(expression)
    assert print_expression(parse(printed)) == printed


@settings(max_examples=3 * settings().max_examples)
@given(predicates(answerable=False) | predicates(answerable=False).map(negation))
def test_each_kind_of_predicate_and_its_negation_read_back(expression: Expression) -> None:
    assert parse(print_expression(expression)) == expression


@given(numbers())
@example(Literal(AttributeType.NUMBER, Decimal("-1.12345678901234567890123456789012345")))
def test_a_number_keeps_all_its_digits(literal: Literal) -> None:
    comparison = Comparison(Attribute(("n",)), Operator.EQUAL, literal)
    (read,) = [found.literal for found in [parse(print_expression(comparison))] if isinstance(found, Comparison)]
    assert (type(read.value), read.value) == (type(literal.value), literal.value)


@given(attributes())
def test_an_attribute_reads_back(attribute: Attribute) -> None:
    comparison = parse(f"{print_attribute(attribute)} = 1")
    assert isinstance(comparison, Comparison)
    assert comparison.attribute == attribute


@pytest.mark.parametrize(
    "spellings",
    [
        ("n = 0.5", "n = .5", "n = 0.50", "n = 5e-1", "n=+0.5", "0.5 = n", "(n) = (0.5)", "n = 00.500"),
        ("n = 1000", "n = 1e3", "n = 1000.0", "n = 1000.", "n = 0.1E+4", "n = + 1000"),
        ("n = 0", "n = -0", "n = 0.0", "n = -0.0", "n = 0e5", "n = 0e-300"),
        ("n > 1", "1 < n", "((n > 1))", "NOT NOT n > 1", "NOT (NOT (n > 1))", "n\n>\t1"),
        ("n <> 1", "n != 1", "1 <> n"),
        ("s = 'it''s'", "s = 'it\\'s'", 's = "it\'s"', "s = 'it\\u0027s'", "s = 'it\\047s'"),
        ("s = '\\\\d'", "s = r'\\d'", 's = R"\\d"'),
        ("s LIKE '%a%'", "s LIKE '%%a%'", "contains(s, 'a')", "CONTAINS(s, 'a')", "s like '%a%' escape '!'"),
        ("s LIKE '\\\\%a'", "s LIKE '\\%a'", "s LIKE '!%a' ESCAPE '!'", "s LIKE '%%a' ESCAPE '%'"),
        ("s NOT LIKE 'a%'", "NOT startswith(s, 'a')", "NOT s LIKE 'a%'"),
        ("s IS NOT NULL", "NOT s IS NULL", "NOT (s IS NULL)", "s is not null"),
        ("a IS NULL AND b AND c", "(a IS NULL AND b) AND c", "a IS NULL AND (b AND (c))"),
        ("n IN (1, 2)", "n IN (1.0, 2e0)", "n in(1,2)"),
        ("array_contains(tags, 'a')", "has_all(tags, 'a')", "has_all(tags, array('a'))"),
        ("has_any(tags, 1, 2)", "has_any(tags, array(1, 2))", "arrays_overlap(tags, array(1, 2))"),
        ("flag", "flag = TRUE", "flag = true", "TRUE = flag", "(flag)"),
        ("at >= DATE '2026-01-31'", "at >= TIMESTAMP '2026-01-31'", "at >= TIMESTAMP '2026-01-31 00:00Z'"),
        ("at = TIMESTAMP '2026-01-31 10:00'", "at = TIMESTAMP '2026-01-31T12:00:00.000 Europe/Athens'"),
        ("r.n = 1", "`r`.`n` = 1", "r.`n` = 1"),
    ],
    ids=lambda spellings: spellings[0],
)
def test_what_means_the_same_prints_the_same(spellings: tuple[str, ...]) -> None:
    assert {print_expression(parse(spelled)) for spelled in spellings} == {print_expression(parse(spellings[0]))}
    assert all(parse(spelled) == parse(spellings[0]) for spelled in spellings)


# Shapes: the same text, and the same error, whether or not texts that differ in their literals only came before


@given(expressions(answerable=False))
def test_a_text_means_the_same_once_its_shape_is_known(expression: Expression) -> None:
    where = print_expression(expression)
    forget_shapes()
    outcomes = [outcome(where) for _ in range(4)]
    assert outcomes == [expression] * 4
    assert outcome(where, read_and_bound) == expression


LITERALS = (
    *("1", "0.5", ".5", "1.", "1e3", "1e999", "007", "'a'", "''", "'it''s'", "'\\''", '"a"', '""', r"r'\d'", 'R"x"'),
    *(
        "'2026-01-31'",
        "'2026-01-31 10:00'",
        "'('",
        "'%'",
        "'!'",
        "'lsi'",
        "'a b'",
        "'\\ud800'",
        "'//a'",
        "'`'",
        "'a\\'",
    ),
)
GAPS = (
    *(
        "n = {}",
        "n = -{}",
        "n =- {}",
        "n={}AND s={}",
        "n IN ({}, {})",
        "n BETWEEN {} AND {}",
        "s LIKE {}",
        "s RLIKE {}",
    ),
    *("s LIKE {} ESCAPE {}", "at > DATE {}", "at > DATE{}", "at > TIMESTAMP {}", "matches(s, {})", "{} < n", "a1 = {}"),
    *(
        "xpath_boolean(s, {})",
        "similarity(s, {}) >= {}",
        "similarity(s, {}, model => {}) > {}",
        "has_any(tags, {}, -{})",
    ),
    *("`a 1 'x'` = {}", "`{}` = {}", "n = {} AND {}", "s = {}{}", "n = {}.{}", "n.{} = 1", "s = r{}", "s = ar{}", "{}"),
    *("n = 1{}", "n = {}e5", "contains(s, {}) OR n = {} AND NOT flag", "n = {} -- {}", "n = {}-{}", "s RLIKE {}"),
)


@given(st.sampled_from(GAPS), st.lists(st.lists(st.sampled_from(LITERALS), min_size=3, max_size=3), min_size=1))
def test_texts_of_one_shape_give_what_each_gives_alone(shape: str, filled: list[list[str]]) -> None:
    texts = [shape.format(*literals) for literals in filled]
    alone: list[Outcome] = []
    for text in texts:
        forget_shapes()
        alone.append(outcome(text))
    forget_shapes()
    assert [outcome(text) for text in texts + texts] == alone + alone
    assert [outcome(text, read_and_bound) for text in texts] == alone


@pytest.mark.parametrize(
    ("where", "is_unbound"),
    [
        ("n = 5", True),
        ("s = 'a' AND -2.5 >= n", True),
        ("(s = r'\\d' AND (n BETWEEN 1 AND 2.5)) AND m <> .5", False),  # a backslash may be a wrong escape
        ("(s = 'it''s' AND (n BETWEEN 1 AND 2.5)) AND m <> .5", True),
        ("n = 1e3", False),  # an exponent may be too large
        ("n = 1234567890123456", False),  # a number of 16 characters may be one that float64 does not have
        ("n = 123456789012345", True),
        ("NOT n = 5", False),
        ("n = 5 OR n = 6", False),
        ("at = DATE '2026-01-31'", False),
        ("n IN (1, 2)", False),
        ("s LIKE 'a%'", False),
        ("n = 5 AND flag", False),
    ],
)
def test_rows_of_comparisons_are_left_unbound_once_their_shape_is_known(where: str, is_unbound: bool) -> None:
    forget_shapes()
    expected = [parse(where), parse(where)][0]
    found = read(where)
    assert isinstance(found, Unbound) == is_unbound
    assert bound(found) == expected


@given(st.lists(st.text(string.printable, max_size=6), max_size=6), st.lists(st.sampled_from(LITERALS), max_size=6))
def test_any_text_gives_the_same_each_time(pieces: list[str], literals: list[str]) -> None:
    text = "".join(piece for pair in zip(pieces, literals, strict=False) for piece in pair)
    forget_shapes()
    first = outcome(text)
    assert [outcome(text) for _ in range(3)] == [first] * 3
