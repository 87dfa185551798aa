"""The keys of events, of those that anyone subscribed under: as numbers of these, for batches of events at once.

Keys are made of each different value of a column once, if the scheme makes them of single values, only of columns under
which anyone subscribed, and are remembered with the value for the batches that follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tidings.index.layout import Array
from tidings.model.event import Event, rows_of_arrow
from tidings.model.values import normal
from tidings.rendezvous.composite import AccessScheme
from tidings.rendezvous.scheme import EVERYWHERE, Scheme, key_hash

if TYPE_CHECKING:
    import pyarrow

REMEMBERED = 65_536  # values of a column
EVERYWHERE_HASH = key_hash(EVERYWHERE)
Columns = Mapping[str, frozenset[str]]  # of events, that keys are made of, with their kinds
Pairs = tuple[Array, Array]  # rows of events, and for each the number of a key


class EventKeys:
    """`known` are the keys that exist, as hashes in order; EVERYWHERE, which every event has, is never given. `columns`
    None stands for all, with keys of all kinds."""

    def __init__(self, scheme: Scheme, columns: Columns | None, known: Array) -> None:
        self._scheme = scheme
        self._columns = columns
        self._known = known
        self._remembered: dict[tuple[str, str], dict[Any, list[int]]] = {}

    def found(self, events: pyarrow.Table) -> Pairs:
        if not isinstance(self._scheme, AccessScheme):
            return _flat(self._numbers(self._scheme, events))
        pairs = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        for name in events.column_names:
            if self._columns is None:
                pairs.append(self._of_column(self._scheme, events.select([name])))
            elif name in self._columns:
                pairs.append(self._of_column(self._scheme.narrowed(self._columns[name]), events.select([name])))
        rows, numbers = zip(*pairs, strict=True)
        return np.concatenate(rows), np.concatenate(numbers)

    def _of_column(self, scheme: Scheme, column: pyarrow.Table) -> Pairs:
        import pyarrow as pa

        kind = column.schema.types[0]
        if pa.types.is_null(kind):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        if pa.types.is_nested(kind):
            return _flat(self._numbers(scheme, column))
        encoded = column.column(0).combine_chunks().dictionary_encode()
        rows, numbers = _flat(self._of_values(scheme, pa.table([encoded.dictionary], column.column_names)))
        there = np.flatnonzero(encoded.indices.is_valid().to_numpy(zero_copy_only=False))
        value_of = encoded.indices.drop_null().to_numpy()
        counts = np.bincount(rows, minlength=len(encoded.dictionary))
        starts = np.cumsum(counts) - counts
        times = counts[value_of]
        within = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
        return np.repeat(there, times), numbers[np.repeat(starts[value_of], times) + within]

    def _of_values(self, scheme: Scheme, values: pyarrow.Table) -> Iterable[list[int]]:
        """Of different values, without those that are remembered from before."""
        import pyarrow as pa

        (name,), (kind,) = values.column_names, values.schema.types
        if not _is_plain(kind):
            return self._numbers(scheme, values)
        remembered = self._remembered.setdefault((name, str(kind)), {})
        given = values.column(0).to_pylist()
        new = [row for row, value in enumerate(given) if value not in remembered]
        if len(remembered) + len(new) > REMEMBERED:
            remembered.clear()
            new = list(range(len(given)))
        made = self._numbers(scheme, values.take(pa.array(new, pa.int64())))
        remembered.update(zip((given[row] for row in new), made, strict=True))
        return [remembered[value] for value in given]

    def _numbers(self, scheme: Scheme, events: pyarrow.Table) -> Iterator[list[int]]:
        """For each event the keys that exist."""
        for row in rows_of_arrow(events):
            keys = scheme.event_keys(Event(None, normal(row)))
            hashes = np.array([key_hash(key) for key in keys if key != EVERYWHERE], np.uint64)
            yield self._existing(hashes)

    def _existing(self, hashes: Array) -> list[int]:
        if not len(self._known):
            return []
        at = np.minimum(np.searchsorted(self._known, hashes), len(self._known) - 1)
        existing: list[int] = at[self._known[at] == hashes].tolist()
        return existing


def number_of_everywhere(known: Array) -> int:
    """The number of the key that every event visits, -1 if nothing is stored there."""
    at = int(np.searchsorted(known, np.uint64(EVERYWHERE_HASH)))
    return at if at < len(known) and known[at] == EVERYWHERE_HASH else -1


def _is_plain(kind: Any) -> bool:
    """Whether Python compares values as they are, and makes them quickly."""
    import pyarrow as pa

    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(is_number or pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_boolean(kind))


def _flat(found: Iterable[list[int]]) -> Pairs:
    lists = list(found)
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    numbers = np.fromiter(chain.from_iterable(lists), np.int64, int(counts.sum()))
    return np.repeat(np.arange(len(lists)), counts), numbers


def column_of_attribute(attribute: str) -> str:
    """The first name of a path that `scheme.attribute_name` wrote."""
    name, characters = [], iter(attribute)
    for character in characters:
        if character == ".":
            break
        name.append(next(characters) if character == "\\" else character)
    return "".join(name)
