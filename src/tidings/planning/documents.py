"""A sample of XML documents: bounded, and each document that came is in it with the same probability.

The reservoir of Vitter, as in section 5.4 of the thesis on FoXtrot. The same documents in the same order give the same
sample. Whether a document is well-formed is for whoever reads it.
"""

from __future__ import annotations

from random import Random
from typing import TypeGuard

MOST_DOCUMENTS = 100
# Lengths are in characters, or in bytes of documents that come as bytes.
MOST_TOGETHER = 4 << 20  # of all documents of a sample
LONGEST = 1 << 20  # of one: a longer one is not kept
_SEED = 54
_BEFORE = " \t\r\n\ufeff"
_BEFORE_IN_BYTES = b" \t\r\n\xef\xbb\xbf\xff\xfe\x00"  # also of UTF-16


class Reservoir:
    """Documents as they come."""

    __slots__ = ("_chance", "_documents", "_seen")

    def __init__(self) -> None:
        self._chance = Random(_SEED)
        self._documents: list[str | bytes] = []
        self._seen = 0

    def offer(self, value: object) -> None:
        """Takes a value that looks like a document, or not, as chance has it."""
        if not is_document(value) or len(value) > LONGEST:
            return
        self._seen += 1
        if len(self._documents) < MOST_DOCUMENTS:
            self._documents.append(value)
        elif (place := self._chance.randrange(self._seen)) < MOST_DOCUMENTS:
            self._documents[place] = value

    def documents(self) -> tuple[str | bytes, ...]:
        """Those that were kept, in random order, as far as they fit."""
        found: list[str | bytes] = []
        together = 0
        for document in self._chance.sample(self._documents, len(self._documents)):
            together += len(document)
            if together > MOST_TOGETHER:
                break
            found.append(document)
        return tuple(found)


def is_document(value: object) -> TypeGuard[str | bytes]:
    if isinstance(value, str):
        return value.lstrip(_BEFORE).startswith("<")
    return isinstance(value, bytes) and value.lstrip(_BEFORE_IN_BYTES).startswith(b"<")
