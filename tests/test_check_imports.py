"""tools/check_imports.py finds every import that points the wrong way, with file and line, and says what is allowed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "tools" / "check_imports.py"

Check = Callable[[dict[str, str]], tuple[int, list[str]]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Runs the script over a package made of these files; its exit status and the lines it printed."""

    def run(files: dict[str, str]) -> tuple[int, list[str]]:
        for name, source in {"__init__.py": "", **files}.items():
            path = tmp_path / "tidings" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        result = subprocess.run(
            [sys.executable, SCRIPT, "tidings"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        assert result.stderr == ""
        return result.returncode, result.stdout.splitlines()

    return run


def test_the_package_itself_keeps_to_its_table() -> None:
    result = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout


def test_imports_that_point_the_right_way_pass(check: Check) -> None:
    files = {
        "errors.py": "from __future__ import annotations\nimport sys\n",
        "model/__init__.py": "from tidings.model.event import Event\n",
        "model/event.py": "from ..errors import EventError\nfrom . import values\n",
        "language/parser.py": "import sqlglot\nfrom tidings.model import Event\n",
        "analysis/xml.py": "from lxml import etree\n",
        "spark/pipeline.py": "from pyspark.sql import DataFrame\nfrom tidings import errors\n",
        "lab/figures.py": "from tidings.spark import match\n",
        "cli.py": "import typer\nimport tidings\n",
        "__main__.py": "from tidings.cli import main\n",
    }
    assert check(files) == (0, ["imports in tidings point one way"])


@pytest.mark.parametrize(
    "statement",
    [
        "import tidings.language.parser",
        "import os, tidings.language.parser",
        "from tidings import language",
        "from tidings.language import parser",
        "from ..language import parser",
        "from .. import language",
        "def late():\n    from tidings.language import parser",
        "if TYPE_CHECKING:\n    from tidings.language import parser",
        "importlib.import_module('tidings.language')",
        "import_module('..language', __package__)",
    ],
)
def test_an_import_that_points_up_is_found_however_it_is_written(check: Check, statement: str) -> None:
    status, lines = check({"model/event.py": statement})
    name = "tidings.language.parser" if "parser" in statement else "tidings.language"
    line = statement.count("\n") + 1
    message = f"model imports {name} (part language); model may import: errors"
    assert (status, lines) == (1, [f"tidings/model/event.py:{line}: {message}"])


def test_the_lowest_part_imports_no_other(check: Check) -> None:
    _, lines = check({"errors.py": "from tidings.model import Event\n"})
    assert lines == [
        "tidings/errors.py:1: errors imports tidings.model.Event (part model); errors may import: no other part"
    ]


def test_the_public_interface_is_not_for_what_it_is_made_of(check: Check) -> None:
    status, lines = check({"planning/normalise.py": "from tidings import parse\n"})
    assert status == 1
    assert lines[0].startswith("tidings/planning/normalise.py:1: planning imports tidings.parse (part __init__);")


@pytest.mark.parametrize(
    ("file", "package", "allowed"),
    [
        ("lab/run.py", "pyspark", "spark, spark_session, match_files, demo"),
        ("matcher.py", "numba", "index, overlay"),
        ("cli.py", "fastapi", "service"),
        ("spark/serve.py", "uvicorn", "service"),
        ("index/serve.py", "starlette", "service"),
        ("reference.py", "sqlglot", "language"),
        ("reference.py", "lxml", "analysis"),
        ("demo.py", "typer", "cli, lab"),
        ("matcher.py", "rich", "cli, explanation, demo"),
    ],
)
def test_a_package_is_imported_only_where_it_belongs(check: Check, file: str, package: str, allowed: str) -> None:
    status, lines = check({file: f"def late():\n    import {package}.inner\n"})
    part = file.split("/")[0].removesuffix(".py")
    message = f"{part} imports {package}.inner; {package} is for {allowed} only"
    assert (status, lines) == (1, [f"tidings/{file}:2: {message}"])


def test_every_fault_is_reported_in_order(check: Check) -> None:
    _, lines = check({"model/b.py": "import lxml\nimport rich\n", "model/a.py": "import typer\n"})
    assert [line.split(": ")[0] for line in lines] == [
        "tidings/model/a.py:1",
        "tidings/model/b.py:1",
        "tidings/model/b.py:2",
    ]


def test_a_new_folder_is_an_error_that_asks_for_a_row_once(check: Check) -> None:
    status, lines = check({"gossip/a.py": "", "gossip/b.py": "", "extra.py": ""})
    ask = "is in no row of PARTS in tools/check_imports.py; add a row for it"
    assert (status, lines) == (1, [f"tidings/extra.py:1: extra {ask}", f"tidings/gossip:1: gossip {ask}"])


def test_a_file_that_cannot_be_parsed_is_an_error(check: Check) -> None:
    status, lines = check({"model/event.py": "x = 1\ndef (\n"})
    assert (status, lines) == (1, ["tidings/model/event.py:2: cannot be parsed: invalid syntax"])


def test_a_folder_that_is_no_package_is_refused(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"{tmp_path} is not the folder of a package: it has no __init__.py\n"
