"""similarity: the cosine of two vectors of words, of weights (1 + ln tf) * idf, rounded to 12 decimals.

Without statistics every idf is 1; then n different words against m, of which k are shared, have k / sqrt(n * m), which
is what the expectations below are worked out from. With statistics idf = ln((1 + N) / (1 + df)) + 1.
"""

from __future__ import annotations

from conformance.case import UNKNOWN, Case, Truth
from tidings import Settings, TextStatistics
from tidings.analysis.words import SIMPLE, AnalyserVersion


def _case(name: str, profile: str, threshold: str, text: object, expected: Truth) -> Case:
    return Case(name, f"similarity(a, '{profile}') {threshold}", {"a": text}, expected)


CASES = [
    # Exactly at the threshold
    _case("the same text is 1", "red fox", ">= 1", "red fox", True),
    _case("the same text is not more than 1", "red fox", "> 1", "red fox", False),
    _case("the same words in another order are 1", "red fox", ">= 1", "fox red", True),
    _case("one of four words is exactly 0.5", "a", ">= 0.5", "a b c d", True),
    _case("one of four words is not more than 0.5", "a", "> 0.5", "a b c d", False),
    _case("one of four words is more than 0.499", "a", "> 0.499", "a b c d", True),
    _case("one of four words is not 0.501", "a", ">= 0.501", "a b c d", False),
    _case("two of four words each are exactly 0.5", "a b c d", ">= 0.5", "a b x y", True),
    _case("two of four words each are not more", "a b c d", "> 0.5", "a b x y", False),
    _case("one of two each is exactly 0.5", "a b", ">= 0.5", "a x", True),
    _case("three of four each are exactly 0.75", "a b c d", ">= 0.75", "a b c x", True),
    _case("three of four each are not more", "a b c d", "> 0.75", "a b c x", False),
    _case("one of a hundred is exactly 0.1", "a", ">= 0.1", "a " + " ".join(f"x{i}" for i in range(99)), True),
    _case("one of a hundred is not more", "a", "> 0.1", "a " + " ".join(f"x{i}" for i in range(99)), False),
    _case("one of two is 0.7071", "a", ">= 0.7071", "a b", True),
    _case("one of two is not 0.7072", "a", ">= 0.7072", "a b", False),
    _case("one of three, to 12 decimals", "a", ">= 0.577350269190", "a b c", True),
    _case("one of three, to 12 decimals and no more", "a", "> 0.577350269190", "a b c", False),
    _case("one of three is not the next 12 decimals", "a", ">= 0.577350269191", "a b c", False),
    _case("one of two, to 12 decimals", "a", ">= 0.707106781187", "a b", True),
    _case("one of two, to 12 decimals and no more", "a", "> 0.707106781187", "a b", False),
    _case(
        "thirty words with themselves are 1",
        " ".join(f"w{i}" for i in range(30)),
        ">= 1",
        " ".join(f"w{i}" for i in range(30)),
        True,
    ),
    # The ends
    _case("no word in common is 0", "fox", ">= 0", "dog", True),
    _case("no word in common is not more than 0", "fox", "> 0", "dog", False),
    _case("a word in common is more than 0", "fox", "> 0", "a fox and a dog", True),
    _case("an empty text is 0", "fox", ">= 0", "", True),
    _case("an empty text is not more than 0", "fox", "> 0", "", False),
    _case("a text without words is 0", "fox", ">= 0.1", "... !", False),
    # Frequencies: 1 + ln 2 = 1.6931 for a word that is there twice
    _case("a text of one word many times is that word", "fox", ">= 1", "fox fox fox", True),
    _case("a profile of one word many times is that word", "fox fox fox", ">= 1", "fox", True),
    _case("twice and once, against once each: 0.9684", "a b", ">= 0.9684", "a a b", True),
    _case("twice and once, against once each: not 0.9685", "a b", ">= 0.9685", "a a b", False),
    _case("frequencies count by their logarithm, else 0.9487", "a b", "> 0.96", "a a b", True),
    _case("frequencies count, else 1", "a b", ">= 1", "a a b", False),
    _case("the same counts throughout are the same direction", "a a b b", ">= 1", "a b", True),
    _case("twice and once, the other way round: 0.8757", "a a b", ">= 0.8757", "a b b", True),
    _case("twice and once, the other way round: not 0.8758", "a a b", ">= 0.8758", "a b b", False),
    # Words
    _case("case does not matter", "Red FOX", ">= 1", "red fox", True),
    _case("punctuation does not matter", "red, fox!", ">= 1", "(red) fox", True),
    _case("composed and decomposed are one word", "caf\u00e9", ">= 1", "cafe\u0301", True),
    _case("another form of a word is another word", "foxes", "> 0", "fox", False),
    _case("a compound word is its parts", "co-op", ">= 1", "op co", True),
    _case("operators are words in a profile", "this AND that", ">= 1", "that and this", True),
    _case("quotes mean nothing in a profile", '"red fox"', ">= 1", "fox red", True),
    _case("common words count like others", "the fox", ">= 0.5", "the dog", True),
    # Ways to write it
    Case("the threshold first", "0.5 <= similarity(a, 'a')", {"a": "a b c d"}, True),
    Case("the threshold first, <", "0.5 < similarity(a, 'a')", {"a": "a b c d"}, False),
    Case("a threshold of 1.0", "similarity(a, 'fox') >= 1.0", {"a": "fox"}, True),
    Case("a threshold with an exponent", "similarity(a, 'a') >= 5e-1", {"a": "a b c d"}, True),
    Case("a quote in the profile", "similarity(a, 'don''t go') >= 1", {"a": "go don't"}, True),
    # Values
    _case("a number is no text", "5", ">= 0", 5, UNKNOWN),
    _case("a boolean is no text", "true", ">= 0", True, UNKNOWN),
    _case("bytes are no text", "fox", ">= 0", b"fox", UNKNOWN),
    _case("null is no text", "fox", ">= 0", None, UNKNOWN),
    _case("an array, one of its texts", "red fox", ">= 1", ["dog", "red fox"], True),
    _case("an array, none of its texts", "red fox", ">= 1", ["red", "fox"], False),
    _case("an array of a text and a number", "fox", "> 0", ["dog", 5], UNKNOWN),
]

