"""Spark SQL agrees on the texts that both read: quoting, LIKE and RLIKE, arrays, numbers, dates, times and zones.

Each group of texts is one Spark job, a column per text. Texts that are drawn come from a seed, which is the test's
parameter. What Spark answers otherwise, on purpose here, is in DIFFERENCES with the reason, and held to it as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tidings.errors import SubscriptionError
from tidings.language.parser import parse
from tidings.model.event import Event
from tidings.model.predicates import Comparison
from tidings.reference import Reading, Truth, truth

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = """
s string, n bigint, x double, amount decimal(20, 3), flag boolean, at timestamp, day date, tags array<string>,
marks array<bigint>, `a.b` bigint, `last name` string, `it's` string, `a``b` string, r struct<n: bigint, s: string>
"""
NAMES = ("s", "n", "x", "amount", "flag", "at", "day", "tags", "marks", "a.b", "last name", "it's", "a`b", "r")
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
STRINGS = (
    "",
    "a",
    "abc",
    "ABC",
    "a%c",
    "a_c",
    "a\\c",
    "\\",
    "%",
    "it's",
    'say "x"',
    "a\nb",
    "😀",
    "é",
    "e\u0301",
    "A\0",
)


def event(**values: Any) -> dict[str, Any]:
    return dict.fromkeys(NAMES) | values


EVENTS = [
    event(),
    *(event(s=text, **{"last name": text, "it's": text, "a`b": text}) for text in STRINGS),
    event(s="abc", n=5, x=0.5, amount=Decimal("94.200"), flag=True, at=NOON, day=NOON.date(), r={"n": 1, "s": "x"}),
    event(n=0, x=-0.0, amount=Decimal("0.001"), flag=False, at=datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)),
    event(n=2**63 - 1, x=float("inf"), amount=Decimal(-5), at=datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
    event(n=-(2**63), x=94.2, r={"n": None, "s": None}, at=datetime(1970, 1, 1, tzinfo=UTC)),
    event(tags=[], marks=[]),
    event(tags=["a", "b"], marks=[1, 2]),
    event(tags=["a", None], marks=[None], **{"a.b": 7}),
    event(tags=["it's", "%"], marks=[2**63 - 1]),
]


def spark_answers(spark: SparkSession, texts: Sequence[str], events: Sequence[dict[str, Any]]) -> list[list[Truth]]:
    """Of each text what it is on each event, in one job."""
    from pyspark.sql.functions import expr

    rows = [(number, *each.values()) for number, each in enumerate(events)]
    table = spark.createDataFrame(rows, f"number int, {SCHEMA}").repartition(2)
    found = table.select("number", *(expr(text).alias(f"text {i}") for i, text in enumerate(texts))).collect()
    by_number = sorted(found, key=lambda row: row[0])
    return [[row[i + 1] for row in by_number] for i in range(len(texts))]


def our_answers(text: str, events: Sequence[dict[str, Any]]) -> list[Truth]:
    return [truth(parse(text), Reading(Event.of(each))) for each in events]


def check(spark: SparkSession, texts: Sequence[str]) -> None:
    theirs = spark_answers(spark, texts, EVENTS)
    ours = [our_answers(text, EVENTS) for text in texts]
    assert {text: (found, said) for text, found, said in zip(texts, ours, theirs, strict=True) if found != said} == {}


# Fixed texts


def groups() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "read_alike.sql").read_text(encoding="utf-8").splitlines():
        if line.startswith("-- group: "):
            found[line.removeprefix("-- group: ")] = []
        elif line and not line.startswith("--"):
            found[list(found)[-1]].append(line)
    return found


GROUPS = groups()


@pytest.mark.parametrize("group", GROUPS)
def test_spark_agrees(spark: SparkSession, group: str) -> None:
    check(spark, GROUPS[group])


# Drawn texts


def quoted(random: Random, pieces: Sequence[str], most: int = 5) -> str:
    """A literal in one of the four ways to quote, of pieces with escapes where the way has them."""
    quote = random.choice("'\"")
    if random.random() < 0.2:
        inside = "".join(random.choice(pieces) for _ in range(random.randrange(most)))
        return random.choice("rR") + quote + inside.replace(quote, "") + quote
    written = {quote: (quote * 2, "\\" + quote), "\\": ("\\\\",), "\n": ("\\n", "\n"), "a": ("a", "\\u0061", "\\141")}
    chosen = random.choices(pieces, k=random.randrange(most))
    return quote + "".join(random.choice(written.get(piece, (piece,))) for piece in chosen) + quote


NUMBERED = r"\101 \177 \1777 \200 \08 \00 \1 \u0041 \u00e9 \u00E9x \u12 \uzzzz \U0001F600 \U0001F60"
ESCAPED = (
    *(f"\\{chr(code)}" for code in range(32, 127)),
    *NUMBERED.split(" "),
    *("\\\n", "\\é", "\\😀", "''", '""', "'", '"', "a", "é", "😀", "%", "_", "\t", "\\\\", "\\\\n", "\\\\\\n"),
)


@pytest.mark.parametrize("seed", range(2))
def test_spark_reads_string_literals_alike(spark: SparkSession, seed: int) -> None:
    from pyspark.sql.functions import expr

    random, literals = Random(seed), dict[str, str]()
    while len(literals) < 250:
        quote = random.choice("'\"")
        text = random.choice(("", "", "r")) + quote + "".join(random.choices(ESCAPED, k=random.randrange(5))) + quote
        try:
            found = parse(f"s = {text}")
        except SubscriptionError:
            continue
        assert isinstance(found, Comparison)
        literals[text] = str(found.literal.value)
    (row,) = spark.range(1).select(*(expr(text).alias(f"text {i}") for i, text in enumerate(literals))).collect()
    assert {text: found for text, found in zip(literals, row, strict=True) if found != literals[text]} == {}


@pytest.mark.parametrize("seed", range(2))
def test_spark_reads_patterns_alike(spark: SparkSession, seed: int) -> None:
    random, texts = Random(seed), list[str]()
    pieces = ("a", "c", "%", "_", "\\", "'", '"', "\n", "!", "é", "😀", "A", ".")
    while len(texts) < 150:
        word = random.choice(("LIKE", "LIKE", "NOT LIKE", "ILIKE"))
        mark = random.choice(("", "", " ESCAPE '!'", ' ESCAPE "\\\\"', " ESCAPE '%'", " ESCAPE 'c'"))
        text = f"s {word} {quoted(random, pieces)}{mark}"
        try:
            parse(text)
        except SubscriptionError:  # an escape character before another one, which is an error of Spark too
            continue
        texts.append(text)
    check(spark, texts)


@pytest.mark.parametrize("seed", range(2))
def test_spark_reads_numbers_alike(spark: SparkSession, seed: int) -> None:
    random, texts = Random(seed), list[str]()
    while len(texts) < 150:
        whole = random.choice(("0", "5", "94", "1", "00", "9223372036854775807"))
        fraction = "" if len(whole) > 2 else random.choice(("", "", ".", ".0", ".5", ".2", ".200", ".001"))
        exponent = "" if len(whole) > 2 else random.choice(("", "", "", "e0", "E1", "e-1", "e+2"))
        operator, sign = random.choice(("=", "<>", "<", "<=", ">", ">=")), random.choice(("", "", "-", "+", "- "))
        texts.append(f"{random.choice(('n', 'x', 'amount'))} {operator} {sign}{whole}{fraction}{exponent}")
    check(spark, texts)


ZONES = (
    *("", "Z", " UTC", "+00:00", "+02:00", " -05:30", "+0545", "-1200", " Europe/Athens", " America/New_York"),
    *(" Asia/Kolkata", " Australia/Lord_Howe", " America/St_Johns", " Etc/GMT+5", " Pacific/Apia", " Africa/Monrovia"),
)
CLOCKS = (
    *("2026-01-31 12:00:00", "2026-07-31T23:59:59.999999", "1970-01-01 00:00:00.1", "2024-02-29 12:30:01.25"),
    *("1969-12-31 23:59:59", "1900-01-01 00:00:00", "2099-12-31 23:59:59"),
    # Twice in Athens, never in Athens, twice in New York, never in New York, never on Lord Howe, never on Samoa
    *("2026-10-25 03:30:00", "2026-03-29 03:30:00", "2026-11-01 01:30:00", "2026-03-08 02:30:00"),
    *("2026-10-04 02:15:00", "2011-12-30 12:00:00"),
)


def test_spark_reads_times_and_zones_alike(spark: SparkSession) -> None:
    from pyspark.sql.functions import expr

    ours: dict[str, int] = {}
    for text in (f"TIMESTAMP '{clock}{zone}'" for clock in CLOCKS for zone in ZONES):
        found = parse(f"at = {text}")
        assert isinstance(found, Comparison)
        assert isinstance(found.literal.value, datetime)
        since = found.literal.value - datetime(1970, 1, 1, tzinfo=UTC)
        ours[text] = since // timedelta(microseconds=1)
    columns = [expr(f"unix_micros({text})").alias(f"text {i}") for i, text in enumerate(ours)]
    (row,) = spark.range(1).select(*columns).collect()
    assert {text: (ours[text], found) for text, found in zip(ours, row, strict=True) if found != ours[text]} == {}


# Where the two differ on purpose: the text, one event, what Spark says, what is said here, and why

DIFFERENCES: list[tuple[str, dict[str, Any], Truth, Truth, str]] = [
    ("N = 5", event(n=5), True, None, "names are case-sensitive, as the keys of a JSON event are"),
    ("n = '5'", event(n=5), True, None, "nothing is converted: a number never equals a string"),
    ("s = 5", event(s="5"), True, None, "nothing is converted: a string never equals a number"),
    ("at = '2026-01-31 12:00:00'", event(at=NOON), True, None, "nothing is converted: a string is no timestamp"),
    ("x = 9007199254740993", event(x=2.0**53), True, False, "an integer is compared with a float by its exact value"),
    ("n < 9223372036854775808", event(), True, None, "Spark makes TRUE of what no bigint can fail, and forgets NULL"),
    ("x > 1", event(x=float("nan")), True, None, "NaN is no number: every comparison with it is unknown"),
    ("x = 1", event(x=float("nan")), False, None, "NaN is no number: every comparison with it is unknown"),
    ("s ILIKE 'ſ'", event(s="s"), False, True, "case is folded by Unicode, not by lower case: ſ folds to s"),
    ("s ILIKE 'Σ'", event(s="ς"), False, True, "case is folded by Unicode, not by lower case: ς folds to σ"),
    ("s ILIKE '_'", event(s="İ"), False, True, "case is folded one character to one, so that _ is one character"),
    ("s RLIKE 'a$'", event(s="a\n"), True, False, "$ of RE2 is the end; that of Java stands before a last newline too"),
    ("s RLIKE '^.$'", event(s="\r"), False, True, ". of RE2 is anything but a newline; Java has more ends of line"),
    ("s RLIKE r'^\\s$'", event(s="\x0b"), True, False, r"\s of RE2 has no vertical tab; that of Java has"),
]
REFUSED_HERE = {
    "s = 'a' 'bc'": "two strings in a row are rather a forgotten quote than a concatenation",
    "s = '\\ud83d\\ude00'": "halves of a surrogate pair are no characters; \\U0001F600 or the character itself is",
    "s == 'abc'": "there is one way to say equal",
    "n <=> 5": "written as n = 5 OR n IS NULL",
    "n = 5L": "numbers have one type, and no suffix",
    "5 BETWEEN 1 AND n": "a predicate asks an attribute, and compares it with values",
    "flag IS TRUE": "written as flag",
}
REFUSED_BY_SPARK = {
    "at = TIMESTAMP '2026-01-31 12:00Z'": "a zone may follow minutes too",
    "has_any(tags, 'a')": "the values need no array around them",
}
REFUSED_BY_BOTH = (
    "s LIKE 'abc\\\\'",
    "s LIKE r'a\\bc'",
    "s LIKE 'abc' ESCAPE ''",
    "s LIKE 'abc' ESCAPE '!!'",
    "s = 'abc",
)


@pytest.mark.parametrize(
    ("text", "given", "theirs", "ours", "reason"), DIFFERENCES, ids=[row[0] for row in DIFFERENCES]
)
def test_spark_differs_where_it_is_known(
    spark: SparkSession, text: str, given: dict[str, Any], theirs: Truth, ours: Truth, reason: str
) -> None:
    assert (spark_answers(spark, [text], [given]), our_answers(text, [given])) == ([[theirs]], [ours]), reason


def refused_here(text: str) -> bool:
    try:
        parse(text)
    except SubscriptionError:
        return True
    return False


def refused_by_spark(spark: SparkSession, text: str) -> bool:
    from pyspark.errors import PySparkException

    try:
        spark_answers(spark, [text], [event(s="abc", n=5, flag=True)])
    except PySparkException:
        return True
    return False


@pytest.mark.parametrize("text", [*REFUSED_HERE, *REFUSED_BY_SPARK, *REFUSED_BY_BOTH])
def test_what_is_refused_is_known(spark: SparkSession, text: str) -> None:
    assert refused_here(text) == (text not in REFUSED_BY_SPARK), REFUSED_HERE.get(text)
    assert refused_by_spark(spark, text) == (text not in REFUSED_HERE), REFUSED_BY_SPARK.get(text)
