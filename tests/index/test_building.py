"""Building a segment: every invariant of its layout holds, and placing many at a time places as placing one by one."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.test_index import crowd
from strategies import expressions, numbers
from tidings import parse
from tidings.index import entries, layout, recipes
from tidings.index.assembling import SMALLEST_GROUP, assembled
from tidings.index.grams import rarest
from tidings.index.invariants import check_segment
from tidings.index.layout import Array, Segment
from tidings.index.literals import key_of, keys_of
from tidings.index.placing import Placing
from tidings.index.recipes import Recipes
from tidings.index.slots import Slots
from tidings.language import builder, parser
from tidings.language.parser import Asked, Unbound, read
from tidings.model.predicates import And, Comparison, Expression
from tidings.model.values import AttributeType, Literal
from tidings.planning.long_numbers import is_long
from tidings.planning.statistics import EventStatistics

Built = tuple[Segment, Array, list[Any]]  # the segment, which of the added its subscriptions are, and its slots
_LISTS = (
    *(layout.KEY_LIST, layout.HAS_ALL_KEYS, layout.HAS_ANY_KEYS),
    *(layout.LONG_INTERVALS, layout.HAS_ALL_LONG, layout.HAS_ANY_LONG),
)
_TEXT_LISTS = (layout.TEXT_LIST, layout.HAS_ALL_TEXTS, layout.HAS_ANY_TEXTS)


def built(wheres: Sequence[Asked]) -> Built:
    """The segment of the subscriptions, checked."""
    slots = Slots()
    placing = Placing(slots, EventStatistics())
    for where in wheres:
        placing.add(where)
    segment, added = assembled(placing)
    check_segment(segment, len(slots))
    assert added.dtype == np.int32
    assert np.array_equal(np.sort(added), np.arange(len(wheres)))
    return segment, added, list(slots)


def built_one_by_one(wheres: Sequence[Expression]) -> Built:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recipes, "take", lambda *_: False)
        return built(wheres)


def described(made: Built) -> list[str]:
    """Its entries in words, in which numbers of slots, strings, checks and subscriptions do not occur."""
    segment, added, slots = made
    tables = np.searchsorted(
        segment.bucket_entries[segment.table_buckets], np.arange(len(segment.entry_member)), "right"
    )
    buckets = np.searchsorted(segment.bucket_entries, np.arange(len(segment.entry_member)), "right") - 1
    places = layout.hash_columns(segment.hash_places)
    keys = dict(zip(places.bucket.tolist(), places.key.tolist(), strict=True))
    texts = dict(zip(places.bucket.tolist(), places.text.tolist(), strict=True))
    leads = np.searchsorted(segment.slot_tables, np.arange(len(segment.table_kind)), "right") - 1
    found = []
    for entry, (table, bucket) in enumerate(zip((tables - 1).tolist(), buckets.tolist(), strict=True)):
        kind, checks = int(segment.table_kind[table]), segment.entry_checks[entry : entry + 2]
        place = (
            int(added[segment.entry_member[entry]]),
            kind,
            slots[leads[table]] if kind != layout.SCAN else None,
            slots[segment.table_second[table]] if segment.table_second[table] >= 0 else None,
            int(segment.table_sliced[table]),
            keys.get(bucket),
            text_of(segment, texts.get(bucket, -1)),
            (int(segment.entry_low[entry]), int(segment.entry_high[entry])),
            text_of(segment, segment.entry_text[entry]),
            sorted(check_of(segment, check, slots) for check in segment.entry_check[checks[0] : checks[1]]),
        )
        found.append(repr(place))
    return sorted(found)


def text_of(segment: Segment, number: Any) -> bytes | None:
    start = segment.text_start
    return segment.text_data[start[number] : start[number + 1]].tobytes() if number >= 0 else None


def check_of(segment: Segment, check: int, slots: list[Any]) -> str:
    columns = layout.check_columns(segment.check_rows)
    operation, flags, slot, a, b = (int(column[check]) for column in columns)
    asked: Any = (a, b)
    if operation in _LISTS:
        asked = segment.lists[a:b].tolist()
    elif operation in _TEXT_LISTS:
        asked = sorted(str(text_of(segment, number)) for number in segment.lists[a:b])
    elif operation == layout.TEXT_INTERVAL:
        asked = text_of(segment, a), text_of(segment, b)
    elif layout.TEXT_EQUAL <= operation <= layout.TEXT_LIKE or operation == layout.OPAQUE:
        asked = text_of(segment, a)
    return repr((operation, flags, slots[slot] if slot >= 0 else None, asked))


# What is built is whole, and the same in both ways


@given(st.lists(expressions(max_leaves=5), max_size=6))
def test_segments_of_random_subscriptions(wheres: list[Expression]) -> None:
    """Three times each: a recipe is made for what comes again."""
    assert described(built(wheres * 3)) == described(built_one_by_one(wheres * 3))


@pytest.mark.parametrize("seed", range(3))
def test_segments_of_crowds(seed: int) -> None:
    wheres = [parse(where) for where in crowd(2500, seed)]
    assert described(built(wheres)) == described(built_one_by_one(wheres))


ODD = ("12345678901234567", "9007199254740993", "0.12345678901234567", "1.5e-308", "1e300", "-0", "-0.0", "-7.25")
TIMES = ("DATE '2026-01-31'", "TIMESTAMP '2026-01-31 10:00:00.123456+02:00'", "DATE '0001-01-01'")


def comparisons(count: int, seed: int) -> list[Expression]:
    return [parse(where) for where in written_comparisons(count, seed)]


def written_comparisons(count: int, seed: int) -> list[str]:
    """Conjunctions of one to four comparisons, of few attributes and all types, long numbers and empty intervals."""
    chance = random.Random(seed)

    def literal() -> str:
        plain = (str(chance.randrange(9)), f"{chance.uniform(-9, 9):.2f}", "'a'", "'it''s'", "'é'", "TRUE", "FALSE")
        return chance.choice((*plain, *plain, *ODD, *TIMES))

    def comparison() -> str:
        name = chance.choice("abcde")
        if chance.random() < 0.2:
            ends = [("1", "5.5"), ("5.5", "1"), ("2", "2"), ("1", ODD[0]), TIMES[:2], ("'a'", "'b'"), ("'b'", "'a'")]
            low, high = chance.choice(ends)
            return f"{name} BETWEEN {low} AND {high}"
        return f"{name} {chance.choice(('=', '=', '<', '<=', '>', '>=', '<>'))} {literal()}"

    return [" AND ".join(comparison() for _ in range(chance.choice((1, 2, 2, 3, 4)))) for _ in range(count)]


@pytest.mark.parametrize("seed", range(3))
def test_comparisons_are_placed_together_as_they_are_one_by_one(seed: int) -> None:
    wheres = comparisons(4000, seed)
    assert described(built(wheres)) == described(built_one_by_one(wheres))


@pytest.mark.parametrize("seed", range(3))
def test_comparisons_are_placed_as_they_are_written_as_their_expressions_are(seed: int) -> None:
    texts = written_comparisons(2000, seed)
    parser._templates.clear()  # so that there is room for all that come now
    one_by_one = built_one_by_one([parse(where) for where in (*texts, *texts)][:2000])
    asked = [read(where) for where in texts]
    assert sum(type(each) is Unbound for each in asked) > 500
    assert described(built(asked)) == described(one_by_one)


def test_what_waits_is_placed_in_many_rounds_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    wheres = comparisons(1500, 7)
    in_one = described(built(wheres))
    for name in ("WAITING", "SIGNATURES"):
        monkeypatch.setattr(recipes, name, 11)
    monkeypatch.setattr(entries, "GATHERED", 5)
    assert described(built(wheres)) == in_one


def test_a_recipe_is_made_for_what_comes_again() -> None:
    placing = Placing(Slots(), EventStatistics())
    taken = [placing._recipes.take(number, And((one, other)).parts) for number, (one, other) in enumerate(_pairs(3))]
    assert taken == [False, True, True]


def _pairs(count: int) -> list[tuple[Comparison, Comparison]]:
    wheres = [parse(f"symbol = 'S{number}' AND low <= {number}.5") for number in range(count)]
    return [where.parts for where in wheres if isinstance(where, And)]  # type: ignore[misc]  # two comparisons each


# Numbers of subscriptions


def test_subscriptions_are_numbered_by_their_first_entry() -> None:
    """Under a symbol by bound: what is found together has consecutive numbers, whenever it was added."""
    bounds = [5, 3, 9, 1]
    wheres = [f"symbol = '{symbol}' AND low <= {bound}" for bound in bounds for symbol in ("b", "a")]
    others = [f"symbol = 'c' AND low <= {number}" for number in range(SMALLEST_GROUP)]
    segment, added, _ = built([parse(where) for where in ["low > 5 AND low IS NULL", *wheres, *others]])
    assert segment.table_sliced.tolist() == [1]
    assert np.array_equal(segment.entry_member, np.arange(len(wheres) + len(others)))
    ordered = sorted(range(len(wheres)), key=lambda at: (wheres[at][10], bounds[at // 2]))
    by_symbol = {symbol: [at + 1 for at in ordered if wheres[at][10] == symbol] for symbol in ("a", "b")}
    buckets = [
        added[start:end].tolist()
        for start, end in zip(segment.bucket_entries, segment.bucket_entries[1:], strict=False)
    ]
    assert by_symbol["a"] in buckets
    assert by_symbol["b"] in buckets
    assert added[-1] == 0, "what never matches comes last"


def test_a_subscription_in_several_places_has_the_number_of_the_first() -> None:
    segment, added, _ = built([parse("a = 1"), parse("a = 2 OR b = 3"), parse("b IN (4, 5)"), parse("FALSE")])
    assert segment.member_shared.tolist() == [int(number in (1, 2)) for number in added]
    assert added[-1] == 3


def test_nothing_at_all_is_a_segment_too() -> None:
    assert len(built([])[1]) == 0
    assert len(built([parse("FALSE")])[0].entry_member) == 0
    assert len(built([parse("TRUE")])[0].scans) == 1


# Keys and grams


@given(st.lists(numbers(), min_size=1))
def test_keys_of_many_numbers_are_those_of_each(literals: list[Literal]) -> None:
    keys, long = keys_of(AttributeType.NUMBER, [literal.value for literal in literals])
    assert keys.tolist() == [key_of(literal) for literal in literals]
    assert long.tolist() == [is_long(literal) for literal in literals]


def test_a_substring_is_found_by_its_rarest_gram() -> None:
    strings = [b"abcdefgh", b"abcdefgx", b"abcdef", b"xy", b"e"]
    starts = np.cumsum([0, *map(len, strings)])
    keys, places = rarest(np.array([0, 1, 2, 3, 4, 0]), starts, np.frombuffer(b"".join(strings), np.uint8))
    grams = [(int(key) & 0xFFFFFFFF).to_bytes(4, "little")[: int(key) >> 32] for key in keys]
    assert grams == [b"efgh", b"efgx", b"abcd", b"xy", b"e", b"efgh"]  # "cdef" is as rare as "abcd", and comes later
    assert places.tolist() == [4, 4, 0, 0, 0, 4]


def test_equalities_with_strings_are_made_once_while_they_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "REMEMBERED", 10)
    monkeypatch.setattr(builder, "_equalities", {})
    assert parse("s = 'x'") is parse("s = 'x'")
    assert parse("s = 'x'") is not parse("t = 'x'")
    assert parse('s = "x"') == parse("s = 'x'")
    for number in range(50):
        where = parse(f"s = '{number}'")
        assert isinstance(where, Comparison)
        assert where.literal.value == str(number)
        assert len(builder._equalities) <= 10
    parse(f"s = '{'x' * builder.LONGEST_REMEMBERED}'")
    assert all(len(written) <= builder.LONGEST_REMEMBERED for _, written in builder._equalities)


# What `check_segment` finds


def _swapped(array: Array) -> Array:
    made = array.copy()
    made[[0, 1]] = made[[1, 0]]
    return made


def _in_hash(change: Callable[[layout.HashColumns], layout.HashColumns]) -> Callable[[Array], Array]:
    return lambda array: layout.hash_places(change(layout.hash_columns(array)))


def _in_checks(change: Callable[[layout.CheckColumns], layout.CheckColumns]) -> Callable[[Array], Array]:
    return lambda array: layout.check_rows(change(layout.check_columns(array)))


FAULTS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "entry_low cannot be written": ("entry_low", np.copy),
    "entry_member is int32": ("entry_member", lambda array: array.astype(np.int64)),
    "entry_high is one aligned piece": ("entry_high", lambda array: np.repeat(array, 2)[::2]),
    "entry_checks never goes back": ("entry_checks", lambda array: array[[0, 2, 1, *range(3, len(array))]]),
    "bucket_entries goes from 0": ("bucket_entries", lambda array: array + 1),
    "no part of bucket_entries is empty": ("bucket_entries", lambda array: array[[0, 0, *range(2, len(array))]]),
    "entry_reach is that of entry_high": ("entry_reach", lambda array: array - 1),
    "a table is sliced or not": ("table_sliced", lambda array: array + np.uint8(2)),
    "has each of its buckets once": (
        "hash_places",
        _in_hash(lambda all: all._replace(bucket=all.bucket - (all.bucket == all.bucket.max()))),
    ),
    "have the entries of their buckets": (
        "hash_places",
        _in_hash(lambda all: all._replace(end=all.end + (all.end > 0))),
    ),
    "is free on no way to a bucket": ("hash_places", _in_hash(lambda all: all._replace(key=all.key[::-1]))),
    "passes the filter": ("filters", np.zeros_like),
    "lengths of table": ("lengths", lambda array: array + np.int32(1)),
    "are ordered by their bound": ("entry_high", lambda array: array[::-1].copy()),
    "of sliced table 1 are consecutive": ("entry_member", lambda array: array.max() - array),
    "sliced table 1 has each subscription alone": ("member_shared", np.ones_like),
    "subscriptions are numbered by their first entry": ("entry_member", _swapped),
    "shared are the subscriptions that have several": ("member_shared", np.zeros_like),
    "the texts of opaque checks are there": (
        "check_rows",
        _in_checks(lambda all: all._replace(a=np.where(all.operation == layout.OPAQUE, 10**6, all.a))),
    ),
    "checks are of slots": ("check_rows", _in_checks(lambda all: all._replace(slot=all.slot + 100))),
    "the checks of entries are there": ("entry_check", lambda array: array + np.int32(100_000)),
    "each check is kept once": ("check_rows", _in_checks(lambda all: all._replace(a=np.zeros_like(all.a)))),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_segment_with_a_fault_is_found_out(what: str) -> None:
    wheres = [f"low <= {number}" for number in range(90, 0, -1)] + [f"low <= 5 AND name <> '{n}'" for n in range(9)]
    wheres += ["title LIKE '%abcde%'", "title LIKE '%xyz%'", "title LIKE 'ab%'", "n IN (1, 2)", "n = 7", "t RLIKE 'x'"]
    segment, _, slots = built([parse(where) for where in wheres])
    name, change = FAULTS[what]
    changed = change(getattr(segment, name))
    if "written" not in what:
        changed.flags.writeable = False
    faulty = segment._replace(**{name: changed})
    if name == "entry_high" and "reach" not in what:
        faulty = faulty._replace(entry_reach=_frozen(layout.reach(changed)))
    with pytest.raises(AssertionError, match=what):
        check_segment(faulty, len(slots))


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array
