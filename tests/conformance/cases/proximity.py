"""Proximity chains: a ->[l,u] b is a before b with l to u words between, ->[l,] without an upper bound."""

from __future__ import annotations

from conformance.case import UNKNOWN, Case, Truth


def _case(name: str, pattern: str, text: object, expected: Truth) -> Case:
    return Case(name, f"matches(a, '{pattern}')", {"a": text}, expected)


CASES = [
    # The number of words between
    _case("none between, none allowed", "a ->[0,0] b", "a b", True),
    _case("one between, none allowed", "a ->[0,0] b", "a x b", False),
    _case("none between, up to three", "a ->[0,3] b", "a b", True),
    _case("three between, up to three", "a ->[0,3] b", "a x x x b", True),
    _case("four between, up to three", "a ->[0,3] b", "a x x x x b", False),
    _case("none between, at least one", "a ->[1,3] b", "a b", False),
    _case("one between, at least one", "a ->[1,3] b", "a x b", True),
    _case("exactly two", "a ->[2,2] b", "a x x b", True),
    _case("exactly two, but one", "a ->[2,2] b", "a x b", False),
    _case("exactly two, but three", "a ->[2,2] b", "a x x x b", False),
    _case("open: none between", "a ->[0,] b", "a b", True),
    _case("open: many between", "a ->[0,] b", "a " + "x " * 100 + "b", True),
    _case("open: at least two, one", "a ->[2,] b", "a x b", False),
    _case("open: at least two, two", "a ->[2,] b", "a x x b", True),
    _case("open: at least two, many", "a ->[2,] b", "a " + "x " * 100 + "b", True),
    _case("a large bound", "a ->[0,1000000] b", "a x b", True),
    _case("spaces in the brackets", "a ->[ 0 , 3 ] b", "a x b", True),
    _case("no spaces around the arrow", "a->[0,3]b", "a x b", True),
    # Order
    _case("the other way round", "a ->[0,3] b", "b a", False),
    _case("the other way round, open", "a ->[0,] b", "b x a", False),
    _case("both ways asked", "a ->[0,3] b OR b ->[0,3] a", "b a", True),
    _case("before and after", "a ->[0,0] b", "b a b", True),
    # Which occurrence
    _case("a later first word fits", "a ->[0,1] b", "a x x x a b", True),
    _case("a later second word fits", "a ->[2,3] b", "a b x b", True),
    _case("no pair of several fits", "a ->[1,1] b", "a b x x a b", False),
    _case("the first that fits leads nowhere", "a ->[0,2] b ->[0,0] c", "a b x b c", True),
    _case("the last that fits leads nowhere", "a ->[0,] b ->[1,1] c", "a b x c b", True),
    _case("only the third that fits leads on", "a ->[0,5] b ->[2,2] c", "a b b b x x c", True),
    _case("no choice leads to the end", "a ->[0,1] b ->[0,1] c", "a b x x b c", False),
    # Repeated words
    _case("the same word twice, once there", "a ->[0,] a", "a", False),
    _case("the same word twice, twice there", "a ->[0,] a", "a x a", True),
    _case("the same word twice, too far", "a ->[0,0] a", "a x a", False),
    _case("the same word three times", "a ->[0,1] a ->[0,1] a", "a x a a", True),
    _case("the same word three times, twice there", "a ->[0,1] a ->[0,1] a", "a a", False),
    _case("a word between may be the word itself", "a ->[1,1] b", "a a b", True),
    # Longer chains
    _case("a chain of three", "a ->[0,1] b ->[0,1] c", "a x b x c", True),
    _case("a chain of three, the first gap too wide", "a ->[0,1] b ->[0,1] c", "a x x b c", False),
    _case("a chain of three, the second gap too wide", "a ->[0,1] b ->[0,1] c", "a b x x c", False),
    _case("a chain of three out of order", "a ->[0,] b ->[0,] c", "a c b", False),
    _case("a chain of three with different gaps", "a ->[0,3] b ->[1,] c", "a x b x x c", True),
    _case("a chain of three, fewer than the open gap's least", "a ->[0,3] b ->[1,] c", "a b c", False),
    _case("a chain of five", "a ->[0,0] b ->[1,1] c ->[0,] d ->[0,2] e", "a b x c x x x d x e", True),
    _case(
        "a chain of five that breaks at its end", "a ->[0,0] b ->[1,1] c ->[0,] d ->[0,2] e", "a b x c d x x x e", False
    ),
    _case("a chain whose last word is absent", "a ->[0,] b ->[0,] c", "a b", False),
    # Phrases in chains
    _case("a phrase first", '"a b" ->[0,1] c', "a b x c", True),
    _case("a phrase first, torn", '"a b" ->[0,1] c', "a x b c", False),
    _case("a phrase first, counted from its last word", '"a b" ->[0,0] c', "a b c", True),
    _case("a phrase last, counted to its first word", 'c ->[1,1] "a b"', "c x a b", True),
    _case("a phrase last, not to its last word", 'c ->[1,1] "a b"', "c a b", False),
    _case("a phrase on both sides", '"a b" ->[1,1] "c d"', "a b x c d", True),
    _case("a phrase in the middle", 'a ->[0,0] "b c" ->[0,0] d', "a b c d", True),
    _case("a phrase of which the second start fits", '"a a" ->[0,0] b', "a a a b", True),
    _case("phrases share no word", '"a b" ->[0,] "b c"', "a b c", False),
    _case("a compound word is a phrase", "co-op ->[0,1] shop", "the co op food shop", True),
    _case("a compound word last", "the ->[0,0] co-op", "the co-op", True),
    # Wildcard words in chains
    _case("a wildcard word first", "a* ->[0,1] c", "ab x c", True),
    _case("a wildcard word first, too far", "a* ->[0,1] c", "ab x x c", False),
    _case("a wildcard word first, a later one fits", "a* ->[0,0] c", "ab x a x abc c", True),
    _case("a wildcard word last", "c ->[1,1] a*", "c ab a", True),
    _case("wildcard words side by side", "a* ->[0,0] b*", "ab bc", True),
    _case("a wildcard word twice, once there", "a* ->[0,] a*", "ab", False),
    _case("a wildcard word twice, with two endings", "a* ->[0,] a*", "ab x ac", True),
    _case("a phrase and a wildcard word", '"a b" ->[0,0] c*', "a b cd", True),
    # Words and punctuation
    _case("case does not matter", "A ->[0,0] B", "a b", True),
    _case("punctuation is not counted", "a ->[0,0] b", "a, ... b", True),
    _case("a compound word counts as its parts", "a ->[1,1] b", "a co-op b", False),
    _case("a compound word counts as two", "a ->[2,2] b", "a co-op b", True),
    Case("a word with an apostrophe counts as one", "matches(a, 'a ->[1,1] b')", {"a": "a don't b"}, True),
    _case("a number with a point counts as two", "a ->[2,2] b", "a 3.14 b", True),
    _case("Han characters count one by one", "東 ->[1,1] 都", "東京都", True),
    # Together with the others
    _case("AND of a chain and a word", "a ->[0,0] b AND c", "c a b", True),
    _case("AND of two chains", "a ->[0,0] b AND c ->[0,0] d", "c d a b", True),
    _case("AND of two chains that share words", "a ->[0,0] b AND b ->[0,0] c", "a b c", True),
    _case("OR of a chain that fails and a word", "a ->[0,0] b OR x", "a x b", True),
    _case("NOT of a chain, the words too far apart", "NOT a ->[0,0] b", "a x b", True),
    _case("NOT of a chain that holds", "NOT a ->[0,0] b", "x a b", False),
    _case("both words but not near", "a AND b AND NOT (a ->[0,3] b OR b ->[0,3] a)", "a x x x x x b", True),
    _case("both words and near", "a AND b AND NOT (a ->[0,3] b OR b ->[0,3] a)", "b x a", False),
    _case("a chain beside a word without AND", "c a ->[0,0] b", "a b c", True),
    # Values
    _case("an empty text", "a ->[0,] b", "", False),
    _case("a text of one word", "a ->[0,] b", "a", False),
    _case("a number is no text", "a ->[0,] b", 5, UNKNOWN),
    _case("null", "a ->[0,] b", None, UNKNOWN),
    _case("an array, one of its texts", "a ->[0,0] b", ["b a", "a b"], True),
    _case("an array, never across its texts", "a ->[0,] b", ["a", "b"], False),
]
