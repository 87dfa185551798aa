"""Encoded batches say exactly what `Event.value` says, and say the same of events and of Arrow tables."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from strategies import INTEGERS, NAMES, PATHS, STRINGS, EventSource, events
from tidings.index.arrow_columns import encode_arrow
from tidings.index.encode import EncodedBatch, Encoder
from tidings.index.keys import number_key
from tidings.index.layout import ARRAY, DIRTY, EMPTY, INEXACT, MOST
from tidings.index.numbers import number_of
from tidings.index.slots import Path, Slots, SlotType
from tidings.model.event import Event, rows_of_arrow
from tidings.model.result import EventProblem
from tidings.model.values import Unreadable

ENCODED = [kind for kind in SlotType if not kind.is_of_facts]
NUMBER, STRING, BOOLEAN, TIMESTAMP, PRESENCE, BYTES = ENCODED
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Key = int | bytes | tuple[int, int]  # the bytes of a string; key and rest of a number that has a rest
Entry = tuple[int, Key, int]  # slot, key, flags


def told(batch: EncodedBatch, slots: Slots) -> list[list[Entry]]:
    """The entries of each row, with strings by their bytes."""
    batch.check(slots)
    kinds = [kind for _, kind in slots]

    def entry(at: int) -> Entry:
        slot, flags, start = int(batch.slot[at]), int(batch.flags[at]), int(batch.text[at])
        if kinds[slot] in (STRING, BYTES) and not flags & EMPTY:
            return slot, batch.data[start : start + batch.length[at]].tobytes(), flags
        return slot, (int(batch.key[at]), start) if start else int(batch.key[at]), flags

    return [list(map(entry, range(batch.starts[row], batch.starts[row + 1]))) for row in range(batch.rows)]


def every_slot(*names: str) -> Slots:
    return Slots((tuple(name.split(".")), kind) for name in names for kind in ENCODED)


def encode_dicts(sources: list[dict[str, Any]], slots: Slots) -> EncodedBatch:
    return Encoder(slots).events([Event.of(source) for source in sources])


# The oracle: slot by slot, from Event.value


def is_of(value: Any, kind: SlotType) -> bool:
    if kind is NUMBER:
        return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and not math.isnan(value)
    return isinstance(value, {STRING: str, BOOLEAN: bool, TIMESTAMP: datetime, BYTES: bytes}[kind])


def is_inexact(value: Any) -> bool:
    """Whether it is a number that neither float64 nor a whole number beside one tells from its neighbours."""
    if not isinstance(value, int | Decimal) or not Decimal(value).is_finite():
        return False
    exact = Fraction(value)
    if exact.denominator == 1:
        return abs(exact) >= 2**1024 or abs(exact - Fraction(float(value))) >= MOST
    digits = "".join(map(str, Decimal(value).as_tuple().digits)).strip("0")
    return len(digits) > 15 or abs(exact) < Fraction(2.0**-1022)


def key_of(value: Any) -> Key:
    if isinstance(value, str | bytes):
        return value.encode() if isinstance(value, str) else value
    if isinstance(value, bool):
        return 1 if value else 0
    if isinstance(value, datetime):
        since = value - EPOCH
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    try:
        near = float(value)
    except OverflowError:
        return number_key(math.copysign(math.inf, value))
    if isinstance(value, float) or math.isinf(near) or value != int(value) or near == value:
        return number_key(near)
    rest = int(value) - int(near)
    return (number_key(near), rest) if abs(rest) < MOST else number_key(near)


def expected(event: Event, slots: Slots) -> list[Entry]:
    entries: list[Entry] = []
    for slot, (path, kind) in enumerate(slots):
        value = event.value(path)
        if value is None:
            continue
        if kind is PRESENCE:
            flags = ARRAY if isinstance(value, tuple) else DIRTY if isinstance(value, Unreadable) else 0
            entries.append((slot, 0, flags))
        elif not isinstance(value, tuple):
            entries += [(slot, key_of(value), INEXACT * is_inexact(value))] if is_of(value, kind) else []
        else:
            fitting = [element for element in value if is_of(element, kind)]
            flags = ARRAY | (DIRTY if len(fitting) < len(value) else 0)
            flags |= INEXACT * any(map(is_inexact, fitting))
            keys: list[Key] = []
            for key in map(key_of, fitting):
                if key not in keys:
                    keys.append(key)
            entries += [(slot, key, flags) for key in keys] or [(slot, 0, flags | EMPTY)]
    return entries


def unreadable_paths(event: Event, slots: Slots) -> set[str]:
    def is_unreadable(value: Any) -> bool:
        return isinstance(value, Unreadable) or (isinstance(value, tuple) and any(map(is_unreadable, value)))

    return {".".join(path) for path in slots.paths() if is_unreadable(event.value(path))}


ANY_PATH = st.sampled_from([*((name,) for name in NAMES), *PATHS, ("r",), ("list",), ("n", "n"), ("tags", "s")])


def slots_of(paths: st.SearchStrategy[Path]) -> st.SearchStrategy[Slots]:
    return st.lists(st.tuples(paths, st.sampled_from(ENCODED)), max_size=20).map(Slots)


@example([{"n": 10**308}, {"n": [10**308, -(2**62) - 1, 2**63 - 1]}], Slots([(("n",), NUMBER)]))  # beyond all rests
@given(st.lists(events(), max_size=4), slots_of(ANY_PATH))
def test_entries_say_what_the_values_of_events_say(sources: list[EventSource], slots: Slots) -> None:
    read = [Event.of(source) for source in sources]
    batch = Encoder(slots).events(read)
    assert told(batch, slots) == [expected(event, slots) for event in read]
    assert {(problem.event, problem.attribute) for problem in batch.problems} == {
        (row, name) for row, event in enumerate(read) for name in unreadable_paths(event, slots)
    }


# Rules, one by one

VALUES: dict[str, tuple[Any, dict[SlotType, list[tuple[Any, int]]]]] = {
    "null": (None, {}),
    "a number": (5, {NUMBER: [(number_key(5.0), 0)], PRESENCE: [(0, 0)]}),
    "minus zero": (-0.0, {NUMBER: [(0, 0)], PRESENCE: [(0, 0)]}),
    "NaN": (math.nan, {PRESENCE: [(0, 0)]}),
    "a string": ("é", {STRING: [("é".encode(), 0)], PRESENCE: [(0, 0)]}),
    "an empty string": ("", {STRING: [(b"", 0)], PRESENCE: [(0, 0)]}),
    "a boolean": (True, {BOOLEAN: [(1, 0)], PRESENCE: [(0, 0)]}),
    "a time": (EPOCH - timedelta(microseconds=1), {TIMESTAMP: [(-1, 0)], PRESENCE: [(0, 0)]}),
    "a date": (date(1970, 1, 2), {TIMESTAMP: [(86_400_000_000, 0)], PRESENCE: [(0, 0)]}),
    "bytes": (b"a\xff", {BYTES: [(b"a\xff", 0)], PRESENCE: [(0, 0)]}),
    "a record": ({"n": 1}, {PRESENCE: [(0, 0)]}),
    "unreadable": ("\ud800", {PRESENCE: [(0, DIRTY)]}),
    "an empty array": (
        [],
        {PRESENCE: [(0, ARRAY)], **{kind: [(0, ARRAY | EMPTY)] for kind in ENCODED if kind is not PRESENCE}},
    ),
    "an array": (
        ["b", "a", "b"],
        {
            PRESENCE: [(0, ARRAY)],
            STRING: [(b"b", ARRAY), (b"a", ARRAY)],
            **{kind: [(0, ARRAY | EMPTY | DIRTY)] for kind in (NUMBER, BOOLEAN, TIMESTAMP, BYTES)},
        },
    ),
    "an array of all sorts": (
        [1, None, 1.0, "a", math.nan, [2], {"n": 3}, False, "\udfff"],
        {
            PRESENCE: [(0, ARRAY)],
            NUMBER: [(number_key(1.0), ARRAY | DIRTY)],
            STRING: [(b"a", ARRAY | DIRTY)],
            BOOLEAN: [(0, ARRAY | DIRTY)],
            TIMESTAMP: [(0, ARRAY | EMPTY | DIRTY)],
            BYTES: [(0, ARRAY | EMPTY | DIRTY)],
        },
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_a_value_fills(name: str) -> None:
    value, filled = VALUES[name]
    slots = every_slot("a")
    entries = [(int(kind), key, flags) for kind in ENCODED for key, flags in filled.get(kind, [])]
    assert told(encode_dicts([{"a": value}], slots), slots) == [entries]


def test_only_known_slots_are_filled() -> None:
    slots = Slots([(("b",), STRING), (("a",), NUMBER)])
    assert told(encode_dicts([{"a": "x", "b": "y", "c": "z"}, {}], slots), slots) == [[(0, b"y", 0)], []]


def test_an_unreadable_attribute_is_reported_where_it_is_read() -> None:
    batch = encode_dicts(
        [{}, {"a": 1j, "b": 1j, "list": ["a", "\ud800"]}], Slots([(("a",), NUMBER), (("list",), STRING)])
    )
    reasons = {problem.attribute: problem.reason for problem in batch.problems}
    assert [problem.event for problem in batch.problems] == [1, 1]
    assert reasons == {
        "a": "a complex is none of the types that an attribute can have",
        "list": "character 0 is half of a surrogate pair, so it is not Unicode text",
    }


# (value, whether the nearest float64 and a whole number beside it hold it)
NUMBERS: list[tuple[int | Decimal, bool]] = [
    (0, True),
    (2**53, True),
    (2**53 + 1, True),
    (2**53 + 2, True),
    (-(2**63), True),
    (2**63 - 1, True),
    (10**22, True),
    (10**23, True),  # few digits, but 1e23 is another number
    (10**300 + 1, False),  # what lies between has more than 64 bits
    (10**400, False),
    (-(10**400), False),
    (Decimal("94.2"), True),
    (Decimal("94.200000000000000000000"), True),
    (Decimal("123456789012.345"), True),
    (Decimal("1234567890123.456"), False),
    (Decimal("1234567890123456.5"), False),  # it equals its float64, and others share that
    (Decimal.from_float(0.1), False),
    (Decimal("12345678901234567000"), True),
    (Decimal("12345678901234567168.000"), True),
    (Decimal("1E+23"), True),
    (Decimal("1E+400"), False),
    (Decimal("1E-400"), False),
    (Decimal("1E-310"), False),
    (Decimal("Infinity"), True),
    (Decimal("-0"), True),
]


@pytest.mark.parametrize(("value", "held"), NUMBERS, ids=str)
def test_which_numbers_are_inexact(value: int | Decimal, held: bool) -> None:
    slots = every_slot("a")
    for source in ({"a": value}, {"a": [1, value]}):
        marked = {slot for slot, _, flags in told(encode_dicts([source], slots), slots)[0] if flags & INEXACT}
        assert marked == (set() if held else {slots.find(("a",), NUMBER)})


SHORT = st.builds(
    lambda digits, exponent: Decimal(f"{digits}E{exponent}"), st.integers(-(10**15), 10**15), st.integers(-290, 0)
)
HELD = SHORT | st.integers(-(2**70), 2**70) | st.floats(1e15, 1e200).map(int)
ANY_NUMBER = st.integers() | st.decimals(allow_nan=False) | st.sampled_from(INTEGERS)


@given(HELD, st.data())
@example(Decimal("0.1"), None)
def test_a_number_that_is_not_inexact_compares_as_its_key_and_rest(
    literal: int | Decimal, data: st.DataObject | None
) -> None:
    """With every literal that is itself well held: a fraction of few digits, or a whole number."""
    around = st.sampled_from((literal, Decimal(float(literal)), int(float(literal)), literal + Decimal("1E-20")))
    value = data.draw(ANY_NUMBER | SHORT | around) if data else Decimal(float(literal))
    *found, exact = number_of(value)
    if exact:
        *other, _ = number_of(literal)
        assert (found > other) - (found < other) == (value > literal) - (value < literal)


# Arrow

TEXT = st.sampled_from(STRINGS) | st.text(st.characters(codec="utf-8"), max_size=4)
TIMES = {"s": 10**10, "ms": 10**13, "us": 10**16, "ns": 9 * 10**18}
Typed: TypeAlias = tuple[pa.DataType, st.SearchStrategy[Any]]
SCALARS: list[Typed] = [
    (pa.int8(), st.integers(-128, 127)),
    (pa.uint16(), st.integers(0, 2**16 - 1)),
    (pa.int64(), st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1) | st.sampled_from((2**53 + 1, 2**53 + 2))),
    (pa.uint64(), st.integers(0, 3) | st.integers(2**62, 2**64 - 1) | st.sampled_from((2**63, 2**64 - 2**11))),
    (pa.float16(), st.floats(width=16)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats() | st.sampled_from((0.0, -0.0, math.nan))),
    (pa.bool_(), st.booleans()),
    (pa.string(), TEXT),
    (pa.large_string(), TEXT),
    (pa.string_view(), TEXT),
    (pa.binary_view(), st.binary(max_size=2)),
    (pa.dictionary(pa.int8(), pa.string()), TEXT),
    (pa.dictionary(pa.uint32(), pa.int64()), st.integers(-2, 2) | st.just(2**53 + 1)),
    (pa.decimal32(5, 2), st.decimals(-999, 999, places=2)),
    (pa.decimal64(18, 3), st.decimals(-(10**14), 10**14, places=3)),
    (pa.decimal128(20, 3), st.decimals(-1000, 1000, places=3) | st.decimals(-(10**16), 10**16, places=3)),
    (pa.decimal128(38, 30), st.integers(-(10**37), 10**37).map(lambda digits: Decimal(digits).scaleb(-30))),
    (pa.decimal128(5, -2), st.integers(-999, 999).map(lambda digits: Decimal(f"{digits}E2"))),
    (pa.decimal256(60, 1), st.integers(-(10**17), 10**17).map(lambda digits: Decimal(digits).scaleb(-1))),
    *(
        (pa.timestamp(unit, zone), st.integers(-last, last) | st.sampled_from((-1, -1_001, -1_000, 1_999)))
        for unit, last in TIMES.items()
        for zone in (None, "UTC", "Europe/Athens", "-03:30")
    ),
    (pa.date32(), st.dates()),
    (pa.date64(), st.integers(-(10**13), 10**13) | st.sampled_from((-1, 86_400_001))),
    (pa.binary(), st.binary(max_size=2)),
]  # fmt: skip
# What is read as events are
UNUSUAL: list[Typed] = [
    (pa.time32("s"), st.integers(0, 86_399)),
    (pa.duration("ms"), st.integers(-5, 5)),
    (pa.binary(2), st.binary(min_size=2, max_size=2)),
    (
        pa.map_(pa.string(), pa.int64()),
        st.dictionaries(st.sampled_from("xyz"), st.integers(0, 5)).map(lambda drawn: list(drawn.items())),
    ),
    (pa.list_(pa.int16(), 2), st.lists(st.none() | st.integers(0, 3), min_size=2, max_size=2)),
    (pa.list_view(pa.string()), st.lists(st.none() | TEXT, max_size=3)),
]


def nested(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    def lists(kind: Any) -> st.SearchStrategy[Typed]:
        return inner.map(lambda typed: (kind(typed[0]), st.lists(st.none() | typed[1], max_size=4)))

    def record(one: Typed, other: Typed) -> Typed:
        fields = {"x": st.none() | one[1], "y": st.none() | other[1]}
        return pa.struct([("x", one[0]), ("y", other[0])]), st.fixed_dictionaries({}, optional=fields)

    return lists(pa.list_) | lists(pa.large_list) | st.builds(record, inner, inner)


TYPES = st.recursive(st.sampled_from(SCALARS) | st.sampled_from(UNUSUAL), nested, max_leaves=3)
PATHS_OF_COLUMNS = st.sampled_from(
    [*((name,) for name in ("a", "b", "c", "d")), *(("a", *rest) for rest in (("x",), ("y",), ("z",), ("x", "y"))),
     ("b", "x"), ("b", "y"), ("b", "x", "x")]
)  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Any types, in any number of parts, and cut out of larger tables."""
    sizes = draw(st.lists(st.integers(0, 3), max_size=3))
    columns = {}
    for name in draw(st.lists(st.sampled_from(("a", "b", "c")), unique=True)):
        kind, values = draw(TYPES)
        cells = st.none() | values
        parts = [pa.array(draw(st.lists(cells, min_size=size, max_size=size)), kind) for size in sizes]
        columns[name] = pa.chunked_array(parts, kind)
    table = pa.table(columns)
    first = draw(st.integers(0, table.num_rows))
    return table.slice(first, draw(st.integers(0, table.num_rows - first)))


