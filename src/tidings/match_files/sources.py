"""Files as tables: subscriptions, and events with a column for the rows that could not be read.

Identifiers in csv are text: a reader that took 007 for a number would change them. Other columns of csv get the types
that their values have, or those of a schema that is given. What is wrong with a file is told before anything is
compiled. Files without a single row have no columns: they are tables with those that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tidings.errors import EventError, SettingError, TidingsError
from tidings.match_files.formats import CSV, CSV_READING, JSONL, PARQUET, SPARK_NAMES, format_of, local_path
from tidings.match_files.request import Request
from tidings.spark_session import said_by

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

CORRUPT = "_tidings_corrupt_row"  # the text of a row that does not fit the schema


def subscription_table(spark: SparkSession, request: Request) -> DataFrame:
    """The columns id and where, and the further ones that are kept."""
    path = request.subscriptions
    kind = request.subscriptions_format or format_of(path, "--subscriptions-format")
    reader = spark.read.format(SPARK_NAMES[kind])
    if kind == CSV:  # all columns as text
        reader = reader.options(**CSV_READING)
    table = _loaded("subscriptions", path, lambda: reader.load(path))
    needed = list(dict.fromkeys(["id", "where", *request.subscription_columns]))
    if not table.columns:
        return spark.createDataFrame([], _texts(needed))
    for name in needed:
        if name not in table.columns:
            have = ", ".join(table.columns)
            raise TidingsError(f"the subscriptions in {path} have no column {name!r}; they have: {have}")
    kept = [name for name in table.columns if request.index or name in needed]
    return table.select(*[f"`{name}`" for name in kept])


def event_table(spark: SparkSession, request: Request) -> DataFrame:
    """The events, and `CORRUPT` where the format has rows that cannot be read; a stream if one is asked for."""
    kind = request.events_format or format_of(request.events, "--events-format")
    schema = _schema(spark, request, kind)
    _check_columns(request, schema)
    if kind != PARQUET:
        schema = schema.add(CORRUPT, "string")
    options = {**(CSV_READING if kind == CSV else {}), **request.read_options, "columnNameOfCorruptRecord": CORRUPT}
    if not request.streaming:
        return spark.read.format(SPARK_NAMES[kind]).schema(schema).options(**options).load(request.events)
    if request.files_per_batch:
        options["maxFilesPerTrigger"] = str(request.files_per_batch)
    return spark.readStream.format(SPARK_NAMES[kind]).schema(schema).options(**options).load(request.events)


def _check_columns(request: Request, schema: StructType) -> None:
    from pyspark.sql.types import IntegralType, StringType

    have = ", ".join(schema.names)
    if request.id_column not in schema.names:
        raise EventError(
            f"the events in {request.events} have no column {request.id_column!r} for their ids; they have: {have}. "
            "Name it with --id-column"
        )
    for name in request.event_columns:
        if name not in schema.names:
            raise SettingError(
                f"the events in {request.events} have no column {name!r} to carry along; they have: {have}"
            )
    id = schema[request.id_column].dataType
    if not isinstance(id, StringType | IntegralType):
        raise EventError(
            f"the column {request.id_column!r} of the events is {id.simpleString()}; ids are strings or integers of up "
            "to 64 bits: name another one with --id-column, or say its type with --schema"
        )


def _schema(spark: SparkSession, request: Request, kind: str) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    if request.schema is not None:
        return _given(request.schema)
    fields = StructType() if _is_empty_folder(request.events) else _inferred(spark, request, kind)
    ids = request.id_column if kind == CSV else None
    found = StructType(
        [
            StructField(each.name, StringType() if each.name == ids else each.dataType)
            for each in fields
            if each.name != CORRUPT
        ]
    )
    if found.names:
        return found
    if request.streaming:  # what comes later would be read by what is known now
        raise EventError(f"{request.events} is empty, so the types of events are not known; give them by --schema")
    return _texts([request.id_column, *request.event_columns])


def _inferred(spark: SparkSession, request: Request, kind: str) -> StructType:
    options = {CSV: {**CSV_READING, "inferSchema": "true"}, JSONL: {"columnNameOfCorruptRecord": CORRUPT}}
    reader = spark.read.format(SPARK_NAMES[kind]).options(**{**options.get(kind, {}), **request.read_options})
    return _loaded("events", request.events, lambda: reader.load(request.events)).schema


def _texts(names: Sequence[str]) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in dict.fromkeys(names)])


def _given(ddl: str) -> StructType:
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType

    try:
        schema, problem = StructType.fromDDL(ddl), "it is one type, without the name of a column"
    except PySparkException as error:
        schema, problem = None, said_by(error)
    if not isinstance(schema, StructType):
        raise SettingError(
            "--schema takes columns and their types, such as 'id string, low double, at timestamp', and was given "
            f"{ddl!r}: {problem}"
        )
    return schema


def _is_empty_folder(path: str) -> bool:
    folder = local_path(path)
    if folder is None or not folder.is_dir():
        return False
    return not any(each.is_file() for each in folder.rglob("[!._]*"))


def _loaded(what: str, path: str, load: Callable[[], DataFrame]) -> DataFrame:
    from pyspark.errors import PySparkException

    try:
        return load()
    except PySparkException as error:
        raise TidingsError(f"the {what} in {path} cannot be read: {said_by(error)}") from None
