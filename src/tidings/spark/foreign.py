"""Values of Spark that are none of the types that an attribute can have, and that Python would not get as they are.

Some stop a task when they are handed over (intervals of years and months), others arrive as records that nobody wrote
(variants). They are unknown to every predicate and reported, like every value that cannot be read; so in their place
goes a span of time, which is such a value and can be handed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

STAND_IN = "INTERVAL '0' SECOND"


def foreign_type(kind: DataType) -> str | None:
    """The name of the first type inside that Python would not get as it is."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    inside: list[DataType] = []
    if isinstance(kind, StructType):
        inside = [field.dataType for field in kind]
    elif isinstance(kind, ArrayType):
        inside = [kind.elementType]
    elif isinstance(kind, MapType):
        inside = [kind.keyType, kind.valueType]
    elif not _is_handed_over(kind):
        return kind.simpleString()
    return next((name for each in inside if (name := foreign_type(each)) is not None), None)


def without_foreign(column: Column, kind: DataType) -> Column:
    """The column with the stand-in wherever a value of a foreign type is; nulls stay."""
    from pyspark.sql.functions import expr, struct, transform, transform_values, when
    from pyspark.sql.types import ArrayType, MapType, StructType

    if foreign_type(kind) is None:
        return column
    if isinstance(kind, StructType):
        fields = [without_foreign(column.getField(field.name), field.dataType).alias(field.name) for field in kind]
        return when(column.isNotNull(), struct(*fields))
    if isinstance(kind, ArrayType):
        return transform(column, lambda element: without_foreign(element, kind.elementType))
    if isinstance(kind, MapType):
        return transform_values(column, lambda _, value: without_foreign(value, kind.valueType))
    return when(column.isNotNull(), expr(STAND_IN))


def _is_handed_over(kind: DataType) -> bool:
    from pyspark.sql import types

    if isinstance(kind, types.UserDefinedType):
        return foreign_type(kind.sqlType()) is None
    known = (types.NumericType, types.StringType, types.BooleanType, types.BinaryType, types.DateType, types.NullType)
    times = (types.TimestampType, types.TimestampNTZType, types.DayTimeIntervalType)
    return isinstance(kind, (*known, *times)) or kind.simpleString().startswith("time(")
