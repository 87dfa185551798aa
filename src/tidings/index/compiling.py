"""How kernels are compiled, and where the compiled code is kept, so that only the first process on a machine waits.

numba keeps compiled code by the date of the file that a function stands in. A kernel also holds what it took from other
files, the numbers of arrays above all, and code with old numbers would read the wrong memory. Here it is kept by a
digest of everything that kernels are made from, as this process has it: the files of this folder and, for a kernel in a
folder inside, the files of that one. The place is numba's own where NUMBA_CACHE_DIR
names it, else beside the source, else, where that is read-only, in the user's cache folder, else in a temporary folder
of the user's own; where none can be written, kernels are compiled and not kept.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from tidings.index import layout

_HERE = Path(__file__).parent


def compiled(function: Callable[..., Any]) -> Any:
    """A kernel. It runs without Python's global lock."""
    return _kept(njit(nogil=True)(function))


def compiled_into_callers(function: Callable[..., Any]) -> Any:
    """A kernel so small that it is made part of each that calls it."""
    return _kept(njit(nogil=True, inline="always")(function))


def _kept(kernel: Any) -> Any:
    # Plain Python where numba is switched off.
    if hasattr(kernel, "_cache") and cache_folder(_folder_of(kernel.py_func)) is not None:
        kernel._cache = _KernelCache(kernel.py_func)  # type: ignore[no-untyped-call]
    return kernel


def _folder_of(function: Any) -> Path:
    return Path(function.__code__.co_filename).parent


@cache
def cache_folder(of: Path = _HERE) -> Path | None:
    """Where the compiled kernels of a folder are kept; None where nothing can be written."""
    for base in _bases():
        folder = base / f"tidings-kernels-{_digest(of)}"
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_uid != os.getuid():
                continue  # somebody else's: what is there would be run
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


def is_compiled_before(of: Path) -> bool:
    """Whether there are kernels of a folder that need not be compiled."""
    folder = cache_folder(of)
    return folder is not None and any(folder.iterdir())


def _bases() -> Iterator[Path]:
    if os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(os.environ["NUMBA_CACHE_DIR"])
    yield _HERE / "__pycache__"
    with suppress(RuntimeError):  # no home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    yield Path(tempfile.gettempdir()) / f"tidings-{os.getuid()}"


@cache
def _digest(of: Path) -> str:
    found = hashlib.sha256()
    for folder in dict.fromkeys((_HERE, of)):
        for file in sorted(folder.glob("*.py")):
            source = file.read_bytes()
            if b"tidings.index.compiling import" in source or file.name in ("layout.py", Path(__file__).name):
                found.update(source)
    # The file of the layout may be newer than the layout that this process has.
    for name, value in sorted(vars(layout).items()):
        if isinstance(value, int | tuple) and not name.startswith("__"):
            found.update(f"{name}={value!r}".encode())
    return found.hexdigest()[:16]


class _Locator(_CacheLocator):
    def __init__(self, folder: Path, line: int) -> None:
        self._folder = folder
        self._line = line

    def get_cache_path(self) -> str:
        return str(cache_folder(self._folder))

    def get_source_stamp(self) -> str:
        return _digest(self._folder)

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator:
        return cls(_folder_of(py_func), py_func.__code__.co_firstlineno)


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes: Any = [_Locator]  # noqa: RUF012 - numba's own is a list


class _KernelCache(FunctionCache):
    _impl_class = _KernelCacheImpl
