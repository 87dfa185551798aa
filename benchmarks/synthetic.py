"""Records without a schema: the synthetic workload of the paper on the matching tree, against the counting algorithm.

The counting algorithm gets its events as numbered attributes in flat arrays; `match_many` reads the same events as an
Arrow table of a thousand columns, mostly null, and as dicts. All must find the same number of matches in every event.
"""

from __future__ import annotations

import statistics

import numpy as np

from benchmarks.alternatives.counting import Counting
from benchmarks.filling import filled
from benchmarks.measuring import in_turn, matches_in, matches_per_event, report, same_counts, scaled
from benchmarks.workloads.attributes import ZIPF, Predicates, Records, predicates, records

SUBSCRIPTIONS = scaled(1_000_000)
EVENTS = scaled(20_000, least=2_000)
BATCH = scaled(4_000, least=1_000)
SAMPLE = 500  # events that are matched by themselves, to learn how many candidates each has
REPETITIONS = 5


def run() -> None:
    for name, skew in (("uniform", 0.0), (f"Zipf {ZIPF}", ZIPF)):
        print(
            f"\nsynthetic, attributes {name}: {SUBSCRIPTIONS:,} subscriptions, {EVENTS:,} events, batches of {BATCH:,}"
        )
        measure(predicates(SUBSCRIPTIONS, skew), records(EVENTS, skew))


def measure(asked: Predicates, events: Records) -> None:
    matcher, seconds = filled(asked.texts())
    print(f"  parsed and compiled in {seconds:.1f} s; hardly two texts have one shape")
    counting = Counting(asked)
    runs = [(at, min(at + BATCH, len(events))) for at in range(0, len(events), BATCH)]
    tables, dicts = [events.table(*each) for each in runs], events.dicts()

    def by_counting() -> int:
        return sum(len(counting.match(events, *each)[1]) for each in runs)

    def by_tables() -> int:
        return sum(matches_in(matcher.match_many(table, lists=True)) for table in tables)

    def by_dicts() -> int:
        return sum(matches_in(matcher.match_many(dicts[start:end], lists=True)) for start, end in runs)

    expected = np.concatenate([np.diff(counting.match(events, *each)[0], prepend=0) for each in runs])
    found = np.concatenate([matches_per_event(matcher.match_many(table, lists=True)) for table in tables])
    from_dicts = np.concatenate([matches_per_event(matcher.match_many(dicts[a:b], lists=True)) for a, b in runs])
    same_counts(expected, match_many=found, match_many_of_dicts=from_dicts)
    tested = [matcher.match(event).cost.evaluated for event in dicts[:SAMPLE]]
    print(f"  {expected.sum() / len(events):,.1f} matches an event, verified in each")
    print(f"  {statistics.mean(tested):,.0f} candidates tested (mean of {len(tested)} events), at most {max(tested):,}")
    ways = in_turn(
        REPETITIONS, len(events), counting=by_counting, match_many_Arrow=by_tables, match_many_dicts=by_dicts
    )
    report("against the counting algorithm", ways, "events", base="counting", ours="match_many_Arrow")
