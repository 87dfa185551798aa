"""Whatever is typed: `parse` gives an expression whose text reads back, or a SubscriptionError that can be printed.

Nothing else, and soon. Random texts are parsed in this process. The extreme ones, which could end the process or
never end, are parsed in a child with a time limit, which says the name of each before it tries it.
"""

from __future__ import annotations

import os
import signal
import string
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tidings
from strategies import expressions
from tidings.errors import LimitError, SubscriptionError, UnsupportedError
from tidings.language import limits
from tidings.language.parser import parse
from tidings.language.printer import print_expression
from tidings.model.event import Event
from tidings.model.predicates import Expression
from tidings.reference import Reading, check_answerable, truth

EVENT = {"n": [1, None, 0.5], "s": "a", "flag": True, "tags": ["a"], "doc": "<a/>", "body": "a b", "r": {"n": 1}}
# Guards against a hang, not measures: processor time for one extreme text, and all the time for all of them together.
SECONDS_EACH, SECONDS = 15, 300


def tried(text: Any) -> str:
    """`accepted`, or the name of the error. Fails where the outcome is none of the two that are allowed."""
    try:
        expression = parse(text)
    except SubscriptionError as error:
        refused = error
    else:
        check_accepted(expression)
        return "accepted"
    assert refused.problem in str(refused)
    assert 0 <= refused.position <= len(refused.text)
    assert str(refused).encode()
    return type(refused).__name__


def check_accepted(expression: Expression) -> None:
    printed = print_expression(expression)
    assert parse(printed) == expression
    assert print_expression(parse(printed)) == printed
    try:
        check_answerable(expression)
    except tidings.SettingError:
        return
    assert truth(expression, Reading(Event.of(EVENT))) in (True, False, None)


# Random texts

PLAIN_WORDS = r"""
n s flag tags doc body r.n `ab` `` ` _ é ıs date DATE TIMESTAMP array model lower SELECT CASE WHEN CAST EXISTS １ ²
= <> != < <= > >= == => <=> -> :: -- /* && || ! . , ; ( ) [ ] { } AND OR NOT IN LIKE ILIKE RLIKE BETWEEN ESCAPE IS NULL
TRUE FALSE 1 -1 0.5 .5 1. 1e3 1e400 0x1F 5L 'a' '%a_' '' "b" ' " r'\d' '\' '\u0041' '\ud800' '2026-01-31' 'lsi' '//a[1]'
startswith contains array_contains has_all has_any arrays_overlap matches similarity xpath_boolean
"""
ODD_WORDS = ("`a b`", "+ 2", "'2026-01-31 10:00 Europe/Athens'", "'a ->[0,3] b'", "\0", "\ufeff", "\u2028")
WORDS = (*PLAIN_WORDS.split(), *ODD_WORDS)
VALID = expressions(answerable=False, max_leaves=5).map(print_expression)
SPACES = st.sampled_from((" ", " ", " ", "", "\n", "\t", "\u00a0"))


more = settings(max_examples=3 * settings().max_examples)  # they are quick


@more
@given(st.text(st.characters()) | st.text(string.printable) | st.text("'\"\\`%_()nsr=<>-+.0123456789eE \n"))
@example("")
@example(" ")
@example("\ud800")
@example("s = '\udfff'")
def test_any_text_is_read_or_refused(text: str) -> None:
    tried(text)


@more
@given(st.lists(st.tuples(st.sampled_from(WORDS), SPACES), max_size=12))
def test_any_words_are_read_or_refused(words: list[tuple[str, str]]) -> None:
    tried("".join(word + space for word, space in words))


@given(VALID, st.randoms(use_true_random=False), st.integers(1, 4))
def test_a_subscription_with_other_characters_is_read_or_refused(valid: str, random: Random, changes: int) -> None:
    text = list(valid)
    for _ in range(changes):
        changed(text, random, lambda: random.choice("'\"\\`()=<>,.- \0%_aN1é\ud800"))
    tried("".join(text))


