"""The sets of states that an engine has met: they grow with the documents, up to a bound of memory.

Arrays double when a set does not fit, and the document is begun anew with what was kept of it. When they may not any
more, what is kept stays, and other sets are worked out for each node anew. Once more nodes had to than there are sets,
these may be of documents that do not come any more, and the engine begins afresh: at worst it works out twice as much
as without keeping anything, and odd documents slow it for a while only.
"""

from __future__ import annotations

import numpy as np

from tidings.index.layout import Array
from tidings.index.views import directory
from tidings.index.xml.automaton import begin, refill, refill_moves
from tidings.index.xml.layout import (
    KINDS_OF_TEST,
    MAY_GROW,
    MEMBERS,
    MOVES,
    SETS,
    TESTS,
    WANTED,
    WANTED_TESTS,
    WORDS,
    Lazy,
)

ROW = KINDS_OF_TEST + 1
DEFAULT_MEMORY = 256 * 1024 * 1024  # bytes
_SMALLEST = {"sets": 256, "members": 4_096, "words": 4_096, "tests": 1_024, "moves": 1_024}
_NONE = {"sets": 3, "members": 3, "words": 3, "tests": 3, "moves": 2}  # but the empty one and the document's


class KeptSets:
    """The arrays, and their directory, which changes when they grow."""

    __slots__ = ("_memory", "_refused_at", "directory", "lazy")

    def __init__(self, plan: Array, run: Array, memory: int) -> None:
        self._memory = memory
        self._refused_at: int | None = None  # nodes worked out anew when it was first not allowed to grow
        fits = _bytes(**_SMALLEST) <= memory
        sizes = dict(_SMALLEST if fits else _NONE)
        while True:
            self._take(_allocated(**sizes))
            begin(plan, self.directory, run)
            used = self.lazy.used
            if used[SETS] == 2:
                break
            sizes["tests"] = int(used[WANTED_TESTS])  # the document's own may have any number
        used[MAY_GROW] = fits

    def is_outgrown(self, unkept: int) -> bool:
        """Whether more nodes have been worked out anew than sets are kept, of so many since the engine was made."""
        return self._refused_at is not None and unkept - self._refused_at > self.lazy.used[SETS]

    def grow(self, unkept: int) -> None:
        """Doubles what is more than half full or too small, if the bound allows it; else notes that it may not grow.

        `unkept` nodes have been worked out anew since the engine was made.
        """
        old = self.lazy
        sizes = {
            "sets": _doubled(len(old.seen), old.used[SETS], 0),
            "members": _doubled(len(old.members), old.used[MEMBERS], old.used[WANTED]),
            "words": _doubled(len(old.word), old.used[WORDS], old.used[WANTED]),
            "tests": _doubled(len(old.test_atom), old.used[TESTS], old.used[WANTED_TESTS]),
            "moves": _doubled(len(old.move_key), 2 * old.used[MOVES], 0),
        }
        if _bytes(**sizes) > self._memory:
            old.used[MAY_GROW] = 0
            self._refused_at = unkept
            return
        new = _allocated(**sizes)
        for name in (
            "first",
            "members",
            "words",
            "word",
            "bits",
            "row",
            "test_kind",
            "test_key",
            "test_text",
            "test_atom",
            "leads",
            "seen",
            "used",
        ):
            array = getattr(old, name)
            getattr(new, name)[: len(array)] = array
        new.used[WANTED], new.used[WANTED_TESTS] = 0, 0
        self._take(new)
        refill(self.directory)
        refill_moves(new.move_key, new.move_target, old.move_key, old.move_target)

    def _take(self, lazy: Lazy) -> None:
        self.lazy = lazy
        self.directory = directory(lazy)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.lazy)


def _doubled(size: int, used: int, wanted: int) -> int:
    """At least twice what is used, and room for what did not fit."""
    while 2 * int(used) > size or int(used) + int(wanted) > size:
        size *= 2
    return size


def _bytes(sets: int, members: int, words: int, tests: int, moves: int) -> int:
    return sets * (3 * 8 + 3 * 4 + 1 + 8 * ROW) + members * 4 + words * 12 + tests * 16 + moves * 12


def _allocated(sets: int, members: int, words: int, tests: int, moves: int) -> Lazy:
    used = np.zeros(9, np.int64)
    used[MAY_GROW] = 1
    return Lazy(
        first=np.zeros(sets + 1, np.int64),
        members=np.zeros(members, np.int32),
        words=np.zeros(sets + 1, np.int64),
        word=np.zeros(words, np.int32),
        bits=np.zeros(words, np.uint64),
        row=np.zeros(sets, np.int32),
        test_kind=np.zeros(sets * ROW, np.int64),
        test_key=np.zeros(tests, np.int64),
        test_text=np.zeros(tests, np.int32),
        test_atom=np.zeros(tests, np.int32),
        leads=np.zeros(sets, np.uint8),
        places=np.full(max(4, 2 * sets) & ~3, -1, np.int32),
        move_key=np.full(moves, -1, np.int64),
        move_target=np.full(moves, -1, np.int32),
        seen=np.zeros(sets, np.int64),
        used=used,
    )
