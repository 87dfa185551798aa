"""Matches into a table of PostgreSQL with a unique key: what is there already is passed over, so nothing is twice.

Executors write, through psycopg: the JDBC driver is not part of Spark and would be fetched when a stream starts, and
Spark's JDBC writer knows no ON CONFLICT, so it needs a second table that stays behind when a driver is killed. Each
Arrow batch is copied into a temporary table and added from there in one transaction. A batch of the stream is in the
table piece by piece, and whole when it is delivered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidings.errors import SettingError
from tidings.spark.arrow_types import in_utc
from tidings.spark.sinks import Batch, Sink

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

PAIR = ("event_id", "subscription_id")


@dataclass(frozen=True, slots=True)
class PostgresSink(Sink):
    """A table, `name` or `schema.name`, which is made if it is not there, with `key` as its primary key.

    `conninfo` is what libpq takes ("host=… dbname=… user=…", "postgresql://…"), and must work on every executor; a
    password is better kept in a file that PGPASSFILE names there. A table made by hand needs a unique index of `key`.
    """

    conninfo: str = field(repr=False)  # may have a password in it
    table: str
    key: Sequence[str] = PAIR

    def prepare(self, spark: SparkSession, stream: str) -> None:
        with _connected(self.conninfo) as connection:
            connection.execute("SELECT 1")

    def write(self, matches: DataFrame, batch: Batch) -> None:
        missing = [name for name in self.key if name not in matches.columns]
        if missing:
            raise SettingError(
                f"the key of {self.table} has {', '.join(missing)}, and the matches have {', '.join(matches.columns)}; "
                "lists have a row for each event, whose key is ['event_id']"
            )
        with _connected(self.conninfo) as connection:
            connection.execute(self._creation(matches.schema))
        conninfo, statements = self.conninfo, self._statements(matches.columns)

        def load(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
            return _loaded(conninfo, statements, batches)

        matches.mapInArrow(load, "added bigint").collect()

    def _creation(self, schema: StructType) -> Any:
        from psycopg import sql  # type: ignore[import-not-found, unused-ignore]  # an extra: it may not be there

        columns = [
            sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(_type(field.dataType, field.name)))
            for field in schema
        ]
        return sql.SQL("CREATE TABLE IF NOT EXISTS {} ({}, PRIMARY KEY ({}))").format(
            self._table(), sql.SQL(", ").join(columns), _names(self.key)
        )

    def _statements(self, columns: Sequence[str]) -> tuple[Any, ...]:
        """Rows are added in the order of their keys: two tasks that add the same keys wait for each other then, and in
        any other order might do so both at once."""
        from psycopg import sql

        table, names, key = self._table(), _names(columns), _names(self.key)
        return (
            sql.SQL("CREATE TEMPORARY TABLE incoming ON COMMIT DROP AS SELECT {} FROM {} WITH NO DATA").format(
                names, table
            ),
            sql.SQL("COPY incoming ({}) FROM STDIN").format(names),
            sql.SQL("INSERT INTO {} ({}) SELECT {} FROM incoming ORDER BY {} ON CONFLICT ({}) DO NOTHING").format(
                table, names, names, key, key
            ),
        )

    def _table(self) -> Any:
        from psycopg import sql

        return sql.Identifier(*self.table.split("."))


def _connected(conninfo: str) -> Any:
    try:
        import psycopg
    except ImportError:
        raise SettingError(
            "PostgresSink needs psycopg, in the driver and on executors, and it is not installed: "
            "pip install 'tidings[postgres]'"
        ) from None
    return psycopg.connect(conninfo)


def _loaded(
    conninfo: str, statements: tuple[Any, ...], batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow as pa

    create, copy, insert = statements
    with _connected(conninfo) as connection:
        for batch in batches:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute(create)
                with cursor.copy(copy) as rows:
                    for row in zip(*[in_utc(column).to_pylist() for column in batch.columns], strict=True):
                        rows.write_row(row)
                cursor.execute(insert)
                added = cursor.rowcount
            yield pa.RecordBatch.from_arrays([pa.array([added], pa.int64())], ["added"])


def _names(columns: Sequence[str]) -> Any:
    from psycopg import sql

    return sql.SQL(", ").join(map(sql.Identifier, columns))


def _type(kind: DataType, name: str) -> str:
    from pyspark.sql.types import ArrayType, DecimalType, StringType

    simple = {
        "tinyint": "smallint", "smallint": "smallint", "int": "integer", "bigint": "bigint", "float": "real",
        "double": "double precision", "boolean": "boolean", "timestamp": "timestamptz", "timestamp_ntz": "timestamp",
        "date": "date",
    }  # fmt: skip
    if isinstance(kind, StringType):
        return "text"
    if isinstance(kind, DecimalType):
        return f"numeric({kind.precision}, {kind.scale})"
    if isinstance(kind, ArrayType):
        return f"{_type(kind.elementType, name)}[]"
    if kind.simpleString() not in simple:
        raise SettingError(
            f"the column {name!r} of the matches is {kind.simpleString()}, for which PostgresSink knows no type; leave "
            "it out, or deliver it as a string with to_json in a function of your own"
        )
    return simple[kind.simpleString()]
