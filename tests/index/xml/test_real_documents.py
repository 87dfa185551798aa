"""Documents as they are: NITF and its released filters, JATS, XMark and DBLP, answered as lxml answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from benchmarks.alternatives.xpath_search import EachByLxml
from benchmarks.data import folder
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
from benchmarks.workloads.xpath_queries import Grammar, Settings, filters, grammar, grammar_of
from benchmarks.workloads.xpath_values import common_and_rare, values_and_words
from index.xml.documents import answers
from tidings.index.xml.engine import XPathEngine
from tidings.index.xml.layout import CANDIDATES
from tidings.index.xml.texts import as_texts
from tidings.language.xpath import parse_xpath

pytestmark = pytest.mark.skipif(
    not (folder() / "xml").is_dir(), reason=f"there is no folder xml in {folder()}; TIDINGS_DATA names another"
)

DOCUMENTS = 10
EACH = 60  # filters of each form
FORMS = [
    Settings(depth=10, skew=1.0),
    *(Settings(depth=10, predicates=count, nested=nested, values=5) for count in (1, 2, 3) for nested in (0, 1, 2)),
]


@pytest.mark.parametrize(
    ("documents", "rules"),
    [
        pytest.param(nitf, lambda _: grammar(folder() / NITF_DTD, "nitf"), id="NITF"),
        pytest.param(xmark, lambda _: grammar(folder() / AUCTION_DTD, "site"), id="XMark"),
        pytest.param(jats, grammar_of, id="JATS"),
        pytest.param(dblp, grammar_of, id="DBLP"),
    ],
)
def test_generated_filters(documents: Callable[[], list[bytes]], rules: Callable[[Sequence[bytes]], Grammar]) -> None:
    every = documents()
    some = every[:: max(1, len(every) // DOCUMENTS)][:DOCUMENTS]
    known = [rules(some), grammar_of(some)]  # by the latter more filters hold
    texts = [text for each in known for form in FORMS for text in filters(each, form, EACH)]
    engine = are_answered_as_lxml_does(texts, some)
    assert engine.counts[CANDIDATES] > 0


def test_released_filters() -> None:
    released = list(dict.fromkeys(lines(RELEASED_FILTERS)[:3_000]))
    are_answered_as_lxml_does(released[:300], nitf()[:DOCUMENTS])


def test_filters_of_values_that_occur() -> None:
    for made in (common_and_rare, values_and_words):
        are_answered_as_lxml_does(made(jats()[:DOCUMENTS], 200), jats()[:DOCUMENTS])


def are_answered_as_lxml_does(texts: Sequence[str], documents: Sequence[bytes]) -> XPathEngine:
    texts = list(dict.fromkeys(texts))
    wanted = list(map(EachByLxml(texts).answers, documents))
    assert any(wanted), "no filter matches anything"
    questions = [parse_xpath(text) for text in texts]
    for sample in ((), documents[::2]):
        engine = XPathEngine.build(questions, sample=sample)
        found = engine.find(as_texts(documents))
        assert answers(found) == wanted
        assert not found.problems
    return engine
