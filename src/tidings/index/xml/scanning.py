"""Reading documents that are plain, compiled: UTF-8, no declarations of elements or entities, certainly well-formed.

Whatever is not seen to be right at once (an entity that is not one of the five, an odd namespace, anything malformed)
is FOREIGN: libxml2 reads it, or says what is wrong with it. So a mistake here can be to hand over too much, and must
never be to accept what libxml2 refuses, or to read it differently.
"""

from __future__ import annotations

import numpy as np

from tidings.index.check_kernels import same_bytes
from tidings.index.compiling import compiled
from tidings.index.hashing import home
from tidings.index.keys import HASH_START, hash_end, hash_step
from tidings.index.views import int32s, int64s, uint8s
from tidings.index.xml import layout
from tidings.index.xml.characters import (
    CLASS,
    IN_TEXT,
    IN_VALUE,
    begins,
    copy_character,
    is_space,
    name_end,
    reference,
    skip_space,
)
from tidings.index.xml.layout import NODES as N
from tidings.index.xml.layout import PLAN as P
from tidings.index.xml.namespaces import (
    CLOSING,
    CURRENT_DEPTH,
    OPENING,
    SPACE_HASH,
    SPACE_SIZE,
    SPACE_START,
    SPACES,
    braced,
    close_scope,
    declare,
    declared,
    is_declaration,
    is_of_xml,
    tag_end,
)
from tidings.index.xml.prolog import declaration, doctype, is_doctype
from tidings.model.xpath import XML_NAMESPACE

DEEPEST = 256
LARGEST = 9_000_000  # bytes; libxml2 bounds single texts, and below this none can pass the bound
MOST_ATTRIBUTES = 64  # of one element: their names are compared with one another
_NAME, _NAME_SIZE, _LOCAL, _OF_NAME = 0, 1, 2, 3  # of each attribute in `names`: its name, and its part behind a prefix

_DONE, _FOREIGN, _MORE_NODES = layout.DONE, layout.FOREIGN, layout.MORE_NODES
_TEXT, _COMMENT, _INSTRUCTION = layout.TEXT, layout.COMMENT, layout.INSTRUCTION
_FIRST_NAME, _OTHER_ELEMENT, _OTHER_ATTRIBUTE = layout.FIRST_NAME, layout.OTHER_ELEMENT, layout.OTHER_ATTRIBUTE
_LT, _GT, _AMP, _SLASH, _BANG, _QUESTION, _EQUALS = 60, 62, 38, 47, 33, 63, 61
_QUOTE, _APOSTROPHE, _DASH, _OPEN, _CLOSE, _COLON = 34, 39, 45, 91, 93, 58
_SPACE, _RETURN = 32, 13
_END_OF_CDATA = np.array([_CLOSE, _CLOSE, _GT], np.uint8)
_END_OF_COMMENT = np.array([_DASH, _DASH, _GT], np.uint8)
_END_OF_INSTRUCTION = np.array([_QUESTION, _GT, 0], np.uint8)
_CDATA = np.frombuffer(b"<![CDATA[", np.uint8).copy()
_XML_NAMESPACE = np.frombuffer(XML_NAMESPACE.encode(), np.uint8).copy()


@compiled
def name_number(plan, data, start, end):  # type: ignore[no-untyped-def]
    """The number of a name that somebody asks for, or -1."""
    places, starts, names = int32s(plan, P.name_places), int64s(plan, P.name_start), uint8s(plan, P.name_data)
    found = HASH_START
    for at in range(start, end):
        found = hash_step(found, data[at])
    place = home(hash_end(found), len(places))
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
        place = (place + 1) & (len(places) - 1)
    return -1


@compiled
def number_in(plan, found, space, first, size, data, start, end):  # type: ignore[no-untyped-def]
    """The same of a name in the namespace space[first : first + size], whose {namespace} has the hash `found`."""
    places, starts, names = int32s(plan, P.name_places), int64s(plan, P.name_start), uint8s(plan, P.name_data)
    for at in range(start, end):
        found = hash_step(found, data[at])
    place = home(hash_end(found), len(places))
    while places[place] >= 0:
        number = np.int64(places[place])
        at = starts[number]
        if (
            starts[number + 1] - at == size + 2 + end - start
            and names[at] == OPENING
            and names[at + 1 + size] == CLOSING
            and same_bytes(names, at + 1, space, first, size)
            and same_bytes(names, at + size + 2, data, start, end - start)
        ):
            return number
        place = (place + 1) & (len(places) - 1)
    return np.int64(-1)


