"""How subscriptions are to be sharded: the settings, and the schemes that can be named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidings.errors import SettingError
from tidings.model.predicates import Conjunction
from tidings.reference import Settings
from tidings.rendezvous.composite import AccessScheme, default_makers, single
from tidings.rendezvous.documents import Documents
from tidings.rendezvous.matching_tree import build
from tidings.rendezvous.ranges import Intervals
from tidings.rendezvous.scheme import Scheme
from tidings.rendezvous.sets import Elements
from tidings.rendezvous.string_trees import StringTrees
from tidings.rendezvous.substrings import CompleteSubstrings, NGrams
from tidings.rendezvous.words import Words
from tidings.spark.placement import MOST_SHARDS

LEAVES = 8  # of a matching tree for each shard: enough of them to be packed evenly

# From a sample of conjunctions and the number of shards, which only the matching tree asks for, and how text is read.
SCHEMES: dict[str, Callable[[Sequence[Conjunction], int, Settings], Scheme]] = {
    "access predicate": lambda sample, shards, settings: AccessScheme(default_makers(settings=settings)),
    "elements": lambda sample, shards, settings: single(Elements()),
    "words": lambda sample, shards, settings: single(Words(settings.analyser.name, settings.statistics)),
    "documents": lambda sample, shards, settings: single(Documents()),
    "string trees": lambda sample, shards, settings: single(StringTrees()),
    "intervals": lambda sample, shards, settings: single(Intervals()),
    "complete substrings": lambda sample, shards, settings: single(CompleteSubstrings()),
    "rarest gram": lambda sample, shards, settings: single(NGrams()),
    "every gram": lambda sample, shards, settings: single(NGrams(every=True)),
    "matching tree": lambda sample, shards, settings: build(sample, max(1, len(sample) // (LEAVES * shards))),
}
BUILT_FROM_SAMPLE = ("matching tree",)


@dataclass(frozen=True, slots=True)
class Sharding:
    """`shards` is their number, by default one for each core, or more for a large index. `scheme` makes the keys: one
    of `rendezvous`, or the name of one in SCHEMES. Without `treat_heavy` no key is split or replicated. `by_events`
    takes a sample of the events, if they are a table, to see which keys they visit."""

    shards: int | None = None
    scheme: Scheme | str = "access predicate"
    treat_heavy: bool = True
    by_events: bool = True

    def __post_init__(self) -> None:
        if self.shards is not None and not 1 <= self.shards <= MOST_SHARDS:
            raise SettingError(f"shards is a number from 1 to {MOST_SHARDS}, or None for a good one, not {self.shards}")
        if isinstance(self.scheme, str) and self.scheme not in SCHEMES:
            raise SettingError(
                f"scheme is one of rendezvous, or the name of one: {', '.join(SCHEMES)}; not {self.scheme!r}"
            )
