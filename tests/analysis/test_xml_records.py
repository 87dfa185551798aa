"""Large XML files as records: one document for each child of the root."""

from __future__ import annotations

import html.entities
import io
import tracemalloc
from collections.abc import Iterator, Mapping
from typing import IO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.analysis.xml import DocumentLimits
from tidings.analysis.xml_records import NO_ENTITIES, XmlRecord, xml_records
from tidings.errors import EventError

NOT_GIVEN = ", and `entities` does not say what it stands for"


def records(
    content: bytes | str, limits: DocumentLimits | None = None, entities: Mapping[str, str] = NO_ENTITIES
) -> list[XmlRecord]:
    source = io.BytesIO(content.encode() if isinstance(content, str) else content)
    return list(xml_records(source, limits or DocumentLimits(), entities))


def test_each_child_of_the_root_is_a_document() -> None:
    found = records('<r><a>1</a><!-- no record --><b x="2">t<c/>u</b>text between<?pi?><a/></r>')
    assert found == [
        XmlRecord(0, "a", "<a>1</a>"),
        XmlRecord(1, "b", '<b x="2">t<c/>u</b>'),
        XmlRecord(2, "a", "<a/>"),
    ]


def test_a_root_without_children_has_no_records() -> None:
    assert records("<r>text</r>") == []


def test_the_encoding_is_what_the_file_declares() -> None:
    text = '<?xml version="1.0" encoding="{}"?><r><a>é</a></r>'
    for name in ("ISO-8859-1", "UTF-8", "UTF-16"):
        assert [record.document for record in records(text.format(name).encode(name))] == ["<a>é</a>"]


def test_namespaces_of_the_root_stay_with_the_records() -> None:
    (found,) = records('<r xmlns="urn:d" xmlns:p="urn:p"><p:a><b/></p:a></r>')
    assert found.name == "{urn:p}a"
    assert found.document == '<p:a xmlns:p="urn:p" xmlns="urn:d"><b/></p:a>'


def test_a_record_that_cannot_be_used_costs_itself_only() -> None:
    found = records('<!DOCTYPE r [<!ENTITY x "y">]><r><a>&x;</a><b/></r>')
    assert [(record.document, record.problem) for record in found] == [
        (None, f"the record needs the entity x{NOT_GIVEN}"),
        ("<b/>", None),
    ]
    long, short = records(f"<r><a>{'x' * 50}</a><b/></r>", DocumentLimits(size=20))
    assert (long.document, long.problem) == (None, "the record has 57 bytes, and at most 20 are allowed")
    assert short.document == "<b/>"


def test_a_broken_file_gives_what_stands_before_the_fault() -> None:
    found = xml_records(io.BytesIO(b"<r><a/><b></r>"))
    assert next(found).name == "a"
    with pytest.raises(EventError, match="cannot be read beyond its record 1: Opening and ending tag mismatch"):
        next(found)
    with pytest.raises(EventError, match="cannot be read beyond its record 0"):
        records(b"")


EXTERNAL, SUBSET = '<!DOCTYPE r SYSTEM "r.dtd">', '<!DOCTYPE r [<!ENTITY uuml "x"><!ENTITY a "<a/>">]>'


@pytest.mark.parametrize("doctype", ["", EXTERNAL, SUBSET])
@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "utf-16", "utf-32"])
def test_a_record_that_refers_to_an_entity_is_a_problem_wherever_it_does(doctype: str, encoding: str) -> None:
    content = (
        f"<?xml version='1.0' encoding='{encoding}'?>{doctype}<r>"
        '<c t="J&uuml;rgen"/><c><d t=\'&amp;&uuml;\'/></c><c>J&uuml;rgen</c>&a;<b t="&lt;&#252;"/>&a;</r>'
    )
    names = [("c", "uuml"), ("c", "uuml"), ("c", "uuml"), ("", "a"), ("b", None), ("", "a")]
    found = records(content.encode(encoding))
    assert [(record.number, record.name) for record in found] == [(n, name) for n, (name, _) in enumerate(names)]
    for record, (name, entity) in zip(found, names, strict=True):
        where = "the record needs" if name else "between the records stands"
        assert record.problem == (entity and f"{where} the entity {entity}{NOT_GIVEN}")
    assert found[4].document == '<b t="&lt;ü"/>'


def test_characters_that_are_given_for_an_entity_are_read() -> None:
    content = f"{EXTERNAL}<r><a t='J&uuml;rgen'>&eacute;&lt;</a><a>&auml;&mine;&other;</a>&uuml;</r>"
    first, second = records(content, entities={**html.entities.entitydefs, "mine": "<&>"})
    assert first.document == '<a t="Jürgen">é&lt;</a>'
    assert second.problem == f"the record needs the entity other{NOT_GIVEN}"
    assert records("<r><a>&mine;</a></r>", entities={"mine": "<&>"})[0].document == "<a>&lt;&amp;&gt;</a>"