def assert_means_the_same(table: pa.Table | pa.RecordBatch, slots: Slots) -> EncodedBatch:
    """As the rows do, read as events."""
    by_columns = encode_arrow(table, Encoder(slots))
    try:
        rows = list(rows_of_arrow(table))
    except pa.ArrowIndexError:  # Arrow does not cast a field of null records that is a dictionary without entries
        reject()
    by_rows = encode_dicts(rows, slots)
    assert told(by_columns, slots) == told(by_rows, slots)
    assert by_columns.problems == by_rows.problems
    return by_columns


@given(tables(), slots_of(PATHS_OF_COLUMNS))
def test_a_table_means_what_its_rows_mean(table: pa.Table, slots: Slots) -> None:
    assert_means_the_same(table, slots)
    for batch in table.to_batches():
        assert_means_the_same(batch, slots)


@pytest.mark.parametrize(("kind", "values"), SCALARS + UNUSUAL, ids=[str(kind) for kind, _ in SCALARS + UNUSUAL])
@given(data=st.data())
@settings(max_examples=10)
def test_each_type_means_what_its_rows_mean(
    kind: pa.DataType, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    """Alone, in a list, in a record and in a list of records."""
    cells = data.draw(st.lists(st.none() | values, max_size=6))
    rows = [[cells[:2], None, [], cells[2:]], [{"x": cell} for cell in cells], [[{"x": cell}, None] for cell in cells]]
    types = [pa.list_(kind), pa.struct([("x", kind)]), pa.large_list(pa.struct([("x", kind)]))]
    for column in (pa.array(cells, kind), *map(pa.array, rows, types)):
        table = pa.table({"a": column})
        for part in (table, table.slice(1), pa.concat_tables([table.slice(1, 3), table])):
            assert_means_the_same(part, every_slot("a", "a.x", "a.x.y"))


def test_a_table_without_rows_or_columns() -> None:
    slots = every_slot("a")
    for table in (pa.table({}), pa.table({"a": pa.array([], pa.string())}), pa.table({"b": [1, 2]})):
        assert told(encode_arrow(table, Encoder(slots)), slots) == [[]] * table.num_rows
    assert encode_arrow(pa.table({"b": [1, 2]}).select([]), Encoder(Slots())).rows == 2


def test_columns_of_nulls() -> None:
    lists, records = pa.array([[None], [], None]), pa.array([{"x": None}, None, {}])
    assert_means_the_same(
        pa.table({"a": pa.nulls(3), "b": lists, "c": records}), every_slot("a", "b", "b.x", "c", "c.x")
    )


def test_of_two_columns_with_one_name_the_last_counts() -> None:
    assert_means_the_same(pa.table([pa.array([1]), pa.array(["a"])], names=["a", "a"]), every_slot("a"))


def test_one_column_of_strings_is_not_copied() -> None:
    slots = Slots([(("n",), NUMBER), (("a",), STRING)])
    strings = pa.array(["x", None, "yz"])
    batch = encode_arrow(pa.table({"a": strings, "n": [1, 2, 3]}), Encoder(slots))
    assert batch.data.ctypes.data == strings.buffers()[2].address
    both = encode_arrow(pa.table({"a": strings.slice(2), "b": ["q"]}), Encoder(every_slot("a", "b")))
    assert both.data.tobytes() == b"yzq"


def test_an_identifier_of_an_unusual_type_is_an_attribute_too() -> None:
    slots = every_slot("id")
    batch = encode_arrow(pa.table({"id": pa.array([1], pa.duration("s"))}), Encoder(slots))
    assert told(batch, slots) == [[(slots.find(("id",), PRESENCE), 0, DIRTY)]]


def test_dictionaries_with_nulls_and_without_entries() -> None:
    with_null = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1], pa.int8()), pa.array([None, "a"]))
    without = pa.DictionaryArray.from_arrays(pa.array([None] * 4, pa.int8()), pa.array([], pa.string()))
    assert_means_the_same(pa.table({"a": with_null, "b": without}), every_slot("a", "b"))


