"""An index opened by a Python worker: mapped, and kept for the tasks that the worker runs next.

What is mapped is shared with every process of the host; a worker's own are 8 bytes for each subscription and each
check, in which the kernels remember the row they are at, and one for each subscription once some were removed.
"""

from __future__ import annotations

import gc
import os
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.spark.files import IndexFiles, Opened, cache_folder, opened_files

if TYPE_CHECKING:
    import pyarrow

    from tidings.index.compiled import CompiledIndex

KEPT_OPEN = 2  # indexes in a worker: that of the running query, and the one before it
IMPORTING, MATCHING = "importing", "matching"  # what loads most: modules, then kernels
_open: OrderedDict[IndexFiles, OpenIndex] = OrderedDict()
_settled: set[str] = set()


@dataclass(frozen=True, slots=True, eq=False)
class OpenIndex:
    """The compiled index, and the further columns of its subscriptions by the file that holds them."""

    compiled: CompiledIndex
    metadata: dict[str, dict[str, pyarrow.Array]]
    types: dict[str, pyarrow.DataType]  # of the further columns
    most_hits: int  # that one event can have, of those that are written down one by one


def opened(files: IndexFiles) -> OpenIndex:
    """The index of these files, the same one as long as it is kept."""
    found = _open.pop(files, None) or _read(opened_files(files))
    _open[files] = found
    while len(_open) > KEPT_OPEN:
        _open.popitem(last=False)
    return found


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


def _read(source: Opened) -> OpenIndex:
    choose_kernel_cache()
    from tidings.index.compiled import CompiledIndex
    from tidings.language.parser import parse
    from tidings.spark.metadata import metadata_in
    from tidings.store import Contents

    folder, version, files = source
    contents = Contents(folder, version, files)
    compiled = CompiledIndex(contents.settings, parts=[part for part in contents.parts if len(part)])
    compiled.add([(id, where, parse(where)) for id, where in contents.recent.items()])
    metadata = {name: metadata_in(file) for name, file in zip(version.segments, files, strict=True)}
    types = {name: column.type for columns in metadata.values() for name, column in columns.items()}
    return OpenIndex(compiled, metadata, types, sum(_most_hits(part.segment) for part in compiled.parts))


def _most_hits(segment: Any) -> int:
    """How many subscriptions stand in tables whose answers are not ranges."""
    first = segment.bucket_entries[segment.table_buckets]
    checked: Sequence[int] = (first[1:] - first[:-1])[segment.table_sliced == 0]
    return min(int(sum(checked)), len(segment.member_shared))


def choose_kernel_cache() -> None:
    """Says where compiled kernels are kept, before numba is imported: it fails where it finds no place it can write.

    Executors often run from a folder, or an archive, that is not theirs to write.
    """
    beside = Path(__file__).parents[1] / "index" / "__pycache__"
    if "NUMBA_CACHE_DIR" not in os.environ and not os.access(beside, os.W_OK):
        os.environ["NUMBA_CACHE_DIR"] = str(cache_folder() / "kernels")
