"""XPath filters on XML documents: the NITF workload of the YFilter release, and generated ones on other documents.

Against parsing the documents with lxml and doing nothing, against the plain NFA in the same kernels, and, on a sample
of filters, against lxml asking each of them. Answers are compared with lxml's on that sample, and between all ways.
"""

from __future__ import annotations

import gzip
import re
import tarfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.alternatives.xpath_search import EachByLxml, parse_each
from benchmarks.data import folder
from benchmarks.measuring import in_turn, report, same_count, same_counts, scaled
from benchmarks.workloads.xpath_queries import Grammar, Settings, filters, grammar, grammar_of
from tidings.index.facts import Facts, Texts
from tidings.index.xml.engine import XPathEngine
from tidings.index.xml.layout import VERIFIED
from tidings.index.xml.lowering import Method
from tidings.language.xpath import parse_xpath

REPETITIONS = 5
SAMPLE = 200  # filters that lxml is asked one by one
FEW = 20  # documents that it is asked about
DEEP = Settings(depth=10)  # of the filters of which many distinct ones are wanted
NITF_DTD, AUCTION_DTD = "xml/dtds/nitf-2-5.dtd", "xml/dtds/auction.dtd"


def run() -> None:
    if not (folder() / "xml").is_dir():
        print(f"\nxpath: skipped, there is no folder xml in {folder()}; TIDINGS_DATA names another")
        return
    XPathEngine.build([parse_xpath("/a")]).find(as_batch([b"<a/>"]))  # compiles the kernels, if nobody has yet
    nitf = unpacked("xml/nitf_docs_100.tar.gz")
    released = lines("xml/nitf_queries_500000.txt.gz")
    for count in (1_000, 100_000, 500_000):
        measure("NITF filters as released", released[: scaled(count, least=500)], nitf)
    rules = grammar(folder() / NITF_DTD, "nitf")
    for count in (154_000, 1_000_000):
        measure("NITF, distinct filters", filters(rules, DEEP, scaled(count, least=2_000)), nitf)
    auction = [unzipped("xml/xmark_auction_0.001.xml.gz")]
    asked = scaled(100_000, least=1_000)
    measure(
        "XMark, one document of 1,729 elements", filters(grammar(folder() / AUCTION_DTD, "site"), DEEP, asked), auction
    )
    for name, documents in (("DBLP records", dblp()), ("JATS articles", unpacked("xml/elife_jats_100.tar.gz"))):
        measure(name, filters(grammar_of(documents), DEEP, asked), documents)
    compare_methods(rules, nitf)


def measure(name: str, texts: Sequence[str], documents: Sequence[bytes]) -> None:
    """One workload: what it takes to build, and to match; `texts` may hold a filter more than once."""
    distinct = list(dict.fromkeys(texts))
    parsed = [parse_xpath(text) for text in distinct]
    start = time.perf_counter()
    engine = XPathEngine.build(parsed)
    seconds = time.perf_counter() - start
    plain = XPathEngine.build(parsed, memory=0)
    batch = as_batch(documents)
    found = engine.find(batch)
    same_counts(np.diff(found.start), plain_NFA=np.diff(plain.find(batch).start))
    number = {text: at for at, text in enumerate(distinct)}
    times = np.bincount([number[text] for text in texts], minlength=len(distinct))
    print(f"\nxpath: {name}: {len(texts):,} filters, {len(distinct):,} distinct, {len(documents):,} documents")
    rate, size = len(distinct) / seconds, bytes_of(engine) / len(distinct)
    print(f"  built in {seconds:.2f} s, {rate:,.0f} filters/s, {size:,.0f} bytes a filter")
    matches = times[found.fact].sum() / len(documents)
    print(f"  {len(found.fact) / len(documents):,.0f} facts a document, {matches:,.0f} matches")
    verify_sample(distinct, documents, found)
    ways: dict[str, Callable[[], object]] = {
        "parsing_by_lxml": lambda: parse_each(documents),
        "engine_with_parsing": lambda: engine.find(batch),
        "plain_NFA": lambda: plain.find(batch),
    }
    measured = in_turn(REPETITIONS, len(documents), **ways)
    report(f"{name}, {len(distinct):,} distinct", measured, "documents", "parsing_by_lxml", ours="engine_with_parsing")
    print(f"  {1e6 / measured['engine_with_parsing'].rate:,.0f} microseconds a document")


