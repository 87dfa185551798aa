"""Fewer of what is similar: the best profiles of each text, and for each profile the best texts of a while.

Both choose among facts that hold, with their cosines; neither finds what a profile's own threshold rules out. So a
profile with a low threshold is one that leaves the choice to the ranking.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tidings.errors import SettingError
from tidings.index.layout import Array
from tidings.index.text.similarity import Scored
from tidings.model.event import Identifier


def best(scored: Scored, most: int) -> Scored:
    """Of each text the `most` facts with the highest cosines, highest first; of equal ones those of lower number."""
    _check_count("the number of profiles for a text", most)
    text = np.repeat(np.arange(len(scored.start) - 1), np.diff(scored.start))
    order = np.lexsort((scored.fact, -scored.cosine, text))
    rank = np.arange(len(order)) - scored.start[text]
    return _chosen(scored, text, order[rank < most])


class AdaptiveThresholds:
    """A threshold for each profile that rises while many texts are similar, and falls again.

    Texts come one after the other. A fact is let through when fewer than `wanted` of the profile's facts in the
    `window` texts before have at least its cosine: the threshold follows the `wanted`-th best cosine of a while. Facts
    that are held back count too. The threshold that is written in the subscription stays the least. So a profile hears
    of its best texts, at first of `wanted` of them at any rate, and of more than that in a window only while they get
    better and better.
    """

    def __init__(self, wanted: int, window: int) -> None:
        _check_count("the number of texts for a profile", wanted)
        _check_count("the number of texts in a window", window)
        self._wanted = wanted
        self._window = window
        self._texts = 0
        self._seen: dict[Identifier, list[_Seen]] = {}

    def admit(self, scored: Scored) -> Scored:
        """The facts of the next texts that are let through."""
        text = np.repeat(np.arange(len(scored.start) - 1), np.diff(scored.start))
        facts = zip(text.tolist(), scored.fact.tolist(), scored.cosine.tolist(), strict=True)
        admitted = [self._admits(self._texts + at, fact, cosine) for at, fact, cosine in facts]
        self._texts += len(scored.start) - 1
        return _chosen(scored, text, np.flatnonzero(np.array(admitted, np.bool_)))

    def admit_ranked(self, ranked: Iterable[tuple[Identifier, float]]) -> list[tuple[Identifier, float]]:
        """The same of the next event, as `Matcher.ranked` gives it; profiles are the subscriptions by their ids."""
        admitted = [each for each in ranked if self._admits(self._texts, *each)]
        self._texts += 1
        return admitted

    def threshold(self, profile: Identifier) -> float | None:
        """What the cosine of the next text has to exceed; None while the window has too few to set one."""
        cosines = sorted((seen.cosine for seen in self._recent(profile, self._texts)), reverse=True)
        return cosines[self._wanted - 1] if len(cosines) >= self._wanted else None

    def _recent(self, profile: Identifier, text: int) -> list[_Seen]:
        return [seen for seen in self._seen.get(profile, ()) if seen.text >= text - self._window]

    def _admits(self, text: int, profile: Identifier, cosine: float) -> bool:
        recent = self._recent(profile, text)
        better = sum(seen.cosine >= cosine for seen in recent)
        for seen in recent:
            seen.beaten += seen.cosine <= cosine
        # What is beaten by as many later ones as are wanted decides nothing any more: those are enough until it is old.
        kept = [seen for seen in recent if seen.beaten < self._wanted]
        self._seen[profile] = [*kept, _Seen(text, cosine)]
        return better < self._wanted


@dataclass(slots=True)
class _Seen:
    """A fact of one profile."""

    text: int
    cosine: float
    beaten: int = 0  # by so many later ones, or equalled


def _chosen(scored: Scored, text: Array, places: Array) -> Scored:
    """Some of the facts, text after text."""
    start = np.searchsorted(text[places], np.arange(len(scored.start)))
    return Scored(start, scored.fact[places], scored.cosine[places])


def _check_count(what: str, given: int) -> None:
    if given < 1:
        raise SettingError(f"{what} is 1 or more; {given} was given")
