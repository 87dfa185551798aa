"""Where a durable matcher keeps its subscriptions: the versions of an index in a folder (`index.folder`).

Every change is one version, so that a process killed at any point leaves either the old or the new one. The folder
belongs to one writer at a time, and any number of readers, each of which keeps the version it has opened. It records
the analyser and its version, because an index of words means nothing under another one.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tidings.analysis.latent import LatentSpace
from tidings.analysis.statistics import NO_STATISTICS, TextStatistics
from tidings.analysis.words import SIMPLE
from tidings.analysis.words import analyser as analyser_named
from tidings.errors import SettingError, StoreError
from tidings.index.array_file import ArrayFile
from tidings.index.changes import COMPILED, Change
from tidings.index.columns import IdColumn
from tidings.index.folder import Version, Writer, holds_index, read_version
from tidings.index.layout import Array
from tidings.model.event import Identifier
from tidings.planning.statistics import EventStatistics
from tidings.planning.statistics_record import record_of, statistics_of
from tidings.reference import Settings

if TYPE_CHECKING:
    from tidings.index.part import Part

MOST_CHANGES = 32  # small files, before they are made one
NO_IDS = IdColumn.of(())
LEARNED = "events"  # among the settings of a folder: what was learned from a sample of events, or nothing


class Contents:
    """What a version holds: compiled parts in order, and after them the subscriptions that are not compiled yet."""

    def __init__(self, folder: Path, version: Version, files: Sequence[ArrayFile]) -> None:
        self.settings = settings_of(version.settings, folder)
        self.learned = learned_of(version.settings, folder)
        self.recent: dict[Identifier, str] = {}
        self.parts: list[Part] = []
        self.changes: list[str] = []
        for name, file in zip(version.segments, files, strict=True):
            change = Change.from_file(file)
            removed = [id for id in change.removed if self.recent.pop(id, None) is None]
            for part in self.parts if removed else ():
                part.remove_many(removed)
            if file.notes[COMPILED]:
                from tidings.index.part import Part  # numba and what it needs take a while to import

                self.parts.append(Part.from_file(name, file, self.settings))
            else:
                self.changes.append(name)
                self.recent.update(zip(change.ids, change.wheres, strict=True))


def read_contents(folder: Path, *, verify: bool = False) -> Contents:
    """What the newest version in a folder holds. Takes no lock, and sees nothing of later changes."""
    version, files = read_version(folder)
    for file in files if verify else ():
        file.verify()
    return Contents(folder, version, files)


class Store:
    """The folder, open for writing."""

    def __init__(self, writer: Writer, contents: Contents) -> None:
        self._writer = writer
        self._parts = [str(part.file) for part in contents.parts]
        self._changes = contents.changes

    @property
    def crowded(self) -> bool:
        """Whether there are so many small files that they had better be made one."""
        return len(self._changes) > MOST_CHANGES

    def change(self, removed: Iterable[Identifier], added: Mapping[Identifier, str]) -> None:
        """Makes a version with a small change more."""
        change = Change.of(removed, added)
        changes = [*self._changes, self._writer.write_segment(change.arrays(), change.notes())]
        self._writer.commit([*self._parts, *changes])
        self._changes = changes

    def keep(self, parts: Sequence[Part], recent: Mapping[Identifier, str], removed: Iterable[Identifier]) -> None:
        """Makes a version of these parts and of what is not compiled yet.

        A part that has a file already is not written again; what is `removed` is removed from such parts.
        """
        names = []
        for arrays, notes, part in _segments(parts, recent, set(removed)):
            written = part is not None and part.file
            names.append(written or self._writer.write_segment(arrays, notes))
        self._writer.commit(names)
        for part, name in zip(parts, names, strict=False):
            part.file = name
        self._parts, self._changes = names[: len(parts)], names[len(parts) :]

    def learn(self, learned: EventStatistics) -> None:
        """Makes a version with the same subscriptions and other statistics of events."""
        settings = {**self._writer.version.settings, LEARNED: record_of(learned)}
        self._writer.commit([*self._parts, *self._changes], settings)

    def close(self) -> None:
        self._writer.close()


def _segments(
    parts: Sequence[Part], recent: Mapping[Identifier, str], gone: set[Identifier]
) -> Iterator[tuple[dict[str, Array], dict[str, Any], Part | None]]:
    """Arrays and notes of the files that hold these parts, and after them one for what no part can say."""
    for number, part in enumerate(parts):
        removed = IdColumn.of(_dead(parts[:number], gone)) if part.file is None else NO_IDS
        yield part.arrays() | removed.arrays("removed"), part.notes(), part
    dead = _dead(parts, gone)
    if dead or recent:
        change = Change.of(dead, recent)
        yield change.arrays(), change.notes(), None


def _dead(parts: Sequence[Part], gone: set[Identifier]) -> list[Identifier]:
    """What a file after these parts must remove from them. What is there again in a later one stays."""
    found = dict.fromkeys([*[id for part in parts for id in part.dead()], *gone])
    return [id for id in found if any(part.ids.find(id) >= 0 for part in parts) and not _is_in(parts, id, gone)]


def _is_in(parts: Sequence[Part], id: Identifier, gone: set[Identifier]) -> bool:
    """Whether a part has it still: `gone` is gone from those that are in files, which were there before."""
    return any(part.find(id) >= 0 and not (part.file is not None and id in gone) for part in parts)


def save(
    folder: Path,
    settings: Settings,
    parts: Sequence[Part],
    recent: Mapping[Identifier, str],
    learned: EventStatistics | None,
) -> None:
    """Writes everything to a folder that has no index: either all of it is there afterwards or nothing."""
    segments = (
        (arrays, notes) for arrays, notes, _ in _segments([replace(part, file=None) for part in parts], recent, set())
    )
    events = {} if learned is None else {LEARNED: record_of(learned)}
    Writer.create(folder, settings_record(settings) | events, segments).close()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The settings that are asked for; None is what a folder records, and in a new one the simplest."""

    analyser: str | None = None
    statistics: TextStatistics | None = None
    latent: LatentSpace | None = None

    def settings(self) -> Settings:
        return Settings(analyser_named(self.analyser or SIMPLE.name), self.statistics or NO_STATISTICS, self.latent)

    def must_be(self, recorded: Settings, folder: Path) -> None:
        """Raises a StoreError if an existing folder records something else."""
        if self.analyser not in (None, recorded.analyser.name):
            raise StoreError(
                f"{folder} was made with the analyser {recorded.analyser.name!r}, and {self.analyser!r} is asked for; "
                "leave it out, or make a new folder"
            )
        if self.statistics not in (None, recorded.statistics):
            problem = f"{folder} records other text statistics than those given"
            raise StoreError(f"{problem}; leave them out, or make a new folder")
        if self.latent not in (None, recorded.latent):
            raise StoreError(
                f"{folder} records another latent space than the one given; leave it out, or make a new folder"
            )