@given(VALID, st.randoms(use_true_random=False), st.integers(1, 4))
def test_a_subscription_with_other_words_is_read_or_refused(valid: str, random: Random, changes: int) -> None:
    words = valid.split(" ")
    for _ in range(changes):
        changed(words, random, lambda: random.choice(WORDS))
    tried(" ".join(words))


def changed(parts: list[str], random: Random, new: Callable[[], str]) -> None:
    """Deletes, doubles, swaps or inserts one part."""
    at, other = random.randrange(len(parts) + 1), random.randrange(len(parts) + 1)
    match random.randrange(4):
        case 0:
            del parts[at : at + 1]
        case 1:
            parts[at:at] = parts[at : at + 1]
        case 2 if at < len(parts) and other < len(parts):
            parts[at], parts[other] = parts[other], parts[at]
        case _:
            parts.insert(at, new())


INNER_LANGUAGES = """
s LIKE '{}'
s ILIKE '{}' ESCAPE '!'
s RLIKE '{}'
s RLIKE r'{}'
matches(s, '{}')
xpath_boolean(s, '{}')
similarity(s, '{}') > 0.5
similarity(s, 'a') >= {}
n = DATE '{}'
n = TIMESTAMP '{}'
n = TIMESTAMP '2026-01-31 10:00 {}'
s = '{}'
n = {}
n > -{}
`{}` = 1
n.{} = 1
n IN ({})
""".strip().splitlines()
SIGNS = "".join(sorted({*"()[]{}|*+?^$.\\-:!%_/@\"&<>= ,0123456789abdDpPsuwxzZ'T", *"AND OR NOT"}))


@more
@given(st.sampled_from(INNER_LANGUAGES), st.text(SIGNS, max_size=30) | st.text(max_size=10))
def test_any_text_inside_a_literal_is_read_or_refused(around: str, inside: str) -> None:
    tried(around.format(inside))


@pytest.mark.parametrize("where", [None, b"n = 1", 5, ["n = 1"], object()])
def test_what_is_no_text_is_refused(where: object) -> None:
    assert tried(where) == SubscriptionError.__name__


# Every character of ASCII, and some beyond, in every place


@pytest.mark.parametrize(
    "around", ["{}", "n {} 1", "n = {}", "{}n = 1", "n{} = 1", "n = 1{}", "n = 1 {} n = 2", "({})"]
)
def test_every_character_is_read_or_refused(around: str) -> None:
    for character in ODD_CHARACTERS:
        tried(around.format(character))
        tried(around.format(character * 2))


@pytest.mark.parametrize("around", ["s = '{}'", "s = r'{}'", 's = "{}"', "s = '\\{}'", "s LIKE '\\{}'", "`{}` = 1"])
def test_every_character_inside_quotes_is_itself_or_refused(around: str) -> None:
    accepted = [character for character in ODD_CHARACTERS if tried(around.format(character)) == "accepted"]
    assert len(accepted) > (2 if "LIKE" in around else len(ODD_CHARACTERS) / 2)


ODD_CHARACTERS = [*map(chr, range(128)), *"\x80\x85\xa0é²\u0301\u200b\u2028\ufeff\uffff１ı😀\ud800\udfff"]


# Extremes


def deep(count: int) -> str:
    """AND and OR in turn, each inside the other."""
    return "".join("n = 1 AND (" if number % 2 else "n = 1 OR (" for number in range(count)) + "n = 1" + ")" * count


