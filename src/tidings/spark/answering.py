"""What a task does to match events: batches in, matches out in batches of bounded size, whatever an event matches.

Three bounds keep the memory of a worker small. A batch of events is matched in slices, so short that even if every
subscription which is written down one by one answered every event of a slice, the kernels' room would be BYTES_OF_HITS.
Answers are counted before they are written: where a slice has more than MOST_ANSWERS, it is matched again in smaller
ones. And what is handed to Spark has at most ANSWERS in one batch; only the list of a single event cannot be divided.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidings.index.answers import Answers as Written
from tidings.index.answers import numbers_found
from tidings.index.layout import Array
from tidings.model.result import EventProblem
from tidings.spark.arrow_types import in_utc, short_strings
from tidings.spark.files import IndexFiles
from tidings.spark.opening import ASKING, MATCHING, opened, settle
from tidings.spark.working import Found, Matched, OpenIndex

if TYPE_CHECKING:
    import pyarrow
    from pyspark import Accumulator

BYTES_OF_HITS = 2**30
MOST_ANSWERS = 2**23  # of a slice: 64 MB as integers
ANSWERS = 2**17  # in one batch: 1 MB as integers; measured, more of them is not faster
BYTES_OF_IDS = 2**24  # in one batch, where ids are strings and long
ROWS = 10_000  # of a slice, at most: what Spark puts into a batch unless told otherwise
PAIRS, LISTS, PIECES = "pairs", "lists", "pieces"

log = logging.getLogger("tidings.spark")


@dataclass(frozen=True, slots=True)
class Asking:
    """What a task is told. A batch has the id of the event first; the rest is named by position.

    PAIRS are rows of an event's id and a subscription. LISTS are one row for each event. PIECES are rows with a list as
    well, but several for an event that has many, and none for one that has none: they become pairs in Spark, so that
    what is carried of an event does not leave Python once for each match.
    """

    files: IndexFiles
    attributes: tuple[tuple[int, str], ...]  # position of a column, and the attribute it is
    foreign: tuple[tuple[str, str], ...]  # attributes in which a span of time stands for values of another type
    carried: tuple[int, ...]
    columns: tuple[str, ...]  # of subscriptions
    texts: bool  # whether the ids of subscriptions are strings
    form: str
    candidates: Accumulator[int] | None = None


def answered(asking: Asking, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The matches. Events have an id: those without one were left out before."""
    index = opened(asking.files)
    yield from _answered(index, asking, batches)
    settle(MATCHING if index.is_compiled else ASKING)