def open_store(folder: Path, wanted: Wanted) -> tuple[Store, Contents]:
    """The store in a folder, made if there is none. What is asked for must be what an existing one records."""
    writer = Writer.open(folder) if holds_index(folder) else Writer.create(folder, settings_record(wanted.settings()))
    try:
        contents = read_contents(folder)
        wanted.must_be(contents.settings, folder)
    except StoreError:
        writer.close()
        raise
    return Store(writer, contents), contents


# Settings


def settings_record(settings: Settings) -> dict[str, Any]:
    return {
        "analyser": settings.analyser.name,
        "analyser version": settings.analyser.version,
        "statistics": settings.statistics.to_dict(),
        "latent": None if settings.latent is None else _written(settings.latent.arrays()),
    }


def settings_of(record: Mapping[str, Any], folder: Path) -> Settings:
    try:
        analyser, version = analyser_named(record["analyser"]), record["analyser version"]
        if version != analyser.version:
            raise StoreError(
                f"{folder} was made with version {version} of the analyser {analyser.name!r}, and version "
                f"{analyser.version} is installed: the same text may give other words; make it anew"
            )
        latent = record["latent"]
        space = None if latent is None else LatentSpace.from_arrays(_read(latent))
        return Settings(analyser, TextStatistics.from_dict(record["statistics"]), space)
    except (SettingError, ValueError, KeyError) as error:
        raise StoreError(f"the settings in {folder} cannot be used: {error}") from None


def learned_of(record: Mapping[str, Any], folder: Path) -> EventStatistics | None:
    """The statistics of events that a folder records; None where nothing was learned."""
    try:
        return statistics_of(record[LEARNED]) if LEARNED in record else None
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"the statistics of events in {folder} cannot be used: {error}") from None


def _written(arrays: Mapping[str, Array]) -> dict[str, list[str]]:
    """Arrays as JSON can hold them: a latent space is written once for all versions that have it."""
    return {name: [array.dtype.str, b64encode(array.tobytes()).decode()] for name, array in arrays.items()}


def _read(written: Mapping[str, Sequence[str]]) -> dict[str, Array]:
    return {name: np.frombuffer(b64decode(data), np.dtype(kind)) for name, (kind, data) in written.items()}