FITTING = limits.LENGTH // len(" AND n = 1")
EXTREMES: dict[str, tuple[str, Callable[[], str]]] = {
    "100,000 opening parentheses": ("LimitError", lambda: "(" * 100_000),
    "opening parentheses up to the limit": ("SubscriptionError", lambda: "(" * limits.LENGTH),
    "closing parentheses": ("SubscriptionError", lambda: ")" * limits.LENGTH),
    "parentheses around a condition": ("LimitError", lambda: "(" * 30_000 + "n = 1" + ")" * 30_000),
    "parentheses at the limit of nesting": ("accepted", lambda: "(" * limits.NESTING + "flag" + ")" * limits.NESTING),
    "parentheses around an attribute": ("LimitError", lambda: "(" * 30_000 + "n" + ")" * 30_000 + " = 1"),
    "parentheses around a value": ("LimitError", lambda: "n = " + "(" * 30_000 + "1" + ")" * 30_000),
    "parentheses after IN": ("LimitError", lambda: "n IN " + "(" * 30_000 + "1" + ")" * 30_000),
    "pairs of parentheses": ("SubscriptionError", lambda: "()" * 30_000),
    "100,000 NOTs": ("LimitError", lambda: "NOT " * 100_000 + "flag"),
    "NOTs up to the limit": ("LimitError", lambda: "NOT " * 16_000 + "flag"),
    "NOTs at the limit of nesting": ("accepted", lambda: "NOT " * limits.NESTING + "flag"),
    "NOT and parentheses": ("LimitError", lambda: "NOT (" * 10_000 + "flag" + ")" * 10_000),
    "NOT and parentheses at the limit": ("accepted", lambda: "NOT (" * 32 + "flag" + ")" * 32),
    "NOTs behind an attribute": ("SubscriptionError", lambda: "s " + "NOT " * 60 + "LIKE 'a'"),
    "a chain of AND": ("accepted", lambda: " AND ".join(["n = 1"] * FITTING)),
    "a chain of OR": ("LimitError", lambda: " OR ".join(["n = 1"] * FITTING)),
    "a chain of OR at the limit": ("accepted", lambda: " OR ".join(["n = 1"] * limits.CONJUNCTIONS)),
    "a chain of AND and OR": ("LimitError", lambda: " OR ".join(["n = 1 AND flag"] * 3_500)),
    "ANDs of ORs": ("LimitError", lambda: " AND ".join(["(flag OR n = 1)"] * 3_000)),
    "ORs of negated ANDs": ("LimitError", lambda: " AND ".join(["NOT (flag AND n = 1)"] * 2_500)),
    "ANDs of TRUE or FALSE": ("LimitError", lambda: " AND ".join(["(TRUE OR TRUE)"] * 3_000)),
    "AND and OR inside one another at the limit": ("accepted", lambda: deep(limits.NESTING)),
    "AND and OR inside one another": ("LimitError", lambda: deep(4_000)),
    "a chain of comparisons": ("SubscriptionError", lambda: "n" + " = 1" * 10_000),
    "a chain of LIKE": ("SubscriptionError", lambda: "s" + " LIKE 'a'" * 6_000),
    "a chain of IS NULL": ("SubscriptionError", lambda: "s" + " IS NULL" * 6_000),
    "a chain of BETWEEN": ("SubscriptionError", lambda: "n" + " BETWEEN 1 AND 2" * 3_000),
    "a chain of ESCAPE": ("SubscriptionError", lambda: "s LIKE 'a'" + " ESCAPE '!'" * 5_000),
    "functions inside one another": ("LimitError", lambda: "array(" * 9_000 + "1" + ")" * 9_000),
    "functions inside one another at the limit": ("SubscriptionError", lambda: "contains(" * 60 + "s, 'a'" + ")" * 60),
    "10,000 values of IN": ("accepted", lambda: f"n IN ({', '.join(map(str, range(10_000)))})"),
    "10,000 values of has_any": ("accepted", lambda: f"has_any(n, {', '.join(map(str, range(10_000)))})"),
    "10,000 arguments": ("SubscriptionError", lambda: f"contains(s, {', '.join(['1'] * 10_000)})"),
    "a list of commas": ("SubscriptionError", lambda: f"n IN ({',' * 60_000})"),
    "a long string": ("accepted", lambda: f"s = '{'a' * 65_000}'"),
    "a string of quotes": ("accepted", lambda: f"s = '{chr(39) * 65_000}'"),
    "a string of the other quotes": ("LimitError", lambda: f's = "{chr(39) * 65_000}"'),
    "a string of backslashes": ("accepted", lambda: f"s = '{chr(92) * 65_000}'"),
    "a string of controls": ("LimitError", lambda: "s = '" + "\n" * 65_000 + "'"),
    "a long pattern of wildcards": ("accepted", lambda: f"s LIKE '{'%_a' * 20_000}'"),
    "a pattern of escapes": ("accepted", lambda: f"s LIKE '{'!%' * 15_000}' ESCAPE '!'"),
    "a string that does not end": ("SubscriptionError", lambda: "s = '" + "a" * 65_000),
    "a string that ends in a backslash": ("SubscriptionError", lambda: "s = '" + "\\" * 64_999 + "'"),
    "many strings that do not end": ("SubscriptionError", lambda: "'\"`" * 20_000),
    "backslashes and quotes in turn": ("SubscriptionError", lambda: "s = '" + "\\''" * 20_000),
    "quotes and backslashes in turn": ("SubscriptionError", lambda: "'\\" * 32_000),
    "a name that does not end": ("SubscriptionError", lambda: "`" + "a" * 65_000),
    "a name of backquotes": ("accepted", lambda: f"`{'`' * 60_000}` = 1"),
    "a long name": ("accepted", lambda: "a" * 65_000 + " = 1"),
    "a path at the limit": ("accepted", lambda: ".".join(["a"] * limits.PATH) + " = 1"),
    "a long path": ("LimitError", lambda: ".".join(["a"] * 30_000) + " = 1"),
    "a path of dots": ("SubscriptionError", lambda: "a" + "." * 60_000),
    "a number at the limit": ("accepted", lambda: "n = " + "9" * 308),
    "a number beyond float64": ("LimitError", lambda: "n = " + "9" * 309),
    "a number of 60,000 digits": ("LimitError", lambda: "n = " + "9" * 60_000),
    "60,000 zeros": ("LimitError", lambda: "n = " + "0" * 60_000),
    "a fraction of 60,000 digits": ("LimitError", lambda: "n = 0." + "9" * 60_000),
    "the most digits of a fraction": ("accepted", lambda: "n = -0." + "1" * (limits.DIGITS - 2)),
    "the most digits of a tiny number": ("accepted", lambda: "n = 1." + "1" * (limits.DIGITS - 8) + "e-250"),
    "the largest float": ("accepted", lambda: "n = 1.7976931348623157e308"),
    "the smallest number": ("accepted", lambda: "n = 1e-308"),
    "a number too large": ("LimitError", lambda: "n = 1e309"),
    "a number too small": ("LimitError", lambda: "n = 1e-309"),
    "an enormous exponent": ("LimitError", lambda: "n = 1e999999999999999999"),
    "an enormous negative exponent": ("LimitError", lambda: "n = 1e-999999999999999999"),
    "zero with an enormous exponent": ("accepted", lambda: "n = 0e999999999999999999"),
    "an exponent of 60,000 digits": ("LimitError", lambda: "n = 1e" + "9" * 60_000),
    "numbers that would print long without an exponent": ("accepted", lambda: f"n IN ({', '.join(['1e308'] * 9_000)})"),
    "signs": ("UnsupportedError", lambda: "n = " + "- " * 30_000 + "1"),
    "spaces": ("accepted", lambda: " " * 32_000 + "flag" + "\n" * 32_000),
    "only spaces": ("SubscriptionError", lambda: " " * 65_000),
    "NULs": ("SubscriptionError", lambda: "\0" * 65_000),
    "half surrogates": ("SubscriptionError", lambda: "\ud800" * 65_000),
    "characters of four bytes": ("accepted", lambda: f"s = '{'😀' * 60_000}'"),
    "a text beyond the limit": ("LimitError", lambda: "flag" + " " * limits.LENGTH),
    "a text of ten million characters": ("LimitError", lambda: "n = 1 AND " * 1_000_000),
    "a regular expression at the limit": ("accepted", lambda: f"s RLIKE '{'a' * limits.REGEX}'"),
    "a long regular expression": ("LimitError", lambda: f"s RLIKE '{'a' * 60_000}'"),
    "groups of a regular expression": ("SubscriptionError", lambda: f"s RLIKE '{'(' * 1_000}'"),
    "closed groups of a regular expression": ("accepted", lambda: f"s RLIKE '{'(' * 500}a{')' * 500}'"),
    "repetitions of repetitions": ("SubscriptionError", lambda: f"s RLIKE '{'(' * 9}a{'{1000})' * 9}'"),
    "stars of stars": ("accepted", lambda: f"s RLIKE '{'(' * 200}a{')*' * 200}b'"),
    "classes of a regular expression": ("SubscriptionError", lambda: f"s RLIKE r'{'[^a-z]{999}' * 90}'"),
    "brackets of a text pattern": ("LimitError", lambda: f"matches(s, '{'(' * 8_000}')"),
    "NOTs of a text pattern": ("LimitError", lambda: f"matches(s, '{'NOT ' * 2_000}a')"),
    "a chain of a text pattern": ("accepted", lambda: f"matches(s, 'a{' ->[0,1] a' * 500}')"),
    "words of a text pattern": ("LimitError", lambda: f"matches(s, '{'a ' * 4_000}')"),
    "brackets of XPath": ("LimitError", lambda: f"xpath_boolean(s, '{'a[' * 2_000}b{']' * 2_000}')"),
    "parentheses of XPath": ("LimitError", lambda: f"xpath_boolean(s, '{'(' * 4_000}a{')' * 4_000}')"),
    "nots of XPath": ("LimitError", lambda: f"xpath_boolean(s, '{'not(' * 1_500}a{')' * 1_500}')"),
    "steps of XPath": ("LimitError", lambda: f"xpath_boolean(s, '{'/a' * 4_000}')"),
    "ors of XPath": ("LimitError", lambda: f"xpath_boolean(s, '{' or '.join(['a'] * 1_500)}')"),
    "a long profile": ("accepted", lambda: f"similarity(s, '{'a ' * 30_000}') > 0.5"),
}  # fmt: skip


