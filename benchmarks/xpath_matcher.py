"""XPath filters through a `Matcher`: all matches of all filters as an answer, and filters that come and go.

The limit of the answers is what nobody can do without: reading the documents, and writing the identifiers. It is
measured in turn with `match_many`, as the engine's reading with one filter that never holds, and as a copy of ready
answers to memory that was used before, as `match_many` has it: fresh memory costs more than the writing. All numbers of
matches are verified against the engine's facts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import count, islice

import numpy as np
import pyarrow as pa

from benchmarks.alternatives.xpath_search import parse_each
from benchmarks.measuring import in_turn, matches_per_event, report, same_counts, scaled
from tidings.index.layout import Array
from tidings.index.xml.engine import XPathEngine
from tidings.index.xml.texts import as_texts
from tidings.language.xpath import parse_xpath
from tidings.matcher import Matcher

REPETITIONS = 5
CHANGED = 1_000  # filters that are removed, and as many that are added, between batches
ROUNDS = 20


def run(released: Sequence[str], documents: Sequence[bytes]) -> None:
    distinct = list(dict.fromkeys(released))
    number = {text: at for at, text in enumerate(distinct)}
    which = np.array([number[text] for text in released])
    found = XPathEngine.build([parse_xpath(text) for text in distinct]).find(as_texts(documents))
    held = np.zeros((len(documents), len(distinct)), np.bool_)
    for at in range(len(documents)):
        held[at, found.fact[found.start[at] : found.start[at + 1]]] = True
    whole_answers(released, documents, held[:, which])
    while_they_change(released, documents, held[:, which])


def whole_answers(released: Sequence[str], documents: Sequence[bytes], held: Array) -> None:
    """`held` says of each document which filters hold."""
    matcher = Matcher(uncompiled=0)
    start = time.perf_counter()
    matcher.add_many(enumerate(map(subscription, released)))
    matcher.merge()
    seconds = time.perf_counter() - start
    events = as_events(documents)
    ready = [np.flatnonzero(row) for row in held]
    same_counts(held.sum(axis=1), match_many=matches_per_event(matcher.match_many(events, lists=True)))
    nothing, batch = XPathEngine.build([parse_xpath("/none")]), as_texts(documents)
    ways: dict[str, Callable[[], object]] = {
        "match_many": lambda: matcher.match_many(events, lists=True),
        "parsing_by_lxml": lambda: parse_each(documents),
        "reading": lambda: nothing.find(batch),
        "writing": lambda: written(ready),
        "limit": lambda: (nothing.find(batch), written(ready)),
    }
    measured = in_turn(REPETITIONS, len(documents), **ways)
    title = f"xpath through match_many: {len(released):,} filters, {held.sum(axis=1).mean():,.0f} matches a document"
    report(title, measured, "documents", base="limit", ours="match_many")
    print("  microseconds a document: " + ", ".join(f"{way} {1e6 / each.rate:,.0f}" for way, each in measured.items()))
    print(f"  {len(released) / seconds:,.0f} filters/s from text into the matcher")


def written(answers: Sequence[Array]) -> Array:
    """All answers, one after the other, in Arrow's memory."""
    room: Array = np.frombuffer(pa.allocate_buffer(8 * sum(map(len, answers))), np.int64)
    return np.concatenate(answers, out=room)


def while_they_change(released: Sequence[str], documents: Sequence[bytes], held: Array) -> None:
    """A matcher whose filters are the latest of a row of them: the oldest go when new ones come."""
    kept, changed = scaled(100_000, least=400), min(CHANGED, scaled(10_000, least=40))
    ids = count()
    coming = ((number, number % len(released)) for number in ids)  # an identifier, and the filter that it has
    matcher = Matcher(uncompiled=0)
    alive = dict(islice(coming, kept))
    matcher.add_many((id, subscription(released[which])) for id, which in alive.items())
    matcher.merge()
    events = as_events(documents)

    def match() -> pa.Table:
        return matcher.match_many(events, lists=True)

    def change() -> None:
        for id in list(islice(alive, changed)):
            matcher.remove(id)
            del alive[id]
        new = dict(islice(coming, changed))
        alive.update(new)
        matcher.add_many((id, subscription(released[which])) for id, which in new.items())

    expected = held[:, list(alive.values())].sum(axis=1)
    same_counts(expected, match_many=matches_per_event(match()))
    unchanged = in_turn(REPETITIONS, len(documents), match_many=match)["match_many"]
    changes: list[float] = []
    matching: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        change()
        changes.append(time.perf_counter() - start)
        start = time.perf_counter()
        answer = match()
        matching.append(time.perf_counter() - start)
        same_counts(held[:, list(alive.values())].sum(axis=1), match_many=matches_per_event(answer))
    print(
        f"\nxpath while filters change: {kept:,} filters, {changed:,} removed and added before each of {ROUNDS} batches"
    )
    print(f"  unchanged: {unchanged.rate:,.0f} documents/s, spread {unchanged.spread:.0%}")
    for name, seconds in (("without", sum(matching)), ("with", sum(matching) + sum(changes))):
        rate = len(documents) * ROUNDS / seconds
        print(f"  changing: {rate:,.0f} documents/s {name} the changes themselves, {rate / unchanged.rate:.2f} of that")
    for name, each in (("a change", changes), ("the batch after it, which compiles what came", matching)):
        print(f"  {name}: {np.median(each) * 1e3:,.0f} ms in the median, {max(each) * 1e3:,.0f} ms at most")


def subscription(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"xpath_boolean(document, '{quoted}')"


def as_events(documents: Sequence[bytes]) -> pa.Table:
    return pa.table({"document": pa.array(documents, pa.binary())})
