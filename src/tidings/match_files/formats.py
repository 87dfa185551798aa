"""The formats of tables in files: which one a path has, and how Spark is told to read and write it."""

from __future__ import annotations

import re
from pathlib import Path

from tidings.errors import SettingError

CSV, JSONL, PARQUET = "csv", "jsonl", "parquet"
FORMATS = (CSV, JSONL, PARQUET)
ENDINGS = {"csv": CSV, "json": JSONL, "jsonl": JSONL, "ndjson": JSONL, "parquet": PARQUET}
COMPRESSED = re.compile(r"\.(gz|bz2|zst|snappy|lz4)$")
SPARK_NAMES = {CSV: "csv", JSONL: "json", PARQUET: "parquet"}

# Quotes are doubled, as RFC 4180 and most programs have it; Spark's own way is a backslash. A row is read whole, also
# where few of its columns are needed: else a row that is too short would not be noticed.
CSV_OPTIONS = {"header": "true", "escape": '"', "columnPruning": "false"}


def is_local(path: str) -> bool:
    return "://" not in path and not path.startswith("file:")


def format_of(path: str, option: str) -> str:
    """By the ending of the path, or of the first file in a folder; `option` is what to give where that does not say."""
    found = _by_ending(path)
    if found is None and is_local(path) and Path(path).is_dir():
        names = sorted(each.name for each in Path(path).rglob("*") if each.is_file())
        found = next((kind for name in names if (kind := _by_ending(name)) and name[0] not in "._"), None)
    if found is None:
        known = ", ".join(f".{ending}" for ending in ENDINGS)
        raise SettingError(f"{path} does not say its format by its ending ({known}); give {option} {'|'.join(FORMATS)}")
    return found


def _by_ending(path: str) -> str | None:
    bare = COMPRESSED.sub("", path.rstrip("/").lower())
    return ENDINGS.get(bare.rpartition(".")[2]) if "." in bare else None
