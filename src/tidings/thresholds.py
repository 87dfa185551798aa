"""Thresholds that adapt: of the events that match, a subscription hears of the most similar ones of a while.

They choose among matches, and find none that the threshold in the subscription rules out. So a subscription with a low
threshold is one that leaves the choice to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tidings.errors import SettingError
from tidings.model.event import Identifier


class AdaptiveThresholds:
    """A threshold for each subscription that rises while many events are similar, and falls again.

    Events come one after the other. A match is let through when fewer than `wanted` of the subscription's matches with
    the `window` events before have at least its score: the threshold follows the `wanted`-th best score of a while.
    Matches that are held back count too. The threshold that is written in the subscription stays the least. So a
    subscription hears of its best events, at first of `wanted` of them at any rate, and of more than that in a window
    only while they get better and better.
    """

    def __init__(self, wanted: int, window: int) -> None:
        _check_count("the number of events for a subscription", wanted)
        _check_count("the number of events in a window", window)
        self._wanted = wanted
        self._window = window
        self._events = 0
        self._seen: dict[Identifier, list[_Seen]] = {}

    def admit(self, scored: Iterable[tuple[Identifier, float]]) -> list[tuple[Identifier, float]]:
        """Of the matches of the next event, subscriptions with scores, those that are let through."""
        admitted = [each for each in scored if self._admits(*each)]
        self._events += 1
        return admitted

    def threshold(self, subscription: Identifier) -> float | None:
        """What the score of the next event has to exceed; None while the window has too few to set one."""
        scores = sorted((seen.score for seen in self._recent(subscription)), reverse=True)
        return scores[self._wanted - 1] if len(scores) >= self._wanted else None

    def _recent(self, subscription: Identifier) -> list[_Seen]:
        return [seen for seen in self._seen.get(subscription, ()) if seen.event >= self._events - self._window]

    def _admits(self, subscription: Identifier, score: float) -> bool:
        recent = self._recent(subscription)
        better = sum(seen.score >= score for seen in recent)
        for seen in recent:
            seen.beaten += seen.score <= score
        # What is beaten by as many later ones as are wanted decides nothing any more: those are enough until it is old.
        kept = [seen for seen in recent if seen.beaten < self._wanted]
        self._seen[subscription] = [*kept, _Seen(self._events, score)]
        return better < self._wanted


@dataclass(slots=True)
class _Seen:
    """A match of one subscription."""

    event: int
    score: float
    beaten: int = 0  # by so many later ones, or equalled


def _check_count(what: str, given: int) -> None:
    if given < 1:
        raise SettingError(f"{what} is 1 or more; {given} was given")
