"""The forest over arrays is the forest message by message: the same hosts, messages, loads, identifiers and matches."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from systems.forests import plain_events, plain_subscriptions, system
from tidings.model.event import Event
from tidings.overlay.snapshot import pastry_snapshot
from tidings.systems.interface import conjunctions_of
from tidings.systems.pastry_strings import PastryStrings
from tidings.systems.pastry_strings.bulk import BulkForest, Contents, Integers
from tidings.systems.pastry_strings.labels import Labels
from tidings.systems.pastry_strings.places import LISTS, ListName

ATTRIBUTES = ("m", "n", "s", "t")
# One of each tree, so that no event looks for a tree that does not exist.
ROOTS = [f"s LIKE '{digit}%'" for digit in "0123"]


def list_number(name: ListName) -> int:
    return ATTRIBUTES.index(name.attribute) * len(LISTS) + LISTS.index(name.kind)


class Stores:
    """What subscriptions store, as arrays: one row for each label."""

    def __init__(self, made: PastryStrings, subscriptions: list[str]) -> None:
        labels = Labels(made.overlay.space.base, made.settings.depth)
        rows: list[tuple[int, int, int, int]] = []
        self.needed: list[int] = []
        for number, where in enumerate(subscriptions):
            (conjunction,) = conjunctions_of(where)
            places = made.places.of_conjunction(conjunction) or ()
            self.needed.append(len(places))
            for place, _ in places:
                at = number % len(made.peers), list_number(place.list), number
                rows.extend((*at, labels.code(label)) for label in place.labels)
        self.starts, self.lists, self.entries, self.codes = np.array(rows, np.int64).reshape(-1, 4).T


def both(subscriptions: list[str], **options: Any) -> tuple[PastryStrings, Stores, BulkForest, Contents]:
    made = system(**options)
    for number, where in enumerate(subscriptions):
        made.subscribe(number, where, made.peers[number % len(made.peers)])
    stores = Stores(made, subscriptions)
    bulk = BulkForest(pastry_snapshot(made.overlay), made.settings, stores.codes)
    contents = bulk.contents(bulk.find(stores.codes), stores.lists, stores.entries, len(ATTRIBUTES) * len(LISTS))
    return made, stores, bulk, contents


OPTIONS = st.fixed_dictionaries(
    {
        "peers": st.sampled_from((5, 12, 40)),
        "replicas": st.sampled_from((1, 3)),
        "levels": st.sampled_from((None, 1, 3)),
        "seed": st.integers(0, 5),
    }
)
SUBSCRIPTIONS = st.lists(plain_subscriptions(), min_size=1, max_size=10).map(lambda drawn: ROOTS + drawn)


@settings(max_examples=25)
@given(SUBSCRIPTIONS, OPTIONS)
def test_tnodes_and_identifiers_are_at_the_same_peers(subscriptions: list[str], options: dict[str, Any]) -> None:
    made, stores, bulk, _ = both(subscriptions, **options)
    expected = {(tnode.name.replica, tnode.name.label): peer for peer, tnode in made.forest.tnodes()}
    found = {
        (replica, bulk.labels.digits(int(code))): made.peers[int(bulk.hosts[replica, number])]
        for number, code in enumerate(bulk.codes)
        for replica in range(made.settings.replicas)
    }
    assert found == expected
    assert dict(zip(made.peers, bulk.stored(bulk.find(stores.codes)), strict=True)) == made.stored()


@settings(max_examples=25)
@given(SUBSCRIPTIONS, OPTIONS)
def test_storing_costs_the_same_once_the_trees_are_there(subscriptions: list[str], options: dict[str, Any]) -> None:
    made, stores, bulk, _ = both(subscriptions, **options)
    messages: Counter[int] = Counter()
    for replica in range(made.settings.replicas):
        costs = bulk.walk(stores.starts, stores.codes, np.full(len(stores.codes), replica))
        for entry, count in zip(stores.entries.tolist(), costs.messages.tolist(), strict=True):
            messages[entry] += count
    for number, where in enumerate(subscriptions):
        made.unsubscribe(number)
        cost = made.subscribe(number, where, made.peers[number % len(made.peers)])
        assert cost.total_messages == messages[number]


@settings(max_examples=25)
@given(SUBSCRIPTIONS, st.lists(plain_events(), min_size=1, max_size=8), OPTIONS)
def test_events_cost_and_find_the_same(
    subscriptions: list[str], events: list[dict[str, Any]], options: dict[str, Any]
) -> None:
    made, stores, bulk, contents = both(subscriptions, **options)
    walks = _walks(made, events)
    costs = bulk.walk(walks[1], walks[2], walks[5])
    traffic, found, answers = bulk.carried(contents, *walks[1:])
    of_event, entries = bulk.matches(contents, walks[0], walks[2], walks[3], walks[4], np.array(stores.needed))
    before = {kind: dict(made.overlay.network.ledger.by_node(kind)) for kind in ("route", "walk")}
    for number, event in enumerate(events):
        published = made.publish(event, made.peers[number % len(made.peers)])
        its = walks[0] == number
        assert published.cost.messages.get("route", 0) == costs.routed[its].sum()
        assert published.cost.messages.get("walk", 0) == costs.walked[its].sum()
        assert published.cost.messages.get("answer", 0) == answers[its].sum()
        assert published.cost.identifiers == traffic[its].sum()
        assert published.collected == found[its].sum()
        assert published.matches == set(entries[of_event == number].tolist())
    for kind, received in (("route", costs.route_received), ("walk", costs.walk_received)):
        after = made.overlay.network.ledger.by_node(kind)
        for peer, count in zip(made.peers, received.tolist(), strict=True):
            had = before[kind][peer].received if peer in before[kind] else 0
            assert (after[peer].received if peer in after else 0) - had == count


def _walks(made: PastryStrings, events: list[dict[str, Any]]) -> tuple[Integers, ...]:
    """Event, start, label, list on the way, list at the end, replica: as `publish` will draw it."""
    random = Random(made.settings.seed)
    labels = Labels(made.overlay.space.base, made.settings.depth)
    rows = []
    for number, event in enumerate(events):
        for walk in made.places.walks_of(Event.of(event)):
            end = list_number(walk.at_the_end[0]) if walk.at_the_end else -1
            start, replica = number % len(made.peers), random.randrange(made.settings.replicas)
            rows.append((number, start, labels.code(walk.label), list_number(walk.on_the_way[0]), end, replica))
    return tuple(np.array(rows, np.int64).reshape(-1, 6).T)


@given(st.sampled_from((2, 4, 15)), st.lists(st.lists(st.integers(0, 1), max_size=5), min_size=1, max_size=8))
def test_labels_as_numbers(base: int, drawn: list[list[int]]) -> None:
    labels = Labels(base, 5)
    codes = np.array([labels.code(digits) for digits in drawn], np.int64)
    assert [labels.digits(int(code)) for code in codes] == [tuple(digits) for digits in drawn]
    assert labels.lengths(codes).tolist() == [len(digits) for digits in drawn]
    assert [labels.digits(int(code)) for code in labels.cut(codes, np.full(len(codes), 2))] == [
        tuple(d[:2]) for d in drawn
    ]
    beginnings = {tuple(digits[:length]) for digits in drawn for length in range(min(1, len(digits)), len(digits) + 1)}
    assert {labels.digits(int(code)) for code in labels.with_beginnings(codes)} == beginnings
    assert sorted(map(labels.digits, codes.tolist())) == list(map(labels.digits, sorted(codes.tolist())))


@given(st.lists(st.tuples(st.integers(0, 15**4 - 1), st.integers(0, 3)), min_size=1))
def test_numbers_as_labels(drawn: list[tuple[int, int]]) -> None:
    labels = Labels(15, 4)
    numbers, free = np.array(drawn, np.int64).T
    for code, number, open_digits in zip(labels.of_numbers(numbers, free), numbers, free, strict=True):
        digits = [int(number) // 15**place % 15 for place in (3, 2, 1, 0)]
        assert labels.digits(int(code)) == tuple(digits[: 4 - open_digits])
