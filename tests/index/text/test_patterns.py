"""The engine of text patterns against the reference, over every operator, and at the ends of what may come."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from threading import Thread
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text.test_words import Halves, WithoutStopWords
from index.text.text_batches import as_texts, hard_texts
from language.text_strategies import odd_terms, text_patterns, texts
from tidings.analysis.patterns import pattern_holds
from tidings.analysis.statistics import NO_STATISTICS, TextStatistics, learn
from tidings.analysis.words import ENGLISH, SIMPLE, Analyser, AnalyserVersion
from tidings.index.array_file import open_arrays, write_arrays
from tidings.index.text import normalising
from tidings.index.text.normalising import MOST_CONJUNCTIONS
from tidings.index.text.patterns import PatternEngine
from tidings.language.text import parse_pattern
from tidings.model.text import AllOf, AnyOf, Gap, Not, Terms, TextPattern, phrase

VOCABULARY = ("a", "b", "ab", "abc", "don't", "é", "日", "running")


def found(engine: PatternEngine, batch: Sequence[str | bytes]) -> list[list[int]]:
    facts = engine.find(as_texts(batch))
    assert facts.problems == ()
    assert facts.start[0] == 0
    assert facts.start[-1] == len(facts.fact)
    by_text = [facts.fact[a:b].tolist() for a, b in zip(facts.start[:-1], facts.start[1:], strict=True)]
    return [sorted(numbers) for numbers in by_text]


def expected(patterns: Sequence[TextPattern], batch: Sequence[str | bytes], analyser: Analyser) -> list[list[int]]:
    return [
        [n for n, pattern in enumerate(patterns) if pattern_holds(pattern, analyser.words(text), analyser)]
        if isinstance(text, str)
        else []
        for text in batch
    ]


def agrees(patterns: Sequence[TextPattern], batch: Sequence[str | bytes], analyser: Analyser = SIMPLE) -> PatternEngine:
    engine = PatternEngine.build(patterns, analyser)
    engine.check()
    assert found(engine, batch) == expected(patterns, batch, analyser)
    return engine


def parsed(*patterns: str) -> list[TextPattern]:
    return [parse_pattern(pattern) for pattern in patterns]


some_patterns = st.lists(text_patterns(VOCABULARY, max_leaves=8), max_size=8)
some_texts = st.lists(texts(VOCABULARY, max_words=16) | st.just(b"a"), max_size=4)


@given(some_patterns, some_texts, st.sampled_from((SIMPLE, ENGLISH, Halves(), WithoutStopWords())))
def test_it_finds_what_the_reference_says(
    patterns: list[TextPattern], batch: list[str | bytes], analyser: Analyser
) -> None:
    agrees(patterns, batch, analyser)


@given(
    st.lists(text_patterns(("a", "b"), max_leaves=4), max_size=3), st.lists(st.sampled_from(("a", "b")), max_size=24)
)
def test_repeated_words_and_overlapping_windows(patterns: list[TextPattern], tokens: list[str]) -> None:
    agrees(patterns, [" ".join(tokens)])


@given(st.lists(text_patterns(terms=odd_terms(), max_leaves=3), max_size=4), st.lists(hard_texts(), max_size=3))
def test_any_terms_and_any_texts(patterns: list[TextPattern], batch: list[str]) -> None:
    chains = [part for pattern in patterns for part in (pattern.parts if isinstance(pattern, AllOf) else (pattern,))]
    terms = [term for chain in chains if isinstance(chain, Terms) for term in chain.terms]
    agrees(patterns, [*batch, " ".join(terms).encode(errors="replace").decode()])


statistics_of_any_kind = st.just(NO_STATISTICS) | st.builds(
    TextStatistics,
    st.just(9),
    st.dictionaries(st.sampled_from(VOCABULARY), st.integers(0, 9)),
    st.just(AnalyserVersion.of(SIMPLE)),
)


@given(some_patterns, some_texts, statistics_of_any_kind, st.sampled_from(("rarest", "random")))
def test_under_which_word_a_conjunction_stands_changes_no_answer(
    patterns: list[TextPattern], batch: list[str | bytes], statistics: TextStatistics, choice: object
) -> None:
    engine = PatternEngine.build(patterns, SIMPLE, statistics, choice=choice)  # type: ignore[arg-type]  # a str to mypy
    engine.check()
    assert found(engine, batch) == expected(patterns, batch, SIMPLE)


def test_what_an_analyser_leaves_out_is_not_between_the_words() -> None:
    patterns = parsed('"king spain"', "king ->[1,1] spain", '"king of spain"', "king ->[0,0] sp*")
    engine = agrees(patterns, ["the King of Spain", "king spain of", "king in spain"], WithoutStopWords())
    assert found(engine, ["the King of Spain", "king in spain"]) == [[0, 3], [1]]


def test_the_rarest_word_leads_to_a_conjunction() -> None:
    patterns = parsed(*["often AND rare"] * 50)
    statistics = learn(["often", "often", "often rare"], SIMPLE)
    batch = ["often", "rare", "often rare"]
    engine = PatternEngine.build(patterns, SIMPLE, statistics)
    assert [len(numbers) for numbers in found(engine, batch)] == [0, 0, 50]
    assert (engine.cost.candidates, engine.candidates) == (100, 100)
    assert engine.cost.tests == 2  # one for all that share it, in each text with the rare word
    at_random = PatternEngine.build(patterns, SIMPLE, statistics, choice="random")
    assert found(at_random, batch) == found(engine, batch)
    under_either = [conjunctions_under(at_random, word) for word in ("often", "rare")]
    assert sum(under_either) == 50
    assert min(under_either) > 10


def conjunctions_under(engine: PatternEngine, word: str) -> int:
    found(engine, [word])
    return engine.candidates


def test_wildcard_words_find_words_that_no_pattern_has() -> None:
    patterns = parsed(
        "neur*", "neural*", "neur* ->[0,0] net*", "NOT neur*", "n*", "日*", "neur* AND NOT neural*", "neural"
    )
    agrees(
        patterns, ["neurons", "neural networks", "Neural net", "neur", "n", "日本", "", "neurx netz", "neural neurons"]
    )


def test_a_word_that_comes_again_may_continue_a_chain_of_wildcard_words() -> None:
    agrees(parsed("ab", "a* ->[0,0] b", "b ->[0,0] a*"), ["ab x ab b", "ab ab b ab", "ac x ac b", "b ab ab"])
    agrees(parsed("ab", "a* AND b", "a*"), ["ab x ab b", "ab ab", "ac ac b"])


def test_marks_right_to_left_and_scripts_without_spaces() -> None:
    """Composed or not, é is one word; marks stay with their letters; each Han or Hiragana character is a word."""
    patterns = parsed(
        "café", '"cafe\u0301 au lait"', "שלום", '"שָׁלוֹם עולם"', "סלאם OR سلام", "日本", '"日本語 です"', "語 ->[0,0] で",
        "テキスト", "日* AND NOT 中", "naïve ->[0,1] שלום",
    )  # fmt: skip
    batch = [
        "CAFE\u0301 au lait", "cafe au lait", "שָׁלוֹם עולם", "שלום, עולם", "سلام عليكم", "日本語です。", "語でテキスト",
        "中日", "naïve, x שלום", "nai\u0308ve שלום", "\u0301", "",
    ]  # fmt: skip
    engine = agrees(patterns, batch)
    agrees(patterns, batch, ENGLISH)
    assert found(engine, batch)[0] == [0, 1]
    assert found(engine, batch)[5] == [5, 6, 7, 9]


@given(some_patterns, some_texts, st.sampled_from((SIMPLE, Halves())), st.sampled_from(("rarest", "random")))
def test_patterns_of_too_many_conjunctions_are_programs(
    patterns: list[TextPattern], batch: list[str | bytes], analyser: Analyser, choice: object
) -> None:
    """Here one conjunction is too many already for an OR, so that random patterns are programs."""
    with mock.patch.object(normalising, "MOST_CONJUNCTIONS", 1):
        engine = PatternEngine.build(patterns, analyser, choice=choice)  # type: ignore[arg-type]  # a str to mypy
    engine.check()
    assert found(engine, batch) == expected(patterns, batch, analyser)
    assert found(PatternEngine.from_arrays(engine.arrays(), analyser), batch) == found(engine, batch)


def test_more_conjunctions_than_are_made_of_one_pattern() -> None:
    ors = AllOf(tuple(AnyOf((phrase(f"a{i}"), phrase(f"b{i}"))) for i in range(12)))
    ands = AnyOf(tuple(AllOf((phrase(f"a{i}"), phrase(f"b{i}"))) for i in range(12)))
    patterns: list[TextPattern] = [phrase("a1"), ors, Not(ands), phrase("b2"), ands, Not(ors)]
    batch: list[str | bytes] = [
        " ".join(f"a{i}" for i in range(12)),
        " ".join(f"b{i}" for i in range(11)),
        "",
        b"a1",
        "a1 b2",
    ]
    engine = agrees(patterns, batch)
    assert len(engine.kept.program_first) == 2


def test_a_text_is_asked_only_if_it_has_a_word_that_the_pattern_needs() -> None:
    ors = " AND ".join([*[f'(a{i} OR "x b{i}" OR c{i}*)' for i in range(9)], '(some OR few OR "x b1")'])
    patterns = parsed(*[ors] * 3, *[f"rare AND {ors}"] * 5)
    often = " ".join(f"a{i} b{i} cc{i}" for i in range(9))
    statistics = learn([*[f"{often} x"] * 9, "some b1", "some few"], SIMPLE)
    engine = PatternEngine.build(patterns, SIMPLE, statistics)
    asked = {often: 0, f"{often} some": 3, "few x b1": 6, "some few": 6, "rare": 5, f"x b1 rare {often}": 8, "": 0}
    for text, candidates in asked.items():
        assert found(engine, [text]) == expected(patterns, [text], SIMPLE)
        assert engine.candidates == candidates, text
    assert found(engine, [f"{often} x b1 rare"]) == [[*range(8)]]
    assert engine.cost.tests < 8 * 30  # each pattern has 37 words


def test_what_needs_no_word_is_asked_of_every_text() -> None:
    nots = " AND ".join(f"(NOT a{i} OR NOT b{i})" for i in range(10))
    engine = agrees(parsed(nots, f"a1 AND {nots}", "NOT a", "NOT NOT a"), ["", "a1", "a1 b1", "a"])
    assert [conjunctions_under(engine, word) for word in ("", "a1", "a")] == [2, 3, 3]


def test_an_or_of_as_many_words_as_a_pattern_may_have_is_indexed() -> None:
    pattern = AnyOf(tuple(phrase(f"w{i}") for i in range(MOST_CONJUNCTIONS)))
    engine = agrees([pattern, Not(pattern)], ["w0 w1", "w511 x", "x", ""])
    assert len(engine.kept.program_first) == 0


def test_profiles_of_500_words() -> None:
    words = [f"w{i}" for i in range(500)]
    patterns: list[TextPattern] = [
        AllOf(tuple(phrase(word) for word in words)),
        phrase(*words),
        Terms(tuple(words), (Gap(0, None),) * 499),
        AllOf(tuple(Not(phrase(word)) for word in words)),
    ]
    agrees(patterns, [" ".join(words), " ".join(reversed(words)), " ".join(words[:-1]), " x ".join(words), "x"])


def test_a_profile_of_one_stop_word() -> None:
    engine = agrees(parsed("the", "NOT the", "the ->[0,] the"), ["The quick", "the fox the", "no such", ""])
    assert engine.cost.candidates == 3 + 3 + 1 + 1  # what has only NOTs is looked at for every text


def test_a_document_of_ten_megabytes() -> None:
    words = Random(5).choices([f"w{number}" for number in range(5_000)], k=1_800_000)
    text = " ".join(words) + " needle é haystack"
    assert len(text) > 10_000_000
    patterns = parsed(
        "needle", '"needle é haystack"', "w1 ->[0,200] w2", "w1 ->[0,0] w2", "w1 ->[0,] w2* ->[9,9] w3", "NOT needle"
    )
    places = {number: [at for at, word in enumerate(words) if word == f"w{number}"] for number in (1, 2)}
    near = [min(after - before for after in places[2] if after > before) for before in places[1][:-9]]
    assert 1 < min(near) <= 201
    assert found(PatternEngine.build(patterns, SIMPLE), [text, "needle"]) == [[0, 1, 2, 4], [0]]


def test_no_patterns_and_no_texts() -> None:
    agrees([], ["a", ""])
    agrees(parsed("a"), [])
    agrees([], [])


def test_terms_without_words_are_found_nowhere() -> None:
    class Capitals(Halves):
        name = "capitals"

        def words(self, text: str):  # type: ignore[no-untyped-def]  # as that of Halves
            return super().words("".join(character for character in text if not character.islower()))

    agrees(parsed("a", "NOT a", "A AND a", "A OR a", "A"), ["A", "a", ""], Capitals())


@given(some_patterns, some_texts)
def test_arrays_lead_back_to_the_same_engine(patterns: list[TextPattern], batch: list[str | bytes]) -> None:
    engine = PatternEngine.build(patterns, SIMPLE)
    again = PatternEngine.from_arrays(engine.arrays(), SIMPLE)
    again.check()
    assert found(again, batch) == found(engine, batch)


def test_an_engine_of_mapped_arrays(tmp_path: Path) -> None:
    patterns = parsed("a", '"a b"', "b* OR c", "NOT a", "a ->[0,2] b AND NOT c")
    write_arrays(tmp_path / "engine", PatternEngine.build(patterns, SIMPLE).arrays(), {})
    engine = PatternEngine.from_arrays(open_arrays(tmp_path / "engine").arrays, SIMPLE)
    batch = ["a b", "c", "bb a x x b", ""]
    assert found(engine, batch) == expected(patterns, batch, SIMPLE)


def test_more_answers_than_there_is_room_for_at_first() -> None:
    patterns = parsed(*["a", "a OR b", "NOT c", "a b"] * 1_000)
    batch = ["a b", "c", "b", "a", "a c"] * 3
    engine = agrees(patterns[:40], batch)
    engine = PatternEngine.build(patterns, SIMPLE)
    for _ in range(2):
        assert [len(numbers) for numbers in found(engine, batch)] == [4_000, 0, 2_000, 3_000, 2_000] * 3


def test_threads_share_an_engine() -> None:
    patterns = parsed(*(f"w{i} AND (x OR NOT w{i + 1})" for i in range(50)))
    engine = PatternEngine.build(patterns, SIMPLE)
    batches = [[f"w{i} w{i + j} x", f"w{i} y"] for i in range(0, 40, 5) for j in range(3)]
    answers: dict[int, list[list[int]]] = {}
    threads = [Thread(target=lambda n=n: answers.update({n: found(engine, batches[n])})) for n in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers[n] for n in range(len(batches))] == [expected(patterns, batch, SIMPLE) for batch in batches]


EXAMPLES = (
    "a", "NOT a", "a b", '"a b"', "a OR b", "a ->[0,1] b ->[0,] a", "(a OR b*) AND NOT (c AND a)", "NOT a* OR c",
)  # fmt: skip


@pytest.mark.parametrize("analyser", [SIMPLE, ENGLISH], ids=lambda analyser: analyser.name)
def test_examples(analyser: Analyser) -> None:
    batch: list[str | bytes] = ["a", "a b", "b a", "a x b a", "bb c", "", "é a b", b"a"]
    agrees(parsed(*EXAMPLES), batch, analyser)
    with mock.patch.object(normalising, "MOST_CONJUNCTIONS", 1):
        agrees(parsed(*EXAMPLES), batch, analyser)


def test_the_kernels_run_as_plain_python() -> None:
    """With the compiler off a fault in a kernel, such as an index out of range, is an error and not a wrong answer."""
    code = "from index.text.test_patterns import *\ntest_examples(SIMPLE)\ntest_examples(ENGLISH)\n"
    path = os.pathsep.join(sys.path)
    variables = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    ran = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