def _answered(
    index: OpenIndex, asking: Asking, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    unreadable = 0
    example: EventProblem | None = None
    write = _pairs if asking.form == PAIRS else _lists
    for batch in batches:
        problems: list[EventProblem] = []
        for start, rows, answers in _answers(index, asking, events_in(asking, batch), problems.append):
            yield from write(asking, batch.slice(start, rows), answers)
        unreadable += len(problems)
        example = example or next(iter(problems), None)
    if example is not None:
        log.warning("%d values could not be read, such as %s: %s", unreadable, example.attribute, example.reason)


def problems_found(asking: Asking, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """What could not be read: the id of the event, the attribute, the reason."""
    import pyarrow as pa

    index = opened(asking.files)
    for batch in batches:
        found: list[EventProblem] = []
        ids = batch.column(0)
        for _ in _answers(index, asking, events_in(asking, batch), found.append):
            pass
        found = [problem for problem in found if ids[int(str(problem.event))].is_valid]
        nameless = np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))
        rows = [*nameless.tolist(), *(int(str(problem.event)) for problem in found)]
        attributes = [None] * len(nameless) + [problem.attribute for problem in found]
        reasons = ["the event has no id, and is not matched"] * len(nameless) + [problem.reason for problem in found]
        columns = [
            ids.take(pa.array(rows, pa.int64())),
            pa.array(attributes, pa.string()),
            pa.array(reasons, pa.string()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["event_id", "attribute", "reason"])


# Events


def events_in(asking: Asking, batch: pyarrow.RecordBatch) -> pyarrow.Table:
    """The columns that the index reads, under the names of their attributes."""
    import pyarrow as pa

    columns = [in_utc(batch.column(position)) for position, _ in asking.attributes]
    if not columns:  # a table without columns has no rows
        return pa.table({"": pa.nulls(batch.num_rows)})
    return pa.Table.from_arrays(columns, [name for _, name in asking.attributes])


# Answers


@dataclass(frozen=True, slots=True)
class Answers:
    """The subscriptions of some events: ids first, then their columns; those of row r are offsets[r]:offsets[r + 1]."""

    offsets: Array
    columns: list[pyarrow.Array]


def _answers(
    index: OpenIndex, asking: Asking, events: pyarrow.Table, report: Callable[[EventProblem], None]
) -> Iterator[tuple[int, int, Answers]]:
    """First row, number of rows, and their answers; several answers for the same rows where that saves putting them in
    order."""
    most_rows = int(max(1, min(ROWS, BYTES_OF_HITS // (8 * max(1, index.most_hits)))))
    for start in range(0, events.num_rows, most_rows):
        rows = events.slice(start, most_rows)
        matched = index.match(rows)
        if asking.candidates is not None:
            asking.candidates.add(matched.candidates)
        for problem in matched.problems:
            report(EventProblem(start + int(str(problem.event)), problem.attribute, _reason(asking, problem)))
        for first, last in _affordable(_counted(matched, rows.num_rows)):
            some = rows.slice(first, last - first)
            if some.num_rows < rows.num_rows:
                matched = index.match(some)
            for answers in _written(index, asking, matched, some.num_rows):
                yield start + first, some.num_rows, answers


def _reason(asking: Asking, problem: EventProblem) -> str:
    """What is wrong with the value that Spark has, where another one stands for it."""
    for name, kind in asking.foreign:
        if "timedelta" in problem.reason and str(problem.attribute).partition(".")[0].strip("`") == name:
            return f"a value of the type {kind} is none of the types that an attribute can have"
    return problem.reason


def _counted(matched: Matched, rows: int) -> Array:
    counts = np.zeros(rows, np.int64)
    for found in matched.found:
        found.finder.count(counts)
    return counts


def _affordable(counts: Array) -> Iterator[tuple[int, int]]:
    """Ranges of rows with MOST_ANSWERS together, or of one row."""
    return _ranges(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), MOST_ANSWERS)


def _ranges(offsets: Array, most: int) -> Iterator[tuple[int, int]]:
    first, rows = 0, len(offsets) - 1
    while first < rows:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + most, side="right")) - 1)
        yield first, min(last, rows)
        first = last


def _written(index: OpenIndex, asking: Asking, matched: Matched, rows: int) -> Iterator[Answers]:
    """Integers without further columns are written by the kernels where they belong. All else is taken, part by part,
    from the mapped columns, and put into the order of the rows only where each row has one list."""
    if not asking.columns and not asking.texts:
        written = Written(rows, int)
        for each in matched.found:
            written.add(each.ids, each.finder)
        offsets, ids = written.arrow()
        yield Answers(offsets, [ids])
        return
    found = [_taken(index, asking, each, rows) for each in matched.found]
    if asking.form == LISTS:
        yield found[0] if len(found) == 1 else _merged([_none(index, asking, rows), *found])
    else:
        yield from (answers for answers in found if answers.offsets[-1])


def _taken(index: OpenIndex, asking: Asking, found: Found, rows: int) -> Answers:
    import pyarrow as pa

    offsets, numbers = numbers_found(found.finder, rows)
    which = pa.array(numbers)
    further = found.columns
    columns = [found.ids.arrow().take(which)]
    for name in asking.columns:
        kind = index.types[name]
        columns.append(further[name].take(which).cast(kind) if name in further else pa.nulls(len(which), kind))
    return Answers(offsets, columns)


