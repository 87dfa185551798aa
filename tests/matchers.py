"""The matchers under test: every way to match, behind one small interface.

Each must give what the reference gives. To put another one under test (an index, Spark replicated or sharded, a system
on its overlay), write a function like those below, and add a row to MATCHERS at the end: the whole conformance suite
then runs on it. An event or a subscription that cannot be handed to a matcher at all goes into `Outcome.unable` with
the reason, and its cases are skipped; whatever is handed over must be answered.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from tidings import Event, EventError, EventProblem, Matcher, Settings, holds, parse

Subscriptions: TypeAlias = Mapping[str, str]
Events: TypeAlias = Sequence[Mapping[str, Any]]
Pair: TypeAlias = tuple[int, str]  # position of the event, id of the subscription
Problem: TypeAlias = tuple[int, str | None]  # position of the event, the attribute; None is the event as a whole


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a matcher answered. Problems are None where a matcher does not report what it could not read."""

    pairs: frozenset[Pair]
    problems: frozenset[Problem] | None
    unable: Mapping[int | str, str] = field(default_factory=dict)  # position or subscription id, and the reason

    def why_not(self, position: int, *ids: str) -> str | None:
        """Why the event could not meet the subscriptions; None where it did."""
        keys: list[int | str] = [position, *ids]
        return next((self.unable[key] for key in keys if key in self.unable), None)


@dataclass(frozen=True, slots=True)
class MatcherUnderTest:
    """`matches` raises a TidingsError for a subscription that is wrong. Events bring no `id`: positions are theirs."""

    name: str
    matches: Callable[[Subscriptions, Events, Settings], Outcome]

    def __str__(self) -> str:
        return self.name


class CannotCarryError(Exception):
    """A value that a format has no place for."""


# The reference, and the embedded matcher given one event at a time


