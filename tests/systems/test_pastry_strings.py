"""PastryStrings finds what the reference finds, for every option, and for no more messages than the paper allows."""

from __future__ import annotations

from math import log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from systems.forests import odd_events, odd_subscriptions, plain_events, plain_subscriptions, system
from tidings.errors import IdentifierError, SettingError, UnsupportedError
from tidings.overlay.spaces import IdentifierSpace
from tidings.reference import holds
from tidings.systems.interface import Cost
from tidings.systems.pastry_strings import PastryStrings

OPTIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "three forests": {"replicas": 3},
    "full Tnodes": {"fullest": 1},
    "full Tnodes in two forests": {"replicas": 2, "fullest": 2},
    "relocated": {"relocate": True, "depth": 5},
    "whole paths": {"whole_paths": True},
    "one row of the tables": {"levels": 1},
    "a lossy network": {"loss": 0.2, "replicas": 2},
}


def expected(subscriptions: list[str], event: dict[str, Any]) -> set[int]:
    return {number for number, where in enumerate(subscriptions) if holds(where, event)}


def filled(subscriptions: list[str], **options: Any) -> PastryStrings:
    made = system(**options)
    for number, where in enumerate(subscriptions):
        made.subscribe(number, where, made.peers[number % len(made.peers)])
    made.check()
    return made


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=12)
@given(
    st.lists(plain_subscriptions(), min_size=1, max_size=8), st.lists(plain_events(), min_size=1, max_size=5),
    st.integers(0, 3),
)  # fmt: skip
def test_matches_are_the_reference_s(
    options: dict[str, Any], subscriptions: list[str], events: list[dict[str, Any]], seed: int
) -> None:
    made = filled(subscriptions, seed=seed, **options)
    for number, event in enumerate(events):
        published = made.publish(event, made.peers[-number])
        assert published.matches == expected(subscriptions, event), event
    assert made.rejected == 0  # labels alone decide, as in the paper


@pytest.mark.parametrize("options", [{}, {"replicas": 2, "fullest": 1}, {"relocate": True, "depth": 5}], ids=str)
@settings(max_examples=25)
@given(st.lists(odd_subscriptions(), min_size=1, max_size=5), st.lists(odd_events(), min_size=1, max_size=6))
def test_matches_are_the_reference_s_beyond_the_paper(
    options: dict[str, Any], subscriptions: list[str], events: list[dict[str, Any]]
) -> None:
    made = filled(subscriptions, **options)
    for event in events:
        assert made.publish(event, made.peers[0]).matches == expected(subscriptions, event), event


@settings(max_examples=25)
@given(st.lists(plain_subscriptions(), min_size=2, max_size=6), plain_events(), st.sampled_from((1, 2)))
def test_what_was_unsubscribed_is_found_no_more(subscriptions: list[str], event: dict[str, Any], replicas: int) -> None:
    made = filled(subscriptions, replicas=replicas, fullest=1)
    for number in range(0, len(subscriptions), 2):
        made.unsubscribe(number)
    made.check()
    left = {number for number in expected(subscriptions, event) if number % 2}
    assert made.publish(event, made.peers[0]).matches == left
    for number in range(1, len(subscriptions), 2):
        made.unsubscribe(number)
    assert set(made.stored().values()) == {0}


# Messages.


@settings(max_examples=30)
@given(
    st.sampled_from((2, 4, 15)), st.integers(2, 60), st.text("01", min_size=1, max_size=5), st.integers(0, 3),
    st.sampled_from(("s = '{}'", "s LIKE '{}%'", "s LIKE '%{}'")),
)  # fmt: skip
def test_a_string_costs_one_route_and_a_message_for_each_character(
    base: int, peers: int, text: str, seed: int, form: str
) -> None:
    """Paper 1, 4.3, with the constant of Pastry's bound: one digit a hop, and the last hops by leaf sets."""
    space = IdentifierSpace(base=base, length=6 if base > 2 else 12)
    made = system(peers=peers, seed=seed, space=space, depth=5)
    made.subscribe("first", form.format(text), made.peers[0])  # makes the trees
    cost = made.subscribe("second", form.format(text), made.peers[-1])
    assert cost.messages.keys() <= {"route", "walk"}
    assert cost.messages.get("route", 0) <= log(peers, base) + 3
    assert cost.messages.get("walk", 0) <= len(text) - 1
    assert cost.hops == cost.total_messages


