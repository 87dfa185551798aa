"""Filters made from a DTD and from documents, so that many of them match, are answered as libxml2 answers them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.alternatives.xpath_search import EachByLxml, parse_each
from benchmarks.workloads.xpath_queries import Grammar, Settings, filters, grammar, grammar_of, mixed
from benchmarks.workloads.xpath_values import COMMON, LONG, RARE, common_and_rare, values_and_words
from index.xml.documents import answers
from tidings.index.xml.engine import XPathEngine
from tidings.index.xml.lowering import Method
from tidings.index.xml.texts import as_texts
from tidings.language.xpath import parse_xpath

DTD = """
<!ENTITY % inline "#PCDATA | em | note">
<!ELEMENT book (title, chapter+)>
<!ATTLIST book id CDATA #IMPLIED year CDATA #IMPLIED>
<!ELEMENT title (%inline;)*>
<!ELEMENT chapter (title, (para | chapter)*)>
<!ATTLIST chapter id CDATA #IMPLIED>
<!ELEMENT para (%inline;)*>
<!ATTLIST para id CDATA #IMPLIED lang CDATA #IMPLIED>
<!ELEMENT em (%inline;)*>
<!ELEMENT note (para*)>
<!ATTLIST note id CDATA #IMPLIED>
"""


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Grammar:
    file: Path = tmp_path_factory.mktemp("dtd") / "book.dtd"
    file.write_text(DTD)
    return grammar(file, "book")


def made_document(rules: Grammar, chance: Random) -> bytes:
    def element(name: str, depth: int) -> str:
        attributes = "".join(
            f' {each}="{chance.randint(1, 5)}"' for each in rules.attributes[name] if chance.random() < 0.5
        )
        inner = [element(child, depth + 1) for child in rules.children[name] * 2 if depth < 6 and chance.random() < 0.4]
        text = str(chance.randint(1, 5)) if name in rules.texts and chance.random() < 0.7 else ""
        return f"<{name}{attributes}>{text}{chance.choice(('', ' ', '<!--c-->')).join(inner)}</{name}>"

    return element(rules.root, 0).encode()


def test_a_dtd_says_what_may_stand_below_what(rules: Grammar) -> None:
    assert rules.children["chapter"] == ("title", "para", "chapter")
    assert rules.children["em"] == ("em", "note")
    assert rules.attributes["para"] == ("id", "lang")
    assert rules.texts == {"title", "para", "em"}


@pytest.mark.parametrize("predicates", [0, 1, 2, 4])
@pytest.mark.parametrize("nested", [0, 2])
@pytest.mark.parametrize("method", Method)
def test_filters_are_answered_as_lxml_answers_them(
    rules: Grammar, predicates: int, nested: int, method: Method
) -> None:
    documents = [made_document(rules, Random(seed)) for seed in range(12)]
    made = Settings(depth=7, predicates=predicates, nested=nested, values=5)
    texts = filters(rules, made, 150) + filters(grammar_of(documents), made, 150, seed=8)
    texts = list(dict.fromkeys(texts))
    each = EachByLxml(texts)
    engine = XPathEngine.build([parse_xpath(text) for text in texts], method=method)
    wanted = [each.answers(document) for document in documents]
    assert answers(engine.find(as_texts(documents))) == wanted
    assert any(wanted), "no filter matches anything"
    assert parse_each(documents) > 0


def test_filters_have_the_form_that_was_asked_for(rules: Grammar) -> None:
    plain = filters(rules, Settings(wildcard=0, descendant=0), 10)
    assert len(set(plain)) == len(plain)
    assert all(text.startswith("/book") and "*" not in text and "//" not in text for text in plain)
    assert all("//*" not in text for text in filters(rules, Settings(wildcard=0.5, descendant=0.5), 200))
    assert filters(rules, Settings(), 50, seed=1) == filters(rules, Settings(), 50, seed=1)
    assert len(filters(rules, Settings(depth=2), 50, distinct=False)) == 50
    skewed = filters(rules, Settings(skew=8.0, depth=2, wildcard=0, descendant=0), 100, distinct=False)
    assert skewed.count("/book/title") > 90


def test_mixed_filters_have_predicates_and_paths_in_brackets(rules: Grammar) -> None:
    made = mixed(rules, 300)
    assert len(set(made)) == 300
    tests = [sum(text.count(sign) for sign in ("[@", "[text()")) for text in made]
    assert set(tests) >= {1, 2, 3}
    assert sum(text.count("[") > count for text, count in zip(made, tests, strict=True)) > 200
    assert len(mixed(rules, 5_000)) == 5_000


def test_filters_stop_where_there_are_no_more(rules: Grammar) -> None:
    assert len(filters(rules, Settings(depth=2, wildcard=0, descendant=0), 50)) == 2


def made_articles() -> list[bytes]:
    words = "alpha beta gamma delta " * (LONG // 10)
    return [
        f"<r lang='en'><id>k{n}</id><y>{2000 + n}</y><p>{words}word{'x' * (n % 4)}</p></r>".encode() for n in range(20)
    ]


def test_filters_of_values_are_as_common_and_as_rare_as_they_say() -> None:
    documents = made_articles()
    for made, common in ((common_and_rare(documents, 40), True), (values_and_words(documents, 20), False)):
        for text in made:
            first = text.partition("]")[0] + "]"
            share = sum(map(bool, map(EachByLxml([first]).answers, documents))) / len(documents)
            assert share >= COMMON if common else share <= RARE
        wanted = list(map(EachByLxml(made).answers, documents))
        assert any(wanted), "no filter matches anything"
        for sample in ((), documents[::2]):
            engine = XPathEngine.build([parse_xpath(text) for text in made], sample=sample)
            assert answers(engine.find(as_texts(documents))) == wanted
