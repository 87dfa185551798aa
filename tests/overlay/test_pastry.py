"""Pastry: routing by digits, the three tables of a node, arrival, departure, and repair by the published protocol."""

from __future__ import annotations

import random
from itertools import pairwise
from math import ceil, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.errors import IdentifierError, SettingError
from tidings.overlay.leaf_set import LeafSet
from tidings.overlay.network import Network
from tidings.overlay.pastry import Pastry
from tidings.overlay.pastry_node import PastrySettings
from tidings.overlay.spaces import IdentifierSpace, numerically_closest

SMALL = IdentifierSpace(4, 5)
FEW = PastrySettings(leaves=4, neighbours=3)


def node_sets(space: IdentifierSpace, least: int = 1, most: int = 60) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, space.size - 1), min_size=least, max_size=most, unique=True)


def quiet() -> Network:
    return Network(keep_trace=False)


@given(node_sets(SMALL), st.data())
def test_a_message_ends_at_the_numerically_closest_node(nodes: list[int], data: st.DataObject) -> None:
    overlay = Pastry.settled(nodes, SMALL, quiet(), FEW)
    overlay.check()
    for key in data.draw(st.lists(st.integers(0, SMALL.size - 1), min_size=1, max_size=5)):
        route = overlay.route(data.draw(st.sampled_from(nodes)), key)
        assert route.delivered
        assert route.end == overlay.owner_of(key) == numerically_closest(SMALL, key, nodes)


@given(node_sets(SMALL, least=2), st.data())
def test_each_hop_but_the_last_gains_a_digit_or_comes_closer(nodes: list[int], data: st.DataObject) -> None:
    """So a route is no longer than the digits of an identifier, and what the leaf sets add where digits run out."""
    overlay = Pastry.settled(nodes, SMALL, quiet(), FEW)
    key = data.draw(st.integers(0, SMALL.size - 1))
    route = overlay.route(data.draw(st.sampled_from(nodes)), key)
    standing = [(SMALL.shared_digits(node, key), -SMALL.distance(node, key)) for node in route.path[:-1]]
    assert standing == sorted(set(standing))
    gained = sum(one[0] < other[0] for one, other in pairwise(standing))
    assert gained <= SMALL.length


@pytest.mark.parametrize(("base", "length"), [(2, 24), (15, 8), (64, 5)])
@pytest.mark.parametrize("count", [50, 400])
def test_routes_take_about_as_many_hops_as_the_nodes_have_digits(base: int, length: int, count: int) -> None:
    space = IdentifierSpace(base, length)
    overlay = Pastry.settled(space.spread(count, seed=1), space, quiet())
    chooser = random.Random(2)
    hops = [overlay.route(chooser.choice(overlay.nodes), chooser.randrange(space.size)).hops for _ in range(300)]
    assert sum(hops) / len(hops) <= log(count, base) + 1
    assert max(hops) <= ceil(log(count, base)) + 2


@given(node_sets(SMALL, least=1, most=15), st.integers(0, SMALL.size - 1), st.integers(1, 6))
def test_copies_are_held_by_those_who_would_own_the_key_next(nodes: list[int], key: int, count: int) -> None:
    overlay = Pastry.settled(nodes, SMALL, quiet(), FEW)
    holders = overlay.holders_of(key, count)
    assert len(holders) == min(count, len(nodes))
    for holder in holders:
        assert overlay.owner_of(key) == holder
        if len(overlay.nodes) > 1:
            overlay.fail(holder)


@given(node_sets(SMALL), st.integers(1, 4))
def test_a_leaf_set_holds_the_nearest_on_each_side(nodes: list[int], half: int) -> None:
    owner, *others = nodes
    leaf_set = LeafSet(SMALL, owner, half)
    for other in others:
        leaf_set.add(other)
    assert leaf_set.larger == sorted(others, key=lambda node: SMALL.clockwise(owner, node))[:half]
    assert leaf_set.smaller == sorted(others, key=lambda node: SMALL.clockwise(node, owner))[:half]
    for key in range(0, SMALL.size, 37):
        if leaf_set.covers(key):
            assert leaf_set.closest(key) == numerically_closest(SMALL, key, nodes)


@settings(max_examples=20)
@given(node_sets(SMALL, least=2, most=15))
def test_joining_one_by_one_leads_to_what_settled_says(nodes: list[int]) -> None:
    overlay = Pastry(SMALL, quiet(), FEW)
    for node in nodes:
        assert overlay.join(node)
        overlay.check(settled=False)
    overlay.settle()
    overlay.check()
    expected = Pastry.settled(nodes, SMALL, quiet(), FEW)
    for node in nodes:
        ours, theirs = overlay.state(node), expected.state(node)
        assert (ours.leaf_set.smaller, ours.leaf_set.larger) == (theirs.leaf_set.smaller, theirs.leaf_set.larger)
        assert [sorted(row) for row in ours.rows] == [sorted(row) for row in theirs.rows]


def test_joining_is_one_request_along_the_route_a_state_from_each_hop_and_an_announcement() -> None:
    space = IdentifierSpace(4, 8)
    overlay = Pastry.settled(space.spread(60), space, Network())
    newcomer = 12_345
    path = overlay.route(overlay.nodes[7], newcomer).path
    overlay.network.trace.clear()
    assert overlay.join(newcomer, overlay.nodes[7])
    requests = [(message.source, message.target) for message in overlay.network.trace if message.kind == "join"]
    assert requests == list(zip((newcomer, *path), path, strict=False))
    states = [message.source for message in overlay.network.trace if message.kind == "state"]
    assert states == list(path)
    told = [message.target for message in overlay.network.trace if message.kind == "announce"]
    assert set(overlay.state(newcomer).known()) <= set(told)
    for other in overlay.state(newcomer).leaf_set.members():
        assert newcomer in overlay.state(other).leaf_set.members()


