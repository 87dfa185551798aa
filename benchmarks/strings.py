"""Strings: beginnings, ends, words, pieces and whole strings of titles and authors, each kind apart, and all mixed.

The floor is one pass of an Aho-Corasick automaton (ahocorasick_rs) over the same strings, which finds the pieces but
not yet the subscriptions; for equality a dict is the better floor, and is measured too. What one would write first, a
loop, is measured on far fewer subscriptions and events. Counts are verified in every event.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa

from benchmarks.alternatives.string_search import ByValue, Loop, OnePass
from benchmarks.data import Publication, publications
from benchmarks.filling import filled
from benchmarks.measuring import Measured, in_turn, matches_in, matches_per_event, report, same_counts, scaled
from benchmarks.workloads.strings import KINDS, StringQuestion, mixed, questions

SUBSCRIPTIONS = scaled(1_000_000)
EVENTS = scaled(10_000, least=1_000)
BATCH = scaled(2_000, least=500)
FEW_SUBSCRIPTIONS, FEW_EVENTS = scaled(10_000, least=2_000), 50
SAMPLE = 500  # events that are matched by themselves, to learn how many candidates each has
REPETITIONS = 5


def run() -> None:
    records, where_from = publications()
    events = Random(6).sample(records, min(EVENTS, len(records)))
    print(
        f"\nstrings: {SUBSCRIPTIONS:,} subscriptions of each kind and of the mix, {len(events):,} events ({where_from})"
    )
    for kind in KINDS:
        measure(kind, questions(kind, records, SUBSCRIPTIONS), events)
    measure("all mixed", mixed(records, SUBSCRIPTIONS), events)


def measure(kind: str, asked: list[StringQuestion], events: list[Publication]) -> None:
    matcher, seconds = filled(question.text() for question in asked)
    one_pass = OnePass(asked)
    parts = [events[at : at + BATCH] for at in range(0, len(events), BATCH)]
    batches = [as_table(part) for part in parts]
    expected = np.array([one_pass.matches(event) for event in events])
    found = np.concatenate([matches_per_event(matcher.match_many(batch, lists=True)) for batch in batches])
    same_counts(expected, match_many=found)
    dicts = [{"title": event.title, "authors": event.authors} for event in events[:SAMPLE]]
    tested = sum(matcher.match(event).cost.evaluated for event in dicts) / len(dicts)
    ways = {
        "Aho-Corasick_pass": lambda: one_pass.occurrences(events),
        "match_many": lambda: sum(matches_in(matcher.match_many(batch, lists=True)) for batch in batches),
    }
    if kind == "equality":
        by_value = ByValue(asked)
        same_counts(expected, dict=np.array([len(by_value.answers(event)) for event in events]))
        ways["dict"] = lambda: sum(len(by_value.answers(event)) for event in events)
    measured = in_turn(REPETITIONS, len(events), **ways)
    title = f"{kind}: {expected.mean():,.1f} matches an event, verified; {tested:,.1f} candidates tested; "
    title += f"built in {seconds:.1f} s"
    report(title, measured, "events", base="Aho-Corasick_pass", ours="match_many")
    report(*against_loop(asked[:: max(1, len(asked) // FEW_SUBSCRIPTIONS)], events[:FEW_EVENTS]))


def against_loop(
    asked: list[StringQuestion], events: list[Publication]
) -> tuple[str, dict[str, Measured], str, str, str]:
    loop, batch = Loop(asked), as_table(events)
    matcher, _ = filled(question.text() for question in asked)
    expected = np.array([loop.matches(event) for event in events])
    same_counts(expected, match_many=matches_per_event(matcher.match_many(batch, lists=True)))
    measured = in_turn(
        3,
        len(events),
        loop=lambda: sum(loop.matches(event) for event in events),
        match_many=lambda: matcher.match_many(batch, lists=True),
    )
    title = (
        f"  of them {len(asked):,} subscriptions, {len(events)} events, against a loop of in, startswith, endswith, =="
    )
    return title, measured, "events", "loop", "match_many"


def as_table(events: list[Publication]) -> pa.Table:
    authors = pa.array([event.authors for event in events], pa.list_(pa.string()))
    return pa.table({"title": [event.title for event in events], "authors": authors})