@pytest.mark.parametrize("encoding", ["utf-7", "iso-2022-jp", "hz", "cp037", "nonsense"])
def test_a_file_in_which_entities_could_hide_is_refused(encoding: str) -> None:
    with pytest.raises(EventError, match=f"in the encoding {encoding}; files are read in UTF-8"):
        records(f"<?xml version='1.0' encoding='{encoding}'?><r><a t='+ACY-uuml;'/></r>")
    with pytest.raises(EventError, match="in the encoding EBCDIC"):
        records("<?xml version='1.0'?><r/>".encode("cp037"))
    with pytest.raises(EventError, match="not in the encoding that it begins in"):
        records("<r/>".encode("utf-16") + b"\x00\xd8")


_BESIDE = ("<!--&x; ' \" > <![CDATA[ -->", "<?p &x; ' > <!-- ?>", " text ]> ' \" ")
_PARTS = (*_BESIDE, "<![CDATA[&x; <!-- ' ]] > ]]>", "<c d='&lt;&#38;x; > ]]'/>", '<c d="&amp;\'"></c>')
_PROLOGS = (
    "", "<!-- ' -->", "<!DOCTYPE r>", "<!DOCTYPE r SYSTEM '<!--'>", "<!DOCTYPE r PUBLIC 'a' \"<?[>'\">",
    "<!DOCTYPE r [<!-- ' ]> --><!ENTITY x \"<!--]>'\"><?p ' ]> ?><!ATTLIST c d CDATA '>' >] >",
)  # fmt: skip


@given(st.sampled_from(_PROLOGS), st.lists(st.sampled_from(_PARTS)), st.integers(1, 40), st.data())
def test_references_are_told_from_what_looks_like_them(
    prolog: str, parts: list[str], chunk: int, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(parts)))
    reference = data.draw(st.sampled_from(("&x;", "<c d='&x;'/>", "<c>&lt;&x;</c>")))

    def read(inside: list[str]) -> list[XmlRecord]:
        source = _Slow(f"{prolog}<r><a>{''.join(inside)}</a></r>".encode(), chunk)
        return list(xml_records(cast(IO[bytes], source)))

    (clean,), (referring,) = read(parts), read([*parts[:at], reference, *parts[at:]])
    assert clean.problem is None
    assert referring.problem == f"the record needs the entity x{NOT_GIVEN}"
    assert clean.document is not None
    assert clean.document.count("&amp;x;") == parts.count(_PARTS[3]) + parts.count(_PARTS[4])


class _Slow:
    """A file that gives a few bytes at a time."""

    def __init__(self, content: bytes, size: int) -> None:
        self._parts = (content[at : at + size] for at in range(0, len(content), size))

    def read(self, size: int) -> bytes:
        return next(self._parts, b"")


class _Made:
    """A file that is made while it is read."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts

    def read(self, size: int) -> bytes:
        return next(self._parts, b"")


@pytest.mark.parametrize("between", [b"<!--c-->", b"<?pi?>", b"<a>x</a>y<!--c-->"])
def test_what_was_read_does_not_gather(between: bytes) -> None:
    def content() -> Iterator[bytes]:
        yield b"<r>"
        yield from (between * 1_000 for _ in range(50))
        yield b"</r>"

    tracemalloc.start()
    for _ in xml_records(cast(IO[bytes], _Made(content()))):
        pass
    assert tracemalloc.get_traced_memory()[1] < 2_000_000  # of Python's; an element that is kept has more
    tracemalloc.stop()


def test_comments_beside_the_root_are_many_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an event for each of them they took the square of their number, which is minutes here."""
    many = b"<!--c-->" * 60_000
    assert len(records(many + b"<r><a/></r>" + many)) == 1
    monkeypatch.setattr("tidings.analysis.xml_records.MOST_BESIDE", 100_000)
    for content in (many + b"<r/>", b"<r/>" + many):
        with pytest.raises(EventError, match="has over 100000 bytes before or behind its root element"):
            records(content)


def test_what_is_too_deep_is_said_without_advice_to_programmers() -> None:
    deep = b"<r>" + b"<a>" * 300 + b"</a>" * 300 + b"</r>"
    with pytest.raises(EventError, match=r"record 0: Excessive depth in document: 256 \(line 1, column \d+\)$"):
        records(deep)
