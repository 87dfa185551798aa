"""Documents are read safely, and expressions about them are as true as libxml2 says, whichever way they are spelled."""

from __future__ import annotations

from pathlib import Path as FilePath
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from language.xpath_strategies import PREFIXES, spelled, xml_documents, xpath_expressions
from tidings.analysis.xml import (
    DEEPEST,
    Document,
    DocumentLimits,
    NodeSeen,
    read_document,
    xpath_holds,
    xpath_nodes,
)
from tidings.errors import EventError, SettingError
from tidings.language.xpath import MAXIMUM_NESTING, MAXIMUM_STEPS, parse_xpath
from tidings.model.xpath import Comparison, Exists, XPathExpression

BOOK = """<?xml version="1.0" encoding="UTF-16"?>
<!-- a shelf -->
<shelf n:at="2" xmlns:n="urn:n" kind="high">
  <book id="b1" year="2008"><title lang="en">XML in practice</title><price>12.50</price></book>
  <book id="b2" year="1999 "><title>Trees <b>and</b> paths</title><price>7</price><note/></book>
  <n:book><title>Elsewhere</title></n:book>
  <价格 größe="1">abc</价格><😀/>
</shelf>"""


def holds(expression: str, document: str | bytes = BOOK) -> bool:
    return xpath_holds(parse_xpath(expression), read_document(document))


@pytest.mark.parametrize(
    "expression",
    [
        "/shelf",
        "shelf/book",
        "./shelf",
        ".//title",
        "//title",
        "/*/*/title",
        "/",
        ".",
        "//@lang",
        "/shelf/@kind = 'high'",
        "//@* = 'b2'",
        "//book/@year = 2008",
        "//book/@year = 1999",
        "//book/@year != 2008",
        "//book/@year < 2000",
        "//book/@year <= 1999",
        "//book/@year > 2000",
        "//book/@year >= 2008",
        "2000 > //book/@year",
        "//price = '12.50'",
        "//price = 12.5",
        "//price > -1",
        "//title/text() = 'Trees '",
        "//title = 'Trees and paths'",
        "//book[1]/price = 12.5",
        "//book[last()]/note",
        "//book[position() = 2][note]",
        "//book[position() > 1]/note",
        "//book[last() = 2]",
        "//book[position() < last()]/@id = 'b1'",
        "//title/text()[2] = ' paths'",
        "//book[title[b]/text() and price[. = 7] and not(@lang)]",
        "//book[.//b = 'and' or nothing]",
        "//b[. = 'and']",
        "contains(//title, 'practice')",
        "starts-with(//title, 'XML')",
        "//title[contains(., 'paths') and starts-with(., 'Tr')]",
        "contains(/nothing, '')",
        "not(contains(//title, 'paths'))",
        "//book and (//nothing or //note)",
        "//*[title = 'Elsewhere']",
        "//价格[@größe = 1]",
        "//价格/@größe = '1'",
        "//价格[1]/text()",
        "/shelf/😀",
        "//.",
        "/shelf//. = 'and'",
    ],
)
def test_true(expression: str) -> None:
    assert holds(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "/book",
        "book",
        "@kind",
        "/shelf/title",
        "//book[3]",
        "//book[0]",
        "//book[1.5]",
        "//book[title = 'Elsewhere']",  # a name without a prefix has no namespace
        "//@at",
        "//book/@year = '1999'",
        "//title = 2008",
        "//title < 1",
        "//title >= 1",
        "//book[b]",
        "not(//book)",
        "//comment",
        "text()",
        "//价格[@größe = 2]",
        "//😃",
        "/nothing != 'x'",
    ],
)
def test_false(expression: str) -> None:
    assert not holds(expression)


def test_numbers_are_read_from_text_as_libxml2_reads_them() -> None:
    """Space around a number is ignored. An exponent is libxml2's own addition to XPath 1.0."""
    assert holds("/a = 2008", "<a> 2008\n</a>")
    assert holds("/a = 1000", "<a>1e3</a>")
    assert not holds("/a = 2008", "<a>2008 AD</a>")
    assert not holds("/a = 0", "<a/>")


