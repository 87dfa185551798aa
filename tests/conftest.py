"""What every test may use: how hypothesis draws its examples, and one lazily started Spark session for the run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCE = Path(__file__).parents[1] / "src"
OLDEST_JAVA = 17  # that Spark 4 runs on

# A failing random test prints the smallest example found and, by `print_blob`, a line @reproduce_failure(…) that
# repeats it on any machine. No example has a deadline: a busy machine is not a fault of the code.
settings.register_profile(
    "default",
    max_examples=100,
    print_blob=True,
    deadline=None,
    # Drawing a whole subscription and an event takes more than the second that hypothesis finds reasonable for ten of
    # them on a busy machine.
    suppress_health_check=[HealthCheck.too_slow],
)
# Many examples, for a change of the language or of the semantics: HYPOTHESIS_PROFILE=thorough make test
settings.register_profile("thorough", settings.get_profile("default"), max_examples=3_000)
# With CI set the examples follow from the tests alone and are the same in each run, so that a change is never refused
# for what another one broke; new examples are drawn by everyone who runs the tests elsewhere.
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session in this process, started by the first test that asks for it."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'tidings[spark]'")
    java = _version_of_java()
    if java is None or java < OLDEST_JAVA:
        found = "there is no Java in JAVA_HOME or PATH" if java is None else f"the Java found is {java}"
        pytest.skip(f"Spark needs Java {OLDEST_JAVA} or newer, and {found}")
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # executors run the tests' Python, not the python3 of PATH
        patch.setenv("PYTHONPATH", str(SOURCE), prepend=os.pathsep)  # and import this checkout
        builder = SparkSession.builder.master("local[2]").appName("tidings tests")  # two: data is in several parts
        for name, value in _session_settings(folder).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")  # the warnings of every start would hide what a test prints
        yield session
        session.stop()


def _session_settings(folder: Path) -> dict[str, str]:
    return {
        "spark.ui.enabled": "false",  # no web server: faster to start, and no port to be taken
        "spark.ui.showConsoleProgress": "false",  # no progress bars between the lines of pytest
        "spark.driver.bindAddress": "127.0.0.1",  # loopback only: works without a network
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",  # the default, stated: what a small machine can give
        "spark.sql.shuffle.partitions": "2",  # of a few rows; the default of 200 is 200 empty tasks
        "spark.sql.session.timeZone": "UTC",  # as in the semantics: a time without a zone is UTC everywhere
        "spark.sql.ansi.enabled": "true",  # a cast that cannot be made is an error, not a silent null
        "spark.sql.warehouse.dir": str(folder / "warehouse"),  # nothing is written into the checkout
        "spark.local.dir": str(folder / "local"),
    }


def _version_of_java() -> int | None:
    """The feature version of the Java that Spark will start (17 of 17.0.2; 8 of 1.8.0), None where there is none."""
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if command is None or not Path(command).exists():
        return None
    said = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(version.group(1)) if version else None
