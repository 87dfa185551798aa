"""Records: a dotted path leads through them; through an array of records it gathers the field of each, flattened."""

from __future__ import annotations

from typing import Any

from conformance.case import UNKNOWN, Case


def _chain(depth: int, value: object) -> dict[str, Any]:
    """{"a": {"a": … value}} with as many names on the way as `depth` says."""
    for _ in range(depth):
        value = {"a": value}
    assert isinstance(value, dict)
    return value


ORDER = {"items": [{"sku": "x", "price": 5}, {"sku": "y", "price": 20}]}
LISTS = {"orders": [{"lines": [{"n": 1}, {"n": 2}]}, {"lines": [{"n": 3}]}, {"lines": []}]}

CASES = [
    # Records in records
    Case("a field", "a.b = 5", {"a": {"b": 5}}, True),
    Case("a field with another value", "a.b = 5", {"a": {"b": 6}}, False),
    Case("a field of a field", "a.b.c = 'x'", {"a": {"b": {"c": "x"}}}, True),
    Case("a field among others", "a.b = 5 AND a.c = 6", {"a": {"b": 5, "c": 6}}, True),
    Case("the same name at two depths", "a.a = 1 AND a.b = 2", {"a": {"a": 1, "b": 2}}, True),
    Case("a missing field", "a.b = 5", {"a": {"c": 5}}, UNKNOWN),
    Case("a null field", "a.b = 5", {"a": {"b": None}}, UNKNOWN),
    Case("a missing record", "a.b = 5", {"b": 5}, UNKNOWN),
    Case("a null record", "a.b = 5", {"a": None}, UNKNOWN),
    Case("an empty record", "a.b = 5", {"a": {}}, UNKNOWN),
    Case("a number has no fields", "a.b = 5", {"a": 5}, UNKNOWN),
    Case("a string has no fields", "a.b = 'x'", {"a": "x"}, UNKNOWN),
    Case("a boolean has no fields", "a.b", {"a": True}, UNKNOWN),
    Case("a missing field of a field", "a.b.c = 5", {"a": {"b": 5}}, UNKNOWN),
    Case("a record is no value", "a = 5", {"a": {"b": 5}}, UNKNOWN),
    Case("a record is there", "a IS NOT NULL", {"a": {"b": None}}, True),
    Case("a path does not search", "b = 5", {"a": {"b": 5}}, UNKNOWN),
    Case("names of fields are case-sensitive", "a.B = 5", {"a": {"b": 5}}, UNKNOWN),
    Case("a field with an array", "a.b = 5", {"a": {"b": [4, 5]}}, True),
    Case("a field with an array, as a whole", "has_all(a.b, 4, 5)", {"a": {"b": [4, 5]}}, True),
    Case("LIKE on a field", "a.b LIKE 'x%'", {"a": {"b": "xyz"}}, True),
    Case("BETWEEN on a field", "a.b BETWEEN 1 AND 3", {"a": {"b": 4}}, False),
    Case("IN on a field", "a.b IN (1, 2)", {"a": {"b": 2}}, True),
    Case("RLIKE on a field", "a.b RLIKE '^x'", {"a": {"b": "yx"}}, False),
    Case("matches on a field", "matches(a.b, 'fox')", {"a": {"b": "the fox"}}, True),
    Case("similarity on a field", "similarity(a.b, 'fox') >= 1", {"a": {"b": "fox"}}, True),
    Case("xpath_boolean on a field", "xpath_boolean(a.doc, '/x')", {"a": {"doc": "<x/>"}}, True),
    # Depth
    Case("a path of 32 names", ".".join("a" * 32) + " = 5", _chain(32, 5), True),
    Case("a path of 32 names, another value", ".".join("a" * 32) + " = 5", _chain(32, 6), False),
    Case("a path one name too short", ".".join("a" * 31) + " = 5", _chain(32, 5), UNKNOWN),
    Case("a path one name too long", ".".join("a" * 32) + " = 5", _chain(31, 5), UNKNOWN),
    Case("a record deeper than a path can lead", "a.a IS NOT NULL", _chain(60, 5), True),
    # Arrays of records
    Case("through an array: any record", "items.sku = 'y'", ORDER, True),
    Case("through an array: no record", "items.sku = 'z'", ORDER, False),
    Case("through an array: <> holds for another", "items.sku <> 'y'", ORDER, True),
    Case("through an array: NOT = needs all", "NOT items.sku = 'y'", ORDER, False),
    Case("through an array: two fields of two records", "items.sku = 'x' AND items.price = 20", ORDER, True),
    Case("through an array: BETWEEN within one record", "items.price BETWEEN 6 AND 19", ORDER, False),
    Case("through an array: two comparisons by two records", "items.price >= 6 AND items.price <= 19", ORDER, True),
    Case("through an array: it is an array", "has_all(items.sku, 'x', 'y')", ORDER, True),
    Case("through an array: has_all, one is absent", "has_all(items.sku, 'x', 'z')", ORDER, False),
    Case("through an array: has_any", "has_any(items.price, 1, 20)", ORDER, True),
    Case("through an array: LIKE", "items.sku LIKE 'z%'", ORDER, False),
    Case("through an array: of one record", "has_any(items.sku, 'x')", {"items": [{"sku": "x"}]}, True),
    Case("through an array: one record lacks the field", "items.sku = 'z'", {"items": [{"sku": "x"}, {}]}, UNKNOWN),
    Case("through an array: another has it", "items.sku = 'x'", {"items": [{"sku": "x"}, {}]}, True),
    Case("through an array: a null among the records", "items.sku = 'x'", {"items": [None, {"sku": "x"}]}, True),
    Case("through an array: a null and no other", "items.sku = 'z'", {"items": [None, {"sku": "x"}]}, UNKNOWN),
    Case("through an array: a scalar among the records", "items.sku = 'z'", {"items": [5, {"sku": "x"}]}, UNKNOWN),
    Case("through an array: only scalars", "items.sku = 'x'", {"items": ["x", "y"]}, UNKNOWN),
    Case("through an array: no record at all", "items.sku = 'x'", {"items": []}, False),
    Case("through an array: no record has the field", "items.color = 'red'", ORDER, UNKNOWN),
    Case("through an array: what is gathered is an array, and there", "items.color IS NULL", ORDER, False),
    Case("through an array: a null field counts", "has_any(items.sku, 'z')", {"items": [{"sku": None}]}, UNKNOWN),
    Case("through an array: a tuple of records", "items.sku = 'x'", {"items": ({"sku": "x"},)}, True),
    Case(
        "through an array: arrays in records are joined",
        "has_all(r.t, 1, 2, 3)",
        {"r": [{"t": [1, 2]}, {"t": [3]}]},
        True,
    ),
    Case("through an array: an empty one adds nothing", "r.t = 9", {"r": [{"t": [1]}, {"t": []}]}, False),
    Case("through an array: an array and a scalar", "has_all(r.t, 1, 3)", {"r": [{"t": [1, 2]}, {"t": 3}]}, True),
    Case("through an array: a record inside each", "r.a.b = 2", {"r": [{"a": {"b": 1}}, {"a": {"b": 2}}]}, True),
    # Arrays in arrays
    Case("through two arrays: any", "orders.lines.n = 3", LISTS, True),
    Case("through two arrays: none", "orders.lines.n = 4", LISTS, False),
    Case("through two arrays: all of them", "has_all(orders.lines.n, 1, 2, 3)", LISTS, True),
    Case("an array directly in an array", "r.b = 2", {"r": [[{"b": 1}], [{"b": 2}]]}, True),
    Case("an array directly in an array: none", "r.b = 3", {"r": [[{"b": 1}], [{"b": 2}]]}, False),
    # Dots in names
    Case("a flat key with a dot, in backquotes", "`a.b` = 5", {"a.b": 5}, True),
    Case("a flat key with a dot is no path", "a.b = 5", {"a.b": 5}, UNKNOWN),
    Case("a path is no flat key", "`a.b` = 5", {"a": {"b": 5}}, UNKNOWN),
    Case("both, and each means its own", "`a.b` = 1 AND a.b = 2", {"a.b": 1, "a": {"b": 2}}, True),
    Case("a dotted key inside a record", "a.`b.c` = 5", {"a": {"b.c": 5}}, True),
]