def test_dictionaries_that_differ_between_parts() -> None:
    kind = pa.dictionary(pa.int8(), pa.string())
    parts = [pa.table({"a": pa.array(["x", "y"], kind)}), pa.table({"a": pa.array(["y", "z"], kind)})]
    assert_means_the_same(pa.concat_tables(parts), every_slot("a"))


def test_values_under_nulls_are_not_read() -> None:
    """Buffers may hold anything where a value is null."""
    nulls = pa.py_buffer(b"\x01")  # only the first of two is there
    floats = pa.Array.from_buffers(pa.float64(), 2, [nulls, pa.py_buffer(np.array([1.0, math.nan]))])
    times = pa.Array.from_buffers(pa.timestamp("s"), 2, [nulls, pa.py_buffer(np.array([1, 2**62]))])
    large = pa.Array.from_buffers(pa.int64(), 2, [nulls, pa.py_buffer(np.array([1, 2**53 + 1]))])
    offsets = pa.py_buffer(np.array([0, 1, 2], np.int32))
    strings = pa.Array.from_buffers(pa.string(), 2, [nulls, offsets, pa.py_buffer(b"a\xff")])
    lists = pa.Array.from_buffers(pa.list_(pa.int64()), 2, [nulls, offsets], children=[pa.array([1, 2**53 + 1])])
    table = pa.table([floats, times, large, strings, lists], names=[*"abcde"])
    batch = assert_means_the_same(table, every_slot(*"abcde"))
    assert not batch.problems


