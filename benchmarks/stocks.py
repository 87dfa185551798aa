"""Stock alerts: a million subscriptions from Table 3 of the paper on the matching tree over Brushwood, on daily quotes.

The limit is a kernel written by hand for exactly these five templates, with everything prepared that can be: symbols
already numbered, identifiers in the order of the answers, no nulls, no other types. What one would write instead:
DuckDB and polars with one join per template, on few events and on a whole batch, because a join reads all alerts
however few the events are; and a loop over compiled predicates in Python, on far fewer alerts. Every answer is
counted, and the counts must agree.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
from numba import njit

from benchmarks.data import quotes
from benchmarks.filling import filled
from benchmarks.measuring import in_turn, matches_in, report, same_count, scaled
from benchmarks.parsing import TABLE_3
from tidings import Matcher

SUBSCRIPTIONS = scaled(1_000_000)
EVENTS = scaled(40_000, least=4_000)
BATCH = scaled(8_000, least=2_000)
FEW_EVENTS = 400
VERY_FEW_EVENTS, FEW_SUBSCRIPTIONS = 20, scaled(10_000, least=2_000)
REPETITIONS = 5
Template = int
Alert = tuple[Template, str, float, float]  # which of Table 3, the symbol, and its numbers


def alerts(table: pa.Table, count: int, seed: int = 1) -> list[Alert]:
    """Thresholds are taken from the quotes themselves; those on volume alone from the largest, as alerts would be."""
    chance = random.Random(seed)
    names = ("symbol", "open", "low", "high", "volume")
    symbols, opens, lows, highs, volumes = (table.column(name).to_pylist() for name in names)
    largest = sorted(volumes)[-max(1, len(volumes) // 25) :]
    made: list[Alert] = []
    for template in chance.choices(range(5), list(TABLE_3.values()), k=count):
        row = chance.randrange(len(symbols))
        price = opens[row]
        first = (price, lows[row], highs[row], volumes[row], chance.choice(largest))[template]
        made.append((template, symbols[row], first, round(price * 1.05, 2)))
    return made


def texts(made: list[Alert]) -> list[str]:
    templates = list(TABLE_3)
    return [
        templates[template].format(symbol=symbol.replace("'", "''"), price=first, higher=second, volume=first)
        for template, symbol, first, second in made
    ]


# The limit


class Limit:
    """The five templates by hand: alerts of a symbol side by side, ordered by threshold, answers copied."""

    def __init__(self, made: list[Alert], table: pa.Table) -> None:
        numbers = {symbol: number for number, symbol in enumerate(dict.fromkeys(symbol for _, symbol, _, _ in made))}
        self.symbol = np.array([numbers.get(symbol, len(numbers)) for symbol in table["symbol"].to_pylist()], np.int64)
        self.columns = [table[name].to_numpy().astype(np.float64) for name in ("open", "low", "high", "volume")]
        template = np.array([alert[0] for alert in made])
        symbol = np.array([numbers[alert[1]] for alert in made], np.int64)
        first, second = (np.array([alert[at] for alert in made], np.float64) for at in (2, 3))
        self.parts = []
        for kind in range(5):
            member = np.flatnonzero(template == kind)
            group = symbol[member] if kind < 4 else np.zeros(len(member), np.int64)
            order = np.lexsort((first[member], group))
            member, group = member[order], group[order]
            starts = np.searchsorted(group, np.arange(len(numbers) + 2))
            self.parts.append((starts, first[member], second[member], member.astype(np.int64)))

    def run(self, start: int, end: int) -> Any:
        columns = [column[start:end] for column in self.columns]
        arrays = [array for part in self.parts for array in part]
        bounds, total = _find(self.symbol[start:end], *columns, *arrays)
        answers = np.frombuffer(pa.allocate_buffer(8 * total), np.int64)  # memory that was used before: no page faults
        _fill(self.symbol[start:end], columns[0], *arrays, bounds, answers)  # type: ignore[call-arg]  # starred
        return answers


@njit(cache=True, nogil=True)
def _find(  # type: ignore[no-untyped-def]
    symbol, opens, low, high, volume,
    s0, a0, b0, m0, s1, a1, b1, m1, s2, a2, b2, m2, s3, a3, b3, m3, s4, a4, b4, m4,
):  # fmt: skip
    rows = len(symbol)
    bounds = np.empty((rows, 8), np.int64)
    total = 0
    for row in range(rows):
        of = symbol[row]
        begin, end = s0[of], s0[of] + np.searchsorted(a0[s0[of] : s0[of + 1]], opens[row], "right")
        bounds[row, 0], bounds[row, 1] = begin, end
        for i in range(begin, end):
            total += b0[i] >= opens[row]
        bounds[row, 2] = s1[of] + np.searchsorted(a1[s1[of] : s1[of + 1]], low[row])
        bounds[row, 3] = s2[of] + np.searchsorted(a2[s2[of] : s2[of + 1]], high[row], "right")
        bounds[row, 4] = s3[of] + np.searchsorted(a3[s3[of] : s3[of + 1]], volume[row], "right")
        bounds[row, 5] = np.searchsorted(a4, volume[row], "right")
        total += s1[of + 1] - bounds[row, 2] + bounds[row, 3] - s2[of] + bounds[row, 4] - s3[of] + bounds[row, 5]
    return bounds, total


@njit(cache=True, nogil=True)
def _fill(  # type: ignore[no-untyped-def]
    symbol, opens, s0, a0, b0, m0, s1, a1, b1, m1, s2, a2, b2, m2, s3, a3, b3, m3, s4, a4, b4, m4, bounds, answers
):
    at = 0
    for row in range(len(symbol)):
        of = symbol[row]
        for i in range(bounds[row, 0], bounds[row, 1]):
            if b0[i] >= opens[row]:
                answers[at] = m0[i]
                at += 1
        at = _copy(answers, at, m1, bounds[row, 2], s1[of + 1])
        at = _copy(answers, at, m2, s2[of], bounds[row, 3])
        at = _copy(answers, at, m3, s3[of], bounds[row, 4])
        at = _copy(answers, at, m4, 0, bounds[row, 5])


@njit(cache=True, nogil=True)
def _copy(answers, at, members, start, end):  # type: ignore[no-untyped-def]
    to, source = np.uint64(at), np.uint64(start)  # without the test for negative places, which costs more than copying
    for i in range(np.uint64(end - start)):
        answers[to + i] = members[source + i]
    return at + end - start


# What one would write instead


def by_duckdb(connection: duckdb.DuckDBPyConnection) -> int:
    """One join per template; the answers are counted in the database, which spares it handing them over."""
    conditions = [
        "a.symbol = q.symbol AND q.open BETWEEN a.first AND a.second",
        "a.symbol = q.symbol AND q.low <= a.first",
        "a.symbol = q.symbol AND q.high >= a.first",
        "a.symbol = q.symbol AND q.volume >= a.first",
        "q.volume >= a.first",
    ]
    counts = [
        connection.execute(f"SELECT count(*) FROM q JOIN a ON a.template = {kind} AND {condition}").fetchall()[0][0]
        for kind, condition in enumerate(conditions)
    ]
    return int(sum(counts))


def duckdb_with(made: list[Alert], table: pa.Table) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    columns = list(zip(*made, strict=True))
    given = pa.table({"template": columns[0], "symbol": columns[1], "first": columns[2], "second": columns[3]})
    for name, content in (("given_a", given), ("given_q", table)):
        connection.register(name, content)
    connection.execute("CREATE TABLE a AS SELECT * FROM given_a")
    connection.execute("CREATE TABLE q AS SELECT * FROM given_q")
    return connection


class ByPolars:
    """One join per template on one thread, each template a frame of its own; events are converted beforehand."""

    def __init__(self, made: list[Alert], table: pa.Table) -> None:
        kinds, symbols, firsts, seconds = zip(*made, strict=True)
        columns = {"subscription": range(len(made)), "template": kinds, "symbol": symbols, "second": seconds}
        alerts = pl.DataFrame({**columns, "first": pl.Series(firsts, dtype=pl.Float64, strict=False)})
        parts = [alerts.filter(pl.col("template") == kind).drop("template") for kind in range(5)]
        # Volumes are integers, and polars joins by comparison within one type only.
        parts[3:] = [part.cast({"first": pl.Int64}) for part in parts[3:]]
        events = pl.DataFrame(table).with_row_index("event").lazy()
        first, second = pl.col("first"), pl.col("second")
        conditions = [pl.col("open").is_between(first, second), pl.col("low") <= first]
        conditions += [pl.col("high") >= first, pl.col("volume") >= first]
        self._joined = [
            events.join(part.lazy(), on="symbol").filter(condition)
            for part, condition in zip(parts[:4], conditions, strict=True)
        ]
        self._joined.append(events.join_where(parts[4].drop("symbol").lazy(), pl.col("volume") >= first))

    def count(self) -> int:
        return int(sum(joined.select(pl.len()).collect().item() for joined in self._joined))

    def pairs(self) -> list[pl.DataFrame]:
        return [joined.select("event", "subscription").collect() for joined in self._joined]


def by_loop(predicates: list[Callable[[dict[str, Any]], bool]], events: list[dict[str, Any]]) -> int:
    return sum(sum(holds(event) for holds in predicates) for event in events)


def predicate(alert: Alert) -> Callable[[dict[str, Any]], bool]:
    """An alert as a function: what a loop of one's own would call."""
    template, symbol, first, second = alert
    return (
        lambda e: e["symbol"] == symbol and first <= e["open"] <= second,
        lambda e: e["symbol"] == symbol and e["low"] <= first,
        lambda e: e["symbol"] == symbol and e["high"] >= first,
        lambda e: e["symbol"] == symbol and e["volume"] >= first,
        lambda e: e["volume"] >= first,
    )[template]


