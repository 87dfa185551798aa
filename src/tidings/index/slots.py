"""Slots: the places of events that an index reads. A slot is an attribute read as one type.

An event's number 5 fills the slot (price, number) and no other, so a predicate of another type simply finds its slot
empty: that is how "no coercion" costs nothing. `PRESENCE` is filled by any value that is there, for IS NULL. The slots
of *facts* are filled by engines (`facts`): with the numbers of the questions that hold of the attribute's texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum

from tidings.model.values import AttributeType

Path = tuple[str, ...]


class SlotType(IntEnum):
    NUMBER = 0
    STRING = 1
    BOOLEAN = 2
    TIMESTAMP = 3
    PRESENCE = 4
    BYTES = 5
    PATTERN = 6  # facts, from here on
    SIMILARITY = 7
    LATENT = 8
    XPATH = 9

    @property
    def is_of_facts(self) -> bool:
        return self >= SlotType.PATTERN


OF_TYPE = {
    AttributeType.NUMBER: SlotType.NUMBER,
    AttributeType.STRING: SlotType.STRING,
    AttributeType.BOOLEAN: SlotType.BOOLEAN,
    AttributeType.TIMESTAMP: SlotType.TIMESTAMP,
}


class Slots:
    """The slots of an index, numbered from 0 in the order in which they were first named."""

    def __init__(self, known: Iterable[tuple[Path, SlotType]] = ()) -> None:
        self._numbers: dict[tuple[Path, SlotType], int] = {}
        for path, kind in known:
            self.number(path, kind)

    def number(self, path: Path, kind: SlotType) -> int:
        """The number of a slot, which it gets now if it has none."""
        return self._numbers.setdefault((path, kind), len(self._numbers))

    def find(self, path: Path, kind: SlotType) -> int | None:
        return self._numbers.get((path, kind))

    def paths(self) -> tuple[Path, ...]:
        """The attributes that are read, each once."""
        return tuple(dict.fromkeys(path for path, _ in self._numbers))

    def __iter__(self) -> Iterator[tuple[Path, SlotType]]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)
