"""The engine of similarity: exactly the reference's answers and cosines, at every threshold, and its invariants."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.text.text_batches import as_texts
from language.text_strategies import texts
from tidings.analysis.cosine import cosine
from tidings.analysis.statistics import NO_STATISTICS, TextStatistics, learn
from tidings.analysis.words import ENGLISH, SIMPLE, Analyser, AnalyserVersion
from tidings.index.array_file import open_arrays, write_arrays
from tidings.index.layout import Array
from tidings.index.text import similarity
from tidings.index.text.exact_cosines import ByDefinition
from tidings.index.text.similarity import SimilarityEngine
from tidings.model.predicates import Attribute, Operator, Similarity
from tidings.reference import holds

TEXT = Attribute(("text",))
AT_LEAST, MORE = Operator.GREATER_OR_EQUAL, Operator.GREATER
VOCABULARY = ("a", "b", "c", "d", "don't", "é", "日本", "networks")
OUTSIDE = (*VOCABULARY, "x", "y", "zürich")  # documents have words that profiles have not


def question(profile: str, operator: Operator = AT_LEAST, threshold: float = 0.5) -> Similarity:
    return Similarity(TEXT, profile, operator, threshold)


def split(values: Array, start: Array) -> list[list[float]]:
    return [values[first:end].tolist() for first, end in pairwise(start)]


def found(engine: SimilarityEngine, documents: Sequence[str]) -> list[list[float]]:
    facts = engine.find(as_texts(documents))
    assert facts.start[-1] == len(facts.fact)
    return split(facts.fact, facts.start)


def scored(engine: SimilarityEngine, documents: Sequence[str]) -> list[list[tuple[float, float]]]:
    """What it finds, with the cosines."""
    facts = engine.find(as_texts(documents))
    text = np.repeat(np.arange(len(documents)), np.diff(facts.start))
    cosines = engine.cosines(as_texts(documents), text, facts.fact)
    pairs = zip(split(facts.fact, facts.start), split(cosines, facts.start), strict=True)
    return [list(zip(facts, cosines, strict=True)) for facts, cosines in pairs]


def expected(
    questions: Sequence[Similarity], documents: Sequence[str], analyser: Analyser, statistics: TextStatistics
) -> list[list[tuple[int, float]]]:
    """By the definition: of each document the questions that hold, with their cosines."""
    answers = []
    for document in documents:
        words, answer = analyser.words(document), []
        for number, asked in enumerate(questions):
            value = cosine(analyser.words(asked.profile), words, statistics)
            if value > asked.threshold if asked.operator is MORE else value >= asked.threshold:
                answer.append((number, value))
        answers.append(answer)
    return answers


def agrees(
    questions: Sequence[Similarity],
    documents: Sequence[str],
    statistics: TextStatistics = NO_STATISTICS,
    analyser: Analyser = SIMPLE,
) -> SimilarityEngine:
    """Builds an engine and compares everything that it says with the definition."""
    engine = SimilarityEngine.build(questions, analyser, statistics)
    engine.check()
    wanted = expected(questions, documents, analyser, statistics)
    assert found(engine, documents) == [[number for number, _ in answer] for answer in wanted]
    assert scored(engine, documents) == wanted
    return engine


def some_statistics() -> st.SearchStrategy[TextStatistics]:
    samples = st.lists(texts(OUTSIDE), max_size=6).map(lambda sample: learn(sample, SIMPLE))
    return st.just(NO_STATISTICS) | samples


def some_questions(max_size: int = 6) -> st.SearchStrategy[list[Similarity]]:
    threshold = st.sampled_from((0.0, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9, 1.0)) | st.floats(-0.1, 1.1)
    asked = st.builds(question, texts(VOCABULARY), st.sampled_from((AT_LEAST, MORE)), threshold)
    return st.lists(asked, max_size=max_size)


# Against the definition


@settings(deadline=None)  # the first one compiles
@given(some_questions(), st.lists(texts(OUTSIDE), max_size=5), some_statistics())
def test_it_finds_what_the_definition_finds(
    questions: list[Similarity], documents: list[str], statistics: TextStatistics
) -> None:
    agrees(questions, documents, statistics)


@settings(deadline=None)
@given(
    st.lists(texts(VOCABULARY), min_size=1, max_size=4),
    st.lists(texts(OUTSIDE), min_size=1, max_size=4),
    some_statistics(),
    st.sampled_from((-2e-12, -1e-12, 0.0, 1e-12, 2e-12)),
)
def test_thresholds_that_are_cosines_are_met_exactly(
    profiles: list[str], documents: list[str], statistics: TextStatistics, beside: float
) -> None:
    """Every cosine that occurs is a threshold, and so is a number one or two twelfth decimals beside it."""
    values = {
        cosine(SIMPLE.words(profile), SIMPLE.words(document), statistics)
        for profile in profiles
        for document in documents
    }
    questions = [
        question(profile, operator, value + beside)
        for profile in profiles
        for operator in (AT_LEAST, MORE)
        for value in sorted(values)
    ]
    agrees(questions, documents, statistics)


@settings(deadline=None, max_examples=30)
@given(some_questions(), st.lists(texts(OUTSIDE), max_size=5))
def test_stems_are_compared(questions: list[Similarity], documents: list[str]) -> None:
    agrees(questions, documents, learn(documents, ENGLISH), ENGLISH)


def zipf_texts(chance: Random, count: int, least: int, most: int) -> list[str]:
    """Words as often as in a language: the n-th most common one n times more seldom than the first."""
    weights = [1 / rank for rank in range(1, 2_001)]
    words = [f"w{rank}" for rank in range(1, 2_001)]
    return [" ".join(chance.choices(words, weights, k=chance.randint(least, most))) for _ in range(count)]


@pytest.mark.parametrize("threshold", [0.2, 0.4, 0.8])
def test_many_profiles_of_zipf_text(threshold: float) -> None:
    chance = Random(11)
    sample = zipf_texts(chance, 150, 30, 90)
    documents = sample[:10] + zipf_texts(chance, 3, 0, 400)
    profiles = zipf_texts(chance, 80, 1, 30) + [" ".join(document.split()[:12]) for document in sample[:60]]
    agrees([question(profile, AT_LEAST, threshold) for profile in profiles], documents, learn(sample, SIMPLE))


def test_it_says_what_holds_says() -> None:
    asked = [question("red fox", operator, threshold) for operator in (AT_LEAST, MORE) for threshold in (0.5, 1.0)]
    for document in ("red fox", "fox", "a red dog", ""):
        wanted = [number for number, each in enumerate(asked) if holds(each, {"text": document})]
        assert found(SimilarityEngine.build(asked, SIMPLE, NO_STATISTICS), [document]) == [wanted]


# The ends


def test_without_questions_nothing_is_found() -> None:
    agrees([], ["a b", ""])


def test_without_texts_nothing_is_found() -> None:
    facts = SimilarityEngine.build([question("a")], SIMPLE, NO_STATISTICS).find(as_texts([]))
    assert (facts.start.tolist(), facts.fact.tolist()) == ([0], [])


def test_empty_documents_satisfy_only_what_0_satisfies() -> None:
    questions = [question("a", AT_LEAST, 0.0), question("a", MORE, 0.0), question("a", AT_LEAST, 0.1)]
    assert found(agrees(questions, ["", "...", "a"]), ["", "..."]) == [[0], [0]]


def test_profiles_without_words_satisfy_only_what_0_satisfies() -> None:
    questions = [question("...", AT_LEAST, 0.0), question("", MORE, 0.0), question("", AT_LEAST, 1.0)]
    assert found(agrees(questions, ["a", ""]), ["a"]) == [[0]]


def test_what_is_raw_is_no_text() -> None:
    engine = SimilarityEngine.build([question("a", AT_LEAST, 0.0), question("a")], SIMPLE, NO_STATISTICS)
    assert engine.find(as_texts([b"a", b"a"])).start.tolist() == [0, 0, 0]


def test_a_profile_of_one_stop_word() -> None:
    statistics = learn(["the cat", "the dog", "the end", "the"], SIMPLE)
    questions = [question("the", AT_LEAST, threshold) for threshold in (0.0, 0.2, 0.5, 1.0)]
    assert found(agrees(questions, ["the the the", "the cat", "a cat"], statistics), ["the"]) == [[0, 1, 2, 3]]


def test_a_profile_of_500_words() -> None:
    chance = Random(5)
    words = [f"w{number}" for number in range(500)]
    statistics = TextStatistics(1_000, {word: chance.randint(1, 1_000) for word in words}, AnalyserVersion.of(SIMPLE))
    documents = [" ".join(chance.sample(words, size)) for size in (1, 50, 250, 499, 500)]
    thresholds = (0.05, 0.3, 0.7, 0.95, 1.0)
    agrees([question(" ".join(words), AT_LEAST, threshold) for threshold in thresholds], documents, statistics)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="plain Python takes minutes for it")
def test_a_document_of_ten_megabytes() -> None:
    document = " ".join(f"w{number % 300_000}" for number in range(1_400_000)) + " fox" * 5_000
    assert len(document) > 10_000_000
    counts = {"fox": 5_000} | {f"w{number}": 5 if number < 200_000 else 4 for number in range(300_000)}
    squares = math.fsum((1 + math.log(count)) ** 2 for count in counts.values())
    value = round((1 + math.log(5_000)) / math.sqrt(squares), 12)
    questions = [question("fox", operator, value) for operator in (AT_LEAST, MORE)]
    engine = SimilarityEngine.build([*questions, question("fox", MORE, 0.5)], SIMPLE, NO_STATISTICS)
    assert scored(engine, ["a fox", document, "fox"]) == [
        [(0, 0.707106781187), (1, 0.707106781187), (2, 0.707106781187)],
        [(0, value)],
        [(0, 1.0), (1, 1.0), (2, 1.0)],
    ]


def test_words_outside_profiles_weigh_as_the_statistics_say() -> None:
    statistics = TextStatistics(99, {"common": 99, "rare": 1}, AnalyserVersion.of(SIMPLE))
    profile = [question("fox", AT_LEAST, threshold) for threshold in (0.5, 0.6, 0.7, 0.9)]
    agrees(profile, ["fox common", "fox rare", "fox unheard", "fox unheard unheard", "fox one two three"], statistics)


@settings(deadline=None)
@given(some_questions(), st.lists(texts(OUTSIDE), max_size=5), some_statistics(), st.data())
def test_cosines_of_any_pairs_are_those_of_the_definition(
    questions: list[Similarity], documents: list[str], statistics: TextStatistics, data: st.DataObject
) -> None:
    """Also of those that are not similar."""
    engine = SimilarityEngine.build(questions, SIMPLE, statistics)
    every = [(text, asked) for text in range(len(documents)) for asked in range(len(questions))]
    pairs = sorted(data.draw(st.lists(st.sampled_from(every), max_size=10)) if every else [])
    text, asked = (np.array([pair[column] for pair in pairs], np.int64) for column in range(2))
    assert engine.cosines(as_texts(documents), text, asked).tolist() == [
        cosine(SIMPLE.words(questions[asked].profile), SIMPLE.words(documents[text]), statistics)
        for text, asked in pairs
    ]


def test_cosines_that_lie_in_the_middle_are_left_to_the_definition() -> None:
    """What is computed here may err by any number of the last bits, and none of them is seen."""
    chance = Random(9)
    exact = np.array([chance.random() for _ in range(2_000)] + [number * 1e-12 + 5e-13 for number in range(2_000)])
    asked: list[int] = []

    def definition(_: int, profile: int) -> float:
        asked.append(profile)
        return round(float(exact[profile]), 12)

    error = np.full(len(exact), 2e-15)
    computed = exact + np.array([chance.uniform(-2e-15, 2e-15) for _ in exact])
    by_definition = ByDefinition(lambda text: text, definition)
    rounded = by_definition.rounded(computed, error, np.zeros(len(exact), np.int64), np.arange(len(exact)))
    assert rounded.tolist() == [round(value, 12) for value in exact.tolist()]
    assert 2_000 <= len(asked) < 2_100


# What an engine is


def test_findings_beyond_the_room_are_found_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "_ROOM", 0)
    agrees([question("a b", MORE, threshold / 10) for threshold in range(8)], ["a", "b x", "", "x", "a b", "b a a"])


def test_it_survives_being_written(tmp_path: Path) -> None:
    statistics = learn(["a b", "b c", "c x"], SIMPLE)
    questions = [question("a b c", AT_LEAST, 0.3), question("b", MORE, 0.5), question("c", AT_LEAST, 0.0)]
    engine = SimilarityEngine.build(questions, SIMPLE, statistics)
    write_arrays(tmp_path / "file", engine.arrays(), {})
    opened = SimilarityEngine.from_arrays(open_arrays(tmp_path / "file").arrays, SIMPLE)
    opened.check()
    documents = ["a b c", "b", "", "unheard a", "b x"]
    assert len(opened) == 3
    assert scored(opened, documents) == scored(engine, documents)
    assert found(opened, documents) == [[n for n, _ in e] for e in expected(questions, documents, SIMPLE, statistics)]


def test_threads_may_share_it() -> None:
    chance = Random(3)
    engine = SimilarityEngine.build([question(each) for each in zipf_texts(chance, 50, 1, 5)], SIMPLE, NO_STATISTICS)
    batches = [zipf_texts(chance, 30, 5, 20) for _ in range(8)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda batch: found(engine, batch), batches)) == [found(engine, b) for b in batches]


def test_check_finds_a_posting_that_is_missing() -> None:
    engine = SimilarityEngine.build([question("a b c", AT_LEAST, 0.9)], SIMPLE, NO_STATISTICS)
    arrays = engine.arrays()
    start, gone = arrays["posting_start"].copy(), len(arrays["posting_profile"]) - 1
    start[start > gone] = gone
    less = {"posting_start": start, "posting_profile": arrays["posting_profile"][:gone]}
    less["posting_weight"] = arrays["posting_weight"][:gone]
    with pytest.raises(AssertionError):
        SimilarityEngine.from_arrays(arrays | less, SIMPLE).check()
