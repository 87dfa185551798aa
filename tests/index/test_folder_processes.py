"""Readers beside a writer, writers beside each other, and processes killed at any step: whole versions only."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from index.folder_states import (
    SHARED,
    checked,
    commit_next,
    create,
    expected_names,
    names,
    run,
    started,
)
from tidings.errors import StoreError
from tidings.index import folder as folder_module
from tidings.index.array_file import ArrayFile, open_arrays
from tidings.index.folder import TRIES, Version, Writer, holds_index, pin, read_version, unpin

# Readers beside a writer


def test_a_reader_whose_version_is_replaced_takes_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path, 3)
    with Writer.open(tmp_path) as writer:

        def late(path: Path) -> ArrayFile:
            while writer.version.number < 9:
                commit_next(writer)
                if writer.version.number % 3 == 0:  # nothing is left of the version that is being opened
                    break
            return open_arrays(path)

        monkeypatch.setattr(folder_module, "open_arrays", late)
        assert checked(tmp_path) == 9


def test_a_reader_who_is_never_quick_enough_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path, 3)
    with Writer.open(tmp_path) as writer:

        def too_late(path: Path) -> ArrayFile:
            for _ in range(3):
                commit_next(writer)
            return open_arrays(path)

        monkeypatch.setattr(folder_module, "open_arrays", too_late)
        with pytest.raises(StoreError, match="there is no file"):
            read_version(tmp_path)
        assert writer.version.number == 3 + 3 * TRIES
        with pytest.raises(StoreError, match=r"has no version 62; its versions: 65, 66$"):
            read_version(tmp_path, 62)


def test_a_listing_that_misses_names_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is not listed in one moment: here the names of the newest versions are missed, then all of them."""
    create(tmp_path, 9)
    pin(tmp_path, "old", 8)
    with Writer.open(tmp_path) as writer:
        for _ in range(3):
            commit_next(writer)
    whole = set(names(tmp_path))
    without = {name for name in whole if not name.startswith("version")}
    listings = [without | {"version-0000000007.json"}, without, without, whole]
    monkeypatch.setattr(folder_module, "_listed", lambda folder: listings.pop(0) if listings else whole)
    assert checked(tmp_path) == 12


READER = """
folder, last = Path(sys.argv[1]), int(sys.argv[2])
reads, seen = 0, [0]
while seen[-1] < last:
    version, files = read_version(folder)
    assert version.number >= seen[-1], (version.number, seen[-1])
    check(version, files)
    if version.number > seen[-1]:
        seen.append(version.number)
    reads += 1
    if reads == 1:
        print("ready", flush=True)
print(reads, len(seen) - 1)
"""


def test_readers_beside_a_writer_see_whole_versions_that_never_go_back(tmp_path: Path) -> None:
    last = 200
    create(tmp_path)
    readers = [started(SHARED + READER, tmp_path, last) for _ in range(2)]
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
    with Writer.open(tmp_path) as writer:
        while commit_next(writer).number < last:
            pass
    for reader in readers:
        said, _ = reader.communicate(timeout=60)
        assert reader.returncode == 0
        reads, seen = map(int, said.split())
        assert reads >= seen > 10


def test_a_version_is_never_removed_while_it_is_pinned(tmp_path: Path) -> None:
    """Pins come and go while versions do: a pin that was given is kept, or it was refused."""
    create(tmp_path, 3)
    stop = threading.Event()
    pinned = 0

    def commits() -> None:
        with Writer.open(tmp_path) as writer:
            while not stop.is_set():
                commit_next(writer)

    thread = threading.Thread(target=commits)
    thread.start()
    try:
        for _ in range(200):
            number = read_version(tmp_path)[0].number - 1
            try:
                pin(tmp_path, "test", number)
            except StoreError as error:
                assert f"has no version {number}; its versions: " in str(error)  # noqa: PT017 - others are no errors
                continue
            pinned += 1
            assert checked(tmp_path, number) == number
            unpin(tmp_path, "test")
    finally:
        stop.set()
        thread.join()
    assert pinned > 10


@pytest.mark.parametrize("attempt", range(10))
def test_of_many_who_create_at_once_one_wins(tmp_path: Path, attempt: int) -> None:
    starting = threading.Barrier(4)
    won: list[int] = []
    refused: list[str] = []

    def attempted(number: int) -> None:
        starting.wait()
        try:
            with Writer.create(tmp_path / "a" / "index", {"by": number}):
                won.append(number)
        except StoreError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=attempted, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert read_version(tmp_path / "a" / "index")[0] == Version(1, (), {"by": won[0]})
    assert len(refused) == 3
    assert all("already holds a matcher" in words or "is being changed elsewhere" in words for words in refused)


