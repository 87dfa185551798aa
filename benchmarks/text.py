"""Text: abstracts against Boolean and proximity profiles, and what cutting them into words costs beside matching.

The alternatives are what one would write: each profile evaluated on the document's set of words in Python, and an
index of tantivy in memory for each document with every profile run as a query. Both are linear in the profiles, so they
are measured on fewer profiles and documents, with ours beside them on the same. All answers are compared.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import numpy as np
import pyarrow as pa

from benchmarks.alternatives.text_search import Queries, WordSets
from benchmarks.measuring import Measured, in_turn, matches_in, matches_per_event, report, same_counts, scaled
from benchmarks.workloads.profiles import Corpus, corpus, profiles, where
from tidings import Matcher
from tidings.analysis.statistics import TextStatistics
from tidings.analysis.words import SIMPLE
from tidings.index.text.patterns import PatternEngine
from tidings.index.text.words import texts_of
from tidings.language.text import parse_pattern
from tidings.model.text import TextPattern

SIZES = tuple(dict.fromkeys(scaled(size, least=1_000) for size in (10_000, 100_000, 1_000_000)))
DOCUMENTS = scaled(4_000, least=200)
FEW_PROFILES, FEW_DOCUMENTS = scaled(100_000, least=1_000), 5
SHORT = 90  # words of the abstracts in the paper's second corpus
REPETITIONS = 5


@dataclass(frozen=True, slots=True)
class Workload:
    """Profiles, of which the first so many are made up as all of them are, and the documents they are asked of."""

    asked: list[str]
    statistics: TextStatistics
    documents: list[str]

    @classmethod
    def of(cls, source: Corpus) -> Workload:
        statistics = source.statistics()
        asked = profiles(source, statistics, max(SIZES))
        Random(3).shuffle(asked)
        return cls(asked, statistics, source.matched[:DOCUMENTS])

    def patterns(self, size: int) -> list[TextPattern]:
        return [parse_pattern(profile) for profile in self.asked[:size]]

    def matcher(self, size: int) -> tuple[Matcher, float]:
        """A matcher with so many of the profiles, and the seconds for parsing and compiling them."""
        start = time.perf_counter()
        matcher = Matcher(statistics=self.statistics, uncompiled=0)
        matcher.add_many(enumerate(map(where, self.asked[:size])))
        matcher.match({})  # what was added is compiled when the first event comes
        return matcher, time.perf_counter() - start


def run() -> None:
    source = corpus()
    workload = Workload.of(source)
    print(f"\ntext: {len(workload.documents):,} documents ({source.source})")
    workload.matcher(1_000)[0].match_many(as_table(["warm", "é"]))  # kernels are compiled, or read, here
    patterns = workload.patterns(max(SIZES))
    engines = {size: PatternEngine.build(patterns[:size], SIMPLE, workload.statistics) for size in SIZES}
    at_random = PatternEngine.build(patterns, SIMPLE, workload.statistics, choice="random")
    del patterns  # garbage is collected before each measurement, which takes long with millions of objects
    split(workload.documents, engines[max(SIZES)])
    split([first_words(document, SHORT) for document in workload.documents], engines[max(SIZES)])
    against_random(workload, at_random, engines[max(SIZES)])
    growth(workload, engines)
    against_others(workload)


def growth(workload: Workload, engines: dict[int, PatternEngine]) -> None:
    """What a document costs at each size, all sizes measured in turn."""
    table, texts, ways = as_table(workload.documents), texts_of(workload.documents), {}
    built: dict[int, str] = {}
    for size, engine in engines.items():
        matcher, seconds = workload.matcher(size)
        found = np.diff(engine.find(texts).start)
        same_counts(found, match_many=matches_per_event(matcher.match_many(table, lists=True)))
        held = sum(array.nbytes for array in engine.arrays().values()) / size
        built[size] = (
            f"{found.mean():,.1f} matches, {engine.cost.candidates / len(found):,.1f} candidates, "
            f"{engine.cost.tests / len(found):,.1f} tests; parsed and compiled in {seconds:.1f} s, "
            f"the engine has {held:,.0f} bytes a profile"
        )
        ways[str(size)] = partial(matcher.match_many, table, lists=True)
    measured = in_turn(REPETITIONS, len(workload.documents), **ways)
    print("\ngrowth, by match_many")
    for size, about in built.items():
        ours = measured[str(size)]
        print(
            f"  {size:>9,} profiles: {ours.rate:>9,.0f} documents/s, spread {ours.spread:>4.0%}, "
            f"{1e6 / ours.rate:>7,.1f} µs a document; {about}"
        )


def split(documents: list[str], engine: PatternEngine) -> None:
    """Cutting texts into words apart from matching those, and the analyser in Python, which cuts them too."""
    texts = texts_of(documents)
    read = engine.reader.read(texts)
    measured = in_turn(
        REPETITIONS,
        len(documents),
        words_in_Python=lambda: [SIMPLE.words(text) for text in documents],
        cutting=lambda: engine.reader.read(texts),
        matching=lambda: engine.find_read(texts, read),
        both=lambda: engine.find(texts),
    )
    words = len(read.word) / len(documents)
    title = f"{max(SIZES):,} profiles in the engine alone: cutting {words:,.0f} words a document, and matching them"
    report(title, measured, "documents", base="cutting", ours="both")
    print(f"  matching takes {measured['matching'].median / measured['cutting'].median:.2f} x the time of cutting")


def first_words(document: str, count: int) -> str:
    """The document up to the end of so many words."""
    words = SIMPLE.words(document)
    return document[: words[count - 1].end] if len(words) > count else document


def against_random(workload: Workload, at_random: PatternEngine, rarest: PatternEngine) -> None:
    """The rarest word of a conjunction against any of its words (LFWI and RWI of the paper)."""
    texts = texts_of(workload.documents)
    same_counts(np.diff(rarest.find(texts).start), random_word=np.diff(at_random.find(texts).start))
    measured = in_turn(
        REPETITIONS,
        len(workload.documents),
        random_word=lambda: at_random.find(texts),
        rarest_word=lambda: rarest.find(texts),
    )
    tested = [engine.candidates / len(workload.documents) for engine in (at_random, rarest)]
    title = f"{max(SIZES):,} profiles under a random word, {tested[0]:,.1f} candidates a document; under the rarest, "
    report(f"{title}{tested[1]:,.1f}", measured, "documents", base="random_word", ours="rarest_word")


def against_others(workload: Workload) -> None:
    documents, patterns = workload.documents[:FEW_DOCUMENTS], workload.patterns(FEW_PROFILES)
    table, words = as_table(documents), [SIMPLE.words(document) for document in documents]
    matcher, _ = workload.matcher(FEW_PROFILES)
    sets, queries = WordSets(patterns), Queries(patterns)
    found = [sorted(ids) for ids in matcher.match_many(table, lists=True)["subscriptions"].to_pylist()]
    _same_answers(found, word_sets=[sets.matches(each) for each in words])
    _same_answers(found, tantivy=[queries.matches(each) for each in words])
    measured: dict[str, Measured] = in_turn(
        3,
        len(documents),
        tantivy=lambda: [queries.matches(each) for each in words],
        word_sets=lambda: [sets.matches(each) for each in words],
        match_many=lambda: matches_in(matcher.match_many(table, lists=True)),
    )
    title = f"{len(patterns):,} profiles, {len(documents)} documents, the answers compared"
    report(title, measured, "documents", base="tantivy", ours="match_many")


def _same_answers(expected: list[list[int]], **found: list[list[int]]) -> None:
    for name, answers in found.items():
        if answers != expected:
            raise SystemExit(f"{name} and match_many find different profiles")


def as_table(documents: Sequence[str]) -> pa.Table:
    return pa.table({"abstract": pa.array(documents, pa.string())})
