"""`match`: events and subscriptions in, matches out, as DataFrames; for tables and for streams alike.

The index is opened when the query is planned, and the query sees that version whenever it runs. Which columns of events
are sent to Python is decided by what the subscriptions ask about; a strategy decides where they meet.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.errors import SettingError
from tidings.spark import replicated, sharded
from tidings.spark.columns import numbered
from tidings.spark.compiling import compile_index
from tidings.spark.index import Index, held_index
from tidings.spark.metadata import must_have_all
from tidings.spark.question import Question, asked
from tidings.spark.reaching import AUTO
from tidings.spark.sharding import Sharding

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger("tidings.spark")


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to bring events and subscriptions together: what it answers, and its part of the explanation."""

    matches: Callable[[Question, Sharding], DataFrame]
    explained: Callable[[Question, Sharding], Sequence[str]]


STRATEGIES = {
    "replicated": Strategy(
        lambda question, sharding: replicated.matches(question),
        lambda question, sharding: replicated.explained(question),
    ),
    "sharded": Strategy(sharded.matches, sharded.explained),
}


def match(
    events: DataFrame,
    subscriptions: DataFrame | Index | str | os.PathLike[str],
    strategy: str = "auto",
    *,
    lists: bool = False,
    event_columns: Sequence[str] = (),
    subscription_columns: Sequence[str] = (),
    id_column: str = "id",
    reach: str = AUTO,
    sharding: Sharding | None = None,
    explain: bool = False,
) -> DataFrame:
    """Who must hear of which event: rows of `event_id` and `subscription_id`; with `lists`, one row for each event.

    `subscriptions` is the path of an index, an open one, or a table with `id` and `where`, which is compiled now and of
    which the refused rows are logged. Chosen columns of both sides are carried along. `id_column` holds the ids of
    events; an event without one is not matched. `reach` says how executors get the index: "path" reads it in place,
    "copy" ships it. `sharding` says how the sharded strategy divides them. `explain` prints what will be done and why.
    """
    must_be_strategy(strategy)  # before the work of compiling
    index = _index(events.sparkSession, subscriptions, subscription_columns)
    must_have_all(index.files, subscription_columns, index.metadata)
    question = asked(events, index, id_column, event_columns, subscription_columns, lists, reach)
    return matches_of(question, strategy, sharding or Sharding(), explain)


def must_be_strategy(name: str) -> None:
    if name != AUTO and name not in STRATEGIES:
        raise SettingError(f"strategy is one of {', '.join([AUTO, *STRATEGIES])}, not {name!r}")


def matches_of(question: Question, strategy: str, sharding: Sharding, explain: bool = False) -> DataFrame:
    """The answer to a question, by a strategy that was named or is chosen now."""
    chosen, why = _chosen(strategy, question, sharding)
    if explain:
        print("\n".join([f"strategy   {chosen}: {why}", *STRATEGIES[chosen].explained(question, sharding)]))
    return STRATEGIES[chosen].matches(question, sharding)


def problems(
    events: DataFrame,
    subscriptions: DataFrame | Index | str | os.PathLike[str],
    *,
    id_column: str = "id",
    reach: str = AUTO,
) -> DataFrame:
    """What `match` cannot read of the events: `event_id`, `attribute`, `reason`; events without an id among them.

    It does the same work as `match`, since some values are only read when a subscription asks about them.
    """
    index = _index(events.sparkSession, subscriptions, ())
    return replicated.problems(asked(events, index, id_column, (), (), False, reach))


def _chosen(strategy: str, question: Question, sharding: Sharding) -> tuple[str, str]:
    must_be_strategy(strategy)
    if strategy != AUTO:
        return strategy, "as was asked"
    large, why = sharded.chosen(question, sharding)
    return "sharded" if large else "replicated", why


def _index(spark: SparkSession, source: DataFrame | Index | str | os.PathLike[str], columns: Sequence[str]) -> Index:
    if isinstance(source, Index):
        return source
    if isinstance(source, str | os.PathLike):
        return held_index(spark, source)
    if not hasattr(source, "sparkSession"):
        raise SettingError(
            f"subscriptions are a DataFrame, the path of an index or an open index, not a {type(source).__name__}"
        )
    return _compiled(source, columns)


def _compiled(table: DataFrame, columns: Sequence[str]) -> Index:
    """An index of the table in a folder of this process, without the columns that are not asked for."""
    from pyspark.sql.functions import col

    for name in columns:
        if name not in table.columns:
            raise SettingError(f"the subscriptions have no column {name!r}; they have: {', '.join(table.columns)}")
    needed = numbered(table).select(
        *[
            col(f"c{number}").alias(name)
            for number, name in enumerate(table.columns)
            if name in {"id", "where", *columns}
        ]
    )
    folder = Path(tempfile.mkdtemp(prefix="tidings-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = compile_index(needed, folder / "index", progress=False)
    if made.refused:
        first = made.errors.first()
        assert first is not None
        log.warning(
            "%d subscriptions were refused, such as id %r: %s\ncompile_index gives all of them as a table",
            made.refused, first["id"], first["message"],
        )  # fmt: skip
    return held_index(table.sparkSession, folder / "index")
