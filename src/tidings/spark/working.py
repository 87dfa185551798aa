"""An index at work in a Python worker: compiled parts by the kernels, and what is not compiled one by one.

It answers as `Matcher.match_many` does, and changes its ways as that does: what was asked one by one so often that
compiling it would have been quicker is compiled, for this worker alone. So the first batch of a small index waits for
no kernels, and a large table of events is not matched one by one to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.index.answers import Asked, Finder
from tidings.index.array_file import ArrayFile
from tidings.index.columns import IdColumn
from tidings.index.engines import need_no_compiler
from tidings.index.folder import Version
from tidings.language.parser import parse
from tidings.matcher import WORTH_ADDING, WORTH_COMPILING
from tidings.model.event import Event, Identifier, rows_of_arrow
from tidings.model.predicates import Expression
from tidings.model.result import EventProblem
from tidings.model.values import normal
from tidings.reference import Reading, truth
from tidings.spark.arrow_types import arrow_type
from tidings.spark.metadata import metadata_in, metadata_schema
from tidings.spark.uncompiled import columns_of
from tidings.store import Contents

if TYPE_CHECKING:
    import pyarrow

    from tidings.index.compiled import CompiledIndex
    from tidings.index.part import Part

NUMBER = 5  # times 8 bytes: what a number takes while it is a Python object in a list


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What some of the subscriptions answered, by their numbers: their ids and further columns, in that order."""

    ids: IdColumn
    columns: Mapping[str, pyarrow.Array]
    finder: Finder


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """What a batch matched; good until the index is asked again. An event is named by its row."""

    found: tuple[Found, ...]
    problems: tuple[EventProblem, ...]
    candidates: int


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """Subscriptions that are not compiled."""

    ids: IdColumn
    wheres: Sequence[str]
    expressions: Sequence[Expression]
    columns: Mapping[str, pyarrow.Array]


class OpenIndex:
    """The version of an index, mapped."""

    def __init__(self, folder: Path, version: Version, files: Sequence[ArrayFile]) -> None:
        contents = Contents(folder, version, files)
        self._settings, self._learned = contents.settings, contents.learned
        self._columns: dict[str | None, Mapping[str, pyarrow.Array]] = {
            name: metadata_in(file) for name, file in zip(version.segments, files, strict=True)
        }
        fields = metadata_schema(version, files)
        self.types = {field.name: arrow_type(field.dataType) for field in fields}
        self.types |= {name: column.type for columns in self._columns.values() for name, column in columns.items()}
        self._waiting = _waiting(files, contents.recent) if contents.recent else None
        self._compiled: CompiledIndex | None = None
        self._hits_of_parts = 0
        parts = [part for part in contents.parts if len(part)]
        if parts:
            self._take(parts)
        self._asked = 0  # pairs of a subscription and an event

    @property
    def parts(self) -> Sequence[Part]:
        """All subscriptions in compiled parts: what was not compiled is now."""
        if self._waiting is not None:
            self._compile(self._waiting)
        return self._compiled.parts if self._compiled is not None else ()

    @property
    def is_compiled(self) -> bool:
        """Whether kernels are at work."""
        return self._compiled is not None

    @property
    def most_hits(self) -> int:
        """How many one event can have, of those that are written down one by one."""
        return self._hits_of_parts + (NUMBER * len(self._waiting.ids) if self._waiting is not None else 0)

    def columns_of(self, part: Part) -> Mapping[str, pyarrow.Array]:
        """The further columns of the subscriptions of a part."""
        return self._columns[part.file]

    def among(self, ids: Sequence[Identifier]) -> set[Identifier]:
        """Those of the identifiers that are taken."""
        found = self._compiled.among(ids) if self._compiled is not None else set()
        return found | set(self._waiting.ids).intersection(ids) if self._waiting is not None else found

    def match(self, events: pyarrow.Table) -> Matched:
        found: list[Found] = []
        problems: dict[tuple[Any, str | None], EventProblem] = {}
        candidates = 0
        if self._waiting is not None:
            self._compile_if_asked(self._waiting, events.num_rows)
        if self._waiting is not None:
            asked, unread = self._one_by_one(self._waiting, events)
            found.append(Found(self._waiting.ids, self._waiting.columns, asked))
            problems = {(problem.event, problem.attribute): problem for problem in unread}
            candidates = len(self._waiting.ids) * events.num_rows
        if self._compiled is not None:
            matched = self._compiled.match_arrow(events, _reader(events))
            found += [Found(part.ids.column, self._columns[part.file], findings) for part, findings in matched.parts]
            problems |= {(problem.event, problem.attribute): problem for problem in matched.problems}
            candidates += matched.candidates
        return Matched(tuple(found), tuple(problems.values()), candidates)

    def _one_by_one(self, waiting: Waiting, events: pyarrow.Table) -> tuple[Asked, list[EventProblem]]:
        found: list[list[int]] = []
        problems: list[EventProblem] = []
        for row, values in enumerate(rows_of_arrow(events)):
            reading = Reading(Event(row, normal(values)), self._settings)
            found.append([number for number, where in enumerate(waiting.expressions) if truth(where, reading) is True])
            problems += reading.problems()
        return Asked.of(found), problems

    def _compile_if_asked(self, waiting: Waiting, events: int) -> None:
        self._asked += len(waiting.ids) * events
        if self._asked > WORTH_COMPILING or (self._asked > WORTH_ADDING and need_no_compiler(waiting.expressions)):
            self._compile(waiting)

    def _compile(self, waiting: Waiting) -> None:
        import pyarrow as pa

        from tidings.index.compiled import CompiledIndex

        index = CompiledIndex(self._settings, self._learned)
        part = index.built(list(zip(waiting.ids, waiting.wheres, waiting.expressions, strict=True)))
        number = {id: number for number, id in enumerate(waiting.ids)}
        order = pa.array([number[id] for id in part.ids.column], pa.int64())
        self._columns[None] = {name: column.take(order) for name, column in waiting.columns.items()}
        self._waiting = None
        self._take([*(self._compiled.parts if self._compiled is not None else ()), part])

    def _take(self, parts: Sequence[Part]) -> None:
        from tidings.index.compiled import CompiledIndex

        self._compiled = CompiledIndex(self._settings, parts=parts)
        self._hits_of_parts = sum(_most_hits(part.segment) for part in parts)


def _waiting(files: Sequence[ArrayFile], recent: Mapping[Identifier, str]) -> Waiting:
    ids, wheres = list(recent), list(recent.values())
    return Waiting(IdColumn.of(ids), wheres, [parse(where) for where in wheres], columns_of(files, ids))


def _reader(events: pyarrow.Table) -> Callable[[int], Event]:
    def event(row: int) -> Event:
        (found,) = rows_of_arrow(events.slice(row, 1))
        return Event(None, normal(found))

    return event


def _most_hits(segment: Any) -> int:
    """How many subscriptions stand in tables whose answers are not ranges."""
    first = segment.bucket_entries[segment.table_buckets]
    checked: Sequence[int] = (first[1:] - first[:-1])[segment.table_sliced == 0]
    return min(int(sum(checked)), len(segment.member_shared))
