"""One file of named one-dimensional arrays and a few notes: written once, never changed, opened by mapping it.

A file is complete and on the disk before it appears under its name. Opening it reads the header only, whatever the size
of the arrays, and finds every damage of the header and every wrong length; `ArrayFile.verify` reads the arrays too.
Opened arrays are read-only, C-contiguous and begin at multiples of 64 bytes; they keep the mapping alive by themselves,
so that they stay whole when the file is unlinked. The bytes are described in docs/index-format.md.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from tidings.errors import StoreError
from tidings.index.layout import Array

MAGIC = b"\x93tidings"
FORMAT = 1
ALIGNMENT = 64
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")
TEMPORARY = ".tmp"  # the end of the name of a file that is being written

_PREFIX = struct.Struct("<8sII")  # magic, format, length of the header
_CHECKSUM = struct.Struct("<I")  # zlib.crc32: four times as fast as hashlib.blake2b, and damage is all it must find
_CHUNK = 2**20  # bytes that are summed and written at a time: they stay in the cache of the core


@dataclass(frozen=True, slots=True, eq=False)
class ArrayFile:
    """An open file: its arrays by name, its notes, and its size in bytes."""

    path: Path
    arrays: Mapping[str, Array]
    notes: Mapping[str, Any]
    size: int
    body: Array = field(repr=False)  # everything behind the header, as bytes
    checksum: int = field(repr=False)  # of the body, as written

    def verify(self) -> None:
        """Reads everything, and raises a StoreError if the arrays are not what was written."""
        found = zlib.crc32(self.body.data)
        if found != self.checksum:
            raise StoreError(
                f"the arrays in {self.path} are damaged: their checksum is {found:08x}, and {self.checksum:08x} was "
                "written; restore the file from a copy, or make the matcher anew"
            )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an array lies in the body."""

    name: str
    dtype: str
    count: int
    offset: int

    @property
    def end(self) -> int:
        return self.offset + self.count * np.dtype(self.dtype).itemsize

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype, "count": self.count, "offset": self.offset}


def write_arrays(path: Path, arrays: Mapping[str, Array], notes: Mapping[str, Any]) -> int:
    """Writes a file, and gives its size in bytes. When it returns, the file is on the disk under its name."""
    places = _planned(arrays)
    body_size = _aligned(places[-1].end) if places else 0
    start = len(_head(places, notes, body_size, checksum=0))
    with new_file(path) as file:
        file.write(bytes(start))  # the place of the header, whose checksum of the body is known at the end
        checksum = 0
        for place, array in zip(places, arrays.values(), strict=True):
            checksum = _stream(file, array, np.dtype(place.dtype), checksum)
        file.seek(0)
        file.write(_head(places, notes, body_size, checksum))
    return start + body_size


def open_arrays(path: Path) -> ArrayFile:
    """Maps a file. The time does not depend on the size of its arrays; they are read when they are used."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            header, start = _read_header(path, file, size)
            # The mapping has a descriptor of its own, and closes it when the last array is gone.
            mapping = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise StoreError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:  # no rights, a folder, a name too long, a NUL in it
        raise StoreError(f"{str(path)!r} cannot be read: {error}") from None
    body = np.frombuffer(mapping, dtype=np.uint8)[start:]
    arrays = {
        place.name: body[place.offset : place.end].view(place.dtype) for place in _places(path, header, len(body))
    }
    notes, checksum = header["notes"], int(header["checksum"], 16)
    return ArrayFile(path, MappingProxyType(arrays), MappingProxyType(notes), size, body, checksum)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file to be written that appears under its name, in place of an old one, when all of it is on the disk.

    If anything fails before, nothing is left of it. A process that is killed leaves at most a file whose name ends in
    TEMPORARY, which the next one overwrites.
    """
    try:
        temporary = path.with_name(path.name + TEMPORARY)
        try:
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with suppress(OSError, ValueError):
                temporary.unlink()
            raise
        sync_folder(path.parent)
    except (OSError, ValueError) as error:  # no rights, no space, no folder, a name too long, a NUL in it
        raise StoreError(f"{str(path)!r} cannot be written: {error}") from None