def test_hidden_fields_of_null_records_are_not_read() -> None:
    records = pa.StructArray.from_arrays([pa.array([1, 2])], names=["x"], mask=pa.array([False, True]))
    assert_means_the_same(pa.table({"a": records}), every_slot("a", "a.x"))


# (a column with one good and one bad cell, the slot type, the key of the good one, the reason)
OUTSIDE = "the time lies outside the years 1 to 9999 in UTC"
BROKEN = "its bytes are not UTF-8, so it is not Unicode text"
UTF8 = [pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"a\xc3\x28")]
BAD_CELLS: dict[str, tuple[pa.Array, SlotType, int | bytes, str]] = {
    "microseconds": (pa.array([0, 2**60], pa.timestamp("us")), TIMESTAMP, 0, OUTSIDE),
    "seconds": (pa.array([1, -(2**62)], pa.timestamp("s", "UTC")), TIMESTAMP, 1_000_000, OUTSIDE),
    "days": (pa.array([0, 2**30], pa.date32()), TIMESTAMP, 0, OUTSIDE),
    "bytes": (pa.Array.from_buffers(pa.string(), 2, [None, *UTF8]), STRING, b"a", BROKEN),
    "in a dictionary": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.Array.from_buffers(pa.string(), 2, [None, *UTF8])),
        STRING,
        b"a",
        BROKEN,
    ),
}


