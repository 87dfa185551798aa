"""`python -m benchmarks [NAME …]`: runs all benchmarks, or those named."""

from __future__ import annotations

import platform
import sys

from benchmarks import parsing, stocks

BENCHMARKS = {"parsing": parsing.run, "stocks": stocks.run}


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        raise SystemExit(f"there is no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}")
    print(f"Python {platform.python_version()}, {platform.machine()}; one process, one core")
    for name in names or list(BENCHMARKS):
        BENCHMARKS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