def _none(index: OpenIndex, asking: Asking, rows: int) -> Answers:
    import pyarrow as pa

    kinds = [pa.large_string() if asking.texts else pa.int64(), *(index.types[name] for name in asking.columns)]
    return Answers(np.zeros(rows + 1, np.int64), [pa.array([], kind) for kind in kinds])


def _merged(found: list[Answers]) -> Answers:
    """One list for each row of several."""
    import pyarrow as pa

    offsets = np.sum([answers.offsets for answers in found], axis=0)
    places, order, base = offsets[:-1].copy(), np.empty(offsets[-1], np.int64), 0
    for answers in found:
        counts, total = np.diff(answers.offsets), int(answers.offsets[-1])
        order[np.repeat(places - answers.offsets[:-1], counts) + np.arange(total)] = np.arange(base, base + total)
        places, base = places + counts, base + total
    columns = zip(*[answers.columns for answers in found], strict=True)
    return Answers(offsets, [pa.concat_arrays(each).take(pa.array(order)) for each in columns])


# Batches


def _pairs(asking: Asking, batch: pyarrow.RecordBatch, answers: Answers) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow as pa

    ids, step = batch.column(0), _in_one_batch(answers)
    rows = np.repeat(np.arange(batch.num_rows, dtype=np.int32), np.diff(answers.offsets))
    for start in range(0, len(rows), step):
        some = slice(start, start + step)
        columns = [ids.take(pa.array(rows[some])), *(short_strings(column[some]) for column in answers.columns)]
        yield pa.RecordBatch.from_arrays(columns, ["event_id", "subscription_id", *asking.columns])


def _lists(asking: Asking, batch: pyarrow.RecordBatch, answers: Answers) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow as pa

    step = _in_one_batch(answers)
    cut = _ranges(answers.offsets, step) if asking.form == LISTS else None
    for rows, offsets in _whole(answers.offsets, cut) if cut else _divided(answers.offsets, step):
        some = [short_strings(column[offsets[0] : offsets[-1]]) for column in answers.columns]
        lists = pa.ListArray.from_arrays((offsets - offsets[0]).astype(np.int32), _joined(asking, some))
        carried = [batch.column(position).take(rows) for position in (0, *asking.carried)]
        yield pa.RecordBatch.from_arrays([*carried, lists], [*(f"c{at}" for at in range(len(carried))), "found"])


def _whole(offsets: Array, ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[Any, Array]]:
    import pyarrow as pa

    for first, last in ranges:
        yield pa.array(np.arange(first, last)), offsets[first : last + 1]


def _divided(offsets: Array, step: int) -> Iterator[tuple[Any, Array]]:
    """Rows with something, those at the ends of a piece with a part of what they have."""
    import pyarrow as pa

    for start in range(0, int(offsets[-1]), step):
        end = min(start + step, int(offsets[-1]))
        first = int(np.searchsorted(offsets, start, side="right")) - 1
        last = int(np.searchsorted(offsets, end, side="left"))
        cut = np.clip(offsets[first : last + 1], start, end)
        filled = np.flatnonzero(np.diff(cut))
        yield pa.array(first + filled), np.concatenate([cut[filled], cut[-1:]])


def _joined(asking: Asking, columns: list[pyarrow.Array]) -> pyarrow.Array:
    import pyarrow as pa

    return pa.StructArray.from_arrays(columns, ["subscription_id", *asking.columns]) if asking.columns else columns[0]


def _in_one_batch(answers: Answers) -> int:
    """How many answers go into one batch: by their number, and by the bytes of what is not a number."""
    total = max(1, int(answers.offsets[-1]))
    nbytes = max(1, sum(int(column.nbytes) for column in answers.columns))
    return max(1, min(ANSWERS, BYTES_OF_IDS * total // nbytes))
