"""Reading documents that are plain, compiled: UTF-8, no DOCTYPE, no namespaces, and certainly well-formed.

Whatever is not seen to be right at once (a prefix, an entity that is not one of the five, an odd declaration, anything
malformed) is FOREIGN: libxml2 reads it, or says what is wrong with it. So a mistake here can be to hand over too much,
and must never be to accept what libxml2 refuses, or to read it differently.
"""

from __future__ import annotations

import numpy as np

from tidings.index.compiling import compiled, compiled_into_callers
from tidings.index.hashing import mixed
from tidings.index.keys import HASH_START, hash_end, hash_step
from tidings.index.views import int32s, int64s, uint8s
from tidings.index.xml import layout
from tidings.index.xml.layout import NODES as N
from tidings.index.xml.layout import PLAN as P

DEEPEST = 256
LARGEST = 9_000_000  # bytes; libxml2 bounds single texts, and below this none can pass the bound
LONGEST_NAME = 1_000
MOST_ATTRIBUTES = 64  # of one element: their names are compared with one another

_DONE, _FOREIGN, _MORE_NODES = layout.DONE, layout.FOREIGN, layout.MORE_NODES
_TEXT, _COMMENT, _INSTRUCTION = layout.TEXT, layout.COMMENT, layout.INSTRUCTION
_FIRST_NAME, _OTHER_ELEMENT = layout.FIRST_NAME, layout.OTHER_ELEMENT
_LT, _GT, _AMP, _SLASH, _BANG, _QUESTION, _EQUALS, _HASH = 60, 62, 38, 47, 33, 63, 61, 35
_QUOTE, _APOSTROPHE, _DASH, _OPEN, _CLOSE, _SEMICOLON, _COLON = 34, 39, 45, 91, 93, 59, 58
_SPACE, _TAB, _NEWLINE, _RETURN, _X = 32, 9, 10, 13, 120

# What bytes are: 1 begins a name, 2 continues one, 4 stands for itself in text, 8 in attributes, 16 is white space
_CLASS = np.zeros(256, np.uint8)
_CLASS[32:128] |= 12
_CLASS[[9, 10]] |= 4
for _byte in b"<&]":
    _CLASS[_byte] &= 0xFF - 4
for _byte in b"<&\"'":
    _CLASS[_byte] &= 0xFF - 8
for _byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz":
    _CLASS[_byte] |= 3
for _byte in b"-.0123456789":
    _CLASS[_byte] |= 2
_CLASS[[9, 10, 13, 32]] |= 16

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
    for i in range(0, ranges, 2):
        if _LETTERS[i] <= code <= _LETTERS[i + 1]:
            return True
    return False


@compiled
def name_end(data, at, end):  # type: ignore[no-untyped-def]
    """Where the name that begins at a place ends; the place itself if none begins there, or -1 if it is foreign."""
    start = at
    while at < end:
        byte = data[at]
        if byte < 128:
            if not _CLASS[byte] & (1 if at == start else 2):
                break
            at += 1
            continue
        found = character(data, at, end)
        if not _is_letter(found >> 3, _STARTING if at == start else len(_LETTERS)):
            return -1
        at += found & 7
    if (at < end and data[at] == _COLON) or at - start > LONGEST_NAME:
        return -1
    return at


@compiled
def name_number(plan, data, start, end):  # type: ignore[no-untyped-def]
    """The number of a name that somebody asks for, or -1."""
    places, starts, names = int32s(plan, P.name_places), int64s(plan, P.name_start), uint8s(plan, P.name_data)
    found = HASH_START
    for at in range(start, end):
        found = hash_step(found, data[at])
    mask = np.uint64(len(places) - 1)
    place = np.int64(mixed(hash_end(found)) & mask)
    while places[place] >= 0:
        number = places[place]
        if starts[number + 1] - starts[number] == end - start:
            same = True
            for i in range(end - start):
                if names[starts[number] + i] != data[start + i]:
                    same = False
                    break
            if same:
                return np.int64(number)
        place = (place + 1) & np.int64(mask)
    return -1


@compiled_into_callers
def _is_space(byte):  # type: ignore[no-untyped-def]
    return byte == _SPACE or byte == _NEWLINE or byte == _TAB or byte == _RETURN


@compiled
def skip_space(data, at, end):  # type: ignore[no-untyped-def]
    while at < end and _is_space(data[at]):
        at += 1
    return at


