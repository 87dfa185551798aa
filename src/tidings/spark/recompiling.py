"""`recompile`: the segments of an index made anew, all of them, from the subscriptions that are in them.

Many small changes leave many segments, each of which is asked about every event, and marks on what was removed; and the
weights of words are part of a segment. Readers and streams keep the version that they have.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidings.analysis.latent import LatentSpace
from tidings.analysis.statistics import TextStatistics
from tidings.errors import SettingError
from tidings.index.folder import Writer, read_version
from tidings.matcher import UNCOMPILED
from tidings.spark.compiling import rows_of
from tidings.spark.files import digest_of
from tidings.spark.index import IDS_NOTE, Index
from tidings.spark.jobs import Compiled, Job
from tidings.spark.keying import index_rows
from tidings.spark.metadata import schema_note
from tidings.spark.places import place_of
from tidings.spark.reaching import reached
from tidings.spark.tasks import of_tasks
from tidings.store import settings_of, settings_record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def recompile(
    spark: SparkSession,
    path: str | os.PathLike[str],
    *,
    statistics: TextStatistics | None = None,
    latent: LatentSpace | None = None,
    segments: int | None = None,
    uncompiled: int = UNCOMPILED,
    progress: bool = True,
) -> Compiled:
    """Makes one version with the same subscriptions in as few segments as `compile_index` would make of them.

    With `statistics`, similarity is weighed by these, and with `latent`, `model => 'lsi'` compares in that space, from
    the version on that the result names. `segments` is how many tasks compile, and how many files there are afterwards;
    not more than `uncompiled` subscriptions in all are asked one by one.
    """
    if segments is not None and segments < 1:
        raise SettingError(f"segments is a number of tasks, 1 or more, not {segments}")
    start = time.perf_counter()
    with place_of(spark, path).writable() as folder, Writer.open(folder) as writer:
        version, files = read_version(folder)
        with Index(os.fspath(path), folder, version, files, digest_of(version, files), None) as index:
            known = settings_of(version.settings, folder)
            wanted = replace(
                known,
                statistics=known.statistics if statistics is None else statistics,
                latent=known.latent if latent is None else latent,
            )
            notes = {IDS_NOTE: index.id_type, **schema_note(index.metadata)}
            record = {**version.settings, **settings_record(wanted), **notes}
            job = Job(spark, *rows_of(_table(spark, index)), False, True, segments, uncompiled, progress)
            made = [writer.write_segment(arrays, notes) for arrays, notes in job.received(record)]
        number = writer.commit(made, record).number
    return job.compiled(path, number, start)


def _table(spark: SparkSession, index: Index) -> DataFrame:
    """What `compile_index` would be given to make the same index."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    files, _ = reached(spark, index.in_place, index)
    names = tuple(index.metadata.names)
    id = StructField("id", StringType() if index.id_type == "string" else LongType())
    schema = StructType([id, StructField("where", StringType()), *index.metadata.fields])

    def work(task: int, tasks: int) -> Iterator[Any]:
        return index_rows(files, names, task, tasks)

    return of_tasks(spark, work, schema)
