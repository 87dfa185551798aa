"""Building and opening: a million subscriptions of two predicates from text to a saved index, and back from the disk.

Each measurement is a process of its own, on one core. There is no alternative to race here; the counts of the first
batch after opening are verified against the kernel by hand of `stocks`.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.feather

from benchmarks import fresh
from benchmarks.data import quotes
from benchmarks.fresh import PAGES, Result, in_fresh_process
from benchmarks.measuring import Measured, same_count, scaled
from benchmarks.stocks import Alert, Limit, alerts, texts

SUBSCRIPTIONS, MANY = scaled(1_000_000, least=2_000), scaled(5_000_000, least=2_000)
QUOTES = 40_000  # from which thresholds are drawn
BATCH = 1_000
REPETITIONS = 3
OPENINGS = 5
BYTES_OF_ID = 8


@dataclass(frozen=True, slots=True)
class Saved:
    """A matcher on disk, a batch of events for it, and how many matches they have by the kernel by hand."""

    count: int
    texts: Path
    folder: Path
    events: Path
    matches: int


def run() -> None:
    table, where_from = quotes(QUOTES)
    with tempfile.TemporaryDirectory(prefix="tidings-building-") as place:
        print(f"\nbuilding: {SUBSCRIPTIONS:,} subscriptions of two predicates, thresholds from {where_from}")
        million = prepared(Path(place) / "million", SUBSCRIPTIONS, table)
        _report_building(million)
        _report_cold_start()
        _report_opening(million)
        many = prepared(Path(place) / "many", MANY, table)
        in_fresh_process(fresh.build, str(many.texts), str(many.folder))
        _report_opening(many)


def two_predicates(table: pa.Table, count: int) -> list[Alert]:
    """Alerts of the templates with two predicates: all but the last, which has one in twenty."""
    made: list[Alert] = []
    seed = 1
    while len(made) < count:
        made += [alert for alert in alerts(table, count, seed) if alert[0] < 4]
        seed += 1
    return made[:count]


def prepared(place: Path, count: int, table: pa.Table) -> Saved:
    place.mkdir()
    made = two_predicates(table, count)
    saved = Saved(count, place / "texts", place / "saved", place / "events", len(Limit(made, table).run(0, BATCH)))
    saved.texts.write_text("\n".join(texts(made)) + "\n", encoding="utf-8")
    pyarrow.feather.write_feather(table.slice(0, BATCH), saved.events, compression="uncompressed")
    return saved


def _report_building(saved: Saved) -> None:
    parsed: list[Result] = []
    built: list[Result] = []
    for repetition in range(REPETITIONS):
        folder = saved.folder if repetition == 0 else saved.folder.with_name(f"again{repetition}")
        parsed.append(in_fresh_process(fresh.parse_all, str(saved.texts)))
        built.append(in_fresh_process(fresh.build, str(saved.texts), str(folder)))
    together, parsing = _measured("together", built), _measured("seconds", parsed)
    on_disk = sum(file.stat().st_size for file in saved.folder.rglob("*") if file.is_file()) / saved.count
    print(f"  parsing alone, nothing kept         {_spelled(parsing)}")
    print(f"  parsing, adding, compiling together {_spelled(together)}")
    print(f"    of which before the first event   {_spelled(_measured('adding', built))}")
    print(f"    so without parsing it takes       {together.median - parsing.median:>8.2f} s")
    print(f"  saving it                           {_spelled(_measured('saving', built))}")
    print(f"  the saved folder has {on_disk:,.0f} bytes a subscription, {on_disk - BYTES_OF_ID:,.0f} without its id")
    print(f"  the process grew by {_in_memory(built, saved.count)}, id included")


def _report_opening(saved: Saved) -> None:
    cold: list[Result] = []
    warm: list[Result] = []
    for _ in range(OPENINGS):
        cold.append(in_fresh_process(fresh.open_saved, str(saved.folder), str(saved.events)))
        warm.append(in_fresh_process(fresh.open_when_warm, str(saved.folder), str(saved.events)))
        same_count(saved.matches, opened=int(cold[-1]["matches"]))
    print(f"\nopening {saved.count:,} in a fresh process with kernels cached; {saved.matches:,} matches, verified")
    print(f"  import tidings and pyarrow          {_spelled(_measured('import', cold))}")
    print(f"  Matcher.load, with what it imports  {_spelled(_measured('load', cold))}")
    print(f"  first batch of {BATCH:,} events         {_spelled(_measured('first_batch', cold))}")
    print(f"  all of it                           {_spelled(_measured('all', cold))}")
    print("with everything imported and the kernels loaded before")
    print(f"  Matcher.load                        {_spelled(_measured('load', warm))}")
    print(f"  first batch of {BATCH:,} events         {_spelled(_measured('first_batch', warm))}")
    print(f"  the process grew by {_in_memory(warm, saved.count)}, pages that are mapped from the disk included")


def _report_cold_start() -> None:
    warm = [in_fresh_process(fresh.cold_start) for _ in range(OPENINGS)]
    empty = []
    for _ in range(REPETITIONS):
        with tempfile.TemporaryDirectory(prefix="tidings-no-kernels-") as nothing:
            empty.append(in_fresh_process(fresh.cold_start, NUMBA_CACHE_DIR=nothing))
    print("\ncold start: a fresh process, import tidings, ten subscriptions, a first match; verified")
    print(f"  kernels cached                      {_spelled(_measured('all', warm))}")
    print(f"  kernels never compiled              {_spelled(_measured('all', empty))}")


def _in_memory(results: list[Result], count: int) -> str:
    grown = statistics.median(each["resident"] for each in results)
    return f"{grown / count:,.0f} bytes a subscription" if PAGES.exists() else "what only Linux tells"


def _measured(name: str, results: list[Result]) -> Measured:
    return Measured(name, 1, tuple(each[name] for each in results))


def _spelled(measured: Measured) -> str:
    return f"{measured.median:>8.3f} s   spread {measured.spread:>4.0%}"