def test_one_who_creates_while_another_waits_for_the_lock_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer_lock = folder_module._writer_lock

    def late(folder: Path) -> BinaryIO:
        monkeypatch.setattr(folder_module, "_writer_lock", writer_lock)
        create(tmp_path)
        return writer_lock(folder)

    monkeypatch.setattr(folder_module, "_writer_lock", late)
    with pytest.raises(StoreError, match="already holds a matcher"):
        Writer.create(tmp_path, {})
    assert checked(tmp_path) == 1
    Writer.open(tmp_path).close()


FORKING = """
def locked():
    try:
        Writer.open(Path(sys.argv[1])).close()
    except StoreError:
        return True
    return False

with Writer.create(Path(sys.argv[1]), {}) as writer:
    if not os.fork():
        writer.close()
        os._exit(0)
    os.wait()
    print(locked())
    sleeping = os.fork()
    if not sleeping:
        time.sleep(60)
        os._exit(0)
print(locked())
os.kill(sleeping, 9)
"""


def test_a_forked_child_neither_gives_up_the_lock_nor_keeps_it(tmp_path: Path) -> None:
    assert run(SHARED + FORKING, tmp_path).split() == ["True", "False"]


# Processes that are killed

# Forks a child for each line, so that none has to start Python and import numpy. What a child says is one write, which
# a kill cannot tear. With `die_at` it kills itself before that step of those that change something or can wait.
CHILDREN = """
assert not {"numba", "pyarrow"} & set(sys.modules)

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def create(folder):
    Writer.create(folder, settings(1), [content(1)])

def reopen(folder):
    Writer.open(folder)

def commit(folder):
    commit_next(Writer.open(folder))

def move_pin(folder):
    pin(folder, "test", 4)
    unpin(folder, "test")

def commits(folder):
    writer = Writer.open(folder) if holds_index(folder) else Writer.create(folder, settings(1), [content(1)])
    say(writer.version.number)
    while True:
        say(commit_next(writer).number)

def die_at(step):
    steps = iter(range(1, step))
    def count(*arguments):
        if next(steps, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
    def hook(event, arguments):
        if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.listdir", "fcntl.flock", "mmap.__new__"):
            count()
    sys.addaudithook(hook)
    fsync = os.fsync
    os.fsync = lambda descriptor: (count(), fsync(descriptor))

for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if not child:
        say("started", os.getpid())
        if order["die_at"]:
            die_at(order["die_at"])
        globals()[order["action"]](Path(order["folder"]))
        os._exit(0)
    say("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


class Children:
    """Processes that do something to a folder, and are killed at it."""

    def __init__(self) -> None:
        self._server = started(SHARED + CHILDREN)

    def start(self, action: str, folder: Path, die_at: int = 0) -> int:
        """The number of the process that has begun."""
        assert self._server.stdin is not None
        order = {"action": action, "folder": str(folder), "die_at": die_at}
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        word, process = self._line()
        assert word == "started"
        return int(process)

    def end(self) -> tuple[int, list[int]]:
        """The status of that process, and the numbers it has said."""
        said = []
        while len(words := self._line()) == 1:
            said.append(int(words[0]))
        assert words[0] == "ended"
        return int(words[1]), said

    def close(self) -> None:
        self._server.communicate(timeout=60)

    def _line(self) -> list[str]:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        assert line, "the process has ended; its error is above"
        return line.split()


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    found = Children()
    yield found
    found.close()


def check_kills(children: Children, seed: int, folder: Path, kills: int) -> None:
    """Kills one process after the other, all of which commit versions to one folder."""
    chance = random.Random(seed)
    acknowledged = 0
    for _ in range(kills):
        process = children.start("commits", folder)
        time.sleep(chance.uniform(0, 0.025))
        os.kill(process, signal.SIGKILL)
        status, said = children.end()
        assert status == -signal.SIGKILL
        acknowledged = said[-1] if said else acknowledged
        found = checked(folder) if holds_index(folder) else 0
        assert found in (acknowledged, acknowledged + 1)
        acknowledged = found
    if acknowledged:
        Writer.open(folder).close()
        assert names(folder) == expected_names(*range(max(1, acknowledged - 1), acknowledged + 1))


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_process_leaves_the_last_version_or_the_next(children: Children, seed: int, tmp_path: Path) -> None:
    check_kills(children, seed, tmp_path, kills=10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 53))
def test_a_process_killed_a_thousand_times(children: Children, seed: int, tmp_path: Path) -> None:
    check_kills(children, seed, tmp_path, kills=20)


def deaths(children: Children, action: str, folder: Path, prepared: Path | None = None) -> Iterator[None]:
    """Kills a process before the first of its steps, the second, and so on to the last; each time in a new folder."""
    for step in itertools.count(1):
        shutil.rmtree(folder, ignore_errors=True)
        if prepared is not None:
            shutil.copytree(prepared, folder)
        children.start(action, folder, die_at=step)
        status, _ = children.end()
        if status == 0:
            return
        assert status == -signal.SIGKILL
        yield


def test_a_creation_killed_at_any_step_leaves_all_or_nothing(children: Children, tmp_path: Path) -> None:
    outcomes = []
    for _ in deaths(children, "create", tmp_path / "a" / "index"):
        outcomes.append(holds_index(tmp_path / "a" / "index"))
        if not outcomes[-1]:
            create(tmp_path / "a" / "index")
        else:
            Writer.open(tmp_path / "a" / "index").close()
        assert checked(tmp_path / "a" / "index") == 1
        assert names(tmp_path / "a" / "index") == expected_names(1)
    assert outcomes == sorted(outcomes)
    assert len(outcomes) > 20
    assert set(outcomes) == {False, True}


def test_a_commit_killed_at_any_step_leaves_the_old_version_or_the_new(children: Children, tmp_path: Path) -> None:
    create(tmp_path / "prepared", 4)
    pin(tmp_path / "prepared", "test", 4)
    with Writer.open(tmp_path / "prepared") as writer:
        commit_next(writer)
    outcomes = []
    for _ in deaths(children, "commit", tmp_path / "index", tmp_path / "prepared"):
        outcomes.append(checked(tmp_path / "index"))
        assert checked(tmp_path / "index", 4) == 4
        Writer.open(tmp_path / "index").close()
        assert checked(tmp_path / "index") == outcomes[-1]
        assert checked(tmp_path / "index", 4) == 4
        pinned = () if outcomes[-1] == 5 else (4,)
        newest = (4, 5) if outcomes[-1] == 5 else (5, 6)
        assert names(tmp_path / "index") == sorted([*expected_names(*newest, pinned=pinned), "pin-test.json"])
    assert outcomes == sorted(outcomes)
    assert len(outcomes) > 30
    assert set(outcomes) == {5, 6}


def test_an_opening_killed_while_it_cleans_changes_nothing_that_is_read(children: Children, tmp_path: Path) -> None:
    create(tmp_path / "prepared", 4)
    pin(tmp_path / "prepared", "test", 4)
    with Writer.open(tmp_path / "prepared") as writer, pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder_module, "_clean", lambda *arguments, **options: None)
        for _ in range(4):
            commit_next(writer)
        left = [writer.write_segment({}, {}), "version-0000000009.json.tmp", "pin-other.json.tmp"]
    for name in left:
        (tmp_path / "prepared" / name).touch()
    outcomes = []
    for _ in deaths(children, "reopen", tmp_path / "index", tmp_path / "prepared"):
        outcomes.append([checked(tmp_path / "index", number) for number in (4, 7, 8)])
        Writer.open(tmp_path / "index").close()
        assert checked(tmp_path / "index") == 8
        assert names(tmp_path / "index") == sorted([*expected_names(7, 8, pinned=(4,)), "pin-test.json"])
    assert len(outcomes) > 20
    assert [4, 7, 8] == min(outcomes) == max(outcomes)


def test_pinning_killed_at_any_step_pins_or_does_not(children: Children, tmp_path: Path) -> None:
    create(tmp_path / "prepared", 4)
    outcomes = []
    for _ in deaths(children, "move_pin", tmp_path / "index", tmp_path / "prepared"):
        outcomes.append("pin-test.json" in names(tmp_path / "index"))
        with Writer.open(tmp_path / "index") as writer:
            for _ in range(3):
                commit_next(writer)
        pinned = [*expected_names(6, 7, pinned=(4,)), "pin-test.json"]
        assert names(tmp_path / "index") == sorted(pinned if outcomes[-1] else expected_names(6, 7))
    assert [pinned for pinned, _ in itertools.groupby(outcomes)] == [False, True]