@compiled
def begins(data, at, end, word):  # type: ignore[no-untyped-def]
    if at + len(word) > end:
        return False
    for i in range(len(word)):
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
    start, code = at, 0
    while at < end and at - start < 8 and data[at] != _SEMICOLON:
        digit = np.int64(data[at]) - 48
        if digit > 9:
            digit = (digit & 0xDF) - 7 if base == 16 and (digit & 0xDF) >= 17 else 99
        if digit < 0 or digit >= base:
            return -1
        code = code * base + digit
        at += 1
    if at == start or at >= end or data[at] != _SEMICOLON or not _is_character(code):
        return -1
    return (at + 1) << 3 | _write(values, to, code)


_ENTITIES = np.frombuffer(b"&lt;&gt;&amp;&quot;&apos;", np.uint8).copy()
_ENTITY_STARTS = np.array([0, 4, 8, 13, 19, 25], np.int64)
_ENTITY_BYTES = np.frombuffer(b"<>&\"'", np.uint8).copy()
_END_OF_CDATA = np.array([_CLOSE, _CLOSE, _GT], np.uint8)
_END_OF_COMMENT = np.array([_DASH, _DASH, _GT], np.uint8)
_END_OF_INSTRUCTION = np.array([_QUESTION, _GT, 0], np.uint8)
_CDATA = np.frombuffer(b"<![CDATA[", np.uint8).copy()


@compiled
def _is_character(code):  # type: ignore[no-untyped-def]
    if code < 32:
        return code == 9 or code == 10 or code == 13
    return code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000


@compiled
def _write(values, to, code):  # type: ignore[no-untyped-def]
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


# Parts of a document. Each gives the place behind what it read, or -1. `used` of Nodes has what is written so far.

_NODES, _DEEP, _TEXTS, _ASIDE = layout.NODE_COUNT, layout.DEEPEST_NODE, layout.TEXT_END, layout.ASIDE_END


@compiled
def add_node(nodes, symbol, parent, value, length):  # type: ignore[no-untyped-def]
    used = int64s(nodes, N.used)
    node = used[_NODES]
    int32s(nodes, N.symbol)[node] = symbol
    int32s(nodes, N.parent)[node] = parent
    int32s(nodes, N.end)[node] = node + 1
    int64s(nodes, N.value)[node] = value
    int64s(nodes, N.length)[node] = length
    used[_NODES] = node + 1
    return node


@compiled
def content(nodes, data, at, end):  # type: ignore[no-untyped-def]
    """Text up to the next markup, copied behind the texts so far."""
    values, used = uint8s(nodes, N.values), int64s(nodes, N.used)
    to = used[_TEXTS]
    while at < end:
        byte = data[at]
        if _CLASS[byte] & 4:
            values[to] = byte
            at += 1
            to += 1
        elif byte == _LT:
            break
        elif byte == _AMP:
            found = reference(data, at, end, values, to)
            if found < 0:
                return -1
            at, to = found >> 3, to + (found & 7)
        else:
            if byte == _CLOSE and at + 2 < end and data[at + 1] == _CLOSE and data[at + 2] == _GT:
                return -1
            size = _taken(data, at, end, values, to)
            if size == 0:
                return -1
            to += 1 if byte == _RETURN else size
            at += size
    used[_TEXTS] = to
    return at


@compiled
def _taken(data, at, end, values, to):  # type: ignore[no-untyped-def]
    """Copies one character as it stands, line ends as one newline. The bytes read, or 0 if XML has no such character."""
    byte = data[at]
    if byte == _RETURN:
        values[to] = _NEWLINE
        return 2 if at + 1 < end and data[at + 1] == _NEWLINE else 1
    if byte < 128:
        values[to] = byte
        return 1 if byte >= 32 or byte == _NEWLINE or byte == _TAB else 0
    size = character(data, at, end) & 7
    for i in range(size):
        values[to + i] = data[at + i]
    return size


@compiled
def section(data, at, end, values, to, ending):  # type: ignore[no-untyped-def]
    """Copies characters up to the three that end a section (third 0: two). Place behind times 2**32, plus bytes."""
    start, first, second, third = to, ending[0], ending[1], ending[2]
    while at < end:
        if data[at] == first and at + 1 < end and data[at + 1] == second:
            if third == 0:
                return (at + 2) << 32 | (to - start)
            if at + 2 < end and data[at + 2] == third:
                return (at + 3) << 32 | (to - start)
            if first == _DASH:  # -- inside a comment
                return -1
        size = _taken(data, at, end, values, to)
        if size == 0:
            return -1
        to += 1 if data[at] == _RETURN else size
        at += size
    return -1


