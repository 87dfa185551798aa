"""A Spark session for a command: started without a word on the screen, stopped when the command is done.

Whatever the Java process writes goes to a file, which is removed at the end, and kept and named when Spark fails. A
session that this process has already is used as it is, and left running.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.errors import TidingsError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17  # that Spark 4 runs on
SHOWN = 300  # characters of what Spark says is wrong
_QUIET = ("py4j", "tidings.spark")
_QUIET_IN_SPARK = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")

NO_PYSPARK = """\
this command runs on Spark, and pyspark is not installed. Install it, and run this again:
  pip install 'tidings[spark]'"""
NO_JAVA = """\
Spark needs Java {oldest} or newer, and {found}. Install it, and run this again:
  Debian, Ubuntu   sudo apt-get install openjdk-{oldest}-jre-headless    (or default-jre-headless)
  Fedora           sudo dnf install java-latest-openjdk-headless
  macOS            brew install openjdk@{oldest} && export JAVA_HOME="$(brew --prefix openjdk@{oldest})"
Where it is installed already, set JAVA_HOME to its folder, the one that holds bin/java."""


class SparkError(TidingsError):
    """Spark cannot be started, or has failed at what it was asked to do."""


@contextmanager
def spark_session(
    name: str, master: str = "local[*]", settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session under that name. Errors of Spark leave as one message that says where Spark's log is."""
    must_have_pyspark()
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it comes without types
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    with _quiet():
        had = SparkSession.getActiveSession()
        if had is None:
            must_have_java()
        log = _new_log()
        session = had
        try:
            session = session or _started(name, master, settings or {}, log)
            yield session
        except (PySparkException, Py4JError) as error:  # the latter where a worker has died
            kept = f"\nwhat Spark wrote is in {log}" if log.exists() and log.stat().st_size else ""
            raise SparkError(f"Spark says: {said_by(error)}{kept}") from error
        except TidingsError:
            log.unlink(missing_ok=True)  # cleaners of /tmp may have been first
            raise
        else:
            log.unlink(missing_ok=True)
        finally:
            if session is not None and session is not had:
                with suppress(Exception):  # a Java process that has died cannot be stopped
                    session.stop()


def must_have_pyspark() -> None:
    if find_spec("pyspark") is None:
        raise SparkError(NO_PYSPARK)


def must_have_java() -> None:
    version = version_of_java()
    if version is None or version < OLDEST_JAVA:
        home = os.environ.get("JAVA_HOME", "not set")
        found = f"the Java found is {version}" if version else f"none was found in JAVA_HOME ({home}) or PATH"
        raise SparkError(NO_JAVA.format(oldest=OLDEST_JAVA, found=found))


def version_of_java() -> int | None:
    """The feature version of the Java that Spark will start (17 of 17.0.2; 8 of 1.8.0); None where there is none."""
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    try:
        said = subprocess.run([command or "java", "-version"], capture_output=True, text=True, check=False).stderr
    except OSError:
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(version.group(1)) if version else None


def said_by(error: Exception) -> str:
    """One line of what Spark says: its cause in Python if it has one, without codes, cut to a readable length."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    told = [line for line in lines if line.startswith("tidings.errors.")]  # raised on an executor, or in a batch
    first = told[-1].partition(": ")[2] if told else _raised_in_python(lines) or _raised_in_java(lines)
    first = re.sub(r"\s*SQLSTATE: \w+.*$", "", first)
    return first if len(first) <= SHOWN else first[:SHOWN] + "…"


def _raised_in_python(lines: list[str]) -> str | None:
    """What a worker raised, or the driver when Spark called it with a batch: the line below the last traceback."""
    starts = [number for number, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    below = lines[starts[-1] + 1 :] if starts else []
    return next((line for line in below if line and not line[0].isspace()), None)


def _raised_in_java(lines: list[str]) -> str:
    """Without the names of exceptions that stand before what the innermost of the first line says."""
    caused = next((line for line in lines if line.startswith(": ")), None)
    if caused is not None:  # "An error occurred while calling …" stands above it
        return re.sub(r"^.*(?:Exception|Error): ", "", caused)
    return re.sub(r"^(?:\[[A-Z_.0-9]+\] ?)+", "", lines[0])


@contextmanager
def _quiet() -> Iterator[None]:
    """What is said on the way is said in words of the command's own, and afterwards as before."""
    from pyspark.logger import PySparkLogger

    # Of its own kind: one that logging made first would not take what Spark tells it.
    loggers = [PySparkLogger.getLogger(name) for name in _QUIET_IN_SPARK] + [logging.getLogger(name) for name in _QUIET]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"pyspark\b")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _started(name: str, master: str, settings: Mapping[str, str], log: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    local = master.startswith("local")
    if local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # not the python3 of PATH, which has other packages
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in {**(_LOCAL if local else {}), **_EVERYWHERE, **settings}.items():
        builder = builder.config(key, value)
    with _written_to(log):
        try:
            return builder.getOrCreate()
        except Exception as error:  # a Java that dies at once is a RuntimeError, a master out of reach a Java one
            raise SparkError(
                f"Spark could not be started on {master}: {said_by(error)}\nwhat it wrote:\n{_end_of(log)}"
            ) from error


_EVERYWHERE = {
    "spark.ui.showConsoleProgress": "false",  # the command shows its own progress
    "spark.sql.session.timeZone": "UTC",  # as in the semantics: a time without a zone is UTC everywhere
}
_LOCAL = {
    "spark.ui.enabled": "false",  # no web server: faster to start, and no port to be taken
    "spark.driver.bindAddress": "127.0.0.1",  # loopback only: works without a network
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),  # not 200 tasks for a few thousand rows
}


def _new_log() -> Path:
    number, name = tempfile.mkstemp(prefix="tidings-spark-", suffix=".log")
    os.close(number)
    return Path(name)


def _end_of(log: Path, lines: int = 5) -> str:
    return "\n".join(f"  {line}" for line in log.read_text(errors="replace").splitlines()[-lines:])


@contextmanager
def _written_to(log: Path) -> Iterator[None]:
    """Processes that are started inside write to the file, for as long as they live."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(number) for number in (1, 2)]
    with log.open("ab") as file:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)
