"""Shards made of an index: the keys of all subscriptions are counted, placed, and each shard is compiled by itself.

The driver sees hashes of keys and counts, never the subscriptions. A shard is a folder with an index of its own; one
more folder has the table by which events are routed. All of them last as long as an open index needs them.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from tidings.errors import StoreError
from tidings.index.array_file import open_arrays
from tidings.index.folder import Writer
from tidings.index.layout import Array
from tidings.language.parser import parse
from tidings.model.normal_form import conjunctions
from tidings.rendezvous.composite import AccessScheme
from tidings.rendezvous.scheme import Scheme
from tidings.spark import pieces
from tidings.spark.building import Building, built
from tidings.spark.event_keys import Columns, column_of_attribute, number_of_everywhere
from tidings.spark.files import IndexFiles
from tidings.spark.index import TEXTS, Index
from tidings.spark.keying import KEY_COLUMNS, Spreading, keys_found, rows_spread
from tidings.spark.metadata import schema_note
from tidings.spark.opening import opened
from tidings.spark.placement import Placement, largest_over_mean, placed
from tidings.spark.reaching import COPY, PATH, files_in, reached
from tidings.spark.routing import Plan, words_of
from tidings.spark.sharding import BUILT_FROM_SAMPLE, SCHEMES, Sharding
from tidings.spark.shipping import Holder, Use
from tidings.spark.subscription_keys import FOR_ALL, SubscriptionKeys
from tidings.spark.tasks import cores_of, in_parts, of_tasks, one_by_one
from tidings.store import settings_of

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import Row, SparkSession
    from pyspark.sql.types import StructType

BYTES_OF_SHARD = 2**29  # of the whole index, for one shard, where their number is not given
SAMPLED = 20_000  # subscriptions that a matching tree is built from
ASKED = 1_000  # subscriptions of which it is asked whether they have keys


@dataclass(frozen=True, slots=True, eq=False)
class Keyed:
    """The keys of an index under a scheme: subscription i is number[i] of part[i], once for each of its keys."""

    scheme: Scheme
    columns: Columns | None  # None: of all
    part: Array  # int32
    number: Array  # int32
    key: Array  # into `keys`
    keys: Array  # uint64, in order

    @property
    def subscriptions(self) -> Array:
        """How many each key has."""
        return np.bincount(self.key, minlength=len(self.keys))

    @property
    def everywhere(self) -> int:
        """The number of the key that every event visits, -1 if nothing is stored there."""
        return number_of_everywhere(self.keys)


class ShardsFolder:
    """Where the shards of an index lie on the driver, at most until its process ends."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="tidings-shards-"))
        self.closed = False
        self._end = finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def remove(self) -> None:
        self.closed = True
        self._end()


@dataclass(frozen=True, slots=True, eq=False)
class Shards:
    """An index in shards. `files` has None for a shard without subscriptions."""

    index: Index
    scheme: Scheme
    columns: Columns | None
    plan: Plan
    plan_files: IndexFiles
    files: tuple[IndexFiles | None, ...]
    hidden: tuple[str, ...]  # columns of the shards' subscriptions with masks of their shards; none if each is on one
    subscriptions: int  # that have a key
    sizes: Array  # of the shards, in subscriptions
    scanned: int  # that every event must meet
    folder: ShardsFolder
    users: list[Index] = field(default_factory=list)  # versions with this content that were asked of

    @property
    def is_needed(self) -> bool:
        self.users[:] = [index for index in self.users if not index.closed]
        return bool(self.users)

    def remove(self) -> None:
        self.folder.remove()

    @property
    def replication(self) -> float:
        """On how many shards a subscription is, on average."""
        return float(self.sizes.sum()) / max(1, self.subscriptions)

    @property
    def largest_over_mean(self) -> float:
        return largest_over_mean(self.sizes)

    @property
    def split_keys(self) -> int:
        return int((self.plan.placement.part_counts() > 1).sum()) - self._everywhere_is(1)

    @property
    def replicated_keys(self) -> int:
        placement = self.plan.placement
        copied = np.maximum.reduceat(np.diff(placement.part_shards), placement.key_parts[:-1]) > 1
        return int(copied.sum()) - self._everywhere_is(0)

    def _everywhere_is(self, split: int) -> int:
        """Whether the key of all events is among those that are split (1) or replicated (0)."""
        at = number_of_everywhere(self.plan.keys)
        if at < 0:
            return 0
        parts = self.plan.placement.parts_of(at)
        return int(len(parts) > 1 if split else max(map(len, parts)) > 1)