def test_text_beside_cdata_is_one_text() -> None:
    assert holds("/a/text()[1] = 'xyz' and not(/a/text()[2])", "<a>x<![CDATA[y]]>z</a>")


def test_comments_and_instructions_part_texts_and_have_no_name() -> None:
    assert holds("/a/text()[2] = 'y' and not(/a/*)", "<a>x<!--c-->y<?p q?></a>")


def test_the_largest_expressions_are_compiled() -> None:
    document = read_document("<a><b>1</b></a>")
    alternatives = " or ".join([". = 0"] * 900)
    assert not xpath_holds(parse_xpath(f"/a[{alternatives}]"), document)
    deep = "a[" * MAXIMUM_NESTING + "b" + "]" * MAXIMUM_NESTING
    assert not xpath_holds(parse_xpath(deep), document)
    nested = "not(" * (MAXIMUM_NESTING - 1) + "/a[" + " and ".join(["."] * 900) + "]" + ")" * (MAXIMUM_NESTING - 1)
    assert not xpath_holds(parse_xpath(nested), document)
    assert not xpath_holds(parse_xpath("//a" * MAXIMUM_STEPS), document)


# Hardened reading


def refusal(source: str | bytes, limits: DocumentLimits | None = None) -> str:
    with pytest.raises(EventError) as caught:
        read_document(source) if limits is None else read_document(source, limits)
    return str(caught.value)


def test_malformed_documents_are_refused_with_line_and_column() -> None:
    start = "the XML document is malformed: "
    assert refusal("<a>\n<b>\n</a>") == f"{start}Opening and ending tag mismatch: b line 2 and a (line 3, column 5)"
    assert refusal("") == f"{start}Document is empty (line 1, column 1)"
    assert refusal(b"") == f"{start}Document is empty (line 1, column 1)"
    assert refusal("<a/><b/>") == f"{start}Extra content at the end of the document (line 1, column 5)"
    assert refusal("<a>&x;</a>") == f"{start}Entity 'x' not defined (line 1, column 7)"


@pytest.mark.parametrize(
    "source", ["<a>\0</a>", b"<a>\0</a>", "<a/>\0", "\0", "<a>\x01</a>", "<a b='1' b='2'/>", "<p:a/>"]
)
def test_other_malformed_documents(source: str | bytes) -> None:
    assert refusal(source).startswith("the XML document is malformed: ")


def test_a_lone_surrogate_is_refused() -> None:
    assert refusal("<a>\ud800</a>") == "the XML document has U+D800, half of a surrogate pair, as its character 4"


def laughs(content: str) -> str:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE a [<!ENTITY e0 "ha">{entities}]>{content}'


@pytest.mark.parametrize("content", ["<a>&e9;</a>", '<a b="&e9;"/>', "<a>&e9;&e9;</a>"])
def test_a_billion_laughs_are_refused(content: str) -> None:
    assert refusal(laughs(content)).startswith(
        "the XML document passes a bound of libxml2: Maximum entity amplification"
    )


@pytest.mark.parametrize("content", ["<a>{}</a>", '<a b="{}"/>'])
def test_quadratic_growth_is_refused(content: str) -> None:
    source = f'<!DOCTYPE a [<!ENTITY e "{"x" * 100_000}">]>' + content.format("&e;" * 10_000)
    assert refusal(source).startswith("the XML document passes a bound of libxml2: Maximum entity amplification")


def test_growth_by_defaults_of_attributes_is_refused() -> None:
    source = f'<!DOCTYPE a [<!ATTLIST a b CDATA "{"x" * 1_000_000}">]><a>{"<a/>" * 1_000}</a>'
    assert refusal(source).startswith("the XML document passes a bound of libxml2: Maximum entity amplification")


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY e "y">',
        '<!ENTITY % e "y">',
        '<!ENTITY e SYSTEM "e.txt">',
        '<!NOTATION n SYSTEM "n"><!ENTITY e SYSTEM "z" NDATA n>',
    ],
)
def test_declared_entities_are_refused_even_if_unused(declaration: str) -> None:
    source = f"<!DOCTYPE a [{declaration}]><a/>"
    message = "the XML document declares the entity e, and entities are not allowed"
    assert refusal(source) == message
    assert refusal(source.encode("utf-16")) == message


