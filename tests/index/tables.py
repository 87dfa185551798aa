"""Which kinds of tables the subscriptions of an index are found by, for tests that mean to visit all of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tidings.index import layout
from tidings.index.part import Part
from tidings.model.event import Identifier

EVERY_KIND = frozenset(range(layout.SCAN + 1))


def kinds_that_answered(parts: Iterable[Part], answered: Iterable[Identifier]) -> set[int]:
    """Those that lead to subscriptions that have matched and stand in one place, so that nothing else can have."""
    ids, kinds = list(answered), set()
    for part in parts:
        segment = part.segment
        numbers = part.find_many(ids)
        alone = [number for number in numbers[numbers >= 0].tolist() if not segment.member_shared[number]]
        entries = np.flatnonzero(np.isin(segment.entry_member, alone))
        tables = np.searchsorted(segment.bucket_entries[segment.table_buckets], entries, side="right") - 1
        kinds |= set(segment.table_kind[tables].tolist())
    return kinds
