"""Where benchmarks find real data: the folder named by TIDINGS_DATA, else ../shared/data; else they make their own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

QUOTES = "stocks/us_quotes_2017q1.csv.gz"


def folder() -> Path:
    return Path(os.environ.get("TIDINGS_DATA") or Path(__file__).parents[2] / "shared" / "data")


def quotes(count: int, seed: int = 3) -> tuple[pa.Table, str]:
    """Daily quotes (symbol, open, high, low, volume) and a word on where they come from."""
    names = ["symbol", "open", "high", "low", "volume"]
    file = folder() / QUOTES
    if file.exists():
        table = pyarrow.csv.read_csv(file).select(names)
        chosen = np.sort(np.random.default_rng(seed).choice(table.num_rows, count, replace=False))
        return table.take(chosen).combine_chunks(), "real quotes, US stocks, first quarter of 2017"
    return _made_quotes(count, seed), "made quotes (no TIDINGS_DATA)"


def _made_quotes(count: int, seed: int) -> pa.Table:
    """The shape of the real ones: 6,101 symbols, prices and volumes over several orders of magnitude."""
    chance = np.random.default_rng(seed)
    symbols = np.array([f"S{number}" for number in range(6_101)])
    level = chance.lognormal(3, 1.1, len(symbols))
    of = chance.integers(0, len(symbols), count)
    opened = np.round(level[of] * chance.normal(1, 0.03, count).clip(0.8), 2)
    high, low = (np.round(opened * (1 + sign * np.abs(chance.normal(0, 0.015, count))), 2) for sign in (1, -1))
    volume = chance.lognormal(12, 2.2, count).astype(np.int64)
    return pa.table({"symbol": symbols[of], "open": opened, "high": high, "low": low, "volume": volume})
