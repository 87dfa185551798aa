"""How Chord's circle is kept: arrival, departure, stabilisation and the looking up of fingers, message by message.

As published (Stoica et al. 2003, IV.E and IV.F), with what Zave ("How to make Chord correct", 2015) found missing: a
node enters with its successor's list, takes over the list of a nearer successor together with it, and gives up a
predecessor that is gone as soon as another one offers itself. One step more than published: who comes or goes asks its
predecessors, as many as a successor list is long, to look at their lists at once. So the next failure finds them right,
and lookups do not depend on when the next round of maintenance is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.overlay.network import IDENTIFIER_BYTES, Process, Send

if TYPE_CHECKING:
    from tidings.overlay.chord import Chord


def joining(overlay: Chord, node: int, via: int) -> Process[bool]:
    """Finds the successor and takes its tables as a beginning; then the two neighbours hear of the new node."""
    overlay.enter(node)
    path: tuple[int, ...] = ()
    if (yield Send("join", node, via, IDENTIFIER_BYTES)):
        route = yield from overlay.forwarding_join(via, node)
        path = route.path if route.delivered else ()
    if not path or not (yield from _learning_from(overlay, node, path[-1])):
        if overlay.network.is_up(node):
            overlay.exit(node)
        return False
    before = path[-2] if len(path) > 1 else path[-1]
    yield from _notifying(overlay, node, path[-1])
    if (yield Send("refresh", node, before)):
        yield from _refreshing(overlay, before)
    return True


def _learning_from(overlay: Chord, node: int, successor: int) -> Process[bool]:
    if not overlay.network.is_up(successor):
        return False
    state = overlay.state(successor)
    known = {successor, *state.successors, *(finger for finger in state.fingers if finger is not None)}
    if not (yield Send("state", successor, node, IDENTIFIER_BYTES * len(known))):
        return False
    overlay.state(node).follow(successor, state.successors)
    overlay.state(node).hint_fingers(known)
    return True


def _notifying(overlay: Chord, node: int, successor: int) -> Process[None]:
    """The successor takes the node for its predecessor if it is nearer than the one it has, or if that one is gone."""
    if not (yield Send("notify", node, successor, IDENTIFIER_BYTES)):
        overlay.missed(node, successor)
        return
    state = overlay.state(successor)
    state.notified_by(node)
    held = state.predecessor
    if held is not None and held != node and not (yield Send("probe", successor, held)):
        overlay.missed(successor, held)
        state.notified_by(node)


def _refreshing(overlay: Chord, first: int) -> Process[None]:
    """One predecessor after the other, from `first` on, looks at its successors; each asks the one before it."""
    here: int | None = first
    for _ in range(overlay.successors):
        if here is None:
            return
        yield from updating_successors(overlay, here)
        here = yield from _reaching_predecessor(overlay, here, "refresh")


def _reaching_predecessor(overlay: Chord, node: int, kind: str, payload_bytes: int = 0) -> Process[int | None]:
    """A message to the predecessor; where it is gone, around the circle to who has the node for its successor now."""
    before = overlay.state(node).predecessor if overlay.network.is_up(node) else None
    if before is not None:
        if (yield Send(kind, node, before, payload_bytes)):
            return before
        overlay.missed(node, before)
    if not overlay.network.is_up(node):
        return None
    route = yield from overlay.forwarding_around(node, kind, payload_bytes)
    return route.path[-2] if route.delivered and route.hops > 0 else None


def leaving(overlay: Chord, node: int) -> Process[None]:
    """Predecessor and successor are told of each other."""
    before = yield from _reaching_predecessor(overlay, node, "farewell", IDENTIFIER_BYTES * overlay.successors)
    after = yield from _reaching_successor(overlay, node, "farewell", IDENTIFIER_BYTES)
    successors = tuple(overlay.state(node).successors) if overlay.network.is_up(node) else ()
    if overlay.network.is_up(node):
        overlay.exit(node)
    if after is not None and overlay.network.is_up(after):
        overlay.state(after).forget(node)
        if before is not None and before != after:
            overlay.state(after).notified_by(before)
    if before is not None and overlay.network.is_up(before):
        overlay.state(before).forget(node)
        overlay.state(before).follow(*_chain(overlay, before, successors))
        yield from _refreshing(overlay, before)


def _reaching_successor(overlay: Chord, node: int, kind: str, payload_bytes: int) -> Process[int | None]:
    while overlay.network.is_up(node):
        after = overlay.state(node).successor()
        if after is None or (yield Send(kind, node, after, payload_bytes)):
            return after
        overlay.missed(node, after)
    return None


def _chain(overlay: Chord, node: int, left_behind: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """The list of the node that left, or, where that one knew nobody else, what is left of one's own."""
    chain = left_behind or tuple(overlay.state(node).successors) or (node,)
    return chain[0], chain[1:]


def stabilising(overlay: Chord, node: int) -> Process[None]:
    """A sign of life from the predecessor; the successor asked and notified; one finger looked up."""
    predecessor = overlay.state(node).predecessor
    if predecessor is not None and not (yield Send("probe", node, predecessor)):
        overlay.missed(node, predecessor)
    yield from updating_successors(overlay, node)
    if overlay.network.is_up(node):
        yield from _fixing_finger(overlay, node)


def updating_successors(overlay: Chord, node: int) -> Process[None]:
    """The first successor that answers is followed, or its predecessor where that is nearer; and notified."""
    while overlay.network.is_up(node):
        successor = overlay.state(node).successor()
        if successor is None:
            return
        if not (yield from _following(overlay, node, successor)):
            continue
        nearer = overlay.state(successor).predecessor if overlay.network.is_up(successor) else None
        if nearer is not None and 0 < overlay.state(node).ahead(nearer) < overlay.state(node).ahead(successor):
            if (yield from _following(overlay, node, nearer)):
                successor = nearer
            else:
                yield from _following(overlay, node, successor)
        yield from _notifying(overlay, node, successor)
        return


def _following(overlay: Chord, node: int, successor: int) -> Process[bool]:
    """Asks a node for its predecessor and successors, and takes it as successor; False if it does not answer."""
    if not (yield Send("ask successors", node, successor)):
        overlay.missed(node, successor)
        return False
    its_successors = tuple(overlay.state(successor).successors) if overlay.network.is_up(successor) else ()
    if not (yield Send("successors", successor, node, IDENTIFIER_BYTES * (1 + len(its_successors)))):
        overlay.missed(node, successor)
        return False
    overlay.state(node).follow(successor, its_successors)
    return True


def _fixing_finger(overlay: Chord, node: int) -> Process[None]:
    state = overlay.state(node)
    number = state.next_finger
    state.next_finger = (number + 1) % len(state.fingers)
    route = yield from overlay.routing(node, state.finger_start(number), "finger", IDENTIFIER_BYTES)
    if route.delivered and (yield Send("finger found", route.end, node, IDENTIFIER_BYTES)):
        state.set_finger(number, route.end)
