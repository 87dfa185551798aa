"""Seeded subscriptions and events of the kinds that the papers measure with, small enough for a test."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from tidings.language.parser import parse
from tidings.model.event import Event
from tidings.model.normal_form import conjunctions
from tidings.model.predicates import Conjunction

Workload: TypeAlias = tuple[list[Conjunction], list[Event]]

SYMBOLS = [f"S{number:02}" for number in range(100)]
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu")
TAGS = [f"tag{number}" for number in range(200)]


def workload(name: str, subscriptions: int, events: int, seed: int = 1) -> Workload:
    random = Random(f"{name} {seed}")
    where, event = WORKLOADS[name]
    stored = [conjunctions(parse(where(random)))[0] for _ in range(subscriptions)]
    return stored, [Event.of(event(random)) for _ in range(events)]


def stock_where(random: Random) -> str:
    """The five templates of paper 3, Table 3."""
    symbol, price, volume = random.choice(SYMBOLS), random.randrange(1, 500), random.randrange(9_000, 10_000) * 1000
    template = random.choices(range(5), (20, 35, 35, 5, 5))[0]
    return (
        f"symbol = '{symbol}' AND open BETWEEN {price} AND {price + 20}",
        f"symbol = '{symbol}' AND low <= {price}",
        f"symbol = '{symbol}' AND high >= {price}",
        f"symbol = '{symbol}' AND volume >= {volume}",
        f"volume >= {volume}",
    )[template]


def stock_event(random: Random) -> dict[str, Any]:
    price = random.randrange(100, 50_000) / 100
    return {
        "symbol": random.choice(SYMBOLS),
        "open": price,
        "low": round(price * 0.97, 2),
        "high": round(price * 1.02, 2),
        "volume": random.randrange(10_000) * 1000,
    }


def word(random: Random, syllables: int = 4) -> str:
    return "".join(random.choice(SYLLABLES) for _ in range(syllables))


def string_where(random: Random) -> str:
    text = word(random)
    kinds = (f"= '{text}'", f"LIKE '{text[:5]}%'", f"LIKE '%{text[-5:]}'", f"LIKE '{text[:3]}%{text[-3:]}'")
    return f"name {random.choice(kinds)}"


def substring_where(random: Random) -> str:
    return f"name LIKE '%{word(random, 3)[:5]}%'"


def string_event(random: Random) -> dict[str, Any]:
    return {"name": word(random, random.randrange(3, 8))}


def range_where(random: Random) -> str:
    low = random.randrange(1000)
    return random.choice((f"x BETWEEN {low} AND {low + random.randrange(20)}", f"x = {low}"))


def range_event(random: Random) -> dict[str, Any]:
    return {"x": random.choice((random.randrange(1000), random.random() * 1000))}


def set_where(random: Random) -> str:
    tags = ", ".join(f"'{_tag(random)}'" for _ in range(random.randrange(1, 4)))
    return f"{random.choice(('has_all', 'has_all', 'has_any'))}(tags, {tags})"


def set_event(random: Random) -> dict[str, Any]:
    return {"tags": [_tag(random) for _ in range(random.randrange(1, 8))]}


def _tag(random: Random) -> str:
    return TAGS[int(len(TAGS) * random.random() ** 2)]  # the first ones more often


def schema_where(random: Random) -> str:
    """Of paper 3's synthetic workload: few attributes out of many, a range or a value of each."""
    names = random.sample(range(50), random.randrange(1, 6))
    values = [random.randrange(1000) for _ in names]
    kinds = ("a{0} = {1}", "a{0} >= {1}", "a{0} <= {1}", "a{0} BETWEEN {1} AND {2}")
    terms = zip(names, values, strict=True)
    return " AND ".join(random.choice(kinds).format(name, value, value + 100) for name, value in terms)


def schema_event(random: Random) -> dict[str, Any]:
    return {f"a{name}": random.randrange(1000) for name in random.sample(range(50), random.randrange(1, 20))}


def mixed_where(random: Random) -> str:
    """Every kind of predicate, on the names that the shared strategies use too."""
    number, text = random.randrange(-3, 9), random.choice(("a", "b", "ab", "abc", "é"))
    kinds = (
        f"n = {number}",
        f"n < {number}",
        f"n >= {number / 4}",
        f"n <> {number}",
        f"n BETWEEN {number} AND {number + 3}",
        f"n IN ({number}, {number + 1})",
        f"s = '{text}'",
        f"s >= '{text}'",
        f"s LIKE '{text}%'",
        f"s LIKE '%{text}%'",
        f"s ILIKE '%{text}'",
        f"tags = {number}",
        f"has_all(tags, {number}, {number + 1})",
        f"has_any(tags, '{text}', 'b')",
        f"list.n > {number}",
        f"r.s LIKE '{text}%'",
        "flag",
        f"at < TIMESTAMP '20{20 + number}-01-01 12:00:00'",
        f"NOT n = {number}",
        "n IS NULL",
        f"body RLIKE '{text}'",
    )
    return " AND ".join(random.sample(kinds, random.choice((1, 1, 2, 3))))


def mixed_event(random: Random) -> dict[str, Any]:
    return {"n": random.randrange(-3, 9), "s": random.choice("ab"), "tags": [random.randrange(9), "a"], "flag": True}


WORKLOADS: dict[str, tuple[Callable[[Random], str], Callable[[Random], dict[str, Any]]]] = {
    "stock": (stock_where, stock_event),
    "strings": (string_where, string_event),
    "substrings": (substring_where, string_event),
    "ranges": (range_where, range_event),
    "sets": (set_where, set_event),
    "schemas": (schema_where, schema_event),
    "mixed": (mixed_where, mixed_event),
}
