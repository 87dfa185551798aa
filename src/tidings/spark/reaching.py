"""How an index comes to executors: read in place, where they see the folder, else shipped with Spark's own files.

Never as a broadcast: that is pickled, sent and loaded by every Python worker. Files are fetched once by an executor,
and mapped by all workers of the host.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidings.errors import SettingError, StoreError
from tidings.index.folder import read_version
from tidings.spark.files import IndexFiles, digest_of, opened_files
from tidings.spark.recent import LastUsed
from tidings.spark.sessions import application_of, is_local
from tidings.spark.shipping import Holder, as_shipped
from tidings.spark.tasks import told_by_executors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AUTO, PATH, COPY = "auto", "path", "copy"
REMEMBERED = 100  # versions of which it is known whether executors see them
_seen: LastUsed[tuple[str, IndexFiles], bool] = LastUsed(REMEMBERED)


def reached(spark: SparkSession, files: IndexFiles, holder: Holder, reach: str = AUTO) -> tuple[IndexFiles, str]:
    """The files as executors find them until the holder is closed, and in words how and why."""
    if reach not in (AUTO, PATH, COPY):
        raise SettingError(f"reach is one of {AUTO!r}, {PATH!r}, {COPY!r}, not {reach!r}")
    if reach == PATH:
        return files, "read in place, as was asked"
    if reach == COPY:
        return as_shipped(spark, files, holder), "shipped, as was asked, and kept once on each host"
    if is_local(spark):
        return files, "read in place: executors run in the driver"
    if _seen.get((application_of(spark), files), lambda: _visible(spark, files)):
        return files, "read in place: all executors that were asked see the folder"
    return as_shipped(spark, files, holder), "shipped, and kept once on each host: not all executors see the folder"


def files_in(folder: Path) -> IndexFiles:
    """The newest version in a folder that no one else can change now."""
    version, files = read_version(folder)
    return IndexFiles(str(folder.resolve()), version.number, digest_of(version, files))


def _visible(spark: SparkSession, files: IndexFiles) -> bool:
    """An executor that starts later says so itself if it cannot."""
    return told_by_executors(spark, lambda: _is_here(files), "boolean") == [True]


def _is_here(files: IndexFiles) -> bool:
    try:
        opened_files(files)
        return True
    except StoreError:
        return False
