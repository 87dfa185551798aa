"""What one would write in Spark today: a join for each template of alerts, and a join of titles with patterns.

Joins by a symbol are told which side to broadcast, or to build hash tables of both sides' shuffled parts. Where no
value is equal on both sides (the last template, and patterns) Spark compares all pairs, with one side broadcast.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from benchmarks.on_spark import PARTITIONS, cached, numbered
from benchmarks.stocks import Alert
from benchmarks.workloads.strings import StringQuestion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BROADCAST_EVENTS, BROADCAST_ALERTS, SHUFFLED_HASH = "broadcast events", "broadcast alerts", "shuffled hash"
WAYS = (BROADCAST_EVENTS, BROADCAST_ALERTS, SHUFFLED_HASH)
CONDITIONS = (
    "q.symbol = a.symbol AND q.open BETWEEN a.first AND a.second",
    "q.symbol = a.symbol AND q.low <= a.first",
    "q.symbol = a.symbol AND q.high >= a.first",
    "q.symbol = a.symbol AND q.volume >= a.first",
    "q.volume >= a.first",
)
LIKE, RLIKE = "LIKE", "RLIKE"


class AlertJoins:
    """Alerts of each template in a table of their own, and quotes, all of them cached."""

    def __init__(self, spark: SparkSession, made: Sequence[Alert], quotes: pa.Table) -> None:
        self._quotes = cached(spark, numbered(quotes)).alias("q")
        self._templates = [
            (_alerts_of(spark, made, kind), condition)
            for kind, condition in enumerate(CONDITIONS)
            if any(alert[0] == kind for alert in made)
        ]

    def pairs(self, how: str) -> DataFrame:
        """Ids of events and of alerts, by one of WAYS."""
        return reduce(lambda one, other: one.union(other), self._joined(how))

    def _joined(self, how: str) -> list[DataFrame]:
        from pyspark.sql.functions import expr

        found = []
        for alerts, condition in self._templates:
            by_hash = how == SHUFFLED_HASH and "a.symbol" in condition
            hinted = alerts.hint("broadcast") if how == BROADCAST_ALERTS else alerts
            quotes = self._quotes
            if how != BROADCAST_ALERTS:
                quotes = quotes.hint("shuffle_hash" if by_hash else "broadcast")
            found.append(quotes.join(hinted, expr(condition)).selectExpr("q.id event_id", "a.id subscription_id"))
        return found

    def forget(self) -> None:
        """Gives the memory of the session back."""
        for frame in (self._quotes, *(alerts for alerts, _ in self._templates)):
            frame.unpersist()


def _alerts_of(spark: SparkSession, made: Sequence[Alert], kind: int) -> DataFrame:
    rows = [(number, *alert[1:]) for number, alert in enumerate(made) if alert[0] == kind]
    ids, symbols, firsts, seconds = zip(*rows, strict=True)
    bounds = [pa.array(map(float, each), pa.float64()) for each in (firsts, seconds)]
    table = pa.table([pa.array(ids), pa.array(symbols), *bounds], ["id", "symbol", "first", "second"])
    return cached(spark, table).alias("a")


class TitleJoins:
    """Patterns and titles, compared each with each. Titles are broadcast, since there are fewer of them."""

    def __init__(self, spark: SparkSession, asked: Sequence[StringQuestion], titles: Sequence[str]) -> None:
        columns = {"like": [like_pattern(each) for each in asked], "regex": [regular(each) for each in asked]}
        self._patterns = cached(spark, numbered(pa.table(columns)), PARTITIONS)
        self._titles = cached(spark, numbered(pa.table({"title": list(titles)}))).hint("broadcast")

    def pairs(self, how: str) -> DataFrame:
        """Ids of titles and of patterns, by LIKE or by RLIKE."""
        from pyspark.sql.functions import expr

        titles, patterns = self._titles.alias("t"), self._patterns.alias("p")
        condition = "t.title LIKE p.like" if how == LIKE else "t.title RLIKE p.regex"
        return patterns.join(titles, expr(condition)).selectExpr("t.id event_id", "p.id subscription_id")


def like_pattern(asked: StringQuestion) -> str:
    piece = re.sub(r"([\\%_])", r"\\\1", asked.piece)
    before, after = _open_ends(asked.kind)
    return f"{'%' * before}{piece}{'%' * after}"


def regular(asked: StringQuestion) -> str:
    """A regular expression that is found in the title."""
    before, after = _open_ends(asked.kind)
    return f"{'' if before else '^'}{re.escape(asked.piece)}{'' if after else '$'}"


def like_text(asked: StringQuestion) -> str:
    """The subscription."""
    literal = like_pattern(asked).replace("\\", "\\\\").replace("'", "''")
    return f"{asked.attribute} LIKE '{literal}'"


def _open_ends(kind: str) -> tuple[bool, bool]:
    """Whether anything may stand before the piece, and after it."""
    return {"prefix": (False, True), "suffix": (True, False), "equality": (False, False)}.get(kind, (True, True))
