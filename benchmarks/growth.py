"""Growth: what an event costs at 10,000 to 5,000,000 subscriptions, when it has ten matches whatever their number.

The alternative is numpy comparing each event with all subscriptions, column by column: it is linear, and verifies the
counts. All sizes are kept and measured in turn. Draws figures/growth.svg; a scaled run draws ../out/growth.svg.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from benchmarks.filling import filled
from benchmarks.growth_figure import Line, draw
from benchmarks.measuring import Measured, in_turn, matches_per_event, same_counts, scale, scaled
from benchmarks.workloads.bands import Bands, Equalities

SIZES = tuple(scaled(size, least=2_000) for size in (10_000, 100_000, 1_000_000, 5_000_000))
EVENTS = 4_000  # in one batch
SCANNED = 20  # events that numpy compares with all subscriptions
REPETITIONS = 5
Workload: TypeAlias = Bands | Equalities


def run() -> None:
    lines = []
    for name, make in (("bands", Bands.of), ("equalities", Equalities.of)):
        print(f"\ngrowth, {name}: {EVENTS:,} events in one batch, {SCANNED} for the scan")
        indexed, scanned = measure(make)
        lines += [Line(f"match_many, {name}", indexed), Line(f"numpy scan, {name}", scanned)]
    print(f"\ndrawn in {draw(lines, figure())}")


def figure() -> Path:
    """The figure of the documents is of a full run only."""
    here = Path(__file__).parent
    return here / "figures" / "growth.svg" if scale() == 1 else here.parent / "out" / "growth.svg"


def measure(make: Callable[[int], Workload]) -> tuple[dict[int, Measured], dict[int, Measured]]:
    """What `match_many` and the scan take at each size, both with all sizes in turn."""
    matching: dict[str, Callable[[], Any]] = {}
    scanning: dict[str, Callable[[], Any]] = {}
    for size in dict.fromkeys(SIZES):
        workload = make(size)
        events = workload.events(EVENTS)
        matcher, seconds = filled(workload.texts())
        _verify(workload, events, matcher.match_many(events, lists=True), seconds)
        matching[str(size)] = partial(matcher.match_many, events, lists=True)
        scanning[str(size)] = partial(workload.scan, events.slice(0, SCANNED))
    indexed = _by_size(in_turn(REPETITIONS, EVENTS, **matching))
    scanned = _by_size(in_turn(REPETITIONS, SCANNED, **scanning))
    _report(indexed, scanned)
    return indexed, scanned


def _verify(workload: Workload, events: pa.Table, answer: pa.Table, seconds: float) -> None:
    found = matches_per_event(answer)
    same_counts(np.array(workload.scan(events.slice(0, SCANNED))), match_many=found[:SCANNED])
    size = len(workload.symbol)
    print(
        f"  {size:>9,} subscriptions: {found.mean():.1f} matches an event, {SCANNED} verified; built in {seconds:.1f} s"
    )


def _by_size(measured: dict[str, Measured]) -> dict[int, Measured]:
    return {int(size): each for size, each in measured.items()}


def _report(indexed: dict[int, Measured], scanned: dict[int, Measured]) -> None:
    smallest = min(indexed)
    for size, ours in indexed.items():
        theirs = scanned[size]
        cost, scan = 1e6 / ours.rate, 1e6 / theirs.rate
        growth = ours.median / indexed[smallest].median
        print(
            f"  {size:>9,} subscriptions ({size / smallest:>5,.0f} x): match_many {cost:>8,.2f} µs an event, spread "
            f"{ours.spread:>4.0%}, {growth:>6.2f} x the smallest; scan {scan:>10,.1f} µs, spread {theirs.spread:>4.0%}"
        )
    wins = [f"{size:,}" for size in indexed if scanned[size].rate > indexed[size].rate]
    print(f"  numpy's scan is faster at: {', '.join(wins) or 'no size'}")