@pytest.mark.parametrize("name", BAD_CELLS)
def test_a_bad_cell_costs_its_own_attribute_only(name: str) -> None:
    column, kind, key, reason = BAD_CELLS[name]
    slots = Slots([(("a",), kind), (("a",), PRESENCE)])
    batch = encode_arrow(pa.table({"a": column}), Encoder(slots))
    assert told(batch, slots) == [[(0, key, 0), (1, 0, 0)], [(1, 0, DIRTY)]]
    assert batch.problems == (EventProblem(1, "a", reason),)


@pytest.mark.parametrize("name", BAD_CELLS)
def test_a_bad_element_makes_its_array_dirty(name: str) -> None:
    column, kind, key, reason = BAD_CELLS[name]
    slots = Slots([(("a",), kind), (("a",), PRESENCE)])
    lists = pa.ListArray.from_arrays(pa.array([0, 0, 2]), column)
    batch = encode_arrow(pa.table({"a": lists}), Encoder(slots))
    assert told(batch, slots) == [[(0, 0, ARRAY | EMPTY), (1, 0, ARRAY)], [(0, key, ARRAY | DIRTY), (1, 0, ARRAY)]]
    assert batch.problems == (EventProblem(1, "a", reason),)


TWINS = pa.StructArray.from_arrays([pa.array([1, 2]), pa.array([3, 1])], names=["x", "x"])
CORNERS = {
    **{name: column for name, (column, *_) in BAD_CELLS.items()},
    "an unknown zone": pa.array([1, None], pa.timestamp("s", "Mars/Olympus")),
    "two fields of one name": TWINS,
    "two fields of one name inside": pa.StructArray.from_arrays([TWINS, pa.array([1, None])], names=["x", "z"]),
    "a list of such": pa.ListArray.from_arrays(pa.array([0, 1, 2]), TWINS),
}


