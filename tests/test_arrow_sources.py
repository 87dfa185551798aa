"""Whatever offers Arrow's columns is read by columns, whichever of Arrow's types its identifiers and strings have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import tidings
from tidings import Matcher
from tidings.batches import ArrowBatch, read_batch
from tidings.errors import IdentifierError

EVENTS = pa.table({"id": [10, 11], "symbol": ["X", "IBM"], "price": [5.0, 7.0]})
SUBSCRIPTIONS = pa.table({"id": ["x", "ibm"], "where": ["symbol = 'X'", "symbol LIKE 'IB%' AND price > 6"]})
SOURCES: dict[str, Callable[[pa.Table], Any]] = {
    "a table": lambda table: table,
    "a batch": lambda table: table.to_batches()[0],
    "a reader of batches": lambda table: pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
    "a frame of polars": pl.from_arrow,
    "a frame of pandas": lambda table: table.to_pandas(),
    "a result of DuckDB": lambda table: duckdb.connect().from_arrow(table),
}


@pytest.mark.parametrize("source", SOURCES)
def test_what_offers_columns_is_a_table(source: str) -> None:
    of = SOURCES[source]
    matcher = Matcher(uncompiled=0)
    matcher.learn(of(EVENTS))
    assert matcher.add_many(of(SUBSCRIPTIONS)) == 2
    matches = {"event": 10, "subscription": "x"}, {"event": 11, "subscription": "ibm"}
    assert matcher.match_many(of(EVENTS)).to_pylist() == list(matches)


def test_a_table_of_subscriptions_says_which_columns_it_lacks() -> None:
    with pytest.raises(IdentifierError, match="has the columns id and where; this one has id, symbol, price"):
        Matcher().add_many(pl.from_arrow(EVENTS))


# (the type of the identifiers, whether they are taken as a column)
TYPES = [
    *(
        (kind, True)
        for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()))
    ),
    *((kind, True) for kind in (pa.int8(), pa.int64(), pa.uint32(), pa.uint64(), pa.dictionary(pa.int8(), pa.int64()))),
    *((kind, False) for kind in (pa.float64(), pa.bool_())),
]


@pytest.mark.parametrize(("kind", "as_column"), TYPES, ids=[str(kind) for kind, _ in TYPES])
def test_identifiers_of_every_type_mean_the_same(kind: pa.DataType, as_column: bool) -> None:
    values = pa.array([1, 0])
    ids = values.cast(kind.value_type).dictionary_encode() if pa.types.is_dictionary(kind) else values.cast(kind)
    table = EVENTS.set_column(0, "id", ids)
    assert isinstance(read_batch(table, lambda _: None), ArrowBatch) is as_column
    matcher = Matcher()
    matcher.add_many(SUBSCRIPTIONS)
    problems: list[Any] = []
    found = matcher.match_many(table, on_error=problems.append)["event"].to_pylist()
    assert found == (ids.to_pylist() if as_column else [])
    assert len(problems) == (0 if as_column else 2)


@pytest.mark.parametrize(
    "ids",
    [pa.array([1, None]), pa.array([1, 2**63], pa.uint64()), pa.array(["a", None], pa.string_view())],
    ids=["null", "too large", "null text"],
)
def test_an_event_whose_identifier_is_none_costs_itself_only(ids: pa.Array) -> None:
    matcher = Matcher()
    matcher.add("any", "price > 0")
    problems: list[Any] = []
    found = matcher.match_many(EVENTS.set_column(0, "id", ids), on_error=problems.append)
    assert found["event"].to_pylist() == [ids[0].as_py()]
    assert [problem.event for problem in problems] == [1]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_strings_of_every_type_mean_the_same(kind: pa.DataType) -> None:
    texts = ["abc", "b", None, "", "é", "a long one, which no view holds by itself"]
    wheres = ["s = 'abc'", "s LIKE 'a%'", "s LIKE '%by itself'", "s IS NULL", "s <> 'b'", "s = 'é'", "s RLIKE 'l.ng'"]
    matcher = Matcher(uncompiled=0)
    matcher.add_many(enumerate(wheres))
    found = matcher.match_many(pa.table({"s": pa.array(texts, kind)}))
    expected = {
        (row, id)
        for row, text in enumerate(texts)
        for id, where in enumerate(wheres)
        if tidings.holds(where, {"s": text})
    }
    assert set(zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True)) == expected
