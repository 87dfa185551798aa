"""Arrays by address: how a kernel gets at many arrays for the price of one.

A kernel that is given a segment as a tuple of some thirty arrays copies all of them, and counts references to all of
them, at each call of each function inside it; that cost more than the look-ups themselves. So arrays are handed over as
a *directory*, one array of addresses and sizes, and a function takes the views that it needs. Whoever makes a directory
keeps the arrays alive while a kernel uses it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]  # it does export carray
from numba.core import cgutils
from numba.extending import intrinsic, overload

from tidings.index.compiling import compiled
from tidings.index.layout import Array


def directory(arrays: Iterable[Array]) -> Array:
    """Address and size of each array, one after the other."""
    found = [number for array in arrays for number in (array.__array_interface__["data"][0], array.size)]
    return np.array(found, np.int64)


@compiled
def batch_directory(starts, slot, key, text, length, flags, data):  # type: ignore[no-untyped-def]
    """The same for the arrays of a batch, compiled: of one event, it takes longer than matching does."""
    return np.array(
        [
            starts.ctypes.data, starts.size, slot.ctypes.data, slot.size, key.ctypes.data, key.size,
            text.ctypes.data, text.size, length.ctypes.data, length.size, flags.ctypes.data, flags.size,
            data.ctypes.data, data.size,
        ],
        np.int64,
    )  # fmt: skip


def int64s(directory: Array, number: int) -> Any:
    return _viewed(directory, number, np.int64)


def int32s(directory: Array, number: int) -> Any:
    return _viewed(directory, number, np.int32)


def uint64s(directory: Array, number: int) -> Any:
    return _viewed(directory, number, np.uint64)


def uint8s(directory: Array, number: int) -> Any:
    return _viewed(directory, number, np.uint8)


def _viewed(directory: Array, number: int, kind: Any) -> Array:
    """The view as plain Python takes it, where kernels are not compiled."""
    address, size = int(directory[2 * number]), int(directory[2 * number + 1])
    if not size:
        return np.empty(0, kind)
    return np.frombuffer((ctypes.c_char * (size * np.dtype(kind).itemsize)).from_address(address), kind)


def _pointer_code(typing: Any, address: Any) -> Any:  # compiled: an integer as the address it is
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


_pointer: Any = intrinsic(_pointer_code)


def _compiled_view(view: Any, kind: Any) -> None:
    @overload(view)
    def viewed(directory, number):  # type: ignore[no-untyped-def]
        def take(directory, number):  # type: ignore[no-untyped-def]
            return carray(_pointer(directory[2 * number]), (directory[2 * number + 1],), kind)

        return take


for _view, _kind in ((int64s, np.int64), (int32s, np.int32), (uint64s, np.uint64), (uint8s, np.uint8)):
    _compiled_view(_view, _kind)
