"""What one would write first: every filter compiled by libxml2, and each asked about each document."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree


class EachByLxml:
    """Filters as compiled expressions of lxml; a document is parsed once and asked all of them."""

    def __init__(self, filters: Sequence[str]) -> None:
        self._compiled = [etree.XPath(f"boolean({text})", regexp=False, smart_strings=False) for text in filters]

    def answers(self, document: bytes) -> list[int]:
        tree = etree.fromstring(document).getroottree()
        return [number for number, compiled in enumerate(self._compiled) if compiled(tree)]


def parse_each(documents: Sequence[bytes]) -> int:
    """Parses documents and does nothing with them: what every matcher that uses libxml2 has to do at least."""
    return sum(len(etree.fromstring(document)) for document in documents)
