"""Keys, their hashes, the values that an event shows, and what a scheme cannot index."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest

from tidings.language.parser import parse
from tidings.model.event import Event
from tidings.model.normal_form import conjunctions
from tidings.model.predicates import Conjunction
from tidings.rendezvous.composite import AccessScheme
from tidings.rendezvous.matching_tree import build
from tidings.rendezvous.scheme import EVERYWHERE, Key, Scheme, attribute_name, key_hash, rarest, values_of

HASHES = {
    EVERYWHERE: 0xE21B084AE253EB1E,
    Key("prefix", "title", "abc"): 0x267C84A113943EAF,
    Key("value", "Ωmega.name", "string 😀"): 0x293EE18814A96983,
    Key("value", "half \ud800 pair", "boolean true"): 0xE0745FA91476AE56,
}


def conjunction(where: str) -> Conjunction:
    return conjunctions(parse(where))[0]


@pytest.mark.parametrize(("key", "expected"), HASHES.items())
def test_a_hash_is_the_same_for_ever(key: Key, expected: int) -> None:
    assert key_hash(key) == expected


def test_a_hash_is_the_same_in_another_process() -> None:
    program = "from tidings.rendezvous.scheme import Key, key_hash; print(key_hash(Key('prefix', 'title', 'abc')))"
    command = [sys.executable, "-c", program]
    for seed in ("1", "2"):
        path = ":".join(path for path in sys.path if path)
        said = subprocess.run(
            command, env={"PYTHONHASHSEED": seed, "PYTHONPATH": path}, capture_output=True, check=True
        )
        assert int(said.stdout) == HASHES[Key("prefix", "title", "abc")]


def test_a_hash_sees_where_a_part_ends() -> None:
    assert key_hash(Key("a", "bc", "")) != key_hash(Key("ab", "c", ""))


def test_a_key_can_be_read() -> None:
    assert str(Key("prefix", "title", "a b")) == "prefix title 'a b'"
    assert str(EVERYWHERE) == "everywhere"


def test_names_with_dots_are_not_paths() -> None:
    assert attribute_name(("a", "b")) == "a.b"
    assert attribute_name(("a.b",)) == r"a\.b"
    assert attribute_name(("a\\", "b")) != attribute_name(("a\\.b",))


def test_values_of_an_event() -> None:
    event = Event.of(
        {
            "x": 5,
            "none": None,
            "nan": float("nan"),
            "other": Decimal("NaN"),
            "array": [1, None, "a", [2]],
            "empty": [],
            "record": {"city": "Athens", "a.b": True},
            "items": [{"price": 1}, {"price": [2, 3]}, {}, [{"price": 4}], 7],
            "unreadable": 1j,
            "document": b"<a/>",
        }
    )
    assert values_of(event) == {
        "x": (5,),
        "array": (1, "a"),
        "record.city": ("Athens",),
        r"record.a\.b": (True,),
        "items": (7,),
        "items.price": (1, 2, 3, 4),
        "document": (b"<a/>",),
    }


def test_the_rarest_key_is_chosen_in_one_way() -> None:
    a, b, longer = Key("value", "x", "a"), Key("value", "x", "b"), Key("value", "x", "bb")
    assert rarest([a, b], {a: 3, b: 2}) == b
    assert rarest([a, b], {a: 1}) == b
    assert rarest([b, a], {}) == a
    assert rarest([a, longer], {}) == longer


UNINDEXED = [
    "NOT symbol = 'IBM'",
    "symbol IS NULL",
    "symbol IS NOT NULL",
    "NOT list.n = 5",
    "NOT (a = 1 OR b LIKE 'x%')",
]


@pytest.mark.parametrize("where", UNINDEXED)
@pytest.mark.parametrize("scheme", [AccessScheme(), build([conjunction("a = 1"), conjunction("b = 1")], 1)])
def test_what_cannot_be_indexed_is_everywhere(scheme: Scheme, where: str) -> None:
    assert scheme.subscription_keys(conjunction(where)) == {EVERYWHERE}
    assert EVERYWHERE in scheme.event_keys(Event.of({}))


def test_verification_is_the_definition() -> None:
    scheme = AccessScheme()
    assert scheme.verify(conjunction("a = 1 AND NOT b = 2"), Event.of({"a": 1, "b": 3}))
    assert not scheme.verify(conjunction("a = 1 AND NOT b = 2"), Event.of({"a": 1}))
