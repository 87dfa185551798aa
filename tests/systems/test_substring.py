"""Substring matching on peers: the four algorithms give the matches of the definition, at the promised cost."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log, log2
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.errors import IdentifierError, SettingError, UnsupportedError
from tidings.overlay.chord import Chord
from tidings.overlay.network import Network
from tidings.overlay.pastry import Pastry
from tidings.overlay.spaces import IdentifierSpace
from tidings.reference import holds
from tidings.systems.substring import SubstringSystem, complete_ind, complete_ps, ngrams_ind, ngrams_ps
from tidings.systems.substring_keys import SubstringSettings
from tidings.systems.substring_trees import TreedTexts

RING = IdentifierSpace(2, 12)
DIGITS = IdentifierSpace(4, 6)


def quiet(seed: int = 0) -> Network:
    return Network(seed=seed, keep_trace=False)


def on_chord(make: Callable[..., SubstringSystem]) -> Callable[..., SubstringSystem]:
    return lambda peers=10, **options: make(
        Chord.settled(RING.spread(peers), RING, quiet()), SubstringSettings(**options)
    )


def on_pastry(make: Callable[..., SubstringSystem]) -> Callable[..., SubstringSystem]:
    return lambda peers=10, space=DIGITS, **options: make(
        Pastry.settled(space.spread(peers), space, quiet()), SubstringSettings(**options)
    )


SYSTEMS: dict[str, Callable[..., SubstringSystem]] = {
    "complete-IND on Chord": on_chord(complete_ind),
    "complete-IND on Pastry": on_pastry(complete_ind),
    "n-grams-IND on Chord": on_chord(ngrams_ind),
    "n-grams-IND on Pastry": on_pastry(ngrams_ind),
    "complete-PS": on_pastry(complete_ps),
    "n-grams-PS": on_pastry(ngrams_ps),
}
every_system = pytest.mark.parametrize("make", SYSTEMS.values(), ids=SYSTEMS.keys())


def texts(most: int) -> st.SearchStrategy[str]:
    return st.text("abß", min_size=1, max_size=most)


def one_predicate(attribute: str) -> st.SearchStrategy[str]:
    shapes = st.sampled_from(
        ("{} LIKE '%{}%'", "{} LIKE '%{}%'", "{} LIKE '{}%'", "{} LIKE '%{}'", "{} = '{}'", "{} LIKE '%{}_%'")
    )
    return st.builds(lambda shape, text: shape.format(attribute, text), shapes, texts(5))


def subscriptions() -> st.SearchStrategy[str]:
    part = one_predicate("s") | one_predicate("t")
    rest = st.sampled_from(
        ("NOT s LIKE '%ab%'", "n > 3", "s IN ('ab', 'ba', 'aba')", "s ILIKE '%AB%'", "t LIKE '%'", "s <> 'aa'")
    )
    conjunction = st.builds(lambda first, more: " AND ".join((first, *more)), part, st.lists(part | rest, max_size=2))
    return st.lists(conjunction, min_size=1, max_size=2).map(lambda parts: " OR ".join(f"({each})" for each in parts))


def events() -> st.SearchStrategy[dict[str, Any]]:
    string = st.text("abß", max_size=7)
    return st.fixed_dictionaries(
        {"s": string | st.lists(string, max_size=3)}, optional={"t": string, "n": st.integers(0, 9)}
    )


def subscribed(system: SubstringSystem, wheres: list[str]) -> SubstringSystem:
    for number, where in enumerate(wheres):
        system.subscribe(number, where, system.peers[number % len(system.peers)])
    return system


@every_system
@settings(max_examples=25)
@given(
    st.lists(subscriptions(), min_size=1, max_size=8),
    st.lists(events(), min_size=1, max_size=4),
    st.sampled_from(({}, {"gram": 3}, {"longest": 3}, {"gram": 1}, {"replicas": 3})),
)
def test_matches_are_those_of_the_definition(
    make: Callable[..., SubstringSystem], wheres: list[str], sent: list[dict[str, Any]], options: dict[str, int]
) -> None:
    system = subscribed(make(**options), wheres)
    system.check()
    for number, event in enumerate(sent):
        published = system.publish(event, system.peers[number % len(system.peers)])
        assert published.matches == {number for number, where in enumerate(wheres) if holds(where, event)}
    for number in range(0, len(wheres), 2):
        system.unsubscribe(number)
    system.check()
    for event in sent:
        expected = {number for number, where in enumerate(wheres) if number % 2 and holds(where, event)}
        assert system.publish(event, system.peers[0]).matches == expected
    for number in range(1, len(wheres), 2):
        system.unsubscribe(number)
    assert not any(system.stored().values())


@every_system
def test_the_same_grams_in_another_order_are_no_match(make: Callable[..., SubstringSystem]) -> None:
    system = subscribed(make(gram=2), ["s LIKE '%aba%'"])
    assert system.publish({"s": "bab"}, system.peers[0]).matches == set()
    assert system.publish({"s": "baba"}, system.peers[0]).matches == {0}


@pytest.mark.parametrize("make", [SYSTEMS["n-grams-IND on Chord"], SYSTEMS["n-grams-PS"]])
def test_an_identifier_comes_once_for_every_gram(make: Callable[..., SubstringSystem]) -> None:
    system = subscribed(make(gram=2), ["s LIKE '%abca%'"])
    published = system.publish({"s": "xabcay"}, system.peers[0])
    assert published.matches == {0}
    assert published.collected == 3
    assert system.publish({"s": "xabxbcxca"}, system.peers[0]).collected == 3  # all grams, and no match


@pytest.mark.parametrize("make", [SYSTEMS["complete-IND on Chord"], SYSTEMS["complete-PS"]])
def test_a_complete_one_comes_once(make: Callable[..., SubstringSystem]) -> None:
    system = subscribed(make(), ["s LIKE '%ab%'"])
    assert system.publish({"s": "abxabyab"}, system.peers[0]).collected == 1


@every_system
def test_pieces_shorter_than_a_gram(make: Callable[..., SubstringSystem]) -> None:
    system = make(gram=3, shortest=1)
    subscribed(system, ["s LIKE '%a%'", "s LIKE '%ab%'", "s LIKE '%abc%'"])
    assert system.publish({"s": "za"}, system.peers[0]).matches == {0}
    assert system.publish({"s": "zab"}, system.peers[0]).matches == {0, 1}
    strict = make(gram=3, shortest=3)
    with pytest.raises(UnsupportedError, match="it needs LIKE, = or IN with a text of at least 3 characters"):
        strict.subscribe(1, "s LIKE '%ab%'", strict.peers[0])
    strict.subscribe(1, "s LIKE '%ab%' AND s LIKE '%xyz%'", strict.peers[0])
    assert strict.publish({"s": "wxyzab"}, strict.peers[0]).matches == {1}
    assert strict.publish({"s": "wxyz"}, strict.peers[0]).matches == set()


@every_system
def test_what_cannot_be_done_is_refused_in_words(make: Callable[..., SubstringSystem]) -> None:
    system = subscribed(make(), ["s LIKE '%ab%'"])
    with pytest.raises(IdentifierError, match="there is a subscription 0 already"):
        system.subscribe(0, "s = 'x'", system.peers[0])
    with pytest.raises(IdentifierError, match="there is no subscription 7 to unsubscribe"):
        system.unsubscribe(7)
    with pytest.raises(IdentifierError, match="node 1234 is not up"):
        system.publish({"s": "x"}, 1234)
    for where in ("n > 5", "s LIKE '%'", "s = ''", "s ILIKE '%ab%'", "NOT s = 'ab'"):
        with pytest.raises(UnsupportedError, match="nothing says which text a value contains"):
            system.subscribe(1, where, system.peers[0])


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(SettingError, match="1 <= shortest <= gram <= longest is needed"):
        SubstringSettings(gram=3, longest=2)
    with pytest.raises(SettingError, match="9 replicas need peers that know as many neighbours on a side"):
        on_chord(complete_ind)(replicas=9)


# Costs: the bounds of Table 1, with the constants that go with them.


def route_bound(system: SubstringSystem) -> int:
    """log N to the overlay's base, and one more: no route through these settled networks is longer."""
    return ceil(log(len(system.peers), system.texts.overlay.space.base)) + 1