@pytest.mark.parametrize("content", ["<a>&e;</a>", '<a b="&e;"/>', "<a/>"])
def test_an_external_entity_is_never_read(content: str, tmp_path: FilePath) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    source = f'<!DOCTYPE a [<!ENTITY e SYSTEM "{secret.as_uri()}">]>{content}'
    assert "secret" not in refusal(source).replace(str(secret), "")


def test_an_external_parameter_entity_is_never_read(tmp_path: FilePath) -> None:
    dtd = tmp_path / "more.dtd"
    dtd.write_text('<!ENTITY e "from the file">')
    source = f'<!DOCTYPE a [<!ENTITY % p SYSTEM "{dtd.as_uri()}"> %p;]><a>&e;</a>'
    assert refusal(source) == "the XML document declares the entity p, and entities are not allowed"


def test_an_external_dtd_is_never_read(tmp_path: FilePath) -> None:
    dtd = tmp_path / "more.dtd"
    dtd.write_text('<!ENTITY e "from the file"><!ATTLIST a b CDATA "from the file">')
    plain = f'<!DOCTYPE a SYSTEM "{dtd.as_uri()}"><a/>'
    assert holds("/a[not(@b)]", plain)
    for content in ("<a>&e;</a>", '<a b="&e;"/>'):
        message = refusal(plain.replace("<a/>", content))
        assert message.startswith(
            "the XML document needs an entity that it does not have: Entity 'e' not defined (line 1"
        )


def test_xinclude_is_only_an_element(tmp_path: FilePath) -> None:
    (tmp_path / "part.txt").write_text("part")
    href = (tmp_path / "part.txt").as_uri()
    source = f'<a xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="{href}" parse="text"/></a>'
    assert holds("/a[* and . = '']", source)


@pytest.mark.parametrize("doctype", ["<!DOCTYPE a>", "<!DOCTYPE a []>", "<!DOCTYPE a [<!ELEMENT a ANY>]>"])
def test_a_plain_doctype_is_fine(doctype: str) -> None:
    assert holds("/a = 'x<é'", f"{doctype}<a>x&lt;&#233;</a>")


def test_defaults_of_attributes_are_not_added() -> None:
    assert not holds("/a/@b", '<!DOCTYPE a [<!ATTLIST a b CDATA "x">]><a/>')


def nested(depth: int) -> str:
    return "<a>" * depth + "</a>" * depth


def test_depth() -> None:
    read_document(nested(DEEPEST))
    assert refusal(nested(DEEPEST + 1)) == (
        "the elements of the XML document are nested deeper than the 256 levels allowed (line 1, column 771)"
    )
    assert "nested deeper" in refusal(nested(100_000))
    assert "nested deeper" in refusal("<a>" * 100_000)
    read_document(nested(3), DocumentLimits(depth=3))
    message = "the elements of the XML document are nested deeper than the 3 levels allowed"
    assert refusal(nested(4), DocumentLimits(depth=3)) == message


def test_size() -> None:
    read_document("<a>é</a>", DocumentLimits(size=9))
    message = "the XML document has 9 bytes, and at most 8 are allowed"
    assert refusal("<a>é</a>", DocumentLimits(size=8)) == message
    assert refusal("<a>é</a>".encode(), DocumentLimits(size=8)) == message
    assert refusal(b" " * (16 * 1024 * 1024 + 1)) == (
        "the XML document has 16777217 bytes, and at most 16777216 are allowed"
    )


