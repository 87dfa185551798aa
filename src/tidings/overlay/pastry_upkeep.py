"""How Pastry's tables are filled and kept: arrival, departure, repair and maintenance, message by message.

Arrival and repair as published (Rowstron and Druschel 2001, 2.4 and 2.5). What a node hears of others it tries before
it takes it in, so that those who are gone do not live on in hearsay. Where the paper picks an entry at random, entries
take turns here: a round looks at one entry of each row, and enough rounds at all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tidings.overlay.network import IDENTIFIER_BYTES, Process, Send
from tidings.overlay.pastry_node import PastryNode

if TYPE_CHECKING:
    from tidings.overlay.pastry import Pastry


def joining(overlay: Pastry, node: int, via: int) -> Process[bool]:
    """Rows from the nodes on the way to the closest one, its leaf set, the first one's neighbourhood; then all hear."""
    state = overlay.enter(node)
    path: tuple[int, ...] = ()
    if (yield Send("join", node, via, IDENTIFIER_BYTES)):
        route = yield from overlay.forwarding_join(via, node)
        path = route.path if route.delivered else ()
    if not path:
        if overlay.network.is_up(node):
            overlay.exit(node)
        return False
    rows_known = 0
    for hop in path:
        rows = range(rows_known, overlay.space.shared_digits(hop, node) + 1)
        rows_known = max(rows_known, rows.stop)
        told = _rows(overlay, hop, rows)
        told += tuple(overlay.state(hop).neighbours) if hop == path[0] and overlay.network.is_up(hop) else ()
        told += overlay.state(hop).leaf_set.members() if hop == path[-1] and overlay.network.is_up(hop) else ()
        if (yield Send("state", hop, node, IDENTIFIER_BYTES * len(told))):
            for other in (hop, *told):
                state.learn(other)
    yield from _announcing(overlay, node)
    yield from _refilling(overlay, node, ahead=True)
    yield from _refilling(overlay, node, ahead=False)
    return True


def _rows(overlay: Pastry, node: int, rows: Iterable[int]) -> tuple[int, ...]:
    if not overlay.network.is_up(node):
        return ()
    table = overlay.state(node).rows
    return tuple(entry for row in rows if row < len(table) for entry in table[row].values())


def _announcing(overlay: Pastry, node: int) -> Process[None]:
    """The new node sends its tables to all that it knows; those who get them know it from then on."""
    known = overlay.state(node).known() if overlay.network.is_up(node) else ()
    for other in known:
        if (yield Send("announce", node, other, IDENTIFIER_BYTES * len(known))):
            overlay.learn(other, node)
        else:
            overlay.missed(node, other)


def leaving(overlay: Pastry, node: int) -> Process[None]:
    """The leaf set is told, with the leaf set in which each finds who moves up. Others will miss it in time."""
    members = overlay.state(node).leaf_set.members()
    reached = {}
    for other in members:
        reached[other] = yield Send("farewell", node, other, IDENTIFIER_BYTES * len(members))
    if overlay.network.is_up(node):
        overlay.exit(node)
    for other in members:
        if reached[other] and overlay.network.is_up(other):
            overlay.state(other).forget(node)
            yield from _trying(overlay, other, members)


def repairing(overlay: Pastry, node: int, gone: int, sides: tuple[bool, ...], lost_entry: bool) -> Process[None]:
    """After `gone` was forgotten: the ends of the leaf set, and the row that had it, are asked for another."""
    for ahead in sides:
        yield from _refilling(overlay, node, ahead=ahead)
    if not lost_entry:
        return
    row = overlay.space.shared_digits(node, gone)
    digit = overlay.space.digit(gone, row)
    for level in range(row, min(row + 2, overlay.space.length)):
        mates = tuple(overlay.state(node).rows[level].values()) if overlay.network.is_up(node) else ()
        for mate in mates:
            if overlay.knows_entry(node, row, digit):
                return
            told = yield from _asking(overlay, node, mate, "entry", lambda other: _entry(other, row, digit))
            yield from _trying(overlay, node, told)


