"""Files as tables: subscriptions, and events with a column for the rows that could not be read.

Identifiers in csv are text: a reader that took 007 for a number would change them. Other columns of csv get the types
that their values have, or those of a schema that is given.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.errors import EventError, SettingError, TidingsError
from tidings.match_files.formats import CSV, CSV_OPTIONS, JSONL, PARQUET, SPARK_NAMES, format_of, is_local
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
    if kind == CSV:  # all columns as text; a condition may have line breaks
        reader = reader.options(**CSV_OPTIONS, multiLine="true")
    table = _loaded("subscriptions", path, lambda: reader.load(path))
    for name in ("id", "where"):
        if name not in table.columns:
            raise TidingsError(
                f"the subscriptions in {path} have no column {name!r}; they have: {', '.join(table.columns) or 'none'}"
            )
    kept = [name for name in table.columns if request.index or name in ("id", "where", *request.subscription_columns)]
    return table.select(*[f"`{name}`" for name in kept])


def event_table(spark: SparkSession, request: Request) -> DataFrame:
    """The events, and `CORRUPT` where the format has rows that cannot be read; a stream if one is asked for."""
    kind = request.events_format or format_of(request.events, "--events-format")
    schema = _schema(spark, request, kind)
    if request.id_column not in schema.names:
        raise EventError(
            f"the events in {request.events} have no column {request.id_column!r} for their ids; they have: "
            f"{', '.join(schema.names) or 'none'}. Name it with --id-column"
        )
    if kind != PARQUET:
        schema = schema.add(CORRUPT, "string")
    options = {**(CSV_OPTIONS if kind == CSV else {}), **request.read_options}
    if not request.streaming:
        reader = spark.read.format(SPARK_NAMES[kind]).schema(schema).options(**options)
        return reader.option("columnNameOfCorruptRecord", CORRUPT).load(request.events)
    if request.files_per_batch:
        options["maxFilesPerTrigger"] = str(request.files_per_batch)
    stream = spark.readStream.format(SPARK_NAMES[kind]).schema(schema).options(**options)
    return stream.option("columnNameOfCorruptRecord", CORRUPT).load(request.events)


def _schema(spark: SparkSession, request: Request, kind: str) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    if request.schema is not None:
        return _given(request.schema)
    if request.streaming and _is_empty_folder(request.events):
        raise EventError(f"{request.events} is empty, so the types of events are not known; give them by --schema")
    reader = spark.read.format(SPARK_NAMES[kind]).options(**request.read_options)
    if kind == CSV:
        reader = reader.options(**CSV_OPTIONS, inferSchema="true").options(**request.read_options)
    if kind == JSONL:
        reader = reader.option("columnNameOfCorruptRecord", CORRUPT)
    found = _loaded("events", request.events, lambda: reader.load(request.events)).schema
    text = kind == CSV
    return StructType(
        [
            StructField(each.name, StringType() if text and each.name == request.id_column else each.dataType)
            for each in found
            if each.name != CORRUPT
        ]
    )


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
    if not is_local(path) or not Path(path).is_dir():
        return False
    return not any(each.is_file() for each in Path(path).rglob("[!._]*"))


def _loaded(what: str, path: str, load: Callable[[], DataFrame]) -> DataFrame:
    from pyspark.errors import PySparkException

    try:
        return load()
    except PySparkException as error:
        raise TidingsError(f"the {what} in {path} cannot be read: {said_by(error)}") from None
