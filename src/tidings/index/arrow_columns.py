"""Arrow tables as encoded batches, column by column: the same entries as `encode` makes of their rows as events.

Each slot first gets a *feed*, its entries in the order of the rows; then all feeds are interleaved into rows. There is
no Python per row for integers, floats, decimals, booleans, strings, bytes, dictionaries of these, times, dates, and
lists and records of these. Other types, and lists within lists, are read as events are, for their path only.

A feed costs up to 29 bytes for each row: a large table with many columns is best given in slices of some 10,000 rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.index.encode import (
    NO_BYTES,
    NO_FLAGS,
    NO_KEYS,
    NO_LENGTHS,
    NO_SLOT,
    OF_TEXT,
    EncodedBatch,
    Encoder,
    Feed,
    Interleaving,
    Plan,
    distinct,
)
from tidings.index.keys import hash_strings, number_keys
from tidings.index.layout import ARRAY, DIRTY, EMPTY, INEXACT, Array
from tidings.index.numbers import number_of
from tidings.index.slots import SlotType
from tidings.model.event import Event, rows_of_arrow
from tidings.model.result import EventProblem
from tidings.model.values import Unreadable, normal
from tidings.planning.long_numbers import FIRST_SHARED

_DAY_US = 86_400_000_000
_PER_UNIT_US = {"s": 1_000_000, "ms": 1_000, "us": 1}
_FIRST_US, _LAST_US = -719_162 * _DAY_US, 2_932_897 * _DAY_US - 1  # the years 1 to 9999
_SHORT_INTEGERS, _EXACT_POWERS = 10**15, 22  # m / 10**s is rounded once, and correctly, up to these
_OUT_OF_YEARS = "the time lies outside the years 1 to 9999 in UTC"


class _UnusualTypeError(Exception):
    """A type that is not read by columns."""


class _Values(NamedTuple):
    """Scalars at the end of a path. `valid` are not null; `usable` have a key. None stands for all."""

    size: int
    kind: SlotType | None  # None for what no slot holds
    valid: Array | None
    usable: Array | None
    key: Array = NO_KEYS
    text: Array = NO_KEYS  # or the rests of numbers
    length: Array = NO_LENGTHS
    data: Array = NO_BYTES
    inexact: Array | None = None  # None for none
    unreadable: Mapping[int, str] = MappingProxyType({})  # positions, and why


class _Place(NamedTuple):
    """What stands at a path: one value a row, or, with `starts`, an array in each row where `there`."""

    values: Any
    starts: Array | None = None
    there: Array | None = None


def encode_arrow(table: pa.Table | pa.RecordBatch, encoder: Encoder) -> EncodedBatch:
    found = Interleaving(table.num_rows)
    for name, index in {name: index for index, name in enumerate(table.schema.names)}.items():  # as a dict: the last
        for plan in encoder.plans.get(name, ()):
            try:
                _read_columns(_whole(table.column(index)), plan, found)
            except _UnusualTypeError:
                _read_rows(table.select([index]), plan, encoder, found)
    return found.batch()


# A column at a path


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    try:
        return column.combine_chunks()
    except pa.ArrowException as error:  # more bytes than its offsets can tell, or dictionaries that cannot be united
        raise _UnusualTypeError from error


def _read_columns(column: pa.Array, plan: Plan, found: Interleaving) -> None:
    if _has_twins(column.type):
        raise _UnusualTypeError
    place = _at(column, plan.path[1:])
    values = _values(place.values, hashed=any(kind in plan.slots for kind in OF_TEXT))
    if place.starts is None:
        found.feeds += _scalar_feeds(plan, values, found.every_row)
        row_of = found.every_row[:-1]
    else:
        found.feeds += _array_feeds(plan, values, place.starts, place.there)
        row_of = np.repeat(found.every_row[:-1], np.diff(place.starts))
    last = {int(row_of[position]): reason for position, reason in values.unreadable.items()}
    found.problems += [EventProblem(row, plan.name, reason) for row, reason in last.items()]


def _at(column: pa.Array, path: tuple[str, ...]) -> _Place:
    """As Event.value does: through records, and through an array of records to an array of their fields."""
    place = _Place(column)
    for name in path:
        place = _entered(place)
        place = place._replace(values=_field(place.values, name))
    return _entered(place)


def _entered(place: _Place) -> _Place:
    array = place.values
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
        return place
    if place.starts is not None:
        raise _UnusualTypeError
    starts = np.zeros(len(array) + 1, np.int64)
    np.cumsum(pc.fill_null(array.value_lengths(), 0).to_numpy(), out=starts[1:])
    return _Place(array.flatten(), starts, _valid(array))


def _field(array: pa.Array, name: str) -> pa.Array:
    if not pa.types.is_struct(array.type):
        if _values(array, hashed=False).unreadable:
            raise _UnusualTypeError  # nor can what would be inside be read
        return pa.nulls(len(array))  # what is read by columns has no fields
    names = [field.name for field in array.type]
    return pc.struct_field(array, [names.index(name)]) if name in names else pa.nulls(len(array))


def _has_twins(kind: pa.DataType) -> bool:
    """Whether a record in it has two fields of one name, and so none that can be read."""
    fields = [kind.field(number) for number in range(kind.num_fields)]
    twins = pa.types.is_struct(kind) and len({field.name for field in fields}) < len(fields)
    return twins or any(_has_twins(field.type) for field in fields)


def _read_rows(table: pa.Table | pa.RecordBatch, plan: Plan, encoder: Encoder, found: Interleaving) -> None:
    encoded = encoder.values(plan, [Event(None, normal({plan.path[0]: value})) for value in _cells(table)])
    rows = np.repeat(np.arange(found.rows), np.diff(encoded.starts))
    of_text = [plan.slots[kind] for kind in OF_TEXT if kind in plan.slots]
    for slot in np.unique(encoded.slot):
        here = encoded.slot == slot
        feed = Feed(
            int(slot),
            _starts(np.bincount(rows[here], minlength=found.rows), found.every_row),
            encoded.key[here],
            encoded.text[here],
            encoded.length[here] if slot in of_text else NO_LENGTHS,
            encoded.flags[here],
            encoded.data,
        )
        found.feeds.append(feed)
    found.problems += encoded.problems


def _cells(table: pa.Table | pa.RecordBatch) -> Iterator[Any]:
    """The values of a table's one column, one of which Python cannot hold costs itself only."""
    (name,) = table.schema.names
    try:
        yield from [row[name] for row in rows_of_arrow(table)]
        return
    except (ValueError, OverflowError, KeyError, pa.ArrowException):  # KeyError: an unknown time zone
        pass
    for row in range(table.num_rows):
        try:
            yield next(iter(rows_of_arrow(table.slice(row, 1))))[name]
        except (ValueError, OverflowError, KeyError, pa.ArrowException) as error:
            yield Unreadable(f"Arrow cannot hand it over: {error}")


