"""How far the paths of an expression lead in a document, and what stops them."""

from __future__ import annotations

import pytest
from hypothesis import given

from language.xpath_strategies import xml_documents, xpath_expressions
from tidings import explain
from tidings.analysis.xml import leaves_of, read_document, xpath_holds
from tidings.analysis.xml_failures import xpath_failures
from tidings.language.xpath import parse_xpath
from tidings.model.xpath import Comparison, Path, XPathExpression, text_of_path

DOCUMENT = "<r>\n<a x='1'>one</a>\n<a x='2'><b>two</b></a>\n</r>"


@pytest.mark.parametrize(
    ("expression", "lines"),
    [
        ("/q", ["/q: reaches the document, and there is no q from there"]),
        ("/r/c/d", ["/r/c/d: reaches /r (line 1), and there is no c from there"]),
        ("//a/b/e", ["//a/b/e: reaches /r/a[2]/b (line 3), and there is no e from there"]),
        ("/r/a[@x > 5]/b", ["/r/a[@x > 5]/b: reaches a from /r (line 1), and none of them has [@x > 5]"]),
        ("/r/a[2][b = 'x']", ["/r/a[2][b = 'x']: reaches a from /r (line 1), and none of them has [b = 'x']"]),
        ("/r/a/@x = 7", ["/r/a/@x: /r/a[1]/@x (line 2) is '1', and = 7 is asked for"]),
        ("contains(//b, 'z')", ["//b: /r/a[2]/b (line 3) is 'two', and contains 'z' is asked for"]),
        ("/r/a[1]/b or /r and /q", ["/r/a[1]/b: reaches /r/a[1] (line 2), and there is no b from there",
                                    "/q: reaches the document, and there is no q from there"]),
        ("not(/r)", []),
        ("/r", []),
    ],
)  # fmt: skip
def test_the_deepest_step_and_what_failed(expression: str, lines: list[str]) -> None:
    assert list(xpath_failures(parse_xpath(expression), read_document(DOCUMENT))) == lines


@given(xml_documents(), xpath_expressions())
def test_every_path_that_fails_is_told_of(source: str, expression: XPathExpression) -> None:
    document = read_document(source)
    wanted = [leaf for leaf in leaves_of(expression) if not xpath_holds(leaf, document)]
    lines = xpath_failures(expression, document)
    assert len(lines) == len(wanted)
    for line, leaf in zip(lines, wanted, strict=True):
        path = leaf.left if isinstance(leaf, Comparison) else leaf.path
        assert isinstance(path, Path)
        assert line.startswith(f"{text_of_path(path)}: ")


def test_a_name_in_a_namespace_is_told_with_it() -> None:
    (line,) = xpath_failures(parse_xpath("/r/p:a", {"p": "urn:p"}), read_document("<r><a/></r>"))
    assert line == "/r/{urn:p}a: reaches /r (line 1), and there is no {urn:p}a from there"


def test_names_are_told_as_the_canonical_text_has_them() -> None:
    where = "xpath_boolean(d, '/q:r and /q:r/p:a[p:b]/@q:c = 1', namespaces => 'p=urn:p q=urn:q')"
    lines = str(explain(where, {"d": "<r xmlns='urn:q'><a xmlns='urn:p'/><a xmlns='urn:p'/></r>"}))
    assert "/n1:r/n2:a[n2:b]/@n1:c: reaches n2:a from /r (line 1), and none of them has [n2:b]" in lines
    assert "xpath_boolean(d, '/n1:r and /n1:r/n2:a[n2:b]/@n1:c = 1'" in lines
