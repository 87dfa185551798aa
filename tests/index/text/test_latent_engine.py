"""The engine of the latent space: exactly the reference's answers and cosines, at every threshold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.text.text_batches import as_texts
from language.text_strategies import texts
from tidings import Settings, holds
from tidings.analysis.latent import LatentSpace, fit, latent_cosine
from tidings.analysis.statistics import NO_STATISTICS, learn
from tidings.analysis.words import ENGLISH, SIMPLE, AnalyserVersion
from tidings.errors import SettingError
from tidings.index.array_file import open_arrays, write_arrays
from tidings.index.text import latent
from tidings.index.text.latent import LatentEngine
from tidings.model.predicates import Attribute, Operator, Similarity

TEXT = Attribute(("text",))
AT_LEAST, MORE = Operator.GREATER_OR_EQUAL, Operator.GREATER
TERMS = ("a", "b", "c", "d", "é", "日")
VOCABULARY = (*TERMS, "unheard", "other")


def question(profile: str, operator: Operator = AT_LEAST, threshold: float = 0.5) -> Similarity:
    return Similarity(TEXT, profile, operator, threshold, "lsi")


def space_of(matrix: Sequence[float], dimensions: int = 3) -> LatentSpace:
    values = np.arange(dimensions, 0, -1, dtype=np.float64)
    return LatentSpace(TERMS, np.array(matrix, np.float32), values, AnalyserVersion.of(SIMPLE), NO_STATISTICS)


def some_spaces() -> st.SearchStrategy[LatentSpace]:
    """Also such with terms that cancel each other, wholly or nearly."""
    worth = st.sampled_from((-1.0, 0.0, 0.5, 1.0, 1.0000001, 1e-6)) | st.floats(-1, 1, width=32)
    return st.lists(worth, min_size=18, max_size=18).map(space_of)


def expected(
    questions: Sequence[Similarity], documents: Sequence[str], space: LatentSpace
) -> list[list[tuple[int, float]]]:
    answers = []
    profiles = [space.project(SIMPLE.words(asked.profile)) for asked in questions]
    for document in documents:
        place, answer = space.project(SIMPLE.words(document)), []
        for number, (asked, profile) in enumerate(zip(questions, profiles, strict=True)):
            value = latent_cosine(profile, place)
            if value > asked.threshold if asked.operator is MORE else value >= asked.threshold:
                answer.append((number, value))
        answers.append(answer)
    return answers


def scored(engine: LatentEngine, documents: Sequence[str]) -> list[list[tuple[int, float]]]:
    facts = engine.find(as_texts(documents))
    text = np.repeat(np.arange(len(documents)), np.diff(facts.start))
    cosines = engine.cosines(as_texts(documents), text, facts.fact)
    pairs = list(zip(facts.fact.tolist(), cosines.tolist(), strict=True))
    return [pairs[first:end] for first, end in pairwise(facts.start.tolist())]


def found(engine: LatentEngine, documents: Sequence[str]) -> list[list[int]]:
    facts = engine.find(as_texts(documents))
    return [facts.fact[first:end].tolist() for first, end in pairwise(facts.start.tolist())]


def agrees(questions: Sequence[Similarity], documents: Sequence[str], space: LatentSpace) -> None:
    engine = LatentEngine.build(questions, SIMPLE, space)
    engine.check()
    wanted = expected(questions, documents, space)
    assert found(engine, documents) == [[number for number, _ in answer] for answer in wanted]
    assert scored(engine, documents) == wanted


def some_questions() -> st.SearchStrategy[list[Similarity]]:
    threshold = st.sampled_from((0.0, 0.1, 0.5, 0.75, 1.0)) | st.floats(-1.1, 1.1)
    return st.lists(st.builds(question, texts(VOCABULARY), st.sampled_from((AT_LEAST, MORE)), threshold), max_size=6)


@settings(deadline=None)  # the first one compiles
@given(some_questions(), st.lists(texts(VOCABULARY), max_size=5), some_spaces())
def test_it_finds_what_the_definition_finds(
    questions: list[Similarity], documents: list[str], space: LatentSpace
) -> None:
    agrees(questions, documents, space)


@settings(deadline=None)
@given(
    st.lists(texts(VOCABULARY), min_size=1, max_size=3),
    st.lists(texts(VOCABULARY), min_size=1, max_size=3),
    some_spaces(),
    st.sampled_from((-1e-7, -1e-12, 0.0, 1e-12, 1e-7)),
)
def test_thresholds_that_are_cosines_are_met_exactly(
    profiles: list[str], documents: list[str], space: LatentSpace, beside: float
) -> None:
    values = {
        latent_cosine(space.project(SIMPLE.words(profile)), space.project(SIMPLE.words(document)))
        for profile in profiles
        for document in documents
    }
    agrees(
        [question(p, o, value + beside) for p in profiles for o in (AT_LEAST, MORE) for value in sorted(values)],
        documents,
        space,
    )


def test_many_profiles_in_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latent, "TEXTS", 4)
    monkeypatch.setattr(latent, "PROFILES", 300)
    chance = Random(7)
    words = [f"w{number}" for number in range(200)]
    weights = [1 / rank for rank in range(1, 201)]

    def drawn(count: int, most: int) -> list[str]:
        return [" ".join(chance.choices(words, weights, k=chance.randint(0, most))) for _ in range(count)]

    sample = drawn(120, 40)
    space = fit(sample, 20, SIMPLE, learn(sample, SIMPLE))
    questions = [question(profile, AT_LEAST, chance.choice((0.0, 0.3, 0.6))) for profile in drawn(700, 8)]
    agrees(questions, [*sample[:6], "", "unheard", *drawn(3, 60)], space)


def test_it_says_what_holds_says() -> None:
    space = space_of([1, 0, 0, 0, 1, 0, 1, 1, 0, -1, 0, 0, 0, 0, 1, 1, 1, 1])
    asked = [question("a b", operator, threshold) for operator in (AT_LEAST, MORE) for threshold in (0.0, 0.5, 1.0)]
    for document in ("a b", "c", "d", "a é", "unheard", ""):
        wanted = [n for n, each in enumerate(asked) if holds(each, {"text": document}, Settings(latent=space))]
        assert found(LatentEngine.build(asked, SIMPLE, space), [document]) == [wanted]


def test_the_ends() -> None:
    space = space_of([1.0] * 18)
    agrees([], ["a", ""], space)
    agrees(
        [question("a", AT_LEAST, 0.0), question("unheard", AT_LEAST, 0.0), question("", MORE, 0.0)], ["", "a"], space
    )
    engine = LatentEngine.build([question("a", AT_LEAST, 0.0)], SIMPLE, space)
    assert engine.find(as_texts([b"a"])).start.tolist() == [0, 0]
    assert engine.find(as_texts([])).start.tolist() == [0]


def test_it_survives_being_written(tmp_path: Path) -> None:
    space = space_of([1, 0, 0, 0, 1, 0, 1, 1, 0, -1, 0, 0, 0, 0, 1, 1, 1, 1])
    questions = [question("a b", AT_LEAST, 0.3), question("c", MORE, 0.5)]
    engine = LatentEngine.build(questions, SIMPLE, space)
    write_arrays(tmp_path / "file", engine.arrays() | {f"space_{n}": each for n, each in space.arrays().items()}, {})
    arrays = open_arrays(tmp_path / "file").arrays
    of_space = {name.removeprefix("space_"): arrays[name] for name in arrays if name.startswith("space_")}
    opened = LatentEngine.from_arrays(arrays, SIMPLE, LatentSpace.from_arrays(of_space))
    opened.check()
    assert len(opened) == 2
    assert scored(opened, ["a c", "b"]) == scored(engine, ["a c", "b"]) == expected(questions, ["a c", "b"], space)


def test_another_analyser_is_refused() -> None:
    with pytest.raises(SettingError, match=r"was fitted with version 1 \(Unicode .*\) of the analyser 'simple'"):
        LatentEngine.build([], ENGLISH, space_of([1.0] * 18))
