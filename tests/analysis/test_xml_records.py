"""Large XML files as records: one document for each child of the root."""

from __future__ import annotations

import io

import pytest

from tidings.analysis.xml import DocumentLimits
from tidings.analysis.xml_records import XmlRecord, xml_records
from tidings.errors import EventError


def records(content: bytes | str, limits: DocumentLimits | None = None) -> list[XmlRecord]:
    source = io.BytesIO(content.encode() if isinstance(content, str) else content)
    return list(xml_records(source, limits or DocumentLimits()))


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
        (None, "the record needs an entity, and entities are not allowed"),
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
