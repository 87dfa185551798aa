"""Sets: who hears of an author, of words together, of any of several authors, as in paper 3 on the matching tree.

Against an inverted index of Python dicts, which is what one would write by hand, and DuckDB with one join per kind,
counting only. Counts are verified: event by event with the dicts, in all with DuckDB.
"""

from __future__ import annotations

from random import Random

import numpy as np

from benchmarks.alternatives.set_search import ByDuckDB, Inverted
from benchmarks.data import publications
from benchmarks.filling import filled
from benchmarks.measuring import in_turn, matches_in, matches_per_event, report, same_count, same_counts, scaled
from benchmarks.workloads.sets import set_event, set_events_table, set_questions

SUBSCRIPTIONS = scaled(1_000_000)
EVENTS = scaled(20_000, least=1_000)
BATCH = scaled(4_000, least=500)
SAMPLE = 500  # events that are matched by themselves, to learn how many candidates each has
REPETITIONS = 5


def run() -> None:
    records, where_from = publications()
    everything = [set_event(record) for record in records]
    events = Random(8).sample(everything, min(EVENTS, len(everything)))
    asked = set_questions(everything, SUBSCRIPTIONS)
    matcher, seconds = filled(question.text() for question in asked)
    print(f"\nsets: {SUBSCRIPTIONS:,} subscriptions, {len(events):,} events ({where_from}), batches of {BATCH:,}")
    print(f"  parsed and compiled in {seconds:.1f} s")
    inverted, database = Inverted(asked), ByDuckDB(asked)
    batches = [set_events_table(events[at : at + BATCH]) for at in range(0, len(events), BATCH)]

    def by_dicts() -> int:
        return sum(len(inverted.answers(event)) for event in events)

    def by_duckdb() -> int:
        return sum(database.count(batch) for batch in batches)

    def by_tidings() -> int:
        return sum(matches_in(matcher.match_many(batch, lists=True)) for batch in batches)

    expected = np.array([len(inverted.answers(event)) for event in events])
    found = np.concatenate([matches_per_event(matcher.match_many(batch, lists=True)) for batch in batches])
    same_counts(expected, match_many=found)
    same_count(int(expected.sum()), DuckDB=by_duckdb())
    alone = [{"authors": event.authors, "words": event.words} for event in events[:SAMPLE]]
    tested = sum(matcher.match(event).cost.evaluated for event in alone) / len(alone)
    print(f"  {expected.mean():,.1f} matches an event, verified; {tested:,.1f} candidates tested")
    ways = in_turn(REPETITIONS, len(events), dicts=by_dicts, DuckDB_counting=by_duckdb, match_many=by_tidings)
    report("against an inverted index of dicts, and DuckDB", ways, "events", base="dicts", ours="match_many")