def sync_folder(folder: Path) -> None:
    """Returns when the names in the folder are on the disk: a file that was synced can still lose its name."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def plain_json(what: str, value: Mapping[str, Any]) -> str:
    """The value as JSON, in ASCII; `what` names it in the error."""
    try:
        return json.dumps(dict(value), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"{what} cannot be written as JSON: {error}; use strings, numbers, lists, dicts") from None


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _planned(arrays: Mapping[str, Array]) -> list[_Place]:
    places: list[_Place] = []
    for name, array in arrays.items():
        dtype = array.dtype.newbyteorder("<").str
        if array.ndim != 1 or dtype not in DTYPES:
            raise StoreError(
                f"the array {name!r} has {array.ndim} dimensions and the dtype {array.dtype.str!r}; "
                f"an array file takes one dimension and {', '.join(DTYPES)}"
            )
        places.append(_Place(name, dtype, len(array), _aligned(places[-1].end) if places else 0))
    return places


def _head(places: list[_Place], notes: Mapping[str, Any], body_size: int, checksum: int) -> bytes:
    """Everything before the body. Its length does not depend on the checksum, and is a multiple of ALIGNMENT."""
    members = {"arrays": [place.to_dict() for place in places], "body": body_size, "checksum": f"{checksum:08x}"}
    text = f'{json.dumps(members)[:-1]}, "notes": {plain_json("the notes", notes)}}}'.encode("ascii")
    around = _PREFIX.size + _CHECKSUM.size
    text = text.ljust(_aligned(around + len(text)) - around)
    head = _PREFIX.pack(MAGIC, FORMAT, len(text)) + text
    return head + _CHECKSUM.pack(zlib.crc32(head))


def _stream(file: BinaryIO, array: Array, dtype: np.dtype[Any], checksum: int) -> int:
    """Writes one array and the zeros up to the next; the checksum continued over both."""
    step = _CHUNK // dtype.itemsize
    for start in range(0, len(array), step):
        # Copies a chunk at a time, and only of arrays with gaps or in the other byte order.
        chunk = np.ascontiguousarray(array[start : start + step], dtype=dtype)
        checksum = zlib.crc32(chunk.data, checksum)
        file.write(chunk.data)
    written = len(array) * dtype.itemsize
    gap = bytes(_aligned(written) - written)
    file.write(gap)
    return zlib.crc32(gap, checksum)


def _read_header(path: Path, file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    """The header, and where the body begins."""
    prefix = file.read(_PREFIX.size)
    if not prefix:
        raise StoreError(f"{path} is empty; restore it from a copy, or make the matcher anew")
    if prefix[: len(MAGIC)] != MAGIC[: len(prefix)]:
        raise StoreError(f"{path} was not written by tidings: it does not begin as a file of arrays does")
    if len(prefix) < _PREFIX.size:
        raise _cut_short(path, size, "at least ", _PREFIX.size)
    _, written, length = _PREFIX.unpack(prefix)
    if written != FORMAT:
        raise StoreError(f"{path} has the format {written}, and this version of tidings reads {FORMAT}")
    start = _PREFIX.size + length + _CHECKSUM.size
    if size < start:
        raise _cut_short(path, size, "at least ", start)
    text = file.read(length)
    if file.read(_CHECKSUM.size) != _CHECKSUM.pack(zlib.crc32(prefix + text)):
        raise StoreError(
            f"the header of {path} is damaged: its checksum does not fit; restore the file from a copy, "
            "or make the matcher anew"
        )
    header: dict[str, Any] = json.loads(text)
    whole = start + header["body"]
    if size < whole:
        raise _cut_short(path, size, "", whole)
    if size > whole:
        raise StoreError(f"{path} is {size - whole:,} bytes longer than the {whole:,} that were written")
    return header, start


def _cut_short(path: Path, size: int, least: str, whole: int) -> StoreError:
    return StoreError(
        f"{path} is cut short: {least}{whole - size:,} of {least}{whole:,} bytes are missing; "
        "restore it from a copy, or make the matcher anew"
    )


def _places(path: Path, header: dict[str, Any], body_size: int) -> Iterator[_Place]:
    for members in header["arrays"]:
        place = _Place(**members)
        if place.dtype not in DTYPES:
            raise StoreError(f"the array {place.name!r} in {path} has the dtype {place.dtype!r}; allowed: {DTYPES}")
        if place.offset % ALIGNMENT or not 0 <= place.offset <= place.end <= body_size:
            raise StoreError(
                f"the array {place.name!r} in {path} begins at {place.offset:,} and ends at {place.end:,}; arrays "
                f"begin at multiples of {ALIGNMENT}, and end within the {body_size:,} bytes that there are"
            )
        yield place
