"""A driver to be killed: streams JSON events through an index into Parquet. Says `running` when the query has started.

Usage: deliver.py FOLDER [end]   with index, events, checkpoint and matches in FOLDER; `end` ends it when all is done.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tidings.spark import ParquetSink, stream


def main(folder: Path, end: bool) -> None:
    builder = SparkSession.builder.master("local[1]").appName("tidings: a driver to be killed")
    for name, value in {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # it starts often, and dies soon
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    events = spark.readStream.schema("id bigint, n int").option("maxFilesPerTrigger", 1).json(str(folder / "events"))
    sink = ParquetSink(folder / "matches")
    query = stream(events, folder / "index", sink, folder / "checkpoint", trigger="available" if end else None)
    print("running", flush=True)
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] == ["end"])
