"""Subscriptions `symbol = … AND price BETWEEN … AND …`: all symbols alike, or some far more often, by Zipf's law.

Events draw their symbols as subscriptions do. A symbol with more subscriptions has narrower bands, so that an event has
about ten matches however many subscriptions there are, and whatever its symbol; fewer where a symbol has not ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

MATCHES = 10  # of an event, on average
MOST = 0.9  # of the bands of its symbol, that a price lies in
HIGHEST = 500.0
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class SkewedBands:
    """`shares` says how often each symbol is drawn."""

    shares: Array
    symbol: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, count: int, symbols: int, skew: float, seed: int = 21) -> SkewedBands:
        """`skew` is the exponent of Zipf's law; 0 draws all symbols alike."""
        chance = np.random.default_rng(seed)
        weights = np.arange(1, symbols + 1) ** -skew
        shares = weights / weights.sum()
        symbol = chance.choice(symbols, count, p=shares)
        share = np.minimum(MOST, MATCHES / np.maximum(1, np.bincount(symbol, minlength=symbols)))
        width = (HIGHEST * share / (1 - share))[symbol]
        # From below the lowest price on, so that every price lies in as many bands.
        low = np.round(chance.uniform(-width, HIGHEST), 6)
        return cls(shares, symbol, low, np.round(low + width, 6))

    def texts(self) -> list[str]:
        rows = zip(self.symbol.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        return [f"symbol = 'S{symbol}' AND price BETWEEN {low:.6f} AND {high:.6f}" for symbol, low, high in rows]

    def events(self, count: int, seed: int = 22) -> pa.Table:
        chance = np.random.default_rng(seed)
        symbols = [f"S{number}" for number in chance.choice(len(self.shares), count, p=self.shares)]
        return pa.table({"symbol": symbols, "price": np.round(chance.uniform(0, HIGHEST, count), 6)})

    def scan(self, events: pa.Table) -> list[int]:
        """For each event the number of its matches, by comparing it with all subscriptions."""
        prices, symbols = events["price"].to_pylist(), (int(symbol[1:]) for symbol in events["symbol"].to_pylist())
        return [
            int(np.count_nonzero((self.symbol == symbol) & (self.low <= price) & (price <= self.high)))
            for symbol, price in zip(symbols, prices, strict=True)
        ]
