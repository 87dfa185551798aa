"""Events and subscriptions of every kind, made from a seed: quotes, news items, bibliographic records as XML.

Now and then a value is missing, or a document is cut off, as it happens.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

EVENT_SCHEMA = (
    "id string, kind string, symbol string, low double, high double, volume bigint, at timestamp, headline string, "
    "body string, byline string, tags array<string>, place struct<city: string>, record string"
)
SAID = 34  # characters of a document that a subscriber is shown


@dataclass(frozen=True, slots=True)
class Wish:
    """A subscription, and who has asked for it."""

    id: str
    subscriber: str
    where: str


SUBSCRIPTIONS = (
    Wish("ibm below 140", "Ada", "symbol = 'IBM' AND low <= 140"),
    Wish("heavy trading", "Ada", "volume >= 4500000 AND symbol IN ('IBM', 'MSFT', 'ORCL')"),
    Wish("big swings", "Alan", "high BETWEEN 150 AND 180 AND low < 125"),
    Wish("after lunch", "Alan", "at >= TIMESTAMP '2026-03-02 13:00:00' AND symbol LIKE 'A%'"),
    Wish("not tech", "Grace", "kind = 'quote' AND NOT symbol IN ('IBM', 'MSFT', 'ORCL', 'AAPL')"),
    Wish("no volume", "Grace", "kind = 'quote' AND volume IS NULL"),
    Wish("storms", "Emmy", "matches(headline, 'storm OR flood OR \"high winds\"')"),
    Wish("rate decisions", "Ada", "matches(body, 'bank ->[0,4] rate') AND has_any(tags, 'economy', 'markets')"),
    Wish("chip news", "Alan", "similarity(body, 'chip makers expand their factories') >= 0.4"),
    Wish("london desk", "Emmy", "headline ILIKE '%london%' OR place.city = 'London'"),
    Wish("named bylines", "Grace", "byline RLIKE '^By [A-Z][a-z]+ [A-Z][a-z]+$'"),
    Wish("recent theses", "Emmy", "xpath_boolean(record, '/phdthesis[year >= 2020]')"),
    Wish("works by Noether", "Grace", "xpath_boolean(record, '//author[contains(., \"Noether\")]')"),
    Wish("long articles", "Alan", "xpath_boolean(record, '/article[@pages > 30 and journal]') AND kind = 'record'"),
)
WRONG = Wish("a mistake", "Edsger", "contians(headline, 'storm')")  # to show what is said of it
ADDED = (
    Wish("athens desk", "Emmy", "place.city = 'Athens' OR headline LIKE '%Athens%'"),
    Wish("coca cola", "Ada", "symbol = 'KO'"),
)
REMOVED = ("not tech", "storms")

_SYMBOLS = ("IBM", "MSFT", "ORCL", "AAPL", "KO", "GE", "XOM", "ABB")
_TOPICS = {
    "weather": (
        "Storm reaches {city}",
        "A storm with high winds reached {city} on Monday, and the river may flood again.",
    ),
    "economy": (
        "Central bank speaks in {city}",
        "The central bank left its key rate where it was, said economists in {city}.",
    ),
    "technology": (
        "Chip makers look to {city}",
        "Two makers of chips will expand their factories near {city} next year.",
    ),
    "sport": ("Late goal in {city}", "A late goal decided the match in {city} before a full stadium."),
}
_CITIES = ("London", "Athens", "Oslo", "Lisbon", "Patras")
_AUTHORS = ("Ada Lovelace", "Alan Turing", "Emmy Noether", "Grace Hopper", "Edsger Dijkstra")


_OPENED, _SECONDS = datetime(2026, 3, 2, 9, tzinfo=UTC), 8 * 3_600  # all that happens on one day of work


def made_events(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """In the order in which they happen."""
    chance = random.Random(seed)
    makers = (_quote, _news, _record)
    for number in range(count):
        at = _OPENED + timedelta(seconds=_SECONDS * number // count)
        yield {"id": f"e{number}", "at": at, **chance.choice(makers)(chance)}


def gist(event: Mapping[str, Any]) -> str:
    """What a subscriber reads of an event, in one short line."""
    if event.get("symbol") is not None:
        return f"{event['symbol']} at {event['low']:.2f}"
    said = str(event["headline"] if event.get("headline") is not None else event["record"])
    return said if len(said) <= SAID else said[:SAID] + "…"


def _quote(chance: random.Random) -> dict[str, Any]:
    low = round(chance.uniform(90, 170), 2)
    quote = {
        "kind": "quote",
        "symbol": chance.choice(_SYMBOLS),
        "low": low,
        "high": round(low * chance.uniform(1, 1.4), 2),
        "volume": chance.randrange(10_000, 5_000_000),
    }
    if chance.random() < 0.05:
        quote["volume"] = None
    return quote


def _news(chance: random.Random) -> dict[str, Any]:
    topic, city = chance.choice(sorted(_TOPICS)), chance.choice(_CITIES)
    headline, body = _TOPICS[topic]
    return {
        "kind": "news",
        "headline": headline.format(city=city),
        "body": body.format(city=city),
        "byline": chance.choice(("By Ada Lovelace", "From our correspondent", "By Staff")),
        "tags": [topic, *chance.sample(("front page", "markets", "europe"), chance.randrange(3))],
        "place": {"city": city},
    }


def _record(chance: random.Random) -> dict[str, Any]:
    kind = chance.choice(("article", "phdthesis", "book"))
    author, year, pages = chance.choice(_AUTHORS), chance.randrange(1990, 2027), chance.randrange(4, 60)
    journal = "<journal>Annals of Matching</journal>" if kind == "article" else ""
    closing = f"</{kind}>" if chance.random() > 0.03 else ""  # now and then a document is cut off
    document = (
        f'<{kind} pages="{pages}"><author>{author}</author><title>On matching, part {chance.randrange(1, 9)}</title>'
        f"<year>{year}</year>{journal}{closing}"
    )
    return {"kind": "record", "record": document}
