"""What one peer keeps of the trees: Tnodes with their pointers and lists, and parts of Tnodes that were too full.

A Tnode is named by its replica forest and its label. Pointers are addresses of peers. Beside its children a Tnode knows
the copies of itself and of its children in the other forests, its siblings, and for each child the peer of one of that
child's children: what repair needs (paper 1, 3.5).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from tidings.model.predicates import Conjunction
from tidings.systems.pastry_strings.places import Label, ListName

Entries: TypeAlias = dict[Hashable, Conjunction]  # what is stored, and what an event must satisfy to be given it


class Name(NamedTuple):
    replica: int
    label: Label


class Pointer(NamedTuple):
    """The Tnode with this digit at the end of its label, and the peer that hosts it."""

    digit: int
    peer: int


class Lists:
    """The four lists of each attribute, as far as there is something in them."""

    __slots__ = ("_lists",)

    def __init__(self) -> None:
        self._lists: dict[ListName, Entries] = {}

    def __len__(self) -> int:
        return sum(map(len, self._lists.values()))

    def add(self, name: ListName, entry: Hashable, check: Conjunction) -> None:
        self._lists.setdefault(name, {})[entry] = check

    def remove(self, name: ListName, entry: Hashable) -> bool:
        entries = self._lists.get(name, {})
        found = entries.pop(entry, None) is not None
        if found and not entries:
            del self._lists[name]
        return found

    def entries(self, name: ListName) -> Entries:
        return self._lists.get(name, {})

    def everything(self) -> Iterator[tuple[ListName, Hashable, Conjunction]]:
        for name, entries in self._lists.items():
            for entry, check in entries.items():
                yield name, entry, check


@dataclass(slots=True)
class Tnode:
    name: Name
    parent: int | None  # None: the root of a tree
    copies: dict[int, int]  # by replica, itself too
    children: dict[int, dict[int, int]] = field(default_factory=dict)  # by digit, then by replica
    descendants: dict[int, Pointer] = field(default_factory=dict)  # by the child's digit: its leftmost child
    left: Pointer | None = None
    right: Pointer | None = None
    lists: Lists = field(default_factory=Lists)
    parts: dict[int, int] = field(default_factory=dict)  # peers that keep what did not fit, and how much

    def child(self, digit: int) -> int | None:
        """The peer of a child in the same forest."""
        return self.children.get(digit, {}).get(self.name.replica)


@dataclass(slots=True)
class Part:
    """What a full Tnode has put elsewhere; `primary` is the peer of that Tnode."""

    primary: int
    lists: Lists = field(default_factory=Lists)


@dataclass(slots=True)
class Peer:
    tnodes: dict[Name, Tnode] = field(default_factory=dict)
    parts: dict[Name, Part] = field(default_factory=dict)

    def replicas_of(self, label: Label, replicas: int) -> set[int]:
        """In which forests this peer keeps something of the label."""
        return {r for r in range(replicas) if (r, label) in self.tnodes or (r, label) in self.parts}

    def stored(self) -> int:
        held = (*(tnode.lists for tnode in self.tnodes.values()), *(part.lists for part in self.parts.values()))
        return sum(map(len, held))