def run() -> None:
    table, where_from = quotes(EVENTS)
    made = alerts(table, SUBSCRIPTIONS)
    wheres = texts(made)
    matcher, built = filled(wheres)
    print(f"\nstock alerts: {SUBSCRIPTIONS:,} subscriptions, {EVENTS:,} events ({where_from}), batches of {BATCH:,}")
    print(f"  parsed and compiled in {built:.1f} s")
    batches = [table.slice(at, BATCH) for at in range(0, EVENTS, BATCH)]
    limit = Limit(made, table)

    def by_hand() -> int:
        return sum(len(limit.run(at, at + BATCH)) for at in range(0, EVENTS, BATCH))

    def by_lists() -> int:
        return sum(matches_in(matcher.match_many(batch, lists=True)) for batch in batches)

    def by_pairs() -> int:
        return sum(matcher.match_many(batch).num_rows for batch in batches)

    expected = by_hand()
    same_count(expected, lists=by_lists(), pairs=by_pairs())
    print(f"  {expected:,} matches, {expected / EVENTS:,.0f} an event; verified")
    measured = in_turn(
        REPETITIONS, EVENTS, kernel_by_hand=by_hand, match_many_lists=by_lists, match_many_pairs=by_pairs
    )
    report("against the limit", measured, "events", "kernel_by_hand", "match_many_lists")
    for count in (FEW_EVENTS, BATCH):
        against_joins(matcher, made, table.slice(0, count))
    one_event_at_a_time(matcher, limit, table.slice(0, FEW_EVENTS))
    against_loop(made[:FEW_SUBSCRIPTIONS], wheres[:FEW_SUBSCRIPTIONS], table.slice(0, VERY_FEW_EVENTS))


