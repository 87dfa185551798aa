"""Missing values: a predicate on an attribute that is missing or null is unknown; IS NULL says which those are."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product

from conformance.case import UNKNOWN, Case

ONE_OF_EACH_KIND = {
    "=": "a = 5",
    "<>": "a <> 5",
    "<": "a < 5",
    "BETWEEN": "a BETWEEN 1 AND 9",
    "IN": "a IN (1, 2)",
    "NOT IN": "a NOT IN (1, 2)",
    "LIKE": "a LIKE '%'",
    "NOT LIKE": "a NOT LIKE 'x'",
    "ILIKE": "a ILIKE '%'",
    "startswith": "startswith(a, '')",
    "RLIKE": "a RLIKE ''",
    "array_contains": "array_contains(a, 5)",
    "has_all": "has_all(a, 1, 2)",
    "has_any": "has_any(a, 1, 2)",
    "matches": "matches(a, 'fox')",
    "matches NOT": "matches(a, 'NOT fox')",
    "similarity": "similarity(a, 'fox') >= 0",
    "xpath_boolean": "xpath_boolean(doc, '/x')",
    "xpath_boolean not": "xpath_boolean(doc, 'not(/x)')",
    "a boolean alone": "a",
}
EVENTS_WITHOUT: dict[str, dict[str, None]] = {"missing": {}, "null": {"a": None, "doc": None}}
VALUES = {
    "a number": 5,
    "zero": 0,
    "NaN": math.nan,
    "NaN as a decimal": Decimal("NaN"),
    "a string": "x",
    "an empty string": "",
    "the string null": "null",
    "true": True,
    "false": False,
    "a timestamp": datetime(2026, 1, 31, tzinfo=UTC),
    "a date": date(2026, 1, 31),
    "bytes": b"x",
    "an array": [1],
    "an empty array": [],
    "an array of a null": [None],
    "a record": {"b": 1},
    "a record of a null": {"b": None},
    "a document that is none": "<x",
}

CASES = [
    *[
        Case(f"{kind}: {name}", where, event, UNKNOWN)
        for (kind, where), (name, event) in product(ONE_OF_EACH_KIND.items(), EVENTS_WITHOUT.items())
    ],
    *[Case(f"IS NULL of {name}", "a IS NULL", {"a": value}, False) for name, value in VALUES.items()],
    *[Case(f"IS NOT NULL of {name}", "a IS NOT NULL", {"a": value}, True) for name, value in VALUES.items()],
    Case("IS NULL of a null", "a IS NULL", {"a": None}, True),
    Case("IS NULL of what is missing", "a IS NULL", {}, True),
    Case("IS NULL where others are there", "a IS NULL", {"b": 1}, True),
    Case("IS NOT NULL of a null", "a IS NOT NULL", {"a": None}, False),
    Case("IS NOT NULL of what is missing", "a IS NOT NULL", {}, False),
    Case("NOT IS NULL of what is missing", "NOT a IS NULL", {}, False),
    Case("IS NULL of another case of the name", "a IS NULL", {"A": 1}, True),
    Case("IS NULL inside a record", "a.b IS NULL", {"a": {"b": None}}, True),
    Case("IS NULL, the field is missing", "a.b IS NULL", {"a": {"c": 1}}, True),
    Case("IS NULL, the record is missing", "a.b IS NULL", {}, True),
    Case("IS NULL, the record is null", "a.b IS NULL", {"a": None}, True),
    Case("IS NULL, a scalar has no fields", "a.b IS NULL", {"a": 5}, True),
    Case("IS NULL, the field is there", "a.b IS NULL", {"a": {"b": 0}}, False),
    # Together with others
    Case("equal or null: null", "a = 5 OR a IS NULL", {"a": None}, True),
    Case("equal or null: missing", "a = 5 OR a IS NULL", {}, True),
    Case("equal or null: equal", "a = 5 OR a IS NULL", {"a": 5}, True),
    Case("equal or null: another", "a = 5 OR a IS NULL", {"a": 6}, False),
    Case("equal or null: another type", "a = 5 OR a IS NULL", {"a": "x"}, UNKNOWN),
    Case("missing OR true", "a = 5 OR b = 1", {"b": 1}, True),
    Case("missing OR false", "a = 5 OR b = 1", {"b": 2}, UNKNOWN),
    Case("missing AND true", "a = 5 AND b = 1", {"b": 1}, UNKNOWN),
    Case("missing AND false", "a = 5 AND b = 1", {"b": 2}, False),
    Case("missing, and its opposite", "a = 5 OR a <> 5", {}, UNKNOWN),
    Case("missing, and its negation", "a = 5 OR NOT a = 5", {}, UNKNOWN),
    Case("there, but of another type", "a IS NOT NULL AND NOT a = 5", {"a": "5"}, UNKNOWN),
    Case("an event without attributes and a constant", "TRUE", {}, True),
]
