"""A folder of events that is watched: each batch of new files is matched with the newest version of the index.

A batch writes a folder of its own, whole and over what an interrupted attempt left there, so a batch that is repeated
after a restart leaves its matches once. The checkpoint says which files were done.
"""

from __future__ import annotations

import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.match_files.counting import (
    Counted,
    Written,
    first_problems,
    problem_table,
    top_subscriptions,
    write_matches,
)
from tidings.match_files.formats import JSONL, is_local
from tidings.match_files.output import write_table
from tidings.match_files.request import Request
from tidings.match_files.summary import PROBLEMS_SHOWN, Problem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EVERY = "1 second"  # how often a followed folder is looked at
PROBLEMS = "_problems"  # beside the batches; readers of the output pass over names that begin so


@dataclass(slots=True)
class _Run:
    """What the batches of this run have come to."""

    request: Request
    index: str
    say: Callable[[str], None]
    written: list[Written] = field(default_factory=list)
    problems: int = 0
    first_problems: tuple[Problem, ...] = ()
    seconds: float = 0.0

    def batch(self, events: DataFrame, number: int) -> None:
        start = time.perf_counter()
        folder = f"{self.request.out.rstrip('/')}/batch={number}"
        done = write_matches(self.request, events, self.index, folder, True)
        self.seconds += time.perf_counter() - start
        self.written.append(done)
        rate = done.events / (time.perf_counter() - start)
        self.say(f"batch {number}: {done.events:,} events, {done.matches:,} matches, {rate:,.0f} events/s")
        if self.request.problems:
            self._look_for_problems(events, number)

    def _look_for_problems(self, events: DataFrame, number: int) -> None:
        folder = f"{self.request.out.rstrip('/')}/{PROBLEMS}/batch={number}"
        write_table(problem_table(self.request, events, self.index), JSONL, folder, True)
        count, first = first_problems(events.sparkSession, folder)
        self.problems += count
        self.first_problems = (*self.first_problems, *first)[:PROBLEMS_SHOWN]


def counted_stream(
    spark: SparkSession, request: Request, events: DataFrame, index: str, say: Callable[[str], None]
) -> Counted:
    if request.overwrite and is_local(request.out):
        for folder in (request.out, request.checkpoint_folder):
            if is_local(folder):
                shutil.rmtree(folder, ignore_errors=True)
    run = _Run(request, index, say)
    writer = events.writeStream.foreachBatch(run.batch).option("checkpointLocation", request.checkpoint_folder)
    writer = writer.trigger(processingTime=EVERY) if request.follow else writer.trigger(availableNow=True)
    with _interrupted() as stop:
        if request.follow:
            say(f"watching {request.events}; interrupt (Ctrl-C) to end")
        _wait(writer.start(), stop, say)
    top = top_subscriptions(spark, request, request.out) if _has_batches(request) else ()
    return Counted(
        sum(each.events for each in run.written),
        sum(each.known for each in run.written),
        sum(each.matches for each in run.written),
        run.problems if request.problems else None,
        run.first_problems,
        f"{request.out.rstrip('/')}/{PROBLEMS}" if run.problems else None,
        run.seconds,
        len(run.written),
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


def _has_batches(request: Request) -> bool:
    return not is_local(request.out) or any(Path(request.out).glob("batch=*"))
