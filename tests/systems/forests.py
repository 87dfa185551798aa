"""Small networks, subscriptions that string trees have a place for, and events that come close to them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tidings.overlay.network import Network
from tidings.overlay.pastry import Pastry
from tidings.overlay.spaces import IdentifierSpace
from tidings.rendezvous.ranges import EvenDomain
from tidings.systems.pastry_strings import ForestSettings, PastryStrings

SPACE = IdentifierSpace(base=4, length=6)
DOMAIN = EvenDomain(0, 200)
LETTERS = "0123"


def system(
    peers: int = 12, seed: int = 0, loss: float = 0.0, space: IdentifierSpace = SPACE, **settings: Any
) -> PastryStrings:
    # Twelve attempts: a peer that is up is never taken for gone, whatever is lost on the way.
    overlay = Pastry.settled(space.spread(peers, seed), space, Network(seed=seed, loss=loss, attempts=12))
    chosen = {"depth": 4, "domains": {"n": DOMAIN, "m": DOMAIN}, "any_domain": DOMAIN, "seed": seed, **settings}
    return PastryStrings(overlay, ForestSettings(**chosen))


def texts(longest: int = 4, letters: str = LETTERS) -> st.SearchStrategy[str]:
    return st.text(letters, min_size=1, max_size=longest)


def strings_asked(name: str = "s", longest: int = 4) -> st.SearchStrategy[str]:
    return st.one_of(
        texts(longest).map(lambda text: f"{name} = '{text}'"),
        texts(longest).map(lambda text: f"{name} LIKE '{text}%'"),
        texts(longest).map(lambda text: f"{name} LIKE '%{text}'"),
    )


def containments() -> st.SearchStrategy[str]:
    return st.builds(lambda first, last: f"s LIKE '{first}%{last}'", texts(3), texts(3))


def numbers_asked(name: str = "n") -> st.SearchStrategy[str]:
    # Not the ends of the domain: what lies beyond is clamped to them, so there a label alone does not decide.
    number = st.integers(1, 199)
    return st.one_of(
        st.builds(lambda sign, value: f"{name} {sign} {value}", st.sampled_from(("=", "<", "<=", ">", ">=")), number),
        number.map(lambda value: f"{name} <> {value}"),
        st.builds(lambda low, size: f"{name} BETWEEN {low} AND {min(low + size, 200)}", number, st.integers(0, 20)),
    )


def plain_subscriptions() -> st.SearchStrategy[str]:
    """Of which labels say all there is to say: one predicate each on some of the attributes."""
    asked = st.tuples(
        st.none() | strings_asked("s"),
        st.none() | strings_asked("t"),
        st.none() | numbers_asked("n"),
        st.none() | numbers_asked("m"),
    )
    return asked.filter(any).map(lambda parts: " AND ".join(part for part in parts if part))


def odd_subscriptions() -> st.SearchStrategy[str]:
    """What goes beyond the paper's model: containment, several predicates of an attribute, OR, what no tree has."""
    part = st.one_of(strings_asked(longest=6), containments(), numbers_asked())
    rest = st.sampled_from(
        ("NOT s LIKE '%2%'", "s RLIKE '1.*3'", "n IN (3, 7, 150)", "s IN ('01', '3')", "NOT n = 5", "s IS NOT NULL")
    )
    conjunction = st.builds(lambda first, more: " AND ".join((first, *more)), part, st.lists(part | rest, max_size=2))
    return st.lists(conjunction, min_size=1, max_size=2).map(lambda parts: " OR ".join(f"({each})" for each in parts))


def plain_events() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {}, optional={"s": texts(), "t": texts(), "n": st.integers(0, 200), "m": st.integers(0, 200)}
    ).filter(bool)


def odd_events() -> st.SearchStrategy[dict[str, Any]]:
    """Values outside of what labels can say: too long, with other characters, between steps, outside, arrays, none."""
    text = st.one_of(texts(7), st.just(""), st.text("0é9 ", max_size=3))
    number = st.integers(-10, 220) | st.floats(-5, 205) | st.sampled_from((float("nan"), 10**30))
    return st.fixed_dictionaries(
        {},
        optional={
            "s": text | st.lists(text, max_size=2) | st.integers(0, 3),
            "n": number | st.lists(number, max_size=2),
        },
    )
