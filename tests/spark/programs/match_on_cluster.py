"""Jobs on a cluster: an index is compiled, and events are matched in many tasks, each of which leaves a mark when it
begins, and takes a while.

Usage: match_on_cluster.py MASTER FOLDER   with the subscriptions in FOLDER/subscriptions.json; the index goes to
FOLDER/index, marks to FOLDER/marks, matches to FOLDER/found-STRATEGY.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tidings.spark import Sharding, compile_index, match

TASKS, EVENTS = 12, 240
STRATEGIES: dict[str, dict[str, Any]] = {
    "replicated": {"reach": "copy"},
    "sharded": {"sharding": Sharding(3, by_events=False)},
}


def main(master: str, folder: Path) -> None:
    builder = SparkSession.builder.master(master).appName("tidings: a job on a cluster")
    for name, value in {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # it starts sooner
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    marks = str(folder / "marks")

    def marked(batches: Iterable[Any]) -> Iterator[Any]:
        import time
        from pathlib import Path
        from uuid import uuid4

        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        worker = Path.cwd()  # below the folder of the worker that runs the executor
        Path(marks, f"{context.partitionId()}-{uuid4().hex}").write_text(str(worker), encoding="utf-8")
        time.sleep(0.7)  # long enough for its worker to be killed meanwhile
        yield from batches

    subscriptions = spark.read.schema("id string, where string").json(str(folder / "subscriptions.json"))
    compile_index(subscriptions, folder / "index", segments=2, progress=False)
    rows = spark.range(0, EVENTS, 1, TASKS).selectExpr("id", "int(id % 20) AS n")
    events = rows.mapInArrow(marked, "id long, n int")
    for strategy, options in STRATEGIES.items():
        found = match(events, folder / "index", strategy, **options).collect()
        lines = sorted(f"{row.event_id} {row.subscription_id}" for row in found)
        (folder / f"found-{strategy}").write_text("\n".join(lines), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
