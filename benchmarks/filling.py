"""A matcher with a workload's subscriptions, ready to match, and how long that took, kernels not counted."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import cache

from tidings import Matcher


def filled(texts: Iterable[str]) -> tuple[Matcher, float]:
    """The matcher, whose ids are the positions of the texts, and the seconds for parsing and compiling them."""
    warm_kernels()
    start = time.perf_counter()
    matcher = Matcher()
    matcher.add_many(enumerate(texts))
    matcher.match({})  # what was added is compiled when the first event comes
    return matcher, time.perf_counter() - start


@cache
def warm_kernels() -> None:
    """Once in a process: kernels that were never used on this machine are compiled now, and not while measuring."""
    matcher = Matcher(uncompiled=0)
    matcher.add_many([(1, "a = 1 AND b < 2"), (2, "c = 'd'")])
    matcher.match({"a": 1, "b": 1, "c": "d"})
    matcher.match_many([{"a": 1, "b": 1, "c": "d"}])
