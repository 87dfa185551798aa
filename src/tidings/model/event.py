"""An event: attributes with values, and an identifier. It means the same from a dict, from JSON and from Arrow.

JSON has no timestamps and no decimals, so `read_as` can name attributes that are to be read as one; nothing is guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, TypeAlias

from tidings.errors import EventError, SettingError
from tidings.model.values import Unreadable, instant, normal

if TYPE_CHECKING:
    import pyarrow

Identifier: TypeAlias = str | int
READ_AS = ("timestamp", "decimal")


@dataclass(frozen=True, slots=True)
class Event:
    """Attributes in normal form (see `model.values`) and the identifier, None where the event brings none."""

    id: Identifier | None
    attributes: Mapping[str, Any]

    @classmethod
    def of(cls, source: object, read_as: Mapping[str, str] | None = None) -> Event:
        """From a mapping. An `id` that is neither a string nor a 64-bit integer is an EventError, as is no mapping."""
        if isinstance(source, Event):
            return source
        if not isinstance(source, Mapping):
            raise EventError(f"an event is a mapping from attribute names to values, not {_shown(source)}")
        attributes = normal(source)
        if isinstance(attributes, Unreadable):
            raise EventError(f"the event cannot be read: {attributes.reason}")
        for path, kind in (read_as or {}).items():
            _convert(attributes, path.split("."), kind)
        return cls(_identifier(attributes.get("id")), attributes)

    @classmethod
    def from_json(cls, text: str | bytes, read_as: Mapping[str, str] | None = None) -> Event:
        try:
            source = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise EventError(f"the event is not JSON: {error or 'it is nested too deep'}") from None
        return cls.of(source, read_as)

    def value(self, path: tuple[str, ...]) -> Any:
        """The value at a path, None where there is none. Through an array of records: an array of that field."""
        return _at(self.attributes, path)


def table_of(source: object) -> pyarrow.Table | None:
    """The table of what offers Arrow's stream of columns: tables and batches, readers, frames of polars and pandas,
    results of DuckDB. A reader is read to its end. None for anything else."""
    if not hasattr(source, "__arrow_c_stream__"):
        return None
    import pyarrow as pa

    return source if isinstance(source, pa.Table) else pa.table(source)


def rows_of_arrow(table: pyarrow.Table | pyarrow.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows as dicts that mean what the columns mean; times finer than a microsecond lose what is finer."""
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    schema = pa.schema([(field.name, _readable(field.type)) for field in table.schema])
    if schema != table.schema.remove_metadata():
        table = table.cast(schema, safe=False)
    for batch in table.to_batches():
        try:
            rows = batch.to_pylist(maps_as_pydicts="lossy")
        except (pa.ArrowException, ValueError, OverflowError, LookupError):  # a cell that Python has no value for
            rows = _rows_by_cells(batch)
        yield from rows


def _rows_by_cells(batch: pyarrow.RecordBatch) -> list[dict[str, Any]]:
    """The same cell by cell, so that one which cannot be read costs its own attribute only."""
    columns = [[_cell(cell) for cell in column] for column in batch.columns]
    return [dict(zip(batch.schema.names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _cell(cell: pyarrow.Scalar) -> Any:
    import pyarrow as pa

    try:
        return cell.as_py(maps_as_pydicts="lossy")
    except (pa.ArrowException, ValueError, OverflowError, LookupError) as error:
        return Unreadable(f"Python has no value for this {cell.type}: {error}")


def _readable(kind: Any) -> Any:
    """The Arrow type to read a column as: nanoseconds become microseconds, and zones UTC, at any depth.

    A time with a zone is a moment in UTC already; Python would first have to know the zone.
    """
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return pa.timestamp("us" if kind.unit == "ns" else kind.unit, "UTC" if kind.tz else None)
    if pa.types.is_dictionary(kind):
        return _readable(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _readable(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_readable(kind.value_type))
    return kind


def _identifier(value: Any) -> Identifier | None:
    if value is None or isinstance(value, str) or (type(value) is int and -(2**63) <= value < 2**63):
        return value
    raise EventError(f"an event's id is a string or a 64-bit integer, not {_shown(value)}")


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for depth, name in enumerate(path):
        if isinstance(value, tuple):
            return _through(value, path[depth:])
        if isinstance(value, Unreadable):
            return value
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _through(elements: tuple[Any, ...], path: tuple[str, ...]) -> tuple[Any, ...]:
    found: list[Any] = []
    for element in elements:
        value = _at(element, path)
        if isinstance(value, tuple):
            found.extend(value)
        else:
            found.append(value)
    return tuple(found)


def _convert(attributes: Any, path: list[str], kind: str) -> None:
    if kind not in READ_AS:
        raise SettingError(f"an attribute is read as one of {', '.join(READ_AS)}, not as {kind!r}")
    *way, last = path
    for name in way:
        attributes = attributes.get(name) if isinstance(attributes, dict) else None
    if not isinstance(attributes, dict) or attributes.get(last) is None:
        return
    value = attributes[last]
    attributes[last] = tuple(_read(v, kind) for v in value) if isinstance(value, tuple) else _read(value, kind)


def _read(value: Any, kind: str) -> Any:
    if value is None or isinstance(value, Unreadable):
        return value
    try:
        if kind == "decimal" and type(value) in (int, float, str):
            return normal(Decimal(str(value)))
        if kind == "timestamp" and isinstance(value, (str, datetime)):
            return value if isinstance(value, datetime) else instant(datetime.fromisoformat(value))
    except (ValueError, InvalidOperation, OverflowError):
        pass
    return Unreadable(f"{_shown(value)} cannot be read as a {kind}")


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no integers of thousands of digits
        text = "one of very many digits"
    return f"{text if len(text) <= 60 else text[:57] + '…'} ({type(value).__name__})"