# Values


def _slot_type(kind: pa.DataType) -> SlotType | None:
    """The slots that hold values of a type; None for what no slot holds, such as records."""
    types = pa.types
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return SlotType.NUMBER
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return SlotType.STRING
    if types.is_boolean(kind):
        return SlotType.BOOLEAN
    if types.is_timestamp(kind) or types.is_date(kind):
        return SlotType.TIMESTAMP
    if types.is_dictionary(kind) and not types.is_nested(kind.value_type):
        return _slot_type(kind.value_type)
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return SlotType.BYTES
    if types.is_null(kind) or types.is_struct(kind):
        return None
    raise _UnusualTypeError


def _values(array: pa.Array, hashed: bool) -> _Values:
    """With keys; those of strings only if they are to be `hashed`, since that reads every byte."""
    kind = _slot_type(array.type)
    if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        array = array.cast(pa.large_string() if kind is SlotType.STRING else pa.large_binary())
    if pa.types.is_dictionary(array.type):
        return _of_dictionary(array, hashed)
    valid = _valid(array)
    plain = _Values(len(array), kind, valid, valid)
    match kind:
        case SlotType.NUMBER:
            return _numbers(array, plain)
        case SlotType.STRING | SlotType.BYTES:
            return _strings(array, plain, hashed)
        case SlotType.BOOLEAN:
            return plain._replace(key=pc.fill_null(array, False).to_numpy(zero_copy_only=False).astype(np.int64))
        case SlotType.TIMESTAMP:
            return _times(array, plain)
        case _:
            return plain


def _valid(array: pa.Array) -> Array | None:
    return array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None


def _raw(array: pa.Array, dtype: Any) -> Array:
    """The values as they lie in the buffer, with anything at all where they are null."""
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return np.zeros(len(array), dtype)
    return np.frombuffer(buffer, dtype, len(array), array.offset * np.dtype(dtype).itemsize)


