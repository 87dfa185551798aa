"""A stream whose driver is killed with kill -9 at random points, while another process changes the subscriptions.

In the end, for each event, the matches are those of the version that its batch recorded, each of them once. What a
version holds is known to the test, which makes them all; so the expected matches come from the definition alone.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidings
from tidings.index.folder import read_version
from tidings.spark import metrics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = Path(__file__).parent / "programs" / "deliver.py"
START_SECONDS, END_SECONDS = 120, 300  # in which a driver starts, and delivers what is left, on a busy machine
EVENTS_IN_A_FILE = 4
FILES_IN_A_ROUND = 3


@dataclass
class World:
    """Events that were published, versions that were made, and the choices that this seed gives."""

    folder: Path
    choices: random.Random
    matcher: tidings.Matcher
    wheres: dict[int, str] = field(default_factory=dict)
    versions: dict[int, dict[int, str]] = field(default_factory=dict)
    events: dict[int, int] = field(default_factory=dict)  # n by id
    subscribed: int = 0

    def change(self) -> None:
        """Adds a subscription, or removes one; a new version either way."""
        if self.wheres and self.choices.random() < 0.4:
            gone = self.choices.choice(list(self.wheres))
            self.matcher.remove(gone)
            del self.wheres[gone]
        else:
            self.subscribed += 1
            self.wheres[self.subscribed] = f"n {self.choices.choice('<>=')} {self.choices.randrange(20)}"
            self.matcher.add(self.subscribed, self.wheres[self.subscribed])
        self.versions[read_version(self.folder / "index")[0].number] = dict(self.wheres)

    def publish(self, number: int) -> None:
        rows = []
        for _ in range(EVENTS_IN_A_FILE):
            id = len(self.events)
            self.events[id] = self.choices.randrange(20)
            rows.append(json.dumps({"id": id, "n": self.events[id]}))
        begun = self.folder / "events" / f".{number}.json"
        begun.write_text("\n".join(rows), encoding="utf-8")
        begun.rename(begun.with_name(f"{number}.json"))


@pytest.mark.slow
def test_killed_four_times(spark: SparkSession, tmp_path: Path) -> None:
    survives(spark, tmp_path, kills=4, seed=random.SystemRandom().randrange(2**32))


@pytest.mark.slow
def test_killed_twenty_times(spark: SparkSession, tmp_path: Path) -> None:
    survives(spark, tmp_path, kills=20, seed=random.SystemRandom().randrange(2**32))


def survives(spark: SparkSession, folder: Path, kills: int, seed: int) -> None:
    print(f"the seed is {seed}")  # shown where the test fails; the moments of the kills also depend on the machine
    choices = random.Random(seed)
    (folder / "events").mkdir()
    with tidings.Matcher(folder / "index") as matcher:
        world = World(folder, choices, matcher)
        for _ in range(5):
            world.change()
        for round in range(kills):
            for file in range(FILES_IN_A_ROUND):
                world.publish(round * FILES_IN_A_ROUND + file)
            kill_at_random(world, in_a_batch=round == 0 or choices.random() < 0.8)
        finish(world)
    check(spark, world)


def kill_at_random(world: World, in_a_batch: bool) -> None:
    """Before the first batch, or some time after a batch has begun, in which it runs, ends, or others do; subscriptions
    change until then. Times are drawn, but what is waited for is what the driver does: a busy machine is slow."""
    begun = last_batch(world.folder)
    driver = started(world.folder)
    try:
        if in_a_batch:
            wait_for_batch(world, driver, begun + world.choices.choice((1, 1, 2)))
        changing(world, time.monotonic() + world.choices.uniform(0.0, 2.5))
        assert driver.poll() is None, said(world.folder)
    finally:
        kill(driver)


def wait_for_batch(world: World, driver: subprocess.Popen[bytes], number: int) -> None:
    end = time.monotonic() + START_SECONDS
    while last_batch(world.folder) < number:
        assert driver.poll() is None, said(world.folder)
        assert time.monotonic() < end, f"batch {number} did not begin in {START_SECONDS} s: {said(world.folder)}"
        changing(world, time.monotonic() + 0.5)


def changing(world: World, end: float) -> None:
    while time.monotonic() < end:
        world.change()
        time.sleep(min(0.5, max(0.0, end - time.monotonic())))


def last_batch(folder: Path) -> int:
    """The newest batch that has begun, by the records of the stream; -1 before the first."""
    names = [path.stem.removeprefix("batch-") for path in (folder / "checkpoint" / "tidings").glob("batch-*.json")]
    return max(map(int, names), default=-1)


def finish(world: World) -> None:
    driver = started(world.folder, "end")
    try:
        assert driver.wait(END_SECONDS) == 0, said(world.folder)
    finally:
        kill(driver)


def started(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    """A driver whose query runs. It and its Java process are one group."""
    with (folder / "output.txt").open("w") as output:
        driver = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder), *options],
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until_running(driver, folder)
    except BaseException:
        kill(driver)
        raise
    return driver


def wait_until_running(driver: subprocess.Popen[bytes], folder: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while "running\n" not in said(folder):
        if driver.poll() is not None or time.monotonic() > end:
            pytest.fail(f"the driver did not start: {said(folder)}")
        time.sleep(0.02)


def kill(driver: subprocess.Popen[bytes]) -> None:
    """The group, also if the driver itself has ended: its Java process may not have."""
    with suppress(ProcessLookupError):
        os.killpg(driver.pid, signal.SIGKILL)
    driver.wait(START_SECONDS)


def said(folder: Path) -> str:
    return (folder / "output.txt").read_text(errors="replace")[-3000:]


def check(spark: SparkSession, world: World) -> None:
    batches = metrics(world.folder / "checkpoint")
    assert [row.batch for row in batches] == list(range(len(batches)))
    found = spark.read.parquet(str(world.folder / "matches")).collect()
    batch_of = events_of_batches(world.folder)
    assert sorted(batch_of) == sorted(world.events)  # each event was in one batch
    expected = Counter(
        (id, subscription, batch_of[id])
        for id, n in world.events.items()
        for subscription, where in world.versions[batches[batch_of[id]].version].items()
        if tidings.holds(where, {"n": n})
    )
    assert Counter((row.event_id, row.subscription_id, row.batch) for row in found) == expected
    assert len({row.version for row in batches}) > 1  # versions did change between batches
    pins = list((world.folder / "index").glob("pin-stream-*"))
    assert len(pins) == 1  # that of the last batch


def events_of_batches(folder: Path) -> dict[int, int]:
    """The batch of each event, by Spark's own logs. The source numbers its steps, with the files of each; a batch has
    all steps up to the one that its offsets name. A driver killed between the two logs leaves a step to the next batch.
    """
    checkpoint = folder / "checkpoint"
    last_lines = {int(log.name): log.read_text().splitlines()[-1] for log in logs(checkpoint / "offsets")}
    offsets = {batch: json.loads(line)["logOffset"] for batch, line in last_lines.items()}
    found: dict[int, int] = {}
    for log in logs(checkpoint / "sources" / "0"):
        for line in log.read_text().splitlines()[1:]:  # the first line is the version of the format
            entry = json.loads(line)
            batch = min(number for number, last in offsets.items() if last >= entry["batchId"])
            for row in Path(entry["path"].removeprefix("file://")).read_text().splitlines():
                found[json.loads(row)["id"]] = batch
    return found


def logs(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not path.name.startswith(".")]
