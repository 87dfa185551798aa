"""tidings on Spark: DataFrames of events and subscriptions in, matches out. See docs/spark.md.

Importing it needs pyspark: pip install 'tidings[spark]'.
"""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("pyspark") is None:
    raise ImportError("tidings.spark needs pyspark, which is not installed: pip install 'tidings[spark]'")

from tidings.spark.compiling import Removed, compile_index, remove_ids
from tidings.spark.index import Index, open_index
from tidings.spark.jobs import Compiled
from tidings.spark.matching import match, problems
from tidings.spark.measuring import BatchMetrics, metrics
from tidings.spark.notifying import notifications
from tidings.spark.postgres import PostgresSink
from tidings.spark.recompiling import recompile
from tidings.spark.sharding import Sharding
from tidings.spark.sinks import Batch, ConsoleSink, FilesSink, ParquetSink, Sink
from tidings.spark.statistics import text_statistics
from tidings.spark.streaming import stream
from tidings.spark.xml_files import xml_records

__all__ = [
    "Batch",
    "BatchMetrics",
    "Compiled",
    "ConsoleSink",
    "FilesSink",
    "Index",
    "ParquetSink",
    "PostgresSink",
    "Removed",
    "Sharding",
    "Sink",
    "compile_index",
    "match",
    "metrics",
    "notifications",
    "open_index",
    "problems",
    "recompile",
    "remove_ids",
    "stream",
    "text_statistics",
    "xml_records",
]
