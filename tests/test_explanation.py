"""Explanations: the tree, what was seen, the words and nodes that satisfied, and the one sentence."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from tidings import SettingError, Settings, TextStatistics, explain
from tidings.analysis.latent import LatentSpace
from tidings.analysis.words import SIMPLE, AnalyserVersion

EVENT = {
    "symbol": "IBM",
    "low": 97.5,
    "at": datetime(2026, 3, 2, 14, 30, tzinfo=UTC),
    "active": True,
    "tags": ["a", None, "b"],
    "many": list(range(20)),
    "text": "The central bank left its key rate where it was",
    "doc": "<r>\n<a x='1'>one</a>\n<a x='2'>two</a></r>",
    "bad": "<r>",
    "half": "\ud800",
}


def test_the_tree_shows_each_part_with_its_truth_and_what_it_saw() -> None:
    shown = str(explain("symbol = 'IBM' AND (low <= 95 OR volume > 3) AND NOT active", EVENT))
    assert shown.splitlines() == [
        "false   symbol = 'IBM' AND (low <= 95 OR volume > 3) AND NOT active = TRUE",
        "├ true    symbol = 'IBM'   (symbol is 'IBM')",
        "├ unknown low <= 95 OR volume > 3",
        "│ ├ false   low <= 95   (low is 97.5)",
        "│ └ unknown volume > 3   (the event has no volume)",
        "└ false   NOT active = TRUE",
        "  └ true    active = TRUE   (active is TRUE)",
    ]


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("symbol = 'IBM'", "it matches: symbol = 'IBM' is true"),
        ("symbol = 'IBM' AND low <= 95", "it does not match: low <= 95 is false: low is 97.5"),
        ("low <= 95 OR symbol = 'X'", "it does not match: low <= 95 is false: low is 97.5"),
        ("NOT symbol = 'IBM'", "it does not match: symbol = 'IBM' is true: symbol is 'IBM'"),
        ("symbol NOT IN ('IBM')", "it does not match: symbol IN ('IBM') is true: symbol is 'IBM'"),
        ("NOT (low > 1 AND nothing = 1)", "it does not match: nothing = 1 is unknown: the event has no nothing"),
        ("low = '97.5'", "it does not match: low = '97.5' is unknown: low is 97.5, a number"),
        ("array_contains(symbol, 'x')", "symbol is 'IBM', a string"),
        ("tags = 'c'", "tags = 'c' is unknown: tags is ['a', null, 'b']"),
        ("many = 99", "many is [0, 1, 2, 3, 4, 5, …]"),
        ("at < DATE '2020-01-01'", "at is 2026-03-02 14:30:00 UTC"),
        ("half = 'x'", "half cannot be read: character 0 is half of a surrogate pair"),
        ("xpath_boolean(bad, '/r')", "bad cannot be read: the XML document is malformed"),
        ("FALSE", "it does not match: FALSE is false"),
    ],
)
def test_one_sentence_says_what_decided(where: str, why: str) -> None:
    assert why in explain(where, EVENT).why


def test_words_that_satisfied_a_pattern_are_named() -> None:
    explanation = explain("matches(text, 'bank ->[0,4] rate')", EVENT)
    assert explanation.details == ("word 2: bank", "word 6: rate")


@pytest.mark.parametrize(
    ("pattern", "details"),
    [
        ("rate ->[0,4] bank", ("too far apart, or in another order: rate ->[0,4] bank",)),
        ("bank AND spark AND neur*", ("missing: spark", "missing: neur*")),
        ('"the bank of spain of spain"', ("missing: of", "missing: spain")),
        ("bank (storm OR flood*) NOT rate", ("none of: storm, flood*", "there, and must not be: rate")),
        ("a0 OR a1 OR a2 OR a3 OR a4 OR a5 OR a6 OR a7", ("none of: a0, a1, a2, a3, a4, a5 and 2 more",)),
        (
            " ".join(f"w{number}" for number in range(9)),
            (*(f"missing: w{number}" for number in range(6)), "and 3 more"),
        ),
        ("NOT (bank AND NOT spark)", ("there, and must not be: bank AND NOT spark",)),
    ],
)
def test_what_a_text_lacks_is_named(pattern: str, details: tuple[str, ...]) -> None:
    assert explain(f"matches(text, '{pattern}')", EVENT).details == details


def test_the_words_of_a_cosine_are_named_with_their_shares_and_positions() -> None:
    # Ten words of weight 1 against two: 2 / sqrt(10 * 2).
    details = explain("similarity(text, 'central bank') >= 0.9", EVENT).details
    assert details == ("cosine 0.4472", "bank: 0.2236 (word 2)", "central: 0.2236 (word 1)")


def test_words_that_are_there_many_times_have_some_positions_named() -> None:
    event = {"t": "a b " * 3 + "c " + "a " * 6}
    assert explain("similarity(t, 'a b z') >= 0.1", event).details[1:] == (
        "a: 0.467 (words 0, 2, 4, 7, 8, 9, …)",
        "b: 0.3065 (words 1, 3, 5)",
    )


def test_a_cosine_in_the_latent_space_names_the_words_of_the_text() -> None:
    # Two topics, one a dimension: red and fox lie in the first, sea in the second, and wet between them.
    topics = LatentSpace(
        ("fox", "red", "sea", "wet"),
        np.array([1, 0, 1, 0, 0, 1, 1, 1], np.float32),
        np.array([2.0, 1.0]),
        AnalyserVersion.of(SIMPLE),
        TextStatistics(0, {}),
    )
    explanation = explain("similarity(t, 'red', model => 'lsi') >= 0.9", {"t": "a wet fox"}, Settings(latent=topics))
    assert explanation.truth is False
    assert explanation.details == (
        "cosine 0.8944 in the latent space",
        "fox: 0.4472 (word 2)",
        "wet: 0.4472 (word 1)",
    )
    assert explain("similarity(t, 'unheard', model => 'lsi') >= 0", {"t": "fox"}, Settings(latent=topics)).details == (
        "cosine 0 in the latent space",
    )


def test_a_model_without_a_latent_space_is_refused() -> None:
    with pytest.raises(SettingError, match="needs a latent space, and there is none here"):
        explain("similarity(t, 'red', model => 'lsi') >= 0.9", {"t": "fox"})


def test_nodes_that_satisfied_a_path_are_named_with_their_lines() -> None:
    assert explain("xpath_boolean(doc, '//a[@x > 1]')", EVENT).details == ("/r/a[2] (line 3): 'two'",)


def test_of_many_words_only_some_are_named() -> None:
    event = {"t": " ".join(f"w{number}" for number in range(50))}
    pattern = " ".join(f"w{number}" for number in range(20))
    details = explain(f"matches(t, '{pattern}')", event).details
    assert (len(details), details[-1]) == (7, "and 14 more")


def test_as_a_dict_it_has_the_same_tree() -> None:
    tree = explain("a = 1 AND NOT b", {"a": 1}).to_dict()
    assert (tree["truth"], tree["connective"]) == (None, "AND")
    assert [part["truth"] for part in tree["parts"]] == [True, None]
    assert tree["parts"][1]["parts"][0]["seen"] == "the event has no b"