def publishing_cost(system: SubstringSystem, value: str) -> int:
    return system.publish({"s": value}, system.peers[3]).cost.total_messages


VALUES = st.text("abc", min_size=2, max_size=8)
BASES = st.sampled_from((IdentifierSpace(2, 12), DIGITS, IdentifierSpace(16, 4)))


@settings(max_examples=30)
@given(st.sampled_from(("complete-IND on Chord", "complete-IND on Pastry")), st.integers(5, 60), VALUES)
def test_complete_ind_costs_a_route_for_every_substring(name: str, peers: int, value: str) -> None:
    system = SYSTEMS[name](peers=peers)
    cost = system.subscribe(1, f"s LIKE '%{value}%'", system.peers[0])
    assert cost.total_messages <= route_bound(system)
    length = len(value)
    assert publishing_cost(system, value) <= length * (length + 1) // 2 * (route_bound(system) + 1)


@settings(max_examples=30)
@given(st.sampled_from(("n-grams-IND on Chord", "n-grams-IND on Pastry")), st.integers(5, 60), VALUES)
def test_ngrams_ind_costs_a_route_for_every_gram(name: str, peers: int, value: str) -> None:
    system = SYSTEMS[name](peers=peers, gram=2, shortest=2)
    grams = len(value) - 1
    cost = system.subscribe(1, f"s LIKE '%{value}%'", system.peers[0])
    assert cost.total_messages <= grams * route_bound(system)
    assert publishing_cost(system, value) <= grams * (route_bound(system) + 1)


