"""Where a durable matcher keeps its subscriptions: one SQLite file in a folder.

Every change is one transaction, so that a process killed at any point leaves either the old or the new state. The file
belongs to one process at a time. It records the analyser and its version, because an index of words means nothing
under another one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from tidings.analysis.statistics import NO_STATISTICS, TextStatistics
from tidings.analysis.words import SIMPLE
from tidings.analysis.words import analyser as analyser_named
from tidings.errors import SettingError, StoreError
from tidings.model.event import Identifier
from tidings.reference import Settings

FILE = "subscriptions.sqlite"
FORMAT = "1"
_APPLICATION = 0x71D1A95  # marks the file as ours among SQLite files
_TABLES = (
    "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    'CREATE TABLE subscription (number INTEGER PRIMARY KEY, id NOT NULL UNIQUE, "where" TEXT NOT NULL)',
)
_INSERT = (
    'INSERT INTO subscription (id, "where") VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET "where" = excluded."where"'
)


def new_store(folder: Path, settings: Settings, rows: Iterable[tuple[Identifier, str]] = ()) -> Store:
    """A store in a folder that has none, with its first rows: either all of it is there afterwards or nothing."""
    store = _opened(folder)
    if not store.blank():
        store.close()
        raise StoreError(f"{folder} already holds a matcher; choose another folder, or remove it first")
    store.create(settings, rows)
    return store


def read_store(folder: Path) -> Store:
    """The store in a folder that must have one."""
    if not (folder / FILE).is_file():
        raise StoreError(f"{folder} holds no saved matcher: there is no {FILE} in it")
    store = _opened(folder)
    try:
        store.read_settings()
    except StoreError:
        store.close()
        raise
    return store


def open_store(folder: Path, analyser: str | None, statistics: TextStatistics | None) -> Store:
    """The store in a folder, made if there is none. What is asked for must be what an existing one records."""
    store = _opened(folder)
    try:
        if store.blank():
            store.create(Settings(analyser_named(analyser or SIMPLE.name), statistics or NO_STATISTICS))
        else:
            store.read_settings()
            _check_wanted(store.settings, folder, analyser, statistics)
    except StoreError:
        store.close()
        raise
    return store


def _opened(folder: Path) -> Store:
    try:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder} is a file; a matcher is kept in a folder")
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # no rights, a name too long, a NUL in it
        raise StoreError(f"{str(folder)!r} cannot be made a folder: {error}") from None
    return Store(folder / FILE)


def _check_wanted(recorded: Settings, folder: Path, analyser: str | None, statistics: TextStatistics | None) -> None:
    if analyser is not None and analyser != recorded.analyser.name:
        raise StoreError(
            f"{folder} was made with the analyser {recorded.analyser.name!r}, and {analyser!r} is asked for; "
            "leave it out, or make a new folder"
        )
    if statistics is not None and statistics != recorded.statistics:
        problem = f"{folder} records other text statistics than those given"
        raise StoreError(f"{problem}; leave them out, or make a new folder")


class Store:
    """The open file. `settings` are those recorded in it."""

    settings: Settings

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._connection = sqlite3.connect(file, timeout=1)
        except sqlite3.Error as error:
            raise StoreError(f"{file} cannot be opened: {error}") from None
        try:
            self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._connection.execute("BEGIN EXCLUSIVE")
            self._connection.commit()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            if "locked" in str(error):
                raise StoreError(f"{file.parent} is open in another matcher; close that one first") from None
            raise StoreError(f"{file} cannot be read: {error}") from None

    def rows(self) -> Iterator[tuple[Identifier, str]]:
        yield from self._connection.execute('SELECT id, "where" FROM subscription ORDER BY number')

    def write(self, rows: Iterable[tuple[Identifier, str]]) -> None:
        """Adds rows; one whose id is there takes the place of the old one, also in the order."""
        with self._connection:
            self._connection.executemany(_INSERT, rows)

    def delete(self, ids: Iterable[Identifier]) -> None:
        with self._connection:
            self._connection.executemany("DELETE FROM subscription WHERE id = ?", ((id,) for id in ids))

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def blank(self) -> bool:
        """Whether nothing was ever written: a new file, or one whose maker was stopped before it wrote anything."""
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        return not tables and not self._application()

    def create(self, settings: Settings, rows: Iterable[tuple[Identifier, str]] = ()) -> None:
        recorded = {
            "format": FORMAT,
            "analyser": settings.analyser.name,
            "analyser version": settings.analyser.version,
            "statistics": json.dumps(settings.statistics.to_dict()),
        }
        # One transaction with everything inside, so that a file is either empty or complete.
        self._connection.execute("BEGIN")
        with self._connection:
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            for statement in _TABLES:
                self._connection.execute(statement)
            self._connection.executemany("INSERT INTO setting VALUES (?, ?)", recorded.items())
            self._connection.executemany(_INSERT, rows)
        self.settings = settings

    def read_settings(self) -> None:
        if self.blank():
            raise StoreError(f"{self._file.parent} holds no saved matcher: nothing was ever written to {FILE}")
        if self._application() != _APPLICATION:
            raise StoreError(f"{self._file} was not written by tidings; choose another folder")
        written = self._setting("format")
        if written != FORMAT:
            raise StoreError(f"{self._file} has the format {written}, and this version of tidings reads {FORMAT}")
        try:
            statistics = TextStatistics.from_dict(json.loads(self._setting("statistics")))
            self.settings = Settings(analyser_named(self._setting("analyser")), statistics)
        except (SettingError, ValueError) as error:
            raise StoreError(f"the settings in {self._file} cannot be used: {error}") from None
        self._check_version()

    def _check_version(self) -> None:
        analyser, version = self.settings.analyser, self._setting("analyser version")
        if version != analyser.version:
            raise StoreError(
                f"{self._file} was made with version {version} of the analyser {analyser.name!r}, and version "
                f"{analyser.version} is installed: the same text may give other words; make it anew"
            )

    def _application(self) -> int:
        return int(self._connection.execute("PRAGMA application_id").fetchone()[0])

    def _setting(self, name: str) -> str:
        row = self._connection.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else "(none)"
