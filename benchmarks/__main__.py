"""`python -m benchmarks [NAME …]`: runs all benchmarks, or those named."""

from __future__ import annotations

import platform
import sys

from benchmarks import (
    building,
    growth,
    latency,
    parsing,
    sets,
    similarity,
    spark,
    spark_memory,
    spark_shards,
    stocks,
    strings,
    synthetic,
    text,
    xpath,
)
from benchmarks.measuring import SCALE_VARIABLE, scale

BENCHMARKS = {
    "parsing": parsing.run,
    "stocks": stocks.run,
    "latency": latency.run,
    "synthetic": synthetic.run,
    "strings": strings.run,
    "sets": sets.run,
    "growth": growth.run,
    "building": building.run,
    "text": text.run,
    "similarity": similarity.run,
    "xpath": xpath.run,
    "spark": spark.run,
    "spark_shards": spark_shards.run,
    "spark_memory": spark_memory.run,
}


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        raise SystemExit(f"there is no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}")
    print(f"Python {platform.python_version()}, {platform.machine()}; one core, on Spark two")
    if scale() < 1:
        print(f"sizes are scaled by {SCALE_VARIABLE}={scale():g}: these figures stand for nothing but themselves")
    for name in names or list(BENCHMARKS):
        BENCHMARKS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
