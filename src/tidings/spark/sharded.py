"""The sharded strategy: subscriptions are divided by their rendezvous keys, and events travel to where they have keys.

An event crosses the network once for each shard that it must visit, and not at all if nobody subscribed under any of
its keys. A subscription may be on several shards and an event visit several of them; of the shards that they have in
common the first one answers, and the others are silent: so each match is given once, without comparing answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tidings.index.layout import Array
from tidings.spark import replicated
from tidings.spark.answering import LISTS, PAIRS, PIECES, Asking, events_in
from tidings.spark.event_keys import EventKeys
from tidings.spark.hosts import memory_of_hosts
from tidings.spark.merging import merged, merged_when_all_came
from tidings.spark.placement import choice, largest_over_mean
from tidings.spark.question import Question
from tidings.spark.reaching import reached
from tidings.spark.recent import LastUsed
from tidings.spark.routing import Router, Routing, routed, visited
from tidings.spark.sessions import application_of, is_classic
from tidings.spark.sharding import Sharding
from tidings.spark.shards import Shards, keyed, made_shards, scanned_share, shard_count
from tidings.spark.sizes import size
from tidings.spark.visiting import Visiting, answered_by_shards

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

SAMPLED = 5_000  # events, of which it is counted which keys they visit
HEAD = 500  # of them, at most, from the beginning of each partition
UNKNOWN = 2**50  # bytes of a table, or more: what Spark makes of 2**63 - 1 when it does not know them
BYTES_OF_HEAD, BYTES_OF_SAMPLE = 2**20, 2**24  # and of what leaves a task, and reaches the driver
KEPT = 4  # indexes in shards that are there for the next query, when no open index needs them any more
_made: LastUsed[tuple[Any, ...], Shards] = LastUsed(KEPT, lambda shards: shards.is_needed, Shards.remove)


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """What a sample of events does: how many there are, how many of them visit each shard, how many go nowhere."""

    events: int
    visits: Array
    dropped: int
    nbytes: int  # of the rows that they become

    def __str__(self) -> str:
        each = f"{self.visits.sum() / self.events:.2f} visits and {self.nbytes / self.events:,.0f} bytes for each event"
        uneven = f"busiest shard {largest_over_mean(self.visits):.2f} times the mean"
        return f"{each}, {self.dropped / self.events:.0%} go nowhere; {uneven} (of {self.events:,} events)"


def matches(question: Question, sharding: Sharding) -> DataFrame:
    """As the replicated strategy answers; where no subscription can match at all, by it."""
    shards = prepared(question, sharding)
    if not len(shards.plan.filled):
        return replicated.matches(question)
    asking, width = _asking(question), len(question.events.columns)
    routing = _routing(question, shards, asking)
    visiting = Visiting(shards.files, asking, width, shards.hidden)

    def route(batches: Iterable[Any]) -> Iterator[Any]:
        return routed(routing, batches)

    def answer(batches: Iterable[Any]) -> Iterator[Any]:
        return answered_by_shards(visiting, batches)

    sent = _tagged(question).mapInArrow(route, _sent_schema(question, routing))
    there = sent.repartitionById(routing.shards, f"c{visiting.shard}")
    found = there.mapInArrow(answer, _found_schema(question, asking.form))
    if question.lists:
        return _as_lists(question, found, routing.shards)
    return replicated.as_pairs(question, found) if asking.form == PIECES else found


def explained(question: Question, sharding: Sharding) -> Sequence[str]:
    shards, index = prepared(question, sharding), question.index
    sample = _sample(question) if _is_sampled(question, sharding) else None
    expected = "not known: no sample of the events was taken"
    if sample is not None:
        found = _expected(_routing(question, shards, _asking(question)), shards, sample)
        expected = f"{found}{_in_all(question.events, found.nbytes / sample.nbytes)}"
    _, how = reached(question.events.sparkSession, index.in_place, index, question.reach)
    held = f"{index.subscriptions:,} subscriptions, {size(index.nbytes)}"
    keys = f"{len(shards.plan.keys):,} keys, {shards.split_keys} split, {shards.replicated_keys} replicated"
    lists = "; lists are put together by a second one" if question.lists else ""
    return (
        f"index      {index.path}, version {index.version.number}: {held}",
        f"executors  {how}",
        f"shards     {len(shards.files)}, by {shards.scheme.name}: {keys}; {shards.scanned:,} subscriptions on all",
        f"storage    {shards.replication:.2f} copies of each; largest shard {shards.largest_over_mean:.2f} of the mean",
        f"shuffle    {expected}{lists}",
    )


def prepared(question: Question, sharding: Sharding) -> Shards:
    """The index in shards; those that were made before, if the same index was to be sharded in the same way.

    The events that were asked about first say which keys are heavy: later ones find the shards as they are.
    """
    spark, index = question.events.sparkSession, question.index
    wanted = (application_of(spark), index.digest, sharding, question.reach)
    found = _made.get(wanted, lambda: _prepared(question, sharding), lambda shards: shards.users.append(index))
    _made.drop(lambda each: each.index.path == index.path and each.index.digest != index.digest)
    return found


def _prepared(question: Question, sharding: Sharding) -> Shards:
    """The sample comes first: a Python worker that does not read all of its input ends, and the next one imports all
    that it needs again; nothing is lost by that before anything was imported."""
    spark, index, visits = question.events.sparkSession, question.index, None
    sample = _sample(question) if _is_sampled(question, sharding) else None
    count = shard_count(spark, index, sharding.shards)
    keys = keyed(spark, index, sharding, count, question.reach)
    if sample is not None:
        _, visited_keys = EventKeys(keys.scheme, keys.columns, keys.keys).found(events_in(_asking(question), sample))
        visits = np.bincount(visited_keys, minlength=len(keys.keys))
    return made_shards(spark, index, keys, visits, sharding.treat_heavy, count, question.reach)


def chosen(question: Question, sharding: Sharding) -> tuple[bool, str]:
    """Whether an index is better sharded, and why; by its size, the memory of the hosts, and how many of some of its
    subscriptions have keys."""
    index = question.index
    if not hasattr(question.events, "repartitionById"):
        return False, "events stay where they are: this version of Spark cannot send rows to shards, 4.1 can"
    memory = memory_of_hosts(question.events.sparkSession)
    large, _ = choice(index.nbytes, memory, 0)
    shards = shard_count(question.events.sparkSession, index, sharding.shards)
    return choice(index.nbytes, memory, scanned_share(index, sharding, shards) if large else 0)


# The sample


def _is_sampled(question: Question, sharding: Sharding) -> bool:
    return sharding.by_events and not question.events.isStreaming


def _sample(question: Question) -> pyarrow.RecordBatch | None:
    """Some of the events with their hashes, from the beginning of every partition; None if there are none.

    A second task chooses among them, so that the driver gets no more than it keeps, however many partitions there are.
    """

    def head(batches: Iterable[Any]) -> Iterator[Any]:
        rows, nbytes = HEAD, BYTES_OF_HEAD
        for batch in batches:
            some = _as_fit(batch, rows, nbytes)
            yield some
            rows, nbytes = rows - some.num_rows, nbytes - some.nbytes
            if some.num_rows < batch.num_rows or not rows:
                return

    def choose(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        kept: list[Any] = []
        for batch in batches:
            table = pa.Table.from_batches([*kept, batch]).sort_by("tag")  # by hashes: any order, and the same again
            kept = _as_fit(table, SAMPLED, BYTES_OF_SAMPLE).combine_chunks().to_batches()
        yield from kept

    events = _tagged(question)
    heads = events.mapInArrow(head, events.schema).repartition(1)
    table = heads.mapInArrow(choose, events.schema).toArrow()
    return table.combine_chunks().to_batches()[0] if table.num_rows else None


def _as_fit(rows: Any, count: int, nbytes: int) -> Any:
    """The first rows of a batch or table, as many as are wanted and so few that they have no more bytes."""
    count = min(count, rows.num_rows)
    while count and rows.slice(0, count).nbytes > nbytes:
        count //= 2
    return rows.slice(0, count)


def _expected(routing: Routing, shards: Shards, sample: pyarrow.RecordBatch) -> Expected:
    import pyarrow as pa

    rows, shard, _, _ = visited(replace(routing, all_somewhere=False), Router.of(routing, shards.plan), sample)
    dropped = sample.num_rows - len(np.unique(rows))
    nbytes = sample.take(pa.array(rows)).nbytes + len(rows) * (4 + 4 + 8 * routing.words)
    return Expected(sample.num_rows, np.bincount(shard, minlength=routing.shards), dropped, nbytes)


def _in_all(events: DataFrame, times: float) -> str:
    """How much all events become, if Spark has an idea of their size: that of files, or what its statistics say."""
    if not is_classic(events.sparkSession):
        return ""
    nbytes = int(str(events._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))
    return f"; {size(times * nbytes)} in all, as Spark estimates the events" if nbytes < UNKNOWN else ""


# The query


def _asking(question: Question) -> Asking:
    """What a shard is asked. Lists have more columns, by which they are put together."""
    form = LISTS if question.lists else PIECES if question.carried else PAIRS
    asking = replicated.asking_of(question, form)
    width = len(question.events.columns)
    return replace(asking, carried=(*asking.carried, width, width + 1, width + 2)) if form == LISTS else asking


def _routing(question: Question, shards: Shards, asking: Asking) -> Routing:
    return Routing(shards.plan_files, len(shards.files), shards.scheme, shards.columns, asking, question.lists)


def _tagged(question: Question) -> DataFrame:
    """The events that have an id, with a hash: of the id; for lists of everything that Spark can make a hash of."""
    from pyspark.sql.functions import col, xxhash64

    events = question.events
    names = events.columns[:1]
    if question.lists:
        names = [field.name for field in events.schema if _has_hash(field)]
    hashed = xxhash64(*[col(name) for name in names]).alias("tag")
    return events.where(col(events.columns[0]).isNotNull()).select("*", hashed)


def _has_hash(field: StructField) -> bool:
    kind = field.dataType.simpleString()
    return "map<" not in kind and "variant" not in kind


def _sent_schema(question: Question, routing: Routing) -> StructType:
    """What `routing.routed` makes."""
    from pyspark.sql.types import IntegerType, LongType, StructField, StructType

    kinds = [field.dataType for field in question.events.schema]
    kinds += [LongType(), IntegerType(), IntegerType(), *[LongType()] * routing.words]
    return StructType([StructField(f"c{at}", kind) for at, kind in enumerate(kinds)])


def _found_schema(question: Question, form: str) -> StructType:
    from pyspark.sql.types import IntegerType, LongType, StructField, StructType

    schema = replicated.schema_of(question, form)
    if form != LISTS:
        return schema
    kinds = [field.dataType for field in schema]
    kinds[-1:] = [LongType(), IntegerType(), IntegerType(), kinds[-1]]
    return StructType([StructField(f"c{at}", kind) for at, kind in enumerate(kinds)])


def _as_lists(question: Question, found: DataFrame, shards: int) -> DataFrame:
    """One row for each event: the lists of all shards that it visited meet on the first of them."""
    width = len(found.columns)
    tag, shard, home = (f"c{width - back}" for back in (4, 3, 2))
    together, merge = found.repartitionById(shards, home), merged_when_all_came
    if not question.events.isStreaming:  # of a stream Spark sorts nothing
        together, merge = together.sortWithinPartitions(tag, "c0", shard), merged

    def put_together(batches: Iterable[Any]) -> Iterator[Any]:
        return merge(batches)

    return together.mapInArrow(put_together, replicated.schema_of(question, LISTS))
