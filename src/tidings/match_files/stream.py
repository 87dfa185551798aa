"""A folder of events that is watched, by `tidings.spark.stream`: each match is delivered once, whatever is interrupted.

A batch has a folder of its own, which appears whole. Subscriptions from files are compiled into an index that lies in
the checkpoint, so that the version which a batch has begun with is there when the batch is done again. Each start of
the command makes a new version of it, with the subscriptions that the files have then and no others.
"""

from __future__ import annotations

import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidings.errors import SettingError
from tidings.match_files.counting import Counted, first_problems, problem_table, sharding_of, top_subscriptions
from tidings.match_files.formats import CSV, CSV_OPTIONS, JSONL, SPARK_NAMES, local_path
from tidings.match_files.output import write_table
from tidings.match_files.request import Request
from tidings.match_files.summary import PROBLEMS_SHOWN, Problem, number_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidings.spark import BatchMetrics, Index

EVERY = "1 second"  # how often a followed folder is looked at
PROBLEMS = "_problems"  # beside the batches; readers of the output pass over names that begin so
INDEX = "tidings/subscriptions"  # in the checkpoint, beside the records of the stream


def index_in_checkpoint(request: Request) -> str:
    """Where the subscriptions of a stream are compiled to, if nothing else was asked for."""
    if local_path(request.checkpoint_folder) is None:
        raise SettingError(
            f"the checkpoint {request.checkpoint_folder} is not a local folder, and versions of the index are kept in "
            "one while a batch may need them; name it with --index FOLDER"
        )
    return f"{request.checkpoint_folder}/{INDEX}"


def remove_earlier(request: Request) -> None:
    """What --overwrite replaces: the output, and the checkpoint with its index."""
    for folder in (request.out, request.checkpoint_folder):
        local = local_path(folder)
        if local is not None:
            shutil.rmtree(local, ignore_errors=True)


@dataclass(slots=True)
class _Run:
    """What the batches of this run have come to."""

    request: Request
    say: Callable[[str], None]
    done: list[BatchMetrics] = field(default_factory=list)
    problems: int = 0
    first_problems: tuple[Problem, ...] = ()

    def after_batch(self, events: DataFrame, index: Index, batch: BatchMetrics) -> None:
        self.done.append(batch)
        if batch.events is None or batch.matches is None:
            self.say(f"batch {batch.batch}: delivered before")
        else:
            came, found = number_of(batch.events, "event"), number_of(batch.matches, "match", "matches")
            rate = batch.events / max(batch.seconds, 0.001)
            self.say(f"batch {batch.batch}: {came}, {found}, {rate:,.0f} events/s")
        if self.request.problems:
            self._look_for_problems(events, index, batch.batch)

    def _look_for_problems(self, events: DataFrame, index: Index, number: int) -> None:
        folder = f"{self.request.out.rstrip('/')}/{PROBLEMS}/batch={number}"
        write_table(problem_table(self.request, events, index), JSONL, folder, True)
        count, first = first_problems(events.sparkSession, folder)
        self.problems += count
        self.first_problems = (*self.first_problems, *first)[:PROBLEMS_SHOWN]


def counted_stream(
    spark: SparkSession, request: Request, events: DataFrame, index: str, say: Callable[[str], None]
) -> Counted:
    from tidings.spark import FilesSink, stream

    kind, run = request.out_format, _Run(request, say)
    sink = FilesSink(request.out, SPARK_NAMES[kind], **(CSV_OPTIONS if kind == CSV else {}))
    with _interrupted() as stop:
        query = stream(
            events,
            index,
            sink,
            request.checkpoint_folder,
            strategy=request.strategy,
            lists=request.lists,
            event_columns=request.event_columns,
            subscription_columns=request.subscription_columns,
            id_column=request.id_column,
            sharding=sharding_of(request),
            trigger=EVERY if request.follow else "available",
            after=run.after_batch,
        )
        if request.follow:
            say(f"watching {request.events}; interrupt (Ctrl-C) to end")
        _wait(query, stop, say)
    counted = [batch.batch for batch in run.done if batch.events is not None]
    top = top_subscriptions(spark, request, request.out, min(counted)) if counted else ()
    seen = sum(batch.events or 0 for batch in run.done)
    return Counted(
        seen,
        seen - sum(batch.events_without_id or 0 for batch in run.done),
        sum(batch.matches or 0 for batch in run.done),
        run.problems if request.problems else None,
        run.first_problems,
        f"{request.out.rstrip('/')}/{PROBLEMS}" if run.problems else None,
        sum(batch.seconds for batch in run.done),
        len(run.done),
        top,
    )


def _wait(query: Any, stop: threading.Event, say: Callable[[str], None]) -> None:
    """Until the stream ends by itself, or somebody asks it to; a batch that is under way then is repeated next time."""
    while not query.awaitTermination(0.2):
        if stop.is_set():
            say("stopping …")
            query.stop()
            return


@contextmanager
def _interrupted() -> Iterator[threading.Event]:
    """Set by Ctrl-C and by a polite kill: the stream is stopped, and the summary still printed."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    for each in before:
        signal.signal(each, lambda *_: stop.set())
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
