"""The versions of an index in a folder: which segments readers see together, and how one version follows another.

A version is a file that names its segments and settings, all of which are on the disk before it is. It appears whole,
and none of these files is ever changed; so a process killed at any point, or a loss of power, leaves the old version or
the new one. One writer at a time holds a lock; readers need none, and keep what they have opened. The newest version is
the one that counts: if it is damaged, that is an error, and never a silent step back to an older one.
The bytes, and why the order of the steps is what it is, are in docs/index-format.md.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from tidings.errors import StoreError
from tidings.index.array_file import TEMPORARY, ArrayFile, new_file, open_arrays, plain_json, sync_folder, write_arrays
from tidings.index.layout import Array

FORMAT = 1
KEPT = 2  # versions that stay, so that a reader who has just looked up the newest one still finds its files
TRIES = 20  # of a reader whose version is replaced while it opens it
LOCK, PIN_LOCK = "lock", "lock-pins"

_NUMBERED = re.compile(r"(version|kept|segment|settings)-([0-9]{10,})\.(?:json|tidings)")
_PIN_NAME = re.compile(r"[A-Za-z0-9_-]+")
_PIN = re.compile(rf"pin-({_PIN_NAME.pattern})\.json")


@dataclass(frozen=True, slots=True)
class Version:
    """What readers see together: the names of the segment files, and the settings of the index."""

    number: int
    segments: tuple[str, ...]
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Manifest:
    """What the file of a version says."""

    number: int
    segments: tuple[str, ...]
    settings: str  # the name of the file
    next_segment: int  # greater than the number of any segment that this version or an earlier one has named

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": self.number,
            "segments": self.segments,
            "settings": self.settings,
            "next_segment": self.next_segment,
        }


def read_version(folder: Path, number: int | None = None) -> tuple[Version, tuple[ArrayFile, ...]]:
    """The newest version, or the one of that number, with its segments opened.

    A writer may remove an older version while it is being opened; then the newest is looked up again.
    """
    if number is not None:
        return _opened_by_number(folder, number)
    newest = _must_hold(folder)
    for _ in range(TRIES):
        tried = newest
        try:
            return _opened(folder, _manifest(folder, tried))
        except StoreError as error:
            newest, problem = _must_hold(folder), error
        if newest == tried:
            break
    raise problem


def holds_index(folder: Path) -> bool:
    """Whether there is a version in the folder, damaged or not. A folder that does not exist holds none."""
    return _newest(folder) is not None


def pin(folder: Path, name: str, number: int) -> None:
    """Keeps a version and its segments until `unpin`, whatever is committed; a pin of that name moves there."""
    file = folder / _pin_file(name)
    _must_hold(folder)
    with _pins_locked(folder):
        _manifest(folder, number)
        _write_sealed(file, {"version": number})


def unpin(folder: Path, name: str) -> None:
    """Gives up a pin. What nothing else needs is removed by the next commit, or when a writer opens the folder."""
    file = _pin_file(name)
    _must_hold(folder)
    with _pins_locked(folder):
        pins = _pins(_listed(folder))
        if file not in pins:
            raise StoreError(f"{folder} has no pin {name!r}; its pins: {', '.join(sorted(pins.values())) or 'none'}")
        try:
            (folder / file).unlink()
        except OSError as error:
            raise StoreError(f"the pin {name!r} of {folder} cannot be removed: {error}") from None


class Writer:
    """The one process that may change the folder, from `create` or `open` until `close`.

    Its methods may be called by several threads: one may write a segment while another commits.
    """

    def __init__(self, folder: Path, lock: BinaryIO, version: Version, manifest: _Manifest) -> None:
        """Use `create` or `open`."""
        self._folder = folder
        self._lock = lock
        self._process = os.getpid()
        self._version = version
        self._settings_file = manifest.settings
        self._last_number = manifest.number
        self._next_segment = manifest.next_segment
        self._uncommitted: set[str] = set()
        self._changing = threading.Lock()

    @classmethod
    def create(
        cls,
        folder: Path,
        settings: Mapping[str, Any],
        segments: Iterable[tuple[Mapping[str, Array], Mapping[str, Any]]] = (),
    ) -> Writer:
        """A new index whose first version has these segments (arrays and notes): all of it is there, or nothing."""
        plain_json("the settings", settings)  # before anything is made
        _make_folder(folder)
        _must_be_blank(folder)
        lock = _writer_lock(folder)
        try:
            _must_be_blank(folder)
            _clean(folder)  # what is left of a creation that was interrupted
            writer = cls(folder, lock, Version(0, (), MappingProxyType({})), _Manifest(0, (), "", 1))
            writer.commit([writer.write_segment(arrays, notes) for arrays, notes in segments], settings)
        except BaseException:
            lock.close()
            raise
        return writer

    @classmethod
    def open(cls, folder: Path) -> Writer:
        """The index in a folder that must have one. What an interrupted writer left behind is removed."""
        _must_hold(folder)
        lock = _writer_lock(folder)
        try:
            manifest = _manifest(folder, _must_hold(folder))
            version, _ = _opened(folder, manifest)
            _clean(folder)
        except BaseException:
            lock.close()
            raise
        return cls(folder, lock, version, manifest)

    @property
    def version(self) -> Version:
        """The last one that was committed."""
        return self._version

    def write_segment(self, arrays: Mapping[str, Array], notes: Mapping[str, Any]) -> str:
        """Writes a segment that is part of no version yet, and gives its name."""
        self._must_be_open()
        with self._changing:
            name = _named("segment", self._next_segment)
            self._next_segment += 1
            self._uncommitted.add(name)  # before it is there, or a commit in another thread would remove it
        try:
            write_arrays(self._folder / name, arrays, notes)
        except BaseException:
            with self._changing:
                self._uncommitted.discard(name)
            raise
        return name

    def commit(self, segments: Sequence[str], settings: Mapping[str, Any] | None = None) -> Version:
        """Makes these segments the next version; when it returns, that version is on the disk.

        Then what is no longer needed is removed, as far as possible: what could not be removed is tried again by the
        next commit, and by the next `open`, which says why.
        """
        self._must_be_open()
        with self._changing:
            _must_have(self._folder, segments)
            # Counted before anything is written: after a failure it is unknown what is on the disk under this number.
            self._last_number += 1
            wanted, settings_file = self._wanted_settings(settings)
            manifest = _Manifest(self._last_number, tuple(segments), settings_file, self._next_segment)
            _write_sealed(self._folder / _named("version", manifest.number), manifest.to_dict())
            self._settings_file = settings_file
            self._version = Version(manifest.number, manifest.segments, wanted)
            self._uncommitted.difference_update(segments)
            with suppress(StoreError):
                _clean(self._folder, spared=self._uncommitted)
            return self._version

    def close(self) -> None:
        """Lets another writer in. What was written and not committed is removed by that one."""
        if self._lock.closed:
            return
        # A child process that was forked meanwhile shares the lock. It must neither keep it nor give it up.
        if os.getpid() == self._process:
            fcntl.flock(self._lock, fcntl.LOCK_UN)
        self._lock.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _must_be_open(self) -> None:
        if self._lock.closed:
            raise StoreError(f"the writer of {self._folder} is closed; open another one")

    def _wanted_settings(self, settings: Mapping[str, Any] | None) -> tuple[Mapping[str, Any], str]:
        """The settings of the next version and their file, which is written if they are not those of the last one."""
        if settings is None:
            return self._version.settings, self._settings_file
        wanted = json.loads(plain_json("the settings", settings))
        if self._settings_file and _ordered(wanted) == _ordered(self._version.settings):
            return self._version.settings, self._settings_file
        # By the number of the version: no other version can ever mean another file by this name.
        name = _named("settings", self._last_number)
        _write_sealed(self._folder / name, {"settings": wanted})
        return MappingProxyType(wanted), name


# What a folder holds


def _named(kind: str, number: int) -> str:
    return f"{kind}-{number:010}.{'tidings' if kind == 'segment' else 'json'}"


def _kind_of(name: str) -> tuple[str, int] | None:
    """The kind and number of a file of ours; None for any other name."""
    found = _NUMBERED.fullmatch(name)
    if found is None or name != _named(found[1], int(found[2])):
        return None
    return found[1], int(found[2])


def _numbers(names: Iterable[str], kind: str) -> list[int]:
    """The numbers of the files of one kind, in order."""
    return sorted(found[1] for name in names if (found := _kind_of(name)) and found[0] == kind)


def _pins(names: Iterable[str]) -> dict[str, str]:
    """The names of pins by their files."""
    return {name: found[1] for name in names if (found := _PIN.fullmatch(name))}


def _pin_file(name: str) -> str:
    if not _PIN_NAME.fullmatch(name):
        raise StoreError(f"{name!r} cannot be the name of a pin; use letters A to Z, a to z, digits, - and _")
    return f"pin-{name}.json"


def _listed(folder: Path) -> set[str]:
    """The names in a folder; none if there is no such folder."""
    try:
        return {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        return set()
    except NotADirectoryError:
        raise StoreError(f"{folder} is a file; a matcher is kept in a folder") from None
    except (OSError, ValueError) as error:  # no rights, a name too long, a NUL in it
        raise StoreError(f"{str(folder)!r} cannot be read: {error}") from None


def _newest(folder: Path) -> int | None:
    """The number of the newest version, or of an older one whose file is gone by now; None if there is none.

    While a folder is listed, names that come and go may be missed. A version that was there at the start and is missed
    was removed meanwhile, and all older ones before it: they go in order, and a pinned one goes to another name. So the
    file of a number that is too old cannot be read any more, and whoever fails to read it looks again. Seeing none at
    all may be such a miss too, where there ever was a writer.
    """
    for _ in range(TRIES):
        names = _listed(folder)
        if numbers := _numbers(names, "version"):
            return numbers[-1]
        if LOCK not in names:
            break
    return None


def _must_hold(folder: Path) -> int:
    number = _newest(folder)
    if number is None:
        raise StoreError(f"{folder} holds no saved matcher: there is no version-….json in it")
    return number


def _must_be_blank(folder: Path) -> None:
    names = _listed(folder)
    if _numbers(names, "version") or _numbers(names, "kept") or _pins(names):
        raise StoreError(f"{folder} already holds a matcher; choose another folder, or remove it first")


def _must_have(folder: Path, segments: Sequence[str]) -> None:
    names = _listed(folder)
    for number, name in enumerate(segments):
        if name not in names or (_kind_of(name) or ("", 0))[0] != "segment":
            raise StoreError(f"{folder} has no segment {name!r}; a version has segments that write_segment has written")
        if name in segments[:number]:
            raise StoreError(f"the segment {name!r} is given twice; a version has each segment once")


def _make_folder(folder: Path) -> None:
    try:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder} is a file; a matcher is kept in a folder")
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for each in missing:
            sync_folder(each.parent)
    except (OSError, ValueError) as error:  # no rights, a name too long, a NUL in it
        raise StoreError(f"{str(folder)!r} cannot be made a folder: {error}") from None


# Locks


def _locked(file: Path, operation: int) -> BinaryIO:
    """The open file, which holds the lock until it is closed or the process ends."""
    try:
        lock = file.open("ab")
        try:
            fcntl.flock(lock, operation)
        except BaseException:
            lock.close()
            raise
    except BlockingIOError:
        raise StoreError(
            f"{file.parent} is being changed elsewhere, by an open matcher or a job that compiles; close that one, or "
            "wait until it is done"
        ) from None
    except OSError as error:
        raise StoreError(f"{file} cannot be locked: {error}") from None
    return lock


def _writer_lock(folder: Path) -> BinaryIO:
    return _locked(folder / LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _pins_locked(folder: Path) -> Iterator[None]:
    """Keeps pinning and cleaning apart: no version is removed while it is being pinned. Held for moments: one waits."""
    with _locked(folder / PIN_LOCK, fcntl.LOCK_EX):
        yield


# Reading and writing the small files. Each ends in a checksum of all that stands before it.


def _seal(text: bytes) -> bytes:
    return b', "checksum": "%08x"}\n' % zlib.crc32(text)


def _write_sealed(path: Path, members: Mapping[str, Any]) -> None:
    text = json.dumps({"format": FORMAT, **members})[:-1].encode("ascii")  # without the brace at the end
    with new_file(path) as file:
        file.write(text + _seal(text))


def _read_sealed(path: Path) -> dict[str, Any] | None:
    """What was written; None if there is no such file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error}") from None
    try:
        members = json.loads(content)
    except (ValueError, RecursionError):
        members = None
    if isinstance(members, dict) and members.get("format", FORMAT) != FORMAT:
        raise StoreError(f"{path} has the format {members['format']}, and this version of tidings reads {FORMAT}")
    text = content[: -len(_seal(b""))]
    if not isinstance(members, dict) or content != text + _seal(text):
        raise StoreError(
            f"{path} is damaged, or was not written by tidings: its checksum does not fit; restore it from a copy, "
            "or make the matcher anew"
        )
    return members


