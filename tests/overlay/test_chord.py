"""Chord: successors, fingers, arrival, departure, and stabilisation by the published protocol."""

from __future__ import annotations

import random
from bisect import bisect_left
from itertools import pairwise
from math import ceil, log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.errors import IdentifierError, SettingError
from tidings.overlay.chord import Chord
from tidings.overlay.network import Network
from tidings.overlay.spaces import IdentifierSpace

SMALL = IdentifierSpace(2, 8)


def node_sets(least: int = 1, most: int = 40) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, SMALL.size - 1), min_size=least, max_size=most, unique=True)


def quiet() -> Network:
    return Network(keep_trace=False)


def first_at_or_after(nodes: list[int], key: int) -> int:
    ordered = sorted(nodes)
    return ordered[bisect_left(ordered, key) % len(ordered)]


@given(node_sets(), st.data())
def test_a_message_ends_at_the_first_node_at_or_after_the_key(nodes: list[int], data: st.DataObject) -> None:
    overlay = Chord.settled(nodes, SMALL, quiet(), successors=3)
    overlay.check()
    for key in data.draw(st.lists(st.integers(0, SMALL.size - 1), min_size=1, max_size=5)):
        route = overlay.route(data.draw(st.sampled_from(nodes)), key)
        assert route.delivered
        assert route.end == overlay.owner_of(key) == first_at_or_after(nodes, key)


@given(node_sets(), st.data())
def test_each_hop_at_least_halves_the_way_to_the_last_node_before_the_key(
    nodes: list[int], data: st.DataObject
) -> None:
    overlay = Chord.settled(nodes, SMALL, quiet(), successors=3)
    key = data.draw(st.integers(0, SMALL.size - 1))
    route = overlay.route(data.draw(st.sampled_from(nodes)), key)
    last_before = overlay.nodes[overlay.nodes.index(overlay.owner_of(key)) - 1]
    ways = [SMALL.clockwise(node, last_before) for node in route.path[:-1]]
    assert all(2 * after <= before for before, after in pairwise(ways))
    assert route.hops <= SMALL.length + 1


@pytest.mark.parametrize("count", [50, 400])
def test_routes_take_about_half_the_logarithm_of_the_number_of_nodes(count: int) -> None:
    space = IdentifierSpace(2, 32)
    overlay = Chord.settled(space.spread(count, seed=1), space, quiet())
    chooser = random.Random(2)
    hops = [overlay.route(chooser.choice(overlay.nodes), chooser.randrange(space.size)).hops for _ in range(300)]
    assert sum(hops) / len(hops) <= log2(count) / 2 + 1
    assert max(hops) <= 2 * ceil(log2(count))


@given(node_sets(most=15), st.integers(0, SMALL.size - 1), st.integers(1, 6))
def test_copies_are_held_by_those_who_would_own_the_key_next(nodes: list[int], key: int, count: int) -> None:
    overlay = Chord.settled(nodes, SMALL, quiet())
    holders = overlay.holders_of(key, count)
    assert len(holders) == min(count, len(nodes))
    for holder in holders:
        assert overlay.owner_of(key) == holder
        if len(overlay.nodes) > 1:
            overlay.fail(holder)


@settings(max_examples=30)
@given(node_sets(least=2, most=15))
def test_joining_one_by_one_leads_to_what_settled_says(nodes: list[int]) -> None:
    overlay = Chord(SMALL, quiet(), successors=3)
    for node in nodes:
        assert overlay.join(node)
        overlay.check(settled=False)
    overlay.settle()
    overlay.check()
    assert overlay.tables() == Chord.settled(nodes, SMALL, quiet(), successors=3).tables()


@settings(max_examples=30)
@given(node_sets(least=8, most=15), st.integers(0, 100), st.integers(0, SMALL.size - 1))
def test_as_many_neighbours_may_fail_at_once_as_the_list_is_long_but_one(nodes: list[int], at: int, key: int) -> None:
    overlay = Chord.settled(nodes, SMALL, quiet(), successors=4)
    place = at % len(overlay.nodes)
    for node in overlay.following(place, 3):
        overlay.fail(node)
    for start in overlay.nodes:
        assert overlay.route(start, key).end == overlay.owner_of(key)
    overlay.settle()
    overlay.check()