def _by_reference(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    expressions = {id: parse(where) for id, where in subscriptions.items()}
    pairs = set()
    for position, source in enumerate(events):
        try:
            event = Event.of(source)
        except EventError:
            continue
        pairs |= {(position, id) for id, where in expressions.items() if holds(where, event, settings)}
    return Outcome(frozenset(pairs), None)


def _one_by_one(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    return _asked_in_turn(_filled(subscriptions, settings), enumerate(events))


def _durable(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    """Added to a folder, which is closed and opened again."""
    with tempfile.TemporaryDirectory() as folder:
        with Matcher(folder, **options_of(settings)) as matcher:
            matcher.add_many(subscriptions.items())
        with Matcher(folder) as matcher:
            return _asked_in_turn(matcher, enumerate(events))


def _saved(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    """Saved, and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        _filled(subscriptions, settings).save(Path(folder) / "saved")
        return _asked_in_turn(Matcher.load(Path(folder) / "saved"), enumerate(events))


def _from_json(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    """Events as JSON text. Times and decimals, which JSON lacks, are written as strings and named in `read_as`."""
    read: list[tuple[int, Event]] = []
    unable: dict[int | str, str] = {}
    for position, event in enumerate(events):
        try:
            read_as: dict[str, str] = {}
            text = json.dumps(_for_json(event, (), read_as))
            read.append((position, Event.from_json(text, read_as)))
        except CannotCarryError as reason:
            unable[position] = f"JSON cannot carry {reason}"
    outcome = _asked_in_turn(_filled(subscriptions, settings), read)
    return Outcome(outcome.pairs, outcome.problems, unable)


def _filled(subscriptions: Subscriptions, settings: Settings) -> Matcher:
    """Each subscription by itself, none compiled."""
    matcher = _empty(settings, len(subscriptions))
    for id, where in subscriptions.items():
        matcher.add(id, where)
    return matcher


def _empty(settings: Settings, uncompiled: int) -> Matcher:
    return Matcher(**options_of(settings), uncompiled=uncompiled)


def options_of(settings: Settings) -> dict[str, Any]:
    """The settings as a Matcher and `compile_index` take them."""
    return {"analyser": settings.analyser.name, "statistics": settings.statistics, "latent": settings.latent}


# The same with everything compiled


def _compiled(subscriptions: Subscriptions, settings: Settings) -> Matcher:
    matcher = _empty(settings, 0)
    matcher.add_many(subscriptions.items())
    return matcher


def _compiled_one_by_one(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    return _asked_in_turn(_compiled(subscriptions, settings), enumerate(events))


def _compiled_in_batches(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    return _asked_at_once(_compiled(subscriptions, settings), events)


def _compiled_from_arrow(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    return _asked_by_tables(_compiled(subscriptions, settings), events)


def _compiled_in_parts(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    """Many parts, some merged, with others that were removed or replaced among them, and a few not compiled."""
    matcher = _empty(settings, 4)
    for number, (id, where) in enumerate(subscriptions.items()):
        matcher.add(f"gone {number}", where)
        matcher.add(id, "TRUE" if number % 3 else where)
        if number % 3:
            matcher.add(id, where, replace=True)
    for number in range(len(subscriptions)):
        matcher.remove(f"gone {number}")
    return _asked_at_once(matcher, events)


def _asked_in_turn(matcher: Matcher, events: Iterable[tuple[int, Event | Mapping[str, Any]]]) -> Outcome:
    pairs: set[Pair] = set()
    problems: set[Problem] = set()
    for position, event in events:
        try:
            result = matcher.match(event)
        except EventError:
            problems.add((position, None))
        else:
            pairs |= {(position, str(id)) for id in result.ids}
            problems |= {(position, problem.attribute) for problem in result.errors}
            assert len(result.errors) == len({problem.attribute for problem in result.errors}), "reported twice"
    return Outcome(frozenset(pairs), frozenset(problems))


def _for_json(value: Any, path: tuple[str, ...], read_as: dict[str, str]) -> Any:
    """What JSON has for a value; `read_as` is told of the attributes that are to be read as something else."""
    if isinstance(value, str):
        if json.loads(json.dumps(value)) != value:
            raise CannotCarryError("two halves of a surrogate pair side by side and still apart")
        return value
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise CannotCarryError("a field whose name is not a string")
        return {name: _for_json(inner, (*path, name), read_as) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return _array_for_json(list(value), path, read_as)
    if not isinstance(value, date | Decimal):
        raise CannotCarryError(f"values of type {type(value).__name__}")
    if any("." in name for name in path):
        raise CannotCarryError("a time or decimal in a field whose name has a dot, which read_as takes for a path")
    read_as[".".join(path)] = _kind_for_json(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _array_for_json(array: list[Any], path: tuple[str, ...], read_as: dict[str, str]) -> list[Any]:
    """Of an array `read_as` can say one thing only, and nothing of what lies deeper."""
    kinds = {_kind_for_json(element) for element in array if element is not None}
    if len(kinds) > 1 and kinds & {"timestamp", "decimal"}:
        raise CannotCarryError("an array of times or decimals beside values of other types")
    if kinds <= {"other"} and any(_holds_typed(element) for element in array):
        raise CannotCarryError("times or decimals inside the records or arrays of an array")
    return [_for_json(element, path, read_as) for element in array]


def _kind_for_json(value: Any) -> str:
    return "timestamp" if isinstance(value, date) else "decimal" if isinstance(value, Decimal) else "other"


def _holds_typed(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_holds_typed(inner) for inner in value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return any(_holds_typed(inner) for inner in value)
    return _kind_for_json(value) != "other"


# The embedded matcher given many events at once


def _in_batches(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    return _asked_at_once(_filled(subscriptions, settings), events)


def _asked_at_once(matcher: Matcher, events: Events) -> Outcome:
    problems: list[EventProblem] = []
    table = matcher.match_many(events, on_error=problems.append)
    return Outcome(_pairs_of(table), _positions_of(problems))


def _from_arrow(subscriptions: Subscriptions, events: Events, settings: Settings) -> Outcome:
    return _asked_by_tables(_filled(subscriptions, settings), events)


def _asked_by_tables(matcher: Matcher, events: Events) -> Outcome:
    """Events as Arrow tables, as few as their types allow, with their positions as ids."""
    tables, unable = _tables_of(events)
    problems: list[EventProblem] = []
    pairs: set[Pair] = set()
    for table in tables:
        pairs |= _pairs_of(matcher.match_many(table, on_error=problems.append))
    return Outcome(frozenset(pairs), _positions_of(problems), unable)


def _pairs_of(table: pa.Table) -> frozenset[Pair]:
    return frozenset(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))


def _positions_of(problems: Iterable[EventProblem]) -> frozenset[Problem]:
    return frozenset((int(problem.event or 0), problem.attribute) for problem in problems)


def _tables_of(events: Events) -> tuple[list[pa.Table], dict[int | str, str]]:
    tables: list[pa.Table] = []
    unable: dict[int | str, str] = {}
    for position, event in enumerate(events):
        try:
            table = _row_of(position, event)
        except (
            CannotCarryError,
            pa.ArrowException,
            UnicodeEncodeError,
            OverflowError,
            TypeError,
            ValueError,
        ) as reason:
            unable[position] = f"Arrow cannot carry it: {str(reason).splitlines()[0]}"
            continue
        joined = _joined(tables[-1], table) if tables else None
        tables[len(tables) - (joined is not None) :] = [joined or table]
    return tables, unable


def _joined(above: pa.Table, below: pa.Table) -> pa.Table | None:
    """One table of two. Columns that one of them lacks are filled with nulls; of types that differ there is none."""
    try:
        return pa.concat_tables([above, below], promote_options="default")
    except pa.ArrowException:
        return None


def _row_of(position: int, event: Mapping[str, Any]) -> pa.Table:
    """One event as a table of one row, verified to hold the event's values and not others (a set becomes a list)."""
    listed = _for_arrow(event)
    table = pa.Table.from_pylist([{"id": position, **listed}])
    (row,) = table.to_pylist()
    for name, value in listed.items():
        if not _same(value, row[name]):
            raise CannotCarryError(f"{value!r:.60} would become {row[name]!r:.60}")
    return table


def _for_arrow(value: Any) -> Any:
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise CannotCarryError("a field's name is a string")
        return {name: _for_arrow(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_for_arrow(element) for element in value]
    return value


def _same(given: Any, carried: Any) -> bool:
    """Whether Arrow gave a value back; a field that is null and one that is not there are the same to it and to us."""
    if isinstance(given, dict):
        names = given.keys() | carried.keys() if isinstance(carried, dict) else None
        return names is not None and all(_same(given.get(name), carried.get(name)) for name in names)
    if isinstance(given, list):
        pairs = zip(given, carried, strict=True) if isinstance(carried, list) and len(given) == len(carried) else None
        return pairs is not None and all(_same(*pair) for pair in pairs)
    if isinstance(given, datetime) and isinstance(carried, datetime):
        return _as_utc(given) == _as_utc(carried)
    if isinstance(given, int | float) and isinstance(carried, int | float):
        same_kind = isinstance(given, bool) == isinstance(carried, bool)
        return same_kind and (given == carried or (given != given and carried != carried))
    return type(given) is type(carried) and bool(given == carried)


def _as_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


# One row for each matcher: its name, and how it is asked. Add yours here.
MATCHERS = (
    MatcherUnderTest("reference", _by_reference),
    MatcherUnderTest("matcher", _one_by_one),
    MatcherUnderTest("matcher-batch", _in_batches),
    MatcherUnderTest("matcher-arrow", _from_arrow),
    MatcherUnderTest("matcher-json", _from_json),
    MatcherUnderTest("matcher-durable", _durable),
    MatcherUnderTest("matcher-saved", _saved),
    MatcherUnderTest("index", _compiled_one_by_one),
    MatcherUnderTest("index-batch", _compiled_in_batches),
    MatcherUnderTest("index-arrow", _compiled_from_arrow),
    MatcherUnderTest("index-parts", _compiled_in_parts),
)
