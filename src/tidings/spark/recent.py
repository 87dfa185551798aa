"""What was used last: as many things as one keeps, and all that somebody still needs.

Threads share it, since each stream of a driver runs its batches in one of its own: what two of them want is made once,
and nobody waits for a thing that another one wants.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
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
        self._making: set[K] = set()
        self._changing = Condition()

    def get(self, key: K, make: Callable[[], V], use: Callable[[V], None] = lambda _: None) -> V:
        """The same thing as long as it is kept, or one that is made now. `use` makes it needed before another thread
        can have it dropped."""
        with self._changing:
            self._changing.wait_for(lambda: key not in self._making)
            if key in self._kept:
                return self._used(key, self._kept.pop(key), use)
            self._making.add(key)
        try:
            made = make()
            with self._changing:
                return self._used(key, made, use)
        finally:
            with self._changing:
                self._making.remove(key)
                self._changing.notify_all()

    def drop(self, test: Callable[[V], bool]) -> None:
        """Drops those that nobody needs and that the test says."""
        with self._changing:
            for key in self._spare():
                if test(self._kept[key]):
                    self._drop(self._kept.pop(key))

    def values(self) -> list[V]:
        with self._changing:
            return list(self._kept.values())

    def clear(self) -> None:
        with self._changing:
            self._kept.clear()

    def _used(self, key: K, thing: V, use: Callable[[V], None]) -> V:
        use(thing)
        self._kept[key] = thing
        spare = self._spare()
        for each in spare[: max(0, len(spare) - self._most)]:
            self._drop(self._kept.pop(each))
        return thing

    def _spare(self) -> list[K]:
        return [key for key, value in self._kept.items() if not self._needed(value)]
