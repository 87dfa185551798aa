"""How an index comes to executors: read in place, where they see the folder, else shipped with Spark's own files.

Never as a broadcast: that is pickled, sent and loaded by every Python worker. Files are fetched once by an executor,
and mapped by all workers of the host.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.errors import SettingError, StoreError
from tidings.index.folder import read_version
from tidings.spark.files import IndexFiles, digest_of, linked, opened_files, shipped_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AUTO, PATH, COPY = "auto", "path", "copy"
PROBES = 8  # tasks that look for the folder, at least
_shipped: set[tuple[str, str]] = set()  # application, and digest of what it has been given already
_seen: dict[tuple[str, IndexFiles], bool] = {}  # whether executors saw the folder: each is asked about once


def reached(spark: SparkSession, files: IndexFiles, reach: str = AUTO) -> tuple[IndexFiles, str]:
    """The files as executors find them, and in words how and why."""
    if reach not in (AUTO, PATH, COPY):
        raise SettingError(f"reach is one of {AUTO!r}, {PATH!r}, {COPY!r}, not {reach!r}")
    if reach == PATH:
        return files, "read in place, as was asked"
    if reach == COPY:
        return _as_shipped(spark, files), "shipped, as was asked, and kept once on each host"
    if is_local(spark):
        return files, "read in place: executors run in the driver"
    if _visible(spark, files):
        return files, "read in place: all executors that were asked see the folder"
    return _as_shipped(spark, files), "shipped, and kept once on each host: not all executors see the folder"


def reached_folder(spark: SparkSession, folder: Path) -> IndexFiles:
    """The newest version in a folder that no one else can change now."""
    version, files = read_version(folder)
    return reached(spark, IndexFiles(str(folder.resolve()), version.number, digest_of(version, files)))[0]


def is_local(spark: SparkSession) -> bool:
    """Whether there are no executors but the driver. Of a session of Spark Connect that is not known."""
    if not is_classic(spark):
        return False
    master = str(spark.sparkContext.master)
    return master.startswith("local") and not master.startswith("local-cluster")


def is_classic(spark: SparkSession) -> bool:
    return hasattr(spark, "_jvm")


def _visible(spark: SparkSession, files: IndexFiles) -> bool:
    """Asks as many tasks as there may be executors. One that starts later says so itself if it cannot."""

    def look(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array([_is_here(files)] * batch.num_rows)], ["here"])

    known = _seen.get((application_of(spark), files))
    if known is not None:
        return known
    tasks = max(PROBES, 2 * spark.sparkContext.defaultParallelism) if is_classic(spark) else 4 * PROBES
    answers = spark.range(0, tasks, 1, tasks).mapInArrow(look, "here boolean").distinct().collect()
    visible = _seen[application_of(spark), files] = [row.here for row in answers] == [True]
    return visible


def _is_here(files: IndexFiles) -> bool:
    try:
        opened_files(files)
        return True
    except StoreError:
        return False


def _as_shipped(spark: SparkSession, files: IndexFiles) -> IndexFiles:
    folder = Path(files.folder)
    version, _ = read_version(folder, files.version)
    small = [*folder.glob("settings-*.json"), *folder.glob(f"*-{version.number:010}.json")]
    names = [*version.segments, *sorted({path.name for path in small})]
    application = application_of(spark)
    paths = [] if (application, files.digest) in _shipped else linked(folder, names, files.digest)
    for path in paths:
        if is_classic(spark):
            spark.sparkContext.addFile(str(path))
        else:
            spark.addArtifacts(str(path), file=True)
    _shipped.add((application, files.digest))
    return replace(files, shipped=tuple(shipped_name(files.digest, name) for name in names))


def application_of(spark: SparkSession) -> str:
    return spark.sparkContext.applicationId if is_classic(spark) else str(spark.session_id)  # type: ignore[attr-defined]
