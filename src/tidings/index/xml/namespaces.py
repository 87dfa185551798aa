"""Namespaces of a document while it is scanned, compiled: the prefixes that are declared, and the default namespace.

Questions name a namespace, and no prefix. Only ordinary identifiers of namespaces are taken here, since libxml2 has a
say on the others; what stands in such a one is what it means, byte by byte.

`spaces` holds the depth of the current element, the number of declarations, and for each of them what is named below:
the prefix is the empty one for names without; of the namespace nothing is left where these are in none again; the hash
is that of {namespace}, with which the hash of a name in it begins.
"""

from __future__ import annotations

import numpy as np

from tidings.index.compiling import compiled
from tidings.index.keys import HASH_START, hash_step
from tidings.index.xml.characters import BEGINS_NAME, CLASS, IN_NAME, begins, name_end

MOST_DECLARATIONS = 64
CURRENT_DEPTH, _COUNT, _FIRST = 0, 1, 2  # in `spaces`; declarations stand from the last on
_PREFIX, _PREFIX_SIZE, _DEPTH, SPACE_START, SPACE_SIZE, SPACE_HASH = 0, 1, 2, 3, 4, 5  # of a declaration
_OF_EACH = 6
SPACES = _FIRST + _OF_EACH * MOST_DECLARATIONS

_COLON, _SLASH, _HASH = 58, 47, 35
OPENING, CLOSING = np.uint8(123), np.uint8(125)  # the braces around a namespace
_XMLNS, _XML = np.frombuffer(b"xmlns", np.uint8).copy(), np.frombuffer(b"xml", np.uint8).copy()
_HTTP, _HTTPS = np.frombuffer(b"http://", np.uint8).copy(), np.frombuffer(b"https://", np.uint8).copy()
_URN = np.frombuffer(b"urn:", np.uint8).copy()
_RESERVED_1 = np.frombuffer(b"http://www.w3.org/XML/1998", np.uint8).copy()
_RESERVED_2 = np.frombuffer(b"http://www.w3.org/2000/xmlns", np.uint8).copy()


@compiled
def tag_end(data, at, end):  # type: ignore[no-untyped-def]
    """Where the name of an element or attribute ends, with at most one colon in it; the place itself or -1 if none."""
    behind = name_end(data, at, end)
    if behind <= at or behind >= end or data[behind] != _COLON:
        return behind
    stop = name_end(data, behind + 1, end)
    return stop if stop > behind + 1 and not (stop < end and data[stop] == _COLON) else -1


@compiled
def is_declaration(data, start, end):  # type: ignore[no-untyped-def]
    return begins(data, start, end, _XMLNS) and (end == start + 5 or data[start + 5] == _COLON)


@compiled
def is_of_xml(data, start, end):  # type: ignore[no-untyped-def]
    """Whether a name is xml:lang, xml:space or the like, which need no declaration; xml:id libxml2 looks at itself."""
    if not begins(data, start, end, _XML) or data[start + 3] != _COLON:
        return False
    return not (end == start + 6 and data[start + 4] == 105 and data[start + 5] == 100)


@compiled
def declare(data, start, end, value, value_end, spaces):  # type: ignore[no-untyped-def]
    """Notes what an attribute declares; False if that is not an ordinary prefix and namespace."""
    prefix = min(start + 6, end)
    if spaces[_COUNT] == MOST_DECLARATIONS or begins(data, prefix, end, _XML):
        return False
    if value == value_end and prefix < end:
        return False
    if value < value_end and not _is_ordinary(data, value, value_end):
        return False
    place = _FIRST + _OF_EACH * spaces[_COUNT]
    spaces[place + _PREFIX], spaces[place + _PREFIX_SIZE] = prefix, end - prefix
    spaces[place + _DEPTH] = spaces[CURRENT_DEPTH]
    spaces[place + SPACE_START], spaces[place + SPACE_SIZE] = value, value_end - value
    spaces[place + SPACE_HASH] = np.int64(braced(data, value, value_end))
    spaces[_COUNT] += 1
    return True


@compiled
def braced(data, start, end):  # type: ignore[no-untyped-def]
    """The hash of {namespace}, from which that of a name in it goes on."""
    found = hash_step(HASH_START, OPENING)
    for at in range(start, end):
        found = hash_step(found, data[at])
    return hash_step(found, CLOSING)


@compiled
def _is_ordinary(data, start, end):  # type: ignore[no-untyped-def]
    """Whether a namespace is http://…, https://… or urn:…, of letters, digits, -, ., _, and / or : respectively.

    At its end it may have a #, as those of RDF do.
    """
    if begins(data, start, end, _RESERVED_1) or begins(data, start, end, _RESERVED_2):
        return False
    at, sign = start, _SLASH
    if begins(data, start, end, _HTTP):
        at += len(_HTTP)
    elif begins(data, start, end, _HTTPS):
        at += len(_HTTPS)
    elif begins(data, start, end, _URN):
        at, sign = at + len(_URN), _COLON
    if not start < at < end or not CLASS[data[at]] & BEGINS_NAME:
        return False
    if data[end - 1] == _HASH:
        end -= 1
    for i in range(at, end):  # noqa: SIM110 - compiled
        if not CLASS[data[i]] & IN_NAME and data[i] != sign:
            return False
    return True


@compiled
def declared(data, start, end, spaces):  # type: ignore[no-untyped-def]
    """The place in `spaces` of what a prefix stands for here, or 0; of the empty one where names without are in one."""
    for number in range(spaces[_COUNT] - 1, -1, -1):
        place = _FIRST + _OF_EACH * number
        if spaces[place + _PREFIX_SIZE] == end - start:
            same = True
            for i in range(end - start):
                if data[spaces[place + _PREFIX] + i] != data[start + i]:
                    same = False
                    break
            if same:
                return place if spaces[place + SPACE_SIZE] > 0 else 0
    return 0


@compiled
def close_scope(spaces, depth):  # type: ignore[no-untyped-def]
    """Forgets what was declared at a depth."""
    while spaces[_COUNT] > 0 and spaces[_FIRST + _OF_EACH * (spaces[_COUNT] - 1) + _DEPTH] >= depth:
        spaces[_COUNT] -= 1
