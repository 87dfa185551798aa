"""One run of `tidings match`: subscriptions compiled, events matched as a table or as a stream, and what came of it."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tidings import Matcher
from tidings.match_files.checking import check
from tidings.match_files.counting import Counted, counted_batch
from tidings.match_files.formats import format_of, local_path
from tidings.match_files.mismatches import mismatches
from tidings.match_files.output import must_hold
from tidings.match_files.request import Request
from tidings.match_files.sources import CORRUPT, event_table, subscription_table
from tidings.match_files.stream import counted_stream, index_in_checkpoint, remove_earlier
from tidings.match_files.summary import PROBLEMS_SHOWN, Problem, Summary, number_of
from tidings.spark_session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidings.spark import Compiled

Say = Callable[[str], None]  # a line of progress


@dataclass(frozen=True, slots=True)
class _Subscriptions:
    """Where the index is that is asked, what it holds, and what was refused on the way there."""

    path: str
    count: int = 0
    scanned: int = 0
    warnings: tuple[str, ...] = ()
    refused: int = 0
    first_refused: tuple[Problem, ...] = ()
    refused_file: str | None = None


def match_files(request: Request, say: Say | None = None) -> Summary:
    """Matches the events in files with the subscriptions in files, and writes the matches to a file or folder.

    Raises a SettingError for an option that cannot be followed, and another TidingsError for input that cannot be used.
    """
    check(request)
    if request.streaming and request.overwrite:
        remove_earlier(request)
    say = say or _to_nobody
    say(f"starting Spark on {request.master} …")
    with spark_session("tidings match", request.master, request.settings) as spark, _index_folder(request) as folder:
        table = None if request.subscriptions_are_an_index else subscription_table(spark, request)
        events = event_table(spark, request)
        _must_hold_columns(request, table, events)  # before the work of compiling
        made = _Subscriptions(request.subscriptions) if table is None else _compiled(request, table, folder, say)
        subscriptions = _opened(spark, request, made, events, say)
        count = counted_stream if request.streaming else counted_batch
        counted = count(spark, request, events, subscriptions.path, say)
        return _summary(request, subscriptions, counted)


def _to_nobody(line: str) -> None:
    del line


@contextmanager
def _index_folder(request: Request) -> Iterator[str]:
    """Where the subscriptions are compiled to: where it was asked for, in the checkpoint of a stream, or a folder that
    is gone afterwards."""
    if request.index is not None:
        yield request.index
        return
    if request.streaming and not request.subscriptions_are_an_index:
        yield index_in_checkpoint(request)
        return
    with tempfile.TemporaryDirectory(prefix="tidings-match-") as folder:
        yield str(Path(folder) / "index")


def _must_hold_columns(request: Request, subscriptions: DataFrame | None, events: DataFrame) -> None:
    must_hold(request.out_format, [events.schema[name] for name in request.event_columns])
    if subscriptions is not None:
        must_hold(request.out_format, [subscriptions.schema[name] for name in request.subscription_columns])


def _compiled(request: Request, table: DataFrame, folder: str, say: Say) -> _Subscriptions:
    from tidings.spark import compile_index

    made = compile_index(
        table,
        folder,
        analyser=request.analyser,
        instead=request.goes_on or request.overwrite,
        progress=sys.stderr.isatty(),
    )
    compiled = number_of(made.added + made.replaced, "subscription")
    say(f"{compiled} compiled, {made.refused:,} refused, in {made.seconds:.1f} s")
    first, file = _refused(request, made)
    return _Subscriptions(folder, refused=made.refused, first_refused=first, refused_file=file)


def _opened(spark: SparkSession, request: Request, made: _Subscriptions, events: DataFrame, say: Say) -> _Subscriptions:
    """The same with what is known of the index as it is now."""
    from tidings.spark import open_index

    with open_index(spark, made.path) as index:
        if request.subscriptions_are_an_index:
            held = number_of(index.subscriptions, "subscription")
            say(f"{held} in the index {made.path}, version {index.version.number}")
            carried = [each for each in index.metadata if each.name in request.subscription_columns]
            must_hold(request.out_format, carried)
        kind = request.events_format or format_of(request.events, "--events-format")
        return replace(
            made,
            count=index.subscriptions,
            scanned=Matcher.load(index.folder).scanned,
            warnings=mismatches(index, events.drop(CORRUPT).schema, kind),
        )


def _refused(request: Request, made: Compiled) -> tuple[tuple[Problem, ...], str | None]:
    """The first refused rows, and the file beside the output that has all of them."""
    target = request.beside("refused")
    local = local_path(target)
    if local is not None:
        local.unlink(missing_ok=True)  # of an earlier run
    if not made.refused:
        return (), None
    rows = [row.asDict() for row in made.errors.collect()]
    if local is not None:
        with local.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        made.errors.write.mode("overwrite").json(target)
    first = [Problem(row["id"], _one_line(row["message"])) for row in rows[:PROBLEMS_SHOWN]]
    return tuple(first), target


def _one_line(message: str) -> str:
    return message.partition("\n")[0]


def _summary(request: Request, asked: _Subscriptions, counted: Counted) -> Summary:
    return Summary(
        subscriptions=asked.count,
        scanned=asked.scanned,
        warnings=asked.warnings,
        refused=asked.refused,
        first_refused=asked.first_refused,
        refused_file=asked.refused_file,
        events=counted.events,
        known=counted.known,
        matches=counted.matches,
        problems=counted.problems,
        first_problems=counted.first_problems,
        problems_file=counted.problems_file,
        seconds=round(counted.seconds, 3),
        batches=counted.batches,
        top=counted.top,
        out=request.out,
        index=request.index,
    )
