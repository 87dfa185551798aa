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
from tidings.spark import text_statistics, xml_records

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
texts = spark.createDataFrame([("Bank raises its key rate",), ("A quiet day at the bank",), (None,)], "title string")
known = text_statistics(texts, "title")
assert (known.documents, known.document_frequency["bank"], known.document_frequency["key"]) == (2, 2, 1)
recompile(spark, folder / "index", statistics=known, progress=False)
(folder / "dblp.xml").write_text("<dblp><article><year>2009</year></article><www/></dblp>")
records = xml_records(spark.read.format("binaryFile").load(str(folder / "dblp.xml")))
asked = spark.createDataFrame([(1, "xpath_boolean(document, '/article[year > 2007]')")], "id int, where string")
articles = match(records.where("problem is null"), asked, event_columns=["name"])
assert [(row.name, row.subscription_id) for row in articles.collect()] == [("article", 1)]
(folder / "events").mkdir()
(folder / "events" / "0.json").write_text('{"id": "e", "n": 5}')
coming = spark.readStream.schema("id string, n int").json(str(folder / "events"))
for strategy, lists, expected in [("replicated", False, ("e", 1)), ("sharded", True, ("e", [1]))]:
    matches, checkpoint = str(folder / f"{strategy} matches"), str(folder / f"{strategy} checkpoint")
    answer = match(coming, folder / "index", strategy, lists=lists, sharding=Sharding(2) if lists else None)
    writer = answer.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    query = writer.format("parquet").start(matches)
    assert query.awaitTermination(120) and query.exception() is None
    assert [tuple(row) for row in spark.read.parquet(matches).collect()] == [expected]
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
