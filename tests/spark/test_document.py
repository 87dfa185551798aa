"""The Python of the documents that is for Spark runs as it stands, and prints what is shown below it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from test_documents import shown_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(("document", "count"), [("README.md", 1), ("docs/spark.md", 4)])
def test_the_document_shows_what_is_printed(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    document: str,
    count: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"spark": spark}
    shown = [(code, printed) for code, printed in shown_in(document) if "tidings.spark" in code]
    assert len(shown) == count
    for code, printed in shown:
        exec(code, names)
        assert capsys.readouterr().out == printed
