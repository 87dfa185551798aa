"""Numbers are read from text, and literals from expressions, exactly as libxml2 reads them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tidings.index import keys
from tidings.index.xml.layout import NAN_KEY
from tidings.index.xml.programs import key_of
from tidings.index.xml.values import number_key
from tidings.model.xpath import text_of_literal

NUMBER: Any = etree.XPath("number($text)")
ANYTHING = etree.XML("<a/>")


def by_libxml2(text: str) -> int:
    value = NUMBER(ANYTHING, text=text)
    return NAN_KEY if value != value else keys.number_key(value)


def found(text: str) -> int:
    data = np.frombuffer(text.encode(), np.uint8).copy()
    return int(number_key(data, 0, len(data)))


@pytest.mark.parametrize(
    "text",
    [
        "1", "2008 ", " 2008", "\t2008\r\n", "abc", "", " ", "1e3", "1E3", "1e", "1e+", "1e-2", "1e400", "-1e400",
        "0e9999999",
        "1e-400", "-", "--1", "+1", "-0", "0", ".5", "-.5", "5.", ".", "-.", "1.2.3", "1 2", "2008 AD", "0x10", "NaN",
        "Infinity", "1,000", "١", "1\u00a0", "9007199254740993", "123456789012345678901234567890", "0.1",
        "0.30000000000000004",
        "0.000000000000000000000123456789012345678901234567890", "1.7976931348623157e308", "4.9e-324",
        "99999999999e-11",
        "1" * 400, "." + "1" * 400, "1e1e1", "1 e3", "1e 3",
    ],
)  # fmt: skip
def test_texts_that_are_numbers_or_not(text: str) -> None:
    assert found(text) == by_libxml2(text)


@given(
    st.from_regex(r"\A[ \t]?-?[0-9]{0,25}(\.[0-9]{0,30})?([eE][-+]?[0-9]{0,4})?[ \n]?\Z")
    | st.text("0123456789.-+e \n", max_size=9)
)
def test_random_numbers(text: str) -> None:
    assert found(text) == by_libxml2(text)


@given(st.floats(allow_nan=False))
def test_written_floats(value: float) -> None:
    assert found(repr(value)) == by_libxml2(repr(value))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12, min_value=-(10**20), max_value=10**20))
def test_literals(value: Decimal) -> None:
    by_expression: Any = etree.XPath(text_of_literal(value))
    assert key_of(value) == keys.number_key(by_expression(ANYTHING))
