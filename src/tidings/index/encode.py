"""Events as flat arrays that the kernels read row by row: which slots of an index each event fills, and with what.

Only the slots of the index are encoded. A missing or null attribute has no entry; a scalar fills the slot of its type,
an array every slot of its path with its distinct elements of that type; both fill PRESENCE. What a slot says is exactly
what `Event.value` says, but for numbers that `numbers` cannot tell from their neighbours, which are marked as INEXACT.
Events come as objects here, and as Arrow tables in `arrow_columns`, with the same entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from tidings.index.check_kernels import same_bytes
from tidings.index.compiling import compiled
from tidings.index.hashing import mixed
from tidings.index.keys import hash_bytes, number_key
from tidings.index.layout import ARRAY, DIRTY, EMPTY, INEXACT, Array, Batch
from tidings.index.numbers import number_of
from tidings.index.slots import Path, Slots, SlotType
from tidings.model.event import Event
from tidings.model.moments import microseconds
from tidings.model.predicates import Attribute
from tidings.model.result import EventProblem
from tidings.model.values import Unreadable

NO_SLOT = -1
NO_BYTES = np.frombuffer(b"", np.uint8)
NO_KEYS, NO_LENGTHS, NO_FLAGS = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.uint8)
BLOCK_ROWS = 8_192  # rows whose entries are written together: what they fill stays in the cache
SLOT_TYPE_OF = {
    float: SlotType.NUMBER,
    int: SlotType.NUMBER,
    Decimal: SlotType.NUMBER,
    str: SlotType.STRING,
    bytes: SlotType.BYTES,
    bool: SlotType.BOOLEAN,
    datetime: SlotType.TIMESTAMP,
}
OF_TEXT = (SlotType.STRING, SlotType.BYTES)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedBatch:
    """Row r has the entries starts[r]:starts[r + 1], ordered by slot.

    `key` is a number's key, microseconds since 1970 in UTC, 0 or 1 for a boolean, the hash of a string or of bytes, and
    0 for PRESENCE. Flags: ARRAY, the entry comes from an array, and there is one for each distinct element; EMPTY, none
    of its elements is of the slot's type; DIRTY, it has others too (null, NaN, unreadable, of another type), so that
    NOT of a predicate which none satisfies is unknown. DIRTY without ARRAY is PRESENCE of what could not be read.
    INEXACT, the value, or an element of the array, is a number that key and rest do not tell from its neighbours.

    `data` is read-only whatever it came from, so that kernels see one type. In `problems`, `event` is the row.
    """

    rows: int
    starts: Array  # int64[rows + 1]
    slot: Array  # int32
    key: Array  # int64
    text: Array  # int64: where a string's UTF-8 begins in `data`; the rest of a number
    length: Array  # int32: its number of bytes
    flags: Array  # uint8
    data: Array  # uint8
    problems: tuple[EventProblem, ...]

    @property
    def batch(self) -> Batch:
        """The arrays alone, as the kernels take them."""
        return Batch(self.starts, self.slot, self.key, self.text, self.length, self.flags, self.data)

    def check(self, slots: Slots) -> None:
        """Asserts every invariant."""
        types = np.array([kind for _, kind in slots], np.int8)
        entries = len(self.slot)
        for name, dtype, size in (
            ("starts", np.int64, self.rows + 1),
            ("slot", np.int32, entries),
            ("key", np.int64, entries),
            ("text", np.int64, entries),
            ("length", np.int32, entries),
            ("flags", np.uint8, entries),
            ("data", np.uint8, len(self.data)),
        ):
            found = getattr(self, name)
            assert found.dtype == dtype, f"{name} is {found.dtype}"
            assert found.shape == (size,), f"{name} has the shape {found.shape}, not ({size},)"
            assert found.flags.c_contiguous, f"{name} is not contiguous"
            assert found.flags.writeable == (name != "data"), f"{name} is of the wrong type for the kernels"
        assert self.starts[0] == 0
        assert self.starts[-1] == entries
        assert np.all(np.diff(self.starts) >= 0)
        assert np.all((self.slot >= 0) & (self.slot < len(types)))
        row = np.repeat(np.arange(self.rows), np.diff(self.starts))
        same_row = row[1:] == row[:-1]
        assert np.all((np.diff(self.slot) >= 0) | ~same_row), "the slots of a row are not in order"
        self._check_entries(types[self.slot], same_row & (np.diff(self.slot) == 0))
        assert all(type(problem.event) is int and 0 <= problem.event < self.rows for problem in self.problems)

    def _check_entries(self, types: Array, same_slot: Array) -> None:
        empty, dirty, of_array, inexact = (self.flags & flag != 0 for flag in (EMPTY, DIRTY, ARRAY, INEXACT))
        text, presence = np.isin(types, OF_TEXT) & ~empty, types == SlotType.PRESENCE
        number = (types == SlotType.NUMBER) & ~empty
        assert np.all(self.flags <= EMPTY | DIRTY | ARRAY | INEXACT)
        assert np.all(number | ~inexact)
        assert np.all(of_array | ~empty)
        assert np.all(of_array | presence | ~dirty)
        assert not np.any(presence & (empty | (of_array & dirty)))
        assert np.all(self.flags[1:][same_slot] == self.flags[:-1][same_slot]), "elements of one array differ in flags"
        assert np.all(of_array[1:][same_slot] & ~empty[1:][same_slot]), "several entries, but not of an array"
        assert np.all(self.key[presence | empty] == 0)
        assert np.all(self.text[~text & ~number] == 0)
        assert np.all(self.length[~text] == 0)
        start, end = self.text[text], (self.text + self.length)[text]
        assert np.all((start >= 0) & (start <= end) & (end <= len(self.data)))
        assert np.all(np.isin(self.key[(types == SlotType.BOOLEAN) & ~empty], (0, 1)))
        for entry in np.flatnonzero(text):
            start, end = self.text[entry], self.text[entry] + self.length[entry]
            assert self.key[entry] == hash_bytes(self.data, start, end), "the key of a string is not its hash"
            if types[entry] == SlotType.STRING:
                self.data[start:end].tobytes().decode()


# Plans


class Plan(NamedTuple):
    """What is read at one path."""

    path: Path
    name: str
    slots: Mapping[SlotType, int]  # those that the index has, but PRESENCE
    slot_of: Mapping[type, int]  # the same, by the type of a value
    presence: int  # NO_SLOT where nobody asks


def _plan(path: Path, slots: Slots) -> Plan:
    known = {kind: slot for kind in SlotType if (slot := slots.find(path, kind)) is not None}
    presence = known.pop(SlotType.PRESENCE, NO_SLOT)
    slot_of = {type: known[kind] for type, kind in SLOT_TYPE_OF.items() if kind in known}
    return Plan(path, str(Attribute(path)), known, slot_of, presence)


class Encoder:
    """Encodes for the slots that were known when it was made. It keeps nothing of what it encodes."""

    def __init__(self, slots: Slots) -> None:
        self.plans: dict[str, list[Plan]] = {}  # by the first name of the path
        for path in slots.paths():
            self.plans.setdefault(path[0], []).append(_plan(path, slots))
        self._holds_text = np.array([kind in OF_TEXT for _, kind in slots], np.bool_)

    def events(self, events: Sequence[Event]) -> EncodedBatch:
        collected = _Collected()
        for row, event in enumerate(events):
            for name, value in event.attributes.items():
                for plan in self.plans.get(name, ()):
                    found = value if len(plan.path) == 1 else event.value(plan.path)
                    if found is not None:
                        collected.add(row, plan, found)
            collected.end_row()
        return self._batch(collected)

    def values(self, plan: Plan, events: Sequence[Event]) -> EncodedBatch:
        """Of each event what stands at one path only."""
        collected = _Collected()
        for row, event in enumerate(events):
            found = event.value(plan.path)
            if found is not None:
                collected.add(row, plan, found)
            collected.end_row()
        return self._batch(collected)

    def _batch(self, collected: _Collected) -> EncodedBatch:
        slot, key, text, length, flags = zip(*collected.entries, strict=True) if collected.entries else ((),) * 5
        rows = len(collected.starts) - 1
        encoded = EncodedBatch(
            rows,
            np.array(collected.starts, np.int64),
            np.array(slot, np.int32),
            np.array(key, np.int64),
            np.array(text, np.int64),
            np.array(length, np.int32),
            np.array(flags, np.uint8),
            np.frombuffer(b"".join(collected.texts), np.uint8),
            tuple(collected.problems),
        )
        if collected.texts:
            columns = (encoded.slot, encoded.flags, encoded.text, encoded.length, encoded.data)
            _hash_texts(self._holds_text, *columns, encoded.key)
        return encoded


# Rows of events

_Entry = tuple[int, int, int, int, int]  # slot, key (0 for a string, whose hash comes later), text, length, flags
_slot_of = itemgetter(0)


class _Collected:
    """Entries while they are collected, an event after the other."""

    __slots__ = ("_row", "_size", "entries", "problems", "starts", "texts")

    def __init__(self) -> None:
        self.entries: list[_Entry] = []
        self.starts = [0]
        self.texts: list[bytes] = []
        self.problems: list[EventProblem] = []
        self._row: list[_Entry] = []
        self._size = 0

    def end_row(self) -> None:
        if len(self._row) > 1:
            self._row.sort(key=_slot_of)
        self.entries += self._row
        self._row.clear()
        self.starts.append(len(self.entries))

    def add(self, row: int, plan: Plan, value: Any) -> None:
        """What stands at the path, which is not null."""
        kind = type(value)
        slot = plan.slot_of.get(kind)
        if slot is not None:
            if kind is str or kind is bytes:
                self._row.append(self._text(slot, value, 0))
            elif value == value:  # NaN is not
                self._row.append(_keyed(slot, value, 0))
        elif kind is tuple:
            self._add_array(row, plan, value)
            return
        elif kind is Unreadable:
            self.problems.append(EventProblem(row, plan.name, value.reason))
        if plan.presence != NO_SLOT:
            self._row.append((plan.presence, 0, 0, 0, DIRTY if kind is Unreadable else 0))

    def _add_array(self, row: int, plan: Plan, elements: tuple[Any, ...]) -> None:
        unreadable = [element for element in elements if type(element) is Unreadable]
        if unreadable:
            self.problems.append(EventProblem(row, plan.name, unreadable[-1].reason))
        if plan.presence != NO_SLOT:
            self._row.append((plan.presence, 0, 0, 0, ARRAY))
        for slot_type, slot in plan.slots.items():
            usable = [x for x in elements if SLOT_TYPE_OF.get(type(x)) is slot_type and x == x]
            flags = ARRAY | (DIRTY if len(usable) < len(elements) else 0)
            if slot_type in OF_TEXT:
                entries = [self._text(slot, x, flags) for x in dict.fromkeys(usable)]
            else:
                entries = list(dict.fromkeys(_keyed(slot, x, flags) for x in usable))
                if any(entry[-1] & INEXACT for entry in entries):
                    entries = list(
                        dict.fromkeys((slot, key, rest, 0, flags | INEXACT) for _, key, rest, _, _ in entries)
                    )
            self._row += entries or [(slot, 0, 0, 0, flags | EMPTY)]

    def _text(self, slot: int, value: str | bytes, flags: int) -> _Entry:
        utf8 = value.encode() if isinstance(value, str) else value
        start = self._size
        self.texts.append(utf8)
        self._size = start + len(utf8)
        return slot, 0, start, len(utf8), flags


def _keyed(slot: int, value: Any, flags: int) -> _Entry:
    """The entry of what is no string."""
    kind = type(value)
    if kind is float:
        return slot, number_key(value), 0, 0, flags
    if kind is bool:
        return slot, int(value), 0, 0, flags
    if kind is datetime:
        return slot, microseconds(value), 0, 0, flags
    key, rest, exact = number_of(value)
    return slot, key, rest, 0, flags if exact else flags | INEXACT


@compiled
def _hash_texts(holds_text, slot, flags, text, length, data, key):  # type: ignore[no-untyped-def]
    for entry in range(len(slot)):
        if holds_text[slot[entry]] and not flags[entry] & EMPTY:
            key[entry] = hash_bytes(data, text[entry], text[entry] + length[entry])


# Slots interleaved into rows


class Feed(NamedTuple):
    """The entries of one slot: those of row r are starts[r]:starts[r + 1]. An empty array stands for zeros only.

    `text` without `length` is the rests of numbers.
    """

    slot: int
    starts: Array
    key: Array = NO_KEYS
    text: Array = NO_KEYS
    length: Array = NO_LENGTHS
    flags: Array = NO_FLAGS
    data: Array = NO_BYTES  # what `text` points into


class Interleaving:
    """Feeds while they are collected, and what is known of rows."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.feeds: list[Feed] = []
        self.problems: list[EventProblem] = []
        self.every_row = np.arange(rows + 1)  # the starts of a feed with one entry in each row

    def batch(self) -> EncodedBatch:
        """Two passes: how many entries each row has, then the entries, slot after slot."""
        feeds = sorted(self.feeds, key=lambda feed: feed.slot)
        starts = np.zeros(self.rows + 1, np.int64)
        for feed in feeds:
            starts[1:] += np.diff(feed.starts)
        np.cumsum(starts, out=starts)
        size = int(starts[-1])
        slot, key, text = np.empty(size, np.int32), np.zeros(size, np.int64), np.zeros(size, np.int64)
        length, flags = np.zeros(size, np.int32), np.zeros(size, np.uint8)
        data, bases = _joined(feeds)
        free = starts[:-1].copy()
        for first in range(0, self.rows, BLOCK_ROWS):
            last = min(first + BLOCK_ROWS, self.rows)
            for feed, base in zip(feeds, bases, strict=True):
                columns = (feed.starts, feed.key, feed.text, feed.length, feed.flags)
                _fill(first, last, free, feed.slot, base, *columns, slot, key, text, length, flags)
        problems = sorted(self.problems, key=lambda problem: int(problem.event or 0))  # they are rows
        return EncodedBatch(self.rows, starts, slot, key, text, length, flags, data, tuple(problems))