@pytest.mark.parametrize("name", CORNERS)
def test_what_cannot_be_read_means_the_same_in_columns_as_in_rows(name: str) -> None:
    """Also of what a path looks for inside of it."""
    slots = every_slot("a", "a.x", "a.x.y", "a.z")
    table = pa.table({"a": CORNERS[name]})
    by_columns, by_rows = encode_arrow(table, Encoder(slots)), encode_dicts(list(rows_of_arrow(table)), slots)
    assert told(by_columns, slots) == told(by_rows, slots)
    places = [{(problem.event, problem.attribute) for problem in each.problems} for each in (by_columns, by_rows)]
    assert places[0] == places[1]


def test_a_time_with_an_unknown_zone_is_a_moment_all_the_same() -> None:
    slots = Slots([(("a",), TIMESTAMP)])
    table = pa.table({"a": CORNERS["an unknown zone"]})
    assert told(encode_arrow(table, Encoder(slots)), slots) == [[(0, 1_000_000, 0)], []]


def test_a_bad_cell_of_an_unusual_type_costs_its_own_attribute_only() -> None:
    fields = [pa.array([1, 2]), pa.array([3, 4])]
    twice = pa.StructArray.from_arrays(fields, names=["x", "x"], mask=pa.array([True, False]))
    slots = every_slot("a.x", "b")
    batch = encode_arrow(pa.table({"a": twice, "b": [1, 2]}), Encoder(slots))
    assert [(problem.event, problem.attribute) for problem in batch.problems] == [(1, "a.x")]
    assert [len(row) for row in told(batch, slots)] == [2, 3]