def _entry(state: PastryNode, row: int, digit: int) -> tuple[int, ...]:
    held = state.rows[row].get(digit)
    return () if held is None else (held,)


def _refilling(overlay: Pastry, node: int, *, ahead: bool) -> Process[None]:
    """The live node that is farthest on a side of the leaf set is asked for its own, while that side is not full."""
    asked: set[int] = set()
    while overlay.network.is_up(node):
        leaf_set = overlay.state(node).leaf_set
        side = leaf_set.larger if ahead else leaf_set.smaller
        if len(side) >= leaf_set.half or not side or side[-1] in asked:
            return
        asked.add(side[-1])
        told = yield from _asking(overlay, node, side[-1], "leaf set", lambda other: other.leaf_set.members())
        yield from _trying(overlay, node, told)


def stabilising(overlay: Pastry, node: int) -> Process[None]:
    """Signs of life from the leaf set; leaf sets of both neighbours; an entry of each row and a neighbour asked."""
    state = overlay.state(node)
    state.round += 1
    for other in state.leaf_set.members():
        yield from _probing(overlay, node, other)
    for other in _partners(state):
        told = yield from _asking(overlay, node, other, "leaf set", lambda other: other.leaf_set.members())
        yield from _trying(overlay, node, told)
        yield from _asking_rows(overlay, node, other)
    for row in range(overlay.space.length):
        entry = _in_turn(sorted(state.rows[row].values()), state.round)
        if entry is not None:
            yield from _asking_rows(overlay, node, entry)
    neighbour = _in_turn(state.neighbours, state.round)
    if neighbour is not None:
        told = yield from _asking(overlay, node, neighbour, "neighbourhood", lambda other: tuple(other.neighbours))
        yield from _trying(overlay, node, told)


def _partners(state: PastryNode) -> list[int]:
    leaf_set = state.leaf_set
    in_turn = _in_turn(leaf_set.members(), state.round)
    chosen = (*leaf_set.smaller[:1], *leaf_set.larger[:1], *(() if in_turn is None else (in_turn,)))
    return list(dict.fromkeys(chosen))


def _in_turn(items: list[int] | tuple[int, ...], turn: int) -> int | None:
    return items[turn % len(items)] if items else None


def _probing(overlay: Pastry, node: int, other: int) -> Process[bool]:
    """Whether the other is there; if so, each knows the other from then on."""
    if (yield Send("probe", node, other)):
        overlay.learn(node, other)
        overlay.learn(other, node)
        return True
    overlay.missed(node, other)
    return False


def _trying(overlay: Pastry, node: int, candidates: Iterable[int]) -> Process[None]:
    """Takes in those candidates that a table has a place for and that are there."""
    for candidate in candidates:
        if overlay.network.is_up(node) and overlay.state(node).wants(candidate):
            yield from _probing(overlay, node, candidate)


def _asking_rows(overlay: Pastry, node: int, other: int) -> Process[None]:
    """The rows that both have in common: those that a shared beginning of digits gives the same meaning."""
    rows = range(overlay.space.shared_digits(node, other) + 1)
    told = yield from _asking(
        overlay, node, other, "rows", lambda state: tuple(entry for row in rows for entry in state.rows[row].values())
    )
    yield from _trying(overlay, node, told)


def _asking(
    overlay: Pastry, node: int, other: int, kind: str, answer: Callable[[PastryNode], tuple[int, ...]]
) -> Process[tuple[int, ...]]:
    """A question and its answer, two messages; no answer is an empty one."""
    if not (yield Send(f"ask {kind}", node, other)):
        overlay.missed(node, other)
        return ()
    overlay.learn(other, node)
    told = answer(overlay.state(other)) if overlay.network.is_up(other) else ()
    return told if (yield Send(kind, other, node, IDENTIFIER_BYTES * len(told))) else ()