def shard_count(spark: SparkSession, index: Index, wanted: int | None) -> int:
    """One for each core, or as many as make a shard small."""
    return wanted or max(2, cores_of(spark), math.ceil(index.nbytes / BYTES_OF_SHARD))


# The keys


def keyed(spark: SparkSession, index: Index, sharding: Sharding, shards: int, reach: str) -> Keyed:
    """The keys of all subscriptions, made on executors.

    One that would be on more than half of the shards is stored for every event instead: that takes no more room, and no
    event must visit a shard for its sake.
    """
    files, _ = reached(spark, index.in_place, index, reach)
    scheme = scheme_of(index, sharding, shards)

    def work(task: int, tasks: int) -> Iterator[Any]:
        return keys_found(files, scheme, most_keys(shards), task, tasks)

    table = of_tasks(spark, work, KEY_COLUMNS).toArrow()
    part, number = (table[name].to_numpy().astype(np.int64) for name in ("part", "number"))
    of_keys = part >= 0
    keys, key = np.unique(table["key"].to_numpy().view(np.uint64)[of_keys], return_inverse=True)
    columns = _columns_in(table.filter(~of_keys)) if isinstance(scheme, AccessScheme) else None
    return Keyed(scheme, columns, part[of_keys], number[of_keys], key, keys)


def _columns_in(table: pyarrow.Table) -> Columns:
    """The columns of events that keys are about, with the kinds of keys."""
    found: dict[str, set[str]] = {}
    for row in table.select(["attribute", "kind"]).to_pylist():
        found.setdefault(column_of_attribute(row["attribute"]), set()).add(row["kind"])
    return {name: frozenset(kinds) for name, kinds in found.items()}


def scheme_of(index: Index, sharding: Sharding, shards: int) -> Scheme:
    if not isinstance(sharding.scheme, str):
        return sharding.scheme
    sample = _sampled(index) if sharding.scheme in BUILT_FROM_SAMPLE else []
    return SCHEMES[sharding.scheme](sample, shards, settings_of(index.version.settings, Path(index.path)))


def scanned_share(index: Index, sharding: Sharding, shards: int) -> float:
    """How many of some subscriptions meet every event."""
    made = SubscriptionKeys(scheme_of(index, sharding, shards), most_keys(shards))
    found = [made.hashes(where) for where in _some_wheres(index, ASKED)]
    return sum(FOR_ALL[0] in keys for keys in found) / max(1, len(found))


