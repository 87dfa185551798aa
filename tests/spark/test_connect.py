"""The same through Spark Connect, where it is installed: no SparkContext, no Java process to call, other sessions.

In a process of its own: one process has sessions of one kind.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("grpc", reason="Spark Connect is not installed: pip install 'pyspark[connect]'")
pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parents[2] / "src"
SCRIPT = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from tidings import SettingError
from tidings.spark import Sharding, compile_index, match, notifications, problems, recompile, remove_ids, stream

folder = Path(sys.argv[1])
spark = SparkSession.builder.remote("local[2]").getOrCreate()
schema = "id int, where string, owner string"
subscriptions = spark.createDataFrame([(1, "n = 5", "ann"), (2, "n <", "x"), (3, "TRUE", "cy")], schema)
made = compile_index(subscriptions, folder / "index", progress=False)
assert (made.added, [row.id for row in made.errors.collect()]) == (2, [2])
more = spark.createDataFrame([(3, "n = 6", "di")], schema)
assert compile_index(more, folder / "index", replace=True, progress=False).replaced == 1
assert remove_ids(spark, folder / "index", more.select("id")).removed == 1
events = spark.createDataFrame([("a", 5), (None, 5)], "id string, n int").repartition(2)
found = match(events, folder / "index", subscription_columns=["owner"])
assert [tuple(row) for row in found.collect()] == [("a", 1, "ann")]
assert [tuple(row) for row in match(events, folder / "index", lists=True).collect()] == [("a", [1])]
assert problems(events, folder / "index").count() == 1
sharded = match(events, folder / "index", "sharded", sharding=Sharding(2), subscription_columns=["owner"])
assert [tuple(row) for row in sharded.collect()] == [("a", 1, "ann")]
assert [tuple(row) for row in notifications(found, subscriber="owner").collect()] == [("a", 1, "ann")]
recompile(spark, folder / "index", progress=False)
(folder / "events").mkdir()
(folder / "events" / "0.json").write_text('{"id": "e", "n": 5}')
coming = spark.readStream.schema("id string, n int").json(str(folder / "events"))
writer = match(coming, folder / "index").writeStream.option("checkpointLocation", str(folder / "checkpoint"))
query = writer.trigger(availableNow=True).format("parquet").start(str(folder / "matches"))
assert query.awaitTermination(120) and query.exception() is None
assert [tuple(row) for row in spark.read.parquet(str(folder / "matches")).collect()] == [("e", 1)]
try:
    stream(coming, folder / "index", print, folder / "other")
    raise AssertionError("a stream was started")
except SettingError as error:
    assert "use a classic session" in str(error)
shipped = match(events, folder / "index", reach="copy")
(folder / "index").rename(folder / "moved")
assert [tuple(row) for row in shipped.collect()] == [("a", 1)]
print("all is well")
"""


def test_spark_connect(tmp_path: Path) -> None:
    run = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    found = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
    variables = {**os.environ, "PYTHONPATH": found, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(run, env=variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.rstrip().endswith("all is well"), done.stderr[-2_000:]
