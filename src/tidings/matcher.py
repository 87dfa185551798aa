"""`Matcher`: subscriptions in, events in, matches out, in one process and with no server.

It answers exactly as `reference` does, for every kind of predicate. The few subscriptions added last are asked one by
one, by the reference itself; when there are more than a few they are compiled (`index.compiled`), so that a small
matcher never waits for a compiler and a large one never asks everybody. In memory it lives as long as the process;
`Matcher(path)` writes each change to a folder before it returns, and finds everything there again. Threads may share a
matcher: one of them at a time is inside.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tidings.analysis.latent import LatentSpace
from tidings.analysis.statistics import TextStatistics
from tidings.batches import EventBatch, ObjectBatch, list_table, pair_table, read_batch
from tidings.errors import IdentifierError, SettingError, StoreError, TidingsError
from tidings.explanation import Explanation, explain
from tidings.index.answers import Answers, Asked, Scores, ids_of_row
from tidings.index.columns import IdColumn
from tidings.language.parser import Asked as AskedText
from tidings.language.parser import Unbound, bound, collecting_young_only, collector_off, parse, read
from tidings.model.event import Event, Identifier, rows_of_arrow, table_of
from tidings.model.predicates import Expression
from tidings.model.result import Cost, EventProblem, MatchResult, Subscription
from tidings.planning.statistics import EventStatistics, learn_from_events
from tidings.ranking import Ranking, check_most, scores_one_by_one
from tidings.reference import Reading, check_answerable, truth
from tidings.rows import REFUSED_SHOWN, Refused, check_kind, identifier, pair_of, pairs_of, report_refused, taken_error
from tidings.store import Contents, Store, Wanted, open_store, read_contents, save

if TYPE_CHECKING:
    import pyarrow

    from tidings.index.compiled import CompiledIndex, Matched
    from tidings.thresholds import AdaptiveThresholds

log = logging.getLogger("tidings")
UNCOMPILED = 1_000  # subscriptions that are asked one by one: a few milliseconds, and no wait for a compiler
CHUNK = 250_000  # subscriptions that are added to memory at a time, so that not all are held as expressions at once
WORTH_COMPILING = 5_000_000  # pairs of subscription and event: one by one they take longer than compiling the kernels
WORTH_ADDING = 20_000  # the same where kernels are at work already: longer than compiling a few subscriptions more
P = ParamSpec("P")
T = TypeVar("T")
Recent = tuple[str, Expression]  # the text and what it means
Added = tuple[str, AskedText]  # the same, on its way in


def _alone(method: Callable[P, T]) -> Callable[P, T]:
    """A method that lets no other thread in: kernels write into memory that belongs to the matcher."""

    @wraps(method)
    def locked(*arguments: P.args, **named: P.kwargs) -> T:
        with arguments[0]._alone:  # type: ignore[attr-defined]  # of methods the first one is the matcher
            return method(*arguments, **named)

    return locked


class Matcher:
    """Standing queries over events. Identifiers are strings or 64-bit integers, all of one kind in one matcher."""

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        analyser: str | None = None,
        statistics: TextStatistics | None = None,
        latent: LatentSpace | None = None,
        uncompiled: int = UNCOMPILED,
    ) -> None:
        """`analyser`, `statistics` and `latent` are what an existing folder records; a new one is made with `simple`
        and none. A `latent` space is what `model => 'lsi'` compares in.

        `uncompiled` is how many subscriptions are asked one by one; when there are more, they are compiled. 0 compiles
        all.
        """
        if uncompiled < 0:
            raise SettingError(f"uncompiled is a number of subscriptions, 0 or more, not {uncompiled}")
        wanted = Wanted(analyser, statistics, latent)
        self._uncompiled = uncompiled
        self._recent: dict[Identifier, Recent] = {}
        self._index: CompiledIndex | None = None
        self._learned: EventStatistics | None = None
        self._store: Store | None = None
        self._asked = 0  # pairs of subscription and event that were asked one by one since something was compiled
        self._alone = threading.RLock()
        if path is None:
            self._settings = wanted.settings()
        else:
            self._store, contents = open_store(Path(path), wanted)
            self._restore(contents)

    # Subscriptions

    @_alone
    def add(self, id: Identifier, where: str, *, replace: bool = False) -> None:
        """Adds a subscription, or raises an error that says what is wrong with it. A taken id needs `replace`."""
        id = identifier(id)
        check_kind(id, self._id_kind())
        taken = id in self
        if taken and not replace:
            raise taken_error(id)
        self._change([id] if taken else [], {id: (where, self._answerable(where))})

    @_alone
    def add_many(
        self,
        subscriptions: Iterable[tuple[Identifier, str]] | pyarrow.Table,
        *,
        replace: bool = False,
        on_error: Callable[[Refused], None] | None = None,
    ) -> int:
        """Adds (id, where) pairs, or a table with these columns (anything that offers Arrow's), and returns how many.

        What cannot be added goes to `on_error`; without one it is raised at the end, when all others have been added.
        """
        refused: list[Refused] = []
        added: dict[Identifier, Added] = {}
        rows: dict[Identifier, int] = {}
        kind = self._id_kind()
        for row, pair in enumerate(collecting_young_only(pairs_of(subscriptions))):
            try:
                id, where = pair if type(pair) is tuple and len(pair) == 2 else pair_of(pair)
                id = identifier(id)
                if type(id) is not kind:
                    check_kind(id, kind)
                if id in rows and not replace:
                    raise IdentifierError(f"the id {id!r} stands twice in what is added; replace=True keeps the last")
                added[id] = where, self._answerable(where)
                rows[id] = row
                kind = type(id)
            except TidingsError as error:
                refused.append(Refused(row, pair[0] if isinstance(pair, tuple) and pair else None, error))
            if len(added) == CHUNK and self._store is None:  # in a folder, all of it is one change
                refused += self._add(added, rows, replace)
                added = {}
        refused += self._add(added, rows, replace)
        count = len(rows) - sum(each.id in rows and rows[each.id] == each.row for each in refused)
        report_refused(sorted(refused, key=lambda each: each.row), count, on_error)
        return count

    def _add(self, added: dict[Identifier, Added], rows: Mapping[Identifier, int], replace: bool) -> list[Refused]:
        """Adds those whose identifiers are free, or all, and gives the others."""
        taken = self._among(list(added))
        refused = [] if replace else [Refused(rows[id], id, taken_error(id)) for id in taken]
        for each in refused:
            del added[each.id]  # type: ignore[arg-type]  # it is one of these
        with collector_off():  # what is added stays
            self._change([id for id in taken if id in added], added)
        return refused

    @_alone
    def remove(self, id: Identifier) -> None:
        id = identifier(id)
        if id not in self:
            raise IdentifierError(f"there is no subscription with the id {id!r} to remove")
        self._change([id], {})

    @_alone
    def remove_many(self, ids: Iterable[Identifier]) -> int:
        """Removes all of these, as one change, and returns how many; none of them if one is not there."""
        gone = list(dict.fromkeys(map(identifier, ids)))
        kind = self._id_kind()
        there = self._among([id for id in gone if type(id) is kind])
        missing = [id for id in gone if id not in there]
        if missing:
            shown = ", ".join(map(repr, missing[:REFUSED_SHOWN])) + (", …" if len(missing) > REFUSED_SHOWN else "")
            raise IdentifierError(
                f"{len(missing)} of {len(gone)} ids are of no subscription, so none was removed: {shown}"
            )
        self._change(gone, {})
        return len(gone)

    def subscriptions(self) -> Iterator[Subscription]:
        """All subscriptions, in no particular order. While they are read, no other thread may change any."""
        if self._index is not None:
            yield from (Subscription(id, parse(where)) for id, where in self._index.rows())
        yield from (Subscription(id, expression) for id, (_, expression) in self._recent.items())

    @_alone
    def merge(self) -> None:
        """Compiles everything into one part, which is matched fastest. Parts are also merged as they gather."""
        self._compile()
        if self._index is not None:
            self._merge(len(self._index.parts))

    @_alone
    def learn(self, events: Iterable[Event | Mapping[str, Any]]) -> None:
        """Learns from a sample of events which attributes and values are common, and what their XML documents are like.

        What is compiled from now on is arranged by it; `merge` arranges everything. Without it, the subscriptions
        themselves must suggest it. It changes how long matching takes and never what matches. A folder keeps it.
        """
        table = table_of(events)
        learned = learn_from_events(events if table is None else rows_of_arrow(table))
        if self._store is not None:
            self._store.learn(learned)
        self._learned = learned
        if self._index is not None:
            self._index.learn(learned)

    @property
    @_alone
    def scanned(self) -> int:
        """How many subscriptions are asked of every event: those that nothing leads to, and those added last."""
        return len(self._recent) + (self._index.scanned() if self._index is not None else 0)

    @_alone
    def check(self) -> None:
        """Asserts every invariant of what is inside: slow, for tests and for doubts."""
        if self._index is not None:
            self._index.check()
            assert not any(id in self._index for id in self._recent)

    @_alone
    def __len__(self) -> int:
        return len(self._recent) + (len(self._index) if self._index is not None else 0)

    @_alone
    def __contains__(self, id: object) -> bool:
        try:
            known = identifier(id)
        except IdentifierError:
            return False
        return known in self._recent or (self._index is not None and known in self._index)

    def _among(self, ids: list[Identifier]) -> set[Identifier]:
        """Those of the identifiers that are taken."""
        found = {id for id in ids if id in self._recent}
        return found | self._index.among(ids) if self._index is not None else found

    def _change(self, removed: Sequence[Identifier], added: dict[Identifier, Added]) -> None:
        """Removes and adds, on the disk first: if that fails, nothing has changed."""
        if len(self._recent) - len(removed) + len(added) > self._uncompiled:
            self._change_much(removed, added)
            return
        if self._store is not None and (removed or added):
            self._store.change(removed, {id: where for id, (where, _) in added.items()})
        self._forget(removed)
        self._recent.update((id, (where, bound(asked))) for id, (where, asked) in added.items())
        if self._store is not None and self._store.crowded:
            with _put_off("gathering small files"):
                parts = self._index.parts if self._index is not None else ()
                self._store.keep(parts, {id: where for id, (where, _) in self._recent.items()}, ())

    def _change_much(self, removed: Sequence[Identifier], added: dict[Identifier, Added]) -> None:
        """The same, and what was asked one by one until now is compiled with it."""
        index = self._compiled_index()
        gone = set(removed)
        waiting = ((id, recent) for id, recent in self._recent.items() if id not in gone)
        rows = [(id, *each) for id, each in chain(waiting, added.items())]
        if self._store is None:
            self._forget(removed)
            index.add(rows)
        else:
            part = index.built(rows)
            self._store.keep([*index.parts, part], {}, removed)
            self._forget(removed)
            index.take([*index.parts, part])
        self._recent.clear()
        self._asked = 0
        with _put_off("merging parts"):
            while self._store is not None and (count := index.crowded()):
                self._merge(count)

    def _merge(self, count: int) -> None:
        """Makes the last parts one, on the disk first."""
        assert self._index is not None
        parts = self._index.merged(count)
        if self._store is not None:
            self._store.keep(parts, {}, ())
        self._index.take(parts)

    def _compile(self) -> None:
        if self._recent:
            self._change_much((), {})

    def _compile_if_asked(self, events: int) -> None:
        """Compiles what was added last where asking it one by one takes longer than that."""
        pairs = len(self._recent) * events
        self._asked += pairs
        worth = pairs > WORTH_COMPILING if self._index is None else self._asked > WORTH_ADDING
        if worth or len(self._recent) > self._uncompiled:
            self._asked = 0
            with _put_off("compiling what was added last"):
                self._compile()

    def _compiled_index(self) -> CompiledIndex:
        from tidings.index.compiled import CompiledIndex  # numba and what it needs take a while to import

        if self._index is None:
            self._index = CompiledIndex(self._settings, self._learned)
        return self._index

    def _answerable(self, where: str) -> AskedText:
        asked = read(where)
        if not isinstance(asked, Unbound):  # comparisons can always be answered
            check_answerable(asked, self._settings)
        return asked

    def _forget(self, ids: Iterable[Identifier]) -> None:
        compiled = [id for id in ids if self._recent.pop(id, None) is None]
        if compiled and self._index is not None:
            self._index.remove(compiled)

    def _restore(self, contents: Contents) -> None:
        self._settings, self._learned = contents.settings, contents.learned
        self._recent = {id: (where, parse(where)) for id, where in contents.recent.items()}
        if contents.parts:
            from tidings.index.compiled import CompiledIndex

            self._index = CompiledIndex(self._settings, self._learned, contents.parts)

    # Matching

    @_alone
    def match(self, event: Event | Mapping[str, Any]) -> MatchResult:
        """Who must hear of the event. What cannot be read of it is in `errors`; an event that is none is raised."""
        start = time.perf_counter_ns()
        self._compile_if_asked(1)
        read = Event.of(event)
        ids: list[Identifier] = []
        problems: dict[str | None, EventProblem] = {}
        evaluated = mismatches = verified = 0
        if self._recent:
            reading = Reading(read, self._settings)
            ids = [id for id, (_, where) in self._recent.items() if truth(where, reading) is True]
            problems = {problem.attribute: problem for problem in reading.problems()}
            evaluated, mismatches = len(self._recent), reading.mismatches
        if self._index is not None:
            matched = self._index.match_events([read])
            for part, findings in matched.parts:
                ids += ids_of_row(part.ids.column, findings)
            problems |= {each.attribute: replace(each, event=read.id) for each in matched.problems}
            evaluated, mismatches = evaluated + matched.candidates, mismatches + matched.mismatches
            verified = matched.verified
        elapsed = time.perf_counter_ns() - start
        return MatchResult(ids, tuple(problems.values()), Cost(evaluated, mismatches, elapsed, verified))

    @_alone
    def match_many(
        self,
        events: Iterable[Event | Mapping[str, Any]] | pyarrow.Table | pyarrow.RecordBatch,
        *,
        lists: bool = False,
        on_error: Callable[[EventProblem], None] | None = None,
    ) -> pyarrow.Table:
        """The matches as an Arrow table of pairs: `event`, `subscription`; with `lists`, one row per event, which has
        the list of its `subscriptions`.

        `events` may be anything that offers Arrow's columns, such as a frame of polars or a reader of batches. `event`
        is the event's `id`; where no event has one, its position. What cannot be read goes to `on_error`,
        or as a warning to the log `tidings`; everything else is matched.
        """
        report = on_error or _log
        batch = read_batch(events, report)
        self._compile_if_asked(len(batch))
        answers = Answers(len(batch), self._id_kind())
        if self._recent:
            answers.add(IdColumn.of(list(self._recent)), self._asked_one_by_one(batch, report))
        if self._index is not None:
            for part, findings in self._matched(self._index, batch, report).parts:
                answers.add(part.ids.column, findings)
        return list_table(batch, answers) if lists else pair_table(batch, answers)

    def _matched(self, index: CompiledIndex, batch: EventBatch, report: Callable[[EventProblem], None]) -> Matched:
        matched = batch.match(index)
        for problem in matched.problems:
            report(replace(problem, event=batch.id_of(int(str(problem.event)))))
        return matched

    def _asked_one_by_one(self, batch: EventBatch, report: Callable[[EventProblem], None]) -> Asked:
        """What was added last, by the reference; as the numbers of subscriptions, as the index answers."""
        wheres = [where for _, where in self._recent.values()]
        return Asked.of(
            [
                [number for number, where in enumerate(wheres) if truth(where, reading) is True]
                for reading in self._readings(batch, report)
            ]
        )

    def _readings(self, batch: EventBatch, report: Callable[[EventProblem], None]) -> Iterator[Reading]:
        """Each event, and behind it what whoever asked for it found that cannot be read."""
        for row in range(len(batch)):
            reading = Reading(batch.event(row), self._settings)
            yield reading
            for problem in reading.problems():
                report(replace(problem, event=batch.id_of(row)))

    @_alone
    def ranked(
        self,
        event: Event | Mapping[str, Any],
        most: int | None = None,
        adaptive: AdaptiveThresholds | None = None,
    ) -> list[tuple[Identifier, float]]:
        """The matches that have a score (`reference.score`: how similar they are) with it, the highest first; at most
        so many of them.

        With `adaptive` thresholds, which remember the events that they were asked about, a subscription hears only of
        its best ones of a while.
        """
        check_most(most)
        batch = ObjectBatch([Event.of(event)], [0])
        if adaptive is None:
            return self._ranking(batch, most, _unheard).pairs()
        return adaptive.admit(self._ranking(batch, None, _unheard).pairs())[:most]

    @_alone
    def ranked_many(
        self,
        events: Iterable[Event | Mapping[str, Any]] | pyarrow.Table | pyarrow.RecordBatch,
        most: int | None = None,
        *,
        on_error: Callable[[EventProblem], None] | None = None,
    ) -> pyarrow.Table:
        """The same of many events as an Arrow table: `event`, `subscription`, `score`, event after event.

        Events are named, and what cannot be read is reported, as `match_many` does.
        """
        check_most(most)
        report = on_error or _log
        batch = read_batch(events, report)
        return self._ranking(batch, most, report).table(batch)

    def _ranking(self, batch: EventBatch, most: int | None, report: Callable[[EventProblem], None]) -> Ranking:
        self._compile_if_asked(len(batch))
        found: list[tuple[IdColumn, Scores]] = []
        if self._recent:
            wheres = [where for _, where in self._recent.values()]
            found.append((IdColumn.of(list(self._recent)), scores_one_by_one(wheres, self._readings(batch, report))))
        if self._index is not None:
            matched = self._matched(self._index, batch, report)
            found += [(part.ids.column, scores) for part, scores in matched.scores()]
        return Ranking.of(found, most)

    @_alone
    def explain(self, id: Identifier, event: Event | Mapping[str, Any]) -> Explanation:
        """Why the event satisfies the subscription, or why not, and by which path events find it."""
        id = identifier(id)
        if id in self._recent:
            expression, paths = self._recent[id][1], ["by asking every subscription, as there are few"]
        elif self._index is not None and (where := self._index.where_of(id)) is not None:
            expression, paths = parse(where), self._index.paths_of(id)
        else:
            raise IdentifierError(f"there is no subscription with the id {id!r} to explain")
        return replace(explain(expression, event, self._settings), paths=tuple(paths))

    # Keeping

    @_alone
    def save(self, path: str | Path) -> None:
        """Writes everything to a new folder, from which `load` and `Matcher(path)` read it."""
        if len(self._recent) > self._uncompiled:
            self._compile()
        parts = self._index.parts if self._index is not None else ()
        recent = {id: where for id, (where, _) in self._recent.items()}
        save(Path(path), self._settings, parts, recent, self._learned)

    @classmethod
    def load(cls, path: str | Path, *, verify: bool = False) -> Matcher:
        """A saved matcher as it is now: mapped, not copied. Changes to it stay in memory; later ones are not seen.

        Headers and lengths of the files are checked always; with `verify` every byte is, which means reading them all.
        """
        matcher = cls()
        matcher._restore(read_contents(Path(path), verify=verify))
        return matcher

    @_alone
    def close(self) -> None:
        """Lets go of the folder of a durable matcher. An in-memory one has nothing to close."""
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Matcher:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _id_kind(self) -> type | None:
        """The kind of identifiers, or None while there is no subscription."""
        if self._recent:
            return type(next(iter(self._recent)))
        return self._index.id_kind() if self._index is not None else None


def _log(problem: EventProblem) -> None:
    log.warning("%s", problem)


def _unheard(problem: EventProblem) -> None:
    """Of one event, `match` says what cannot be read."""


@contextmanager
def _put_off(what: str) -> Iterator[None]:
    """Within, what the disk refuses is done another time: no answer and no change depends on it."""
    try:
        yield
    except StoreError as error:
        log.warning("%s is put off: %s", what, error)
