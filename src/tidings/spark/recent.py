"""What was used last: as many things as one keeps, and all that somebody still needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LastUsed(Generic[K, V]):
    """The last `most` things of those that nobody needs, by what they were made of; `drop` is told of the others."""

    def __init__(
        self, most: int, needed: Callable[[V], bool] = lambda _: False, drop: Callable[[V], None] = lambda _: None
    ) -> None:
        self._most = most
        self._needed = needed
        self._drop = drop
        self._kept: dict[K, V] = {}

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The same thing as long as it is kept, or one that is made now."""
        found = self._kept.pop(key) if key in self._kept else make()
        self._kept[key] = found
        spare = self._spare()
        for each in spare[: max(0, len(spare) - self._most)]:
            self._drop(self._kept.pop(each))
        return found

    def drop(self, test: Callable[[V], bool]) -> None:
        """Drops those that nobody needs and that the test says."""
        for key in self._spare():
            if test(self._kept[key]):
                self._drop(self._kept.pop(key))

    def values(self) -> list[V]:
        return list(self._kept.values())

    def clear(self) -> None:
        self._kept.clear()

    def _spare(self) -> list[K]:
        return [key for key, value in self._kept.items() if not self._needed(value)]