def test_the_ends_of_time_are_read_whatever_the_zone() -> None:
    slots = Slots([(("a",), TIMESTAMP)])
    for moment in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)):
        key = key_of(moment)
        batch = encode_arrow(pa.table({"a": pa.array([key], pa.timestamp("us", "Europe/Athens"))}), Encoder(slots))
        assert told(batch, slots) == told(encode_dicts([{"a": moment}], slots), slots) == [[(0, key, 0)]]


def test_long_arrays_and_many_rows() -> None:
    """More than a block of rows, and elements of which most stand in an array more than once."""
    generator = np.random.default_rng(7)
    lengths = generator.integers(0, 60, 9_000)
    elements = generator.integers(0, 40, int(lengths.sum()))
    starts = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    numbers = pa.ListArray.from_arrays(starts, pa.array(elements))
    words = pa.ListArray.from_arrays(starts, pa.array(np.char.add("w", elements.astype(str))))
    slots = Slots([(("a",), NUMBER), (("b",), STRING)])
    batch = encode_arrow(pa.table({"a": numbers, "b": words}), Encoder(slots))
    expected_rows = [
        [*((0, number_key(float(x)), ARRAY) for x in distinct), *((1, b"w%d" % x, ARRAY) for x in distinct)]
        if distinct
        else [(0, 0, ARRAY | EMPTY), (1, 0, ARRAY | EMPTY)]
        for distinct in (list(dict.fromkeys(row)) for row in numbers.to_pylist())
    ]
    assert told(batch, slots) == expected_rows


def test_check_finds_faults() -> None:
    slots = every_slot("a")
    good = encode_dicts([{"a": "x"}, {"a": [1, 2]}], slots)
    good.check(slots)
    for name in ("slot", "key", "flags", "text"):
        changed = getattr(good, name).copy()
        changed[0] = 7
        with pytest.raises(AssertionError):
            replace(good, **{name: changed}).check(slots)
    with pytest.raises(AssertionError):
        replace(good, starts=good.starts[:-1]).check(slots)
