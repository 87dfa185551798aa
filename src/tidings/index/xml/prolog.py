"""What may stand before the root element, compiled: the XML declaration, and a DOCTYPE that declares nothing itself.

The DTD that a DOCTYPE names is never read, so that a document with one means what it means without; an entity that only
the DTD knows is foreign to the scanner anyway.
"""

from __future__ import annotations

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.xml.characters import CLASS, IN_NAME, begins, is_space, name_end, skip_space

_GT, _QUESTION, _QUOTE, _APOSTROPHE, _DASH, _COLON = 62, 63, 34, 39, 45, 58


@compiled
def declaration(data, at, end, raw):  # type: ignore[no-untyped-def]
    """Behind the XML declaration, if there is one; -1 unless it is an ordinary one."""
    if not begins(data, at, end, _DECLARATION) or at + 6 >= end or not is_space(data[at + 5]):
        return at
    at = _setting(data, at + 5, end, _VERSION)
    if at < 0 or not begins(data, at, end, _ONE_NOUGHT):
        return -1
    at = _behind_quote(data, at + 3, end)
    behind = _setting(data, at, end, _ENCODING) if at >= 0 else -1
    if behind >= 0:
        stop = name_end(data, behind, end)
        if stop <= behind or data[behind] >= 128 or data[behind] == 95:
            return -1
        for i in range(behind, stop):
            if data[i] >= 128:
                return -1
        if raw and not _is_utf8(data, behind, stop):
            return -1
        at = _behind_quote(data, stop, end)
    behind = _setting(data, at, end, _STANDALONE) if at >= 0 else -1
    if behind >= 0:
        if not begins(data, behind, end, _YES) and not begins(data, behind, end, _NO):
            return -1
        at = _behind_quote(data, behind + (3 if data[behind] == _YES[0] else 2), end)
    if at < 0:
        return -1
    at = skip_space(data, at, end)
    return at + 2 if at + 1 < end and data[at] == _QUESTION and data[at + 1] == _GT else -1


_DECLARATION = np.frombuffer(b"<?xml", np.uint8).copy()
_VERSION = np.frombuffer(b"version=", np.uint8).copy()
_ENCODING = np.frombuffer(b"encoding=", np.uint8).copy()
_STANDALONE = np.frombuffer(b"standalone=", np.uint8).copy()
_YES, _NO = np.frombuffer(b"yes", np.uint8).copy(), np.frombuffer(b"no", np.uint8).copy()
_ONE_NOUGHT = np.frombuffer(b"1.0", np.uint8).copy()


@compiled
def _setting(data, at, end, word):  # type: ignore[no-untyped-def]
    """Behind the opening quote of a setting of the declaration, or -1."""
    start = skip_space(data, at, end)
    if start == at or not begins(data, start, end, word):
        return -1
    at = start + len(word)
    return at + 1 if at < end and (data[at] == _QUOTE or data[at] == _APOSTROPHE) else -1


@compiled
def _behind_quote(data, at, end):  # type: ignore[no-untyped-def]
    """Behind the closing quote, which must be the one that opened: that of the nearest quote before."""
    if at >= end or (data[at] != _QUOTE and data[at] != _APOSTROPHE):
        return -1
    before = at - 1
    while data[before] != _QUOTE and data[before] != _APOSTROPHE:
        before -= 1
    return at + 1 if data[before] == data[at] else -1


@compiled
def _is_utf8(data, start, end):  # type: ignore[no-untyped-def]
    return (
        end - start == 5
        and (data[start] | 32) == 117
        and (data[start + 1] | 32) == 116
        and (data[start + 2] | 32) == 102
        and data[start + 3] == _DASH
        and data[start + 4] == 56
    )


_DOCTYPE = np.frombuffer(b"<!DOCTYPE", np.uint8).copy()
_SYSTEM, _PUBLIC = np.frombuffer(b"SYSTEM", np.uint8).copy(), np.frombuffer(b"PUBLIC", np.uint8).copy()


@compiled
def is_doctype(data, at, end):  # type: ignore[no-untyped-def]
    return begins(data, at, end, _DOCTYPE)


@compiled
def doctype(data, at, end):  # type: ignore[no-untyped-def]
    """Behind a DOCTYPE without declarations, at its `<`; -1 where it is another."""
    start = skip_space(data, at + len(_DOCTYPE), end)
    behind = name_end(data, start, end)
    if start == at + len(_DOCTYPE) or behind <= start or (behind < end and data[behind] == _COLON):
        return -1
    at = skip_space(data, behind, end)
    if at > behind and begins(data, at, end, _PUBLIC):
        at = _quoted(data, at + len(_PUBLIC), end)
        at = _quoted(data, at, end) if at >= 0 else -1
    elif at > behind and begins(data, at, end, _SYSTEM):
        at = _quoted(data, at + len(_SYSTEM), end)
    if at < 0:
        return -1
    at = skip_space(data, at, end)
    return at + 1 if at < end and data[at] == _GT else -1


@compiled
def _quoted(data, at, end):  # type: ignore[no-untyped-def]
    """Behind space and a string of letters, digits, spaces and signs that every identifier may have, or -1."""
    start = skip_space(data, at, end)
    if start == at or start >= end or (data[start] != _QUOTE and data[start] != _APOSTROPHE):
        return -1
    at = start + 1
    while at < end and (CLASS[data[at]] & IN_NAME or data[at] in _SIGNS):
        at += 1
    return at + 1 if at < end and data[at] == data[start] else -1


_SIGNS = np.frombuffer(b" ()+,./:=", np.uint8).copy()