def verify_sample(distinct: Sequence[str], documents: Sequence[bytes], found: Facts) -> None:
    """Asks lxml some of the filters about some of the documents, and says how long each takes."""
    chosen = range(0, len(distinct), max(1, len(distinct) // SAMPLE))
    each = EachByLxml([distinct[at] for at in chosen])
    few = range(0, len(documents), max(1, len(documents) // FEW))
    start = time.perf_counter()
    answers = [each.answers(documents[at]) for at in few]
    seconds = (time.perf_counter() - start) / (len(answers) * len(chosen))
    wanted = sum(map(len, answers))
    ours = sum(int(np.isin(found.fact[found.start[at] : found.start[at + 1]], list(chosen)).sum()) for at in few)
    same_count(wanted, engine=ours)
    all_of_them = seconds * len(distinct) * 1e3
    print(f"  lxml: {seconds * 1e6:,.1f} microseconds a filter, by {len(chosen)}: {all_of_them:,.0f} ms a document")


def compare_methods(rules: Grammar, documents: Sequence[bytes]) -> None:
    """The four ways to match values, with one to four predicates in each filter."""
    count = scaled(50_000, least=1_000)
    batch = as_batch(documents)
    for predicates in (1, 2, 3, 4):
        texts = filters(rules, Settings(predicates=predicates, only_equality=True), count)
        parsed = list(dict.fromkeys(map(parse_xpath, texts)))
        engines = {method: XPathEngine.build(parsed, method=method) for method in Method}
        counts = {method: np.diff(engine.find(batch).start) for method, engine in engines.items()}
        same_counts(counts[Method.PRUNED], **{method.name: each for method, each in counts.items()})
        verified = {method: int(engine.counts[VERIFIED]) / len(documents) for method, engine in engines.items()}
        ways = {method.name: (lambda engine=engine: engine.find(batch)) for method, engine in engines.items()}
        measured = in_turn(REPETITIONS, len(documents), **ways)
        matches = counts[Method.PRUNED].mean()
        title = f"{predicates} predicates a filter, {len(parsed):,} filters, {matches:,.0f} matches a document"
        report(title, measured, "documents", base="STEP_BY_STEP", ours="PRUNED")
        print(
            "  verified a document: " + ", ".join(f"{method.name} {share:,.0f}" for method, share in verified.items())
        )


def bytes_of(engine: XPathEngine) -> int:
    return engine.plan.nbytes + engine.sets.nbytes


# Data


def as_batch(documents: Sequence[bytes]) -> Texts:
    length = np.array([len(document) for document in documents], np.int64)
    raw = np.ones(len(documents), np.bool_)
    return Texts(np.frombuffer(b"".join(documents), np.uint8), np.cumsum(length) - length, length, raw)


def unzipped(file: str) -> bytes:
    with gzip.open(folder() / file) as opened:
        return opened.read()


def lines(file: str) -> list[str]:
    return [line.strip() for line in unzipped(file).decode().splitlines() if line.strip()]


def unpacked(file: str) -> list[bytes]:
    """The files of an archive, in the order of their names."""
    found: dict[str, bytes] = {}
    with tarfile.open(folder() / file) as archive:
        for member in archive:
            opened = archive.extractfile(member)
            if opened is not None and Path(member.name).suffix == ".xml":
                found[member.name] = opened.read()
    return [found[name] for name in sorted(found)]


def dblp() -> list[bytes]:
    """The records of the excerpt, each a document of its own in UTF-8."""
    text = unzipped("bibliography/dblp_excerpt.xml.gz").decode("iso-8859-1")
    records = re.findall(
        r"<(article|inproceedings|incollection|book|phdthesis|www|proceedings)(\s[^>]*>.*?</\1>)", text, re.S
    )
    whole = [f"<{kind}{rest}".encode() for kind, rest in records]
    return whole[: scaled(2_000, least=200)]
