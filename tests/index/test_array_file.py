"""A file of arrays gives back what was written, and any other content than that is noticed, with clear words."""

from __future__ import annotations

import errno
import gc
import json
import os
import struct
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as np_st

from tidings.errors import StoreError
from tidings.index.array_file import ALIGNMENT, DTYPES, TEMPORARY, open_arrays, write_arrays
from tidings.index.layout import Array

SMALL: dict[str, Array] = {
    "numbers": np.arange(20, dtype=np.int64),
    "nothing": np.empty(0, dtype=np.float64),
    "bytes": np.frombuffer(b"tidings", dtype=np.uint8),
}

arrays_of_all_kinds = st.dictionaries(
    st.text(max_size=20),
    st.sampled_from(DTYPES).flatmap(lambda dtype: np_st.arrays(dtype, st.integers(0, 200))),
    max_size=8,
)
plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=10,
)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.tidings"
    write_arrays(path, SMALL, {"made by": "a test"})
    return path


def bytes_of(arrays: list[dict[str, Any]], body: bytes, *, form: int = 1, text: bytes | None = None) -> bytes:
    """A file as docs/index-format.md describes it, made without the code that is tested."""
    if text is None:
        members = {"arrays": arrays, "body": len(body), "checksum": f"{zlib.crc32(body):08x}", "notes": {}}
        text = json.dumps(members).encode()
    text += b" " * (-(len(text) + 20) % 64)
    head = b"\x93tidings" + struct.pack("<II", form, len(text)) + text
    return head + struct.pack("<I", zlib.crc32(head)) + body


def descriptors() -> int:
    gc.collect()
    return len(list(Path("/dev/fd").iterdir()))


# What was written comes back


