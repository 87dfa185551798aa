"""A process killed at any point leaves a store that opens and holds all that was acknowledged.

A child process changes a durable matcher and prints a line after each change that returned; the parent kills it with
SIGKILL after some lines. What was said must be there, and beyond it at most what was under way, whole changes only.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

import tidings

Rows: TypeAlias = list[tuple[int, str]]

FEW, MANY = range(3), range(3, 40)
ADD_ONE_BY_ONE = """
import itertools, sys, tidings
matcher = tidings.Matcher(sys.argv[1])
for number in itertools.count():
    matcher.add(number, f"n = {number} AND s = '{'x' * (number * 37 % 3000)}'")
    print(number, flush=True)
"""
ADD_IN_BATCHES = """
import itertools, sys, tidings
matcher = tidings.Matcher(sys.argv[1])
for number in itertools.count():
    matcher.add_many((50 * number + i, f"n = {50 * number + i}") for i in range(50))
    print(number, flush=True)
"""
REPLACE_AND_REMOVE = """
import itertools, sys, tidings
matcher = tidings.Matcher(sys.argv[1])
for number in itertools.count():
    matcher.add(number, "FALSE")
    matcher.add(number, f"n = {number}", replace=True)
    matcher.add(number + 1, "TRUE")
    matcher.remove(number + 1)
    print(number, flush=True)
"""
COMPILED = """
import itertools, sys, tidings
matcher = tidings.Matcher(sys.argv[1], uncompiled=3)
for number in itertools.count():
    matcher.add_many([(number, "FALSE"), (-number - 1, "FALSE")])
    matcher.add_many([(number, f"n = {number}")], replace=True)
    matcher.remove(-number - 1)
    print(number, flush=True)
"""
# Ends itself before the given step that changes what is on the disk, of those that the line which follows takes.
DIE_AT_A_STEP = """
import os, signal, sys, tidings
from tidings.index import array_file, folder
steps = []
def dying(step):
    def taken(*arguments, **options):
        steps.append(step)
        if len(steps) == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*arguments, **options)
    return taken
matcher = tidings.Matcher(uncompiled=int(sys.argv[3]))
matcher.add_many((number, f"n = {number}") for number in range(5))
for name in ("fsync", "replace", "rename", "unlink", "open", "mkdir", "link", "listdir"):
    setattr(os, name, dying(getattr(os, name)))
"""


def expected_one_by_one(done: int) -> list[Rows]:
    rows = [(number, f"n = {number} AND s = '{'x' * (number * 37 % 3000)}'") for number in range(done + 1)]
    return [rows[:done], rows]


def expected_in_batches(done: int) -> list[Rows]:
    rows = [(number, f"n = {number}") for number in range(50 * (done + 1))]
    return [rows[: 50 * done], rows]


def expected_replaced(done: int) -> list[Rows]:
    rows = [(number, f"n = {number}") for number in range(done + 1)]
    return [rows[:done], [*rows[:done], (done, "FALSE")], rows, [*rows, (done + 1, "TRUE")]]


def expected_compiled(done: int) -> list[Rows]:
    rows = [(number, f"n = {number}") for number in range(done + 1)]
    new = (-done - 1, "FALSE")
    return [rows[:done], [*rows[:done], (done, "FALSE"), new], [*rows, new], rows]


PROGRAMS: dict[str, tuple[str, Callable[[int], list[Rows]]]] = {
    "one by one": (ADD_ONE_BY_ONE, expected_one_by_one),
    "in batches": (ADD_IN_BATCHES, expected_in_batches),
    "replacing and removing": (REPLACE_AND_REMOVE, expected_replaced),
    "compiled": (COMPILED, expected_compiled),
}


def started(program: str, *arguments: object) -> subprocess.Popen[str]:
    source = Path(tidings.__file__).parents[1]
    command = [sys.executable, "-c", program, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def killed(program: str, folder: Path, after: int) -> int:
    """Kills the child when it has said that it finished `after` changes; how many it had said by then."""
    with started(program, folder) as child:
        assert child.stdout is not None
        said = [child.stdout.readline() for _ in range(after)]
        child.kill()
        said += child.stdout.readlines()
        assert child.wait() == -signal.SIGKILL
    assert [int(line) for line in said] == list(range(len(said)))
    return len(said)


def rows_in(folder: Path) -> Rows:
    with tidings.Matcher(folder) as matcher:
        return sorted((int(each.id), tidings.print_expression(each.where)) for each in matcher.subscriptions())


def check_after_kill(name: str, seed: int, folder: Path) -> None:
    program, expected = PROGRAMS[name]
    done = killed(program, folder, after=random.Random(seed).randrange(30))
    found = rows_in(folder)
    assert found in [sorted(rows) for rows in expected(done)], (done, len(found), found[-3:])
    assert rows_in(folder) == found


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", FEW)
def test_a_killed_process_leaves_whole_changes(name: str, seed: int, tmp_path: Path) -> None:
    check_after_kill(name, seed, tmp_path / "store")


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", MANY)
def test_a_killed_process_leaves_whole_changes_many_times(name: str, seed: int, tmp_path: Path) -> None:
    check_after_kill(name, seed, tmp_path / "store")


def died_at(step: int, last_line: str, folder: Path, uncompiled: int = 1_000) -> bool:
    """Whether there was such a step to die at."""
    with started(DIE_AT_A_STEP + last_line, folder, step, uncompiled) as child:
        status = child.wait()
    assert status in (0, -signal.SIGKILL)
    return status != 0


def test_a_process_killed_while_it_makes_a_store_leaves_one_that_can_be_made(tmp_path: Path) -> None:
    step = 1
    while died_at(step, "tidings.Matcher(sys.argv[1])", tmp_path / f"store {step}"):
        assert rows_in(tmp_path / f"store {step}") == []
        step += 1
    assert step > 5


@pytest.mark.parametrize("uncompiled", [1_000, pytest.param(0, marks=pytest.mark.slow)])
def test_a_process_killed_while_it_saves_leaves_all_or_nothing(tmp_path: Path, uncompiled: int) -> None:
    step = 1
    whole = [(number, f"n = {number}") for number in range(5)]
    while died_at(step, "matcher.save(sys.argv[1])", folder := tmp_path / f"store {step}", uncompiled):
        try:
            tidings.Matcher.load(folder)
            found = rows_in(folder)
        except tidings.StoreError:
            found = whole  # there is none, and that is said
        assert found == whole, f"killed before step {step}"
        step += 1
    assert step > 5
