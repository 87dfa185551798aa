"""The profiles of the benchmark, and what it measures against: both alternatives answer as the reference does."""

from __future__ import annotations

import pytest

from benchmarks.workloads.profiles import KINDS, made_corpus, profiles
from index.text.test_patterns import expected, found
from tidings.analysis.words import SIMPLE
from tidings.index.text.patterns import PatternEngine
from tidings.language.text import parse_pattern, print_pattern

CORPUS = made_corpus(120)
PATTERNS = [parse_pattern(profile) for profile in profiles(CORPUS, CORPUS.statistics(), 400)]
DOCUMENTS = [*CORPUS.matched[:6], *CORPUS.learned[:6]]
EXPECTED = expected(PATTERNS, DOCUMENTS, SIMPLE)


def test_profiles_are_of_every_kind_and_some_hold() -> None:
    printed = [print_pattern(pattern) for pattern in PATTERNS]
    for sign in (" AND ", " OR ", " NOT ", '"', "->[0,3]", "*"):
        assert any(sign in profile for profile in printed), sign
    assert sum(KINDS.values()) == 100
    assert sum(map(len, EXPECTED)) > len(DOCUMENTS)


def test_the_engine_finds_them() -> None:
    assert found(PatternEngine.build(PATTERNS, SIMPLE, CORPUS.statistics()), DOCUMENTS) == EXPECTED


def test_the_alternatives_find_them() -> None:
    pytest.importorskip("tantivy", reason="tantivy is one of the alternatives of the benchmark, and is not installed")
    from benchmarks.alternatives.text_search import Queries, WordSets

    words = [SIMPLE.words(document) for document in DOCUMENTS]
    for alternative in (WordSets(PATTERNS), Queries(PATTERNS)):
        assert [alternative.matches(each) for each in words] == EXPECTED
