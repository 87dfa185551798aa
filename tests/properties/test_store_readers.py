"""Readers in other processes while a writer changes the folder: each sees whole versions only, and never an older one.

The writer gives all subscriptions the next number in one change, so that whatever a reader finds must be of one number;
it asks as well as counts, so that compiled tables are read from the files too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tidings

READERS, VERSIONS, SUBSCRIPTIONS = 2, 60, 20
READ = f"""
import sys, tidings
last, versions = 0, set()
while last < {VERSIONS}:
    matcher = tidings.Matcher.load(sys.argv[1])
    wheres = {{tidings.print_expression(each.where) for each in matcher.subscriptions()}}
    (where,) = wheres
    number = int(where.split()[-1])
    assert number >= last, (number, last)
    assert sorted(matcher.match({{"n": number}}).ids) == list(range({SUBSCRIPTIONS})), number
    assert matcher.match({{"n": number - 1}}).ids == []
    last = number
    if number not in versions:
        versions.add(number)
        print(number, flush=True)
"""


def numbered(number: int) -> list[tuple[int, str]]:
    return [(id, f"n = {number}") for id in range(SUBSCRIPTIONS)]


@pytest.mark.parametrize("uncompiled", [5, 1_000])
def test_readers_see_whole_versions_while_a_writer_goes_on(tmp_path: Path, uncompiled: int) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(tidings.__file__).parents[1])}
    command = [sys.executable, "-c", READ, str(tmp_path)]
    with tidings.Matcher(tmp_path, uncompiled=uncompiled) as writer:
        writer.add_many(numbered(1))
        readers = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(READERS)
        ]
        outputs = [reader.stdout for reader in readers if reader.stdout is not None]
        first = [output.readline() for output in outputs]  # all are at work before anything changes
        for number in range(2, VERSIONS + 1):
            writer.add_many(numbered(number), replace=True)
        seen = [[line, *output.read().split()] for line, output in zip(first, outputs, strict=True)]
        assert [reader.wait() for reader in readers] == [0] * READERS
    assert all(int(numbers[-1]) == VERSIONS for numbers in seen)
    assert max(map(len, seen)) > 2, "no reader was at work while the writer was"
