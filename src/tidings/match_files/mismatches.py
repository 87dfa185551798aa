"""Columns of events with a type that subscriptions do not ask for: nothing fails by that, and nothing is found.

One value `oops` makes a column of a csv file text, times in JSON are text, and 00501 is a number. A comparison with a
value of another type is never true, so it is said in the summary, with the schema that would read the column otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tidings import parse
from tidings.index.changes import COMPILED, Change
from tidings.index.slots import SlotType
from tidings.match_files.formats import PARQUET
from tidings.model.predicates import (
    Between,
    Comparison,
    Expression,
    HasAll,
    HasAny,
    In,
    IsNull,
    Predicate,
    predicates_of,
)
from tidings.model.values import AttributeType

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

    from tidings.spark import Index

Asked = set[tuple[str, AttributeType]]
NUMBER, STRING, BOOLEAN, TIMESTAMP = (
    AttributeType.NUMBER, AttributeType.STRING, AttributeType.BOOLEAN, AttributeType.TIMESTAMP,
)  # fmt: skip
# How a column of the type is named, how many values of it are, and how Spark is told to read it.
IS = {NUMBER: "a number", STRING: "text", BOOLEAN: "a boolean", TIMESTAMP: "a time"}
ARE = {NUMBER: "numbers", STRING: "text", BOOLEAN: "booleans", TIMESTAMP: "times"}
READ_AS = {NUMBER: "double", STRING: "string", BOOLEAN: "boolean", TIMESTAMP: "timestamp"}
OF_SLOT = {
    SlotType.NUMBER: NUMBER,
    SlotType.STRING: STRING,
    SlotType.BOOLEAN: BOOLEAN,
    SlotType.TIMESTAMP: TIMESTAMP,
}


def mismatches(index: Index, schema: StructType, events_format: str) -> tuple[str, ...]:
    """A line for each column that is asked for as another type, and one that says what to do."""
    asked = asked_of(index)
    lines, better = [], {}
    for field in schema:
        is_, wanted = type_of(field.dataType), {kind for name, kind in asked if name == field.name}
        others = sorted(wanted - {is_}) if is_ is not None else []
        lines += [
            f"{field.name} is {IS[is_]}, and subscriptions compare it with {ARE[kind]}, which is never true"
            for kind in others
            if is_ is not None
        ]
        if others and len(wanted) == 1:
            better[field.name] = READ_AS[others[0]]
    if better and events_format != PARQUET:
        lines.append(f"to read it otherwise: --schema '{_ddl(schema, better)}'")
    return tuple(lines)


def _ddl(schema: StructType, better: dict[str, str]) -> str:
    return ", ".join(
        f"{each.name if each.name.isidentifier() else f'`{each.name}`'} "
        f"{better.get(each.name, each.dataType.simpleString())}"
        for each in schema
    )


def type_of(column: DataType) -> AttributeType | None:
    """As what a column is read; None for arrays, records and others, which have no one type."""
    from pyspark.sql import types

    for kind, classes in (
        (STRING, (types.StringType,)),
        (NUMBER, (types.NumericType,)),
        (BOOLEAN, (types.BooleanType,)),
        (TIMESTAMP, (types.TimestampType, types.TimestampNTZType, types.DateType)),
    ):
        if isinstance(column, classes):
            return kind
    return None


# What subscriptions ask for


def asked_of(index: Index) -> Asked:
    """The attributes that stand at the top of events, and as which types they are compared."""
    found: Asked = set()
    for file in index.files:
        if file.notes[COMPILED]:
            slots = ((path, SlotType[kind]) for path, kind in file.notes["slots"])
            found.update((path[0], OF_SLOT[kind]) for path, kind in slots if len(path) == 1 and kind in OF_SLOT)
        else:
            for where in Change.from_file(file).wheres:
                found.update(_asked_by(parse(where)))
    return found


def _asked_by(expression: Expression) -> Iterator[tuple[str, AttributeType]]:
    for predicate in predicates_of(expression):
        if len(predicate.attribute.path) == 1:
            yield from ((predicate.attribute.path[0], kind) for kind in _types_in(predicate))


def _types_in(predicate: Predicate) -> Iterable[AttributeType]:
    match predicate:
        case Comparison(literal=literal):
            return (literal.type,)
        case Between(low=low):
            return (low.type,)
        case In(literals=literals) | HasAll(literals=literals) | HasAny(literals=literals):
            return {literal.type for literal in literals}
        case IsNull():
            return ()
        case _:  # patterns of every kind, and XPath: what they read is text
            return (STRING,)
