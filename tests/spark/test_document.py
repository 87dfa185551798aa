"""The Python in docs/spark.md runs as it stands, and prints what is shown below it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCUMENT = Path(__file__).parents[2] / "docs" / "spark.md"
PRINTED = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_document_shows_what_is_printed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"spark": spark}
    shown = PRINTED.findall(DOCUMENT.read_text(encoding="utf-8"))
    assert len(shown) == DOCUMENT.read_text(encoding="utf-8").count("```python")
    for code, printed in shown:
        exec(code, names)
        assert capsys.readouterr().out == printed
