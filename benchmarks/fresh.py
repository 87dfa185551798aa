"""What is measured in a process of its own: `in_fresh_process` runs a function of this module there, on one core.

Such a process has imported nothing of tidings, holds nothing in memory and has compiled no kernel; what is on disk is
as warm as the last process left it. Only what Python has without packages is imported at the top, so that a function
can measure an import.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

Result = dict[str, float]
PAGES = Path("/proc/self/statm")  # on Linux; elsewhere resident memory is not measured


def in_fresh_process(function: Callable[..., Result], *arguments: str, **environment: str) -> Result:
    """What the function returns in a new Python; `environment` is added to this process's."""
    command = [sys.executable, "-m", "benchmarks.fresh", function.__name__, *arguments]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[1],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{function.__name__} failed in a process of its own:\n{done.stderr}")
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def cold_start() -> Result:
    """From nothing to the first match."""
    start = time.perf_counter()
    import tidings

    imported = time.perf_counter()
    matcher = tidings.Matcher()
    for number in range(10):
        matcher.add(number, f"symbol = 'S{number % 3}' AND low <= {number}")
    found = matcher.match({"symbol": "S1", "low": 2.5}).ids
    end = time.perf_counter()
    if sorted(found) != [4, 7]:
        raise SystemExit(f"the first match found {found}, and 4 and 7 are expected")
    return {"import": imported - start, "all": end - start}


def parse_all(texts: str) -> Result:
    """Reads the subscriptions of a file, one a line, and keeps none of them."""
    from tidings import parse

    with Path(texts).open(encoding="utf-8") as lines:
        start = time.perf_counter()
        for line in lines:
            parse(line)
        return {"seconds": time.perf_counter() - start}


def build(texts: str, folder: str) -> Result:
    """A matcher with the subscriptions of a file, saved into a new folder."""
    from benchmarks.filling import warm_kernels
    from tidings import Matcher

    warm_kernels()
    before = resident_bytes()
    with Path(texts).open(encoding="utf-8") as lines:
        start = time.perf_counter()
        matcher = Matcher()
        matcher.add_many((number, line.rstrip("\n")) for number, line in enumerate(lines))
        added = time.perf_counter()
        matcher.match({})  # what was added is compiled when the first event comes
        built = time.perf_counter()
    grown = resident_bytes() - before
    saving = time.perf_counter()
    matcher.save(folder)
    saved = time.perf_counter() - saving
    return {"adding": added - start, "together": built - start, "resident": grown, "saving": saved}


def open_saved(folder: str, events: str) -> Result:
    """From nothing to the answers of a saved matcher to a first batch."""
    start = time.perf_counter()
    import pyarrow.feather

    import tidings

    batch = pyarrow.feather.read_table(events)
    imported = time.perf_counter()
    matcher = tidings.Matcher.load(folder)
    loaded = time.perf_counter()
    answer = matcher.match_many(batch, lists=True)
    matched = time.perf_counter()
    from benchmarks.measuring import matches_in

    found = matches_in(answer)
    times = {"import": imported - start, "load": loaded - imported, "first_batch": matched - loaded}
    return {**times, "all": matched - start, "matches": found}


def open_when_warm(folder: str, events: str) -> Result:
    """Opens a saved matcher where packages are imported and kernels loaded: what remains is the matcher's own."""
    import pyarrow.feather

    from benchmarks.filling import warm_kernels
    from tidings import Matcher

    warm_kernels()
    batch = pyarrow.feather.read_table(events)
    before = resident_bytes()
    start = time.perf_counter()
    matcher = Matcher.load(folder)
    loaded = time.perf_counter()
    answer = matcher.match_many(batch, lists=True)
    matched = time.perf_counter()
    del answer
    return {"load": loaded - start, "first_batch": matched - loaded, "resident": resident_bytes() - before}


def resident_bytes() -> int:
    """Memory of this process that is not swapped out, after what is free has been given back; 0 where unknown."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
    return int(PAGES.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if PAGES.exists() else 0


def _on_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


FUNCTIONS: Mapping[str, Callable[..., Result]] = {
    each.__name__: each for each in (cold_start, parse_all, build, open_saved, open_when_warm)
}

if __name__ == "__main__":
    _on_one_core()
    print(json.dumps(FUNCTIONS[sys.argv[1]](*sys.argv[2:])))
