"""The first events of a file, to learn from: read without Spark, and what is none is passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import BufferedReader
from itertools import islice
from typing import Any

from tidings.errors import EventError, SettingError
from tidings.match_files.formats import CSV, ENDINGS, PARQUET, format_by_ending
from tidings.model.event import Event, rows_of_arrow

MOST_EVENTS = 10_000  # a share is known to a hundredth by then


def sample_of(path: str) -> list[Event | Mapping[str, Any]]:
    """At most so many events of a local file: csv with a header, json lines or parquet, by its ending."""
    import pyarrow as pa

    try:
        found = list(islice(_events(path), MOST_EVENTS))
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingError(f"the events in {path} cannot be read: {reason}") from None
    if not found:
        raise SettingError(f"there is no event in {path}, so nothing can be learned from it")
    return found


def _events(path: str) -> Iterator[Event | Mapping[str, Any]]:
    import pyarrow as pa

    kind = format_by_ending(path)
    if kind is None:
        known = ", ".join(f".{ending}" for ending in ENDINGS)
        raise SettingError(f"{path} does not say its format by its ending; those that are known are {known}")
    if kind == PARQUET:
        from pyarrow import parquet

        for batch in parquet.ParquetFile(path).iter_batches():
            yield from rows_of_arrow(batch)
        return
    with pa.input_stream(path) as stream:  # unpacks what its ending says is packed
        if kind == CSV:
            from pyarrow import csv

            for batch in csv.open_csv(stream):
                yield from rows_of_arrow(batch)
        else:
            yield from _of_lines(stream)


def _of_lines(stream: Any) -> Iterator[Event]:
    for line in BufferedReader(stream):
        try:
            yield Event.from_json(line)
        except EventError:
            continue
