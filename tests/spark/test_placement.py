"""Where keys go: the cost model by itself, without Spark."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings import SettingError
from tidings.spark.placement import (
    HEAVY,
    MOST_SHARDS,
    Placement,
    choice,
    everywhere_parts,
    largest_over_mean,
    placed,
    water_level,
)


def zipf(keys: int, exponent: float, total: int) -> np.ndarray:
    weights = 1 / np.arange(1, keys + 1) ** exponent
    counts: np.ndarray = np.ceil(total * weights / weights.sum()).astype(np.int64)
    return counts


def stored(placement: Placement, subscriptions: np.ndarray) -> np.ndarray:
    """How many subscriptions each shard holds."""
    loads = np.zeros(placement.shards)
    for key, count in enumerate(subscriptions.tolist()):
        parts = placement.parts_of(key)
        for shards in parts:
            loads[shards] += count / len(parts)
    return loads


def visited(placement: Placement, visits: np.ndarray) -> np.ndarray:
    """How many visits each shard gets, if events choose evenly."""
    loads = np.zeros(placement.shards)
    for key, count in enumerate(visits.tolist()):
        for shards in placement.parts_of(key):
            loads[shards] += count / len(shards)
    return loads


@given(st.lists(st.integers(0, 10_000), max_size=60), st.integers(1, 70), st.booleans(), st.booleans(), st.data())
def test_every_key_has_its_place(
    subscriptions: list[int], shards: int, known: bool, treat_heavy: bool, data: st.DataObject
) -> None:
    keys = len(subscriptions)
    visits = data.draw(st.lists(st.integers(0, 10_000), min_size=keys, max_size=keys)) if known else None
    everywhere = data.draw(st.integers(-1, keys - 1))
    placement = placed(
        np.array(subscriptions, np.int64),
        None if visits is None else np.array(visits, np.int64),
        shards,
        everywhere,
        treat_heavy,
    )
    placement.check()
    assert len(placement.key_parts) == keys + 1
    for key in range(keys):
        parts = placement.parts_of(key)
        if key == everywhere:
            assert sorted(shard for part in parts for shard in part) == list(range(shards))
        elif not treat_heavy:
            assert [len(part) for part in parts] == [1]


@pytest.mark.parametrize("shards", [2, 8, 32])
def test_keys_with_many_subscriptions_are_split(shards: int) -> None:
    subscriptions = zipf(1000, 1.2, 100_000)
    plain = placed(subscriptions, None, shards, treat_heavy=False)
    treated = placed(subscriptions, None, shards)
    mean = subscriptions.sum() / shards
    parts = treated.parts_of(0)
    assert len(parts) == min(shards, np.ceil(subscriptions[0] / (HEAVY * mean)))
    assert all(len(part) == 1 for part in parts), "nothing is known of the events that would call for copies"
    assert stored(treated, subscriptions).sum() == pytest.approx(subscriptions.sum())
    assert largest_over_mean(stored(treated, subscriptions)) < 1.05
    if shards > 2:
        assert largest_over_mean(stored(plain, subscriptions)) > 1.5


def test_keys_with_many_events_are_replicated() -> None:
    subscriptions = np.full(1000, 10)
    visits = zipf(1000, 1.2, 100_000)
    plain = placed(subscriptions, visits, 8, treat_heavy=False)
    treated = placed(subscriptions, visits, 8)
    (shards,) = treated.parts_of(0)
    assert len(shards) > 1
    assert largest_over_mean(visited(treated, visits)) < 1.2 < largest_over_mean(visited(plain, visits))
    assert stored(treated, subscriptions).sum() <= 1.5 * subscriptions.sum()


def test_copies_for_events_are_bounded() -> None:
    subscriptions, visits = zipf(100, 1.2, 100_000), zipf(100, 1.2, 100_000)
    treated = placed(subscriptions, visits, 16)
    assert stored(treated, subscriptions).sum() <= 1.5 * subscriptions.sum()
    assert len(treated.parts_of(0)) > 1


def test_small_keys_are_spread_evenly() -> None:
    subscriptions = np.random.default_rng(5).integers(1, 4, 50_000)
    placement = placed(subscriptions, None, 16)
    assert (placement.part_counts() == 1).all()
    assert largest_over_mean(stored(placement, subscriptions)) < 1.001


def test_what_meets_every_event_is_on_all_shards_until_it_is_too_much() -> None:
    assert placed(np.array([10, 1_000]), None, 4, everywhere=0).parts_of(0) == [[0, 1, 2, 3]]
    assert placed(np.array([1_000, 1_000]), None, 4, everywhere=0).parts_of(0) == [[0, 2], [1, 3]]
    assert placed(np.array([1_000]), None, 4, everywhere=0).parts_of(0) == [[0], [1], [2], [3]]
    assert everywhere_parts(0, 0, 4) == 1


def test_nothing_to_place() -> None:
    placement = placed(np.zeros(0, np.int64), None, 3)
    placement.check()
    assert len(placement.shard) == 0


def test_water_level() -> None:
    assert water_level(np.array([0.0, 0.0]), 3) == 1.5
    assert water_level(np.array([5.0, 0.0, 1.0]), 3) == 2
    assert water_level(np.array([1.0, 2.0]), 0) == 1
    assert largest_over_mean(np.zeros(3)) == 1


@pytest.mark.parametrize("shards", [0, -1, MOST_SHARDS + 1])
def test_the_number_of_shards_has_bounds(shards: int) -> None:
    with pytest.raises(SettingError, match=f"there are 1 to {MOST_SHARDS} shards, not {shards}"):
        placed(np.array([1]), None, shards)


def test_choice() -> None:
    sizes = "the index has 1.0 GB, and a host 4.0 GB of memory"
    stays = f"each host maps the whole index, and events stay where they are: {sizes}"
    assert choice(10**9, 4 * 10**9, 0) == (False, stays)
    sizes = "the index has 3.0 GB, and a host 4.0 GB of memory"
    assert choice(3 * 10**9, 4 * 10**9, 0.1) == (True, f"{sizes}: more than 50% of it")
    why_not = f"80% of the subscriptions meet every event wherever they are, although {sizes}"
    assert choice(3 * 10**9, 4 * 10**9, 0.8) == (False, why_not)
