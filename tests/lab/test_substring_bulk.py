"""Counting over arrays gives the messages, bytes and identifiers that the systems send, message by message."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tidings.lab.substring import DIGITS, RING, SETTINGS, asked_of
from tidings.lab.substring_bulk import Algorithm, Complete, Grams, Measured, measure_hashed, measure_treed
from tidings.lab.substring_workloads import event_of, where_of
from tidings.overlay.chord import Chord
from tidings.overlay.pastry import Pastry
from tidings.overlay.snapshot import chord_snapshot, pastry_snapshot
from tidings.reference import holds
from tidings.systems.substring import SubstringSystem, complete_ind, complete_ps, ngrams_ind, ngrams_ps

CASES: dict[str, tuple[Callable[..., SubstringSystem], Algorithm, str]] = {
    "complete-IND on Pastry": (complete_ind, Complete(SETTINGS), "pastry"),
    "ngrams-IND on Pastry": (ngrams_ind, Grams(SETTINGS), "pastry"),
    "complete-PS": (complete_ps, Complete(SETTINGS), "trees"),
    "ngrams-PS": (ngrams_ps, Grams(SETTINGS), "trees"),
    "complete-IND on Chord": (complete_ind, Complete(SETTINGS), "chord"),
    "ngrams-IND on Chord": (ngrams_ind, Grams(SETTINGS), "chord"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_bulk_counts_what_the_system_sends(case: str, seed: int) -> None:
    make, algorithm, substrate = CASES[case]
    parameters = {"peers": 40, "subscriptions": 30, "events": 25, "vocabulary": 40, "letters": 5}
    asked = asked_of(parameters, seed)
    measured: Measured
    if substrate == "chord":
        chord = Chord.settled(RING.spread(40, seed), RING)
        system = make(chord, SETTINGS)
        measured = measure_hashed(chord_snapshot(chord), algorithm, SETTINGS, asked)
    else:
        pastry = Pastry.settled(DIGITS.spread(40, seed), DIGITS)
        system = make(pastry, SETTINGS)
        tables = pastry_snapshot(pastry)
        measure = measure_treed if substrate == "trees" else measure_hashed
        measured = measure(tables, algorithm, SETTINGS, asked)
    wheres = [where_of(asked.pieces, number) for number in range(30)]
    for number, where in enumerate(wheres):
        system.subscribe(number, where, system.peers[asked.homes[number]])
    assert list(system.stored().values()) == measured.stored.tolist()
    for number, where in enumerate(wheres):  # again, now that all trees are there
        system.unsubscribe(number)
        cost = system.subscribe(number, where, system.peers[asked.homes[number]])
        assert cost.total_messages == measured.store_messages[number]
    total = 0
    for number in range(25):
        event = event_of(asked.published, asked.words, number)
        published = system.publish(event, system.peers[asked.sources[number]])
        assert published.matches == {each for each, where in enumerate(wheres) if holds(where, event)}
        assert published.cost.total_messages == measured.event_messages[number]
        assert published.cost.identifiers == measured.carried[number]
        assert published.cost.total_bytes == measured.event_bytes[number]
        assert published.collected == measured.collected[number]
        total += len(published.matches)
    assert total > 0
    assert np.all(measured.collected >= 0)
