"""The best profiles of a text, and thresholds that adapt: both against the same said in plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import SettingError
from tidings.index.text.similarity import Scored
from tidings.index.text.similarity_ranking import AdaptiveThresholds, best

Facts = dict[int, float]  # of one text: cosines by profile


def scored(texts: list[Facts]) -> Scored:
    facts = [(fact, text[fact]) for text in texts for fact in sorted(text)]
    start = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    fact = np.array([fact for fact, _ in facts], np.int32)
    return Scored(start, fact, np.array([cosine for _, cosine in facts], np.float64))


def listed(result: Scored) -> list[list[tuple[int, float]]]:
    pairs = list(zip(result.fact.tolist(), result.cosine.tolist(), strict=True))
    return [pairs[first:end] for first, end in pairwise(result.start)]


def some_texts(profiles: int = 4) -> st.SearchStrategy[list[Facts]]:
    facts = st.dictionaries(st.integers(0, profiles - 1), st.sampled_from((0.1, 0.2, 0.3, 0.4)))
    return st.lists(facts, max_size=20)


@given(some_texts(8), st.integers(1, 5))
def test_the_best_are_those_with_the_highest_cosines(texts: list[Facts], most: int) -> None:
    wanted = [sorted(text.items(), key=lambda fact: (-fact[1], fact[0]))[:most] for text in texts]
    assert listed(best(scored(texts), most)) == wanted


@given(some_texts(), st.integers(1, 3), st.integers(1, 6), st.data())
def test_thresholds_follow_the_best_of_a_window(
    texts: list[Facts], wanted: int, window: int, data: st.DataObject
) -> None:
    """Against the rule over the whole past, with the texts in batches that are cut anywhere."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=4)))
    adaptive, found = AdaptiveThresholds(wanted, window), []
    for first, end in pairwise([0, *cuts, len(texts)]):
        found += listed(adaptive.admit(scored(texts[first:end])))
    for number, text in enumerate(texts):
        past = texts[max(0, number - window) : number]
        admitted = [
            (fact, cosine)
            for fact, cosine in sorted(text.items())
            if sum(earlier.get(fact, -1.0) >= cosine for earlier in past) < wanted
        ]
        assert found[number] == admitted
    last = texts[max(0, len(texts) - window) :]
    for fact in range(4):
        cosines = sorted((text[fact] for text in last if fact in text), reverse=True)
        assert adaptive.threshold(fact) == (cosines[wanted - 1] if len(cosines) >= wanted else None)


def test_a_threshold_rises_and_falls_again() -> None:
    adaptive = AdaptiveThresholds(wanted=1, window=2)
    cosines = [0.5, 0.4, 0.6, 0.5, 0.5, 0.5, 0.2, 0.2]
    admitted = adaptive.admit(scored([{0: cosine} for cosine in cosines]))
    assert np.diff(admitted.start).astype(bool).tolist() == [True, False, True, False, False, False, False, False]
    assert adaptive.admit(scored([{}, {}, {0: 0.2}])).cosine.tolist() == [0.2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: best(scored([]), 0), "the number of profiles for a text is 1 or more; 0 was given"),
        (lambda: AdaptiveThresholds(0, 5), "the number of texts for a profile is 1 or more; 0 was given"),
        (lambda: AdaptiveThresholds(5, -1), "the number of texts in a window is 1 or more; -1 was given"),
    ],
)
def test_counts_below_1_are_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(SettingError) as raised:
        make()
    assert str(raised.value) == message
