"""Interval covers: exact, disjoint, the fewest, and few; the paper's example; domains and their edges."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import SettingError
from tidings.language.parser import parse
from tidings.model.predicates import Predicate
from tidings.rendezvous.ranges import (
    ANY_MOMENT,
    Domain,
    EvenDomain,
    FloatDomain,
    Intervals,
    digits_of,
    interval_cover,
    interval_of,
    label_of,
)
from tidings.rendezvous.scheme import NEVER, Access

PAPER = Intervals(2, {"x": EvenDomain(0, 15)})


def labels(where: str, maker: Intervals = PAPER) -> set[str]:
    predicate = parse(where)
    found = maker.access(predicate)  # type: ignore[arg-type]  # each is one predicate
    assert found is not None
    return {key.label for key in found.keys}


def visited(value: Any, maker: Intervals = PAPER) -> set[str]:
    return {key.label for key in maker.keys_of_value("x", value)}


# The example of the paper, 3.3.2 and Figure 4: four binary digits


def test_the_papers_range_is_two_intervals() -> None:
    """[2, 5) is [2, 4), at the node 001, and [4, 5), at the node 0100; an event of 3 meets it at 001."""
    assert interval_cover(2, 4, base=2, digits=4) == ("001", "0100")
    assert labels("x BETWEEN 2 AND 4") == {"001", "0100"}
    assert interval_of("001", 2, 4) == range(2, 4)
    assert visited(3) == {"0", "00", "001", "0011"}
    assert labels("x = 3") == {"0011"}


def test_comparisons_reach_to_the_ends_of_the_domain() -> None:
    assert labels("x < 5") == {"00", "0100"}
    assert labels("x <= 4") == {"00", "0100"}
    assert labels("x > 4") == {"0101", "011", "1"}
    assert labels("x >= 5") == {"0101", "011", "1"}
    assert labels("x <> 4") == {"00", "0101", "011", "1"}
    assert labels("x >= 0") == {"0", "1"}
    assert labels("x IN (3, 15)") == {"0011", "1111"}


def test_what_is_no_integer_visits_both_neighbours() -> None:
    assert visited(2.5) == visited(2) | visited(3)
    assert labels("x BETWEEN 2.2 AND 2.8") == {"001"}  # 2 and 3
    assert labels("x BETWEEN 2.2 AND 4.8") == {"0011", "0100"}
    assert labels("x > 2.5 ") == labels("x >= 3")


def test_what_is_outside_is_clamped() -> None:
    assert visited(-7) == visited(-math.inf) == visited(0) == visited(Decimal("-1E+999999"))
    assert visited(99) == visited(10**400) == visited(15)
    assert visited(Decimal("1E-999999")) == visited(0) | visited(1)
    assert labels("x > 99") == {"1111"}
    assert labels("x < -1") == {"0000"}


def test_other_types_have_no_interval() -> None:
    assert PAPER.access(_predicate("x = 'a'")) is None
    assert PAPER.access(_predicate("x = TRUE")) is None
    assert PAPER.access(_predicate("x LIKE 'a%'")) is None
    assert list(PAPER.keys_of_value("x", True)) == list(PAPER.keys_of_value("x", "5")) == []


def test_crossed_ends_never_match_unless_their_floats_meet() -> None:
    assert PAPER.access(_predicate("x BETWEEN 5 AND 4")) == NEVER
    found = PAPER.access(_predicate("x BETWEEN 1.00000000000000000002 AND 1.00000000000000000001"))
    assert isinstance(found, Access)
    assert "0001" in {key.label for key in found.keys}  # the float 1.0 satisfies it


def test_moments_have_keys_of_their_own() -> None:
    day = timedelta(days=1)
    january = EvenDomain.of_moments(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 31, tzinfo=UTC), day)
    maker = Intervals(2, {"x": EvenDomain(0, 15)}, {"x": january})
    assert january.size == 31
    assert labels("x < DATE '2026-01-05'", maker) == {"000"}  # the first four of 32 days
    noon = set(maker.keys_of_value("x", datetime(2026, 1, 4, 12, tzinfo=UTC)))
    assert {key.kind for key in noon} == {"moment"}
    assert {key.label for key in noon} >= {"00011", "00100"}


def _predicate(where: str) -> Predicate:
    return parse(where)  # type: ignore[return-value]  # each is one predicate


# Covers


@st.composite
def covers(draw: st.DrawFn) -> tuple[int, int, int, int]:
    base = draw(st.sampled_from((2, 3, 10, 15, 62)))
    digits = draw(st.integers(1, 12))
    ends = draw(st.tuples(*[st.integers(0, base**digits - 1)] * 2))
    return min(ends), max(ends), base, digits


@given(covers())
def test_a_cover_is_exact_disjoint_ordered_and_short(cover: tuple[int, int, int, int]) -> None:
    low, high, base, digits = cover
    reached = low
    found = interval_cover(*cover)
    for label in found:
        interval = interval_of(label, base, digits)
        assert interval.start == reached
        reached = interval.stop
    assert reached == high + 1
    levels = digits_of(high - low + 2, base)  # the lengths of interval that fit into the range
    assert len(found) <= 2 * (base - 1) * levels


@pytest.mark.parametrize(("base", "digits"), [(2, 4), (3, 2), (4, 2), (15, 1)])
def test_no_cover_is_smaller(base: int, digits: int) -> None:
    intervals = [
        interval_of(label_of(start, base, digits)[:length], base, digits)
        for length in range(1, digits + 1)
        for start in range(0, base**digits, base ** (digits - length))
    ]

    @cache
    def fewest(low: int, high: int) -> float:
        """By trying every interval that begins where the range begins."""
        if low > high:
            return 0
        fitting = [interval for interval in intervals if interval.start == low and interval.stop - 1 <= high]
        return 1 + min(fewest(interval.stop, high) for interval in fitting)

    for low in range(base**digits):
        for high in range(low, base**digits):
            assert len(interval_cover(low, high, base, digits)) == fewest(low, high)


def test_covers_refuse_what_they_cannot_write() -> None:
    with pytest.raises(SettingError, match=r"a range lies in 0..15, low end first, and this one is 3..2"):
        interval_cover(3, 2, 2, 4)
    with pytest.raises(SettingError, match=r"base 2 to 62, not 1"):
        interval_cover(0, 0, 1, 4)
    with pytest.raises(SettingError, match=r"base 2 to 62, not 63"):
        Intervals(63)
    with pytest.raises(SettingError, match=r"at least 1 digit, not 0"):
        interval_cover(0, 0, 2, 0)


def test_domains_refuse_what_has_no_order() -> None:
    for low, high, step in ((1, 0, 1), (0, 1, 0), (0, math.inf, 1)):
        with pytest.raises(SettingError, match=r"low <= high, and a step above 0"):
            EvenDomain(low, high, step)
    with pytest.raises(SettingError, match=r"2 to 64 bits, not to 65"):
        FloatDomain(65)


# Domains

DOMAINS: list[Domain] = [
    EvenDomain(0, 15),
    EvenDomain(-1, 1, Decimal("0.01")),
    EvenDomain(0.5, 99.9, 0.1),
    FloatDomain(),
    FloatDomain(2),
    FloatDomain(64),
    ANY_MOMENT,
]
any_numbers = (
    st.integers(-20, 20)
    | st.integers()
    | st.floats(allow_nan=False)
    | st.decimals(allow_nan=False)
    | st.sampled_from([2**53, 2**53 + 1, 10**400, -(10**400), Decimal("5.0000000000000000000001"), 0.0, -0.0])
)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@given(values=st.tuples(any_numbers, any_numbers))
def test_positions_keep_the_order_and_whole_ones_belong_to_one_value(domain: Domain, values: tuple[Any, Any]) -> None:
    low, high = sorted(values)
    first, second = domain.position(low), domain.position(high)
    assert first <= second
    if low < high and first == second and 0 <= first < domain.size:
        assert first.denominator > 1