def test_a_huge_attribute_or_text_is_refused() -> None:
    value = "x" * 11_000_000
    assert refusal(f'<a b="{value}"/>').startswith("the XML document passes a bound of libxml2: ")
    assert refusal(f"<a>{value}</a>").startswith("the XML document passes a bound of libxml2: ")
    assert holds("starts-with(/a/@b, 'x')", f'<a b="{value[:9_000_000]}"/>')


@pytest.mark.parametrize(("size", "depth"), [(0, 1), (-1, 1), (1, 0), (1, DEEPEST + 1)])
def test_impossible_limits_are_refused(size: int, depth: int) -> None:
    with pytest.raises(SettingError, match="limit of XML documents"):
        DocumentLimits(size, depth)


DECLARED = '<?xml version="1.0" encoding="{}"?><a>é</a>'


@pytest.mark.parametrize("encoding", ["UTF-8", "utf-16", "iso-8859-1", "ascii", "no-such-encoding"])
def test_the_encoding_that_a_str_declares_is_ignored(encoding: str) -> None:
    assert holds("/a = 'é'", DECLARED.format(encoding))
    assert holds("/a = 'é'", "\ufeff" + DECLARED.format(encoding))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_the_encoding_that_bytes_declare_is_honoured(encoding: str) -> None:
    assert holds("/a = 'é'", DECLARED.format(encoding.removesuffix("-sig")).encode(encoding))


def test_bytes_without_a_declaration() -> None:
    assert holds("/a = 'é'", "<a>é</a>".encode())
    assert holds("/a = 'é'", "<a>é</a>".encode("utf-8-sig"))
    assert holds("/a = 'é'", "<a>é</a>".encode("utf-16"))
    start = "the XML document is malformed: "
    assert refusal("<a>é</a>".encode("latin-1")) == f"{start}Invalid bytes in character encoding (line 1, column 4)"
    assert refusal(DECLARED.format("nonsense").encode()).startswith(f"{start}Unsupported encoding: nonsense")


@given(st.text() | st.binary() | st.text("<a>/&;'\"![]=? -x\0\n"))
def test_any_source_is_read_or_refused(source: str | bytes) -> None:
    refused = ""
    try:
        document = read_document(source)
    except EventError as error:
        refused = str(error)
    assert refused.startswith("the XML document") or xpath_holds(parse_xpath("/*"), document)


# Against libxml2, with the expression spelled otherwise


def by_libxml2(text: str, document: Document) -> bool:
    """With the document node as context, as relative paths mean it: lxml itself begins at the root element."""
    return etree.XPath(f"boolean(/self::node()[{text}])", namespaces=PREFIXES)(document.tree) is True


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(xpath_expressions(), xml_documents(), st.integers())
def test_truth_is_the_same_in_every_spelling(expression: XPathExpression, source: str, seed: int) -> None:
    document = read_document(source)
    truth = xpath_holds(expression, document)
    assert by_libxml2(spelled(expression, Random(seed)), document) is truth
    assert by_libxml2(spelled(expression, Random(seed), in_full=True), document) is truth


@given(xpath_expressions(), xml_documents())
def test_bytes_and_str_mean_the_same(expression: XPathExpression, source: str) -> None:
    truth = xpath_holds(expression, read_document(source))
    assert xpath_holds(expression, read_document(source.encode())) is truth
    assert xpath_holds(expression, read_document(source.encode("utf-16"))) is truth


# Explanations


def nodes(expression: str, limit: int = 8, document: str = BOOK) -> list[tuple[str, int, str]]:
    found = xpath_nodes(parse_xpath(expression), read_document(document), limit)
    return [(node.path, node.line, node.value) for node in found]


def test_nodes_have_a_path_a_line_and_a_value() -> None:
    assert nodes("//price") == [("/shelf/book[1]/price", 4, "12.50"), ("/shelf/book[2]/price", 5, "7")]
    assert nodes("//book/@year > 2000") == [("/shelf/book[1]/@year", 4, "2008")]
    assert nodes("//title/text() = ' paths'") == [("/shelf/book[2]/title/text()[2]", 5, " paths")]
    assert nodes("//b/text()") == [("/shelf/book[2]/title/b/text()", 5, "and")]
    assert nodes("//😀") == [("/shelf/😀", 7, "")]