def _numbers(array: pa.Array, plain: _Values) -> _Values:
    kind = array.type
    if pa.types.is_decimal(kind):
        return _decimals(array, plain)
    raw = _raw(array, kind.to_pandas_dtype())
    with np.errstate(invalid="ignore"):  # where they are null there may be anything
        numbers = raw.astype(np.float64, copy=False)
    if pa.types.is_floating(kind):
        is_number = numbers == numbers
        usable = plain.usable if is_number.all() else _both(plain.usable, is_number)
        return plain._replace(usable=usable, key=number_keys(numbers))
    return plain._replace(key=number_keys(numbers), text=_rests(raw, numbers))


def _rests(raw: Array, numbers: Array) -> Array:
    """What integers of 64 bits have beside their nearest float64. Modulo 2**64, so that 2**64 itself needs no place."""
    if raw.dtype.itemsize < 8:
        return NO_KEYS
    magnitude = raw if raw.dtype == np.uint64 else np.abs(raw).view(np.uint64)
    large = np.flatnonzero(magnitude > np.uint64(FIRST_SHARED))
    if not len(large):
        return NO_KEYS
    near = np.abs(numbers[large])
    near[near == 2.0**64] = 0
    nearest = near.astype(np.uint64).view(np.int64)
    rests = np.zeros(len(raw), np.int64)
    rests[large] = raw[large].view(np.int64) - np.where(numbers[large] < 0, -nearest, nearest)
    return rests


def _decimals(array: pa.Array, plain: _Values) -> _Values:
    """Those of few digits by one division, which rounds correctly; Python rounds the others."""
    scale = array.type.scale
    if array.type.precision > 38 or not 0 <= scale <= _EXACT_POWERS:
        numbers, hard = np.zeros(len(array)), np.ones(len(array), np.bool_)
    else:
        words = _raw(array.cast(pa.decimal128(38, scale)), np.dtype("<i8,<i8"))
        low = np.ascontiguousarray(words["f0"])
        numbers = low / 10.0**scale
        hard = (words["f1"] != low >> 63) | (low >= _SHORT_INTEGERS) | (low <= -_SHORT_INTEGERS)
    positions = np.flatnonzero(_both(plain.valid, hard))
    keys = number_keys(numbers)
    if not len(positions):
        return plain._replace(key=keys)
    rests, inexact = np.zeros(len(array), np.int64), np.zeros(len(array), np.bool_)
    found = zip(*map(number_of, array.take(positions).to_pylist()), strict=True)
    keys[positions], rests[positions], exact = (np.array(each) for each in found)
    inexact[positions] = ~exact
    return plain._replace(key=keys, text=rests, inexact=inexact)


