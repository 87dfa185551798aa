"""Characters, names and references of XML, in UTF-8, compiled. Whatever is not plainly right is left to the caller."""

from __future__ import annotations

import numpy as np

from tidings.index.compiling import compiled, compiled_into_callers

LONGEST_NAME = 1_000

_HASH, _SEMICOLON, _NEWLINE, _RETURN, _X = 35, 59, 10, 13, 120

# What bytes are: they begin a name, continue one, stand for themselves in text or in attributes, are white space
BEGINS_NAME, IN_NAME, IN_TEXT, IN_VALUE, SPACE = 1, 2, 4, 8, 16
CLASS = np.zeros(256, np.uint8)
CLASS[32:128] |= IN_TEXT + IN_VALUE
CLASS[[9, 10]] |= IN_TEXT
for _byte in b"<&]":
    CLASS[_byte] &= 0xFF - IN_TEXT
for _byte in b"<&\"'":
    CLASS[_byte] &= 0xFF - IN_VALUE
for _byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz":
    CLASS[_byte] |= BEGINS_NAME + IN_NAME
for _byte in b"-.0123456789":
    CLASS[_byte] |= IN_NAME
CLASS[[9, 10, 13, 32]] |= SPACE

# Letters of names beyond ASCII: first and last of each range of NameStartChar, then of what may follow besides
_LETTERS = np.array(
    [
        0xC0, 0xD6, 0xD8, 0xF6, 0xF8, 0x2FF, 0x370, 0x37D, 0x37F, 0x1FFF, 0x200C, 0x200D, 0x2070, 0x218F,
        0x2C00, 0x2FEF, 0x3001, 0xD7FF, 0xF900, 0xFDCF, 0xFDF0, 0xFFFD, 0x10000, 0xEFFFF,
        0xB7, 0xB7, 0x300, 0x36F, 0x203F, 0x2040,
    ],
    np.int64,
)  # fmt: skip
_STARTING = 24


@compiled
def character(data, at, end):  # type: ignore[no-untyped-def]
    """The character beyond ASCII at a place, as eight times its code plus its bytes; 0 if there is none in XML."""
    first = np.int64(data[at])
    size = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if first < 0xC2 or first > 0xF4 or at + size > end:
        return 0
    code = first & (0xFF >> (size + 1))
    for i in range(1, size):
        more = np.int64(data[at + i])
        if more & 0xC0 != 0x80:
            return 0
        code = code << 6 | (more & 0x3F)
    if (size == 3 and code < 0x800) or (size == 4 and (code < 0x10000 or code > 0x10FFFF)):
        return 0
    if 0xD800 <= code < 0xE000 or code == 0xFFFE or code == 0xFFFF:
        return 0
    return code << 3 | size


@compiled
def _is_letter(code, ranges):  # type: ignore[no-untyped-def]
    for i in range(0, ranges, 2):  # noqa: SIM110 - compiled, where any( ) of a generator is slow
        if _LETTERS[i] <= code <= _LETTERS[i + 1]:
            return True
    return False


@compiled
def name_end(data, at, end):  # type: ignore[no-untyped-def]
    """Where the name without a colon that begins at a place ends; the place itself if none does, or -1 if too long."""
    start = at
    while at < end:
        byte = data[at]
        if byte < 128:
            if not CLASS[byte] & (BEGINS_NAME if at == start else IN_NAME):
                break
            at += 1
            continue
        found = character(data, at, end)
        if not _is_letter(found >> 3, _STARTING if at == start else len(_LETTERS)):
            break
        at += found & 7
    return at if at - start <= LONGEST_NAME else -1


@compiled_into_callers
def is_space(byte):  # type: ignore[no-untyped-def]
    return CLASS[byte] & SPACE != 0


@compiled
def skip_space(data, at, end):  # type: ignore[no-untyped-def]
    while at < end and is_space(data[at]):
        at += 1
    return at


@compiled
def begins(data, at, end, word):  # type: ignore[no-untyped-def]
    if at + len(word) > end:
        return False
    for i in range(len(word)):  # noqa: SIM110 - compiled
        if data[at + i] != word[i]:
            return False
    return True


@compiled
def reference(data, at, end, values, to):  # type: ignore[no-untyped-def]
    """Writes the character that a reference at `at` stands for. Behind it times 8 plus bytes written, or -1."""
    for number in range(len(_ENTITY_BYTES)):
        word = _ENTITIES[_ENTITY_STARTS[number] : _ENTITY_STARTS[number + 1]]
        if begins(data, at, end, word):
            values[to] = _ENTITY_BYTES[number]
            return (at + len(word)) << 3 | 1
    if at + 3 >= end or data[at + 1] != _HASH:
        return -1
    base = 10
    at += 2
    if data[at] == _X:
        base = 16
        at += 1
    start, code = at, np.int64(0)
    while at < end and at - start < 8 and data[at] != _SEMICOLON:
        digit = np.int64(data[at]) - 48
        if digit > 9:
            digit = (digit & 0xDF) - 7 if base == 16 and (digit & 0xDF) >= 17 else np.int64(99)
        if digit < 0 or digit >= base:
            return -1
        code = code * base + digit
        at += 1
    if at == start or at >= end or data[at] != _SEMICOLON or not is_character(code):
        return -1
    return (at + 1) << 3 | write_character(values, to, code)


_ENTITIES = np.frombuffer(b"&lt;&gt;&amp;&quot;&apos;", np.uint8).copy()
_ENTITY_STARTS = np.array([0, 4, 8, 13, 19, 25], np.int64)
_ENTITY_BYTES = np.frombuffer(b"<>&\"'", np.uint8).copy()


@compiled
def is_character(code):  # type: ignore[no-untyped-def]
    if code < 32:
        return code == 9 or code == 10 or code == 13
    return code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000


@compiled
def write_character(values, to, code):  # type: ignore[no-untyped-def]
    """The character as UTF-8; how many bytes."""
    if code < 0x80:
        values[to] = code
        return 1
    size = 2 if code < 0x800 else 3 if code < 0x10000 else 4
    for i in range(size - 1, 0, -1):
        values[to + i] = 0x80 | (code & 0x3F)
        code >>= 6
    values[to] = (0xF00 >> size) & 0xFF | code
    return size


@compiled
def copy_character(data, at, end, values, to):  # type: ignore[no-untyped-def]
    """Copies one character as it stands, line ends as one newline. The bytes read, or 0 if there is none in XML."""
    byte = data[at]
    if byte == _RETURN:
        values[to] = _NEWLINE
        return 2 if at + 1 < end and data[at + 1] == _NEWLINE else 1
    if byte < 128:
        values[to] = byte
        return 1 if byte >= 32 or CLASS[byte] & SPACE else 0
    size = character(data, at, end) & 7
    for i in range(size):
        values[to + i] = data[at + i]
    return size