def most_keys(shards: int) -> int:
    """That a subscription may have to be stored under them."""
    return max(1, shards // 2)


def _sampled(index: Index) -> list[Any]:
    return [conjunction for where in _some_wheres(index, SAMPLED) for conjunction in conjunctions(parse(where))]


def _some_wheres(index: Index, count: int) -> list[str]:
    found: list[str] = []
    parts = opened(index.in_place).parts
    total = sum(map(len, parts))
    for part in parts:
        numbers = np.flatnonzero(part.alive) if part.removed else np.arange(len(part.ids))
        found += [part.wheres[number] for number in numbers[:: max(1, total // count)].tolist()]
    return found


# The shards


def made_shards(
    spark: SparkSession, index: Index, found: Keyed, visits: Array | None, treat_heavy: bool, shards: int, reach: str
) -> Shards:
    """Places the keys and compiles the shards. `visits` says how many events of a sample visit each key."""
    everywhere = found.everywhere
    placement = placed(found.subscriptions, visits, shards, everywhere, treat_heavy)
    whose, shard = _assigned(found, placement)
    subscriptions, sizes = len(np.unique(whose)), np.bincount(shard, minlength=shards)
    folder = ShardsFolder()
    hidden = _hidden(index, words_of(shards)) if len(shard) > subscriptions else ()
    plan = Plan(found.keys, placement, np.flatnonzero(sizes).astype(np.int32))
    Writer.create(folder.path / "plan", {}, [(plan.arrays(), {})]).close()
    _compile(spark, index, folder.path, _Spread(whose, shard, hidden, shards), reach)
    names = ["plan", *map(str, plan.filled)]
    plan_files, *files = _reached_all(spark, [folder.path / name for name in names], folder, reach)
    by_shard = dict(zip(plan.filled.tolist(), files, strict=True))
    return Shards(
        index,
        found.scheme,
        found.columns,
        plan,
        plan_files,
        tuple(by_shard.get(each) for each in range(shards)),
        hidden,
        subscriptions,
        sizes,
        int(found.subscriptions[everywhere]) if everywhere >= 0 else 0,
        folder,
    )


def _assigned(found: Keyed, placement: Placement) -> tuple[Array, Array]:
    """Subscriptions, as part and number in one integer, and their shards: each pair once, in order.

    The subscriptions of a key are dealt out to its parts in turns.
    """
    order, turn = np.argsort(found.key, kind="stable"), np.empty(len(found.key), np.int64)
    turn[order] = np.arange(len(order)) - np.searchsorted(found.key[order], found.key[order])
    part = placement.key_parts[found.key] + turn % placement.part_counts()[found.key]
    counts = np.diff(placement.part_shards)[part]
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    shard = placement.shard[np.repeat(placement.part_shards[part], counts) + within]
    all_whose, dense = np.unique(found.part << 32 | found.number, return_inverse=True)
    pairs = np.unique(np.repeat(dense, counts) * placement.shards + shard)
    return all_whose[pairs // placement.shards], pairs % placement.shards


def _hidden(index: Index, words: int) -> tuple[str, ...]:
    """Names that no column of the subscriptions has."""
    prefix = "shards"
    while any(name.startswith(prefix) for name in index.metadata.names):
        prefix += "_"
    return tuple(f"{prefix}{word}" for word in range(words))


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """Which subscription goes to which shard."""

    whose: Array
    shard: Array
    hidden: tuple[str, ...]
    shards: int

    def arrays(self, index: Index) -> dict[str, Array]:
        """For each part of the index the shards of its subscriptions, one after the other, and where each begins."""
        found: dict[str, Array] = {}
        part, number = self.whose >> 32, self.whose & (2**32 - 1)
        for each, own in enumerate(opened(index.in_place).parts):
            here = part == each
            counts = np.bincount(number[here], minlength=len(own.ids))
            found[f"first_{each}"] = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
            found[f"shard_{each}"] = self.shard[here].astype(np.int32)
        return found


def _compile(spark: SparkSession, index: Index, folder: Path, spread: _Spread, reach: str) -> None:
    """Writes an index for each shard that has subscriptions, under its number."""
    from pyspark.sql.types import LongType, StructField, StructType

    Writer.create(folder / "places", {}, [(spread.arrays(index), {})]).close()
    further = index.metadata
    kept = StructType([*further.fields, *(StructField(name, LongType()) for name in spread.hidden)])
    building = Building(index.version.settings, None, False, index.id_type, schema_note(kept))
    with Use() as use:
        (places,) = _reached_all(spark, [folder / "places"], use, reach)
        files, _ = reached(spark, index.in_place, index, reach)
        spreading = Spreading(files, places, tuple(further.names), len(spread.hidden))
        paths = pieces.received(_segments(spark, spreading, building, kept, spread.shards), folder, _refuse)
    for shard, path in paths.items():
        file = open_arrays(path)
        file.verify()
        Writer.create(folder / str(shard), index.version.settings, [(file.arrays, file.notes)]).close()
        path.unlink()
    shutil.rmtree(folder / "places")


def _segments(
    spark: SparkSession, spreading: Spreading, building: Building, kept: StructType, shards: int
) -> Iterator[Row]:
    """The pieces of a segment for each shard, as `compile_index` has them."""
    from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

    def spread(task: int, tasks: int) -> Iterator[Any]:
        return rows_spread(spreading, task, tasks)

    def build(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        return built(building, context.partitionId(), (batch.select(batch.schema.names[1:]) for batch in batches))

    id = StructField("id", StringType() if building.id_type == TEXTS else LongType())
    numbered = [StructField(f"c{at}", field.dataType) for at, field in enumerate(kept)]
    schema = StructType([StructField("shard", IntegerType()), id, StructField("where", StringType()), *numbered])
    rows = of_tasks(spark, spread, schema).repartitionById(shards, "shard")
    sent = rows.mapInArrow(build, pieces.schema(building.id_type))
    return one_by_one(in_parts(sent, "segment", "group"))


def _refuse(row: Row) -> None:
    raise StoreError(f"the subscription {row.id!r} of the index cannot be compiled again: {row.message}")


def _reached_all(spark: SparkSession, folders: Sequence[Path], holder: Holder, reach: str) -> list[IndexFiles]:
    """Folders as executors find them. They lie side by side, so that one of them is asked about for all."""
    first = reached(spark, files_in(folders[0]), holder, reach)[0]
    for_all = COPY if first.shipped else PATH
    return [first, *(reached(spark, files_in(folder), holder, for_all)[0] for folder in folders[1:])]
