"""How evenly a load is spread: against figures worked out by hand and against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import SettingError
from tidings.overlay.load import LoadSummary, cumulative_curve

LOADS = st.lists(st.integers(0, 1000), min_size=1, max_size=50)


def test_figures_worked_out_by_hand() -> None:
    summary = LoadSummary.of([2, 4, 4, 4, 5, 5, 7, 9])
    assert (summary.nodes, summary.total, summary.mean, summary.sd) == (8, 40, 5, 2)
    assert (summary.cv, summary.most, summary.most_over_mean) == (0.4, 9, 1.8)
    assert summary.gini == pytest.approx(0.2125)
    shares, carried = cumulative_curve([1, 3, 0, 0])
    assert shares.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert carried.tolist() == [0, 0.75, 1, 1, 1]


def test_no_load_is_an_even_load() -> None:
    summary = LoadSummary.of([0, 0, 0])
    assert (summary.sd, summary.cv, summary.most_over_mean, summary.gini) == (0, 0, 1, 0)
    shares, carried = cumulative_curve([0, 0, 0])
    assert shares.tolist() == carried.tolist()


@given(LOADS)
def test_gini_is_half_the_mean_difference_over_the_mean(loads: list[int]) -> None:
    array = np.array(loads, dtype=float)
    differences = np.abs(array[:, None] - array[None, :]).mean()
    expected = differences / (2 * array.mean()) if array.sum() else 0.0
    assert LoadSummary.of(loads).gini == pytest.approx(expected)


@given(LOADS)
def test_the_curve_rises_ever_more_slowly_from_nothing_to_everything(loads: list[int]) -> None:
    shares, carried = cumulative_curve(loads)
    assert (shares[0], carried[0]) == (0, 0)
    assert (shares[-1], carried[-1]) == (1, 1)
    assert (np.diff(carried, 2) <= 1e-12).all()


@pytest.mark.parametrize("loads", [[], [-1.0, 2.0], [float("inf")]])
def test_what_is_no_load_is_refused(loads: list[float]) -> None:
    with pytest.raises(SettingError, match="there must be some, finite and not below 0"):
        LoadSummary.of(loads)
