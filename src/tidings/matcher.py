"""`Matcher`: subscriptions in, events in, matches out, in one process and with no server.

It answers exactly as `reference` does, for every kind of predicate. The few subscriptions added last are asked one by
one, by the reference itself; when there are more than a few they are compiled (`index.compiled`), so that a small
matcher never waits for a compiler and a large one never asks everybody. In memory it lives as long as the process;
`Matcher(path)` writes each change to a folder before it returns, and finds everything there again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.analysis.statistics import NO_STATISTICS, TextStatistics
from tidings.analysis.words import SIMPLE
from tidings.analysis.words import analyser as analyser_named
from tidings.batches import EventBatch, Found, found_of, list_table, pair_table, read_batch
from tidings.errors import IdentifierError, RefusedError, SettingError, TidingsError
from tidings.explanation import Explanation, explain
from tidings.language.parser import collecting_young_only, parse
from tidings.language.printer import print_expression
from tidings.model.event import Event, Identifier
from tidings.model.predicates import Expression
from tidings.model.result import Cost, EventProblem, MatchResult, Subscription
from tidings.reference import Reading, Settings, check_answerable, truth
from tidings.store import Store, new_store, open_store, read_store

if TYPE_CHECKING:
    import pyarrow

    from tidings.index.compiled import CompiledIndex

log = logging.getLogger("tidings")
UNCOMPILED = 1_000  # subscriptions that are asked one by one: a few milliseconds, and no wait for a compiler
MOST_UNCOMPILED = 250_000  # subscriptions that may wait for the next event, which is when they are compiled
WORTH_COMPILING = 5_000_000  # pairs of subscription and event that take some seconds one by one
REFUSED_SHOWN = 3  # of the refused subscriptions, how many an error message quotes


@dataclass(frozen=True, slots=True)
class Refused:
    """A row of `add_many` that was not added: its position, its id as it was given, and the error."""

    row: int
    id: object
    error: TidingsError


class Matcher:
    """Standing queries over events. Identifiers are strings or 64-bit integers, all of one kind in one matcher."""

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        analyser: str | None = None,
        statistics: TextStatistics | None = None,
        uncompiled: int = UNCOMPILED,
    ) -> None:
        """`analyser` and `statistics` are what an existing folder records; a new one is made with `simple` and none.

        `uncompiled` is how many subscriptions are asked one by one; when an event comes and there are more, they are
        compiled. 0 compiles all.
        """
        if uncompiled < 0:
            raise SettingError(f"uncompiled is a number of subscriptions, 0 or more, not {uncompiled}")
        self._settings = Settings(analyser_named(analyser or SIMPLE.name), statistics or NO_STATISTICS)
        self._uncompiled = uncompiled
        self._wheres: dict[Identifier, str] = {}
        self._recent: dict[Identifier, Expression] = {}
        self._index: CompiledIndex | None = None
        self._store: Store | None = None
        if path is not None:
            self._store = open_store(Path(path), analyser, statistics)
            self._settings = self._store.settings
            self._restore(self._store)

    # Subscriptions

    def add(self, id: Identifier, where: str, *, replace: bool = False) -> None:
        """Adds a subscription, or raises an error that says what is wrong with it. A taken id needs `replace`."""
        expression = self._checked(id, where, replace)
        if self._store is not None:
            self._store.write([(id, where)])
        self._take({id: where}, {id: expression})

    def add_many(
        self,
        subscriptions: Iterable[tuple[Identifier, str]] | pyarrow.Table,
        *,
        replace: bool = False,
        on_error: Callable[[Refused], None] | None = None,
    ) -> int:
        """Adds (id, where) pairs, or a table with these columns, and returns how many.

        What cannot be added goes to `on_error`; without one it is raised at the end, when all others have been added.
        """
        refused: list[Refused] = []
        wheres: dict[Identifier, str] = {}
        expressions: dict[Identifier, Expression] = {}
        for row, pair in enumerate(collecting_young_only(_pairs(subscriptions))):
            try:
                id, where = _pair(pair)
                if id in wheres and not replace:
                    raise IdentifierError(f"the id {id!r} stands twice in what is added; replace=True keeps the last")
                expressions[id] = self._checked(id, where, replace, wheres)
                wheres[id] = where
            except TidingsError as error:
                refused.append(Refused(row, pair[0] if isinstance(pair, tuple) and pair else None, error))
        if self._store is not None:
            self._store.write(wheres.items())
        self._take(wheres, expressions)
        _report(refused, len(wheres), on_error)
        return len(wheres)

    def remove(self, id: Identifier) -> None:
        if id not in self._wheres:
            raise IdentifierError(f"there is no subscription with the id {id!r} to remove")
        if self._store is not None:
            self._store.delete([id])
        self._forget(id)
        del self._wheres[id]

    def subscriptions(self) -> Iterator[Subscription]:
        """All subscriptions, in the order in which they were added."""
        return (Subscription(id, parse(where)) for id, where in self._wheres.items())

    def __len__(self) -> int:
        return len(self._wheres)

    def __contains__(self, id: object) -> bool:
        return id in self._wheres

    def _take(self, wheres: dict[Identifier, str], expressions: dict[Identifier, Expression]) -> None:
        for id in wheres.keys() & self._wheres.keys():
            self._forget(id)
        self._wheres.update(wheres)  # one that was there keeps its place
        self._recent.update(expressions)
        if len(self._recent) > MOST_UNCOMPILED:
            self._compile()

    def _restore(self, store: Store) -> None:
        wheres = dict(store.rows())
        self._take(wheres, {id: parse(where) for id, where in collecting_young_only(wheres.items())})

    def _forget(self, id: Identifier) -> None:
        if self._recent.pop(id, None) is None and self._index is not None:
            self._index.remove(id)

    def _compile(self) -> None:
        from tidings.index.compiled import CompiledIndex  # numba and what it needs take a while to import

        if not self._recent:
            return
        if self._index is None:
            self._index = CompiledIndex(self._settings, self._wheres)
        self._index.add(self._recent.items())
        self._recent.clear()

    # Matching

    def match(self, event: Event | Mapping[str, Any]) -> MatchResult:
        """Who must hear of the event. What cannot be read of it is in `errors`; an event that is none is raised."""
        start = time.perf_counter_ns()
        if len(self._recent) > self._uncompiled:
            self._compile()
        read = Event.of(event)
        reading = Reading(read, self._settings)
        ids = [id for id, where in self._recent.items() if truth(where, reading) is True]
        problems = {problem.attribute: problem for problem in reading.problems()}
        evaluated, mismatches = len(self._recent), reading.mismatches
        if self._index is not None:
            matched = self._index.match_events([read])
            ids += matched.ids_of(0)
            problems |= {each.attribute: replace(each, event=read.id) for each in matched.problems}
            evaluated, mismatches = evaluated + matched.candidates, mismatches + matched.mismatches
        elapsed = time.perf_counter_ns() - start
        return MatchResult(ids, tuple(problems.values()), Cost(evaluated, mismatches, elapsed))

    def match_many(
        self,
        events: Iterable[Event | Mapping[str, Any]] | pyarrow.Table | pyarrow.RecordBatch,
        *,
        lists: bool = False,
        on_error: Callable[[EventProblem], None] | None = None,
    ) -> pyarrow.Table:
        """The matches as an Arrow table of pairs: `event`, `subscription`; with `lists`, one row per event, which has
        the list of its `subscriptions`.

        `event` is the event's `id`; where no event has one, its position. What cannot be read goes to `on_error`,
        or as a warning to the log `tidings`; everything else is matched.
        """
        report = on_error or (lambda problem: log.warning("%s", problem))
        batch = read_batch(events, report)
        if len(self._recent) > self._uncompiled or len(self._recent) * len(batch) > WORTH_COMPILING:
            self._compile()
        found = self._asked_one_by_one(batch, report)
        if self._index is not None:
            matched = batch.match(self._index)
            for problem in matched.problems:
                report(replace(problem, event=batch.id_of(int(str(problem.event)))))
            found += [Found(part.ids, answers.offsets, answers.members) for part, answers in matched.parts]
        kind = type(next(iter(self._wheres), ""))
        return list_table(batch, found, kind) if lists else pair_table(batch, found, kind)

    def _asked_one_by_one(self, batch: EventBatch, report: Callable[[EventProblem], None]) -> list[Found]:
        """What was added last, by the reference; as the numbers of subscriptions, as the index answers."""
        if not self._recent:
            return []
        recent = list(self._recent.items())
        offsets, members = [0], []
        for row in range(len(batch)):
            reading = Reading(batch.event(row), self._settings)
            members += [number for number, (_, where) in enumerate(recent) if truth(where, reading) is True]
            offsets.append(len(members))
            for problem in reading.problems():
                report(replace(problem, event=batch.id_of(row)))
        return [found_of([id for id, _ in recent], offsets, members)]

    def explain(self, id: Identifier, event: Event | Mapping[str, Any]) -> Explanation:
        """Why the event satisfies the subscription, or why not."""
        if id not in self._wheres:
            raise IdentifierError(f"there is no subscription with the id {id!r} to explain")
        return explain(parse(self._wheres[id]), event, self._settings)

    # Keeping

    def save(self, path: str | Path) -> None:
        """Writes everything to a new folder, from which `load` and `Matcher(path)` read it."""
        new_store(Path(path), self._settings, self._wheres.items()).close()

    @classmethod
    def load(cls, path: str | Path) -> Matcher:
        """An in-memory copy of a saved matcher; changes to it are not written back."""
        with read_store(Path(path)) as store:
            matcher = cls(analyser=store.settings.analyser.name, statistics=store.settings.statistics)
            matcher._restore(store)
        return matcher

    def close(self) -> None:
        """Lets go of the folder of a durable matcher. An in-memory one has nothing to close."""
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Matcher:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _checked(
        self, id: Identifier, where: str, replace: bool, among: Mapping[Identifier, Any] | None = None
    ) -> Expression:
        _check_identifier(id)
        if id in self._wheres and not replace:
            raise IdentifierError(f"the id {id!r} is taken; remove it first, or add with replace=True")
        other = next(iter(self._wheres or among or ()), id)
        if type(other) is not type(id):
            raise IdentifierError(
                f"the id {id!r} is {_kind(id)}, and {other!r} of this matcher is {_kind(other)}: use one kind"
            )
        expression = parse(where)
        check_answerable(expression)
        return expression


def _check_identifier(id: object) -> None:
    if type(id) is int and -(2**63) <= id < 2**63:
        return
    if not isinstance(id, str):
        raise IdentifierError(f"an id is a string or a 64-bit integer, not {id!r} ({type(id).__name__})")
    try:
        id.encode()
    except UnicodeEncodeError:
        raise IdentifierError(f"the id {id!r} is not Unicode text") from None


def _kind(id: Identifier) -> str:
    return "a string" if isinstance(id, str) else "an integer"


def _pairs(subscriptions: Any) -> Iterable[Any]:
    if hasattr(subscriptions, "column_names"):
        missing = {"id", "where"} - set(subscriptions.column_names)
        if missing:
            have = ", ".join(subscriptions.column_names)
            raise IdentifierError(f"a table of subscriptions has the columns id and where; this one has {have}")
        columns = [subscriptions.column(name).to_pylist() for name in ("id", "where")]
        return zip(*columns, strict=True)
    if isinstance(subscriptions, Mapping):
        return subscriptions.items()
    return subscriptions  # type: ignore[no-any-return]  # any iterable; each row is checked


def _pair(pair: object) -> tuple[Any, Any]:
    if isinstance(pair, Subscription):
        return pair.id, print_expression(pair.where)
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise IdentifierError(f"a row of subscriptions is a pair (id, where), not {pair!r:.80}")
    return pair[0], pair[1]


def _report(refused: list[Refused], added: int, on_error: Callable[[Refused], None] | None) -> None:
    if on_error is not None:
        for row in refused:
            on_error(row)
    elif refused:
        shown = "\n".join(f"row {each.row}, id {each.id!r}: {each.error}" for each in refused[:REFUSED_SHOWN])
        more = f"\nand {len(refused) - REFUSED_SHOWN} more, in .refused" if len(refused) > REFUSED_SHOWN else ""
        message = f"{len(refused)} of {len(refused) + added} subscriptions were refused; the others were added.\n"
        raise RefusedError(message + shown + more, tuple(refused))