@settings(max_examples=30)
@given(st.integers(5, 60), BASES, VALUES)
def test_complete_ps_costs_one_route_and_a_step_for_every_character_of_every_suffix(
    peers: int, space: IdentifierSpace, value: str
) -> None:
    system = SYSTEMS["complete-PS"](peers=peers, space=space)
    system.subscribe(1, f"s LIKE '%{value}%'", system.peers[0])
    cost = system.subscribe(2, f"s LIKE '%{value}%'", system.peers[0])  # all Tnodes are there by now
    length = len(value)
    assert cost.total_messages <= route_bound(system) + length
    walked = length * (length + 1) // 2
    assert publishing_cost(system, value) <= route_bound(system) + walked + length + 1


@settings(max_examples=30)
@given(st.integers(5, 60), BASES, VALUES, st.integers(1, 3))
def test_ngrams_ps_costs_one_route_and_n_steps_for_every_gram(
    peers: int, space: IdentifierSpace, value: str, gram: int
) -> None:
    system = SYSTEMS["n-grams-PS"](peers=peers, space=space, gram=gram)
    system.subscribe(1, f"s LIKE '%{value}%'", system.peers[0])
    cost = system.subscribe(2, f"s LIKE '%{value}%'", system.peers[0])
    grams = max(1, len(value) - gram + 1)
    assert cost.total_messages <= route_bound(system) + grams * (gram + 1)
    assert publishing_cost(system, value) <= route_bound(system) + len(value) * (gram + 1) + 1


@every_system
def test_messages_grow_with_the_logarithm_of_the_number_of_peers(make: Callable[..., SubstringSystem]) -> None:
    few, many = make(peers=16), make(peers=256)
    costs = [publishing_cost(subscribed(system, ["s LIKE '%ab%'"]), "abcab") for system in (few, many)]
    assert costs[1] <= costs[0] * 2 * log2(256) / log2(16)


def test_the_table_of_roots_saves_the_routes() -> None:
    system = SYSTEMS["complete-PS"](peers=200)
    subscribed(system, ["s LIKE '%ab%'", "s LIKE '%cd%'"])
    published = system.publish({"s": "abcdefgh"}, system.peers[7])
    assert published.cost.messages.get("route", 0) <= ceil(log2(200))
    assert 0 < published.cost.messages["jump"] <= 7
    assert isinstance(system.texts, TreedTexts)
    system.texts.forest.root_tables.clear()
    without = system.publish({"s": "abcdefgh"}, system.peers[7])
    assert without.matches == published.matches
    assert without.cost.messages["route"] > published.cost.messages.get("route", 0) + published.cost.messages["jump"]


@every_system
def test_bytes_and_identifiers_are_counted(make: Callable[..., SubstringSystem]) -> None:
    system = subscribed(make(), ["s LIKE '%ab%'"] * 1)
    peer = next(peer for peer in system.peers if not system.stored()[peer])
    found = system.publish({"s": "ab"}, peer)
    missed = system.publish({"s": "xb"}, peer)
    assert found.cost.identifiers > missed.cost.identifiers == 0
    assert found.cost.hops >= 2
    assert found.cost.total_bytes > 24 * found.cost.total_messages