@compiled
def aside(nodes, data, at, end, parent):  # type: ignore[no-untyped-def]
    """A comment or an instruction, at its `<`."""
    values, used = uint8s(nodes, N.values), int64s(nodes, N.used)
    to = used[_ASIDE]
    if data[at + 1] == _BANG:
        if at + 3 >= end or data[at + 2] != _DASH or data[at + 3] != _DASH:
            return -1
        symbol, found = _COMMENT, section(data, at + 4, end, values, to, _END_OF_COMMENT)
    else:
        behind = name_end(data, at + 2, end)
        if behind <= at + 2 or (behind == at + 5 and _is_xml(data, at + 2)):
            return -1
        start = skip_space(data, behind, end)
        if start == behind and not (start + 1 < end and data[start] == _QUESTION and data[start + 1] == _GT):
            return -1
        symbol, found = _INSTRUCTION, section(data, start, end, values, to, _END_OF_INSTRUCTION)
    if found < 0:
        return -1
    size = found & 0xFFFFFFFF
    add_node(nodes, symbol, parent, to, size)
    used[_ASIDE] = to + size
    return found >> 32


@compiled
def _is_xml(data, at):  # type: ignore[no-untyped-def]
    """The name that no instruction may have, in any case."""
    return (data[at] | 32) == 120 and (data[at + 1] | 32) == 109 and (data[at + 2] | 32) == 108


@compiled
def attribute_value(nodes, data, at, end):  # type: ignore[no-untyped-def]
    """A value in quotes, at the first of them; white space becomes spaces."""
    values, used = uint8s(nodes, N.values), int64s(nodes, N.used)
    quote, to = data[at], used[_ASIDE]
    if quote != _QUOTE and quote != _APOSTROPHE:
        return -1
    at += 1
    while at < end:
        byte = data[at]
        if _CLASS[byte] & 8:
            values[to] = byte
            at += 1
            to += 1
        elif byte == quote:
            used[_ASIDE] = to
            return at + 1
        elif byte == _AMP:
            found = reference(data, at, end, values, to)
            if found < 0:
                return -1
            at, to = found >> 3, to + (found & 7)
        else:
            size = 0 if byte == _LT else _taken(data, at, end, values, to)
            if size == 0:
                return -1
            if _is_space(byte):
                values[to] = _SPACE
                to += 1
            else:
                to += size
            at += size
    return -1


@compiled
def attributes(plan, nodes, data, at, end, element, starts):  # type: ignore[no-untyped-def]
    """All attributes of a start tag, from behind its name to its > or />; `starts` is room for their places."""
    used, count = int64s(nodes, N.used), np.int64(0)
    while True:
        start = skip_space(data, at, end)
        if start >= end:
            return -1
        if data[start] == _GT or data[start] == _SLASH:
            return start
        behind = name_end(data, start, end)
        if start == at or behind <= start or count == MOST_ATTRIBUTES:
            return -1
        if _declared_or_twice(data, starts, count, start, behind):
            return -1
        count += 1
        equals = skip_space(data, behind, end)
        if equals >= end or data[equals] != _EQUALS:
            return -1
        value = skip_space(data, equals + 1, end)
        if value >= end:
            return -1
        to = used[_ASIDE]
        at = attribute_value(nodes, data, value, end)
        if at < 0:
            return -1
        number = name_number(plan, data, start, behind)
        add_node(nodes, _FIRST_NAME + 1 + 2 * number, element, to, used[_ASIDE] - to)


@compiled
def _declared_or_twice(data, starts, count, start, end):  # type: ignore[no-untyped-def]
    """Whether the name of an attribute is xmlns, or one that its element has already; else it is noted."""
    if end - start == 5 and begins(data, start, end, _XMLNS):
        return True
    for i in range(count):
        other, size = starts[2 * i], starts[2 * i + 1]
        if size == end - start:
            same = True
            for j in range(size):
                if data[other + j] != data[start + j]:
                    same = False
                    break
            if same:
                return True
    starts[2 * count], starts[2 * count + 1] = start, end - start
    return False


_XMLNS = np.frombuffer(b"xmlns", np.uint8).copy()


@compiled
def declaration(data, at, end, raw):  # type: ignore[no-untyped-def]
    """Behind the XML declaration, if there is one; -1 unless it is an ordinary one."""
    if not begins(data, at, end, _DECLARATION) or at + 6 >= end or not _is_space(data[at + 5]):
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
    if at < 0:
        return -1
    at = skip_space(data, at, end)
    return at + 2 if at + 1 < end and data[at] == _QUESTION and data[at + 1] == _GT else -1


_DECLARATION = np.frombuffer(b"<?xml", np.uint8).copy()
_VERSION = np.frombuffer(b"version=", np.uint8).copy()
_ENCODING = np.frombuffer(b"encoding=", np.uint8).copy()
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