def _manifest(folder: Path, number: int) -> _Manifest:
    for kind in ("version", "kept"):  # in this order: the one becomes the other
        path = folder / _named(kind, number)
        members = _read_sealed(path)
        if members is None:
            continue
        if members["version"] != number:
            raise StoreError(f"{path} holds version {members['version']}: it was copied or renamed; undo that")
        return _Manifest(number, tuple(members["segments"]), members["settings"], members["next_segment"])
    names = _listed(folder)
    present = ", ".join(map(str, sorted({*_numbers(names, "version"), *_numbers(names, "kept")}))) or "none"
    raise StoreError(f"{folder} has no version {number}; its versions: {present}")


def _opened(folder: Path, manifest: _Manifest) -> tuple[Version, tuple[ArrayFile, ...]]:
    recorded = _read_sealed(folder / manifest.settings)
    if recorded is None:
        raise StoreError(f"version {manifest.number} of {folder} is not complete: there is no {manifest.settings}")
    version = Version(manifest.number, manifest.segments, MappingProxyType(recorded["settings"]))
    return version, tuple(open_arrays(folder / name) for name in manifest.segments)


def _opened_by_number(folder: Path, number: int) -> tuple[Version, tuple[ArrayFile, ...]]:
    try:
        return _opened(folder, _manifest(folder, number))
    except StoreError:
        _manifest(folder, number)  # says so, if the version was removed meanwhile
        raise


