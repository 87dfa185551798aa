"""The latent space: by hand, by its laws, against scikit-learn, and through the reference."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from language.text_strategies import texts
from tidings import Settings, holds, parse
from tidings.analysis.cosine import sum_of_squares
from tidings.analysis.latent import LatentSpace, fit, latent_contributions, latent_cosine
from tidings.analysis.statistics import NO_STATISTICS, TextStatistics, learn
from tidings.analysis.words import ENGLISH, SIMPLE, AnalyserVersion
from tidings.errors import SettingError
from tidings.reference import check_answerable

SAMPLE = [
    "the red fox and the brown fox", "a fox hunts a hare", "red foxes hunt at night", "the hare and the tortoise",
    "rates rise as the central bank acts", "the bank left its rates", "central banks and interest rates",
    "interest falls",
]  # fmt: skip
VOCABULARY = ("fox", "hare", "red", "bank", "rates", "central", "unheard")
STATISTICS = learn(SAMPLE, SIMPLE)
SPACE = fit(SAMPLE, 3, SIMPLE, STATISTICS)


def similar(one: str, other: str, space: LatentSpace = SPACE) -> float:
    return latent_cosine(space.project(SIMPLE.words(one)), space.project(SIMPLE.words(other)))


def by_hand(statistics: TextStatistics = NO_STATISTICS) -> LatentSpace:
    """Two topics, one a dimension: red and fox lie in the first, sea in the second, wet between them, not against."""
    matrix = np.array([1, 0, 1, 0, 0, 1, 1, 1, -1, 0], np.float32)
    terms = ("fox", "red", "sea", "wet", "not")
    return LatentSpace(terms, matrix, np.array([2.0, 1.0]), AnalyserVersion.of(SIMPLE), statistics)


def test_cosines_by_hand() -> None:
    space = by_hand()
    assert space.project(SIMPLE.words("Red fox, wet fox")) == (3 + math.log(2), 1.0)
    assert similar("red", "fox", space) == 1.0
    assert similar("red", "sea", space) == 0.0
    assert similar("red", "wet", space) == round(1 / math.sqrt(2), 12)
    assert similar("red", "not", space) == -1.0
    assert similar("red", "unheard", space) == 0.0
    assert similar("red", "red not", space) == 0.0
    assert similar("", "red", space) == 0.0


def test_weights_are_those_of_the_statistics_of_the_space() -> None:
    statistics = TextStatistics(9, {"fox": 9, "wet": 4}, AnalyserVersion.of(SIMPLE))
    assert by_hand(statistics).weights(SIMPLE.words("fox wet wet unheard")) == {
        0: 1.0,
        3: (1 + math.log(2)) * statistics.idf("wet"),
    }


def test_texts_on_one_topic_are_near_each_other() -> None:
    """Red and hunts are in no text of the sample together, but both with fox."""
    assert similar("red", "hunts") > 0.8
    assert abs(similar("hunts", "interest")) < 0.3


@given(texts(VOCABULARY), texts(VOCABULARY))
def test_the_laws_of_the_cosine(one: str, other: str) -> None:
    assert similar(one, other) == similar(other, one)
    assert -1.0 <= similar(one, other) <= 1.0
    shuffled = " ".join(reversed(one.split()))
    assert SPACE.project(SIMPLE.words(shuffled)) == SPACE.project(SIMPLE.words(one))
    if any(SPACE.project(SIMPLE.words(one))):
        assert similar(one, shuffled) == 1.0


@given(texts(VOCABULARY), texts(VOCABULARY))
def test_contributions_add_up_to_the_cosine(one: str, other: str) -> None:
    shares = latent_contributions(SPACE, SIMPLE.words(one), SIMPLE.words(other))
    assert math.fsum(share for _, share in shares) == pytest.approx(similar(one, other), abs=1e-9)
    assert [share for _, share in shares] == sorted((share for _, share in shares), reverse=True)


def sklearn_places(sample: list[str], wanted: list[str], dimensions: int) -> np.ndarray:
    """The same by scikit-learn, whose solver is given no seed that matters: the outcome is exact."""
    vectorizer = TfidfVectorizer(
        tokenizer=lambda text: [word.text for word in SIMPLE.words(text)],
        token_pattern=None,
        lowercase=False,
        smooth_idf=True,
        sublinear_tf=True,
        norm="l2",
    )
    svd = TruncatedSVD(dimensions, algorithm="arpack").fit(vectorizer.fit_transform(sample))
    return np.asarray(svd.transform(vectorizer.transform(wanted)))


@settings(deadline=None, max_examples=20)
@given(st.lists(texts(VOCABULARY[:-1]), min_size=1, max_size=5))
def test_cosines_equal_those_of_scikit_learn(documents: list[str]) -> None:
    places = sklearn_places(SAMPLE, [*documents, "red bank"], 3)
    for document, place in zip(documents, places[:-1], strict=True):
        lengths = float(np.linalg.norm(place) * np.linalg.norm(places[-1]))
        wanted = float(place @ places[-1]) / lengths if lengths > 1e-9 else 0.0
        assert similar(document, "red bank") == pytest.approx(wanted, abs=1e-5)  # the space is kept as float32


def test_the_space_is_that_of_the_singular_vectors() -> None:
    matrix = SPACE.matrix.reshape(-1, 3).astype(np.float64)
    assert np.allclose(matrix.T @ matrix, np.eye(3), atol=1e-6)
    assert SPACE.singular_values.tolist() == sorted(SPACE.singular_values.tolist(), reverse=True)
    squares = [sum_of_squares(SPACE.project(SIMPLE.words(text))) for text in SAMPLE]
    norms = [sum_of_squares(SPACE.weights(SIMPLE.words(text)).values()) for text in SAMPLE]
    carried = sum(square / norm for square, norm in zip(squares, norms, strict=True))
    assert carried == pytest.approx(sum_of_squares(SPACE.singular_values.tolist()), rel=1e-5)


def test_the_same_seed_gives_the_same_space_and_texts_without_words_do_not_matter() -> None:
    assert fit([*SAMPLE, "", "..."], 3, SIMPLE, STATISTICS) == SPACE
    assert fit(SAMPLE, 2, SIMPLE, STATISTICS) != SPACE
    assert SPACE != "a space"


def test_a_space_survives_being_written() -> None:
    arrays = SPACE.arrays()
    assert all(array.ndim == 1 and array.dtype.kind in "iuf" for array in arrays.values())
    opened = LatentSpace.from_arrays(arrays)
    assert opened == SPACE
    assert (opened.terms, opened.analyser) == (SPACE.terms, AnalyserVersion.of(SIMPLE))
    assert opened.statistics == STATISTICS


@pytest.mark.parametrize("dimensions", [0, -1, 8])
def test_a_sample_has_room_for_so_many_dimensions(dimensions: int) -> None:
    with pytest.raises(SettingError) as raised:
        fit(SAMPLE, dimensions, SIMPLE, STATISTICS)
    assert str(raised.value) == (
        f"a sample of 8 texts that have words, 24 different ones, has room for 1 to 7 dimensions; {dimensions} were "
        "asked for; take fewer of them, or a larger sample"
    )


def test_what_is_no_space_is_refused() -> None:
    with pytest.raises(SettingError, match="some of those given are there twice"):
        LatentSpace(("a", "a"), np.zeros(2, np.float32), np.ones(1), AnalyserVersion.of(SIMPLE), NO_STATISTICS)
    with pytest.raises(SettingError, match="2 terms and 2 dimensions has 4 numbers, in 1 dimension or more; 3 were"):
        LatentSpace(("a", "b"), np.zeros(3, np.float32), np.ones(2), AnalyserVersion.of(SIMPLE), NO_STATISTICS)
    with pytest.raises(SettingError, match="1 terms and 0 dimensions"):
        LatentSpace(("a",), np.zeros(0, np.float32), np.ones(0), AnalyserVersion.of(SIMPLE), NO_STATISTICS)


def test_fitting_says_which_package_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(SettingError, match=r"needs scipy; install it: pip install 'tidings\[lsi\]'"):
        fit(SAMPLE, 3, SIMPLE, STATISTICS)


# Through the reference


def test_the_reference_takes_the_space_from_its_settings() -> None:
    where, event = "similarity(t, 'red', model => 'lsi') > 0.7", {"t": "a wet fox"}
    assert holds(where, event, Settings(latent=by_hand()))
    assert not holds(where, {"t": "a wet sea"}, Settings(latent=by_hand()))
    assert not holds("similarity(t, 'red') > 0", event, Settings(latent=by_hand()))
    assert not holds(where, {"t": 5}, Settings(latent=by_hand()))
    assert holds(f"NOT {where}", {"t": "sea"}, Settings(latent=by_hand()))


def test_a_text_at_a_right_angle_is_0_and_an_opposite_one_less() -> None:
    space = Settings(latent=by_hand())
    assert holds("similarity(t, 'red', model => 'lsi') >= 0", {"t": "sea"}, space)
    assert holds("similarity(t, 'red', model => 'lsi') >= 0", {"t": "unheard"}, space)
    assert not holds("similarity(t, 'red', model => 'lsi') >= 0", {"t": "not"}, space)


def test_without_a_space_the_model_is_refused() -> None:
    where = parse("a = 1 OR NOT similarity(t, 'x', model => 'lsi') >= 0.5")
    for without in (None, Settings()):
        with pytest.raises(SettingError) as raised:
            check_answerable(where, without)
        assert str(raised.value) == (
            "similarity with model => 'lsi' needs a latent space, and there is none here; give one that was fitted on "
            "a sample of texts (Settings.latent), or leave the model out to compare words"
        )
    check_answerable(where, Settings(latent=by_hand()))


def test_a_space_of_another_analyser_is_refused() -> None:
    with pytest.raises(SettingError, match=r"was fitted with version 1 \(Unicode .*\) of the analyser 'simple', and"):
        Settings(ENGLISH, latent=by_hand())
