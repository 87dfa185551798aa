"""The memory of a host is what a process may use there: a container often has less than the machine that it is on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tidings.spark.hosts import memory_here, memory_of_hosts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MACHINE = memory_here(Path("none"), Path("none"))


@pytest.mark.parametrize(
    ("groups", "limits", "memory"),
    [
        ("0::/", {"memory.max": "5000"}, 5_000),  # as a container sees itself
        ("0::/a.slice/b.service", {"a.slice/memory.max": "7000", "a.slice/b.service/memory.max": "max"}, 7_000),
        ("0::/a", {"memory.max": "max"}, MACHINE),
        ("5:devices:/x\n4:cpu,memory:/x/y", {"memory/x/y/memory.limit_in_bytes": "6000", "memory.max": "1"}, 6_000),
        ("4:memory:/", {"memory/memory.limit_in_bytes": str(2**63 - 4096)}, MACHINE),  # no limit, in version 1
        ("", {"memory.max": "1"}, MACHINE),
    ],
)
def test_the_limit_of_a_container_counts(tmp_path: Path, groups: str, limits: dict[str, str], memory: int) -> None:
    (tmp_path / "groups").write_text(groups)
    for name, limit in limits.items():
        file = tmp_path / "cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(limit + "\n")
    assert memory_here(tmp_path / "cgroup", tmp_path / "groups") == memory


def test_executors_say_how_much_they_have(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_of_hosts(spark) == memory_here()
    monkeypatch.setattr("tidings.spark.hosts.is_local", lambda spark: False)
    assert memory_of_hosts(spark) == memory_here()
