"""What is asked of a strategy: events with the columns that matter, an index, and the form of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidings.errors import EventError, IdentifierError, SettingError
from tidings.spark.columns import numbered
from tidings.spark.foreign import foreign_type, without_foreign
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
    foreign: tuple[tuple[str, str], ...]  # attributes with values that Python would not get, and their type
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
    from pyspark.sql.functions import col

    fields = _fields(events, id_column, event_columns, index)
    _must_be_id(fields[id_column], id_column)
    read = index.attributes()
    attributes = [name for name in fields if read is None or name in read]
    foreign = {name: kind for name in attributes if (kind := foreign_type(fields[name].dataType)) is not None}
    names = list(dict.fromkeys([id_column, *(name for name in attributes if name not in foreign), *event_columns]))
    position = {name: number for number, name in enumerate(names)}
    read_at = position | {name: number for number, name in enumerate(foreign, len(names))}
    found = ["subscription_id", *subscription_columns]
    _must_differ(["event_id", *event_columns, *([list_name(subscription_columns)] if lists else found)])
    _must_differ(found)
    further = {field.name: field for field in index.metadata}
    stand_ins = [
        without_foreign(col(f"c{events.columns.index(name)}"), fields[name].dataType).alias(f"foreign{number}")
        for number, name in enumerate(foreign)
    ]
    return Question(
        numbered(events).select(*[f"c{events.columns.index(name)}" for name in names], *stand_ins),
        index,
        fields[id_column],
        tuple((read_at[name], name) for name in attributes),
        tuple(foreign.items()),
        tuple((position[name], fields[name]) for name in event_columns),
        tuple(further[name] for name in subscription_columns),
        lists,
        reach,
        len(events.columns),
    )


def list_name(subscription_columns: Sequence[Any]) -> str:
    """Of the column with lists: of ids, or of structs where further columns are asked for."""
    return "subscriptions" if subscription_columns else "subscription_ids"


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
        kind = events.schema.fields[names.index(name)].dataType
        if "interval" in (foreign_type(kind) or ""):
            raise SettingError(
                f"the column {name!r} of the events is {kind.simpleString()}, which Spark does not take back from "
                "Python, so it cannot be carried along; cast it to a string"
            )
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
