"""The XPath engine: which of its questions hold of each document of a batch.

Built once from distinct questions, and never changed; `arrays` is all that it knows. While it works it keeps the sets
of states that it has met, up to a bound of memory, so one engine serves one thread at a time. Answers are the
reference's, and so are the words about documents that cannot be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from threading import Lock

import numpy as np

from tidings.analysis.xml import as_plain, read_document
from tidings.errors import EventError
from tidings.index.facts import Facts, Texts
from tidings.index.layout import Array
from tidings.index.views import directory
from tidings.index.xml.building import Questions
from tidings.index.xml.choosing import TRIED, cheapest, cost_of, rarity_by, worth_asking
from tidings.index.xml.invariants import check_plan, check_run
from tidings.index.xml.layout import (
    COUNTS,
    DONE,
    FACTS,
    FOREIGN,
    LEVELS,
    LISTS,
    MORE_FACTS,
    MORE_LISTS,
    MORE_NODES,
    MORE_STACK,
    MORE_STATES,
    NODE_COUNT,
    OF_HEAD,
    QUESTIONS,
    SLACK,
    SYMBOLS,
    UNKEPT,
    Plan,
    Run,
)
from tidings.index.xml.lowering import Method, Rarity, by_kind
from tidings.index.xml.matching import match_document, match_documents
from tidings.index.xml.paths import Names
from tidings.index.xml.reading import Room, walk
from tidings.index.xml.scanning import DEEPEST
from tidings.index.xml.sets import DEFAULT_MEMORY, KeptSets
from tidings.index.xml.texts import as_texts
from tidings.model.xpath import XPathExpression


class XPathEngine:
    """See the module. `memory` bounds the bytes of the sets that are kept; what does not fit is worked out anew."""

    def __init__(self, plan: Plan, memory: int = DEFAULT_MEMORY) -> None:
        self.plan = plan
        self._plan = directory(plan)
        self._lock = Lock()
        self._room = Room()
        self._names = Names(_texts(plan.name_start, plan.name_data))
        self._run = _run(plan)
        self._run_directory = directory(self._run)
        self._memory = memory
        self._sets = self._no_sets()

    @classmethod
    def build(
        cls,
        questions: Sequence[XPathExpression],
        method: Method | None = None,
        memory: int = DEFAULT_MEMORY,
        sample: Sequence[str | bytes] = (),
    ) -> XPathEngine:
        """From distinct questions, whose numbers are their places.

        A `sample` of documents says which predicates are rare and, of questions enough, which method is the cheapest
        where none is named. Without one it is the kind of predicate, and PRUNED. Of a large sample few questions are
        asked about a part only, or nothing.
        """
        sample = worth_asking(sample, len(questions))
        if method is None:
            asked = len(sample) > 0 and len(questions) >= TRIED
            method = cheapest(questions, partial(cls._tried, sample=sample)) if asked else Method.PRUNED
        added = Questions(questions, method)
        return cls(added.plan(cls._rarity(added, sample)), memory)

    @classmethod
    def _rarity(cls, added: Questions, sample: Sequence[str | bytes]) -> Rarity:
        """How rare the atoms are between which there is a choice."""
        choices = added.choices() if sample else []
        return rarity_by(choices, cls(added.plan_of(choices)).find(as_texts(sample))) if choices else by_kind

    @classmethod
    def _tried(cls, questions: Sequence[XPathExpression], method: Method, sample: Sequence[str | bytes]) -> float:
        """What it costs to ask questions about a sample by a method."""
        added = Questions(questions, method)
        engine = cls(added.plan(cls._rarity(added, sample)))
        engine.find(as_texts(sample))
        return cost_of(engine.counts)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], memory: int = DEFAULT_MEMORY) -> XPathEngine:
        return cls(Plan(**{name: arrays[name] for name in Plan._fields}), memory)

    def arrays(self) -> Mapping[str, Array]:
        return self.plan._asdict()

    @property
    def counts(self) -> Array:
        """What was done since the engine was made, by the numbers in `layout`."""
        return self._run.counts

    @property
    def sets(self) -> KeptSets:
        return self._sets

    def check(self) -> None:
        """Raises an AssertionError that names the first invariant that does not hold."""
        check_plan(self.plan)
        check_run(self.plan, self._run, self._sets.lazy)

    def find(self, texts: Texts) -> Facts:
        """The facts of each document; what cannot be read is a problem, in the reference's words."""
        with self._lock:
            if self._sets.is_outgrown(int(self._run.counts[UNKEPT])):
                self._sets = self._no_sets()
            return self._find(texts)

    def _find(self, texts: Texts) -> Facts:
        count, whole = len(texts.start), tuple(map(np.ascontiguousarray, texts))
        given = directory(whole)  # of arrays that are kept while it is used
        start = np.zeros(count + 1, np.int64)
        self._run.counts[FACTS] = 0
        problems: list[tuple[int, str]] = []
        number = 0
        while number < count:
            came_back = match_documents(
                self._plan, self._sets.directory, self._run_directory, self._room.directory, given, start[1:], number
            )
            number, reason = came_back // 16, came_back % 16
            if reason == FOREIGN:
                problem = self._foreign(texts, number)
                problems += [(number, problem)] if problem else []
                number += 1
                start[number] = self._run.counts[FACTS]
            elif reason != DONE:
                self._make_room(reason, int(texts.length[min(number, count - 1)]))
        return Facts(start, self._run.facts[: start[-1]].copy(), tuple(problems))

    def _foreign(self, texts: Texts, number: int) -> str:
        """Matches a document by way of libxml2; what is wrong with it, or nothing."""
        first = int(texts.start[number])
        content = texts.data[first : first + int(texts.length[number])].tobytes()
        try:
            document = read_document(content if texts.raw[number] else content.decode())
        except EventError as error:
            return str(error)
        plain = as_plain(document)
        if plain is not None and self._is_matched(plain):
            return ""
        walk(document, self._names.find, self._room)
        while (
            reason := match_document(self._plan, self._sets.directory, self._run_directory, self._room.directory)
        ) != DONE:
            self._make_room(reason, 0)
        return ""

    def _is_matched(self, document: bytes) -> bool:
        """Matches one document if the scanner reads it, and says whether it did."""
        given, ends = as_texts([document]), np.zeros(1, np.int64)
        texts = directory(given)
        while True:
            came_back = match_documents(
                self._plan, self._sets.directory, self._run_directory, self._room.directory, texts, ends, 0
            )
            if came_back // 16:
                return True
            if came_back % 16 == FOREIGN:
                return False
            self._make_room(came_back % 16, len(document))

    def _no_sets(self) -> KeptSets:
        return KeptSets(self._plan, self._run_directory, self._memory)

    def _make_room(self, reason: int, size: int) -> None:
        """For what a kernel said did not fit."""
        run, nodes = self._run, self._room.nodes
        if reason == MORE_STATES:
            self._sets.grow(int(run.counts[UNKEPT]))
        elif reason == MORE_NODES:
            if 2 * size + SLACK > len(nodes.values):
                self._room.fit_values(2 * (2 * size + SLACK))
            else:
                self._room.fit_nodes(2 * len(nodes.symbol))
        elif reason == MORE_FACTS:
            facts = np.empty(2 * (len(run.facts) + int(self.plan.sizes[QUESTIONS])), np.int32)
            facts[: run.counts[FACTS]] = run.facts[: run.counts[FACTS]]
            self._replace(run._replace(facts=facts))
        elif reason == MORE_STACK:
            self._replace(run._replace(stack=np.empty(2 * len(run.stack), np.int32)))
        elif reason == MORE_LISTS:
            size = LISTS * int(self.plan.sizes[LEVELS]) * (2 * int(nodes.used[NODE_COUNT]) + 2)
            self._replace(run._replace(lists=np.empty(size, np.int32)))

    def _replace(self, run: Run) -> None:
        self._run = run
        self._run_directory = directory(run)


def _run(plan: Plan) -> Run:
    states = len(plan.kind)
    return Run(
        held=np.zeros(len(plan.access_bits), np.uint64),
        repeated=np.zeros(len(plan.access_bits), np.uint64),
        head=np.zeros(OF_HEAD * int(plan.sizes[SYMBOLS]), np.int64),
        stamp=np.zeros(states, np.int64),
        asked=np.zeros(len(plan.compound_fact), np.int64),
        fresh=np.zeros(states + 1, np.int32),
        stack=np.zeros(states + 1024, np.int32),
        stack_end=np.zeros(DEEPEST + 2, np.int64),
        lists=np.zeros(1024, np.int32),
        facts=np.zeros(int(plan.sizes[QUESTIONS]) + 1024, np.int32),
        counts=np.zeros(COUNTS, np.int64),
    )


def _texts(starts: Array, data: Array) -> list[str]:
    whole = data.tobytes()
    return [whole[starts[at] : starts[at + 1]].decode() for at in range(len(starts) - 1)]
