"""Facts: which predicates of one family (text patterns, similarities, XPath) hold of the texts of one attribute.

Such a predicate is a question about one text only. Equal ones are one question, and questions are numbered. An engine
is built from the questions of one attribute, and finds for every text of a batch the numbers of those that hold: its
facts. The rest of the index looks facts up as it looks up numbers, whatever family they are of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from tidings.index.layout import Array


class Texts(NamedTuple):
    """The strings of one attribute in a batch, as UTF-8: text number n is data[start[n] : start[n] + length[n]].

    What is `raw` came as bytes, whose encoding the document itself declares; only XML documents may be raw.
    """

    data: Array  # uint8
    start: Array  # int64
    length: Array  # int64
    raw: Array  # bool


class Facts(NamedTuple):
    """The facts of text number n are fact[start[n] : start[n + 1]], each once.

    `problems` are texts that cannot be read, with the reason: of those nothing is known, and they have no facts.
    """

    start: Array  # int64, one more than there are texts
    fact: Array  # int32
    problems: tuple[tuple[int, str], ...] = ()


class Engine(Protocol):
    """Built once from its questions, and never changed. Everything it knows is in arrays, so that it can be mapped."""

    def arrays(self) -> Mapping[str, Array]: ...

    def find(self, texts: Texts) -> Facts: ...

    def check(self) -> None:
        """Asserts every invariant of its arrays."""
