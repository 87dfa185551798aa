"""Memory of Python workers on Spark with an index of five million subscriptions: mapped by both, copied by neither.

Two workers open the index, match the same batch of events, so that both need the same pages, and look at themselves at
the same time, in Linux's /proc/self/smaps. The run fails where a page of the files was written to, where the workers
mapped different files, or where what both have mapped is not shared. The answers are counted, and the counts verified.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.feather

from benchmarks.data import quotes
from benchmarks.measuring import same_count, scaled
from benchmarks.on_spark import CORES, compiled, session
from benchmarks.stocks import Limit, alerts, texts

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from tidings.spark.answering import Asking

SUBSCRIPTIONS = scaled(5_000_000, least=20_000)
QUOTES = 40_000  # from which thresholds are drawn
BATCH = 10_000  # events: what Spark hands to Python at a time
SMAPS, ROLLUP = Path("/proc/self/smaps"), Path("/proc/self/smaps_rollup")
LOOKS = ("before the index is opened", "opened, nothing asked", "after a batch")
SECONDS = 300  # to wait for the other worker
SHARED = 0.9  # of what a worker has mapped of the files, at least: the other one has the same pages
AROUND = 2**20  # bytes that one worker may have and the other not: the system maps pages around the one asked for
Task: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
FIELDS = ("rss", "pss", "shared", "private", "written")
SCHEMA = "pid bigint, look bigint, matches bigint, inodes string, " + ", ".join(
    f"{whose}_{field} bigint" for whose in ("all", "files") for field in FIELDS
)


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: resident; each page divided by how many processes have it; of pages that others have mapped too; of pages
    that no other has; of those that this process has written to."""

    rss: int
    pss: int
    shared: int
    private: int
    written: int


def run() -> None:
    if not SMAPS.exists():
        print("\nmemory of workers on Spark: only Linux tells how memory is shared")
        return
    table, where_from = quotes(QUOTES)
    made = alerts(table, SUBSCRIPTIONS)
    batch = table.slice(0, BATCH)
    with tempfile.TemporaryDirectory(prefix="tidings-memory-") as folder:
        with session("spark_memory") as spark:
            index = compiled(spark, texts(made), Path(folder), CORES)
        print(f"\nmemory of {CORES} workers, {SUBSCRIPTIONS:,} subscriptions, thresholds from {where_from}")
        print(f"  compiled by Spark in {index.seconds:.1f} s")
        with session("spark_memory") as spark:  # another one: its workers have compiled nothing
            rows, size = looked(spark, index.path, batch, Path(folder))
    same_count(len(Limit(made, batch).run(0, BATCH)), **{f"worker_{row.pid}": row.matches for row in rows[-CORES:]})
    must_be_shared(rows)
    _report(rows, size)


# In the workers


def looked(spark: SparkSession, path: str, batch: pa.Table, folder: Path) -> tuple[list[Row], int]:
    """What each worker sees at each of LOOKS, in this order; and how many bytes the index has."""
    from tidings.spark import open_index
    from tidings.spark.answering import LISTS
    from tidings.spark.question import asked
    from tidings.spark.reaching import AUTO
    from tidings.spark.replicated import asking_of

    events = batch.add_column(0, "id", pa.array(range(batch.num_rows)))
    file, meeting = folder / "events.arrow", folder / "meeting"
    meeting.mkdir()
    with open_index(spark, path) as index:
        question = asked(spark.createDataFrame(events), index, "id", (), (), True, AUTO)
        columns = ["id", *(name for _, name in question.attributes)]
        pyarrow.feather.write_feather(events.select(columns), file, compression="uncompressed")
        work = looking(asking_of(question, LISTS), file, meeting)
        rows = spark.range(0, CORES, 1, CORES).mapInArrow(work, SCHEMA).collect()
    # Not sorted by Spark, which would run the tasks twice for it.
    return sorted(rows, key=lambda row: (row.look, row.pid)), index.nbytes


