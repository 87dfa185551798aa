"""The XPath subset as text: every construct, every refusal word for word, and any string at all."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from language.xpath_strategies import NAMESPACE, PREFIXES, spelled, xpath_expressions
from tidings.errors import LimitError, SubscriptionError, UnsupportedError
from tidings.language.namespaces import MAXIMUM_LENGTH as LONGEST_NAMESPACES
from tidings.language.namespaces import MAXIMUM_PREFIXES, NO_NAMESPACES, read_namespaces
from tidings.language.xpath import (
    MAXIMUM_LENGTH,
    MAXIMUM_NESTING,
    MAXIMUM_STEPS,
    parse_xpath,
    print_namespaces,
    print_xpath,
)
from tidings.model.xpath import (
    And,
    Comparator,
    Comparison,
    Exists,
    NodeKind,
    Not,
    Or,
    Path,
    Place,
    Step,
    StringFunction,
    StringTest,
    XPathExpression,
)

A = Step(NodeKind.ELEMENT, "a")
B = Step(NodeKind.ELEMENT, "b")
BESIDE = "ask it beside the path: /a[b = 1] and /c = 2; below the node itself it is .//b"
ROOT_A = Path(True, (A,))
CHILD_B = Path(False, (B,))


def a_where(*predicates: XPathExpression) -> Exists:
    return Exists(Path(True, (Step(NodeKind.ELEMENT, "a", predicates=predicates),)))


TREES: list[tuple[str, XPathExpression]] = [
    ("/a", Exists(ROOT_A)),
    ("/a/b", Exists(Path(True, (A, B)))),
    ("//a", Exists(Path(True, (Step(NodeKind.ELEMENT, "a", descendant=True),)))),
    ("/*", Exists(Path(True, (Step(NodeKind.ELEMENT, "*"),)))),
    ("/a/@x", Exists(Path(True, (A, Step(NodeKind.ATTRIBUTE, "x"))))),
    ("/a/@*", Exists(Path(True, (A, Step(NodeKind.ATTRIBUTE, "*"))))),
    ("/a/text()", Exists(Path(True, (A, Step(NodeKind.TEXT))))),
    ("/a//.", Exists(Path(True, (A, Step(NodeKind.SELF, descendant=True))))),
    ("/.", Exists(Path(True, ()))),
    ("/a[b]", a_where(Exists(CHILD_B))),
    ("/a[.]", a_where(Exists(Path(False, ())))),
    ("/a[.//b]", a_where(Exists(Path(False, (Step(NodeKind.ELEMENT, "b", descendant=True),))))),
    ("/a[b][2]", a_where(Exists(CHILD_B), Comparison(Place.POSITION, Comparator.EQUAL, Decimal(2)))),
    ("/a[last()]", a_where(Comparison(Place.POSITION, Comparator.EQUAL, Place.LAST))),
    ("/a[position() < last()]", a_where(Comparison(Place.POSITION, Comparator.LESS, Place.LAST))),
    ("/a[position() = '1']", a_where(Comparison(Place.POSITION, Comparator.EQUAL, "1"))),
    ("/a[last() >= 2]", a_where(Comparison(Place.LAST, Comparator.GREATER_OR_EQUAL, Decimal(2)))),
    ("/a = 'x'", Comparison(ROOT_A, Comparator.EQUAL, "x")),
    ('/a != "it\'s"', Comparison(ROOT_A, Comparator.NOT_EQUAL, "it's")),
    ("/a <= -0.5", Comparison(ROOT_A, Comparator.LESS_OR_EQUAL, Decimal("-0.5"))),
    ("/a[. > 'last()']", a_where(Comparison(Path(False, ()), Comparator.GREATER, "last()"))),
    ("contains(/a, 'x')", StringTest(StringFunction.CONTAINS, ROOT_A, "x")),
    ("starts-with(/a, '')", StringTest(StringFunction.STARTS_WITH, ROOT_A, "")),
    ("not(/a)", Not(Exists(ROOT_A))),
    ("/a and not(/a or /a)", And((Exists(ROOT_A), Not(Or((Exists(ROOT_A), Exists(ROOT_A))))))),
    ("(/a or /a) and /a", And((Or((Exists(ROOT_A), Exists(ROOT_A))), Exists(ROOT_A)))),
    ("/a and /a or /a", Or((And((Exists(ROOT_A), Exists(ROOT_A))), Exists(ROOT_A)))),
]


@pytest.mark.parametrize(("text", "tree"), TREES)
def test_a_text_and_its_tree(text: str, tree: XPathExpression) -> None:
    assert parse_xpath(text) == tree
    assert print_xpath(tree) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a/b", "/a/b"),
        ("./b", "/b"),
        (".//d", "//d"),
        (".", "/."),
        ("/", "/."),
        ("@x", "/@x"),
        ("text()", "/text()"),
        ("  a\t/\r\nb ", "/a/b"),
        ("a/./b/.", "/a/b"),
        ("a//./b", "/a//b"),
        ("//.//.", "//."),
        ("a[./b]", "/a[b]"),
        ("a[./@x]", "/a[@x]"),
        ("a[position() = 3]", "/a[3]"),
        ("a[3 = position()]", "/a[3]"),
        ("a[(3)]", "/a[3]"),
        ("a[position() = last()]", "/a[last()]"),
        ("a[last() = position()]", "/a[last()]"),
        ("a[last() > position()]", "/a[position() < last()]"),
        ("a[position() = 3 and b]", "/a[position() = 3 and b]"),
        ("a[not(position() = 3)]", "/a[not(position() = 3)]"),
        ("'x' = a", "/a = 'x'"),
        ("1 <= a", "/a >= 1"),
        ("1 < a", "/a > 1"),
        ("1 > a", "/a < 1"),
        ("1 >= a", "/a <= 1"),
        ("1 != a", "/a != 1"),
        ("(a) = (1)", "/a = 1"),
        ("a=-1", "/a = -1"),
        ("a = - 1", "/a = -1"),
        ("a = -0", "/a = 0"),
        ("a = 007.500", "/a = 7.5"),
        ("a = .5", "/a = 0.5"),
        ("a = 5.", "/a = 5"),
        ("a = 12345678901234567890123456789012345678.5", "/a = 12345678901234567890123456789012345678.5"),
        ("a = -12345678901234567890123456789012345678.5", "/a = -12345678901234567890123456789012345678.5"),
        ('a = "x"', "/a = 'x'"),
        ("a or (b or c)", "/a or /b or /c"),
        ("(a and b) and c", "/a and /b and /c"),
        ("not(not(a))", "/a"),
        ("not (contains (a , 'x'))", "not(contains(/a, 'x'))"),
        ("a[contains(., 'x')]", "/a[contains(., 'x')]"),
        ("or or or", "/or or /or"),
        ("and and div", "/and and /div"),
        ("//div[mod]", "//div[mod]"),
        ("text/last[position]", "/text/last[position]"),
        ("größe/价格[@é]", "/größe/价格[@é]"),
        ("a-b.c_1", "/a-b.c_1"),
        ("/ = 'x'", "/. = 'x'"),
    ],
)
def test_other_spellings(text: str, canonical: str) -> None:
    assert print_xpath(parse_xpath(text)) == canonical


DOWNWARD = "paths lead down only: begin at the parent and ask about the child in [ ], as in a[b = 1]"
STEPS = "steps are names, *, @name, @*, text() and ."
FUNCTIONS = "supported are not, contains, starts-with, position and last"
ARITHMETIC = "compute the number first, and compare the path with it"
CALL = "write contains(path, 'text')"


@pytest.mark.parametrize(
    ("text", "position", "problem", "hint"),
    [
        ("a/..", 2, "the parent step .. is not supported", DOWNWARD),
        ("a[.. = 1]", 2, "the parent step .. is not supported", DOWNWARD),
        ("/parent::a", 1, "the axis parent:: is not supported", DOWNWARD),
        ("a/following-sibling::b", 2, "the axis following-sibling:: is not supported", DOWNWARD),
        ("child::a", 0, "the axis child:: is not supported", "a child is written a"),
        ("a/attribute::x", 2, "the axis attribute:: is not supported", "an attribute is written @a"),
        ("descendant::a", 0, "the axis descendant:: is not supported", "a descendant is written .//a"),
        ("self::a", 0, "the axis self:: is not supported", "the node itself is written ."),
        ("namespace::a", 0, "the axis namespace:: is not supported", STEPS),
        ("a | b", 2, "the union | is not supported", "write or between the two paths"),
        ("a + 1 = 2", 2, "arithmetic (+) is not supported", ARITHMETIC),
        ("a = 1 - 2", 6, "arithmetic (-) is not supported", ARITHMETIC),
        ("a * 2 = 2", 2, "arithmetic (*) is not supported", ARITHMETIC),
        ("a div 2 = 2", 2, "arithmetic (div) is not supported", ARITHMETIC),
        ("a mod 2 = 2", 2, "arithmetic (mod) is not supported", ARITHMETIC),
        ("a[last() - 1]", 9, "arithmetic (-) is not supported", ARITHMETIC),
        ("a = -b", 4, "arithmetic (-) is not supported", ARITHMETIC),
        ("a = $x", 4, "variables ($) are not supported", "write the value itself"),
        (
            "a/xml:*",
            2,
            "all names of a namespace (xml:*) are not supported",
            "name them, as in xml:a; * selects names of every namespace",
        ),
        ("xml:count(a)", 0, "the function xml:count is not supported", FUNCTIONS),
        ("a/node()", 2, "node() is not supported", STEPS),
        ("comment()", 0, "comment() is not supported", STEPS),
        ("processing-instruction('p')", 0, "processing-instruction() is not supported", STEPS),
        (
            "count(a) > 2",
            0,
            "count() is not supported",
            "whether there are at least 3 nodes is asked with a position: a[3]",
        ),
        (
            "string(a) = 'x'",
            0,
            "string() is not supported",
            "leave it out: a path compared with a string is read as a string",
        ),
        (
            "a[number(b) = 1]",
            2,
            "number() is not supported",
            "leave it out: a path compared with a number is read as a number",
        ),
        ("boolean(a)", 0, "boolean() is not supported", "leave it out: the truth of the expression is what is asked"),
        ("sum(a) = 1", 0, "sum() is not supported", FUNCTIONS),
        ("normalize-space(a) = 'x'", 0, "normalize-space() is not supported", FUNCTIONS),
        ("true()", 0, "true() is not supported", FUNCTIONS),
        ("NOT(a)", 0, "there is no function NOT", "did you mean not?"),
        ("startswith(a, 'x')", 0, "there is no function startswith", "did you mean starts-with?"),
        ("contain(a, 'x')", 0, "there is no function contain", "did you mean contains?"),
        ("a[postion() = 1]", 2, "there is no function postion", "did you mean position?"),
        ("zzz(a)", 0, "there is no function zzz", FUNCTIONS),
        ("position() = 1", 0, "position() stands inside [ ] only", "a position stands in brackets: a[position() < 3]"),
        ("a and last()", 6, "last() stands inside [ ] only", "a position stands in brackets: a[last()]"),
        ("a = b", 2, "comparing two paths is not supported", "compare a path with a literal: a = 'x'"),
        (
            "a[@n = position()]",
            5,
            "this comparison of position() or last() is not supported",
            "position() is compared with a number or last(), and last() with a number",
        ),
        ("not(a) = 1", 7, "comparing a condition is not supported", "use the condition itself, or not( ) of it"),
        ("1 = (a or b)", 2, "comparing a condition is not supported", "use the condition itself, or not( ) of it"),
        ("1 < a < 3", 6, "comparing the result of a comparison is not supported", "compare twice: 1 < a and a < 3"),
        ("/a[/b]", 3, "a path from the document is not supported inside [ ]", BESIDE),
        ("a[b[c or .//d = //e]]", 16, "a path from the document is not supported inside [ ]", BESIDE),
        ("(a)[1]", 3, "[ after parentheses is not supported", "write one path without parentheses: a/b[1]"),
        ("(a)/b", 3, "/ after parentheses is not supported", "write one path without parentheses: a/b[1]"),
        ("contains('x', a)", 9, "the first argument of contains is not a path", CALL),
        ("contains(a, 3)", 12, "the second argument of contains is not a string", CALL),
        ("contains(a, b)", 12, "the second argument of contains is not a string", CALL),
    ],
)
def test_what_is_outside_the_subset_is_refused_by_name(text: str, position: int, problem: str, hint: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        parse_xpath(text)
    assert (caught.value.position, caught.value.problem, caught.value.hint) == (position, problem, hint)


AFTER = "and, or, a comparison or the end"
OPERAND = "a path, a literal or a function"
DECLARED = "say what it stands for: xpath_boolean(attribute, '…', namespaces => 'p=http://…')"
QUOTES = "strings stand in straight quotes: 'text'"


@pytest.mark.parametrize(
    ("text", "position", "problem", "hint"),
    [
        ("", 0, "the XPath expression is empty", "write a path, as in //a[@b = 1]"),
        (" \n", 0, "the XPath expression is empty", "write a path, as in //a[@b = 1]"),
        ("a == 1", 2, f"found ==, expected {AFTER}", "equality is written ="),
        ("a[b == 1]", 4, "found ==, expected and, or, a comparison or ]", "equality is written ="),
        ("(a == 1)", 3, "found ==, expected and, or, a comparison or )", "equality is written ="),
        ("a <> 1", 2, f"found <>, expected {AFTER}", "inequality is written !="),
        ("a => 1", 2, f"found =>, expected {AFTER}", "at least is written >="),
        ("a =< 1", 2, f"found =<, expected {AFTER}", "at most is written <="),
        ("a && b", 2, f"found &&, expected {AFTER}", "conjunction is written and"),
        ("a || b", 2, f"found ||, expected {AFTER}", "disjunction is written or"),
        ("!a", 0, f"found !, expected {OPERAND}", "negation is written not( )"),
        ("a AND b", 2, f"found AND, expected {AFTER}", "write and in lower case"),
        ("a OR b", 2, f"found OR, expected {AFTER}", "write or in lower case"),
        ("a;", 1, f"found ;, expected {AFTER}", "an expression stands alone; leave the ; out"),
        ("a = ‘x’", 4, f"found ‘, expected {OPERAND}", QUOTES),
        ("a[b", 1, "this [ is never closed", "add the missing ]"),
        ("not(a", 3, "this ( is never closed", "add the missing )"),
        ("a]", 1, "this ] closes nothing", "remove it, or open it"),
        ("a[b)", 3, "found ), expected ] to close the [ before it", None),
        (
            "a = 'x",
            4,
            "the string that begins here does not end",
            "close it with '; XPath has no escapes, so a string that holds ' stands in the other quotes",
        ),
        ("a b", 2, f"found b, expected {AFTER}", None),
        ("a =", 3, f"found the end, expected {OPERAND}", None),
        ("a[]", 2, f"found ], expected {OPERAND}", None),
        ("a/", 2, "found the end, expected a step", None),
        ("//", 2, "found the end, expected a step", None),
        ("/a//[1]", 4, "found [, expected a step", None),
        ("a/@", 3, "found the end, expected a name or *", None),
        ("a/@1", 3, "found 1, expected a name or *", None),
        ("a " + "x" * 60, 2, f"found {'x' * 39}…, expected {AFTER}", None),
        ("foo::a", 0, "there is no axis foo::", STEPS),
        ("/a/p:b", 3, "the namespace prefix p: is not declared", DECLARED),
        ("@p:b", 1, "the namespace prefix p: is not declared", DECLARED),
        ("xml :a", 4, "a prefix and its name stand together", "write xml:name"),
        ("xml: a", 3, "a prefix and its name stand together", "write xml:name"),
        ("xml:1", 3, "a prefix and its name stand together", "write xml:name"),
        (".[1]", 1, "a predicate cannot follow .", "name the node: a[b = 1] or *[b = 1]"),
        ("a/last()", 2, "last() cannot be a step here", "a position stands in brackets: a[last()]"),
        (
            "a/contains(b, 'x')",
            2,
            "contains() cannot be a step here",
            "a condition stands in brackets: a[contains(b, 'x')]",
        ),
        ("a/@text()", 3, "text() cannot be a step here", "the text of an attribute is @a"),
        ("3", 0, "a number alone is not a condition", "as a position: a[3] or a[position() = 3 and b]"),
        ("a[3 and b]", 2, "a number alone is not a condition", "as a position: a[3] or a[position() = 3 and b]"),
        ("a['x']", 2, "a string alone is not a condition", "compare a path with it: a = 'x'"),
        ("a[not(last())]", 6, "last() alone is not a condition", "compare it: position() = 1"),
        ("a[position()]", 2, "position() alone is not a condition", "compare it: position() = 1"),
        ("1 = 'x'", 2, "two literals are compared", "one side is a path: a = 1"),
        ("a = 1e3", 5, "a number is followed at once by 'e'", "numbers take no exponent and no suffix: write 1000"),
        ("contains(a)", 10, "found ), expected a comma", None),
        ("contains(a, 'x', 'y')", 15, "found ,, expected )", None),
        ("a[position(1)]", 11, "found 1, expected )", None),
        ("a = '\0'", 5, "the character U+0000 cannot occur in XML", "leave it out"),
        ("a = '\ud800'", 5, "the character U+D800 cannot occur in XML", "leave it out"),
        ("\ufffe", 0, "the character U+FFFE cannot occur in XML", "leave it out"),
        ("a\xa0= 1", 1, "the space U+00A0 is not one of XPath's", "write a plain space"),
        ("a #", 2, f"found #, expected {AFTER}", None),
    ],
)
def test_mistakes(text: str, position: int, problem: str, hint: str | None) -> None:
    with pytest.raises(SubscriptionError) as caught:
        parse_xpath(text)
    assert type(caught.value) is SubscriptionError
    assert (caught.value.position, caught.value.problem, caught.value.hint) == (position, problem, hint)


def test_an_error_points_at_the_fault() -> None:
    with pytest.raises(SubscriptionError) as caught:
        parse_xpath("/book[year == 2008]")
    assert str(caught.value).splitlines() == [
        "found ==, expected and, or, a comparison or ]",
        "  /book[year == 2008]",
        "             ^^",
        "equality is written =",
    ]


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("a" * 8193, 8192, "the XPath expression has 8193 characters, and at most 8192 are allowed"),
        ("(" * 100_000, 8192, "the XPath expression has 100000 characters, and at most 8192 are allowed"),
        ("[" * 100_000, 8192, "the XPath expression has 100000 characters, and at most 8192 are allowed"),
        (
            "a" * 8192,
            8192,
            "the XPath expression has 8193 characters in canonical form, and at most 8192 are allowed",
        ),
        ("/a" * 257, 0, "the XPath expression has 257 steps, and at most 256 are allowed"),
        ("a or " + "/a" * 300, 5, "the XPath expression has 301 steps, and at most 256 are allowed"),
        ("a[" * 33 + "b" + "]" * 33, 65, "the XPath expression is nested 33 deep, and at most 32 is allowed"),
        ("(" * 4000 + "b" + ")" * 4000, 3999, "the XPath expression is nested 4000 deep, and at most 32 is allowed"),
        ("(" * 8000, 7999, "the XPath expression is nested 8000 deep, and at most 32 is allowed"),
        ("//a[b//c[.//d[e[.//f = 1]]]]", 0, "paths with // are nested 4 deep, and at most 3 is allowed"),
        ("a and not(//a[.//a[.//a or .//a[.//a]]])", 0, "paths with // are nested 4 deep, and at most 3 is allowed"),
        ("not(" * 40 + ")" * 40, 155, "the XPath expression is nested 39 deep, and at most 32 is allowed"),
    ],
)
def test_limits_are_refused_with_both_numbers(text: str, position: int, problem: str) -> None:
    with pytest.raises(LimitError) as caught:
        parse_xpath(text)
    assert (caught.value.position, caught.value.problem) == (position, problem)


@pytest.mark.parametrize(
    "text",
    [
        "/" + "a" * (MAXIMUM_LENGTH - 1),
        "/a" * MAXIMUM_STEPS,
        "//a[.//b[.//c][.//d]]//e[.//f]",
        "a[" * MAXIMUM_NESTING + "text()" + "]" * MAXIMUM_NESTING,
        "(" * MAXIMUM_NESTING + "a" + ")" * MAXIMUM_NESTING,
        "/a[" + " or ".join([". = 1"] * 900) + "]",
    ],
)
def test_what_is_just_within_the_limits_is_read(text: str) -> None:
    tree = parse_xpath(text)
    assert parse_xpath(print_xpath(tree)) == tree


XML_CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff").filter(
    lambda character: character >= " " or character in "\t\n\r"
)
LETTER_RANGES = [("A", "Z"), ("_", "_"), ("a", "z"), ("\xc0", "\xd6"), ("\u0370", "\u037d"), ("\u200c", "\u200d")]
LETTER_RANGES += [("\u2070", "\u218f"), ("\u3001", "\ud7ff"), ("\U00010000", "\U000effff")]
NAME_RANGES = [*LETTER_RANGES, ("-", "."), ("0", "9"), ("\xb7", "\xb7"), ("\u0300", "\u036f"), ("\u203f", "\u2040")]


def within(ranges: list[tuple[str, str]]) -> st.SearchStrategy[str]:
    return st.one_of([st.characters(min_codepoint=ord(low), max_codepoint=ord(high)) for low, high in ranges])


WIDE_NAMES = st.builds(str.__add__, within(LETTER_RANGES), st.text(within(NAME_RANGES), max_size=5))
WIDE_STRINGS = st.text(XML_CHARACTERS, max_size=20).filter(lambda text: not ("'" in text and '"' in text))
WIDE_NUMBERS = st.decimals(-(10**30), 10**30, allow_nan=False, allow_infinity=False)


def read_back(tree: XPathExpression) -> XPathExpression:
    namespaces = print_namespaces(tree)
    return parse_xpath(print_xpath(tree), read_namespaces(namespaces) if namespaces else NO_NAMESPACES)


@given(xpath_expressions())
def test_what_is_printed_is_read_back(tree: XPathExpression) -> None:
    assert read_back(tree) == tree


@given(xpath_expressions(WIDE_NAMES, WIDE_NAMES, WIDE_STRINGS, WIDE_NUMBERS, nesting=1))
def test_what_is_printed_is_read_back_with_any_names_and_values(tree: XPathExpression) -> None:
    text = print_xpath(tree)
    assume(len(text) <= MAXIMUM_LENGTH)
    assert parse_xpath(text) == tree


@given(xpath_expressions(), st.integers())
def test_every_spelling_is_the_same_tree(tree: XPathExpression, seed: int) -> None:
    text = spelled(tree, Random(seed))
    assume(len(text) <= MAXIMUM_LENGTH and text.count("(") + text.count("[") <= MAXIMUM_NESTING)
    assert parse_xpath(text, PREFIXES) == tree


SYMBOLS = [
    "(",
    ")",
    "[",
    "]",
    "/",
    "//",
    ".",
    "..",
    "@",
    "*",
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "|",
    "+",
    "-",
    "$",
    ":",
    "::",
]
OTHERS = [",", "'", '"', "3", ".5", "==", "&&", "||", "!", " ", "\n", "\0", "\ud800", "\xa0", "∞", "😀"]
WORDS = ["and", "or", "not(", "contains(", "text()", "position()", "last()", "a", "é", "child::", "count("]
PIECES = st.sampled_from(SYMBOLS + OTHERS + WORDS)


def parsed_or_refused(text: str) -> None:
    """Any string gives a tree whose text is read back, or a SubscriptionError that can be shown."""
    refused: SubscriptionError | None = None
    try:
        tree = parse_xpath(text, {"n1": NAMESPACE, "a": "urn:a"})
    except SubscriptionError as error:
        refused = error
    if refused is None:
        assert read_back(tree) == tree
    else:
        assert 0 <= refused.position <= len(text)
        assert "\n" not in refused.problem
        assert str(refused).startswith(refused.problem)


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    parsed_or_refused(text)


@given(st.lists(PIECES, max_size=25), st.sampled_from(["", " "]))
def test_any_tokens_are_read_or_refused(pieces: list[str], space: str) -> None:
    parsed_or_refused(space.join(pieces))


@given(xpath_expressions(), st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3), PIECES), min_size=1, max_size=4))
def test_expressions_with_damage_are_read_or_refused(tree: XPathExpression, damage: list[tuple[int, int, str]]) -> None:
    text = print_xpath(tree)
    for position, removed, inserted in damage:
        place = position % (len(text) + 1)
        text = text[:place] + inserted + text[place + removed :]
    parsed_or_refused(text)


@pytest.mark.parametrize(
    "character", ["(", "[", "a[", "not(", "/", "-", "'", '"', ".", "@", "=", "a or ", "]", ",", "//.", "a/"]
)
@pytest.mark.parametrize("times", [1_000, 8_000, 100_000])
def test_long_repetition_is_read_or_refused(character: str, times: int) -> None:
    parsed_or_refused((character * times)[:100_000])


def test_a_token_in_a_message_is_cut_short_and_on_one_line() -> None:
    with pytest.raises(SubscriptionError) as caught:
        parse_xpath("a 'x" + "\n" * 100 + "y'")
    assert caught.value.problem == f"found 'x y', expected {AFTER}"


# Namespaces


def test_a_tree_knows_the_namespace_and_not_the_prefix() -> None:
    tree = parse_xpath("/p:a[q:b/@xml:lang = 'en']/p:c", {"p": "urn:1", "q": "urn:2"})
    assert tree == parse_xpath("/q:a[p:b/@xml:lang = 'en']/q:c", {"q": "urn:1", "p": "urn:2"})
    assert tree != parse_xpath("/a[b/@lang = 'en']/c")
    assert print_xpath(tree) == "/n1:a[n2:b/@xml:lang = 'en']/n1:c"
    assert print_namespaces(tree) == "n1=urn:1 n2=urn:2"
    assert print_namespaces(parse_xpath("//@xml:lang")) == ""


def test_words_of_the_language_may_be_prefixes_and_names() -> None:
    tree = parse_xpath("and:or and or:and", {"and": "urn:1", "or": "urn:2"})
    assert print_xpath(tree) == "/n1:or and /n2:and"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("p=urn:p", {"p": "urn:p"}),
        ("  p=http://x/?a=b#c \n\tq=here ", {"p": "http://x/?a=b#c", "q": "here"}),
        ("é-1.2=urn:é", {"é-1.2": "urn:é"}),
        ("p=urn:x q=urn:x", {"p": "urn:x", "q": "urn:x"}),
    ],
)
def test_namespaces_are_pairs(text: str, found: dict[str, str]) -> None:
    assert read_namespaces(text) == found


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("", 0, "there is no namespace"),
        ("p", 0, "p is no prefix=namespace"),
        ("p=a q=", 4, "q= is no prefix=namespace"),
        ("=urn:x", 0, "a namespace without a prefix"),
        ("1=urn:x", 0, "'1' cannot be a prefix"),
        ("a:b=urn:x", 0, "'a:b' cannot be a prefix"),
        ("p=a p=b", 4, "the prefix p stands twice"),
        ("xml=urn:x", 0, "the prefix xml is reserved"),
        ("xmlns=urn:x", 0, "the prefix xmlns is reserved"),
        ("p=a{b}", 3, "the character '{' cannot stand in a namespace"),
        ("p=it's", 4, 'the character "\'" cannot stand in a namespace'),
    ],
)
def test_what_is_no_list_of_namespaces_is_refused(text: str, position: int, problem: str) -> None:
    with pytest.raises(SubscriptionError) as caught:
        read_namespaces(text)
    assert (caught.value.position, caught.value.problem) == (position, problem)


def test_namespaces_have_limits_that_their_canonical_text_keeps() -> None:
    many = " ".join(f"p{number}=urn:{number}" for number in range(MAXIMUM_PREFIXES))
    assert len(read_namespaces(many)) == MAXIMUM_PREFIXES
    with pytest.raises(LimitError, match="at most 64 prefixes"):
        read_namespaces(f"{many} q=urn:q")
    longest = "u" * LONGEST_NAMESPACES
    tree = parse_xpath("/p:a", read_namespaces(f"p={longest}"))
    assert read_back(tree) == tree
    with pytest.raises(LimitError, match="at most 4096 characters"):
        read_namespaces(f"p={longest}u")
