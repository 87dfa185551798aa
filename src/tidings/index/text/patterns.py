"""The engine of `matches(...)`: which of a million text patterns hold of each text of a batch.

Exactly those of which `analysis.patterns.pattern_holds` is true. A conjunction is looked at only if its rarest word is
in the text (paper 4, section 3.1), and what the conjunctions under one word share is tested once (`pattern_kernels`).
A pattern of too many conjunctions is a program, which runs when a word that it needs is there (`program_kernels`).
What needs no word, such as a pattern of only NOTs, is asked of every text.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tidings.analysis.statistics import NO_STATISTICS, TextStatistics
from tidings.analysis.words import Analyser
from tidings.index.facts import Facts, Texts
from tidings.index.layout import Array
from tidings.index.text.chain_kernels import (
    ANSWERS,
    CANDIDATES,
    CHAINED_PREFIXES,
    STATES,
    TESTS,
    PatternArrays,
    PatternScratch,
)
from tidings.index.text.dictionary import Dictionary
from tidings.index.text.normalising import NormalPatterns
from tidings.index.text.pattern_building import Choice, built
from tidings.index.text.pattern_invariants import check_arrays
from tidings.index.text.pattern_kernels import PatternFacts, find_patterns
from tidings.index.text.reading_kernels import ReadTexts
from tidings.index.text.words import Reader
from tidings.index.views import directory
from tidings.language.parser import collecting_young_only
from tidings.model.text import TextPattern

_PREFIXES = "prefix_"  # before the names of the arrays of the dictionary of prefixes
_FIRST_ROOM = 1_024  # answers


@dataclass(frozen=True, slots=True)
class Cost:
    """What the last `find` of a thread took: conjunctions that stood under a word of a text, and tests of words and
    chains, fewer where conjunctions share them."""

    candidates: int = 0
    tests: int = 0


_NO_COST = Cost()


class PatternEngine:
    """`build` makes one, `from_arrays` opens one. Threads may share it."""

    def __init__(self, words: Dictionary, prefixes: Dictionary, arrays: PatternArrays, analyser: Analyser) -> None:
        self.words = words
        self.prefixes = prefixes
        self.kept = arrays
        self.analyser = analyser
        self.reader = Reader(words, analyser)
        self._directory = directory(arrays)
        self._of_thread = threading.local()

    @classmethod
    def build(
        cls,
        questions: Sequence[TextPattern],
        analyser: Analyser,
        statistics: TextStatistics = NO_STATISTICS,
        choice: Choice = "rarest",
    ) -> PatternEngine:
        """Question number n is fact number n. `choice` names the item that a conjunction stands under, see `Choice`."""
        patterns = NormalPatterns(analyser)
        for question in collecting_young_only(questions):
            patterns.add(question)
        return cls(*built(patterns, questions, statistics, choice), analyser)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], analyser: Analyser) -> PatternEngine:
        of_prefixes = {
            name.removeprefix(_PREFIXES): array for name, array in arrays.items() if name.startswith(_PREFIXES)
        }
        kept = PatternArrays(*(arrays[name] for name in PatternArrays._fields))
        return cls(Dictionary.from_arrays(arrays), Dictionary.from_arrays(of_prefixes), kept, analyser)

    def arrays(self) -> dict[str, Array]:
        of_prefixes = {_PREFIXES + name: array for name, array in self.prefixes.arrays().items()}
        return {**self.words.arrays(), **of_prefixes, **self.kept._asdict()}

    def find(self, texts: Texts) -> Facts:
        return self.find_read(texts, self.reader.read(texts))

    def find_read(self, texts: Texts, read: ReadTexts) -> Facts:
        """The same of texts that `reader` has read."""
        work = self._work
        work.begin(len(texts.start), int(np.diff(read.start).max(initial=0)))
        raw, words, text = texts.raw.astype(np.uint8), directory(read), 0
        while True:
            text = find_patterns(
                self._directory, self.prefixes.directory, words, raw, work.scratch_directory, work.facts_directory, text
            )
            if text == len(texts.start):
                break
            work.grow()
        start, fact = work.facts
        found = Facts(start, fact[: start[-1]].copy())
        self._of_thread.cost = Cost(int(work.scratch.state[CANDIDATES]), int(work.scratch.state[TESTS]))
        return found

    @property
    def cost(self) -> Cost:
        found: Cost = getattr(self._of_thread, "cost", _NO_COST)
        return found

    @property
    def candidates(self) -> int:
        return self.cost.candidates

    @property
    def _work(self) -> _Work:
        found: _Work | None = getattr(self._of_thread, "work", None)
        if found is None:
            found = self._of_thread.work = _Work(self.kept)
        return found

    def check(self) -> None:
        """Every invariant of the arrays."""
        self.words.check()
        self.prefixes.check()
        check_arrays(self.kept, len(self.words), len(self.prefixes))


class _Work:
    """What one thread's kernels write, kept from batch to batch."""

    def __init__(self, kept: PatternArrays) -> None:
        items, questions = len(kept.item_rows) // 4 - 1, int(kept.questions[0])
        self._prefix_lengths = len(kept.prefix_length)
        self.scratch = PatternScratch(
            there=np.zeros((items + 1) // 64 + 1, np.uint64),
            items=np.empty(items + 2, np.int32),
            kept=np.empty(items + 2, np.int32),
            nodes=np.empty(len(kept.child_bit) + 1, np.int32),
            prefixes=np.empty(len(kept.prefix_length), np.int32),
            occurrence_item=np.empty(0, np.int32),
            occurrence_place=np.empty(0, np.int32),
            occurrence_next=np.empty(0, np.int32),
            item_first=np.empty(items, np.int32),
            reached=np.empty(0, np.int32),
            memo=np.zeros(len(kept.chain_rows) // 6, np.int64),
            said=np.zeros(len(kept.program_first), np.int64),
            stamp=np.zeros(questions, np.int64),
            state=np.zeros(STATES, np.int64),
        )
        of_prefixes = kept.in_chains[kept.prefix_item >> 6] >> (kept.prefix_item & 63).astype(np.uint64)
        self.scratch.state[CHAINED_PREFIXES] = (of_prefixes & np.uint64(1)).any()
        self.facts = PatternFacts(np.zeros(1, np.int64), np.empty(_FIRST_ROOM, np.int32))

    def begin(self, texts: int, longest: int) -> None:
        """Room for a batch whose longest text has so many words."""
        self.scratch.state[[ANSWERS, CANDIDATES, TESTS]] = 0
        self._resize(max(longest + self._prefix_lengths + 1, len(self.scratch.occurrence_item)))
        self.facts = PatternFacts(np.zeros(texts + 1, np.int64), self.facts.fact)
        self.facts_directory = directory(self.facts)

    def grow(self) -> None:
        """Twice as much room for answers and for occurrences; one of them was too small."""
        self._resize(2 * len(self.scratch.occurrence_item))
        larger = np.empty(2 * len(self.facts.fact), np.int32)
        larger[: len(self.facts.fact)] = self.facts.fact
        self.facts = PatternFacts(self.facts.start, larger)
        self.facts_directory = directory(self.facts)

    def _resize(self, occurrences: int) -> None:
        if occurrences != len(self.scratch.occurrence_item) or not occurrences:
            item, place, following = (np.empty(occurrences, np.int32) for _ in range(3))
            self.scratch = self.scratch._replace(
                occurrence_item=item,
                occurrence_place=place,
                occurrence_next=following,
                reached=np.empty(2 * occurrences, np.int32),
            )
            self.scratch_directory = directory(self.scratch)
