"""What is measured in bulk at a point is what the system does, message by message, with the same workload."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from tidings.lab import workloads
from tidings.lab.pastry_strings import (
    LEAVES,
    SPACE,
    forest_settings,
    measure_failures,
    measure_requests,
    measure_sub_ranges,
    set_up,
    workload_of,
)
from tidings.overlay.pastry import Pastry
from tidings.overlay.pastry_node import PastrySettings
from tidings.reference import holds
from tidings.systems.pastry_strings import PastryStrings

SMALL = {"peers": 60, "subscriptions": 25, "events": 30, "domain_size": 300, "vocabulary": 40, "attributes": 4}


def asked_and_published(parameters: dict[str, Any], seed: int) -> tuple[list[str], list[dict[str, Any]]]:
    """As `set_up` draws them."""
    workload, random = workload_of({"numbers_first": seed % 2 == 0, **parameters}), default_rng(seed)
    words = workloads.vocabulary(workload, random)
    asked = workloads.subscriptions(workload, words, random)
    published = workloads.events(workload, words, random)
    return (
        [workloads.where_of(asked, number) for number in range(workload.subscriptions)],
        [workloads.event_of(published, number) for number in range(workload.events)],
    )


def system_of(parameters: dict[str, Any], seed: int, wheres: list[str], leaves: int = LEAVES) -> PastryStrings:
    nodes = SPACE.spread(parameters["peers"], seed)
    overlay = Pastry.settled(nodes, SPACE, settings=PastrySettings(leaves=leaves))
    made = PastryStrings(overlay, forest_settings(parameters, workload_of(parameters)))
    homes = set_up(parameters, seed).homes
    for number, where in enumerate(wheres):
        made.subscribe(number, where, made.peers[homes[number]])
    return made


@pytest.mark.parametrize("options", [{}, {"relocate": True}, {"whole_paths": False}, {"replicas": 3}], ids=str)
def test_a_point_is_what_the_system_does(options: dict[str, Any]) -> None:
    parameters, seed = {**SMALL, **options}, 1
    wheres, events = asked_and_published(parameters, seed)
    made = system_of(parameters, seed, wheres)
    setting, measured = set_up(parameters, seed), measure_requests(parameters, seed)
    found = 0
    for number, event in enumerate(events):
        published = made.publish(event, made.peers[setting.sources[number]])
        assert published.matches == {each for each, where in enumerate(wheres) if holds(where, event)}
        found += published.collected
    assert made.rejected == 0
    assert found / len(events) == pytest.approx(measured["identifiers found per event"])
    stored = np.array(list(made.stored().values()))
    assert stored.sum() == measured["identifiers stored"]
    assert stored.std() / stored.mean() == pytest.approx(measured["storage CV"])
    messages = 0  # again, now that the trees are there
    for number, where in enumerate(wheres):
        made.unsubscribe(number)
        messages += made.subscribe(number, where, made.peers[setting.homes[number]]).total_messages
    assert messages / len(wheres) == pytest.approx(measured["messages per subscription"])
    if made.settings.replicas == 1 and made.settings.whole_paths:
        again = [made.publish(event, made.peers[setting.sources[number]]).cost for number, event in enumerate(events)]
        sent = sum(cost.total_messages for cost in again) / len(events)
        assert sent == pytest.approx(measured["messages per event"])
        carried = sum(cost.identifiers for cost in again) / len(events)
        assert carried == pytest.approx(measured["identifiers sent per event"])


@pytest.mark.parametrize("replicas", [1, 2])
def test_failures_lose_what_the_system_loses(replicas: int) -> None:
    """`measure_failures` draws who fails from the generator of the setting, right after it is set up."""
    parameters, seed = {**SMALL, "peers": 40, "replicas": replicas, "failed": 0.15, "whole_paths": False}, 2
    wheres, events = asked_and_published(parameters, seed)
    made = system_of(parameters, seed, wheres, leaves=8)  # fewer to look after: repair is quicker, Tnodes are the same
    random = set_up(parameters, seed).random
    gone = [made.peers[place] for place in random.permutation(40)[: round(0.15 * 40)]]
    total = sum(len(made.publish(event, made.peers[0]).matches) for event in events)
    for peer in gone:
        made.fail(peer)
    start = made.peers[0]
    before = sum(len(made.publish(event, start).matches) for event in events)
    made.heal()
    made.check()
    after = sum(len(made.publish(event, start).matches) for event in events)
    measured = measure_failures(parameters, seed)
    assert measured["matches"] == total > 0
    assert measured["matches before repair"] * total == pytest.approx(before)
    assert measured["matches after repair"] * total == pytest.approx(after)


def test_sub_ranges_of_small_ranges() -> None:
    ones = measure_sub_ranges({"size": 1, "ranges": 100}, 0)
    assert ones == {"sub-ranges, mean": 1.0, "sub-ranges, most": 1.0}
    assert measure_sub_ranges({"size": 1000, "ranges": 2_000}, 0)["sub-ranges, most"] <= 84