def against_joins(matcher: Matcher, made: list[Alert], events: pa.Table) -> None:
    connection, by_polars = duckdb_with(made, events), ByPolars(made, events)
    found = matcher.match_many(events).num_rows
    pairs = sum(part.height for part in by_polars.pairs())
    same_count(by_duckdb(connection), polars=by_polars.count(), polars_pairs=pairs, match_many=found)
    measured = in_turn(
        3,
        events.num_rows,
        DuckDB_counting=lambda: by_duckdb(connection),
        polars_counting=by_polars.count,
        polars_pairs=by_polars.pairs,
        match_many_pairs=lambda: matcher.match_many(events),
    )
    title = f"against one join per template, one thread, {events.num_rows:,} events at once; counts verified"
    report(title, measured, "events", "DuckDB_counting", "match_many_pairs")


def one_event_at_a_time(matcher: Matcher, limit: Limit, table: pa.Table) -> None:
    events = table.to_pylist()

    def one_by_one() -> int:
        return sum(len(matcher.match(event).ids) for event in events)

    def by_hand() -> int:
        return sum(len(limit.run(at, at + 1)) for at in range(len(events)))

    same_count(by_hand(), match=one_by_one())
    measured = in_turn(REPETITIONS, len(events), kernel_by_hand=by_hand, match=one_by_one)
    title = f"one event at a time, {len(events)} events as dicts; counts verified (more on this: latency)"
    report(title, measured, "events", "kernel_by_hand", "match")


def against_loop(made: list[Alert], wheres: list[str], table: pa.Table) -> None:
    matcher, _ = filled(wheres)
    loop, events = [predicate(alert) for alert in made], table.to_pylist()
    same_count(by_loop(loop, events), match_many=matcher.match_many(events).num_rows)
    measured = in_turn(
        3, len(events), loop_in_Python=lambda: by_loop(loop, events), match_many=lambda: matcher.match_many(events)
    )
    title = f"against a loop, {len(made):,} subscriptions, {len(events)} events; counts verified"
    report(title, measured, "events", "loop_in_Python", "match_many")
