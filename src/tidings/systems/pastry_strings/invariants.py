"""What must hold of a forest when nobody came or went since it was healed."""

from __future__ import annotations

from collections.abc import Hashable

from tidings.systems.pastry_strings.forest import Forest
from tidings.systems.pastry_strings.places import Label, ListName
from tidings.systems.pastry_strings.tnode import Pointer, Tnode


def check_forest(forest: Forest) -> None:
    assert forest.peers.keys() == set(forest.overlay.nodes), "a peer that is gone still keeps something"
    hosts: dict[Label, dict[int, int]] = {}
    for peer, tnode in forest.tnodes():
        replica, label = tnode.name
        assert len(label) <= forest.settings.depth, f"{tnode.name} is deeper than {forest.settings.depth}"
        assert replica not in hosts.setdefault(label, {}), f"{tnode.name} is at two peers"
        hosts[label][replica] = peer
    for label, copies in hosts.items():
        assert copies.keys() == set(range(forest.settings.replicas)), f"{label} is only in the forests {set(copies)}"
        if len(label) <= 1:
            assert copies == forest.root_hosts(label), f"the roots of {label} are at {copies}"
        else:
            assert label[:-1] in hosts, f"{label} has no parent"
        contents = [_contents(forest, forest.known(peer, replica, label)) for replica, peer in copies.items()]
        assert all(content == contents[0] for content in contents), f"the forests differ at {label}"
    for peer, tnode in forest.tnodes():
        _check_pointers(forest, peer, tnode, hosts)
    _check_parts(forest)


def _contents(forest: Forest, tnode: Tnode) -> set[tuple[ListName, Hashable]]:
    held = [tnode.lists, *(forest.peers[peer].parts[tnode.name].lists for peer in tnode.parts)]
    found = [(name, entry) for lists in held for name, entry, _ in lists.everything()]
    assert len(found) == len(set(found)), f"{tnode.name} holds an entry twice"
    return set(found)


def _check_pointers(forest: Forest, peer: int, tnode: Tnode, hosts: dict[Label, dict[int, int]]) -> None:
    replica, label = tnode.name
    assert tnode.copies == hosts[label], f"{tnode.name} at {peer} takes its copies to be at {tnode.copies}"
    children = {other[-1]: at for other, at in hosts.items() if len(label) > 0 and other[:-1] == label and other}
    assert tnode.children == children, f"{tnode.name} at {peer} has children {tnode.children}, not {children}"
    for digit in children:
        below = sorted(other[-1] for other in hosts if other[:-1] == (*label, digit))
        expected = Pointer(below[0], hosts[*label, digit, below[0]][replica]) if below else None
        assert tnode.descendants.get(digit) == expected, f"{tnode.name} points to {tnode.descendants}, not {expected}"
    if len(label) <= 1:
        assert tnode.parent is None, f"the root {tnode.name} has a parent"
        return
    assert tnode.parent == hosts[label[:-1]][replica], f"{tnode.name} takes {tnode.parent} for its parent's peer"
    siblings = sorted(other[-1] for other in hosts if len(other) == len(label) and other[:-1] == label[:-1])
    at = siblings.index(label[-1])
    for pointer, place in ((tnode.left, at - 1), (tnode.right, at + 1)):
        sibling: Pointer | None = None
        if 0 <= place < len(siblings):
            sibling = Pointer(siblings[place], hosts[*label[:-1], siblings[place]][replica])
        assert pointer == sibling, f"{tnode.name} has the sibling {pointer}, not {sibling}"


def _check_parts(forest: Forest) -> None:
    fullest = forest.settings.fullest
    for peer, state in forest.peers.items():
        for name, part in state.parts.items():
            primary = forest.tnode(part.primary, *name)
            assert primary is not None, f"the part of {name} at {peer} has no Tnode"
            assert primary.parts.get(peer) == len(part.lists), f"{name} takes its part at {peer} to be of another size"
            assert 0 < len(part.lists) <= (fullest or 0), f"a part of {name} with {len(part.lists)} entries"
        labels = {name.label for name in (*state.tnodes, *state.parts)}
        for label in labels:
            forests = state.replicas_of(label, forest.settings.replicas)
            assert len(forests) == 1, f"{peer} keeps {label} for {len(forests)} forests"
    for _, tnode in forest.tnodes():
        for peer in tnode.parts:
            assert tnode.name in forest.peers[peer].parts, f"{tnode.name} points to a part at {peer} that is not there"
