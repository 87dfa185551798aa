"""The language of text patterns: what it means, what it refuses and in which words, and that nothing breaks it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from language.text_strategies import odd_terms, text_patterns
from tidings.errors import LimitError, SubscriptionError, UnsupportedError
from tidings.language.text import GAP, LENGTH, NESTING, TERMS, parse_pattern, print_pattern
from tidings.model.text import NEXT, AllOf, AnyOf, Gap, Not, Terms, TextPattern, phrase

A, B, C, D = phrase("a"), phrase("b"), phrase("c"), phrase("d")
ONLY = frozenset({0})  # the first term is the only wildcard word
PREFIX = Terms(("a",), (), ONLY)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a", A),
        ("  a\t\n", A),
        ("a b", AllOf((A, B))),
        ("a AND b", AllOf((A, B))),
        ("a b AND c", AllOf((A, B, C))),
        ("a OR b", AnyOf((A, B))),
        ("a b OR c", AnyOf((AllOf((A, B)), C))),
        ("a OR b c", AnyOf((A, AllOf((B, C))))),
        ("(a OR b) c", AllOf((AnyOf((A, B)), C))),
        ("a(b OR c)d", AllOf((A, AnyOf((B, C)), D))),
        ("NOT a b", AllOf((Not(A), B))),
        ("a NOT b", AllOf((A, Not(B)))),
        ("NOT NOT a", Not(Not(A))),
        ("NOT (a b)", Not(AllOf((A, B)))),
        ("NOT a OR b", AnyOf((Not(A), B))),
        ("a AND (b AND (c AND d))", AllOf((A, B, C, D))),
        ("(a OR (b OR c)) OR d", AnyOf((A, B, C, D))),
        ("((a))", A),
        ('"a b"', phrase("a", "b")),
        ('" a  b "', phrase("a", "b")),
        ('"a"', A),
        ('"a""b"', AllOf((A, B))),
        ('a"b c"d', AllOf((A, phrase("b", "c"), D))),
        ("a ->[0,0] b", phrase("a", "b")),
        ("a ->[0,3] b ->[1,] c", Terms(("a", "b", "c"), (Gap(0, 3), Gap(1, None)))),
        ("a->[ 0 , 3 ]b", Terms(("a", "b"), (Gap(0, 3),))),
        ("a ->[007,0008] b", Terms(("a", "b"), (Gap(7, 8),))),
        ('"a b" ->[2,2] "c d"', Terms(("a", "b", "c", "d"), (NEXT, Gap(2, 2), NEXT))),
        ("NOT a ->[0,1] b c", AllOf((Not(Terms(("a", "b"), (Gap(0, 1),))), C))),
        ("and or not And", AllOf((phrase("and"), phrase("or"), phrase("not"), phrase("And")))),
        ('"AND" "near" "a* b?"', AllOf((phrase("AND"), phrase("near"), phrase("a*", "b?")))),
        ("C++ don't ->[0,1] x-ray", AllOf((phrase("C++"), Terms(("don't", "x-ray"), (Gap(0, 1),))))),
        ("e\u0301", phrase("é")),
        ('"a(b) NOT c->[1,2]d"', phrase("a(b)", "NOT", "c->[1,2]d")),
        ("a\0b \ud800x", AllOf((phrase("a\0b"), phrase("\ud800x")))),
        ("a*", PREFIX),
        ("a* b", AllOf((PREFIX, B))),
        ("NOT a*", Not(PREFIX)),
        ("AND* near* x-ray*", AllOf(tuple(Terms((term,), (), ONLY) for term in ("AND", "near", "x-ray")))),
        ("e\u0301*", Terms(("é",), (), ONLY)),
        ("a* ->[0,3] b", Terms(("a", "b"), (Gap(0, 3),), ONLY)),
        ('"a b"->[0,0]c*->[0,0]d', Terms(("a", "b", "c", "d"), (NEXT,) * 3, frozenset({2}))),
        ('a*"a*"', AllOf((PREFIX, phrase("a*")))),
    ],
)
def test_what_a_pattern_means(text: str, pattern: TextPattern) -> None:
    assert parse_pattern(text) == pattern


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a  b OR(c)", "a AND b OR c"),
        ("NOT(a) (b OR (NOT (c d)))", "NOT a AND (b OR NOT (c AND d))"),
        ("a->[0,0]b ->[01,2] c", '"a b" ->[1,2] c'),
        ('a ->[3,] "b c"', 'a ->[3,] "b c"'),
        ('"AND" "word" "near" "Near/12" "nearby"', '"AND" AND word AND "near" AND "Near/12" AND nearby'),
        ('"a*" "a?" "-a" "!a" "a->b" "f(x)" "“a"', '"a*" AND "a?" AND "-a" AND "!a" AND "a->b" AND "f(x)" AND "“a"'),
        ("a*  b* OR(c*)", "a* AND b* OR c*"),
        ("a ->[0,0] b ->[0,0] c* ->[0,0] d ->[0,0] e", '"a b" ->[0,0] c* ->[0,0] "d e"'),
        ("a* ->[0,0] b* ->[1,2] c", "a* ->[0,0] b* ->[1,2] c"),
        ("हिन्दी 日本 C# o'neil", "हिन्दी AND 日本 AND C# AND o'neil"),
    ],
)
def test_the_one_way_to_print_it(text: str, printed: str) -> None:
    assert print_pattern(parse_pattern(text)) == printed


CHAIN = "write a ->[0,3] b for a before b with 0 to 3 words between, ->[0,] for any number"
ELEMENTS = "a chain holds words and phrases only; join chains instead: a ->[0,3] b OR a ->[0,3] c"
NO_WORD = "words are made of letters and digits, and only they are looked for; leave it out"

MISTAKES = {
    "": ("the pattern is empty", "^", 'write words or "phrases" to look for'),
    "  ": ("the pattern is empty", "^", 'write words or "phrases" to look for'),
    '""': ("the phrase is empty", "^^", "put words between the quotes"),
    'a "b c': ("the phrase that begins here does not end", "  ^", 'close it with another "'),
    "a (b OR c": ("the ( that begins here is not closed", "  ^", "add the missing )"),
    "a (": ("the ( that begins here is not closed", "  ^", "add the missing )"),
    "a )": ("this ) closes nothing", "  ^", "leave it out, or add the ( that it closes"),
    "a OR )": ("this ) closes nothing", "     ^", "leave it out, or add the ( that it closes"),
    "()": (
        "expected a word, a phrase or (, and found )",
        " ^",
        "put words between the parentheses, or leave them out",
    ),
    "a AND": (
        "expected a word, a phrase or ( after AND, and found the end of the pattern",
        "     ^",
        'AND stands between two parts; to look for the word itself put it in quotes: "AND"',
    ),
    "OR a": (
        "expected a word, a phrase or (, and found OR",
        "^^",
        'OR stands between two parts; to look for the word itself put it in quotes: "OR"',
    ),
    "a OR AND b": (
        "expected a word, a phrase or ( after OR, and found AND",
        "     ^^^",
        'AND stands between two parts; to look for the word itself put it in quotes: "AND"',
    ),
    "(a NOT)": (
        "expected a word, a phrase or ( after NOT, and found )",
        "      ^",
        'NOT stands before the part that it denies; to look for the word itself put it in quotes: "NOT"',
    ),
    "a & b": ("& holds no word", "  ^", f"{NO_WORD}, or write AND if that is meant"),
    "a || b": ("|| holds no word", "  ^^", f"{NO_WORD}, or write OR if that is meant"),
    "a -- b": ("-- holds no word", "  ^^", NO_WORD),
    '"a & b"': ("& holds no word", "   ^", NO_WORD),
    "a *": ("* holds no word", "  ^", NO_WORD),
    "-*": ("-* holds no word", "^^", NO_WORD),
    "a -> b": ("expected [least,most] directly after ->", "  ^^", CHAIN),
    "a->b": ("expected [least,most] directly after ->", " ^^", CHAIN),
    "a -> [0,3] b": ("expected [least,most] directly after ->", "  ^^", CHAIN),
    "a ->[0,3 b": ("the [ that begins here does not end; expected ->[least,most]", "    ^", CHAIN),
    "a ->[x,y] b": ("->[x,y] is not ->[least,most], two numbers of words", "  ^^^^^^^", CHAIN),
    "a ->[3] b": (
        "->[3] has one number; expected ->[least,most]",
        "  ^^^^^",
        "write ->[0,3] for at most 3 words between, ->[3,3] for exactly 3, ->[3,] for 3 or more",
    ),
    "a ->[,3] b": (
        "->[,3] has no least number of words; expected ->[least,most]",
        "  ^^^^^^",
        "write ->[0,3]",
    ),
    "a ->[3,1] b": (
        "->[3,1] asks for at least 3 and at most 1 words between",
        "  ^^^^^^^",
        "the smaller number comes first: ->[1,3]",
    ),
    "a ->[-1,2] b": (
        "->[-1,2] has a negative number; the number of words between is 0 or more",
        "  ^^^^^^^^",
        "the arrow goes one way; for both orders write a ->[0,2] b OR b ->[0,2] a",
    ),
    "a ->[0,3]": (
        "expected a word or a phrase after ->[0,3], and found the end of the pattern",
        "         ^",
        "add the word or phrase that follows",
    ),
    "->[0,3] b": (
        "expected a word, a phrase or (, and found ->[0,3]",
        "^^^^^^^",
        "a chain begins with a word or a phrase: a ->[0,3] b",
    ),
    "a ->[0,3] (b OR c)": (
        "expected a word or a phrase after ->[0,3], and found (",
        "          ^",
        ELEMENTS,
    ),
    "(a OR b) ->[0,3] c": (
        "expected a word or a phrase before ->[0,3], and found )",
        "         ^^^^^^^",
        ELEMENTS,
    ),
    "a ->[0,3] NOT b": (
        "expected a word or a phrase after ->[0,3], and found NOT",
        "          ^^^",
        ELEMENTS,
    ),
}

WILDCARDS = "write the beginning of the words, as in neur*, or all of them, as in woman OR women"

OF_OTHER_LANGUAGES = {
    "deep n*ral": (
        "n*ral has a wildcard other than one * at its end",
        "     ^^^^^",
        f'{WILDCARDS}; in quotes it is taken as it stands: "n*ral"',
    ),
    "n?t": (
        "n?t has a wildcard other than one * at its end",
        "^^^",
        f'{WILDCARDS}; in quotes it is taken as it stands: "n?t"',
    ),
    "*al": (
        "*al has a wildcard other than one * at its end",
        "^^^",
        f'{WILDCARDS}; in quotes it is taken as it stands: "*al"',
    ),
    "neur**": (
        "neur** has a wildcard other than one * at its end",
        "^^^^^^",
        f'{WILDCARDS}; in quotes it is taken as it stands: "neur**"',
    ),
    "a C++*": (
        "C++* has no letter or digit before its *",
        "  ^^^^",
        'a * stands for any end of its word, as in neur*; in quotes it is taken as it stands: "C++*"',
    ),
    "a near b": (
        "near is not an operator of the language",
        "  ^^^^",
        'write a ->[0,5] b for a before b with at most 5 words between; in quotes it is taken as it stands: "near"',
    ),
    "a NEAR/3 b": (
        "NEAR/3 is not an operator of the language",
        "  ^^^^^^",
        'write a ->[0,5] b for a before b with at most 5 words between; in quotes it is taken as it stands: "NEAR/3"',
    ),
    "a -spam": (
        "- before a word is not part of the language",
        "  ^^^^^",
        'write NOT spam; in quotes it is taken as it stands: "-spam"',
    ),
    "“machine learning”": (
        "“machine has a curly quote",
        "^^^^^^^^",
        'phrases stand in straight quotes: "machine learning"',
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_explained(text: str) -> None:
    problem, carets, hint = MISTAKES[text]
    with pytest.raises(SubscriptionError) as raised:
        parse_pattern(text)
    assert str(raised.value) == f"{problem}\n  {text}\n  {carets}\n{hint}"


@pytest.mark.parametrize("text", OF_OTHER_LANGUAGES)
def test_what_other_languages_have_is_refused_by_name(text: str) -> None:
    problem, carets, hint = OF_OTHER_LANGUAGES[text]
    with pytest.raises(UnsupportedError) as raised:
        parse_pattern(text)
    assert str(raised.value) == f"{problem}\n  {text}\n  {carets}\n{hint}"


@pytest.mark.parametrize(
    ("text", "problem", "position"),
    [
        ("a" * (LENGTH + 1), f"the pattern has {LENGTH + 1} characters, and at most {LENGTH} are allowed", LENGTH),
        ("a " * (TERMS + 1), f"the pattern has {TERMS + 1} words, and at most {TERMS} are allowed", 2 * TERMS),
        (f'"{"a " * 600}"', f"the pattern has 600 words, and at most {TERMS} are allowed", 0),
        (
            "(" * 40 + "a" + ")" * 40,
            f"parentheses and NOTs are {NESTING + 1} deep here, and at most {NESTING} are allowed",
            NESTING,
        ),
        (
            "NOT (" * 20 + "a" + ")" * 20,
            f"parentheses and NOTs are {NESTING + 1} deep here, and at most {NESTING} are allowed",
            5 * NESTING // 2,
        ),
        ("a ->[0,1000001] b", f"a bound of the words between is 1000001, and at most {GAP} is allowed", 7),
        (
            f"a ->[{'9' * 5000},] b",
            f"a bound of the words between is a number of 5000 digits, and at most {GAP} is allowed",
            5,
        ),
    ],
)
def test_limits_are_refused_with_both_numbers(text: str, problem: str, position: int) -> None:
    with pytest.raises(LimitError) as raised:
        parse_pattern(text)
    assert (raised.value.problem, raised.value.position) == (problem, position)


@pytest.mark.parametrize(
    "text",
    [
        "a" * LENGTH,
        "a " * TERMS,
        f'"{"a " * TERMS}"',
        "(" * NESTING + "a" + ")" * NESTING,
        "NOT " * NESTING + "a",
        f"a ->[{GAP},{GAP}] b",
        f"a ->[{'0' * 5000}7,] b",
    ],
)
def test_up_to_the_limits_everything_is_accepted(text: str) -> None:
    pattern = parse_pattern(text)
    assert parse_pattern(print_pattern(pattern)) == pattern


def test_a_pattern_that_would_print_too_long_is_refused_at_once() -> None:
    words = " ".join(["a" * 14] * TERMS)
    assert len(words) < LENGTH
    with pytest.raises(LimitError, match=f"printed with every AND and quote the pattern has 9723 .* at most {LENGTH} "):
        parse_pattern(words)


def test_values_that_cannot_be_written_are_refused() -> None:
    for make in (
        lambda: Terms((), ()),
        lambda: Terms(("a", "b"), ()),
        lambda: phrase("a b"),
        lambda: phrase('a"'),
        lambda: phrase(""),
        lambda: phrase("e\u0301"),
        lambda: Gap(-1, 2),
        lambda: Gap(3, 1),
        lambda: Terms(("a",), (), frozenset({1})),
        lambda: Terms(("a",), (), frozenset({-1})),
        lambda: Terms(("-a",), (), frozenset({0})),
        lambda: Terms(("f(x",), (), frozenset({0})),
        lambda: Terms(("a*",), (), frozenset({0})),
        lambda: Terms(("a->b",), (), frozenset({0})),
        lambda: AllOf((A,)),
        lambda: AnyOf(()),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            make()


@given(text_patterns(("a", "AND", "near", "don't", "日本")))
def test_parse_of_print_is_the_same(pattern: TextPattern) -> None:
    assert parse_pattern(print_pattern(pattern)) == pattern


@given(text_patterns(terms=odd_terms()))
def test_parse_of_print_is_the_same_for_odd_terms(pattern: TextPattern) -> None:
    assert parse_pattern(print_pattern(pattern)) == pattern


def parses_or_explains(text: str) -> None:
    """Either a pattern that prints and parses to itself, or an error that can be shown."""
    error: SubscriptionError | None = None
    try:
        pattern = parse_pattern(text)
    except SubscriptionError as raised:
        error = raised
    if error is None:
        assert parse_pattern(print_pattern(pattern)) == pattern
    else:
        assert 0 <= error.position <= len(text)
        assert error.hint
        assert "^" in str(error)


@given(st.text(st.characters()))
def test_any_text_parses_or_explains(text: str) -> None:
    parses_or_explains(text)


PIECES = (
    "(",
    ")",
    '"',
    " ",
    "->",
    "->[",
    "[",
    "]",
    ",",
    "0",
    "3",
    "-",
    "*",
    "?",
    "&",
    "AND",
    "OR",
    "NOT",
    "near",
    "a",
    "a*",
)


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_mix_of_pieces_parses_or_explains(pieces: list[str]) -> None:
    parses_or_explains("".join(pieces))


@given(
    text_patterns().map(print_pattern),
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 3), st.sampled_from(("", *PIECES)) | st.text(max_size=2)), max_size=4
    ),
)
def test_any_damaged_pattern_parses_or_explains(text: str, damages: list[tuple[float, int, str]]) -> None:
    for where, removed, inserted in damages:
        at = int(where * len(text))
        text = text[:at] + inserted + text[at + removed :]
    parses_or_explains(text)


@pytest.mark.parametrize(
    "piece", [*PIECES, '"a', "(a ", "NOT ", "a OR ", "a ->[0,1] ", "a->[", " ) ( ", "\ud800", "\0"]
)
def test_long_repetitions_parse_or_explain(piece: str) -> None:
    parses_or_explains(piece * (LENGTH // len(piece)))
