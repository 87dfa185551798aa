"""`import tidings` is quick and needs no optional package: what is heavy is imported by what uses it, when it does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"

# Packages of the extras: the core works where they are not installed.
OPTIONAL = ("pyspark", "numba", "fastapi", "starlette", "uvicorn", "matplotlib", "pandas", "duckdb", "sklearn")

# Packages of the core that take long to import, and that not every use needs.
LATE = ("pyarrow", "lxml", "typer", "rich")


def run(program: str) -> str:
    """What the program prints in a new interpreter."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def loaded_by(statement: str) -> set[str]:
    """The top-level packages that are loaded after the statement, beyond those that every interpreter has."""
    modules = "{name.split('.')[0] for name in sys.modules}"
    program = f"import sys; before = {modules}; {statement}; print(*({modules} - before), sep='\\n')"
    return set(run(program).split())


def test_importing_tidings_loads_no_optional_package() -> None:
    assert loaded_by("import tidings") & set(OPTIONAL) == set()


def test_importing_tidings_loads_no_package_that_takes_long_to_import() -> None:
    assert loaded_by("import tidings") & set(LATE) == set()


def test_a_program_can_match_where_the_optional_packages_are_not_installed() -> None:
    """None in sys.modules makes Python refuse the import, as if the package were not there."""
    program = f"""
import sys
for name in {OPTIONAL!r}:
    sys.modules[name] = None
import tidings
matcher = tidings.Matcher()
matcher.add("a1", "symbol = 'IBM' AND low <= 95")
print(matcher.match({{"symbol": "IBM", "low": 94.2}}).ids)
print(tidings.holds("symbol = 'IBM'", {{"symbol": "HP"}}))
"""
    assert run(program).splitlines() == ["['a1']", "False"]
