"""`Matcher` as its users call it: what it returns, what it refuses, and that nothing is lost with what it refuses."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import tidings
from tidings import (
    AdaptiveThresholds,
    EventError,
    IdentifierError,
    Matcher,
    RefusedError,
    SettingError,
    SubscriptionError,
    TextStatistics,
)
from tidings.analysis.latent import fit
from tidings.analysis.statistics import learn
from tidings.analysis.words import SIMPLE, AnalyserVersion
from tidings.model.result import EventProblem, Subscription
from tidings.reference import Settings
from tidings.rows import Refused


@pytest.fixture
def matcher() -> Matcher:
    made = Matcher()
    made.add("cheap", "price < 10")
    made.add("ibm", "symbol = 'IBM'")
    return made


def test_a_match_has_ids_in_the_order_of_adding_errors_and_cost(matcher: Matcher) -> None:
    result = matcher.match({"price": 5, "symbol": "IBM"})
    assert result.ids == ["cheap", "ibm"]
    assert result.errors == ()
    assert result.cost.evaluated == 2
    assert result.cost.elapsed_ns > 0


def test_types_that_do_not_fit_are_counted(matcher: Matcher) -> None:
    result = matcher.match({"price": "5", "symbol": 7})
    assert (result.ids, result.cost.mismatches) == ([], 2)


def test_types_that_do_not_fit_are_counted_in_an_index_where_the_reference_is_asked() -> None:
    matcher = Matcher(uncompiled=0)
    matcher.add_many([("never looked at", "price < 10"), ("asked", "symbol RLIKE 'I' OR price RLIKE '5'")])
    result = matcher.match({"price": 5, "symbol": "IBM"})
    assert (sorted(map(str, result.ids)), result.cost.mismatches) == (["asked", "never looked at"], 0)
    result = matcher.match({"price": "x", "symbol": 7})
    assert (result.ids, result.cost.mismatches) == ([], 1)


def test_a_bad_document_is_one_error_and_the_rest_is_matched(matcher: Matcher) -> None:
    matcher.add("xml", "xpath_boolean(doc, '/a')")
    matcher.add("xml too", "xpath_boolean(doc, '/b') OR price < 10")
    result = matcher.match({"id": 3, "price": 5, "doc": "<a>"})
    assert result.ids == ["cheap", "xml too"]
    (problem,) = result.errors
    assert (problem.event, problem.attribute) == (3, "doc")
    assert problem.reason.startswith("the XML document is malformed")


def test_an_event_that_is_none_is_raised(matcher: Matcher) -> None:
    with pytest.raises(EventError, match="an event is a mapping"):
        matcher.match([1])  # type: ignore[arg-type]
    with pytest.raises(EventError, match=r"id is a string or a 64-bit integer, not 1\.5"):
        matcher.match({"id": 1.5})


def test_adding_a_taken_id_needs_replace(matcher: Matcher) -> None:
    with pytest.raises(IdentifierError, match=r"the id 'ibm' is taken; remove it first, or add with replace=True"):
        matcher.add("ibm", "symbol = 'MSFT'")
    matcher.add("ibm", "symbol = 'MSFT'", replace=True)
    assert matcher.match({"symbol": "MSFT"}).ids == ["ibm"]
    assert len(matcher) == 2


def test_a_bad_subscription_leaves_the_matcher_as_it_was(matcher: Matcher) -> None:
    with pytest.raises(SubscriptionError):
        matcher.add("bad", "price <")
    with pytest.raises(SubscriptionError):
        matcher.add("ibm", "price <", replace=True)
    assert "bad" not in matcher
    assert matcher.match({"symbol": "IBM"}).ids == ["ibm"]


def test_removing(matcher: Matcher) -> None:
    matcher.remove("ibm")
    assert matcher.match({"symbol": "IBM"}).ids == []
    with pytest.raises(IdentifierError, match="there is no subscription with the id 'ibm' to remove"):
        matcher.remove("ibm")


def test_removing_many_is_all_or_nothing(matcher: Matcher) -> None:
    matcher.add("dear", "price > 90")
    with pytest.raises(IdentifierError, match="1 of 3 ids are of no subscription, so none was removed: 'none'"):
        matcher.remove_many(["ibm", "none", "dear"])
    assert len(matcher) == 3
    assert matcher.remove_many(["ibm", "dear", "ibm"]) == 2
    assert [each.id for each in matcher.subscriptions()] == ["cheap"]
    assert matcher.remove_many([]) == 0


@pytest.mark.parametrize("id", [1.5, None, True, 2**63, -(2**63) - 1, b"x", "\ud800"])
def test_identifiers_are_strings_or_64_bit_integers(id: object) -> None:
    with pytest.raises(IdentifierError):
        Matcher().add(id, "a = 1")  # type: ignore[arg-type]


def test_identifiers_of_one_matcher_have_one_kind(matcher: Matcher) -> None:
    with pytest.raises(IdentifierError, match="the integer 7 cannot be an id here: those of this matcher are strings"):
        matcher.add(7, "a = 1")
    numbered = Matcher()
    numbered.add(-(2**63), "a = 1")
    numbered.add(2**63 - 1, "a = 1")
    assert numbered.match({"a": 1}).ids == [-(2**63), 2**63 - 1]


def test_what_cannot_be_answered_yet_is_refused_when_added() -> None:
    with pytest.raises(SettingError, match="needs a latent space"):
        Matcher().add("a", "b = 1 AND NOT similarity(a, 'x', model => 'lsi') >= 0.5")


# Many at once


def test_add_many_takes_pairs_tables_mappings_and_subscriptions() -> None:
    sources = [
        [("a", "x = 1"), ("b", "x = 2")],
        iter([("a", "x = 1"), ("b", "x = 2")]),
        {"a": "x = 1", "b": "x = 2"},
        pa.table({"id": ["a", "b"], "where": ["x = 1", "x = 2"], "owner": [None, "o"]}),
        [Subscription("a", tidings.parse("x = 1")), ["b", "x = 2"]],
    ]
    for source in sources:
        matcher = Matcher()
        assert matcher.add_many(source) == 2
        assert matcher.match({"x": 2}).ids == ["b"]


def test_add_many_adds_what_is_good_and_says_what_was_not() -> None:
    rows = [("a", "x = 1"), ("b", "x =="), (3, "x = 1"), ("a", "x = 2"), ("c", "x = 3"), ("d", None), "e", None]
    matcher = Matcher()
    with pytest.raises(RefusedError) as refused:
        matcher.add_many(rows)
    assert [subscription.id for subscription in matcher.subscriptions()] == ["a", "c"]
    assert [each.row for each in refused.value.refused] == [1, 2, 3, 5, 6, 7]
    assert str(refused.value).startswith(
        "6 of 8 subscriptions were refused; the others were added.\nrow 1, id 'b': '==' is not"
    )
    assert "and 3 more, in .refused" in str(refused.value)


def test_add_many_gives_what_it_refuses_to_on_error_instead() -> None:
    refused: list[Refused] = []
    matcher = Matcher()
    assert matcher.add_many([("a", "x = 1"), ("b", "x <")], on_error=refused.append) == 1
    assert [(each.row, each.id, type(each.error)) for each in refused] == [(1, "b", SubscriptionError)]


def test_add_many_replaces_and_keeps_the_last() -> None:
    matcher = Matcher()
    matcher.add("a", "x = 1")
    assert matcher.add_many([("a", "x = 2"), ("a", "x = 3")], replace=True) == 1
    assert matcher.match({"x": 3}).ids == ["a"]


def test_a_table_without_the_columns_is_refused() -> None:
    with pytest.raises(IdentifierError, match="has the columns id and where; this one has id, query"):
        Matcher().add_many(pa.table({"id": [1], "query": ["x = 1"]}))


def test_add_many_leaves_the_collector_as_it_found_it() -> None:
    def failing() -> Iterator[tuple[str, str]]:
        yield "a", "x = 1"
        raise OSError

    assert gc.isenabled()
    Matcher().add_many([("a", "x = 1")])
    assert gc.isenabled()
    with pytest.raises(OSError):  # noqa: PT011 - any error of the rows' own source passes through
        Matcher().add_many(failing())
    assert gc.isenabled()


# Batches of events


def test_match_many_uses_ids_or_positions(matcher: Matcher) -> None:
    events: list[dict[str, object]] = [{"price": 5}, {"price": 50}, {"symbol": "IBM"}]
    assert matcher.match_many(events).to_pylist() == [
        {"event": 0, "subscription": "cheap"},
        {"event": 2, "subscription": "ibm"},
    ]
    named = [{**event, "id": f"e{number}"} for number, event in enumerate(events)]
    assert matcher.match_many(iter(named)).column("event").to_pylist() == ["e0", "e2"]


def test_match_many_has_its_types_without_any_match(matcher: Matcher) -> None:
    table = matcher.match_many([{"price": 50}])
    assert table.schema == pa.schema(
        [("event", pa.int64()), ("subscription", pa.dictionary(pa.int32(), pa.large_string()))]
    )
    assert Matcher().match_many([]).num_rows == 0
    numbered = Matcher()
    numbered.add(1, "a = 1")
    assert numbered.match_many([]).schema.field("subscription").type == pa.int64()


def test_match_many_reads_arrow(matcher: Matcher) -> None:
    table = pa.table({"id": [10, 11], "price": [5.0, None], "symbol": ["X", "IBM"]})
    for source in (table, table.to_batches()[0], table.slice(0)):
        assert matcher.match_many(source).to_pylist() == [
            {"event": 10, "subscription": "cheap"},
            {"event": 11, "subscription": "ibm"},
        ]


def test_match_many_reports_bad_events_and_matches_the_others(matcher: Matcher) -> None:
    matcher.add("xml", "xpath_boolean(doc, '/a')")
    events = [{"id": "a", "price": 5}, 7, {"id": "b", "doc": "<a"}, {"price": 5}, {"id": 4, "price": 5}, {"id": []}]
    problems: list[EventProblem] = []
    table = matcher.match_many(events, on_error=problems.append)
    assert table.to_pylist() == [{"event": "a", "subscription": "cheap"}]
    found = {(problem.event, problem.attribute) for problem in problems}
    assert found == {(1, None), (5, None), ("b", "doc"), (3, "id"), (4, "id")}
    assert len(problems) == len(found)


def test_match_many_warns_in_the_log_when_nobody_listens(matcher: Matcher, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "tidings"):
        matcher.match_many([7])
    assert caplog.messages == ["event 0: an event is a mapping from attribute names to values, not 7 (int)"]


# Settings


def test_the_analyser_decides_what_words_are() -> None:
    for name, ids in (("simple", []), ("english", ["a"])):
        matcher = Matcher(analyser=name)
        matcher.add("a", "matches(title, 'network')")
        assert matcher.match({"title": "Networks"}).ids == ids
    with pytest.raises(SettingError, match="klingon"):
        Matcher(analyser="klingon")


def test_statistics_change_similarity() -> None:
    where, event = "similarity(t, 'common rare') >= 0.6", {"t": "common word"}
    assert not tidings.holds(where, event)
    for frequencies, ids in (({"common": 1, "rare": 90}, ["a"]), ({"common": 90, "rare": 1}, [])):
        matcher = Matcher(statistics=TextStatistics(100, {**frequencies, "word": 90}, AnalyserVersion.of(SIMPLE)))
        matcher.add("a", where)
        assert matcher.match(event).ids == ids


# Keeping


def test_a_durable_matcher_finds_everything_again(tmp_path: Path) -> None:
    folder = tmp_path / "alerts"
    with Matcher(folder, analyser="english") as first:
        first.add("a", "matches(t, 'network')")
        first.add_many([("b", "x = 1"), ("c", "x = 1")])
        first.remove("b")
        first.add("c", "x = 2", replace=True)
    with Matcher(folder) as second:
        assert second.match({"t": "networks", "x": 2}).ids == ["a", "c"]


def test_save_and_load(tmp_path: Path, matcher: Matcher) -> None:
    matcher.save(tmp_path / "saved")
    loaded = Matcher.load(tmp_path / "saved")
    assert list(loaded.subscriptions()) == list(matcher.subscriptions())
    loaded.add("more", "x = 1")
    assert len(Matcher.load(tmp_path / "saved")) == 2


def test_explain_says_which_patterns_are_asked_of_every_text() -> None:
    ors = " AND ".join(f"(a{i} OR b{i})" for i in range(10))  # more conjunctions than are made of one pattern
    nots = ors.replace("a", "NOT a").replace("b", "NOT b")
    paths = {
        "matches(t, 'spark')": "by words of t, exact",
        f"matches(t, '{ors}')": "by words of t, exact",
        f"matches(t, 'spark AND {nots}')": "by words of t, exact",
        f"matches(t, '{nots}')": "tested for every event, then 1 check",
        "matches(t, 'NOT spark')": "tested for every event, then 1 check",
    }
    matcher = Matcher(uncompiled=0)
    matcher.add_many((number, where) for number, where in enumerate(paths))
    assert [matcher.explain(number, {}).paths for number in range(len(paths))] == [(path,) for path in paths.values()]


def test_explain_names_the_unknown_id(matcher: Matcher) -> None:
    with pytest.raises(IdentifierError, match="there is no subscription with the id 'zzz' to explain"):
        matcher.explain("zzz", {})
    assert matcher.explain("cheap", {"price": 3}).matches


# Ranking


@pytest.mark.parametrize("uncompiled", [0, 1_000])
def test_matches_are_ranked_by_their_cosines(uncompiled: int) -> None:
    matcher = Matcher(uncompiled=uncompiled)
    matcher.add_many(
        [
            ("half", "similarity(t, 'spark') >= 0.5"),
            ("all", "similarity(t, 'spark index') > 0.9 AND n > 1"),
            ("none", "similarity(t, 'water') >= 0.1"),
            ("other", "matches(t, 'spark')"),
            ("both", "similarity(t, 'spark index') >= 0.1 AND similarity(t, 'index') >= 0.1"),
        ]
    )
    event = {"t": "Spark index", "n": 2}
    ranked = matcher.ranked(event)
    assert ranked[0] == ("all", 1.0)
    assert {id: round(cosine, 4) for id, cosine in ranked[1:]} == {"half": 0.7071, "both": 0.7071}
    assert matcher.ranked(event, most=1) == [("all", 1.0)]
    assert matcher.ranked({"t": ["water", "spark water"], "n": 0})[0] == ("none", 1.0)
    assert matcher.ranked({"n": 1}) == []
    with pytest.raises(SettingError, match="1 or more, or None for all, not 0"):
        matcher.ranked(event, most=0)


def test_adaptive_thresholds_let_the_best_of_a_while_through() -> None:
    matcher = Matcher()
    matcher.add("a", "similarity(t, 'spark index') >= 0.1")
    thresholds = AdaptiveThresholds(wanted=1, window=2)
    texts = ("spark", "spark index of words", "spark", "spark index", "spark words", "rain", "rain", "spark")
    ranked = [matcher.ranked({"t": text}, adaptive=thresholds) for text in texts]
    told = [[round(cosine, 2) for _, cosine in each] for each in ranked]
    assert told == [[0.71], [], [], [1.0], [], [], [], [0.71]]


# Latent similarity

SAMPLE = [
    "the ship sails the sea",
    "a boat on the sea",
    "ship and boat",
    "the stock fell",
    "bonds and the stock market",
]


def test_latent_similarity_is_kept_with_the_matcher(tmp_path: Path) -> None:
    space = fit(SAMPLE, 2, SIMPLE, learn(SAMPLE, SIMPLE), seed=1)
    wheres = {number: f"similarity(t, '{text}', model => 'lsi') >= 0.8" for number, text in enumerate(SAMPLE)}
    event = {"t": "a boat at sea"}
    settings = Settings(latent=space)
    expected = sorted(number for number, where in wheres.items() if tidings.holds(where, event, settings))
    assert 0 < len(expected) < len(SAMPLE)
    with Matcher(tmp_path / "durable", latent=space, uncompiled=0) as matcher:
        matcher.add_many(wheres.items())
        assert sorted(matcher.match(event).ids) == expected
        assert matcher.explain(expected[0], event).paths == ("by latent similarity of t, exact",)
        matcher.save(tmp_path / "saved")
    for given in (None, space):
        with Matcher(tmp_path / "durable", latent=given) as again:
            assert sorted(again.match(event).ids) == expected
    assert sorted(Matcher.load(tmp_path / "saved").match(event).ids) == expected
    other = fit(SAMPLE, 1, SIMPLE, learn(SAMPLE, SIMPLE), seed=1)
    with pytest.raises(tidings.StoreError, match="records another latent space than the one given"):
        Matcher(tmp_path / "durable", latent=other)
