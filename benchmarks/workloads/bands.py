"""Two workloads in which an event has ten matches however many subscriptions there are: bands, and equalities.

With more subscriptions each asks for less: a band is narrower, a code is one of more. What an event costs can then be
compared between sizes. Events are made: real prices have two decimals, and the bands of five million are narrower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

MATCHES = 10  # of an event, on average
SYMBOLS = 100
HIGHEST = 500.0  # price; both as in Table 2 of the paper on the matching tree over Brushwood
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Bands:
    """`symbol = … AND open BETWEEN … AND …`"""

    symbol: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, count: int, seed: int = 9) -> Bands:
        chance = np.random.default_rng(seed)
        share = SYMBOLS * MATCHES / count  # of the bands of its symbol, that a price lies in
        if share >= 1:
            raise ValueError(f"{count} subscriptions are too few for {MATCHES} of {SYMBOLS} symbols to match")
        width = HIGHEST * share / (1 - share)
        # From below the lowest price on, so that every price lies in as many bands.
        low = np.round(chance.uniform(-width, HIGHEST, count), 6)
        return cls(chance.integers(0, SYMBOLS, count), low, np.round(low + width, 6))

    def texts(self) -> list[str]:
        rows = zip(self.symbol.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        return [f"symbol = 'S{symbol}' AND open BETWEEN {low:.6f} AND {high:.6f}" for symbol, low, high in rows]

    def events(self, count: int, seed: int = 10) -> pa.Table:
        chance = np.random.default_rng(seed)
        symbols = [f"S{number}" for number in chance.integers(0, SYMBOLS, count)]
        return pa.table({"symbol": symbols, "open": np.round(chance.uniform(0, HIGHEST, count), 6)})

    def scan(self, events: pa.Table) -> list[int]:
        """For each event the number of its matches, by comparing it with all subscriptions."""
        opens, symbols = events["open"].to_pylist(), (int(symbol[1:]) for symbol in events["symbol"].to_pylist())
        return [
            int(np.count_nonzero((self.symbol == symbol) & (self.low <= price) & (price <= self.high)))
            for symbol, price in zip(symbols, opens, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Equalities:
    """`symbol = … AND code = …`"""

    symbol: Array
    code: Array
    codes: int

    @classmethod
    def of(cls, count: int, seed: int = 11) -> Equalities:
        chance = np.random.default_rng(seed)
        codes = max(1, count // (SYMBOLS * MATCHES))
        return cls(chance.integers(0, SYMBOLS, count), chance.integers(0, codes, count), codes)

    def texts(self) -> list[str]:
        rows = zip(self.symbol.tolist(), self.code.tolist(), strict=True)
        return [f"symbol = 'S{symbol}' AND code = {code}" for symbol, code in rows]

    def events(self, count: int, seed: int = 12) -> pa.Table:
        chance = np.random.default_rng(seed)
        symbols = [f"S{number}" for number in chance.integers(0, SYMBOLS, count)]
        return pa.table({"symbol": symbols, "code": chance.integers(0, self.codes, count)})

    def scan(self, events: pa.Table) -> list[int]:
        codes, symbols = events["code"].to_pylist(), (int(symbol[1:]) for symbol in events["symbol"].to_pylist())
        return [
            int(np.count_nonzero((self.symbol == symbol) & (self.code == code)))
            for symbol, code in zip(symbols, codes, strict=True)
        ]
