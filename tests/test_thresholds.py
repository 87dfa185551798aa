"""Thresholds that adapt, against the same said in plain Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings import AdaptiveThresholds
from tidings.errors import SettingError

Scores = dict[int, float]  # of one event, by subscription


def some_events() -> st.SearchStrategy[list[Scores]]:
    scores = st.dictionaries(st.integers(0, 3), st.sampled_from((0.1, 0.2, 0.3, 0.4)))
    return st.lists(scores, max_size=20)


@given(some_events(), st.integers(1, 3), st.integers(1, 6))
def test_thresholds_follow_the_best_of_a_window(events: list[Scores], wanted: int, window: int) -> None:
    """Against the rule over the whole past."""
    adaptive = AdaptiveThresholds(wanted, window)
    for number, event in enumerate(events):
        past = events[max(0, number - window) : number]
        assert adaptive.admit(event.items()) == [
            (subscription, score)
            for subscription, score in event.items()
            if sum(earlier.get(subscription, -1.0) >= score for earlier in past) < wanted
        ]
    last = events[max(0, len(events) - window) :]
    for subscription in range(4):
        scores = sorted((event[subscription] for event in last if subscription in event), reverse=True)
        assert adaptive.threshold(subscription) == (scores[wanted - 1] if len(scores) >= wanted else None)


def test_a_threshold_rises_and_falls_again() -> None:
    adaptive = AdaptiveThresholds(wanted=1, window=2)
    admitted = [adaptive.admit([("a", score)]) for score in (0.5, 0.4, 0.6, 0.5, 0.5, 0.5, 0.2, 0.2)]
    assert [bool(each) for each in admitted] == [True, False, True, False, False, False, False, False]
    assert [adaptive.admit(event) for event in ([], [], [("a", 0.2)])] == [[], [], [("a", 0.2)]]


@pytest.mark.parametrize(
    ("wanted", "window", "message"),
    [
        (0, 5, "the number of events for a subscription is 1 or more; 0 was given"),
        (5, -1, "the number of events in a window is 1 or more; -1 was given"),
    ],
)
def test_counts_below_1_are_refused(wanted: int, window: int, message: str) -> None:
    with pytest.raises(SettingError) as raised:
        AdaptiveThresholds(wanted, window)
    assert str(raised.value) == message