def test_a_failed_entry_is_replaced_by_asking_the_row() -> None:
    space = IdentifierSpace(4, 6)
    overlay = Pastry.settled(space.spread(200), space, Network(), PastrySettings(leaves=4, neighbours=0))
    start = overlay.nodes[0]
    digit, gone = next((digit, node) for digit, node in overlay.state(start).rows[0].items() if digit)
    overlay.fail(gone)
    overlay.network.trace.clear()
    route = overlay.route(start, gone)
    assert route.end == overlay.owner_of(gone)
    assert "ask entry" in {message.kind for message in overlay.network.trace}
    replacement = overlay.state(start).rows[0][digit]
    assert replacement != gone
    assert overlay.network.is_up(replacement)


def test_a_leaf_set_that_lost_a_member_asks_its_end() -> None:
    space = IdentifierSpace(4, 6)
    overlay = Pastry.settled(space.spread(50), space, Network(), FEW)
    node = overlay.nodes[10]
    overlay.fail(overlay.nodes[11])
    overlay.network.complete(overlay.stabilising(node))
    assert overlay.state(node).leaf_set.larger == [overlay.nodes[11], overlay.nodes[12]]


def test_who_leaves_says_so_to_its_leaf_set() -> None:
    space = IdentifierSpace(4, 6)
    overlay = Pastry.settled(space.spread(50), space, Network(), FEW)
    node = overlay.nodes[10]
    members = overlay.state(node).leaf_set.members()
    overlay.leave(node)
    told = [message.target for message in overlay.network.trace if message.kind == "farewell"]
    assert told == list(members)
    assert node not in overlay.nodes
    for other in members:
        assert len(overlay.state(other).leaf_set.larger) == len(overlay.state(other).leaf_set.smaller) == 2
        assert node not in overlay.state(other).known()


def test_a_node_whose_door_is_shut_stays_out() -> None:
    overlay = Pastry.settled([1, 500], SMALL, quiet(), FEW)
    assert not overlay.join(700, via=600)  # nobody is there
    assert overlay.nodes == (1, 500)


def test_messages_are_delivered_though_a_third_is_lost() -> None:
    overlay = Pastry.settled(SMALL.spread(60), SMALL, Network(seed=4, loss=0.3, attempts=20), FEW)
    for key in range(0, SMALL.size, 20):
        assert overlay.route(overlay.nodes[key % 60], key).end == overlay.owner_of(key)


def test_a_failure_while_a_message_is_under_way() -> None:
    space = IdentifierSpace(4, 8)
    overlay = Pastry.settled(space.spread(100), space)
    start, key = overlay.nodes[0], overlay.nodes[70]
    path = overlay.route(start, key).path
    task = overlay.network.start(overlay.routing(start, key))
    overlay.fail(path[1])
    overlay.network.run()
    assert task.result is not None
    assert task.result.delivered
    assert path[1] not in task.result.path
    assert task.result.end == overlay.owner_of(key)


def test_who_has_left_the_overlay_forwards_nothing_though_the_network_reaches_it() -> None:
    space = IdentifierSpace(4, 8)
    overlay = Pastry.settled(space.spread(100), space)
    start, key = overlay.nodes[0], overlay.nodes[70]
    path = overlay.route(start, key).path
    overlay.fail(path[1])
    overlay.network.attach(path[1])
    route = overlay.route(start, key)
    assert path[1] not in route.path
    assert route.end == overlay.owner_of(key)


def test_what_cannot_be_done_is_refused_in_words() -> None:
    overlay = Pastry.settled([1, 5], SMALL, quiet(), FEW)
    with pytest.raises(IdentifierError, match="node 5 is up already; choose another identifier, or let it leave first"):
        overlay.join(5)
    with pytest.raises(IdentifierError, match="node 7 is not up; 2 nodes are: see `nodes`"):
        overlay.leave(7)
    with pytest.raises(SettingError, match="the key 5000 is outside of the space: identifiers are 0 to 1023"):
        overlay.route(1, 5000)
    with pytest.raises(SettingError, match="leaves is an even number from 2 on"):
        PastrySettings(leaves=3)
    with pytest.raises(SettingError, match="0 nodes: there must be some"):
        Pastry.settled([], SMALL)


def test_check_finds_what_is_wrong() -> None:
    overlay = Pastry.settled(SMALL.spread(30), SMALL, quiet(), FEW)
    state = overlay.state(overlay.nodes[3])
    row = next(number for number, entries in enumerate(state.rows) if entries)
    digit, entry = state.rows[row].popitem()
    overlay.check(settled=False)
    with pytest.raises(AssertionError, match=f"has no entry in row {row} for digit {digit}"):
        overlay.check()
    state.rows[row + 1][digit] = entry
    with pytest.raises(AssertionError, match=f"entry {entry} in row {row + 1} of node {state.identifier} shares"):
        overlay.check(settled=False)
    del state.rows[row + 1][digit]
    state.leaf_set.larger.reverse()
    with pytest.raises(AssertionError, match=f"leaf set of node {state.identifier} is out of order"):
        overlay.check(settled=False)