def looking(
    asking: Asking, file: Path, meeting: Path
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A task that looks at its memory before and after what `match` does with a batch of events."""

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from benchmarks.filling import warm_kernels
        from tidings.spark.answering import answered
        from tidings.spark.opening import opened

        warm_kernels()  # what is imported and compiled is not of the index
        for _ in batches:
            rows = [row_of(0, 0, asking.files.folder)]
            held = opened(asking.files)  # a worker closes it after its first task, to open it anew
            meet(meeting, 1)
            rows.append(row_of(1, 0, asking.files.folder))
            (events,) = pyarrow.feather.read_table(file, memory_map=False).combine_chunks().to_batches()
            matches = sum(len(answer.column(1).flatten()) for answer in answered(asking, [events]))
            meet(meeting, 2)
            rows.append(row_of(2, matches, asking.files.folder))
            meet(meeting, 3)  # what the other one sees must still be mapped here
            del held
            yield pa.RecordBatch.from_pylist(rows)

    return look


def meet(meeting: Path, number: int) -> None:
    """Waits until all workers have come to this point."""
    import os

    (meeting / f"{number}-{os.getpid()}").touch()
    deadline = time.monotonic() + SECONDS
    while len(list(meeting.glob(f"{number}-*"))) < CORES:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the other worker did not come to point {number}: are there {CORES} cores for Spark?")
        time.sleep(0.01)


def row_of(look: int, matches: int, folder: str) -> dict[str, int | str]:
    """What this process sees of itself: in all, and of the files in a folder."""
    import os

    files, inodes = memory_of_files(SMAPS.read_text(), folder)
    sizes = {"all": memory_in(ROLLUP.read_text()), "files": files}
    seen = {f"{whose}_{field}": getattr(memory, field) for whose, memory in sizes.items() for field in FIELDS}
    return {"pid": os.getpid(), "look": look, "matches": matches, "inodes": " ".join(sorted(inodes)), **seen}


def memory_in(told: str) -> Memory:
    """Of one block of smaps, or of smaps_rollup."""
    found = re.findall(r"^(\w+): +(\d+) kB$", told, re.MULTILINE)
    sizes: Mapping[str, int] = {name: 1024 * int(number) for name, number in found}
    return Memory(
        sizes["Rss"],
        sizes["Pss"],
        sizes["Shared_Clean"] + sizes["Shared_Dirty"],
        sizes["Private_Clean"] + sizes["Private_Dirty"],
        sizes["Shared_Dirty"] + sizes["Private_Dirty"],
    )


def memory_of_files(smaps: str, folder: str) -> tuple[Memory, set[str]]:
    """Of all mapped files in a folder together, and their inodes."""
    total, inodes = Memory(0, 0, 0, 0, 0), set()
    for block in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", smaps):
        head, _, told = block.partition("\n")
        words = head.split(maxsplit=5)
        if len(words) == 6 and words[5].startswith(f"{folder}/"):
            inodes.add(words[4])
            one = memory_in(told)
            total = Memory(*(getattr(total, field) + getattr(one, field) for field in FIELDS))
    return total, inodes


# In the driver


def must_be_shared(rows: list[Row]) -> None:
    last = [row for row in rows if row.look == len(LOOKS) - 1]
    if len({row.pid for row in last}) != CORES:
        raise SystemExit(f"{len({row.pid for row in last})} workers have matched, and {CORES} should have")
    if len({row.inodes for row in last}) != 1 or not last[0].inodes:
        raise SystemExit(f"the workers have mapped different files: {[row.inodes for row in last]}")
    for row in last:
        if row.files_written:
            raise SystemExit(f"worker {row.pid} has copied {row.files_written:,} bytes of the index by writing to them")
        if row.files_rss - row.files_shared > max(AROUND, (1 - SHARED) * row.files_rss):
            raise SystemExit(f"worker {row.pid} shares {row.files_shared:,} of {row.files_rss:,} bytes of the index")


def _report(rows: list[Row], size: int) -> None:
    print(f"  the index has {size / 1e6:,.1f} MB; both workers matched the same {BATCH:,} events; verified")
    heads = ("rss", "pss", "private", "index rss", "pss", "shared", "private")
    print(f"  {'MB of each worker':<28} {' '.join(f'{head:>9}' for head in heads)}")
    for row in rows:
        own, files = (row.all_rss, row.all_pss, row.all_private), (row.files_rss, row.files_pss)
        sizes = (*own, *files, row.files_shared, row.files_private)
        print(f"  {LOOKS[row.look]:<28} {' '.join(f'{size / 1e6:>9,.1f}' for size in sizes)}")
    first, last = rows[:CORES], rows[-CORES:]
    own_growth = sum(row.all_private - row.files_private for row in last) - sum(row.all_private for row in first)
    print(
        f"  no byte of the index is written to; of its own a worker has {own_growth / CORES / 1e6:,.1f} MB more, "
        f"{own_growth / CORES / SUBSCRIPTIONS:,.0f} bytes a subscription"
    )
