"""Workloads are what they say: Zipf, seeded, and the same in arrays and in the language."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from tidings.lab import substring_workloads, workloads
from tidings.lab.workloads import StringsAndNumbers, attribute_is_numeric, reversed_texts, text_of
from tidings.lab.zipf import draw, draw_attributes, shares
from tidings.language.parser import parse
from tidings.rendezvous.ranges import DIGITS, interval_cover
from tidings.systems.pastry_strings.covers import covers


def test_zipf_shares() -> None:
    assert shares(4, 0).tolist() == [0.25] * 4
    assert shares(3, 1).tolist() == pytest.approx([6 / 11, 3 / 11, 2 / 11])


@pytest.mark.parametrize("skew", [0.0, 0.8, 1.6])
def test_items_are_drawn_by_their_shares(skew: float) -> None:
    drawn = draw(20, skew, 100_000, default_rng(1))
    found = np.bincount(drawn, minlength=20) / 100_000
    assert np.abs(found - shares(20, skew)).max() < 0.01


@pytest.mark.parametrize("skew", [0.0, 1.0, 1.6])
def test_the_more_skew_the_fewer_attributes(skew: float) -> None:
    has = draw_attributes(10, skew, 20_000, default_rng(1))
    assert has[:, 0].all()
    expected = [rank**-skew for rank in range(1, 11)]
    assert has.mean(axis=0).tolist() == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("share", "numeric"), [(0.0, 0), (0.2, 2), (0.5, 5), (1.0, 10)])
@pytest.mark.parametrize("first", [True, False])
def test_kinds_of_attributes_take_turns(share: float, numeric: int, first: bool) -> None:
    kinds = attribute_is_numeric(StringsAndNumbers(1, 1, numeric_share=share, numbers_first=first))
    assert kinds.sum() == numeric
    if 0 < share < 1:
        assert kinds[0] == first
    if share == 0.5:
        assert (kinds[1:] != kinds[:-1]).all()


def test_the_same_seed_makes_the_same_workload() -> None:
    workload = StringsAndNumbers(50, 50)
    made = []
    for _ in range(2):
        random = default_rng(3)
        words = workloads.vocabulary(workload, random)
        made.append((workloads.subscriptions(workload, words, random), workloads.events(workload, words, random)))
    for one, other in zip(made[0], made[1], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_predicates_and_values_are_within_their_bounds() -> None:
    workload, random = StringsAndNumbers(300, 300, value_skew=1.2), default_rng(0)
    words = workloads.vocabulary(workload, random)
    assert len(words) == workload.vocabulary == len(np.unique(words, axis=0))
    asked = workloads.subscriptions(workload, words, random)
    is_number = asked.low >= 0
    sizes = (asked.high - asked.low + 1)[is_number]
    assert sizes.min() == 1
    assert sizes.max() <= workload.largest_range
    assert 0.4 < (sizes == 1).mean() < 0.7  # equalities, and ranges of one
    assert (asked.text[is_number] == -1).all()
    assert ((asked.text[~is_number] >= 0).sum(axis=1) >= 1).all()
    published = workloads.events(workload, words, random)
    assert published.number.max() < workload.domain_size
    for number in range(20):
        parse(workloads.where_of(asked, number))
        assert len(workloads.event_of(published, number)) == (published.event == number).sum()


@given(st.lists(st.lists(st.integers(0, 14), min_size=0, max_size=5), min_size=1, max_size=5))
def test_texts_are_reversed(drawn: list[list[int]]) -> None:
    rows = np.array([digits + [-1] * (5 - len(digits)) for digits in drawn], np.int64)
    expected = ["".join(DIGITS[digit] for digit in reversed(digits)) for digits in drawn]
    assert [text_of(row) for row in reversed_texts(rows)] == expected


@given(
    st.lists(st.tuples(st.integers(0, 15**3 - 1), st.integers(0, 15**3 - 1)), max_size=6), st.sampled_from((2, 4, 15))
)
def test_ranges_are_cut_as_one_by_one(drawn: list[tuple[int, int]], base: int) -> None:
    digits = {2: 12, 4: 6, 15: 3}[base]
    ranges = [(min(ends), max(ends)) for ends in drawn]
    lows, highs = (np.array([each[side] for each in ranges], np.int64) for side in (0, 1))
    cut = covers(lows, highs, base, digits)
    for number, (low, high) in enumerate(ranges):
        rows = np.flatnonzero(cut.ranges == number)
        sizes = [digits - int(cut.free[row]) for row in rows]
        expected = interval_cover(low, high, base, digits)
        assert sizes == [len(label) for label in expected]
        assert (
            cut.numbers[rows].tolist() == np.cumsum([low, *(base ** (digits - size) for size in sizes[:-1])]).tolist()
        )


def test_substrings_are_of_words() -> None:
    workload, random = substring_workloads.Substrings(100, 100), default_rng(0)
    words = substring_workloads.vocabulary(workload, random)
    asked = substring_workloads.pieces(workload, words, random)
    assert all(2 <= len(text) <= 5 for text in asked.text)
    assert all(any(text in word for word in words) for text in asked.text[:50])
    parse(substring_workloads.where_of(asked, 0))
