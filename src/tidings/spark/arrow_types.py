"""Arrow columns as the other side takes them: Spark's strings are short, and not every zone has a name in Python."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.types import DataType


def arrow_type(kind: DataType) -> pyarrow.DataType:
    """What a type of Spark is in Arrow. Moments are in UTC, which pyspark 4.1 takes for granted and 4.3 asks for."""
    from pyspark.sql.pandas.types import to_arrow_type

    convert: Callable[..., pyarrow.DataType] = to_arrow_type
    return convert(kind, timezone="UTC") if "timezone" in signature(convert).parameters else convert(kind)


def short_strings(column: pyarrow.Array) -> pyarrow.Array:
    """As Spark takes it: strings with short offsets, which a batch is small enough for."""
    import pyarrow as pa

    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column


def in_utc(column: pyarrow.Array) -> pyarrow.Array:
    """The same moments, without the zone of the session, for which Python may have no name."""
    wanted = _type_in_utc(column.type)
    return column if wanted == column.type else column.cast(wanted)


def _type_in_utc(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_type_in_utc(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_type_in_utc(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, kind.item_field.with_type(_type_in_utc(kind.item_type)))
    return kind
