"""A process killed at any point leaves a store that opens and holds all that was acknowledged, in order.

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
# Ends itself before the given statement that SQLite executes in the line that follows.
DIE_AT_A_STATEMENT = """
import os, signal, sqlite3, sys, tidings
connect, statements = sqlite3.connect, []
def count(statement):
    statements.append(statement)
    if len(statements) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
def traced(*arguments, **options):
    connection = connect(*arguments, **options)
    connection.set_trace_callback(count)
    return connection
matcher = tidings.Matcher()
matcher.add_many((number, f"n = {number}") for number in range(5))
sqlite3.connect = traced
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


PROGRAMS: dict[str, tuple[str, Callable[[int], list[Rows]]]] = {
    "one by one": (ADD_ONE_BY_ONE, expected_one_by_one),
    "in batches": (ADD_IN_BATCHES, expected_in_batches),
    "replacing and removing": (REPLACE_AND_REMOVE, expected_replaced),
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
        return [(int(each.id), tidings.print_expression(each.where)) for each in matcher.subscriptions()]


def check_after_kill(name: str, seed: int, folder: Path) -> None:
    program, expected = PROGRAMS[name]
    done = killed(program, folder, after=random.Random(seed).randrange(30))
    found = rows_in(folder)
    assert found in expected(done), (done, len(found), found[-3:])
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


def died_at(statement: int, last_line: str, folder: Path) -> bool:
    """Whether there was such a statement to die at."""
    with started(DIE_AT_A_STATEMENT + last_line, folder, statement) as child:
        status = child.wait()
    assert status in (0, -signal.SIGKILL)
    return status != 0


def test_a_process_killed_while_it_makes_a_store_leaves_one_that_can_be_made(tmp_path: Path) -> None:
    statement = 1
    while died_at(statement, "tidings.Matcher(sys.argv[1])", tmp_path / f"store {statement}"):
        assert rows_in(tmp_path / f"store {statement}") == []
        statement += 1
    assert statement > 5


def test_a_process_killed_while_it_saves_leaves_all_or_nothing(tmp_path: Path) -> None:
    statement = 1
    whole = [(number, f"n = {number}") for number in range(5)]
    while died_at(statement, "matcher.save(sys.argv[1])", folder := tmp_path / f"store {statement}"):
        try:
            tidings.Matcher.load(folder)
            found = rows_in(folder)
        except tidings.StoreError:
            found = whole  # there is none, and that is said
        assert found == whole, f"killed before statement {statement}"
        statement += 1
    assert statement > 5
