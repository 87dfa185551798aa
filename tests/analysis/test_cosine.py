"""Statistics and cosine similarity: by hand, by their laws, and against scikit-learn."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from language.text_strategies import texts
from tidings import Matcher, Settings
from tidings.analysis.cosine import contributions, cosine
from tidings.analysis.latent import fit
from tidings.analysis.statistics import NO_STATISTICS, TextStatistics, learn
from tidings.analysis.words import ENGLISH, SIMPLE, AnalyserVersion
from tidings.errors import SettingError
from tidings.index.array_file import open_arrays, write_arrays
from tidings.rendezvous.words import Words

MADE_BY = AnalyserVersion.of(SIMPLE)
VOCABULARY = ("a", "b", "c", "d", "don't", "é", "日本")


def similar(profile: str, document: str, statistics: TextStatistics = NO_STATISTICS) -> float:
    return cosine(SIMPLE.words(profile), SIMPLE.words(document), statistics)


def some_texts() -> st.SearchStrategy[str]:
    return texts(VOCABULARY)


def some_statistics() -> st.SearchStrategy[TextStatistics]:
    return st.lists(some_texts(), max_size=6).map(lambda sample: learn(sample, SIMPLE))


# Statistics


def test_statistics_are_learned_from_a_sample() -> None:
    statistics = learn(["a a b", "B c", ""], SIMPLE)
    assert statistics == TextStatistics(3, {"a": 1, "b": 2, "c": 1}, MADE_BY)
    assert statistics.idf("a") == math.log(4 / 2) + 1
    assert statistics.idf("b") == math.log(4 / 3) + 1
    assert statistics.idf("unseen") == math.log(4 / 1) + 1


def test_statistics_belong_to_their_analyser() -> None:
    assert learn(["networks", "network"], ENGLISH).document_frequency == {"network": 2}


def test_without_statistics_every_idf_is_1() -> None:
    assert NO_STATISTICS.idf("anything") == 1.0
    assert learn([], SIMPLE) == NO_STATISTICS


@given(some_statistics())
def test_statistics_survive_json(statistics: TextStatistics) -> None:
    assert TextStatistics.from_dict(json.loads(json.dumps(statistics.to_dict()))) == statistics


def test_statistics_are_stored_in_the_order_of_the_words() -> None:
    stored = TextStatistics(2, {"b": 1, "a": 2}, AnalyserVersion("own", "7")).to_dict()
    assert json.dumps(stored) == (
        '{"analyser": {"name": "own", "version": "7"}, "documents": 2, "document_frequency": {"a": 2, "b": 1}}'
    )


@given(some_statistics())
def test_statistics_survive_being_arrays(statistics: TextStatistics) -> None:
    arrays = statistics.arrays()
    assert all(array.ndim == 1 and array.dtype.kind in "iu" for array in arrays.values())
    assert TextStatistics.from_arrays(arrays) == statistics


def test_statistics_survive_a_file(tmp_path: Path) -> None:
    frequency = {"b": 1, "a": 2**62, "\ud800": 3, "": 0, "日本": 4}
    statistics = TextStatistics(2**63 - 1, frequency, AnalyserVersion("own", "version 7"))
    write_arrays(tmp_path / "file", statistics.arrays(), {})
    assert TextStatistics.from_arrays(open_arrays(tmp_path / "file").arrays) == statistics


def test_statistics_of_another_analyser_are_refused() -> None:
    statistics = TextStatistics(1, {"a": 1}, AnalyserVersion("simple", "0"))
    message = (
        f"the text statistics were counted with version 0 of the analyser 'simple', and version {SIMPLE.version} of "
        "'simple' is in use; count them anew with this one"
    )
    uses: list[Callable[[], object]] = [
        lambda: Settings(statistics=statistics),
        lambda: Matcher(statistics=statistics),
        lambda: Words(statistics=statistics),
        lambda: fit(["a b", "b c", "c d"], 1, SIMPLE, statistics),
    ]
    for use in uses:
        with pytest.raises(SettingError) as raised:
            use()
        assert str(raised.value) == message
    with pytest.raises(SettingError, match=r"counted with version 1 .* of the analyser 'english', and"):
        Matcher(statistics=learn(["networks"], ENGLISH))
    assert Settings(ENGLISH, NO_STATISTICS) == Settings(ENGLISH, learn([], SIMPLE))


def test_statistics_name_their_analyser() -> None:
    with pytest.raises(SettingError) as raised:
        TextStatistics(1, {})
    assert str(raised.value) == (
        "text statistics name the analyser that made their words, and these name none; "
        "give tidings.AnalyserVersion.of(analyser), or count them with tidings.analysis.statistics.learn"
    )


def test_statistics_of_different_analysers_are_not_added() -> None:
    with pytest.raises(SettingError) as raised:
        TextStatistics(1, {}, AnalyserVersion("a", "1")) + TextStatistics(1, {}, AnalyserVersion("a", "2"))
    assert str(raised.value) == (
        "text statistics counted with version 1 of the analyser 'a' cannot be added to those of version 2 of 'a'; "
        "count both samples with one"
    )


@given(st.lists(some_texts(), max_size=6), st.lists(some_texts(), max_size=6))
def test_statistics_of_two_samples_add_up(one: list[str], other: list[str]) -> None:
    both = learn([*one, *other], SIMPLE)
    assert learn(one, SIMPLE) + learn(other, SIMPLE) == both
    assert both + NO_STATISTICS == both == sum((learn([text], SIMPLE) for text in [*one, *other]), NO_STATISTICS)


def test_words_that_no_document_has_stay_when_statistics_are_added() -> None:
    assert TextStatistics(1, {"a": 0}, MADE_BY) + TextStatistics(2, {"b": 1}, MADE_BY) == TextStatistics(
        3, {"a": 0, "b": 1}, MADE_BY
    )
    with pytest.raises(TypeError):
        TextStatistics(1, {}, MADE_BY) + 1  # type: ignore[operator]  # that is what is asked


FREQUENCIES = "words are strings, and frequencies are integers from 0 to the number of documents, here 2"
ANYBODY = {"analyser": {"name": "own", "version": "7"}}
STORED = (
    "text statistics are a mapping of exactly 'analyser' to its 'name' and 'version' or null, 'documents' to a number "
    "and 'document_frequency' to a mapping of words to numbers; "
)


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (
            {**ANYBODY, "documents": -1, "document_frequency": {}},
            "the number of documents is an integer from 0 to 9223372036854775807; -1 was given",
        ),
        (
            {**ANYBODY, "documents": True, "document_frequency": {}},
            "the number of documents is an integer from 0 to 9223372036854775807; True was given",
        ),
        (
            {**ANYBODY, "documents": 10**400, "document_frequency": {}},
            f"the number of documents is an integer from 0 to 9223372036854775807; {10**400} was given",
        ),
        (
            {**ANYBODY, "documents": 2, "document_frequency": {"a": 3}},
            f"the document frequency of 'a' is 3; {FREQUENCIES}",
        ),
        (
            {**ANYBODY, "documents": 2, "document_frequency": {"a": 0.5}},
            f"the document frequency of 'a' is 0.5; {FREQUENCIES}",
        ),
        ({**ANYBODY, "documents": 2, "document_frequency": {1: 1}}, f"the document frequency of 1 is 1; {FREQUENCIES}"),
        ({**ANYBODY, "documents": 2}, f"{STORED}a mapping with the keys ['analyser', 'documents'] was given"),
        ({**ANYBODY, "documents": 2, "document_frequency": ["a"]}, None),
        ({**ANYBODY, "documents": 2, "document_frequency": {}, "x": 1}, None),
        ({"documents": 2, "document_frequency": {}}, None),
        ({"analyser": "simple", "documents": 2, "document_frequency": {}}, None),
        ([2, {}], f"{STORED}a list was given"),
    ],
)
def test_what_is_no_statistics(stored: Any, message: str | None) -> None:
    with pytest.raises(SettingError) as raised:
        TextStatistics.from_dict(stored)
    assert message is None or str(raised.value) == message


# Cosine


def test_cosine_by_hand() -> None:
    # Weights of the profile: a 1 + ln 2, b 1. Of the document: a 1, c 1.
    assert similar("a a b", "a c") == round((1 + math.log(2)) / math.sqrt(((1 + math.log(2)) ** 2 + 1) * 2), 12)


def test_rare_words_weigh_more() -> None:
    statistics = learn(["common rare", "common", "common"], SIMPLE)
    assert similar("common rare", "rare x", statistics) > similar("common rare", "common x", statistics)


@pytest.mark.parametrize(("profile", "document"), [("", ""), ("", "a"), ("a", ""), ("--", "a"), ("a", "b")])
def test_nothing_in_common_is_0(profile: str, document: str) -> None:
    assert similar(profile, document) == 0.0
    assert contributions(SIMPLE.words(profile), SIMPLE.words(document), NO_STATISTICS) == ()


def test_thresholds_are_met_exactly() -> None:
    # Two of four words in common: 2 / sqrt(4 * 4); one in common of one and four: 1 / sqrt(1 * 4).
    assert similar("a b c d", "c d e f") == 0.5
    assert similar("a", "a b c d") == 0.5
    assert similar("a b c", "C, A; B") == 1.0


@given(some_texts(), some_statistics(), st.randoms(use_true_random=False))
def test_a_text_is_exactly_1_similar_to_itself_in_any_order(text: str, statistics: TextStatistics, random: Any) -> None:
    shuffled = list(SIMPLE.words(text))
    random.shuffle(shuffled)
    assert cosine(SIMPLE.words(text), shuffled, statistics) == (1.0 if shuffled else 0.0)


@given(some_texts(), some_texts(), some_statistics())
def test_cosine_is_symmetric_and_between_0_and_1(one: str, other: str, statistics: TextStatistics) -> None:
    assert similar(one, other, statistics) == similar(other, one, statistics)
    assert 0.0 <= similar(one, other, statistics) <= 1.0


@given(some_texts(), some_texts(), some_statistics())
def test_contributions_add_up_to_the_cosine(one: str, other: str, statistics: TextStatistics) -> None:
    profile, document = SIMPLE.words(one), SIMPLE.words(other)
    shares = contributions(profile, document, statistics)
    assert {word for word, _ in shares} == {word.text for word in profile} & {word.text for word in document}
    assert [share for _, share in shares] == sorted((share for _, share in shares), reverse=True)
    assert math.fsum(share for _, share in shares) == pytest.approx(cosine(profile, document, statistics), abs=1e-11)


def sklearn_cosine(profile: str, document: str, sample: list[str] | None) -> float:
    """The same by scikit-learn; without a sample, without idf."""

    def tokens(text: str) -> list[str]:
        return [word.text for word in SIMPLE.words(text)]

    everything = sorted({token for text in (profile, document, *(sample or [])) for token in tokens(text)})
    if not everything:
        return 0.0
    vectorizer = TfidfVectorizer(
        tokenizer=tokens,
        token_pattern=None,
        lowercase=False,
        vocabulary=everything,
        use_idf=sample is not None,
        smooth_idf=True,
        sublinear_tf=True,
        norm="l2",
    )
    vectorizer.fit(sample if sample is not None else [profile])
    vectors = vectorizer.transform([profile, document]).toarray()
    return float(vectors[0] @ vectors[1])


@settings(deadline=None)  # the first call of scikit-learn is slow
@given(some_texts(), some_texts(), st.lists(some_texts(), min_size=1, max_size=6))
def test_cosine_equals_scikit_learn(profile: str, document: str, sample: list[str]) -> None:
    ours = similar(profile, document, learn(sample, SIMPLE))
    assert ours == pytest.approx(sklearn_cosine(profile, document, sample), abs=1e-9)


@settings(deadline=None)  # the first call of scikit-learn is slow
@given(some_texts(), some_texts())
def test_cosine_without_statistics_equals_scikit_learn_without_idf(profile: str, document: str) -> None:
    assert similar(profile, document) == pytest.approx(sklearn_cosine(profile, document, None), abs=1e-9)
