"""Several subscriptions and events at once: what one matches has no bearing on another."""

from __future__ import annotations

from datetime import date

from conformance.case import Batch

KINDS = {
    "number": "price < 20",
    "string": "symbol = 'IBM'",
    "prefix": "symbol LIKE 'I%'",
    "regex": "symbol RLIKE 'M$'",
    "set": "has_any(tags, 'tech', 'bank')",
    "date": "day >= DATE '2026-01-01'",
    "text": "matches(title, 'profit ->[0,2] warning')",
    "similar": "similarity(title, 'profit warning') >= 0.5",
    "xml": "xpath_boolean(doc, '/trade[@venue = \"X\"]')",
    "null": "owner IS NULL",
    "mix": "symbol = 'IBM' AND price < 20 OR NOT matches(title, 'profit')",
}
EVENTS = [
    {
        "symbol": "IBM",
        "price": 10,
        "tags": ["tech"],
        "day": date(2026, 1, 31),
        "title": "Profit and loss warning",
        "doc": "<trade venue='X'/>",
    },
    {
        "symbol": "SAP",
        "price": 30,
        "tags": [],
        "day": date(2025, 1, 31),
        "title": "New chief",
        "doc": "<trade/>",
        "owner": 1,
    },
    {},
]

BATCHES = [
    Batch(
        "every kind of predicate over three events",
        KINDS,
        EVENTS,
        {*((0, kind) for kind in KINDS), (1, "mix"), (2, "null")},
    ),
    Batch("no subscriptions", {}, [{"a": 1}, {}], set()),
    Batch("no events", {"a": "a = 1"}, [], set()),
    Batch("neither", {}, [], set()),
    Batch(
        "an event without attributes",
        {"a": "a = 1", "all": "TRUE", "null": "a IS NULL"},
        [{}],
        {(0, "all"), (0, "null")},
    ),
    Batch(
        "two subscriptions that ask the same",
        {"a": "a = 1", "b": "a = 1"},
        [{"a": 1}, {"a": 2}],
        {(0, "a"), (0, "b")},
    ),
    Batch(
        "two subscriptions that say the same in other words",
        {"a": "a = 1", "b": "1 = a", "c": "a IN (1)", "d": "NOT NOT (a = 1.0)"},
        [{"a": 1}],
        {(0, "a"), (0, "b"), (0, "c"), (0, "d")},
    ),
    Batch("the same event twice", {"a": "a = 1"}, [{"a": 1}, {"a": 1}], {(0, "a"), (1, "a")}),
    Batch(
        "one matches all, one matches none",
        {"all": "TRUE", "none": "FALSE"},
        [{"a": 1}, {}, {"b": "x"}],
        {(0, "all"), (1, "all"), (2, "all")},
    ),
    Batch(
        "one event, one subscription each",
        {str(value): f"a = {value}" for value in range(50)},
        [{"a": value} for value in range(60)],
        {(value, str(value)) for value in range(50)},
    ),
    Batch(
        "nested ranges",
        {str(high): f"a BETWEEN 0 AND {high}" for high in range(10)},
        [{"a": value} for value in range(10)],
        {(value, str(high)) for value in range(10) for high in range(10) if value <= high},
    ),
    Batch(
        "nested prefixes",
        {prefix: f"a LIKE '{prefix}%'" for prefix in ("a", "ab", "abc", "abd", "b")},
        [{"a": "abcd"}, {"a": "ab"}, {"a": "c"}],
        {(0, "a"), (0, "ab"), (0, "abc"), (1, "a"), (1, "ab")},
    ),
    Batch(
        "a subscription of several conjunctions is matched once",
        {"a": "a = 1 OR b = 1 OR a = 1 AND b = 1"},
        [{"a": 1, "b": 1}],
        {(0, "a")},
    ),
    Batch(
        "the same attribute with several types over the events",
        {"number": "a = 1", "string": "a = '1'", "boolean": "a = TRUE", "any": "has_any(a, 1)", "null": "a IS NULL"},
        [{"a": 1}, {"a": "1"}, {"a": True}, {"a": [1]}, {"a": None}],
        {(0, "number"), (1, "string"), (2, "boolean"), (3, "number"), (3, "any"), (4, "null")},
    ),
    Batch(
        "attributes that only some events have",
        {"a": "a = 1", "not a": "NOT a = 1", "b": "b = 'x'", "both": "a = 1 AND b = 'x'", "either": "a = 1 OR b = 'x'"},
        [{"a": 1}, {"b": "x"}, {"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
        {
            (0, "a"),
            (0, "either"),
            (1, "b"),
            (1, "either"),
            (2, "a"),
            (2, "b"),
            (2, "both"),
            (2, "either"),
            (3, "not a"),
        },
    ),
    Batch(
        "names that differ in case only",
        {"small": "a = 1", "capital": "A = 1"},
        [{"a": 1}, {"A": 1}],
        {(0, "small"), (1, "capital")},
    ),
    Batch(
        "ids with odd characters",
        {"": "a = 1", " ": "a = 1", "it's": "a = 1", "\U0001f600": "a = 1", "x\ny": "a = 2"},
        [{"a": 1}],
        {(0, ""), (0, " "), (0, "it's"), (0, "\U0001f600")},
    ),
    Batch(
        "words of one text, asked in many ways",
        {
            "word": "matches(t, 'fox')",
            "no": "matches(t, 'NOT fox')",
            "phrase": "matches(t, '\"red fox\"')",
            "not": "NOT matches(t, 'fox')",
        },
        [{"t": "a red fox"}, {"t": "a fox, red"}, {"t": "a dog"}, {}],
        {(0, "word"), (0, "phrase"), (1, "word"), (2, "no"), (2, "not")},
    ),
    Batch(
        "paths of one document, asked in many ways",
        {"x": "xpath_boolean(doc, '/r/x')", "y": "xpath_boolean(doc, '/r/y = 1')", "z": "xpath_boolean(doc, '//z')"},
        [{"doc": "<r><x/><y>1</y></r>"}, {"doc": "<r><y>2</y></r>"}, {"doc": "<r><x><z/></x></r>"}],
        {(0, "x"), (0, "y"), (2, "x"), (2, "z")},
    ),
]