def try_extremes() -> None:
    """Runs in the child: for each extreme text its name, then what became of it."""
    signal.signal(signal.SIGPROF, hung)
    for name, (_, text) in EXTREMES.items():
        print(name, end="\t", flush=True)
        signal.setitimer(signal.ITIMER_PROF, SECONDS_EACH)
        try:
            print(tried(text()), flush=True)
        except BaseException as error:
            print(f"{type(error).__name__}: {str(error)[:200]!r}", flush=True)


def hung(*_: object) -> None:
    raise TimeoutError(f"it did not end in {SECONDS_EACH} seconds")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """What became of each extreme text; of the one at which the child ended, how it ended."""
    folders = [str(Path(tidings.__file__).parents[1]), str(Path(__file__).parents[1])]
    child = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", "from language.test_fuzz import try_extremes; try_extremes()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        said, _ = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        said, _ = child.communicate()
    found = dict(line.split("\t") for line in said.splitlines() if "\t" in line)
    return {name: outcome or f"the process ended with status {child.returncode}" for name, outcome in found.items()}


@pytest.mark.parametrize("name", EXTREMES)
def test_an_extreme_text_is_read_or_refused(name: str, outcomes: dict[str, str]) -> None:
    expected, _ = EXTREMES[name]
    assert outcomes.get(name, "not reached: the process ended before") == expected


def test_every_expected_error_is_one_of_the_languages() -> None:
    errors = {kind.__name__ for kind in (SubscriptionError, LimitError, UnsupportedError)}
    assert {expected for expected, _ in EXTREMES.values()} <= {"accepted", *errors}
