"""References to entities, made visible in a stream of XML before a parser reads it.

A parser that expands nothing still drops a reference in an attribute without a word, if only a DTD that was not read
could say what it stands for, and reads the elements of an entity that the document declares. So no reference reaches
it: each becomes the characters that are given for it, or a mark with its name that `entity_in` finds again. The five
of XML and references to characters stay; so do comments, CDATA sections, instructions and the DOCTYPE, where nothing
is a reference. What the stream holds is in bytes of ASCII wherever that matters: UTF-16 and UTF-32 come out as UTF-8.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import IO

from tidings.errors import EventError

BEGINNING = 1_024  # bytes in which an encoding is declared, if any is
LONGEST = 1_000  # bytes of a name
_ALL_OF_ASCII = bytes(range(128))

# Noncharacters, which XML allows and nobody may exchange: around a name they are no text of anybody's.
_OPENING, _CLOSING = "\ufdd0", "\ufdd1"
_MARK = re.compile(f"{_OPENING}([^{_CLOSING}]*){_CLOSING}")

_IN_CONTENT = re.compile(rb"<!--|<!\[CDATA\[|<\?|<!DOCTYPE|&(?!#|(?:lt|gt|amp|quot|apos);)([^\s&;<>\"'/=]{1,1000});")
_IN_DOCTYPE = re.compile(rb"<!--|<\?|[\"'\[\]>]")
_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>", b'"': b'"', b"'": b"'"}
_LONGEST_BEGINNING = len(b"<![CDATA[")

_WIDE = (
    (b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"<\0\0\0", "utf-32-le"), (b"\0\0\0<", "utf-32-be"),
    (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"),
)  # fmt: skip
_EBCDIC = b"\x4c\x6f\xa7\x94"
_DECLARED = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml[^>]*?\sencoding\s*=\s*[\"']([A-Za-z][A-Za-z0-9._-]*)[\"']")


def entity_in(text: str) -> str | None:
    """The name of the first entity that a text refers to, as it came out of a stream of this kind."""
    found = _MARK.search(text)
    return found.group(1) if found else None


class VisibleEntities:
    """A file to read from; `encoding` is what it gives if that is not what the document says."""

    def __init__(self, source: IO[bytes], entities: Mapping[str, str]) -> None:
        self._entities = entities
        self._kept = b""  # what was read, and may be part of what comes
        self._end = b""  # what ends the section that is open, if one is
        self._in_doctype = False
        self._in_subset = False  # of declarations, in the brackets of a DOCTYPE
        while len(self._kept) < BEGINNING and (more := source.read(BEGINNING)):
            self._kept += more
        wide = next((name for begin, name in _WIDE if self._kept.startswith(begin)), None)
        self._decoder = codecs.getincrementaldecoder(wide)() if wide else None
        self.encoding = "utf-8" if wide else None
        if wide:
            self._kept = self._narrow(self._kept)
        else:
            _refuse_unless_ascii(self._kept)
        self._source = source

    def read(self, size: int) -> bytes:
        """Some bytes; none at the end. About as many as are asked for."""
        while True:
            more = self._source.read(size)
            given, self._kept = self._kept + self._narrow(more), b""
            found = self._rewritten(given, last=not more)
            if found or not more:
                return found

    def _narrow(self, content: bytes) -> bytes:
        if self._decoder is None:
            return content
        try:
            return self._decoder.decode(content, final=not content).encode()
        except UnicodeError as error:
            raise EventError(f"the XML file is not in the encoding that it begins in: {error}") from None

    def _rewritten(self, given: bytes, last: bool) -> bytes:
        """What can be given of some bytes; the rest of them is kept."""
        found: list[bytes] = []
        at = 0
        while True:
            if self._end:
                end = given.find(self._end, at)
                if end < 0:
                    stop = len(given) if last else max(at, len(given) - len(self._end) + 1)
                    break
                behind, self._end = end + len(self._end), b""
                found.append(given[at:behind])
            else:
                token = (_IN_DOCTYPE if self._in_doctype else _IN_CONTENT).search(given, at)
                if token is None:
                    stop = len(given) if last else _certain(given, at)
                    break
                behind = token.end()
                found += (given[at : token.start()], self._taken(token))
            at = behind
        self._kept = given[stop:]
        return b"".join((*found, given[at:stop]))

    def _taken(self, token: re.Match[bytes]) -> bytes:
        """What stands for a token, which opens a section, leads in or out of a DOCTYPE, or is a reference."""
        text = token.group()
        if text.startswith(b"&"):
            return self._written(token.group(1))
        self._end = _ENDS.get(text, b"")
        if text == b"<!DOCTYPE":
            self._in_doctype = True
        elif text in (b"[", b"]"):
            self._in_subset = text == b"["
        elif text == b">":
            self._in_doctype = self._in_subset
        return text

    def _written(self, name: bytes) -> bytes:
        """References to characters, which mean the same in every encoding."""
        characters = self._entities.get(name.decode("ascii", "replace"))
        if characters is None:
            return b"&#%d;%b&#%d;" % (ord(_OPENING), name, ord(_CLOSING))
        return b"".join(b"&#%d;" % ord(character) for character in characters)


def _certain(given: bytes, at: int) -> int:
    """Up to where nothing can be the beginning of a token."""
    for sign, longest in ((b"<", _LONGEST_BEGINNING), (b"&", LONGEST + 2)):
        begins = given.find(sign, max(at, len(given) - longest))
        if begins >= 0:
            return begins
    return len(given)


def _refuse_unless_ascii(beginning: bytes) -> None:
    """In another encoding a reference would look otherwise."""
    declared = _DECLARED.match(beginning)
    name = "EBCDIC" if beginning.startswith(_EBCDIC) else declared.group(1).decode() if declared else "utf-8"
    try:
        switching = codecs.lookup(name).name.startswith("iso2022")  # by escape sequences, between sets of characters
        if not switching and _ALL_OF_ASCII.decode(name).encode() == _ALL_OF_ASCII:
            return
    except (LookupError, UnicodeError):
        pass
    raise EventError(
        f"the XML file is in the encoding {name}; files are read in UTF-8, UTF-16, UTF-32 and encodings that have the "
        f"characters of ASCII as these have them: convert it to UTF-8"
    )