def test_joining_is_one_request_along_the_route_and_both_neighbours_hear_of_it() -> None:
    space = IdentifierSpace(2, 16)
    overlay = Chord.settled(space.spread(60), space, Network(), successors=4)
    newcomer = 12_345
    successor, before = overlay.owner_of(newcomer), overlay.nodes[overlay.nodes.index(overlay.owner_of(newcomer)) - 1]
    assert overlay.join(newcomer, overlay.nodes[40])
    requests = [(message.source, message.target) for message in overlay.network.trace if message.kind == "join"]
    assert requests[0] == (newcomer, overlay.nodes[41] if overlay.nodes[40] >= newcomer else overlay.nodes[40])
    assert requests[-1] == (before, successor)
    assert overlay.state(newcomer).predecessor == before
    assert overlay.state(successor).predecessor == newcomer
    assert overlay.state(before).successors[0] == newcomer
    assert newcomer in overlay.state(overlay.nodes[overlay.nodes.index(before) - 2]).successors


def test_who_leaves_joins_its_neighbours() -> None:
    space = IdentifierSpace(2, 16)
    overlay = Chord.settled(space.spread(20), space, Network(), successors=4)
    before, node, after = overlay.nodes[4:7]
    overlay.leave(node)
    assert [message.target for message in overlay.network.trace if message.kind == "farewell"] == [before, after]
    assert overlay.state(before).successors == list(overlay.nodes[5:9])
    assert overlay.state(after).predecessor == before


def test_a_round_looks_up_one_finger() -> None:
    space = IdentifierSpace(2, 6)
    overlay = Chord.settled(space.spread(8), space, Network())
    node = overlay.nodes[0]
    right = list(overlay.state(node).fingers)
    overlay.state(node).fingers = [None] * space.length
    for number in range(space.length):
        overlay.network.complete(overlay.stabilising(node))
        assert overlay.state(node).fingers[: number + 1] == right[: number + 1]


def test_a_node_that_lost_its_whole_list_goes_on_with_its_fingers() -> None:
    overlay = Chord.settled(range(0, 256, 16), SMALL, quiet(), successors=2)
    for node in (16, 32, 48):
        overlay.fail(node)
    assert overlay.route(0, 40).end == 64
    overlay.settle()
    overlay.check()


def test_two_alone_find_each_other_and_one_stays_alone() -> None:
    overlay = Chord(SMALL, quiet())
    assert overlay.join(10)
    assert overlay.route(10, 200).path == (10,)
    assert overlay.join(100)
    assert (overlay.state(10).successors, overlay.state(10).predecessor) == ([100], 100)
    assert (overlay.state(100).successors, overlay.state(100).predecessor) == ([10], 10)
    overlay.fail(10)
    assert overlay.route(100, 5).path == (100,)
    overlay.settle()
    overlay.check()


def test_messages_are_delivered_though_a_third_is_lost() -> None:
    overlay = Chord.settled(SMALL.spread(40), SMALL, Network(seed=4, loss=0.3, attempts=20))
    for key in range(0, SMALL.size, 5):
        assert overlay.route(overlay.nodes[key % 40], key).end == overlay.owner_of(key)


def test_what_cannot_be_done_is_refused_in_words() -> None:
    with pytest.raises(SettingError, match="a Chord node has a list of 0 successors; it needs at least 1"):
        Chord(SMALL, successors=0)
    with pytest.raises(IdentifierError, match="node 3 is not up; 0 nodes are: see `nodes`"):
        Chord(SMALL).fail(3)


def test_check_finds_what_is_wrong() -> None:
    overlay = Chord.settled(range(0, 256, 16), SMALL, quiet())
    state = overlay.state(32)
    state.predecessor = 0
    overlay.check(settled=False)
    with pytest.raises(AssertionError, match="node 32 has predecessor 0, not 16"):
        overlay.check()
    state.predecessor = 16
    state.fingers[7] = 48
    with pytest.raises(AssertionError, match="finger 7 of node 32 lies before its start"):
        overlay.check(settled=False)
    state.fingers[7] = 176
    with pytest.raises(AssertionError, match="finger 7 of node 32 is 176, not 160"):
        overlay.check()
    state.fingers[7] = 160
    state.successors.reverse()
    with pytest.raises(AssertionError, match="successors of node 32 are out of order"):
        overlay.check(settled=False)
