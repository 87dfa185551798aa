"""An event means the same from a dict, from JSON and from an Arrow table, where each of them can carry it."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidings
from language.text_strategies import texts
from strategies import INTEGERS, MOMENTS, ODD_NAMES, STRINGS, EventSource, expressions
from tidings.model.event import Event, rows_of_arrow
from tidings.model.predicates import Expression
from tidings.reference import Reading, truth


def same(one: Any, other: Any) -> bool:
    """Equal in value and type, with NaN equal to NaN, -0.0 apart from 0.0, and a null field equal to a missing one."""
    if isinstance(one, dict) and isinstance(other, dict):
        return all(same(one.get(name), other.get(name)) for name in one.keys() | other.keys())
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return repr(one) == repr(other)
    return type(one) is type(other) and bool(one == other)


# JSON

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
NAMES = st.sampled_from(("n", "s", "flag", "tags", "r", "body")) | st.sampled_from(ODD_NAMES) | TEXT
SIMPLE = st.one_of(st.none(), st.booleans(), st.sampled_from(INTEGERS), st.floats(), st.sampled_from(STRINGS), texts())
JSON_VALUES = st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
JSON_EVENTS = st.dictionaries(NAMES, JSON_VALUES, max_size=5).filter(lambda event: "id" not in event)


@given(JSON_EVENTS, st.booleans(), expressions(max_leaves=4))
def test_json_means_what_its_dict_means(event: EventSource, escaped: bool, where: Expression) -> None:
    text = json.dumps(event, ensure_ascii=escaped)
    for source in (text, text.encode()):
        read = Event.from_json(source)
        assert same(read.attributes, Event.of(event).attributes)
        assert truth(where, Reading(read)) is truth(where, Reading(Event.of(event)))


@given(
    st.sampled_from(MOMENTS) | st.datetimes(timezones=st.just(UTC)),
    st.decimals(allow_nan=False, allow_infinity=False),
)
def test_json_carries_times_and_decimals_where_it_is_told_so(moment: datetime, amount: Decimal) -> None:
    text = json.dumps({"r": {"at": moment.isoformat(), "price": str(amount)}, "all": [moment.isoformat(), None]})
    read = Event.from_json(text, read_as={"r.at": "timestamp", "r.price": "decimal", "all": "timestamp"})
    expected = Event.of({"r": {"at": moment, "price": amount}, "all": [moment, None]})
    assert same(read.attributes, expected.attributes)


# Arrow

NUMBERS = st.sampled_from([number for number in INTEGERS if -(2**63) <= number < 2**63])
AMOUNTS = st.decimals(-1000, 1000, places=3)
RANGE_OF_NANOSECONDS = (datetime(1678, 1, 1), datetime(2262, 1, 1))
COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "n": (pa.int64(), NUMBERS),
    "x": (pa.float64(), st.floats()),
    "amount": (pa.decimal128(20, 3), AMOUNTS),
    "s": (pa.string(), st.sampled_from(STRINGS) | TEXT),
    "body": (pa.large_string(), texts()),
    "kind": (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(STRINGS)),
    "flag": (pa.bool_(), st.booleans()),
    "at": (pa.timestamp("us", "UTC"), st.sampled_from(MOMENTS) | st.datetimes(timezones=st.just(UTC))),
    "local": (pa.timestamp("us"), st.datetimes()),
    "fine": (pa.timestamp("ns", "Europe/Athens"), st.datetimes(*RANGE_OF_NANOSECONDS, timezones=st.just(UTC))),
    "day": (pa.date32(), st.dates()),
    "bytes": (pa.binary(), st.binary(max_size=3)),
    "tags": (pa.list_(pa.string()), st.lists(st.none() | st.sampled_from(STRINGS), max_size=3)),
    "more tags": (pa.large_list(pa.dictionary(pa.int8(), pa.string())), st.lists(st.sampled_from(STRINGS), max_size=2)),
    "r": (
        pa.struct([("n", pa.int64()), ("s", pa.string()), ("deep", pa.struct([("s", pa.list_(pa.string()))]))]),
        st.fixed_dictionaries(
            {},
            optional={
                "n": NUMBERS,
                "s": st.none() | st.sampled_from(STRINGS),
                "deep": st.none() | st.fixed_dictionaries({"s": st.lists(st.sampled_from(STRINGS), max_size=2)}),
            },
        ),
    ),
    "list": (
        pa.list_(pa.struct([("n", pa.float64())])),
        st.lists(st.none() | st.fixed_dictionaries({"n": st.none() | st.floats()}), max_size=3),
    ),
    "labels": (pa.map_(pa.string(), pa.int64()), st.dictionaries(TEXT, st.none() | NUMBERS, max_size=2)),
}  # fmt: skip
ROWS = st.fixed_dictionaries({}, optional={name: st.none() | values for name, (_, values) in COLUMNS.items()})


def table_of(rows: list[EventSource]) -> pa.Table:
    def cells(name: str, kind: pa.DataType) -> list[Any]:
        column = [row.get(name) for row in rows]
        return [None if cell is None else list(cell.items()) for cell in column] if pa.types.is_map(kind) else column

    return pa.table({name: pa.array(cells(name, kind), kind) for name, (kind, _) in COLUMNS.items()})


@given(st.lists(ROWS, min_size=1, max_size=3))
def test_a_row_of_arrow_means_what_its_dict_means(rows: list[EventSource]) -> None:
    read = [Event.of(row) for row in rows_of_arrow(table_of(rows))]
    assert all(same(one.attributes, Event.of(other).attributes) for one, other in zip(read, rows, strict=True))


@given(st.lists(ROWS, min_size=1, max_size=3), expressions(max_leaves=4))
def test_a_row_of_arrow_matches_as_its_dict_does(rows: list[EventSource], where: Expression) -> None:
    expected = [number for number, row in enumerate(rows) if truth(where, Reading(Event.of(row))) is True]
    matcher = tidings.Matcher()
    matcher.add("a", tidings.print_expression(where))
    for source in (table_of(rows), table_of(rows).to_batches()[0], rows):
        found = matcher.match_many(source, on_error=lambda problem: None).column("event").to_pylist()
        assert sorted(found) == expected


@given(st.lists(ROWS, min_size=2, max_size=5), st.integers(1, 3))
def test_the_parts_of_a_table_do_not_matter(rows: list[EventSource], size: int) -> None:
    parts = pa.concat_tables([table_of(rows[start : start + size]) for start in range(0, len(rows), size)])
    whole = [Event.of(row) for row in rows_of_arrow(table_of(rows))]
    assert all(
        same(Event.of(row).attributes, event.attributes) for row, event in zip(rows_of_arrow(parts), whole, strict=True)
    )


# What Python cannot hold, or what is no Unicode, costs its own attribute and nothing else
BAD_CELLS = {
    "a time after the year 9999": pa.array([0, 2**60], pa.timestamp("us")),
    "a time before the year 1": pa.array([0, -(2**60)], pa.timestamp("us", "UTC")),
    "a date after the year 9999": pa.array([0, 2**30], pa.date32()),
    "bytes that are no UTF-8": pa.StringArray.from_buffers(
        2, pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(b"a\xff")
    ),
}


@pytest.mark.parametrize("cells", BAD_CELLS.values(), ids=BAD_CELLS.keys())
def test_a_bad_cell_costs_its_own_attribute_only(cells: pa.Array) -> None:
    matcher = tidings.Matcher()
    matcher.add("n", "n = 1")
    matcher.add("bad", "bad IS NULL OR bad IS NOT NULL")
    problems: list[tidings.EventProblem] = []
    found = matcher.match_many(pa.table({"n": [1, 1], "bad": cells}), on_error=problems.append).to_pylist()
    pairs = {(row["event"], row["subscription"]) for row in found}
    assert pairs == {(0, "n"), (0, "bad"), (1, "n")}
    assert [(problem.event, problem.attribute) for problem in problems] == [(1, "bad")]


def test_dates_and_times_of_arrow_are_instants() -> None:
    table = pa.table({"day": pa.array([date(2026, 1, 31)]), "at": pa.array([datetime(2026, 1, 31)])})
    (row,) = rows_of_arrow(table)
    assert Event.of(row).value(("day",)) == Event.of(row).value(("at",)) == datetime(2026, 1, 31, tzinfo=UTC)
