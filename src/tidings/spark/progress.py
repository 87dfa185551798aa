"""A line on the terminal while a job runs: how many tasks are done, and for how long it has been going.

Where the standard error is not a terminal, nothing is written. Spark Connect has no counts of tasks; it shows the time.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidings.spark.sessions import is_classic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY_SECONDS = 0.5


@contextmanager
def shown_progress(spark: SparkSession, what: str, wanted: bool) -> Iterator[None]:
    """Shows the tasks of the application while the body runs, under the name of what it does."""
    if not wanted or not sys.stderr.isatty():
        yield
        return
    start, done = time.monotonic(), threading.Event()

    def show() -> None:
        while not done.wait(EVERY_SECONDS):
            print(
                f"\r{what}: {_tasks(spark)}{time.monotonic() - start:.0f} s\x1b[K", end="", file=sys.stderr, flush=True
            )

    shower = threading.Thread(target=show, daemon=True)
    shower.start()
    try:
        yield
    finally:
        done.set()
        shower.join()
        print(f"\r{what}: {time.monotonic() - start:.1f} s\x1b[K", file=sys.stderr)


def _tasks(spark: SparkSession) -> str:
    if not is_classic(spark):
        return ""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getActiveJobsIds()]
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    counts = [(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage is not None]
    return f"{sum(done for done, _ in counts)} of {sum(tasks for _, tasks in counts)} tasks, " if counts else ""