@compiled
def number_declared(plan, data, place, start, end, spaces):  # type: ignore[no-untyped-def]
    """The same by the place of a declaration."""
    found, first, size = np.uint64(spaces[place + SPACE_HASH]), spaces[place + SPACE_START], spaces[place + SPACE_SIZE]
    return number_in(plan, found, data, first, size, data, start, end)


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
        if CLASS[byte] & IN_TEXT:
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
            size = copy_character(data, at, end, values, to)
            if size == 0:
                return -1
            to += 1 if byte == _RETURN else size
            at += size
    used[_TEXTS] = to
    return at


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
        size = copy_character(data, at, end, values, to)
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
        if CLASS[byte] & IN_VALUE:
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
            size = 0 if byte == _LT else copy_character(data, at, end, values, to)
            if size == 0:
                return -1
            if is_space(byte):
                values[to] = _SPACE
                to += 1
            else:
                to += size
            at += size
    return -1


@compiled
def attributes(plan, nodes, data, at, end, element, names, spaces):  # type: ignore[no-untyped-def]
    """All attributes of a start tag, from behind its name to its > or />; `names` is room for their places.

    What declares a namespace is no node, and goes to `spaces`. Prefixes are looked up when all of them are read.
    """
    used, symbols, count = int64s(nodes, N.used), int32s(nodes, N.symbol), np.int64(0)
    while True:
        start = skip_space(data, at, end)
        if start >= end:
            return -1
        if data[start] == _GT or data[start] == _SLASH:
            return start if _look_up_prefixes(plan, nodes, data, element, names, count, spaces) else -1
        behind = tag_end(data, start, end)
        if start == at or behind <= start or count == MOST_ATTRIBUTES or _is_twice(data, names, count, start, behind):
            return -1
        count += 1
        value = skip_space(data, behind, end)
        if value >= end or data[value] != _EQUALS:
            return -1
        value = skip_space(data, value + 1, end)
        to = used[_ASIDE]
        at = attribute_value(nodes, data, value, end) if value < end else -1
        if at < 0:
            return -1
        if is_declaration(data, start, behind):
            if not declare(data, start, behind, value + 1, at - 1, spaces):
                return -1
            used[_ASIDE] = to
        else:
            node = add_node(nodes, np.int64(_OTHER_ATTRIBUTE), element, to, used[_ASIDE] - to)
            if names[_OF_NAME * (count - 1) + _LOCAL] == start:  # no prefix
                symbols[node] = _FIRST_NAME + 1 + 2 * name_number(plan, data, start, behind)


@compiled
def _is_twice(data, names, count, start, end):  # type: ignore[no-untyped-def]
    """Whether an element has an attribute with this name already, or maybe: behind another prefix. Else it is noted."""
    local = start
    for at in range(start, end):
        if data[at] == _COLON:
            local = at + 1
    for i in range(count):
        place = _OF_NAME * i
        first, other = names[place + _NAME], names[place + _LOCAL]
        size = first + names[place + _NAME_SIZE] - other
        # Without prefixes the names must differ; with one on each side, what is behind it must.
        if size == end - local and (other == first) == (local == start):
            same = True
            for j in range(size):
                if data[other + j] != data[local + j]:
                    same = False
                    break
            if same:
                return True
    place = _OF_NAME * count
    names[place + _NAME], names[place + _NAME_SIZE], names[place + _LOCAL] = start, end - start, local
    return False


