"""Running a group: the points that are not done yet, in parallel as Spark tasks, each writing its own result.

The folder must be one that all executors see; on a single machine any folder is. A point that fails ends the run with
its error; what is done by then stays done.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from tidings.errors import StoreError
from tidings.lab.experiment import Group, Point
from tidings.lab.groups import group_named
from tidings.lab.results import Results, gather, is_done, write_point
from tidings.spark_session import spark_session

if TYPE_CHECKING:
    from tidings.lab.experiment import Experiment

RUN = "run.json"
POLL_SECONDS = 1.0


def run_group(group: Group, scale: str, out: Path, master: str, say: Callable[[str], None]) -> Results:
    """Measures what is not measured yet, and gathers everything."""
    points = group.points(scale)
    _claim(out, group, scale)
    waiting = [point for point in points if not is_done(point, out)]
    if len(waiting) < len(points):
        say(f"{len(points) - len(waiting)} of {len(points)} points were done before")
    if waiting:
        begun = monotonic()
        _run_on_spark(group.name, waiting, out, master, say)
        say(f"{len(waiting)} points in {monotonic() - begun:.0f} s")
    return gather(points, out)


def _claim(out: Path, group: Group, scale: str) -> None:
    """A folder is for one group at one scale: what a report shows belongs together."""
    out.mkdir(parents=True, exist_ok=True)
    file, mine = out / RUN, {"group": group.name, "scale": scale}
    if file.is_file():
        found = json.loads(file.read_text())
        if found != mine:
            raise StoreError(
                f"{out} holds {found.get('group')} at scale {found.get('scale')}, and this is {group.name} at scale "
                f"{scale}; choose another folder with --out"
            )
    else:
        file.write_text(json.dumps(mine) + "\n")


def read_run(out: Path) -> tuple[Group, str]:
    """Which group and scale a folder holds."""
    file = out / RUN
    if not file.is_file():
        raise StoreError(f"{out} is not the folder of a run: there is no {RUN} in it; run `tidings lab run` first")
    found = json.loads(file.read_text())
    return group_named(found["group"]), found["scale"]


def _run_on_spark(group: str, points: list[Point], out: Path, master: str, say: Callable[[str], None]) -> None:
    folder = str(out.resolve())
    with spark_session(f"tidings lab {group}", master) as session:
        tasks = session.sparkContext.parallelize(points, len(points))  # one each: they take seconds
        errors: list[Exception] = []

        def collect() -> None:
            try:
                tasks.foreach(lambda point: measure_point(group, point, folder))
            except Exception as error:  # handed to the thread that waits
                errors.append(error)

        worker = Thread(target=collect, daemon=True)
        worker.start()
        _watch(worker, points, out, say)
        if errors:
            raise errors[0]


def _watch(worker: Thread, points: list[Point], out: Path, say: Callable[[str], None]) -> None:
    begun, told = monotonic(), 0
    while worker.is_alive():
        worker.join(POLL_SECONDS)
        done = sum(is_done(point, out) for point in points)
        if done > told:
            told = done
            say(f"{done} of {len(points)} points, {monotonic() - begun:.0f} s")


def measure_point(group: str, point: Point, folder: str) -> None:
    """What a task does."""
    experiment: Experiment = group_named(group).experiment(point.experiment)
    write_point(point, experiment.measure(json.loads(point.parameters), point.seed), Path(folder))


def run_here(group: str, points: Iterable[Point], out: Path) -> None:
    """The same without Spark, one after the other: for tests, and for a look at a single point."""
    for point in points:
        if not is_done(point, out):
            measure_point(group, point, str(out))
