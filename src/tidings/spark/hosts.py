"""The memory of the hosts that executors run on: it decides whether every one of them can map a whole index."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tidings.spark.recent import LastUsed
from tidings.spark.sessions import application_of, is_local
from tidings.spark.tasks import told_by_executors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

APPLICATIONS = 4  # of which it is known what their executors have
CGROUPS, GROUPS_OF_PROCESS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_memory: LastUsed[str, int] = LastUsed(APPLICATIONS)


def memory_of_hosts(spark: SparkSession) -> int:
    """That of the smallest host, as executors say that run now; of this one, where they run in the driver."""
    if is_local(spark):
        return memory_here()
    return _memory.get(application_of(spark), lambda: min(told_by_executors(spark, memory_here, "bigint")))


def memory_here(cgroups: Path = CGROUPS, groups_of_process: Path = GROUPS_OF_PROCESS) -> int:
    """Of this host; or what its container may use, where that is less: mapped files count for it too."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in _limits(cgroups, groups_of_process):
        with suppress(OSError, ValueError):  # there is no such group in sight, or its limit is "max"
            memory = min(memory, int(limit.read_text()))
    return memory


def _limits(cgroups: Path, groups_of_process: Path) -> Iterator[Path]:
    """The files that may limit this process: of its groups and of all above them, in both versions of cgroups."""
    with suppress(OSError):  # not on Linux
        for line in groups_of_process.read_text().splitlines():
            _, controllers, name = line.split(":", 2)
            group = PurePosixPath(name.lstrip("/"))
            for each in (group, *group.parents):
                if not controllers:
                    yield cgroups / each / "memory.max"
                elif "memory" in controllers.split(","):
                    yield cgroups / "memory" / each / "memory.limit_in_bytes"
