"""The four ways to match values of XPath filters, and what a sample of documents gains by choosing.

The sample is half of the documents, and the other half is matched. Answers of all ways are compared.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.measuring import in_turn, report, same_counts, scaled
from benchmarks.workloads.xpath_queries import Grammar, Settings, filters
from benchmarks.workloads.xpath_values import common_and_rare, values_and_words
from tidings.index.xml.engine import XPathEngine
from tidings.index.xml.layout import CANDIDATES, VERIFIED
from tidings.index.xml.lowering import Method
from tidings.index.xml.texts import as_texts
from tidings.language.xpath import parse_xpath

REPETITIONS = 3


def run(rules: Grammar, news: Sequence[bytes], articles: Sequence[bytes]) -> None:
    for predicates in (1, 2, 3, 4):
        count = scaled(20_000, least=1_000)
        equalities = filters(rules, Settings(predicates=predicates, only_equality=True), count)
        compare_methods(f"{predicates} predicates a filter", equalities, news)
    mixed = filters(rules, Settings(predicates=2), scaled(50_000, least=1_000))
    compare_choices("NITF, two mixed comparisons a filter", mixed, news)
    compare_choices(
        "JATS, a common value and a rare bound", common_and_rare(articles, scaled(20_000, least=500)), articles
    )
    compare_choices("JATS, a rare value and a word", values_and_words(articles, scaled(2_000, least=200)), articles)


def compare_methods(name: str, texts: Sequence[str], documents: Sequence[bytes]) -> None:
    """The four ways by name, without a sample."""
    questions = list(dict.fromkeys(map(parse_xpath, texts)))
    engines = {method.name: XPathEngine.build(questions, method) for method in Method}
    compare(f"{name}, {len(questions):,} filters", engines, documents, base="STEP_BY_STEP", ours="PRUNED")


def compare_choices(name: str, texts: Sequence[str], documents: Sequence[bytes]) -> None:
    """By the kind of test, and by a sample; each says what it took to build."""
    questions = list(dict.fromkeys(map(parse_xpath, texts)))
    sample, rest = documents[::2], documents[1::2]
    engines: dict[str, XPathEngine] = {}
    seconds: list[str] = []
    for way, given in (("by_kind", ()), ("by_sample", sample)):
        start = time.perf_counter()
        engines[way] = XPathEngine.build(questions, sample=given)
        seconds.append(f"{way} {time.perf_counter() - start:,.2f} s")
    compare(f"{name}, {len(questions):,} filters", engines, rest, base="by_kind", ours="by_sample")
    print(f"  built: {', '.join(seconds)}")


def compare(name: str, engines: dict[str, XPathEngine], documents: Sequence[bytes], base: str, ours: str) -> None:
    batch = as_texts(documents)
    counts = {way: np.diff(engine.find(batch).start) for way, engine in engines.items()}
    same_counts(counts[ours], **counts)
    looked_at, verified = (
        ", ".join(f"{way} {int(engine.counts[what]) / len(documents):,.0f}" for way, engine in engines.items())
        for what in (CANDIDATES, VERIFIED)
    )
    ways = {way: partial(engine.find, batch) for way, engine in engines.items()}
    measured = in_turn(REPETITIONS, len(documents), **ways)
    title = f"xpath: {name}, {counts[ours].mean():,.0f} hold of a document"
    report(title, measured, "documents", base=base, ours=ours)
    print("  microseconds a document: " + ", ".join(f"{way} {1e6 / each.rate:,.0f}" for way, each in measured.items()))
    print(f"  looked at for a document: {looked_at}\n  verified: {verified}")