def _joined(feeds: list[Feed]) -> tuple[Array, list[int]]:
    """The bytes that the feeds point into, and what to add to each feed's offsets. One feed's are not copied."""
    texts = [feed for feed in feeds if len(feed.length)]
    if len(texts) == 1:
        return texts[0].data, [0] * len(feeds)
    parts, bases, size = [NO_BYTES], [], 0
    for feed in feeds:
        filled = feed.length > 0
        first = int(feed.text[filled].min()) if filled.any() else 0
        last = int((feed.text[filled] + feed.length[filled]).max()) if filled.any() else 0
        parts.append(feed.data[first:last])
        bases.append(size - first)
        size += last - first
    data = np.concatenate(parts)
    data.flags.writeable = False
    return data, bases


@compiled
def _fill(  # type: ignore[no-untyped-def]  # compiled
    first, last, free, number, base, starts, keys, texts, lengths, some_flags, slot, key, text, length, flags
):
    """Writes the entries of one feed into the rows first:last, each at its row's next free place."""
    for row in range(first, last):
        place = free[row]
        for entry in range(starts[row], starts[row + 1]):
            slot[place] = number
            if len(keys) > 0:
                key[place] = keys[entry]
            if len(lengths) > 0 and lengths[entry] > 0:
                text[place], length[place] = texts[entry] + base, lengths[entry]
            elif len(lengths) == 0 and len(texts) > 0:
                text[place] = texts[entry]
            if len(some_flags) > 0:
                flags[place] = some_flags[entry]
            place += 1
        free[row] = place


