"""One run of `tidings match`: subscriptions compiled, events matched as a table or as a stream, and what came of it."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.errors import SettingError
from tidings.match_files.counting import Counted, counted_batch
from tidings.match_files.formats import is_local
from tidings.match_files.request import Request
from tidings.match_files.sources import event_table, subscription_table
from tidings.match_files.stream import counted_stream, index_in_checkpoint, remove_earlier
from tidings.match_files.summary import PROBLEMS_SHOWN, Problem, Summary
from tidings.spark_session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidings.spark import Compiled

Say = Callable[[str], None]  # a line of progress


@dataclass(frozen=True, slots=True)
class _Subscriptions:
    """Where the index is that is asked, and what was refused on the way there."""

    path: str
    count: int
    refused: int = 0
    first_refused: tuple[Problem, ...] = ()
    refused_file: str | None = None


def match_files(request: Request, say: Say | None = None) -> Summary:
    """Matches the events in files with the subscriptions in files, and writes the matches to a file or folder.

    Raises a SettingError for an option that cannot be followed, and another TidingsError for input that cannot be used.
    """
    request.check()
    if request.streaming and request.overwrite:
        remove_earlier(request)
    say = say or _to_nobody
    say(f"starting Spark on {request.master} …")
    with spark_session("tidings match", request.master, request.settings) as spark, _index_folder(request) as folder:
        from tidings.spark.matching import STRATEGIES

        if request.strategy not in ("auto", *STRATEGIES):
            known = ", ".join(["auto", *STRATEGIES])
            raise SettingError(f"--strategy is one of {known}, not {request.strategy!r}")
        subscriptions = _compiled(spark, request, folder, say)
        events = event_table(spark, request)
        count = counted_stream if request.streaming else counted_batch
        counted = count(spark, request, events, subscriptions.path, say)
        return _summary(spark, request, subscriptions, counted)


def _to_nobody(line: str) -> None:
    del line


@contextmanager
def _index_folder(request: Request) -> Iterator[str]:
    """Where the subscriptions are compiled to: where it was asked for, in the checkpoint of a stream, or a folder that
    is gone afterwards."""
    if request.index is not None:
        yield request.index
        return
    if request.streaming and not _is_index(request.subscriptions):
        yield index_in_checkpoint(request)
        return
    with tempfile.TemporaryDirectory(prefix="tidings-match-") as folder:
        yield str(Path(folder) / "index")


def _is_index(path: str) -> bool:
    from tidings.index.folder import holds_index

    return is_local(path) and Path(path).is_dir() and holds_index(Path(path))


def _compiled(spark: SparkSession, request: Request, folder: str, say: Say) -> _Subscriptions:
    from tidings.spark import compile_index, open_index

    given = request.subscriptions
    if _is_index(given):
        if request.index is not None:
            raise SettingError(f"{given} is a compiled index already; leave out --index")
        with open_index(spark, given) as index:
            say(f"{index.subscriptions:,} subscriptions in the index {given}, version {index.version.number}")
            return _Subscriptions(given, index.subscriptions)
    if request.index is not None and _is_index(request.index) and not (request.overwrite or request.goes_on):
        raise SettingError(
            f"--index {request.index} holds an index already; give it as SUBSCRIPTIONS, name another folder, or add "
            "--overwrite to change the subscriptions that it has"
        )
    made = compile_index(
        subscription_table(spark, request),
        folder,
        analyser=request.analyser,
        replace=request.overwrite,
        instead=request.goes_on,
        progress=sys.stderr.isatty(),
    )
    say(f"{made.added + made.replaced:,} subscriptions compiled, {made.refused:,} refused, in {made.seconds:.1f} s")
    first, file = _refused(request, made)
    return _Subscriptions(folder, made.added + made.replaced, made.refused, first, file)


def _refused(request: Request, made: Compiled) -> tuple[tuple[Problem, ...], str | None]:
    """The first refused rows, and the file beside the output that has all of them."""
    target = request.beside("refused")
    if is_local(target):
        Path(target).unlink(missing_ok=True)  # of an earlier run
    if not made.refused:
        return (), None
    rows = [row.asDict() for row in made.errors.collect()]
    if is_local(target):
        with Path(target).open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        made.errors.write.mode("overwrite").json(target)
    first = [Problem(row["id"], _one_line(row["message"])) for row in rows[:PROBLEMS_SHOWN]]
    return tuple(first), target


def _one_line(message: str) -> str:
    return message.partition("\n")[0]


def _summary(spark: SparkSession, request: Request, asked: _Subscriptions, counted: Counted) -> Summary:
    return Summary(
        subscriptions=asked.count,
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
