"""Batches of events and tables of matches: what stands before and behind the matching of many events at once.

Events come as objects or as an Arrow table, which stays as it is. Matches leave as Arrow tables, either as pairs or as
one list per event; identifiers that are strings are dictionary-encoded, because each is repeated for every match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidings.errors import EventError
from tidings.index.answers import Answers
from tidings.model.event import Event, Identifier, rows_of_arrow, table_of
from tidings.model.result import EventProblem

if TYPE_CHECKING:
    import pyarrow

    from tidings.index.compiled import CompiledIndex, Matched
    from tidings.index.layout import Array

Report = Callable[[EventProblem], None]


@dataclass(frozen=True, slots=True)
class ObjectBatch:
    """Events as objects, with an identifier each."""

    events: list[Event]
    ids: list[Identifier]

    def __len__(self) -> int:
        return len(self.events)

    def event(self, row: int) -> Event:
        return self.events[row]

    def id_of(self, row: int) -> Identifier:
        return self.ids[row]

    def match(self, index: CompiledIndex) -> Matched:
        return index.match_events(self.events)


@dataclass(frozen=True, slots=True)
class ArrowBatch:
    """Events as a table; a row becomes an object only where something must look at it by itself."""

    table: pyarrow.Table
    ids: pyarrow.Array

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def event(self, row: int) -> Event:
        (found,) = rows_of_arrow(self.table.slice(row, 1))
        return Event.of(found)

    def id_of(self, row: int) -> Identifier:
        return self.ids[row].as_py()  # type: ignore[no-any-return]  # strings or integers, by `_plain_ids`

    def match(self, index: CompiledIndex) -> Matched:
        return index.match_arrow(self.table, self.event)


EventBatch = ObjectBatch | ArrowBatch


def read_batch(events: Any, report: Report) -> EventBatch:
    """Events with identifiers: their own, or, where none has one, their positions. What has none is reported."""
    table = table_of(events)
    if table is not None:
        ids = _plain_ids(table)
        if ids is not None:
            return ArrowBatch(table, ids)
        events = rows_of_arrow(table)
    return _object_batch(events, report)


def _plain_ids(table: pyarrow.Table) -> pyarrow.Array | None:
    """The identifiers of a table's rows as strings or 64-bit integers; None if they must be looked at one by one."""
    import numpy as np
    import pyarrow as pa

    if "id" not in table.column_names:
        return pa.array(np.arange(table.num_rows))
    if table.column_names.count("id") > 1:
        return None
    column = table.column("id")
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    are_texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if not (are_texts or pa.types.is_integer(kind)):
        return None
    try:
        ids = column.cast(pa.string() if are_texts else pa.int64()).combine_chunks()
    except pa.ArrowInvalid:  # unsigned integers that need all of 64 bits, or more text than one array of strings holds
        return None
    return None if ids.null_count else ids


def _object_batch(events: Iterable[Event | Mapping[str, Any]], report: Report) -> ObjectBatch:
    read: list[tuple[int, Event]] = []
    for row, source in enumerate(events):
        try:
            read.append((row, Event.of(source)))
        except EventError as error:
            report(EventProblem(row, None, str(error)))
    kinds = {type(event.id) for _, event in read if event.id is not None}
    batch = ObjectBatch([], [])
    for row, event in read:
        if kinds and event.id is None:
            report(EventProblem(row, "id", "this event has no id, and others have one"))
        elif len(kinds) > 1 and not isinstance(event.id, str):
            report(EventProblem(row, "id", f"the id {event.id} is an integer, and others are strings"))
        else:
            batch.events.append(event)
            batch.ids.append(row if event.id is None else event.id)
    return batch


# Tables


def pair_table(batch: EventBatch, answers: Answers) -> pyarrow.Table:
    """One row per match: `event`, `subscription`."""
    import numpy as np
    import pyarrow as pa

    offsets, subscriptions = answers.arrow()
    return pa.table({"event": repeated_ids(batch, np.diff(offsets)), "subscription": subscriptions})


def repeated_ids(batch: EventBatch, counts: Array) -> pyarrow.Array:
    """The identifier of each event so many times."""
    import numpy as np
    import pyarrow as pa

    ids = _event_ids(batch)
    if pa.types.is_integer(ids.type):
        return pa.array(np.repeat(ids.to_numpy(), counts))
    rows = np.repeat(np.arange(len(batch), dtype=np.int32), counts)
    return pa.DictionaryArray.from_arrays(pa.array(rows), ids)


def list_table(batch: EventBatch, answers: Answers) -> pyarrow.Table:
    """One row per event: `event`, and the list of its `subscriptions`."""
    import pyarrow as pa

    offsets, subscriptions = answers.arrow()
    lists = pa.LargeListArray.from_arrays(offsets, subscriptions)
    return pa.table({"event": _event_ids(batch), "subscriptions": lists})


def _event_ids(batch: EventBatch) -> pyarrow.Array:
    import pyarrow as pa

    if isinstance(batch, ArrowBatch):
        return batch.ids
    return pa.array(batch.ids, pa.string() if batch.ids and isinstance(batch.ids[0], str) else pa.int64())
