"""Identifiers: arithmetic on the circle, digits of any base, and the hash that gives a text its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import SettingError
from tidings.overlay.spaces import IdentifierSpace, numerically_closest

SPACES = st.sampled_from(
    (IdentifierSpace(2, 5), IdentifierSpace(3, 4), IdentifierSpace(15, 2), IdentifierSpace(64, 10))
)


@st.composite
def spaces_and_identifiers(draw: st.DrawFn, count: int) -> tuple[IdentifierSpace, list[int]]:
    space = draw(SPACES)
    return space, draw(st.lists(st.integers(0, space.size - 1), min_size=count, max_size=count))


@given(spaces_and_identifiers(2))
def test_the_way_there_and_the_way_back_make_the_circle(drawn: tuple[IdentifierSpace, list[int]]) -> None:
    space, (one, other) = drawn
    there, back = space.clockwise(one, other), space.clockwise(other, one)
    assert (one + there) % space.size == other
    assert there + back == (0 if one == other else space.size)
    assert space.distance(one, other) == space.distance(other, one) == min(there, back)


@given(st.sampled_from((IdentifierSpace(2, 4), IdentifierSpace(3, 2))), st.data())
def test_an_arc_holds_what_one_meets_when_walking_it(space: IdentifierSpace, data: st.DataObject) -> None:
    identifier, after, until = (data.draw(st.integers(0, space.size - 1)) for _ in range(3))
    met = []
    here = after
    while True:
        here = (here + 1) % space.size
        met.append(here)
        if here == until:
            break
    assert space.is_between(identifier, after, until) == (identifier in met)


@given(spaces_and_identifiers(2))
def test_digits_are_the_identifier_written_in_the_base(drawn: tuple[IdentifierSpace, list[int]]) -> None:
    space, (one, other) = drawn
    digits = space.digits(one)
    assert len(digits) == space.length
    assert digits == tuple(space.digit(one, row) for row in range(space.length))
    assert space.identifier(digits) == one
    others = space.digits(other)
    shared = space.shared_digits(one, other)
    assert digits[:shared] == others[:shared]
    assert shared == space.length or digits[shared] != others[shared]


@given(spaces_and_identifiers(6))
def test_the_closest_is_the_first_by_distance_and_then_by_identifier(drawn: tuple[IdentifierSpace, list[int]]) -> None:
    space, (key, *candidates) = drawn
    expected = min(candidates, key=lambda node: (space.distance(node, key), node))
    assert numerically_closest(space, key, candidates) == expected


def test_a_key_is_the_same_on_every_machine() -> None:
    space = IdentifierSpace(16, 8)
    assert space.key_of("tidings") == space.key_of(b"tidings") == 2_581_020_567
    assert space.key_of("tidings", seed=1) == 2_402_656_273


def test_keys_spread_evenly() -> None:
    space = IdentifierSpace(10, 1)
    counts = [0] * 10
    for number in range(10_000):
        counts[space.key_of(f"key {number}")] += 1
    # Chi-square with 9 degrees of freedom is above 27.9 once in a thousand; the keys are always the same ones.
    assert sum((count - 1000) ** 2 / 1000 for count in counts) < 27.9


def test_nodes_are_different_and_in_order() -> None:
    space = IdentifierSpace(2, 6)
    assert space.spread(64) == tuple(range(64))
    assert space.spread(20, seed=1) == tuple(sorted(set(space.spread(20, seed=1))))
    assert space.spread(20, seed=1) != space.spread(20, seed=2)


@pytest.mark.parametrize(("base", "length"), [(1, 5), (2, 0), (2, 63)])
def test_a_space_that_cannot_be_is_refused(base: int, length: int) -> None:
    with pytest.raises(SettingError, match="base is at least 2, the length at least 1, and base"):
        IdentifierSpace(base, length)


def test_more_nodes_than_identifiers_are_refused() -> None:
    with pytest.raises(SettingError, match="5 different identifiers cannot be taken from a space of 4"):
        IdentifierSpace(2, 2).spread(5)