@compiled
def scan(plan, nodes, data, start, end, raw):  # type: ignore[no-untyped-def]
    """Reads the document data[start:end] into `nodes`: DONE, FOREIGN, or MORE_NODES where they do not fit."""
    used = int64s(nodes, N.used)
    used[_NODES], used[_DEEP], used[_TEXTS], used[_ASIDE] = 0, 0, 0, end - start
    at = -1 if end - start > LARGEST else declaration(data, start, end, raw)
    if at < 0:
        return _FOREIGN
    add_node(nodes, np.int64(layout.DOCUMENT), np.int64(-1), np.int64(0), np.int64(0))
    tags = np.empty(2 * DEEPEST + 2, np.int64)  # where the names of open elements stand, and their sizes
    room = len(int32s(nodes, N.symbol)) - MOST_ATTRIBUTES - 2
    inside, text, roots = np.int64(0), np.int64(-1), 0
    open_nodes, starts = np.zeros(DEEPEST + 2, np.int64), np.empty(2 * MOST_ATTRIBUTES, np.int64)
    while at < end:
        if used[_NODES] > room:
            return _MORE_NODES
        if data[at] != _LT or (at + 8 < end and data[at + 2] == _OPEN):
            at, text = _characters(nodes, data, at, end, open_nodes[inside], inside, text)
            if at < 0:
                return _FOREIGN
            continue
        text = np.int64(-1)
        if at + 2 >= end:
            return _FOREIGN
        if data[at + 1] == _SLASH:
            if inside == 0:
                return _FOREIGN
            at = end_tag(nodes, data, at + 2, end, tags[2 * inside], tags[2 * inside + 1], open_nodes[inside])
            inside -= 1
        elif data[at + 1] == _BANG or data[at + 1] == _QUESTION:
            at = aside(nodes, data, at, end, open_nodes[inside])
        else:
            behind = name_end(data, at + 1, end)
            if behind <= at + 1 or inside == DEEPEST or (inside == 0 and roots == 1):
                return _FOREIGN
            roots = 1
            symbol = _FIRST_NAME + 2 * name_number(plan, data, at + 1, behind)
            element = add_node(nodes, symbol, open_nodes[inside], used[_TEXTS], np.int64(0))
            inside += 1
            open_nodes[inside], tags[2 * inside], tags[2 * inside + 1] = element, at + 1, behind - at - 1
            used[_DEEP] = max(used[_DEEP], inside)
            at = attributes(plan, nodes, data, behind, end, element, starts)
            if at >= 0 and data[at] == _SLASH:
                at = at + 1 if at + 1 < end and data[at + 1] == _GT else -1
                int32s(nodes, N.end)[element] = used[_NODES]
                inside -= 1
            at = at + 1 if at >= 0 else -1
        if at < 0:
            return _FOREIGN
    if inside or not roots:
        return _FOREIGN
    int64s(nodes, N.length)[0] = used[_TEXTS]
    int32s(nodes, N.end)[0] = used[_NODES]
    return _DONE


@compiled
def _characters(nodes, data, at, end, parent, inside, text):  # type: ignore[no-untyped-def]
    """Text or a CDATA section, as one text with what is beside it. The place behind, or -1, and the node."""
    if inside == 0:
        start, at = at, skip_space(data, at, end)
        return (at if at > start else -1), -1
    used, values = int64s(nodes, N.used), uint8s(nodes, N.values)
    before = used[_TEXTS]
    if data[at] == _LT:
        found = -1
        if begins(data, at, end, _CDATA):
            found = section(data, at + 9, end, values, before, _END_OF_CDATA)
        if found < 0:
            return -1, -1
        at = found >> 32
        used[_TEXTS] = before + (found & 0xFFFFFFFF)
    else:
        at = content(nodes, data, at, end)
    if text < 0:
        text = add_node(nodes, np.int64(_TEXT), parent, before, np.int64(0))
    length = int64s(nodes, N.length)
    length[text] += used[_TEXTS] - before
    return at, text


@compiled
def end_tag(nodes, data, at, end, name, size, element):  # type: ignore[no-untyped-def]
    if at + size >= end:
        return -1
    for i in range(size):
        if data[at + i] != data[name + i]:
            return -1
    at = skip_space(data, at + size, end)
    if at >= end or data[at] != _GT:
        return -1
    used, length = int64s(nodes, N.used), int64s(nodes, N.length)
    length[element] = used[_TEXTS] - int64s(nodes, N.value)[element]
    int32s(nodes, N.end)[element] = used[_NODES]
    return at + 1
