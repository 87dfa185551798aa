"""XPath filters on XML documents: the NITF workload of the YFilter release, and generated ones on other documents.

Paths alone, and paths with predicates and branches. Against parsing the documents with lxml and doing nothing, against
the plain NFA in the same kernels, and, on a sample of filters, against lxml asking each of them. What the engine takes
to parse is told apart by an engine of one filter that never holds. Answers are compared with lxml's on that sample, and
between all ways. Then the ways to match values and what chooses between them (`xpath_choices`), and filters through a
`Matcher`, whole and while they change (`xpath_matcher`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import xpath_choices, xpath_matcher
from benchmarks.alternatives.xpath_search import EachByLxml, parse_each
from benchmarks.data import folder
from benchmarks.measuring import Measured, in_turn, report, same_count, same_counts, scaled
from benchmarks.workloads.xml_documents import (
    AUCTION_DTD,
    NITF_DTD,
    RELEASED_FILTERS,
    dblp,
    jats,
    lines,
    nitf,
    xmark,
)
from benchmarks.workloads.xpath_queries import DEEP, filters, grammar, grammar_of, mixed
from tidings.index.facts import Facts
from tidings.index.xml.engine import XPathEngine
from tidings.index.xml.texts import as_texts
from tidings.language.parser import collecting_young_only
from tidings.language.xpath import parse_xpath

REPETITIONS = 5
PATIENCE = 3.0  # seconds that the plain NFA may take for each repetition: it gets fewer documents otherwise
SAMPLE = 200  # filters that lxml is asked one by one
FEW = 20  # documents that it is asked about


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a workload took to index, and to match."""

    name: str
    filters: int
    parsing: float  # seconds
    building: float
    size: int  # bytes: the arrays, and the sets that were kept while matching
    reading: float  # seconds a document, of `matching`
    matching: float


def run() -> None:
    if not (folder() / "xml").is_dir():
        print(f"\nxpath: skipped, there is no folder xml in {folder()}; TIDINGS_DATA names another")
        return
    XPathEngine.build([parse_xpath("/a")]).find(as_texts([b"<a/>"]))  # compiles the kernels, if nobody has yet
    news, released = nitf(), lines(RELEASED_FILTERS)
    indexed = [
        measure("NITF filters as released", released[: scaled(count, least=500)], news)
        for count in (1_000, 100_000, 500_000)
    ]
    rules = grammar(folder() / NITF_DTD, "nitf")
    indexed += [
        measure("NITF, distinct paths", filters(rules, DEEP, scaled(count, least=2_000)), news)
        for count in (154_000, 1_000_000)
    ]
    indexed += [
        measure("NITF, 1 to 3 predicates and a nested path", mixed(rules, scaled(count, least=2_000)), news)
        for count in (100_000, 1_000_000)
    ]
    asked = scaled(100_000, least=1_000)
    articles, records = jats(), dblp()
    others = (
        ("XMark, one document of 1,729 elements", grammar(folder() / AUCTION_DTD, "site"), xmark()),
        ("JATS articles", grammar_of(articles), articles),
        ("DBLP records", grammar_of(records), records),
    )
    for name, known, documents in others:
        indexed.append(measure(f"{name}, paths", filters(known, DEEP, asked), documents))
        indexed.append(measure(f"{name}, 1 to 3 predicates and a nested path", mixed(known, asked), documents))
    report_indexing(indexed)
    xpath_choices.run(rules, news, articles)
    xpath_matcher.run(released[: scaled(500_000, least=500)], news)


