"""Events of any kind as DataFrames, as few as their types allow, and what is asked of the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

# How one event becomes a row, and two tables one, is the same for every matcher that takes tables.
from matchers import CannotCarryError, _joined, _row_of
from tidings.spark.arrow_types import arrow_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FEW = 20  # rows that stay in one partition: dividing them takes longer than matching them
CANNOT_CARRY = (CannotCarryError, pa.ArrowException, UnicodeEncodeError, OverflowError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Frames:
    """Tables of events, whose ids are their positions; and why some positions are in none of them."""

    frames: list[DataFrame]
    tables: list[pa.Table]
    unable: dict[int, str]


def frames_of(spark: SparkSession, events: Sequence[Mapping[str, Any]]) -> Frames:
    tables: list[pa.Table] = []
    unable: dict[int, str] = {}
    for position, event in enumerate(events):
        try:
            row = _row_of(position, event)
            _must_be_known(row.schema)
        except CANNOT_CARRY as reason:
            unable[position] = str(reason).splitlines()[0]
            continue
        _put(tables, row)
    frames = [_frame(spark, table) for table in tables]
    divided = [in_parts(frame) if table.num_rows > FEW else frame for frame, table in zip(frames, tables, strict=True)]
    return Frames(divided, tables, unable)


def _frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    try:
        return spark.createDataFrame(table)
    except pa.ArrowInvalid:
        # createDataFrame (4.3) takes some arrays of times or records apart in a wrong way; a task hands them over.
        from pyspark.sql.pandas.types import from_arrow_schema

        def handed_over(batches: Iterable[Any]) -> Iterator[pa.RecordBatch]:
            for _ in batches:
                yield from table.combine_chunks().to_batches()

        return spark.range(1, numPartitions=1).mapInArrow(handed_over, from_arrow_schema(table.schema))


def _put(tables: list[pa.Table], row: pa.Table) -> None:
    for number, table in enumerate(tables):
        joined = _joined(table, row)
        if joined is not None:
            tables[number] = joined
            return
    tables.append(row)


def _must_be_known(schema: pa.Schema) -> None:
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import from_arrow_schema

    if any(_has_nul_inside(field.type) for field in schema):
        raise CannotCarryError("the name of a field inside a record ends at a NUL on the way from Java to Python")
    try:
        arrow_type(from_arrow_schema(schema))
    except PySparkException as error:
        raise CannotCarryError(str(error)) from None


def _has_nul_inside(kind: pa.DataType) -> bool:
    fields = [kind.field(number) for number in range(kind.num_fields)]
    return any("\0" in field.name or _has_nul_inside(field.type) for field in fields)


def in_parts(frame: DataFrame, parts: int = 2) -> DataFrame:
    """The same rows in several partitions: nothing may depend on which rows come together."""
    return frame.repartition(parts)


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    """In order. Through Arrow: a million rows one by one take long."""
    return sorted(zip(*frame.toArrow().to_pydict().values(), strict=True), key=repr)


def together(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.union(other), frames)
