"""How the kernels of this folder are compiled: kept on disk where that can be, so that only the first process waits.

numba keeps compiled code by the date of the file that a function stands in. All kernels that call each other therefore
stand in one file, and take nothing but numbers and arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """A kernel. It runs without Python's global lock."""
    try:
        return njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # no place that can be written: compiled in each process
        return njit(nogil=True, error_model="numpy")(function)
