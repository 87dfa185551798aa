"""`tidings demo`: subscriptions of every kind and events of every kind, made from a seed, matched and explained."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidings import Matcher, print_expression

SUBSCRIPTIONS = {
    "ibm below 140": "symbol = 'IBM' AND low <= 140",
    "heavy trading": "volume >= 4500000 AND symbol IN ('IBM', 'MSFT', 'ORCL')",
    "big swings": "high BETWEEN 150 AND 180 AND low < 125",
    "after lunch": "at >= TIMESTAMP '2026-03-02 13:00:00' AND symbol LIKE 'A%'",
    "not tech": "kind = 'quote' AND NOT symbol IN ('IBM', 'MSFT', 'ORCL', 'AAPL')",
    "no volume": "kind = 'quote' AND volume IS NULL",
    "storms": "matches(headline, 'storm OR flood OR \"high winds\"')",
    "rate decisions": "matches(body, 'bank ->[0,4] rate') AND has_any(tags, 'economy', 'markets')",
    "chip news": "similarity(body, 'chip makers expand their factories') >= 0.4",
    "london desk": "headline ILIKE '%london%' OR place.city = 'London'",
    "dated bylines": "byline RLIKE '^By [A-Z][a-z]+ [A-Z][a-z]+$'",
    "recent theses": "xpath_boolean(record, '/phdthesis[year >= 2020]')",
    "works by Lovelace": "xpath_boolean(record, '//author[contains(., \"Lovelace\")]')",
    "long journals": "xpath_boolean(record, '/article[@pages > 30 and journal]') AND kind = 'record'",
}
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


def run_demo(console: Console, count: int, seed: int) -> None:
    """Makes `count` events, matches them, and prints who hears of what, why, and how fast."""
    matcher = Matcher()
    matcher.add_many(SUBSCRIPTIONS)
    events = list(made_events(count, seed))
    console.print(f"{len(matcher)} subscriptions, {count} events (quotes, news items, XML records; seed {seed})\n")
    start = time.perf_counter()
    results = [matcher.match(event) for event in events]
    elapsed = time.perf_counter() - start
    delivered = Counter(id for result in results for id in result.ids)
    console.print(_delivered(matcher, delivered))
    problems = [problem for result in results for problem in result.errors]
    console.print(f"\n{len(problems)} values could not be read; everything else of their events was matched:")
    for problem in problems[:2]:
        console.print(Text(f"  {problem}"), soft_wrap=True)
    _explain_one_of_each(console, matcher, events)
    pairs = sum(delivered.values())
    console.print(
        f"\n{count} events, {pairs} matches in {elapsed:.2f} s ({count / elapsed:,.0f} events/s). "
        "This is the definition at work, which asks every subscription of every event."
    )


def made_events(count: int, seed: int) -> Iterator[dict[str, Any]]:
    chance = random.Random(seed)
    makers = (_quote, _news, _record)
    for number in range(count):
        yield {"id": f"e{number}", **chance.choice(makers)(chance)}


def _quote(chance: random.Random) -> dict[str, Any]:
    low = round(chance.uniform(90, 170), 2)
    opened = datetime(2026, 3, 2, 9, tzinfo=UTC)
    quote = {
        "kind": "quote",
        "symbol": chance.choice(_SYMBOLS),
        "low": low,
        "high": round(low * chance.uniform(1, 1.4), 2),
        "volume": chance.randrange(10_000, 5_000_000),
        "at": opened + timedelta(minutes=chance.randrange(480)),
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


def _delivered(matcher: Matcher, delivered: Counter[Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("subscription")
    table.add_column("where", overflow="fold")
    table.add_column("events", justify="right")
    for subscription in matcher.subscriptions():
        where = Text(print_expression(subscription.where))
        table.add_row(Text(str(subscription.id), "bold"), where, str(delivered[subscription.id]))
    return table


def _explain_one_of_each(console: Console, matcher: Matcher, events: list[dict[str, Any]]) -> None:
    """The first event that matches, and the first of the same kind that does not."""
    for id, attribute, matches in (("rate decisions", "body", True), ("ibm below 140", "symbol", False)):
        for event in events:
            if attribute not in event:
                continue
            explanation = matcher.explain(id, event)
            if explanation.matches == matches:
                console.print(f"\nwhy '{id}' {'hears' if matches else 'does not hear'} of event {event['id']}:")
                console.print(Text(str(explanation)), soft_wrap=True)
                console.print(Text(explanation.why, "bold"), soft_wrap=True)
                break
