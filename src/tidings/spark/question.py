"""What is asked of a strategy: events with the columns that matter, an index, and the form of the answer.

Columns of events are named by their numbers here, because Spark reads dots in names and ignores their case, and
attributes are told apart by every character.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidings.errors import EventError, IdentifierError, SettingError
from tidings.spark.index import TEXTS, Index

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """`events` has the id of the event, then what the index reads or what is carried; positions count from there."""

    events: DataFrame
    index: Index
    id_field: StructField
    attributes: tuple[tuple[int, str], ...]  # position of a column, and the attribute it is
    carried: tuple[tuple[int, StructField], ...]
    columns: tuple[StructField, ...]  # of subscriptions
    lists: bool
    reach: str
    columns_given: int  # of events, before some were chosen
    candidates: Accumulator[int] | None = None  # counts the candidates that were tested, where somebody wants to know

    @property
    def texts(self) -> bool:
        return self.index.id_type == TEXTS


def asked(
    events: DataFrame,
    index: Index,
    id_column: str,
    event_columns: Sequence[str],
    subscription_columns: Sequence[str],
    lists: bool,
    reach: str,
) -> Question:
    fields = _fields(events, id_column, event_columns, index)
    _must_be_id(fields[id_column], id_column)
    read = index.attributes()
    attributes = [name for name in fields if read is None or name in read]
    names = list(dict.fromkeys([id_column, *attributes, *event_columns]))
    position = {name: number for number, name in enumerate(names)}
    _must_differ(["event_id", *event_columns, *(["subscription_id"] * (not lists)), *subscription_columns])
    further = {field.name: field for field in index.metadata}
    numbers = [events.columns.index(name) for name in names]
    by_number = events.toDF(*[f"c{number}" for number in range(len(events.columns))])
    return Question(
        by_number.select(*[f"c{number}" for number in numbers]),
        index,
        fields[id_column],
        tuple((position[name], name) for name in attributes),
        tuple((position[name], fields[name]) for name in event_columns),
        tuple(further[name] for name in subscription_columns),
        lists,
        reach,
        len(events.columns),
    )


def _fields(events: DataFrame, id_column: str, carried: Sequence[str], index: Index) -> dict[str, StructField]:
    """The columns by name; of names that occur twice, those that are needed are an error."""
    names = events.columns
    have = ", ".join(names)
    if id_column not in names:
        raise EventError(
            f"the events have no column {id_column!r} for their ids; they have: {have}. Name it with id_column=…; "
            "rows of a DataFrame have no stable numbers that could stand for ids"
        )
    for name in carried:
        if name not in names:
            raise SettingError(f"the events have no column {name!r} to carry along; they have: {have}")
    for name in {name for name in names if names.count(name) > 1}:
        read = index.attributes()
        if read is None or name in read or name == id_column or name in carried:
            raise EventError(f"the events have two columns {name!r}, and it is not known which is meant; rename one")
    return dict(zip(names, events.schema.fields, strict=True))


def _must_be_id(field: StructField, name: str) -> None:
    from pyspark.sql.types import IntegralType, StringType

    if not isinstance(field.dataType, StringType | IntegralType):
        raise IdentifierError(
            f"the column {name!r} of the events is {field.dataType.simpleString()}; ids are strings or integers of "
            "up to 64 bits: cast it"
        )


def _must_differ(names: Sequence[str]) -> None:
    double = {name for name in names if names.count(name) > 1}
    if double:
        raise SettingError(
            f"the result would have two columns {', '.join(sorted(double))}; rename a column of events or subscriptions"
        )