def test_nodes_of_functions_are_the_first_if_it_satisfies() -> None:
    assert nodes("contains(//title, 'XML')") == [("/shelf/book[1]/title", 4, "XML in practice")]
    assert nodes("contains(//title, 'paths')") == []
    assert nodes("contains(/nothing, '')") == []


def test_nodes_of_the_parts_that_hold() -> None:
    price, note = ("/shelf/book[2]/price", 5, "7"), ("/shelf/book[2]/note", 5, "")
    assert nodes("//price = 7 and //note") == [price, note]
    assert nodes("//price = 8 or //note") == [note]
    assert nodes("//note and (//note or //price = 7)") == [note, price]
    assert nodes("not(//price = 8)") == []


def test_nodes_are_limited() -> None:
    assert [path for path, _, _ in nodes("//title", limit=2)] == ["/shelf/book[1]/title", "/shelf/book[2]/title"]
    assert nodes("//title", limit=0) == []
    assert nodes("//title", limit=-3) == []


def test_the_document_and_what_has_no_name() -> None:
    source = "<!--first--><a>x<!--c-->y</a>"
    assert nodes("/", document=source) == [("/", 1, "xy")]
    assert nodes(". = 'z'", document=source) == []
    assert nodes("//.", document=source) == [
        ("/comment()", 1, "first"),
        ("/a", 1, "xy"),
        ("/a/text()[1]", 1, "x"),
        ("/a/comment()", 1, "c"),
        ("/a/text()[2]", 1, "y"),
    ]


def test_long_values_are_cut() -> None:
    assert nodes("/a", document=f"<a>{'x' * 61}</a>") == [("/a", 1, "x" * 59 + "…")]
    assert nodes("/a", document=f"<a>{'x' * 60}</a>") == [("/a", 1, "x" * 60)]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(xpath_expressions(), xml_documents())
def test_nodes_are_there_exactly_where_a_path_holds(expression: XPathExpression, source: str) -> None:
    document = read_document(source)
    found = xpath_nodes(expression, document, 1_000)
    assert all(isinstance(node, NodeSeen) for node in found)
    if "xmlns=" not in source:  # XPath has no names in a default namespace
        assert all(node.path == "/" or document.tree.xpath(node.path, namespaces=PREFIXES) for node in found)
    if isinstance(expression, Exists | Comparison):
        assert bool(found) is xpath_holds(expression, document)


def test_nodes_in_namespaces_are_shown_as_the_document_writes_them() -> None:
    document = read_document(
        "<n:r xmlns:n='urn:x' n:k='1' xml:lang='en'>\n<a xmlns='urn:x' m:k='2' xmlns:m='urn:x'/></n:r>"
    )
    found = xpath_nodes(parse_xpath("//n:a or //@n:k or //@xml:lang", PREFIXES), document)
    assert [(node.path, node.line) for node in found] == [
        ("/n:r/a", 2),
        ("/n:r/@n:k", 1),
        ("/n:r/a/@m:k", 2),
        ("/n:r/@xml:lang", 1),
    ]


def test_numbers_count_siblings_of_the_name_that_is_written() -> None:
    source = "<f xmlns='urn:x'><e/><?p 1?><e><n:e xmlns:n='urn:n'/><?q?><?p 2?></e><!--1--><e/><!--2--></f>"
    document = read_document(source)
    found = [node.path for node in xpath_nodes(parse_xpath("//."), document, 20)]
    e = ["/f/e[1]", "/f/processing-instruction('p')", "/f/e[2]", "/f/e[2]/n:e"]
    rest = ["processing-instruction('q')", "processing-instruction('p')"]
    assert found == [
        "/f", *e, *(f"/f/e[2]/{each}" for each in rest), "/f/comment()[1]", "/f/e[3]", "/f/comment()[2]"
    ]  # fmt: skip