@given(arrays=arrays_of_all_kinds, notes=st.dictionaries(st.text(), plain_values, max_size=4))
def test_arrays_and_notes_come_back(
    tmp_path_factory: pytest.TempPathFactory, arrays: dict[str, Array], notes: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("arrays") / "file"
    size = write_arrays(path, arrays, notes)
    file = open_arrays(path)
    file.verify()
    assert (file.size, file.notes) == (size, notes)
    assert size == path.stat().st_size
    assert list(file.arrays) == list(arrays)
    for name, array in arrays.items():
        found = file.arrays[name]
        assert (found.dtype, found.tobytes()) == (array.dtype, array.tobytes())


@given(arrays=arrays_of_all_kinds)
def test_opened_arrays_are_of_one_kind_for_the_kernels(
    tmp_path_factory: pytest.TempPathFactory, arrays: dict[str, Array]
) -> None:
    path = tmp_path_factory.mktemp("arrays") / "file"
    write_arrays(path, arrays, {})
    for array in open_arrays(path).arrays.values():
        assert array.ndim == 1
        assert array.ctypes.data % ALIGNMENT == 0
        assert not array.flags.writeable
        assert array.flags.aligned
        assert array.flags.c_contiguous
        assert array.dtype.isnative


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_with_gaps_and_in_the_other_byte_order_are_written_in_ours(tmp_path: Path, dtype: str) -> None:
    values = (np.arange(600_000) % 2).astype(dtype)
    other = values.astype(values.dtype.newbyteorder(">"))
    write_arrays(tmp_path / "file", {"gaps": values[::3], "backwards": values[::-1], "other": other}, {})
    file = open_arrays(tmp_path / "file")
    file.verify()
    assert {array.dtype.str for array in file.arrays.values()} == {dtype}
    np.testing.assert_array_equal(file.arrays["gaps"], values[::3])
    np.testing.assert_array_equal(file.arrays["backwards"], values[::-1])
    np.testing.assert_array_equal(file.arrays["other"], values)


def test_the_bytes_are_those_that_the_documentation_describes(tmp_path: Path) -> None:
    body = bytes(range(128))
    arrays = [
        {"name": "a", "dtype": "<i4", "count": 3, "offset": 64},
        {"name": "b", "dtype": "|u1", "count": 64, "offset": 0},
        {"name": "c", "dtype": "<f8", "count": 0, "offset": 128},
    ]
    (tmp_path / "theirs").write_bytes(bytes_of(arrays, body))
    file = open_arrays(tmp_path / "theirs")
    file.verify()
    assert {name: array.tobytes() for name, array in file.arrays.items()} == {
        "a": body[64:76],
        "b": body[:64],
        "c": b"",
    }
    write_arrays(tmp_path / "ours", {"x": np.arange(9, dtype=np.int64), "y": np.ones(1, dtype=np.uint8)}, {})
    places = [
        {"name": "x", "dtype": "<i8", "count": 9, "offset": 0},
        {"name": "y", "dtype": "|u1", "count": 1, "offset": 128},
    ]
    written = struct.pack("<9q", *range(9)).ljust(128, b"\0") + b"\1".ljust(64, b"\0")
    assert (tmp_path / "ours").read_bytes() == bytes_of(places, written)


def test_writing_takes_no_second_copy_of_the_arrays(tmp_path: Path) -> None:
    arrays = {"whole": np.zeros(4_000_000, dtype=np.int64), "gaps": np.zeros(8_000_000, dtype=np.int64)[::2]}
    tracemalloc.start()
    write_arrays(tmp_path / "file", arrays, {})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 2**20 < arrays["whole"].nbytes / 7


# Files that vanish, descriptors


def test_opened_arrays_outlive_the_name_of_their_file(small: Path) -> None:
    file = open_arrays(small)
    small.unlink()
    file.verify()
    numbers = file.arrays["numbers"]
    del file
    gc.collect()
    np.testing.assert_array_equal(numbers, SMALL["numbers"])


def test_opened_arrays_do_not_see_a_file_that_takes_the_name(small: Path) -> None:
    file = open_arrays(small)
    write_arrays(small, {"numbers": np.zeros(20, dtype=np.int64)}, {})
    file.verify()
    np.testing.assert_array_equal(file.arrays["numbers"], SMALL["numbers"])
    assert not open_arrays(small).arrays["numbers"].any()


def test_no_descriptor_is_left_open(small: Path, tmp_path: Path) -> None:
    before = descriptors()
    files = [open_arrays(small) for _ in range(10)]
    assert descriptors() == before + 10  # that of each mapping
    del files
    (tmp_path / "broken").write_bytes(small.read_bytes()[:-1])
    for _ in range(10):
        with pytest.raises(StoreError):
            open_arrays(tmp_path / "broken")
        with pytest.raises(StoreError):
            write_arrays(tmp_path / "none" / "file", SMALL, {})
    assert descriptors() == before


# What cannot be written


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (
            np.zeros((2, 2)),
            "the array 'a' has 2 dimensions and the dtype '<f8'; an array file takes one dimension and ",
        ),
        (np.array(["x"], dtype=object), "has 1 dimensions and the dtype '|O'"),
        (np.array(["x"]), "has 1 dimensions and the dtype '<U1'"),
        (np.zeros(1, dtype=np.complex128), "has 1 dimensions and the dtype '<c16'"),
    ],
)
def test_other_arrays_are_refused(tmp_path: Path, array: Array, words: str) -> None:
    with pytest.raises(StoreError) as error:
        write_arrays(tmp_path / "file", {"a": array}, {})
    assert words in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"bytes", object()])
def test_notes_that_are_no_json_are_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(
        StoreError, match=r"^the notes cannot be written as JSON: .*; use strings, numbers, lists, dicts$"
    ):
        write_arrays(tmp_path / "file", SMALL, {"value": value})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["none/file", "a\0b", "x" * 300, "\ud800"])
def test_impossible_paths_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        write_arrays(tmp_path / name, SMALL, {})
    with pytest.raises(StoreError, match=r"cannot be read|there is no file"):
        open_arrays(tmp_path / name)


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(
    small: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = small.read_bytes()

    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, name, fail)
        with pytest.raises(StoreError, match=r"cannot be written: .*No space left on device"):
            write_arrays(small, {}, {})
    assert [path.name for path in small.parent.iterdir()] == [small.name]
    assert small.read_bytes() == before


def test_what_a_killed_process_left_is_overwritten(small: Path) -> None:
    small.with_name(small.name + TEMPORARY).write_bytes(b"x" * 10_000)
    size = write_arrays(small, SMALL, {})
    assert [path.name for path in small.parent.iterdir()] == [small.name]
    assert open_arrays(small).size == size


# What cannot be opened


