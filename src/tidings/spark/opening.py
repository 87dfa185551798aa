"""An index opened by a Python worker: mapped, and kept for the tasks that the worker runs next.

What is mapped is shared with every process of the host; a worker's own are 8 bytes for each subscription and each
check, in which the kernels remember the row they are at, and one for each subscription once some were removed.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

from tidings.spark.files import IndexFiles, cache_folder, opened_files
from tidings.spark.recent import LastUsed
from tidings.spark.working import OpenIndex

KEPT_OPEN = 2  # indexes in a worker: that of the running query, and the one before it
IMPORTING, ASKING, MATCHING = "importing", "asking", "matching"  # what loads most: modules, then kernels
_open: LastUsed[IndexFiles, OpenIndex] = LastUsed(KEPT_OPEN)
_settled: set[str] = set()


def opened(files: IndexFiles) -> OpenIndex:
    """The index of these files, the same one as long as it is kept."""
    return _open.get(files, lambda: _read(files))


def settle(after: str) -> None:
    """Hides what a worker has loaded from the garbage collector, when the first of its tasks of a kind is done.

    Spark has a worker collect after every task, and going through all that numba brings takes 0.1 s, more than a small
    task does. Indexes are closed before, so that none is hidden, which would stay when nobody needs it any more.
    """
    from pyspark import TaskContext

    if after not in _settled and TaskContext.get() is not None:  # a driver is the user's own
        _settled.add(after)
        _open.clear()
        gc.collect()
        gc.freeze()


def _read(files: IndexFiles) -> OpenIndex:
    choose_kernel_cache()
    return OpenIndex(*opened_files(files))


def choose_kernel_cache() -> None:
    """Says where compiled kernels are kept, before numba is imported: it fails where it finds no place it can write.

    Executors often run from a folder, or an archive, that is not theirs to write.
    """
    beside = Path(__file__).parents[1] / "index" / "__pycache__"
    if "NUMBA_CACHE_DIR" not in os.environ and not os.access(beside, os.W_OK):
        os.environ["NUMBA_CACHE_DIR"] = str(cache_folder() / "kernels")