@compiled
def _look_up_prefixes(plan, nodes, data, element, names, count, spaces):  # type: ignore[no-untyped-def]
    """Gives attributes with a prefix their symbols; False if a prefix is not declared."""
    symbols, node = int32s(nodes, N.symbol), np.int64(element)
    for i in range(count):
        place = _OF_NAME * i
        start, local = names[place + _NAME], names[place + _LOCAL]
        end = start + names[place + _NAME_SIZE]
        if is_declaration(data, start, end):
            continue
        node += 1
        if local == start:
            continue
        if is_of_xml(data, start, end):
            first, size = np.int64(0), np.int64(len(_XML_NAMESPACE))
            number = number_in(plan, braced(_XML_NAMESPACE, first, size), _XML_NAMESPACE, first, size, data, local, end)
        else:
            place = declared(data, start, local - 1, spaces)
            if place == 0:
                return False
            number = number_declared(plan, data, place, local, end, spaces)
        symbols[node] = _FIRST_NAME + 1 + 2 * number
    return True


@compiled
def start_tag(plan, nodes, data, at, end, parent, behind, names, spaces):  # type: ignore[no-untyped-def]
    """An element from its `<`, whose name ends at `behind`, to its > or />: the place of that sign, or -1."""
    used = int64s(nodes, N.used)
    element = add_node(nodes, np.int64(_OTHER_ELEMENT), parent, used[_TEXTS], np.int64(0))
    stop = attributes(plan, nodes, data, behind, end, element, names, spaces)
    if stop < 0:
        return -1
    colon = at + 1
    while colon < behind and data[colon] != _COLON:
        colon += 1
    local = at + 1 if colon == behind else colon + 1
    place = declared(data, at + 1, max(at + 1, local - 1), spaces)
    if place > 0:
        number = number_declared(plan, data, place, local, behind, spaces)
    elif local == at + 1:  # the empty prefix: no namespace for names without one
        number = name_number(plan, data, at + 1, behind)
    else:
        return -1
    int32s(nodes, N.symbol)[element] = _FIRST_NAME + 2 * number
    return stop


@compiled
def scan(plan, nodes, data, start, end, raw):  # type: ignore[no-untyped-def]
    """Reads the document data[start:end] into `nodes`: DONE, FOREIGN, or MORE_NODES where they do not fit.

    Elements are opened and closed in here: a function of its own for that makes reading take a sixth longer.
    """
    used = int64s(nodes, N.used)
    used[_NODES], used[_DEEP], used[_TEXTS], used[_ASIDE] = 0, 0, 0, end - start
    at = -1 if end - start > LARGEST else declaration(data, start, end, raw)
    if at < 0:
        return _FOREIGN
    add_node(nodes, np.int64(layout.DOCUMENT), np.int64(-1), np.int64(0), np.int64(0))
    tags = np.empty(2 * DEEPEST + 2, np.int64)  # where the names of open elements stand, and their sizes
    room = len(int32s(nodes, N.symbol)) - MOST_ATTRIBUTES - 2
    inside, text, roots, doctypes = np.int64(0), np.int64(-1), 0, 0
    open_nodes, names = np.zeros(DEEPEST + 2, np.int64), np.empty(_OF_NAME * MOST_ATTRIBUTES, np.int64)
    spaces = np.zeros(SPACES, np.int64)
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
            close_scope(spaces, inside)
            inside -= 1
        elif data[at + 1] == _BANG or data[at + 1] == _QUESTION:
            if is_doctype(data, at, end):
                at = doctype(data, at, end) if roots + doctypes == 0 else -1
                doctypes = 1
            else:
                at = aside(nodes, data, at, end, open_nodes[inside])
        else:
            behind = tag_end(data, at + 1, end)
            if behind <= at + 1 or inside == DEEPEST or (inside == 0 and roots == 1):
                return _FOREIGN
            roots, parent = 1, open_nodes[inside]
            inside += 1
            open_nodes[inside], tags[2 * inside], tags[2 * inside + 1] = used[_NODES], at + 1, behind - at - 1
            used[_DEEP] = max(used[_DEEP], inside)
            spaces[CURRENT_DEPTH] = inside
            at = start_tag(plan, nodes, data, at, end, parent, behind, names, spaces)
            if at >= 0 and data[at] == _SLASH:
                at = at + 1 if at + 1 < end and data[at + 1] == _GT else -1
                int32s(nodes, N.end)[open_nodes[inside]] = used[_NODES]
                close_scope(spaces, inside)
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
