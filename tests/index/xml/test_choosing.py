"""A sample of documents changes by what questions are found, and by which method; it never changes what is found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.xml.documents import answers, expected
from index.xml.test_engine import DOCUMENTS, QUESTIONS
from language.xpath_strategies import xml_documents, xpath_expressions
from tidings.index.xml.building import Questions
from tidings.index.xml.choosing import FEWEST, READ_FOR_EACH, TRIED, cost_of, worth_asking
from tidings.index.xml.engine import XPathEngine
from tidings.index.xml.layout import CANDIDATES
from tidings.index.xml.lowering import Method
from tidings.index.xml.texts import as_texts
from tidings.language.xpath import parse_xpath
from tidings.matcher import Matcher
from tidings.model.xpath import XPathExpression
from tidings.planning.documents import LONGEST, MOST_DOCUMENTS, MOST_TOGETHER, Reservoir
from tidings.planning.statistics import learn_from_events

# All are in English and few of the year 2030: by kind, the equality would be taken for the rarer one.
COMMON_EQUALITY = [parse_xpath(f"/r[@lang = 'en'][y > {2010 + n}]") for n in range(20)]
PAPERS = [f"<r lang='en'><y>{2000 + n}</y></r>" for n in range(12)]


@pytest.mark.parametrize("method", [None, *Method])
def test_every_kind_of_question_with_every_kind_of_document_as_sample(method: Method | None) -> None:
    questions = [parse_xpath(question) for question in dict.fromkeys(QUESTIONS)]
    wanted, problems = expected(questions, DOCUMENTS)
    engine = XPathEngine.build(questions, method, sample=DOCUMENTS)
    engine.check()
    found = engine.find(as_texts(DOCUMENTS))
    assert answers(found) == wanted
    assert list(found.problems) == problems


@settings(max_examples=40)
@given(
    st.lists(xpath_expressions(), min_size=1, max_size=10, unique=True),
    st.lists(xml_documents(), min_size=1, max_size=3),
    st.lists(xml_documents(), min_size=1, max_size=3),
    st.sampled_from((None, *Method)),
)
def test_no_sample_changes_an_answer(
    questions: list[XPathExpression], documents: list[str], sample: list[str], method: Method | None
) -> None:
    wanted, problems = expected(questions, documents)
    engine = XPathEngine.build(questions, method, sample=sample)
    found = engine.find(as_texts(documents))
    engine.check()
    assert answers(found) == wanted
    assert list(found.problems) == problems


def test_a_question_is_found_by_what_the_fewest_documents_of_the_sample_satisfy() -> None:
    by_kind = XPathEngine.build(COMMON_EQUALITY)
    by_sample = XPathEngine.build(COMMON_EQUALITY, sample=PAPERS)
    wanted, _ = expected(COMMON_EQUALITY, PAPERS)
    assert answers(by_kind.find(as_texts(PAPERS))) == answers(by_sample.find(as_texts(PAPERS))) == wanted
    assert by_kind.counts[CANDIDATES] == len(PAPERS) * len(COMMON_EQUALITY)
    assert by_sample.counts[CANDIDATES] == sum(map(len, wanted)) == 1


def test_where_the_sample_says_nothing_the_kind_of_test_does() -> None:
    questions = [parse_xpath("/r[@lang = 'en'][y > 5]")]
    elsewhere, nothing = (XPathEngine.build(questions, sample=sample) for sample in (["<other/>"], ()))
    assert all(np.array_equal(a, b) for a, b in zip(elsewhere.plan, nothing.plan, strict=True))


def test_equal_samples_give_equal_engines() -> None:
    questions = [parse_xpath(question) for question in dict.fromkeys(QUESTIONS)]
    first, second = (XPathEngine.build(questions, sample=DOCUMENTS) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first.plan, second.plan, strict=True))


def test_only_atoms_between_which_there_is_a_choice_are_asked_of_the_sample() -> None:
    added = Questions(map(parse_xpath, ("/a", "/a/b = 1", "/a or /b", "//a[@x = 1]/b")))
    assert len(added.choices()) == 2


def test_without_a_method_the_sample_chooses_the_cheapest() -> None:
    text = "lorem ipsum " * 200
    documents = [f"<r k='{n}'><p>{text}</p></r>" for n in range(5)]
    wordy = [parse_xpath(f"/r[@k = {n}][contains(p, 'word{n}')]") for n in range(TRIED)]
    values = [parse_xpath(f"/r[@k = {n}][p = {n}]") for n in range(TRIED)]
    for questions, wanted in ((wordy, Method.BOTTOM_UP), (values, Method.PRUNED)):
        chosen = XPathEngine.build(questions, sample=documents)
        named = {method: XPathEngine.build(questions, method, sample=documents) for method in Method}
        assert all(np.array_equal(a, b) for a, b in zip(chosen.plan, named[wanted].plan, strict=True))
        assert len({str(answers(engine.find(as_texts(documents)))) for engine in named.values()}) == 1
        costs = {method: cost_of(engine.counts) for method, engine in named.items()}
        assert costs[wanted] == min(costs.values())


def test_few_questions_are_built_without_asking_a_sample_that_is_large_beside_them() -> None:
    large = [f"{paper}{' ' * READ_FOR_EACH * len(COMMON_EQUALITY)}" for paper in PAPERS]
    assert worth_asking(large, len(COMMON_EQUALITY)) == ()
    by_kind, built = XPathEngine.build(COMMON_EQUALITY), XPathEngine.build(COMMON_EQUALITY, sample=large)
    assert all(np.array_equal(a, b) for a, b in zip(built.plan, by_kind.plan, strict=True))
    assert worth_asking(["<a/>"], 1) == ["<a/>"]
    thousands = ["x" * 1_000] * 100
    assert [len(worth_asking(thousands, count)) for count in (FEWEST - 1, FEWEST, 50, 1_000)] == [0, FEWEST, 50, 100]


def test_few_questions_are_not_tried_by_each_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(XPathEngine, "_tried", lambda *_, **__: pytest.fail("a method was tried"))
    XPathEngine.build(COMMON_EQUALITY, sample=PAPERS)
    assert len(COMMON_EQUALITY) < TRIED


# The sample


def test_a_reservoir_is_bounded_and_the_same_again() -> None:
    def kept(count: int) -> tuple[str | bytes, ...]:
        reservoir = Reservoir()
        for number in range(count):
            reservoir.offer(f"<a n='{number}'/>")
        return reservoir.documents()

    assert sorted(kept(3)) == ["<a n='0'/>", "<a n='1'/>", "<a n='2'/>"]
    assert len(set(kept(1_000))) == MOST_DOCUMENTS
    assert kept(1_000) == kept(1_000)
    late = sum(int(str(document).split("'")[1]) >= 500 for document in kept(1_000))
    assert 25 < late < 75


def test_a_reservoir_takes_what_looks_like_a_document_and_is_not_too_large() -> None:
    reservoir = Reservoir()
    taken: list[str | bytes] = [" <a/>", b"\xef\xbb\xbf<a/>", "<a/>".encode("utf-16"), "<broken"]
    for value in [*taken, "text", b"", 5, None, ("<a/>",), f"<a>{'x' * LONGEST}</a>"]:
        reservoir.offer(value)
    assert sorted(map(str, reservoir.documents())) == sorted(map(str, taken))
    for _ in range(MOST_DOCUMENTS):
        reservoir.offer(f"<a>{'x' * (LONGEST // 2)}</a>")
    assert 0 < sum(map(len, reservoir.documents())) <= MOST_TOGETHER


def test_statistics_have_the_documents_of_each_attribute() -> None:
    known = learn_from_events([{"a": {"xml": "<r/>"}, "b": "text"}, {"a": {"xml": b"<s/>"}, "b": "<t/>"}, {"b": 5}])
    assert set(known.of("a.xml").documents) == {"<r/>", b"<s/>"}
    assert known.of("b").documents == ("<t/>",)
    assert known.of("nothing").documents == ()


def test_a_matcher_learns_from_documents() -> None:
    where = [f"xpath_boolean(doc.xml, '/r[@lang = \"en\"][y > {2010 + n}]')" for n in range(20)]
    events = [{"doc": {"xml": paper}} for paper in PAPERS]
    found = []
    work = []
    for learned in (False, True):
        matcher = Matcher(uncompiled=0)
        if learned:
            matcher.learn(events)
        matcher.add_many(enumerate(where))
        found.append(sorted(zip(*matcher.match_many(events).to_pydict().values(), strict=True)))
        assert matcher._index is not None
        (part,) = matcher._index.parts
        (engine,) = part.engines.values()
        assert isinstance(engine, XPathEngine)
        work.append(int(engine.counts[CANDIDATES]))
    assert found[0] == found[1] == [(11, 0)]
    assert work == [len(PAPERS) * len(where), 1]