def measure(name: str, texts: Sequence[str], documents: Sequence[bytes]) -> Indexed:
    """One workload: what it takes to build, and to match; `texts` may hold a filter more than once."""
    distinct = list(dict.fromkeys(texts))
    start = time.perf_counter()
    parsed = [parse_xpath(text) for text in collecting_young_only(distinct)]
    parsing = time.perf_counter() - start
    start = time.perf_counter()
    engine = XPathEngine.build(parsed)
    building = time.perf_counter() - start
    batch, nothing = as_texts(documents), XPathEngine.build([parse_xpath("/none")])
    found = engine.find(batch)
    number = {text: at for at, text in enumerate(distinct)}
    times = np.bincount([number[text] for text in texts], minlength=len(distinct))
    print(f"\nxpath: {name}: {len(texts):,} filters, {len(distinct):,} distinct, {len(documents):,} documents")
    matches = times[found.fact].sum() / len(documents)
    print(f"  {len(found.fact) / len(documents):,.0f} facts a document, {matches:,.0f} matches")
    seconds_each = verify_sample(distinct, documents, found)
    ways: dict[str, Callable[[], object]] = {
        "parsing_by_lxml": lambda: parse_each(documents),
        "engine_parsing": lambda: nothing.find(batch),
        "engine_with_parsing": lambda: engine.find(batch),
    }
    measured = in_turn(REPETITIONS, len(documents), **ways)
    measured["plain_NFA"] = measured_plain(engine, documents, found)
    count = len(documents)
    asking = measured["parsing_by_lxml"].median + seconds_each * len(distinct) * count
    measured["lxml_asking_each"] = Measured("lxml_asking_each", count, (asking,))  # reckoned from the sample
    report(f"{name}, {len(distinct):,} distinct", measured, "documents", "parsing_by_lxml", ours="engine_with_parsing")
    print("  microseconds a document: " + ", ".join(f"{way} {1e6 / each.rate:,.1f}" for way, each in measured.items()))
    size = engine.plan.nbytes + engine.sets.nbytes
    reading, matching = (1 / measured[way].rate for way in ("engine_parsing", "engine_with_parsing"))
    return Indexed(name, len(distinct), parsing, building, size, reading, matching)


def measured_plain(engine: XPathEngine, documents: Sequence[bytes], found: Facts) -> Measured:
    """The same plan with nothing kept: the NFA. On as many documents as it can do in a while, and verified there."""
    plain = XPathEngine(engine.plan, memory=0)
    start = time.perf_counter()
    plain.find(as_texts(documents[:1]))
    count = max(1, min(len(documents), int(PATIENCE / (time.perf_counter() - start))))
    batch = as_texts(documents[:count])
    same_counts(np.diff(found.start)[:count], plain_NFA=np.diff(plain.find(batch).start))
    return in_turn(min(REPETITIONS, 3), count, plain_NFA=lambda: plain.find(batch))["plain_NFA"]


def verify_sample(distinct: Sequence[str], documents: Sequence[bytes], found: Facts) -> float:
    """Asks lxml some of the filters about some of the documents; the seconds that each takes."""
    chosen = range(0, len(distinct), max(1, len(distinct) // SAMPLE))
    each = EachByLxml([distinct[at] for at in chosen])
    few = range(0, len(documents), max(1, len(documents) // FEW))
    start = time.perf_counter()
    answers = [each.answers(documents[at]) for at in few]
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    parse_each([documents[at] for at in few])
    seconds -= time.perf_counter() - start
    wanted = sum(map(len, answers))
    ours = sum(int(np.isin(found.fact[found.start[at] : found.start[at + 1]], list(chosen)).sum()) for at in few)
    same_count(wanted, engine=ours)
    each_takes = max(seconds, 0.0) / (len(answers) * len(chosen))
    print(f"  lxml: {each_takes * 1e6:,.1f} microseconds a filter, by {len(chosen)}, with the same answers")
    return each_takes


def report_indexing(indexed: Sequence[Indexed]) -> None:
    """What filters take to index, and how that and matching grow with their number."""
    print("\nindexing, from text; bytes with the sets that were kept while matching")
    for each in indexed:
        rate = each.filters / (each.parsing + each.building)
        parsing, building = (seconds / each.filters * 1e6 for seconds in (each.parsing, each.building))
        parts = f"parsing {parsing:,.1f} µs, building {building:,.1f} µs"
        size = f"{each.size / each.filters:,.0f} bytes a filter"
        matching = f"{each.matching * 1e6:,.1f} µs a document, {each.reading * 1e6:,.1f} of them to parse it"
        print(f"  {each.filters:>9,} filters: {rate:>8,.0f} filters/s ({parts}), {size}, {matching}: {each.name}")
