"""What benchmarks measure against is right: workloads and alternatives agree with the reference, in small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import building, fresh, stocks
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.alternatives import counting, set_search, string_search
from benchmarks.data import Publication, made_publications, publications, quotes
from benchmarks.growth_figure import Line, draw
from benchmarks.latency import straight_line
from benchmarks.measuring import SCALE_VARIABLE, Measured, same_count, same_counts, scaled, verdict
from benchmarks.workloads import attributes, bands, sets, strings
from tidings import holds, parse

Event = Mapping[str, Any]


def expected(texts: Sequence[str], events: Sequence[Event]) -> list[list[int]]:
    """By the reference: for each event the numbers of the texts that hold of it."""
    wheres = [parse(text) for text in texts]
    return [[number for number, where in enumerate(wheres) if holds(where, event)] for event in events]


def counts(answers: Sequence[Sequence[int]]) -> list[int]:
    return [len(answer) for answer in answers]


# The counting algorithm

SKEWED = 2.0  # a few attributes are drawn most of the time, so that conjunctions are satisfied too


@pytest.mark.parametrize("values", [1_000, 8])  # of few values many are equal to a bound
@pytest.mark.parametrize("skew", [0.0, attributes.ZIPF, SKEWED])
def test_the_counting_algorithm_finds_what_the_reference_finds(
    skew: float, values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attributes, "VALUES", values)
    asked, events = attributes.predicates(150, skew), attributes.records(40, skew)
    algorithm, wanted = counting.Counting(asked), expected(asked.texts(), events.dicts())
    for runs in ([(0, 40)], [(0, 15), (15, 40)]):
        found = [answer for start, end in runs for answer in _answers(algorithm, events, start, end)]
        assert found == wanted


def _answers(algorithm: counting.Counting, events: attributes.Records, start: int, end: int) -> list[list[int]]:
    ends, answers = algorithm.match(events, start, end)
    return [sorted(part.tolist()) for part in np.split(answers, ends[:-1])]


def test_its_counters_start_anew_when_their_stamps_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    both = attributes.Predicates(1, *(np.array(column) for column in ([0, 0], [3, 4], [0, 0], [7, 7])))
    one_each = attributes.Records(*(np.array(column) for column in ([0, 1, 2, 4], [3, 4, 3, 4], [7, 7, 7, 7])))
    assert both.texts() == ["a3 = 7 AND a4 = 7"]
    monkeypatch.setattr(counting, "LAST_STAMP", 1)
    algorithm = counting.Counting(both)
    assert [_answers(algorithm, one_each, at, at + 1) for at in range(3)] == [[[]], [[]], [[0]]]


def test_a_subscription_with_more_predicates_than_a_counter_counts_is_refused() -> None:
    ones = np.ones(16, np.int64)
    with pytest.raises(ValueError, match="has 16 predicates; a counter here counts up to 15"):
        counting.Counting(attributes.Predicates(1, ones * 0, ones, ones, ones))


def test_records_without_a_schema_are_as_the_paper_says() -> None:
    asked, events = attributes.predicates(2_000, 0.8), attributes.records(2_000, 0.8)
    lengths = np.bincount(asked.subscription)
    assert (lengths.min(), lengths.max(), len(lengths)) == (1, 10, 2_000)
    sizes = np.diff(events.offsets)
    assert (sizes.min(), sizes.max(), len(sizes)) == (1, 20, 2_000)
    assert all(len(event) == size for event, size in zip(events.dicts(), sizes, strict=True)), "an attribute twice"
    often = np.bincount(asked.attribute, minlength=1_000) / len(asked.attribute)
    assert often[0] == pytest.approx(attributes.shares(0.8)[0], rel=0.2)
    assert {0, 999} == {asked.value.min(), asked.value.max()}
    among_events = np.bincount(events.attribute, minlength=1_000)
    assert 2_000 > among_events[0] > among_events[100] > 0
    evenly = np.bincount(attributes.records(2_000, 0.0).attribute, minlength=1_000)
    assert 0 < evenly.min() < evenly.max() < 3 * evenly.mean()


def test_a_table_has_the_values_of_the_dicts() -> None:
    events = attributes.records(30, 0.0)
    rows = events.table(10, 20).to_pylist()
    given = [{name: value for name, value in row.items() if value is not None} for row in rows]
    assert given == [dict(sorted(event.items(), key=lambda pair: int(pair[0][1:]))) for event in events.dicts()[10:20]]


# Strings

RECORDS = [
    *made_publications(40),
    Publication("It's 100% \\ _ done", ("D'Arcy 0001", "José García", "D'Arcy 0001")),
    Publication("abab", ("abab", "baba")),
    Publication("no authors", ()),
]


@pytest.mark.parametrize("kind", [*strings.KINDS, "mixed"])
def test_strings_are_found_by_one_pass_and_by_a_loop(kind: str) -> None:
    asked = strings.mixed(RECORDS, 150) if kind == "mixed" else strings.questions(kind, RECORDS, 150)
    events = [{"title": record.title, "authors": record.authors} for record in RECORDS]
    wanted = counts(expected([question.text() for question in asked], events))
    one_pass, loop = string_search.OnePass(asked), string_search.Loop(asked)
    assert sum(wanted) > 50
    assert [one_pass.matches(record) for record in RECORDS] == wanted
    assert [loop.matches(record) for record in RECORDS] == wanted
    assert one_pass.occurrences(RECORDS) >= len({(each.attribute, each.piece) for each in asked})


def test_equal_strings_are_found_by_a_dict() -> None:
    asked = strings.questions("equality", RECORDS, 150)
    events = [{"title": record.title, "authors": record.authors} for record in RECORDS]
    by_value = string_search.ByValue(asked)
    wanted = expected([question.text() for question in asked], events)
    assert [sorted(by_value.answers(record)) for record in RECORDS] == wanted
    with pytest.raises(ValueError, match="question 0 is a prefix"):
        string_search.ByValue(strings.questions("prefix", RECORDS, 2))


# Sets


def test_sets_are_found_by_dicts_and_by_duckdb() -> None:
    events = [sets.set_event(record) for record in RECORDS]
    asked = sets.set_questions(events, 250)
    rows = [{"authors": event.authors, "words": event.words} for event in events]
    wanted = expected([question.text() for question in asked], rows)
    inverted, database = set_search.Inverted(asked), set_search.ByDuckDB(asked)
    assert {question.kind for question in asked} == set(sets.KINDS)
    assert [sorted(inverted.answers(event)) for event in events] == wanted
    table = sets.set_events_table(events)
    assert database.count(table) == sum(counts(wanted))
    assert database.count(table.slice(5, 20)) == sum(counts(wanted[5:25]))


# Growth


@pytest.mark.parametrize("make", [bands.Bands.of, bands.Equalities.of])
def test_an_event_has_ten_matches_and_a_scan_finds_them(make: Any) -> None:
    workload = make(3_000)
    events = workload.events(8)
    assert workload.scan(events) == counts(expected(workload.texts(), events.to_pylist()))
    assert np.mean(workload.scan(workload.events(300))) == pytest.approx(10, rel=0.15)
    assert np.mean(make(30_000).scan(make(30_000).events(300))) == pytest.approx(10, rel=0.15)


def test_bands_need_more_subscriptions_than_would_all_match() -> None:
    with pytest.raises(ValueError, match="1000 subscriptions are too few"):
        bands.Bands.of(1_000)


def test_the_figure_names_its_lines_and_axes(tmp_path: Path) -> None:
    measured = {size: Measured("", 10, (1e-5, 2e-5, 4e-5)) for size in (10_000, 100_000)}
    names = ["indexed", "scanned", "indexed too", "scanned too"]
    drawn = draw([Line(name, measured) for name in names], tmp_path / "new" / "figure.svg").read_text()
    for text in [*names, "linear growth", "subscriptions", "microseconds an event", "10,000", "100,000"]:
        assert f">{text}</text>" in drawn


# Stocks


@pytest.fixture
def made_quotes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pa.Table:
    monkeypatch.setenv("TIDINGS_DATA", str(tmp_path))
    table, where_from = quotes(40)
    assert "made" in where_from
    return table


def test_stock_alerts_are_found_by_hand_by_joins_and_by_a_loop(made_quotes: pa.Table) -> None:
    made = stocks.alerts(made_quotes, 400)
    events = made_quotes.to_pylist()
    wanted = expected(stocks.texts(made), events)
    total = sum(counts(wanted))
    limit, by_polars = stocks.Limit(made, made_quotes), stocks.ByPolars(made, made_quotes)
    assert [sorted(limit.run(at, at + 1).tolist()) for at in range(len(events))] == wanted
    assert len(limit.run(0, len(events))) == total
    pairs = {pair for part in by_polars.pairs() for pair in part.iter_rows()}
    assert pairs == {(event, number) for event, numbers in enumerate(wanted) for number in numbers}
    assert by_polars.count() == total
    assert stocks.by_duckdb(stocks.duckdb_with(made, made_quotes)) == total
    assert stocks.by_loop([stocks.predicate(alert) for alert in made], events) == total


def test_alerts_of_two_predicates_have_two(made_quotes: pa.Table) -> None:
    made = building.two_predicates(made_quotes, 200)
    assert len(made) == 200
    assert all(text.startswith("symbol = ") and " AND " in text for text in stocks.texts(made))


# Measuring


def test_records_are_made_where_there_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIDINGS_DATA", str(tmp_path))
    monkeypatch.setattr("benchmarks.data.MADE_RECORDS", 50)
    records, where_from = publications()
    assert (len(records), where_from) == (50, "made records (no TIDINGS_DATA)")


def test_sizes_are_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SCALE_VARIABLE, "0.01")
    assert [scaled(1_000_000), scaled(4_000, least=1_000), scaled(20, least=1_000)] == [10_000, 1_000, 20]
    for wrong in ("0", "2", "much"):
        monkeypatch.setenv(SCALE_VARIABLE, wrong)
        with pytest.raises(SystemExit, match=f"is '{wrong}'; it is a number above 0 and at most 1"):
            scaled(10)


def test_answers_that_differ_end_the_run() -> None:
    same_count(3, match_many=3)
    same_counts(np.array([1, 2]), match_many=np.array([1, 2]))
    with pytest.raises(SystemExit, match="match many found 4 matches, and 3 are expected"):
        same_count(3, match_many=4)
    with pytest.raises(SystemExit, match="differs in 1 of 2 events; in event 1 it found 3 matches, and 2 are expected"):
        same_counts(np.array([1, 2]), match_many=np.array([1, 3]))
    with pytest.raises(SystemExit, match="answered 1 events, and 2 were given"):
        same_counts(np.array([1, 2]), match_many=np.array([1]))


def test_the_report_says_what_is_faster() -> None:
    measured = {"ours": Measured("ours", 10, (2.0,)), "by_hand": Measured("by_hand", 10, (1.0,))}
    assert verdict(measured, "ours") == "faster than ours: by hand (2.00 x)"
    assert verdict(measured, "by_hand") == "faster than by hand: nothing here"


def test_a_straight_line_tells_what_no_match_takes() -> None:
    assert straight_line([0, 10, 20], np.array([5.0, 6.0, 7.0])) == pytest.approx((5.0, 0.1))


def test_a_fresh_process_returns_what_its_function_does() -> None:
    taken = fresh.in_fresh_process(fresh.cold_start)
    assert 0 < taken["import"] < taken["all"]
    with pytest.raises(SystemExit, match="parse_all failed in a process of its own"):
        fresh.in_fresh_process(fresh.parse_all, "no such file")


def test_an_unknown_benchmark_is_refused_with_those_there_are() -> None:
    with pytest.raises(SystemExit, match="there is no benchmark speed; there are: parsing, stocks"):
        main(["speed"])
    assert set(BENCHMARKS) >= {"synthetic", "strings", "sets", "growth", "building", "latency"}
