"""What the tests of folders write and look for.

Version n has the segments made for n - 2, n - 1 and n, whose content follows from that number, as the settings follow
from n. So any mixture of versions is noticed.
"""

from __future__ import annotations

import errno
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import tidings
from tidings.index.array_file import ArrayFile
from tidings.index.folder import Version, Writer, read_version
from tidings.index.layout import Array


def content(number: int) -> tuple[dict[str, Array], dict[str, int]]:
    return {"numbers": np.full(number * 7919 % 30_000, number)}, {"number": number}


def settings(number: int) -> dict[str, int]:
    return {"since": number - number % 3}


def commit_next(writer: Writer) -> Version:
    number = writer.version.number + 1
    name = writer.write_segment(*content(number))
    return writer.commit([*writer.version.segments[-2:], name], settings(number))


def check(version: Version, files: Sequence[ArrayFile]) -> None:
    numbers = list(range(max(1, version.number - 2), version.number + 1))
    assert [file.notes["number"] for file in files] == numbers, (version, numbers)
    assert version.settings == settings(version.number), version
    for number, file in zip(numbers, files, strict=True):
        file.verify()
        assert len(file.arrays["numbers"]) == number * 7919 % 30_000
        assert (file.arrays["numbers"] == number).all()


# For other processes, which do not import this module and what it imports.
SHARED = "\n".join(
    ["from __future__ import annotations", "import json, os, signal, sys, time", "import numpy as np"]
    + ["from pathlib import Path", "from tidings.errors import StoreError"]
    + ["from tidings.index.folder import Writer, holds_index, pin, read_version, unpin"]
    + [inspect.getsource(function) for function in (content, settings, commit_next, check)]
)


def checked(folder: Path, number: int | None = None) -> int:
    """The number of the version that is read, which must be whole and consistent."""
    version, files = read_version(folder, number)
    check(version, files)
    return version.number


def create(folder: Path, versions: int = 1) -> Path:
    """A closed index of that many versions."""
    with Writer.create(folder, settings(1), [content(1)]) as writer:
        for _ in range(versions - 1):
            commit_next(writer)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def expected_names(*versions: int, pinned: tuple[int, ...] = ()) -> list[str]:
    """What is in a folder of the tests and no more."""
    found = {"lock", "lock-pins"}
    for number in (*versions, *pinned):
        found.add(f"{'version' if number in versions else 'kept'}-{number:010}.json")
        found.add(f"settings-{max(1, number - number % 3):010}.json")
        found |= {f"segment-{each:010}.tidings" for each in range(max(1, number - 2), number + 1)}
    return sorted(found)


@contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """Within, the folder may be neither read nor changed, also if it is root who tests."""
    folder.chmod(0)
    if root := os.geteuid() == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)


def no_space(*arguments: object, **options: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def started(program: str, *arguments: object, stderr: int | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(tidings.__file__).parents[1])}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=stderr, text=True)


def run(program: str, *arguments: object) -> str:
    """What a program says on both outputs."""
    with started(program, *arguments, stderr=subprocess.STDOUT) as child:
        return child.communicate(timeout=60)[0]
