"""Kernels are compiled once on a machine, and who can do without them for now is told whether they are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidings import parse
from tidings.index import compiling
from tidings.index.engines import need_no_compiler

NUMBERS = "a = 1 OR NOT (b < 2 AND s LIKE '%x%')"
WORDS = "a = 1 AND NOT (b < 2 OR matches(t, 'word'))"
WEIGHED = "similarity(t, 'some words') >= 0.5"
PATHS = "a = 1 OR xpath_boolean(d, '/a/b')"


def test_a_compiler_is_needed_for_the_kinds_of_predicates_that_no_kernels_are_kept_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheres = (NUMBERS, WORDS, WEIGHED, PATHS)
    expressions = [parse(where) for where in wheres]
    monkeypatch.setattr(compiling, "cache_folder", lambda of: tmp_path / of.name)
    for name in ("index", "text", "xml"):
        (tmp_path / name).mkdir()

    def ready() -> list[str]:
        return [where for where, each in zip(wheres, expressions, strict=True) if need_no_compiler([each])]

    assert ready() == []
    (tmp_path / "text" / "kernel.nbi").touch()
    assert ready() == []  # the others' kernels are needed by all
    (tmp_path / "index" / "kernel.nbi").touch()
    assert ready() == [NUMBERS, WORDS, WEIGHED]
    assert not need_no_compiler(expressions)
    (tmp_path / "xml" / "kernel.nbi").touch()
    assert need_no_compiler(expressions)
    monkeypatch.setattr(compiling, "cache_folder", lambda of: None)
    assert not need_no_compiler([])
