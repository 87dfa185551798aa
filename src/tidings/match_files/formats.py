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
# A value in quotes may have line breaks. Without this, half of such a row would pass as a row.
CSV_READING = {**CSV_OPTIONS, "multiLine": "true"}


def local_path(path: str) -> Path | None:
    """Where it is on this machine; None for what only Hadoop opens. `file:///a` is how Hadoop writes `/a`."""
    if path.startswith("file:"):
        bare = path.removeprefix("file:").removeprefix("//")
        return Path(bare) if bare.startswith("/") else None
    return None if "://" in path else Path(path)


def format_of(path: str, option: str) -> str:
    """By the ending of the path, or of the first file in a folder; `option` is what to give where that does not say."""
    found, local = format_by_ending(path), local_path(path)
    if found is None and local is not None and local.is_dir():
        names = sorted(each.name for each in local.rglob("*") if each.is_file())
        found = next((kind for name in names if (kind := format_by_ending(name)) and name[0] not in "._"), None)
    if found is None:
        known = ", ".join(f".{ending}" for ending in ENDINGS)
        raise SettingError(f"{path} does not say its format by its ending ({known}); give {option} {'|'.join(FORMATS)}")
    return found


def format_by_ending(path: str) -> str | None:
    bare = COMPRESSED.sub("", path.rstrip("/").lower())
    return ENDINGS.get(bare.rpartition(".")[2]) if "." in bare else None


def compression_of(path: str) -> str | None:
    """The ending that says how it is compressed, such as gz."""
    found = COMPRESSED.search(path.rstrip("/").lower())
    return found[1] if found else None


def without_ending(path: str) -> str:
    """matches of matches.csv.gz; a name that does not end in a format stays whole."""
    if format_by_ending(path) is None:
        return path
    packed = compression_of(path)
    return path.removesuffix(f".{packed}" if packed else "").rpartition(".")[0]
