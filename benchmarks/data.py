"""Where benchmarks find real data: the folder named by TIDINGS_DATA, else ../shared/data; else they make their own."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.csv

QUOTES = "stocks/us_quotes_2017q1.csv.gz"
BIBLIOGRAPHY = "bibliography/dblp_100k.jsonl.gz"
MADE_RECORDS = 100_000


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


@dataclass(frozen=True, slots=True)
class Publication:
    title: str
    authors: tuple[str, ...]


def publications() -> tuple[list[Publication], str]:
    """Bibliographic records, and a word on where they come from."""
    file = folder() / BIBLIOGRAPHY
    if not file.exists():
        return made_publications(MADE_RECORDS), "made records (no TIDINGS_DATA)"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [Publication(row["title"], tuple(row["authors"])) for row in rows], f"{len(rows):,} real records of DBLP"


def made_publications(count: int, seed: int = 4) -> list[Publication]:
    """The shape of the real ones: two authors of 200,000 for each record, nine words of 100,000, the few often."""
    chance = Random(seed)
    words, names = [_word(chance) for _ in range(count)], [_name(chance) for _ in range(2 * count)]
    often = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    lengths = [max(1, round(chance.gauss(9.4, 3))) for _ in range(count)]
    sizes = chance.choices(range(1, 8), (19, 30, 25, 14, 7, 3, 2), k=count)
    drawn = iter(chance.choices(words, cum_weights=often, k=sum(lengths)))
    return [
        Publication(" ".join(next(drawn) for _ in range(length)), tuple(chance.sample(names, size)))
        for length, size in zip(lengths, sizes, strict=True)
    ]


def _word(chance: Random) -> str:
    return "".join(chance.choice("bcdfglmnprstv") + chance.choice("aeiou") for _ in range(chance.randint(1, 6)))


def _name(chance: Random) -> str:
    return f"{_word(chance)} {_word(chance)}{_word(chance)}".title()
