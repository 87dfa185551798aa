"""`parse`: shapes that are learned and not, limits with both numbers, errors moved out of literals."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tidings import LimitError, SubscriptionError, parse, print_expression
from tidings.language import limits, parser
from tidings.model.predicates import Attribute, Comparison, Like, Not, Operator, Wildcard
from tidings.model.values import AttributeType, Literal, boolean, number, string, timestamp


@pytest.fixture(autouse=True)
def _nothing_learned() -> Iterator[None]:
    parser._templates.clear()
    parser._seen.clear()
    parser._terms.clear()
    yield
    parser._templates.clear()
    parser._seen.clear()
    parser._terms.clear()


def equal(name: str, literal: Literal) -> Comparison:
    return Comparison(Attribute((name,)), Operator.EQUAL, literal)


@pytest.mark.parametrize(
    ("where", "literal"),
    [
        ("a = 5", number(5)),
        ("a = -5", number(-5)),
        ("a = + 5", number(5)),
        ("a = 5.0", number(5)),
        ("a = .5", number(Decimal("0.5"))),
        ("a = 5.", number(5)),
        ("a = 1e3", number(1000)),
        ("a = 1.25E-2", number(Decimal("0.0125"))),
        ("a = 12345678901234567890123", number(12345678901234567890123)),
        ("a = TRUE", boolean(True)),
        ("a = false", boolean(False)),
        ("a = 'x'", string("x")),
        ('a = "x"', string("x")),
        ("a = 'it''s'", string("it's")),
        ('a = "a""b"', string('a"b')),
        ("a = 'a\"\"b'", string('a""b')),
        (r"a = 'it\'s'", string("it's")),
        (r"a = '\n\t\r\0\b\Z\\\x'", string("\n\t\r\0\b\x1a\\x")),
        (r"a = '\u00e9\U0001F600\101'", string("é😀A")),
        (r"a = '\%\_'", string(r"\%\_")),
        (r"a = r'\n'", string(r"\n")),
        ("a = ''", string("")),
        ("a = DATE '2026-01-31'", timestamp(datetime(2026, 1, 31, tzinfo=UTC))),
        ("a = TIMESTAMP '2026-01-31'", timestamp(datetime(2026, 1, 31, tzinfo=UTC))),
        ("a = TIMESTAMP '2026-01-31T12:30'", timestamp(datetime(2026, 1, 31, 12, 30, tzinfo=UTC))),
        ("a = TIMESTAMP '2026-01-31 12:30:00.5Z'", timestamp(datetime(2026, 1, 31, 12, 30, 0, 500000, tzinfo=UTC))),
        ("a = TIMESTAMP '2026-01-31 12:30:00+0200'", timestamp(datetime(2026, 1, 31, 10, 30, tzinfo=UTC))),
        ("a = TIMESTAMP '2026-07-31 12:30:00 Europe/Athens'", timestamp(datetime(2026, 7, 31, 9, 30, tzinfo=UTC))),
    ],
)
def test_literals(where: str, literal: Literal) -> None:
    expected = equal("a", literal)
    for _ in range(4):  # the first two read the text, the others bind the template
        found = parse(where)
        assert found == expected
        assert isinstance(found, Comparison)
        assert type(found.literal.value) is type(literal.value)
    assert parse(print_expression(expected)) == expected


def test_booleans_and_numbers_are_different_values() -> None:
    assert parse("a = TRUE") != parse("a = 1")
    assert Literal(AttributeType.BOOLEAN, True) != Literal(AttributeType.NUMBER, 1)


def test_a_shape_is_learned_at_the_second_text() -> None:
    for count, where in enumerate(["a = 1 AND b = 'x'", "a = 2 AND b = 'y'", "a = 3 AND b = 'it''s'"]):
        parse(where)
        assert len(parser._templates) == min(count, 1)


def test_a_shape_whose_literals_the_cut_sees_elsewhere_is_never_learned() -> None:
    for text in ("`a 5` = 5", "`a 6` = 5", "`it 's` = 'x' AND `it 's` = 1"):
        for _ in range(3):
            parse(text)
    assert not parser._templates
    assert parse("`a 6` = 5") == equal("a 6", number(5))


def test_few_shapes_are_kept() -> None:
    for number_ in range(parser._SHAPES_KEPT + 10):
        for _ in range(2):
            parse(f"a{number_} = 1")
    assert 0 < len(parser._templates) <= parser._SHAPES_KEPT


def test_errors_in_literals_are_the_same_once_the_shape_is_learned() -> None:
    good, bad = "a = 1 AND b > DATE '2026-01-31'", "a = 1 AND b > DATE '2026-02-31'"
    with pytest.raises(SubscriptionError) as before:
        parse(bad)
    for _ in range(3):
        parse(good)
    with pytest.raises(SubscriptionError) as after:
        parse(bad)
    assert str(after.value) == str(before.value)
    assert after.value.position == bad.index("'")


def test_an_error_in_a_string_points_into_it_where_it_can() -> None:
    with pytest.raises(SubscriptionError) as plain:
        parse("matches(t, 'a OR')")
    assert plain.value.position == len("matches(t, 'a OR")
    with pytest.raises(SubscriptionError) as raw:
        parse("x = 'y' AND matches(t, r'a OR')")
    assert raw.value.position == len("x = 'y' AND matches(t, r'a OR")
    with pytest.raises(SubscriptionError) as escaped:
        parse(r"matches(t, '\u0061 OR')")
    assert (escaped.value.position, escaped.value.length) == (len("matches(t, "), len(r"'\u0061 OR'"))


def test_not_and_wildcards_have_one_form() -> None:
    assert parse("NOT (NOT a = 1)") == parse("a = 1")
    assert parse("a LIKE '%%_%x'") == Like(Attribute(("a",)), (Wildcard.ONE, Wildcard.ANY, "x"))
    assert parse("startswith(a, '50%')") == parse(r"a LIKE '50\%%'") == parse("a LIKE '50!%%' ESCAPE '!'")
    assert parse("a IS NOT NULL") == Not(parse("a IS NULL"))
    assert parse("a NOT LIKE 'x'") == parse("NOT a LIKE 'x'") == Not(parse("a LIKE 'x'"))
    assert parse("NOT a NOT ILIKE 'x' ESCAPE '!'") == parse("a ILIKE 'x'")
    assert print_expression(parse("NOT a LIKE 'x' AND NOT (b OR c)")) == "a NOT LIKE 'x' AND NOT (b = TRUE OR c = TRUE)"


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("a = '" + "x" * limits.LENGTH + "'", "has 65542 characters, and at most 65536 are allowed"),
        ("contains(a, '" + "%" * 30_000 + "')", "in canonical form the subscription has 90011 characters"),
        ("(" * 65 + "a = 1" + ")" * 65, "nested 65 deep, and at most 64 is allowed"),
        ("NOT " * 65 + "a = 1", "nested 65 deep, and at most 64 is allowed"),
        (" AND ".join(["(a OR b)"] * 11), "is 2,048 of them, and at most 1,024 are allowed"),
        (" AND ".join(["(a OR b)"] * 3000), "is more than 10^903 of them, and at most 1,024 are allowed"),
        ("NOT (" + " OR ".join(["(a AND b)"] * 11) + ")", "is 2,048 of them"),
        (".".join(["a"] * 33) + " = 1", "the path has 33 names, and at most 32 are allowed"),
        ("a = " + "1" * 401, "the number has 401 characters, and at most 400 are allowed"),
        ("a = 1e309", "decimal exponent 309, and at most 308 up or down is allowed"),
        ("a = 1e-309", "decimal exponent -309, and at most 308 up or down is allowed"),
        ("a = 1.8e308", "decimal exponent 308, and at most 308"),
        ("a = 1e999999999999", "decimal exponent 999999999999, and at most 308"),
        ("a RLIKE '" + "x" * 1025 + "'", "has 1025 characters, and at most 1024 are allowed"),
        ("matches(a, '" + "x " * 513 + "')", "has 513 words, and at most 512 are allowed"),
        ("xpath_boolean(a, '" + "/a" * 257 + "')", "257 steps, and at most 256 are allowed"),
    ],
)
def test_limits_are_refused_with_both_numbers(where: str, said: str) -> None:
    with pytest.raises(LimitError) as refused:
        parse(where)
    assert said in refused.value.problem


def test_what_is_just_within_the_limits_is_read() -> None:
    parse("(" * 64 + "a = 1" + ")" * 64)
    parse(" AND ".join(["(a OR b)"] * 10))
    parse(" AND ".join(f"a{n} = 1" for n in range(4000)))
    parse("a IN (" + ", ".join(map(str, range(9000))) + ")")
    assert parse("a = 1.7e308") == equal("a", number(17 * 10**307))


@pytest.mark.parametrize("where", [None, 5, b"a = 1", ["a = 1"]])
def test_what_is_not_text_is_refused(where: object) -> None:
    with pytest.raises(SubscriptionError, match="a subscription is text, not"):
        parse(where)  # type: ignore[arg-type]


TERMS = (
    "a = 5",
    "b.c < 'x'",
    "a >= -5",
    "a <> 1.5",
    "A > 1e3",
    "a = 'AND'",
    "a = ' AND b = 5 '",
    "a<5",
    "a  <=\t5",
    "a = 5 ",
    "NOT a = 5",
    "a = 5 OR b = 6",
    "(a = 5)",
    "5 < a",
    "a BETWEEN 1 AND 2",
    "a IN (1, 2)",
    "flag",
    "a LIKE 'x%'",
    "`a b` = 5",
    "a = DATE '2026-01-01'",
    "a = DATE '2026-13-01'",
    "a = TRUE",
    "a = NULL",
    "a = ",
    "= 5",
    "a == 5",
    "a = 5 5",
    "and = 5",
    "between = 5",
    "a = 'x",
    "a = 1e",
    "a.b. = 5",
    "a = +5",
    "a = - 5",
    "a = --5",
    "a = r'x'",
    'a = "x"',
    "a != 5",
    "a = 1_000",
    "a" * 300 + " = 5",
    "similarity(a, 'x') > 0.5",
)


def outcome(where: str) -> object:
    try:
        return parse(where)
    except SubscriptionError as error:
        return type(error), str(error)


@pytest.mark.parametrize("joined", [" AND ", " and ", "\nAND\t", "AND", " AND  AND ", " OR "])
@pytest.mark.parametrize("term", TERMS)
def test_comparisons_that_are_read_one_by_one_mean_the_same_as_together(
    term: str, joined: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shapes that were never met are read by their terms; whatever comes of that must come of reading them whole."""
    texts = [joined.join(parts) for parts in ((term, "z = 1"), ("z = 1", term), ("y > 'q'", term, "z <= 2.5"))]
    by_terms = [outcome(where) for where in texts]
    again = [outcome(where) for where in texts]
    monkeypatch.setattr(parser, "_by_terms", lambda *_: None)
    parser._templates.clear()
    parser._seen.clear()
    whole = [outcome(where) for where in texts]
    assert by_terms == again == whole


def test_comparisons_are_read_one_by_one() -> None:
    """That the test above has something to show."""
    for each in range(10):
        parse(f"a{each} = 5 AND b{each} > 'x'")
        parse(f"b{9 - each} > 'y' AND a{each} = -7")
    assert len(parser._terms) == 40
    assert not parser._templates


def test_subscriptions_of_one_shape_have_their_own_namespaces() -> None:
    texts = [f"xpath_boolean(a, '/p:x{n}', namespaces => 'p=urn:{n % 2}')" for n in range(4)]
    printed = [print_expression(parse(text)) for text in texts]
    assert printed == [text.replace("p:", "n1:").replace("p=", "n1=") for text in texts]
    assert parse(texts[0]) == parse("xpath_boolean(a, '/q:x0', namespaces => 'q=urn:0 p=urn:9')")
