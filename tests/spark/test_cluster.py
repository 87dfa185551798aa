"""A real cluster: a standalone master and two workers, processes of this machine on loopback. One of them is killed.

What is compiled there before has more subscriptions than are asked one by one. The killed worker takes down a task of
the first strategy; the second one runs on the worker that is left, and finds its files there or gets them.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import tidings
from conftest import SOURCE, _version_of_java
from tidings.index.folder import read_version

PROGRAM = Path(__file__).parent / "programs" / "match_on_cluster.py"
START_SECONDS, JOB_SECONDS = 90, 240  # on a busy machine
TASKS, EVENTS = 12, 240  # of the program
STRATEGIES = ("replicated", "sharded")
WHERES = {f"s{number}": f"n {'<>='[number % 3]} {number % 20} AND n <> {number % 7}" for number in range(2_400)}


class Cluster:
    """Its processes, each the head of a group: an executor is in that of its worker."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.address = ""

    def start(self) -> None:
        """Skips the test where the cluster cannot be started."""
        master = "org.apache.spark.deploy.master.Master"
        self._run("master", master, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.address = self._said("master", r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        for name in ("one", "two"):
            options = ("--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g")
            work = ("--work-dir", str(self.folder / name))
            self._run(name, "org.apache.spark.deploy.worker.Worker", *options, *work, self.address)
        for name in ("one", "two"):
            self._said(name, "(Successfully registered) with master")

    def _run(self, name: str, class_name: str, *options: str) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # it starts sooner
            "PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")]),  # this checkout
        }
        with (self.folder / f"{name}.txt").open("w") as log:
            self.processes[name] = subprocess.Popen(
                [str(home / "bin" / "spark-class"), class_name, *options],
                stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True,
            )  # fmt: skip

    def _said(self, name: str, pattern: str) -> str:
        log, end = self.folder / f"{name}.txt", time.monotonic() + START_SECONDS
        while not (found := re.search(pattern, log.read_text(errors="replace"))):
            if self.processes[name].poll() is not None or time.monotonic() > end:
                pytest.skip(f"the cluster's {name} cannot be started here: {log.read_text(errors='replace')[-500:]}")
            time.sleep(0.05)
        return found[1]

    def kill(self, name: str) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes[name].wait(START_SECONDS)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'tidings[spark]'")
    if (_version_of_java() or 0) < 17:
        pytest.skip("Spark needs Java 17 or newer, and there is none")
    cluster = Cluster(tmp_path)
    try:
        cluster.start()
        yield cluster
    finally:
        for name in cluster.processes:
            cluster.kill(name)


@pytest.mark.slow
def test_a_worker_killed_while_the_job_runs_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    lines = (json.dumps({"id": id, "where": where}) + "\n" for id, where in WHERES.items())
    (tmp_path / "subscriptions.json").write_text("".join(lines))
    (tmp_path / "marks").mkdir()
    with (tmp_path / "output.txt").open("w") as output:
        job = subprocess.Popen(
            [sys.executable, str(PROGRAM), cluster.address, str(tmp_path)],
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "PYSPARK_PYTHON": sys.executable},
        )  # fmt: skip
    try:
        wait_for(job, tmp_path, lambda: marks_of(tmp_path, "one"))
        assert len(list((tmp_path / "marks").iterdir())) < TASKS, "the job was over before a worker could be killed"
        cluster.kill("one")  # the next task begins there when one ends, so there is always one that is lost
        assert job.wait(JOB_SECONDS) == 0, (tmp_path / "output.txt").read_text()[-3000:]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait(START_SECONDS)
    assert [file.notes["compiled"] for file in read_version(tmp_path / "index")[1]] == [True, True]
    by_number = {n: [id for id, where in WHERES.items() if tidings.holds(where, {"n": n})] for n in range(20)}
    expected = sorted(f"{id} {subscription}" for id in range(EVENTS) for subscription in by_number[id % 20])
    for strategy in STRATEGIES:
        assert (tmp_path / f"found-{strategy}").read_text().splitlines() == expected, strategy
    begun, again = ({name.partition("-")[0] for name in marks_of(tmp_path, worker)} for worker in ("one", "two"))
    assert begun & again, "no task that the dead worker had begun was run again by the other"


def marks_of(folder: Path, worker: str) -> list[str]:
    """The marks of the tasks that a worker's executor has begun."""
    below = str(folder / worker)
    return [path.name for path in (folder / "marks").iterdir() if path.read_text().startswith(below)]


def wait_for(job: subprocess.Popen[bytes], folder: Path, what: Callable[[], list[str]]) -> None:
    end = time.monotonic() + JOB_SECONDS
    while not what():
        assert job.poll() is None, (folder / "output.txt").read_text()[-3000:]
        assert time.monotonic() < end, "the job did not begin"
        time.sleep(0.02)
