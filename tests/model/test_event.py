"""Events: values in one normal form wherever they come from, paths through records and arrays, what is unreadable."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tidings import Event, EventError, SettingError
from tidings.model.event import rows_of_arrow
from tidings.model.values import MAXIMUM_RECORD_DEPTH, Unreadable, normal


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (date(2026, 1, 31), datetime(2026, 1, 31, tzinfo=UTC)),
        (datetime(2026, 1, 31, 12), datetime(2026, 1, 31, 12, tzinfo=UTC)),
        (datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=2))), datetime(2026, 1, 31, 10, tzinfo=UTC)),
        (pd.Timestamp("2026-01-31 12:00"), datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ([1, (2,), None], (1, (2,), None)),
        ({"a": {"b": [1]}}, {"a": {"b": (1,)}}),
        (np.int64(5), 5),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.array([1, 2]), (1, 2)),
        (bytearray(b"x"), b"x"),
        (Decimal("1.50"), Decimal("1.5")),
    ],
)
def test_values_have_one_normal_form(given: Any, expected: Any) -> None:
    found = normal(given)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (time(12), "a time is none of the types that an attribute can have"),
        (timedelta(1), "a timedelta is none of the types"),
        (object(), "a object is none of the types"),
        (1j, "a complex is none of the types"),
        ("x\udfff", "character 1 is half of a surrogate pair"),
        ({1: 2}, "a record's field names are strings, and one is 1 (int)"),
        (Decimal("sNaN"), "it is a signalling NaN"),
        (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))), "the time lies outside the years 1 to 9999 in UTC"),
    ],
)
def test_what_has_no_normal_form_is_unreadable_with_the_reason(given: Any, reason: str) -> None:
    found = normal(given)
    assert isinstance(found, Unreadable)
    assert reason in found.reason


def test_nesting_is_limited() -> None:
    deep: Any = 1
    for _ in range(10_000):
        deep = [deep]
    assert normal([[deep]]) != 1
    shallow: Any = 1
    for _ in range(MAXIMUM_RECORD_DEPTH):
        shallow = [shallow]
    assert "Unreadable" not in repr(normal(shallow))
    assert "nested deeper than 64 levels" in repr(normal([shallow]))


EVENT = Event.of({"a": {"b": 1, "list": [1, 2]}, "items": [{"p": 1}, {"q": 2}, {"p": [3, 4]}, 5, None], "a.b": 9})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("a", "b"), 1),
        (("a", "list"), (1, 2)),
        (("a", "b", "c"), None),
        (("a.b",), 9),
        (("nothing", "b"), None),
        (("items", "p"), (1, None, 3, 4, None, None)),
        (("items", "p", "z"), (None, None, None, None, None, None)),
    ],
)
def test_paths_lead_through_records_and_arrays_of_records(path: tuple[str, ...], value: Any) -> None:
    assert EVENT.value(path) == value


def test_json_means_what_the_dict_means() -> None:
    source = {"id": "e", "a": [1, 2.5, None, True, {"b": "x"}], "c": None}
    assert Event.from_json(json.dumps(source)) == Event.of(source)


@pytest.mark.parametrize("text", ["", "{", "[1]", "3", "{'a': 1}", b"\xff", "[" * 100_000, '{"id": {}}', "9" * 5000])
def test_what_is_no_event_is_refused(text: str | bytes) -> None:
    with pytest.raises(EventError):
        Event.from_json(text)


def test_json_values_are_read_as_named() -> None:
    text = '{"t": "2026-03-02T10:00:00+02:00", "n": {"d": 0.1, "many": ["1.10", 2, null]}, "bad": "soon", "x": null}'
    kinds = {
        "t": "timestamp",
        "n.d": "decimal",
        "n.many": "decimal",
        "bad": "timestamp",
        "x": "decimal",
        "no.x": "decimal",
    }
    attributes = Event.from_json(text, kinds).attributes
    assert attributes["t"] == datetime(2026, 3, 2, 8, tzinfo=UTC)
    assert attributes["n"] == {"d": Decimal("0.1"), "many": (Decimal("1.10"), Decimal(2), None)}
    assert attributes["bad"] == Unreadable("'soon' (str) cannot be read as a timestamp")
    assert attributes["x"] is None


def test_reading_as_something_unknown_is_refused() -> None:
    with pytest.raises(SettingError, match="read as one of timestamp, decimal, not as 'xml'"):
        Event.from_json("{}", {"a": "xml"})


def test_arrow_rows_mean_what_their_columns_mean() -> None:
    when = datetime(2026, 3, 2, 8, 0, 0, 123456, tzinfo=UTC)
    table = pa.table(
        {
            "ns": pa.array([when], pa.timestamp("ns", "UTC")),
            "naive": pa.array([datetime(2026, 3, 2)], pa.timestamp("s")),
            "day": pa.array([date(2026, 3, 2)]),
            "dec": pa.array([Decimal("1.50")]),
            "small": pa.array([3], pa.int8()),
            "half": pa.array([0.5], pa.float32()),
            "text": pa.array(["x"]).dictionary_encode(),
            "large": pa.array(["y"], pa.large_string()),
            "list": pa.array([[when, None]], pa.list_(pa.timestamp("ns", "UTC"))),
            "record": pa.array([{"t": when, "n": 1}], pa.struct([("t", pa.timestamp("ns", "UTC")), ("n", pa.int64())])),
            "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
            "raw": pa.array([b"<a/>"]),
            "clock": pa.array([time(12)]),
            "nothing": pa.nulls(1),
        }
    )
    (row,) = rows_of_arrow(table)
    attributes = dict(Event.of(row).attributes)
    assert isinstance(attributes.pop("clock"), Unreadable)
    assert attributes == {
        "ns": when,
        "naive": datetime(2026, 3, 2, tzinfo=UTC),
        "day": datetime(2026, 3, 2, tzinfo=UTC),
        "dec": Decimal("1.50"),
        "small": 3,
        "half": 0.5,
        "text": "x",
        "large": "y",
        "list": (when, None),
        "record": {"t": when, "n": 1},
        "map": {"k": 1},
        "raw": b"<a/>",
        "nothing": None,
    }


def test_what_is_finer_than_a_microsecond_is_cut_off() -> None:
    table = pa.table({"t": pa.array([1_000_001_999], pa.timestamp("ns"))})
    (row,) = rows_of_arrow(table)
    assert Event.of(row).value(("t",)) == datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)
