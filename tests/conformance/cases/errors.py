"""What cannot be read of an event: every predicate on it is unknown, it is reported, and the rest is still matched.

Reported is each attribute once, and only where a predicate asks for it. A value of another type is no such problem.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta, timezone
from decimal import Decimal

from conformance.case import UNKNOWN, Batch, Case

HALF = "\ud800"  # half of a surrogate pair
EAST = timezone(timedelta(hours=2))
WEST = timezone(timedelta(hours=-2))
BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'
EXTERNAL = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]><x>&e;</x>'

UNREADABLE = {
    "a high half of a pair": HALF,
    "a low half of a pair": "\udc00",
    "a half inside a string": "abc\ud83ddef",
    "two halves in the wrong order": "\ude00\ud83d",
    "a time of day": time(12, 0),
    "a complex number": 1j,
    "a signalling NaN": Decimal("sNaN"),
    "an object": object(),
    "a record with a number for a name": {1: "x"},
    "an instant before the year 1": datetime(1, 1, 1, tzinfo=EAST),
    "an instant after the year 9999": datetime(9999, 12, 31, 23, tzinfo=WEST),
}
ASKED = {
    "=": "a = 'x'",
    "<>": "a <> 'x'",
    "<": "a < 5",
    "BETWEEN": "a BETWEEN 'a' AND 'z'",
    "IN": "a IN ('x', 'y')",
    "NOT IN": "a NOT IN ('x', 'y')",
    "LIKE": "a LIKE '%'",
    "ILIKE": "a ILIKE '%'",
    "RLIKE": "a RLIKE ''",
    "has_all": "has_all(a, 'x')",
    "has_any": "has_any(a, 'x')",
    "IS NULL": "a IS NULL",
    "IS NOT NULL": "a IS NOT NULL",
    "matches": "matches(a, 'NOT x')",
    "similarity": "similarity(a, 'x') >= 0",
    "a boolean alone": "a",
    "a date": "a > DATE '0001-01-01'",
}
MALFORMED = {
    "an empty string": "",
    "white space": "  ",
    "words": "hello",
    "an element that is not closed": "<x>",
    "elements that cross": "<x><y></x></y>",
    "two roots": "<x/><y/>",
    "text after the root": "<x/>y",
    "a bare ampersand": "<x>a & b</x>",
    "an unknown entity": "<x>&nbsp;</x>",
    "an attribute without quotes": "<x a=1/>",
    "an attribute twice": "<x a='1' a='2'/>",
    "a prefix that is not declared": "<n:x/>",
    "a character that XML has not": "<x>\x01</x>",
    "a space before the declaration": ' <?xml version="1.0"?><x/>',
    "an entity of its own": '<!DOCTYPE x [<!ENTITY e "y">]><x>&e;</x>',
    "an entity that is not used": '<!DOCTYPE x [<!ENTITY e "y">]><x/>',
    "entities that grow": BOMB,
    "an external entity": EXTERNAL,
    "300 elements deep": "<x>" * 300 + "</x>" * 300,
    "bytes in another encoding than declared": b'<?xml version="1.0" encoding="UTF-8"?><x>\xe9</x>',
    "empty bytes": b"",
}

CASES = [
    *[
        Case(f"{name} is unknown to =", "a = 'x'", {"a": value}, UNKNOWN, unreadable=("a",))
        for name, value in UNREADABLE.items()
    ],
    *[
        Case(f"{kind} of what is unreadable", where, {"a": f"x{HALF}"}, UNKNOWN, unreadable=("a",))
        for kind, where in ASKED.items()
    ],
    *[
        Case(f"{name} is no document", "xpath_boolean(doc, '/x')", {"doc": value}, UNKNOWN, unreadable=("doc",))
        for name, value in MALFORMED.items()
    ],
    Case(
        "not( ) of a malformed document", "xpath_boolean(doc, 'not(/x)')", {"doc": "<x>"}, UNKNOWN, unreadable=("doc",)
    ),
    Case(
        "half of a pair in a document",
        "xpath_boolean(doc, '/x')",
        {"doc": f"<x>{HALF}</x>"},
        UNKNOWN,
        unreadable=("doc",),
    ),
    # Elements and fields
    Case("an unreadable element", "b = 'x'", {"b": ["y", HALF]}, UNKNOWN, unreadable=("b",)),
    Case("only an unreadable element", "b LIKE '%'", {"b": [HALF]}, UNKNOWN, unreadable=("b",)),
    Case(
        "an unreadable element for array_contains",
        "array_contains(c, 'x')",
        {"c": ["y", HALF]},
        UNKNOWN,
        unreadable=("c",),
    ),
    Case("an unreadable element for has_all", "has_all(d, 'x', 'y')", {"d": ["y", HALF]}, UNKNOWN, unreadable=("d",)),
    Case("an unreadable element for has_any", "has_any(e, 'x', 'z')", {"e": ["y", HALF]}, UNKNOWN, unreadable=("e",)),
    Case("an unreadable field", "r.s = 'x'", {"r": {"s": HALF}}, UNKNOWN, unreadable=("r.s",)),
    Case("a field of what is unreadable", "q.s = 'x'", {"q": {1: "x"}}, UNKNOWN, unreadable=("q.s",)),
    Case("a field of an unreadable record is not null", "q.s IS NULL", {"q": {1: "x"}}, UNKNOWN, unreadable=("q.s",)),
    Case(
        "an unreadable field through an array",
        "p.s = 'x'",
        {"p": [{"s": "y"}, {"s": HALF}]},
        UNKNOWN,
        unreadable=("p.s",),
    ),
    Case(
        "a malformed document in an array",
        "xpath_boolean(docs, '/y')",
        {"docs": ["<x/>", "<x>"]},
        UNKNOWN,
        unreadable=("docs",),
    ),
    # Beside others
    Case("unreadable AND true", "a = 'x' AND n = 5", {"a": HALF, "n": 5}, UNKNOWN, unreadable=("a",)),
    Case("unreadable OR false", "a = 'x' OR n = 5", {"a": HALF, "n": 6}, UNKNOWN, unreadable=("a",)),
    # What only looks odd
    Case("a pair of surrogates is a character", "g = '\U0001f600'", {"g": "\U0001f600"}, True),
    Case("a character that is none yet", "g = '\uffff'", {"g": "\uffff"}, True),
    Case("a control character", "g = '\x01'", {"g": "\x01"}, True),
]

BATCHES = [
    Batch(
        "an unreadable attribute does not stop the rest of its event",
        {"bad": "a = 'x'", "bad too": "NOT a = 'x'", "good": "n = 5", "either": "a = 'x' OR n = 5"},
        [{"a": HALF, "n": 5}],
        {(0, "good"), (0, "either")},
        {(0, "a")},
    ),
    Batch(
        "an unreadable attribute that nobody asks for is no problem",
        {"good": "n = 5"},
        [{"a": HALF, "doc": "<x>", "n": 5}],
        {(0, "good")},
    ),
    Batch(
        "a malformed document is reported once, however many ask",
        {"1": "xpath_boolean(doc, '/x')", "2": "xpath_boolean(doc, 'not(/x)')", "3": "NOT xpath_boolean(doc, '/y')"},
        [{"doc": "<x>"}],
        set(),
        {(0, "doc")},
    ),
    Batch(
        "a malformed document is still a string",
        {"like": "doc LIKE '<x%'", "text": "matches(doc, 'x')", "there": "doc IS NOT NULL"},
        [{"doc": "<x>"}],
        {(0, "like"), (0, "text"), (0, "there")},
    ),
    Batch(
        "a malformed document is unknown as a document only",
        {"like": "doc LIKE '<x%'", "path": "xpath_boolean(doc, '/x')", "not": "NOT xpath_boolean(doc, '/x')"},
        [{"doc": "<x>"}],
        {(0, "like")},
        {(0, "doc")},
    ),
    Batch(
        "two unreadable attributes are two problems",
        {"a": "a = 'x'", "doc": "xpath_boolean(doc, '/x')", "n": "n > 0"},
        [{"a": HALF, "doc": "", "n": 1}],
        {(0, "n")},
        {(0, "a"), (0, "doc")},
    ),
    Batch(
        "a bad event among good ones costs only itself",
        {"x": "xpath_boolean(doc, '/x')", "n": "n = 1"},
        [{"doc": "<x/>", "n": 1}, {"doc": "<x", "n": 1}, {"doc": "<x/>", "n": 2}],
        {(0, "x"), (0, "n"), (1, "n"), (2, "x")},
        {(1, "doc")},
    ),
    Batch(
        "the same bad document in two events is two problems",
        {"x": "xpath_boolean(doc, '/x')"},
        [{"doc": "<x"}, {"doc": "<x"}],
        set(),
        {(0, "doc"), (1, "doc")},
    ),
    Batch(
        "an unreadable field beside a readable one",
        {"bad": "r.a = 'x'", "good": "r.n = 5", "record": "r IS NOT NULL"},
        [{"r": {"a": HALF, "n": 5}}],
        {(0, "good"), (0, "record")},
        {(0, "r.a")},
    ),
    Batch(
        "a value of another type is no problem",
        {"number": "a = 5", "text": "matches(a, 'x')", "path": "xpath_boolean(a, '/x')", "array": "has_any(a, 5)"},
        [{"a": True}, {"a": {"b": 1}}, {}, {"a": None}],
        set(),
    ),
    Batch(
        "bytes that are no document, asked as a document only",
        {"path": "xpath_boolean(doc, '/x')", "like": "doc LIKE '%'", "there": "doc IS NOT NULL"},
        [{"doc": b"\xff\xfe\xfd"}, {"doc": b"<x/>"}],
        {(0, "there"), (1, "path"), (1, "there")},
        {(0, "doc")},
    ),
    Batch(
        "an event whose attributes have no names is none, and the others are matched",
        {"n": "n = 1", "all": "TRUE"},
        [{"n": 1}, {1: "x", "n": 1}, {"n": 1}],  # type: ignore[dict-item]  # a wrong event is the point
        {(0, "n"), (0, "all"), (2, "n"), (2, "all")},
        {(1, None)},
    ),
]
