"""What a task does with events that have come to a shard: they are matched, and what another shard says is left out.

An event brings a mask of the shards that it visits, a subscription on several shards one of those it is on. A shard
gives the matches of pairs that have no shard in common before it. Everything else is as in the replicated strategy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tidings.index.layout import Array
from tidings.spark.answering import LISTS, PAIRS, PIECES, Asking, answered
from tidings.spark.files import IndexFiles

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, slots=True)
class Visiting:
    """What a task is told. A batch has `width` columns of the event, then a hash, the shard, the first shard that the
    event visits, and the words of its mask. `hidden` are columns of subscriptions: the words of theirs."""

    files: tuple[IndexFiles | None, ...]
    asking: Asking  # of any shard: its files are replaced
    width: int
    hidden: tuple[str, ...]

    @property
    def shard(self) -> int:
        return self.width + 1

    @property
    def masks(self) -> tuple[int, ...]:
        return tuple(self.width + 3 + word for word in range(len(self.hidden)))

    def asking_of(self, shard: int) -> Asking:
        files = self.files[shard]
        assert files is not None, f"an event was sent to shard {shard}, which has no subscriptions"
        return replace(self.asking, files=files)


def answered_by_shards(visiting: Visiting, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The matches. A row says itself which shard it came for; that all of them came to one place makes it quick."""
    import pyarrow as pa

    for batch in batches:
        shards = batch.column(visiting.shard).to_numpy()
        for shard in np.unique(shards).tolist():
            here = np.flatnonzero(shards == shard)
            own = batch if len(here) == batch.num_rows else batch.take(pa.array(here))
            yield from _answered(visiting, shard, own)


def _answered(visiting: Visiting, shard: int, batch: pyarrow.RecordBatch) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow as pa

    asking = visiting.asking_of(shard)
    elsewhere = np.zeros(batch.num_rows, np.bool_)
    for mask, below in zip(visiting.masks, _below(shard), strict=False):
        elsewhere |= (batch.column(mask).to_numpy() & below) != 0
    alone = np.flatnonzero(~elsewhere)
    if len(alone):
        yield from answered(asking, [batch if len(alone) == batch.num_rows else batch.take(pa.array(alone))])
    if len(alone) < batch.num_rows:
        yield from _not_answered_before(visiting, shard, batch.take(pa.array(np.flatnonzero(elsewhere))))


def _below(shard: int) -> list[Array]:
    """Words with the bits of all shards before this one."""
    bits = (1 << shard) - 1
    return [np.array(bits >> (64 * word) & (2**64 - 1), np.uint64).view(np.int64) for word in range(shard // 64 + 1)]


def _not_answered_before(visiting: Visiting, shard: int, batch: pyarrow.RecordBatch) -> Iterator[pyarrow.RecordBatch]:
    """The matches of events that visit shards before this one too."""
    asking = visiting.asking_of(shard)
    form = LISTS if asking.form == LISTS else PIECES
    asked = replace(
        asking,
        form=form,
        carried=(*asking.carried, *visiting.masks),
        columns=(*asking.columns, *visiting.hidden),
    )
    for found in answered(asked, [batch]):
        yield _narrowed(asking, shard, len(visiting.hidden), found)


def _narrowed(asking: Asking, shard: int, words: int, found: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    import pyarrow as pa

    *event, lists = found.columns
    event, masks = event[: len(event) - words], event[len(event) - words :]
    elements = lists.flatten().flatten()
    rows = lists.value_parent_indices().to_numpy()
    before = np.zeros(len(rows), np.bool_)
    for mask, own, below in zip(masks, elements[len(elements) - words :], _below(shard), strict=False):
        before |= (mask.to_numpy()[rows] & own.to_numpy() & below) != 0
    kept = pa.array(np.flatnonzero(~before))
    elements = [each.take(kept) for each in elements[: len(elements) - words]]
    rows = rows[~before]
    if asking.form == PAIRS:
        columns = [event[0].take(pa.array(rows)), *elements]
        return pa.RecordBatch.from_arrays(columns, ["event_id", "subscription_id", *asking.columns])
    offsets = np.zeros(found.num_rows + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=found.num_rows), out=offsets[1:])
    joined = (
        pa.StructArray.from_arrays(elements, ["subscription_id", *asking.columns]) if asking.columns else elements[0]
    )
    columns = [*event, pa.ListArray.from_arrays(offsets, joined)]
    return pa.RecordBatch.from_arrays(columns, [*(f"c{at}" for at in range(len(event))), "found"])