# Of 9 documents all hold `the`, 4 hold `fox` and none `red`: idf(the) = ln(10/10) + 1 = 1, idf(fox) = ln(10/5) + 1 =
# 1.693147, idf(red) = ln(10/1) + 1 = 3.302585.
STATISTICS = Settings(statistics=TextStatistics(9, {"the": 9, "fox": 4}, AnalyserVersion.of(SIMPLE)))

WITH_STATISTICS = [
    _case("the same text is 1 with any weights", "the red fox", ">= 1", "fox the red", True),
    _case("a text of one word is 1 with any weight", "fox", ">= 1", "fox fox", True),
    # the fox against the dog: 1 / (sqrt(1 + 1.693147^2) * sqrt(1 + 3.302585^2)) = 1 / (1.966404 * 3.450654) = 0.14737
    _case("a common word counts little", "the fox", ">= 0.1473", "the dog", True),
    _case("a common word counts little, not more", "the fox", ">= 0.1474", "the dog", False),
    # the fox against a fox: 2.866748 / (1.966404 * sqrt(3.302585^2 + 2.866748)) = 2.866748 / (1.966404 * 3.711269)
    _case("a rarer word counts more: 0.3928", "the fox", ">= 0.3928", "a fox", True),
    _case("a rarer word counts more: not 0.3929", "the fox", ">= 0.3929", "a fox", False),
    # the red against red: 3.302585 / sqrt(1 + 3.302585^2) = 3.302585 / 3.450654
    _case("a word of no document weighs most: 0.9570", "the red", ">= 0.957", "red", True),
    _case("a word of no document weighs most: not 0.9572", "the red", ">= 0.9572", "red", False),
    _case("without a common word it is 0", "fox", "> 0", "red", False),
    _case("a number is no text with any weights", "fox", ">= 0", 5, UNKNOWN),
]