def _ordered(settings: Mapping[str, Any]) -> str:
    """Settings in one spelling. As text, because Python finds 1, 1.0 and True equal."""
    return json.dumps(dict(settings), sort_keys=True)


# Cleaning


def _clean(folder: Path, spared: Collection[str] = ()) -> None:
    """Removes what no version needs that is one of the last KEPT or pinned; `spared` are names of files to leave."""
    with _pins_locked(folder):
        names = _listed(folder)
        pinned = {members["version"] for file in _pins(names) if (members := _read_sealed(folder / file))}
        versions, kept = _numbers(names, "version"), _numbers(names, "kept")
        # All is read before anything is removed: where a file is damaged, nothing is.
        staying = {*versions[-KEPT:], *(pinned & {*versions, *kept})}
        manifests = [_manifest(folder, number) for number in staying]
        needed = {name for manifest in manifests for name in (*manifest.segments, manifest.settings)}
        try:
            for number in versions[:-KEPT]:  # the oldest first, see _must_hold
                _retire(folder, number, pinned=number in pinned)
            for number in kept:
                if number not in pinned:
                    (folder / _named("kept", number)).unlink()
            for name in names:
                if _removable(name, needed, spared):
                    (folder / name).unlink()
        except OSError as error:
            raise StoreError(f"what is no longer needed in {folder} cannot be removed: {error}") from None


def _retire(folder: Path, number: int, pinned: bool) -> None:
    path = folder / _named("version", number)
    if pinned:
        path.rename(folder / _named("kept", number))
    else:
        path.unlink()


def _removable(name: str, needed: Collection[str], spared: Collection[str]) -> bool:
    """Whether this is a file of ours that was never finished, or that no version needs."""
    final = name.removesuffix(TEMPORARY)
    found = _kind_of(final)
    if final in spared or not (found or _PIN.fullmatch(final)):
        return False
    return final != name or (found is not None and found[0] in ("segment", "settings") and name not in needed)
