"""Text patterns against texts: examples, a brute-force oracle for chains, and Python itself for AND, OR and NOT."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from language.text_strategies import chains, text_patterns, texts
from tidings.analysis.pattern_failures import pattern_failures
from tidings.analysis.patterns import pattern_holds, pattern_witness
from tidings.analysis.words import ENGLISH, SIMPLE, Word
from tidings.language.text import parse_pattern, print_pattern
from tidings.model.text import AllOf, AnyOf, Gap, Not, Terms, TextPattern, phrase


def holds(pattern: str, text: str) -> bool:
    return pattern_holds(parse_pattern(pattern), SIMPLE.words(text), SIMPLE)


def witness(pattern: str, text: str) -> list[str]:
    words = SIMPLE.words(text)
    return [text[words[at].start : words[at].end] for at in pattern_witness(parse_pattern(pattern), words, SIMPLE)]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("ibm", "IBM rises", True),
        ("ibm", "", False),
        ("NOT ibm", "", True),
        ('"machine learning"', "Machine-learning works", True),
        ('"machine learning"', "learning machine", False),
        ('"machine learning"', "machine vision learning", False),
        ("a ->[1,1] c", "a b c", True),
        ("a ->[1,1] c", "a c", False),
        ("a ->[1,] c", "a c", False),
        ("a ->[1,] c", "a b b b c", True),
        ("a ->[0,1] b", "b a", False),
        ("a ->[0,] a", "a", False),
        ("a ->[0,] a", "a a", True),
        # Greedy matching from the left would take the first b and miss the chain.
        ("a ->[0,3] b ->[0,0] c", "a b x b c", True),
        ("a ->[0,0] b ->[2,2] c", "a a b x x c", True),
        # One term of several words is a phrase of them.
        ("x-ray", "an X ray", True),
        ("x-ray", "x marks the ray", False),
        ("x-ray ->[0,1] a.b", "x ray or a b", True),
        ("3.14", "about 3.14", True),
        ("日本", "日本語", True),
        ("日本", "本日", False),
        ("don't", "I don’t", True),
        ("café", "CAFE\u0301", True),
        # Wildcard words
        ("neur*", "Neurons fire", True),
        ("neur*", "neur", True),
        ("neur*", "the neuter", False),
        ("neur*", "aneurysm", False),
        ("NEUR* ->[0,0] net*", "neural networks", True),
        ("a* ->[0,0] c", "a ab x abc c", True),
        ("NOT neur*", "", True),
        ("x-ra*", "an X ray", True),
        ("x-ra*", "x or ray", False),
        ("straß*", "STRASSEN", True),
        ("e*", "é", False),
        ('"neur*"', "neural", False),
        ("a AND (b OR NOT c)", "a", True),
        ("a AND (b OR NOT c)", "a c", False),
    ],
)
def test_what_holds(pattern: str, text: str, expected: bool) -> None:
    assert holds(pattern, text) is expected


def test_terms_are_read_with_the_analyser_of_the_text() -> None:
    pattern, text = parse_pattern('networks AND "neurally running"'), "neural runs of a network"
    assert pattern_holds(pattern, ENGLISH.words(text), ENGLISH)
    assert not pattern_holds(pattern, SIMPLE.words(text), SIMPLE)


def test_a_wildcard_word_is_compared_as_the_analyser_reads_it() -> None:
    words = ENGLISH.words("computers are running")
    for pattern, expected in {
        "comput*": True,
        "computer*": True,
        "computing*": True,
        "run*": True,
        "runni*": False,
    }.items():
        assert pattern_holds(parse_pattern(pattern), words, ENGLISH) is expected
    assert not pattern_holds(Terms(("and",), (), frozenset({0})), Capitals().words("IBM and"), Capitals())


class Capitals:
    """An analyser for which some terms hold no word: only words in capitals count."""

    name = "capitals"
    version = "1"

    def words(self, text: str) -> tuple[Word, ...]:
        return tuple(word for word in SIMPLE.words(text) if text[word.start : word.end].isupper())


def test_a_term_without_words_is_found_nowhere() -> None:
    words = Capitals().words("IBM and HP")
    assert pattern_holds(phrase("IBM", "HP"), words, Capitals())
    assert not pattern_holds(phrase("and"), words, Capitals())
    assert not pattern_holds(phrase("IBM", "and", "HP"), words, Capitals())
    assert pattern_holds(Not(phrase("and")), words, Capitals())
    assert pattern_witness(phrase("IBM", "HP"), words, Capitals()) == [0, 1]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("b", "A B b", ["B"]),
        ("x", "a b", []),
        ("NOT x", "a b", []),
        ("b AND a AND NOT x", "A, B", ["A", "B"]),
        ("a OR b OR x", "b a", ["b", "a"]),
        ("a AND x", "a b", []),
        ("NOT (a OR NOT b)", "b", []),
        ("a ->[0,3] b ->[0,0] c", "a b x b c", ["a", "b", "c"]),
        ("x-ray OR ray", "the X-Ray", ["X", "Ray"]),
        ("a* ->[0,1] b", "a ab x abc b", ["abc", "b"]),
    ],
)
def test_the_words_that_satisfied_it(pattern: str, text: str, expected: list[str]) -> None:
    assert witness(pattern, text) == expected


def test_the_witness_of_a_chain_is_the_occurrence_that_ends_first() -> None:
    words = SIMPLE.words("a b x b c c")
    found = pattern_witness(parse_pattern("a ->[0,3] b ->[0,0] c"), words, SIMPLE)
    assert found == [0, 3, 4]


# Oracles


def occurrences(chain: Terms, tokens: list[str]) -> list[tuple[int, ...]]:
    """All tuples of positions that satisfy the chain, by trying every tuple."""
    places = [
        [i for i, token in enumerate(tokens) if token == term or (n in chain.prefixes and token.startswith(term))]
        for n, term in enumerate(chain.terms)
    ]
    return [tried for tried in product(*places) if _within_gaps(tried, chain.gaps)]


def _within_gaps(tried: tuple[int, ...], gaps: tuple[Gap, ...]) -> bool:
    return all(
        before < after and gap.least <= after - before - 1 and (gap.most is None or after - before - 1 <= gap.most)
        for (before, after), gap in zip(pairwise(tried), gaps, strict=True)
    )


letters = st.sampled_from(("a", "b", "ab"))


@given(chains(letters, max_terms=5), st.lists(letters, max_size=12))
@example(Terms(("a", "b", "c"), (Gap(0, 3), Gap(0, 0))), list("abcabacbc"))
@example(Terms(("a", "a", "a"), (Gap(1, 2), Gap(1, None))), list("aaaaa"))
def test_chains_equal_trying_every_tuple_of_positions(chain: Terms, tokens: list[str]) -> None:
    words = SIMPLE.words(" ".join(tokens))
    expected = occurrences(chain, tokens)
    assert pattern_holds(chain, words, SIMPLE) == bool(expected)
    found = tuple(pattern_witness(chain, words, SIMPLE))
    assert found in expected if expected else found == ()
    assert not expected or found[-1] == min(tried[-1] for tried in expected)


@given(text_patterns(max_leaves=8), texts())
def test_what_is_lacking_is_said_of_what_is_false(pattern: TextPattern, text: str) -> None:
    words = SIMPLE.words(text)
    said = list(pattern_failures(pattern, words, SIMPLE, print_pattern))
    assert said or pattern_holds(pattern, words, SIMPLE)
    missing = [each.removeprefix("missing: ") for each in said if each.startswith("missing: ")]
    assert not any(pattern_holds(parse_pattern(word), words, SIMPLE) for word in missing)


def as_python(pattern: TextPattern) -> str:
    match pattern:
        case Terms():
            return f"found({pattern!r})"
        case AllOf(parts):
            return "(" + " and ".join(map(as_python, parts)) + ")"
        case AnyOf(parts):
            return "(" + " or ".join(map(as_python, parts)) + ")"
        case Not(part):
            return f"(not {as_python(part)})"


@given(text_patterns(max_leaves=8), texts())
def test_and_or_not_equal_python(pattern: TextPattern, text: str) -> None:
    tokens = [word.text for word in SIMPLE.words(text)]

    def found(chain: Terms) -> bool:
        return bool(occurrences(chain, tokens))

    names = {"found": found, "Terms": Terms, "Gap": Gap}
    assert pattern_holds(pattern, SIMPLE.words(text), SIMPLE) == eval(as_python(pattern), names)


@given(text_patterns(max_leaves=8), texts())
def test_the_witness_alone_satisfies_what_has_no_not(pattern: TextPattern, text: str) -> None:
    words = SIMPLE.words(text)
    found = pattern_witness(pattern, words, SIMPLE)
    assert found == sorted(set(found))
    if not pattern_holds(pattern, words, SIMPLE):
        assert found == []
    else:
        others = Word("another", 0, 0)
        alone = [word if at in found else others for at, word in enumerate(words)]
        assert not _without_not(pattern) or pattern_holds(pattern, alone, SIMPLE)


def _without_not(pattern: TextPattern) -> bool:
    match pattern:
        case Terms():
            return True
        case AllOf(parts) | AnyOf(parts):
            return all(map(_without_not, parts))
        case Not():
            return False


def test_a_long_text_of_one_word_takes_no_quadratic_time() -> None:
    words = SIMPLE.words("a " * 20_000)
    chain = parse_pattern("a ->[5,900000] " * 20 + "a")
    assert pattern_holds(chain, words, SIMPLE)
