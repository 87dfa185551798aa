"""Strings: in the order of their code points, case-sensitive, neither trimmed nor normalised."""

from __future__ import annotations

from conformance.case import UNKNOWN, Case, comparisons, unknown_comparisons

COMPOSED = "caf\u00e9"  # é as one code point
DECOMPOSED = "cafe\u0301"  # é as e and a combining acute accent
SMILE = "\U0001f600"  # outside the basic plane: two units in UTF-16, four bytes in UTF-8

COMPARISONS = [
    *comparisons("string", "'m'", "l", "m", "n"),
    *comparisons("longer string, a prefix is below", "'abc'", "ab", "abc", "abc "),
    *comparisons("string with letters beyond ASCII", "'é'", "z", "é", "ê"),
    *comparisons("string, an astral character is above the basic plane", f"'{SMILE}'", "\ufffd", SMILE, "\U0001f601"),
]

CASES = [
    Case("the first difference decides", "a < 'abc'", {"a": "abbz"}, True),
    Case("!= is <>", "a != 'x'", {"a": "y"}, True),
    # The empty string
    Case("empty equals empty", "a = ''", {"a": ""}, True),
    Case("empty is not a space", "a = ''", {"a": " "}, False),
    Case("empty is below everything else", "a < '\\0'", {"a": ""}, True),
    Case("empty is not below empty", "a < ''", {"a": ""}, False),
    Case("everything is at least empty", "a >= ''", {"a": "x"}, True),
    Case("empty is there", "a <> 'x'", {"a": ""}, True),
    Case("empty in a list", "a IN ('', 'x')", {"a": ""}, True),
    Case("empty between", "a BETWEEN '' AND 'z'", {"a": ""}, True),
    # Exactness
    Case("case matters", "a = 'IBM'", {"a": "ibm"}, False),
    Case("capitals come first", "a < 'a'", {"a": "Z"}, True),
    Case("digits compare as characters", "a < '9'", {"a": "10"}, True),
    Case("a space at the end matters", "a = 'x'", {"a": "x "}, False),
    Case("a space at the start matters", "a = ' x'", {"a": "x"}, False),
    Case("a line feed at the end matters", "a = 'x'", {"a": "x\n"}, False),
    Case("a zero character ends nothing", "a = 'x'", {"a": "x\0y"}, False),
    Case("a zero character is compared", "a = 'x\\0y'", {"a": "x\0y"}, True),
    Case("a quote", "a = 'it''s'", {"a": "it's"}, True),
    Case("a percent sign is no wildcard", "a = '%'", {"a": "x"}, False),
    Case("a percent sign equals itself", "a = '%'", {"a": "%"}, True),
    Case("an underscore is no wildcard", "a = '_'", {"a": "x"}, False),
    Case("a long string", f"a = '{'x' * 5000}'", {"a": "x" * 5000}, True),
    Case("a long string that differs at its end", f"a = '{'x' * 5000}'", {"a": "x" * 4999 + "y"}, False),
    # Unicode
    Case("combining marks: composed equals composed", f"a = '{COMPOSED}'", {"a": COMPOSED}, True),
    Case("combining marks: composed is not decomposed", f"a = '{COMPOSED}'", {"a": DECOMPOSED}, False),
    Case("combining marks: decomposed is not composed", f"a = '{DECOMPOSED}'", {"a": COMPOSED}, False),
    Case("combining marks: decomposed comes first", f"a < '{COMPOSED}'", {"a": DECOMPOSED}, True),
    Case("private use is below astral", f"a < '{SMILE}'", {"a": "\ue000"}, True),
    Case("the largest code point", "a >= '\\U0010FFFF'", {"a": "\U0010ffff"}, True),
    Case("letters that look alike differ", "a = 'A'", {"a": "\u0391"}, False),
    Case("a ligature is not its letters", "a = 'fi'", {"a": "\ufb01"}, False),
    Case("a zero-width joiner is compared", "a = 'ab'", {"a": "a\u200db"}, False),
    Case("a byte order mark is compared", "a = 'a'", {"a": "\ufeffa"}, False),
    Case("a no-break space is not a space", "a = 'a b'", {"a": "a\u00a0b"}, False),
    Case("right-to-left letters", "a = 'שלום'", {"a": "שלום"}, True),
    # Ranges and lists
    Case("between: inside", "a BETWEEN 'b' AND 'd'", {"a": "c"}, True),
    Case("between: at the low end", "a BETWEEN 'b' AND 'd'", {"a": "b"}, True),
    Case("between: at the high end", "a BETWEEN 'b' AND 'd'", {"a": "d"}, True),
    Case("between: longer than the high end", "a BETWEEN 'b' AND 'd'", {"a": "da"}, False),
    Case("between: below", "a BETWEEN 'b' AND 'd'", {"a": "azzz"}, False),
    Case("between: capitals lie outside", "a BETWEEN 'b' AND 'd'", {"a": "C"}, False),
    Case("not between: outside", "a NOT BETWEEN 'b' AND 'd'", {"a": "e"}, True),
    Case("in: one of them", "a IN ('IBM', 'SAP')", {"a": "SAP"}, True),
    Case("in: none of them", "a IN ('IBM', 'SAP')", {"a": "sap"}, False),
    Case("in: a part of one is none", "a IN ('IBM', 'SAP')", {"a": "SA"}, False),
    Case("not in: none of them", "a NOT IN ('IBM', 'SAP')", {"a": "HP"}, True),
    Case("not in: one of them", "a NOT IN ('IBM', 'SAP')", {"a": "IBM"}, False),
    Case("literal first", "'IBM' = a", {"a": "IBM"}, True),
    Case("literal first, < is turned round", "'b' < a", {"a": "c"}, True),
    # Other types
    *unknown_comparisons("a number is no string", "'5'", 5),
    Case("a decimal is no string", "a = '5'", {"a": 5.0}, UNKNOWN),
    Case("a boolean is no string", "a = 'true'", {"a": True}, UNKNOWN),
    Case("a boolean is no string, even with <>", "a <> 'true'", {"a": True}, UNKNOWN),
    Case("bytes are no string", "a = 'x'", {"a": b"x"}, UNKNOWN),
    Case("bytes are no string, even with <>", "a <> 'x'", {"a": b"y"}, UNKNOWN),
    Case("a number is in no list of strings", "a IN ('5', '6')", {"a": 5}, UNKNOWN),
    Case("a number is in no range of strings", "a BETWEEN '1' AND '9'", {"a": 5}, UNKNOWN),
    Case("a record is no string", "a = 'x'", {"a": {"x": "x"}}, UNKNOWN),
]