@settings(max_examples=30)
@given(st.integers(0, 100), st.integers(0, 99), st.sampled_from((2, 4, 15)))
def test_a_range_costs_its_sub_ranges_times_a_string(low: int, size: int, base: int) -> None:
    space = IdentifierSpace(base=base, length=6 if base > 2 else 12)
    made = system(peers=20, space=space, depth=8 if base == 2 else 4)
    made.subscribe("first", f"n BETWEEN {low} AND {low + size}", made.peers[0])
    cost = made.subscribe("second", f"n BETWEEN {low} AND {low + size}", made.peers[-1])
    sub_ranges = 2 * (base - 1) * (log(size + 1, base) + 1)
    assert cost.total_messages <= sub_ranges * (log(20, base) + 3 + made.settings.depth - 1)


def test_an_event_costs_a_walk_and_an_answer_for_each_number_and_two_for_each_string() -> None:
    made = filled(["s = '0123'", "n = 27", "s LIKE '%3210'"], peers=30)
    cost = made.publish({"s": "0123", "n": 27}, made.peers[5]).cost
    assert cost.messages["walk"] <= 3 * (made.settings.depth - 1)
    assert cost.messages["answer"] <= 3
    assert cost.identifiers >= 2
    assert cost.hops <= cost.total_messages


def test_every_forest_costs_the_same_again_to_store_and_nothing_to_ask() -> None:
    one, three = filled(["n = 27"], replicas=1), filled(["n = 27"], replicas=3)
    assert sum(three.stored().values()) == 3 * sum(one.stored().values())
    event = {"n": 27}
    assert (
        three.publish(event, three.peers[0]).cost.identifiers <= one.publish(event, one.peers[0]).cost.identifiers + 4
    )


def test_relocated_attributes_do_not_share_labels() -> None:
    plain, moved = filled(["n = 3 AND m = 3"]), filled(["n = 3 AND m = 3"], relocate=True, depth=5)
    labels = [[tnode.name.label for _, tnode in made.forest.tnodes() if len(tnode.lists)] for made in (plain, moved)]
    assert [len(each) for each in labels] == [1, 2]


def test_the_same_seed_gives_the_same_trace() -> None:
    traces = []
    for _ in range(2):
        made = filled(["s LIKE '01%'", "n > 5", "n <> 7"], seed=5, loss=0.3, replicas=2, fullest=1)
        made.publish({"s": "012", "n": 9}, made.peers[3])
        traces.append(made.overlay.network.trace)
    assert traces[0] == traces[1]


# What is refused.


def test_what_no_tree_has_a_place_for_is_refused() -> None:
    made = system()
    with pytest.raises(UnsupportedError, match="no string tree has a place"):
        made.subscribe(1, "s RLIKE 'a'", made.peers[0])
    with pytest.raises(UnsupportedError, match="no string tree has a place"):
        made.subscribe(1, "n = 5 OR NOT n = 7", made.peers[0])
    assert made.subscribe(1, "n = 5 AND s RLIKE 'a'", made.peers[0]).messages
    with pytest.raises(IdentifierError, match="there is a subscription 1 already"):
        made.subscribe(1, "n = 5", made.peers[0])
    with pytest.raises(IdentifierError, match="no subscription 2"):
        made.unsubscribe(2)


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(SettingError, match="4 replica forests need as many peers"):
        system(peers=3, replicas=4)
    with pytest.raises(SettingError, match="at least 1"):
        system(replicas=0)
    with pytest.raises(SettingError, match="the domain of n has 201 places"):
        filled(["n = 5"], depth=2)
    made = system(peers=2, replicas=2)
    with pytest.raises(SettingError, match="cannot leave"):
        made.leave(made.peers[0])


def test_what_never_holds_is_stored_nowhere() -> None:
    made = filled(["n BETWEEN 5 AND 4"])
    assert sum(made.stored().values()) == 0


def test_costs_add_up() -> None:
    one, other = Cost({"walk": 2}, {"walk": 60}, 2, 5), Cost({"walk": 1, "route": 4}, {"walk": 30, "route": 96}, 5, 1)
    both = one + other
    assert both == Cost({"walk": 3, "route": 4}, {"walk": 90, "route": 96}, 5, 6)
    assert (both.total_messages, both.total_bytes) == (7, 186)