def refusal(path: Path, content: bytes | None = None) -> str:
    """What is said of a file with this content, or with the one that it has."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StoreError) as error:
        open_arrays(path)
    return str(error.value).removeprefix(str(path)).strip()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as error:
        open_arrays(tmp_path / "none")
    assert str(error.value) == f"there is no file {tmp_path / 'none'}"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be read: .*Is a directory"):
        open_arrays(tmp_path)


def test_an_empty_file_is_refused(small: Path) -> None:
    assert refusal(small, b"") == "is empty; restore it from a copy, or make the matcher anew"


@pytest.mark.parametrize(
    "content", [b"\x93NUMPY\1\0" + bytes(200), b"PK\3\4", b"\0" * 4096, b"\x93tiding!" + bytes(99)]
)
def test_a_foreign_file_is_refused(small: Path, content: bytes) -> None:
    assert refusal(small, content) == "was not written by tidings: it does not begin as a file of arrays does"


def test_another_format_is_refused(small: Path) -> None:
    content = bytes_of([], b"", form=2)
    assert refusal(small, content) == "has the format 2, and this version of tidings reads 1"


def test_a_file_cut_anywhere_says_how_much_is_missing(small: Path) -> None:
    whole = small.read_bytes()
    head = 20 + struct.unpack_from("<I", whole, 12)[0]
    assert len(whole) == head + 192 + 64  # 160 bytes, 0 bytes and 7 bytes, each up to a multiple of 64
    for size in range(len(whole) - 1, 0, -1):
        os.truncate(small, size)  # in place: writing a file anew a thousand times takes seconds
        said = refusal(small)
        needed = 16 if size < 16 else head
        if size < head:
            expected = f"at least {needed - size:,} of at least {needed:,}"
        else:
            expected = f"{len(whole) - size:,} of {len(whole):,}"
        assert said == f"is cut short: {expected} bytes are missing; restore it from a copy, or make the matcher anew"


def test_a_file_that_has_grown_is_refused(small: Path) -> None:
    whole = small.read_bytes()
    assert refusal(small, whole + b"12") == f"is 2 bytes longer than the {len(whole):,} that were written"


def test_every_flipped_bit_is_noticed(small: Path) -> None:
    whole = small.read_bytes()
    head = 20 + struct.unpack_from("<I", whole, 12)[0]
    with small.open("r+b", buffering=0) as file:
        for bit in range(8 * len(whole)):
            place = bit // 8
            os.pwrite(file.fileno(), bytes([whole[place] ^ 1 << bit % 8]), place)
            if place < head:
                assert refusal(small)
            else:
                with pytest.raises(StoreError, match=r"^the arrays in .* are damaged: their checksum is [0-9a-f]{8}, "):
                    open_arrays(small).verify()
            os.pwrite(file.fileno(), whole[place : place + 1], place)
    open_arrays(small).verify()


def test_a_damaged_header_is_named(small: Path) -> None:
    content = bytearray(small.read_bytes())
    content[40] ^= 1
    assert refusal(small, bytes(content)) == (
        f"the header of {small} is damaged: its checksum does not fit; restore the file from a copy, "
        "or make the matcher anew"
    )


@pytest.mark.parametrize("dtype", ["|O", "<c16", ">i8", "|V8", "<U1", "nonsense"])
def test_a_dtype_that_is_not_in_the_list_is_refused(small: Path, dtype: str) -> None:
    content = bytes_of([{"name": "a", "dtype": dtype, "count": 1, "offset": 0}], bytes(64))
    assert f"the array 'a' in {small} has the dtype {dtype!r}; allowed: " in refusal(small, content)


@pytest.mark.parametrize(("count", "offset"), [(9, 0), (1, 64), (0, 128), (1, 8), (1, -64), (-1, 0), (2**62, 0)])
def test_an_array_outside_of_the_file_is_refused(small: Path, count: int, offset: int) -> None:
    content = bytes_of([{"name": "a", "dtype": "<i8", "count": count, "offset": offset}], bytes(64))
    assert refusal(small, content) == (
        f"the array 'a' in {small} begins at {offset:,} and ends at {offset + 8 * count:,}; arrays begin at multiples "
        "of 64, and end within the 64 bytes that there are"
    )