def _times(array: pa.Array, plain: _Values) -> _Values:
    kind = array.type
    if pa.types.is_date32(kind):
        raw, unit = _raw(array, np.int32).astype(np.int64), _DAY_US
    elif pa.types.is_date64(kind):
        raw, unit = _raw(array, np.int64) // 86_400_000, _DAY_US
    elif kind.unit == "ns":  # towards zero, as Arrow's cast does
        raw, unit = _raw(array, np.int64), 1
        raw = (raw - np.fmod(raw, 1_000)) // 1_000
    else:
        raw, unit = _raw(array, np.int64), _PER_UNIT_US[kind.unit]
    outside = (raw < _FIRST_US // unit) | (raw > _LAST_US // unit)
    return _without(plain._replace(key=raw * unit), outside, _OUT_OF_YEARS)


def _without(values: _Values, bad: Array, reason: str) -> _Values:
    """The values but those that are bad, which are reported unless they are null."""
    if not bad.any():
        return values
    positions = np.flatnonzero(_both(values.valid, bad))
    return values._replace(usable=_both(values.usable, ~bad), unreadable=dict.fromkeys(positions.tolist(), reason))


def _strings(array: pa.Array, plain: _Values, hashed: bool) -> _Values:
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    _, offsets_buffer, buffer = array.buffers()
    offsets = np.zeros(len(array) + 1, np.int64)
    if len(array) and offsets_buffer is not None:
        dtype = np.dtype(np.int64 if wide else np.int32)
        offsets[:] = np.frombuffer(offsets_buffer, dtype, len(array) + 1, array.offset * dtype.itemsize)
    data = NO_BYTES if buffer is None else np.frombuffer(buffer, np.uint8)
    data.flags.writeable = False
    lengths = np.diff(offsets).astype(np.int32)
    keys = hash_strings(data, offsets) if hashed else NO_KEYS
    found = plain._replace(key=keys, text=offsets[:-1], length=lengths, data=data)
    if plain.kind is SlotType.BYTES or _is_ascii(data, offsets):
        return found
    return _without_broken(array, found)


def _is_ascii(data: Array, offsets: Array) -> bool:
    used = data[offsets[0] : offsets[-1]]
    return not len(used) or bool(used.max() < 0x80)


def _without_broken(array: pa.Array, found: _Values) -> _Values:
    try:
        array.validate(full=True)
        return found
    except pa.ArrowInvalid:
        broken = np.array([not _is_utf8(value) for value in array.cast(pa.large_binary()).to_pylist()])
        return _without(found, broken, "its bytes are not UTF-8, so it is not Unicode text")


def _is_utf8(value: bytes | None) -> bool:
    try:
        return value is None or value.decode() is not None
    except UnicodeDecodeError:
        return False


def _of_dictionary(array: pa.DictionaryArray, hashed: bool) -> _Values:
    """Each entry of the dictionary is read once."""
    entries = _values(array.dictionary, hashed)
    valid = _valid(array)
    if not entries.size:
        return _Values(len(array), entries.kind, valid, valid)
    at = pc.fill_null(array.indices, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    broken = np.flatnonzero(_both(valid, np.isin(at, list(entries.unreadable)))) if entries.unreadable else ()
    return _Values(
        len(array),
        entries.kind,
        valid if entries.valid is None else _both(valid, entries.valid[at]),
        valid if entries.usable is None else _both(valid, entries.usable[at]),
        _chosen(entries.key, at),
        _chosen(entries.text, at),
        _chosen(entries.length, at),
        entries.data,
        None if entries.inexact is None else _both(valid, entries.inexact[at]),
        {int(position): entries.unreadable[int(at[position])] for position in broken},
    )


def _both(one: Array | None, other: Array) -> Array:
    return other if one is None else one & other


# Feeds


def _scalar_feeds(plan: Plan, values: _Values, every_row: Array) -> Iterator[Feed]:
    if plan.presence != NO_SLOT:
        flags = NO_FLAGS
        if values.unreadable:
            flags = np.zeros(values.size, np.uint8)
            flags[list(values.unreadable)] = DIRTY
        yield Feed(plan.presence, _starts(values.valid, every_row), flags=_chosen(flags, values.valid))
    if values.kind is not None and values.kind in plan.slots:
        usable = values.usable
        flags = NO_FLAGS if values.inexact is None else values.inexact * np.uint8(INEXACT)
        yield Feed(
            plan.slots[values.kind],
            _starts(usable, every_row),
            _chosen(values.key, usable),
            _chosen(values.text, usable),
            _chosen(values.length, usable),
            _chosen(flags, usable),
            values.data,
        )


def _chosen(column: Array, which: Array | None) -> Array:
    """By a mask or by positions; what stands for zeros goes on doing so."""
    return column if which is None or not len(column) else column[which]


def _starts(counts: Array | None, every_row: Array) -> Array:
    """Of so many entries in each row, None for one in each."""
    if counts is None:
        return every_row
    starts = np.zeros(len(every_row), np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def _array_feeds(plan: Plan, values: _Values, starts: Array, there: Array | None) -> Iterator[Feed]:
    rows = len(starts) - 1
    there = np.ones(rows, np.bool_) if there is None else there
    present = _starts(there, starts)
    if plan.presence != NO_SLOT:
        yield Feed(plan.presence, present, flags=np.full(present[-1], ARRAY, np.uint8))
    for kind, slot in plan.slots.items():
        if kind is values.kind:
            usable = np.ones(values.size, np.bool_) if values.usable is None else values.usable
            columns = (values.key, values.text, values.length, values.data)
            feed = Feed(slot, *distinct(there, starts, usable, *columns))._replace(data=values.data)
            if values.inexact is not None:
                row_of = np.repeat(np.arange(rows), np.diff(starts))
                inexact = np.bincount(row_of[usable & values.inexact], minlength=rows) > 0
                feed.flags[np.repeat(inexact, np.diff(feed.starts))] |= INEXACT
            yield feed
        else:
            flags = np.where(np.diff(starts)[there] > 0, ARRAY | EMPTY | DIRTY, ARRAY | EMPTY).astype(np.uint8)
            yield Feed(slot, present, flags=flags)