@compiled
def distinct(there, starts, usable, key, text, length, data):  # type: ignore[no-untyped-def]  # compiled
    """Of each array its distinct usable elements, in order, or one EMPTY entry."""
    rows, room = len(there), len(usable) + len(there)
    found_starts, found_key = np.zeros(rows + 1, np.int64), np.zeros(room, np.int64)
    found_text, found_length = np.zeros(room, np.int64), np.zeros(room, np.int32)
    found_flags = np.zeros(room, np.uint8)
    longest = 0
    for row in range(rows):
        longest = max(longest, starts[row + 1] - starts[row])
    size = 2
    while size < 2 * longest:
        size *= 2
    seen_row, seen_entry = np.full(size, -1, np.int64), np.zeros(size, np.int64)  # a hash table, of one row at a time
    end = 0
    for row in range(rows):
        first = end
        dirty = 0
        for element in range(starts[row], starts[row + 1]):
            if not usable[element]:
                dirty = DIRTY
                continue
            place = np.int64(mixed(key[element]) & np.uint64(size - 1))
            while seen_row[place] == row and not _same(
                found_key, found_text, found_length, seen_entry[place], key, text, length, element, data
            ):
                place = (place + 1) & (size - 1)
            if seen_row[place] != row:
                seen_row[place], seen_entry[place] = row, end
                found_key[end] = key[element]
                if len(text) > 0:
                    found_text[end] = text[element]
                if len(length) > 0:
                    found_length[end] = length[element]
                end += 1
        if there[row] and end == first:
            dirty |= EMPTY
            end += 1
        for entry in range(first, end):
            found_flags[entry] = ARRAY | dirty
        found_starts[row + 1] = end
    some_text, some_length = end if len(text) > 0 else 0, end if len(length) > 0 else 0
    return found_starts, found_key[:end], found_text[:some_text], found_length[:some_length], found_flags[:end]


@compiled
def _same(found_key, found_text, found_length, entry, key, text, length, element, data):  # type: ignore[no-untyped-def]
    if found_key[entry] != key[element]:
        return False
    if len(length) == 0:
        return len(text) == 0 or found_text[entry] == text[element]
    if found_length[entry] != length[element]:
        return False
    return same_bytes(data, found_text[entry], data, text[element], length[element])
