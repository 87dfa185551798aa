"""What can be set about a forest of string trees: how deep, how many copies, how full, and where numbers lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidings.errors import SettingError
from tidings.rendezvous.ranges import ANY_NUMBER, Domain


@dataclass(frozen=True, slots=True)
class ForestSettings:
    """Paper 1: `depth` is the longest label, in characters; `replicas` is the replication factor RF and `fullest` the
    most identifiers that one Tnode keeps before it spills (3.4); None is no bound.

    `levels` is how many rows of Pastry's tables the trees take turns with (3.1: log_β N); None is as many as a network
    of the size at the start fills. `domains` are the bounds of numeric attributes (3.3.2), and with `relocate` each
    gets a stretch of its own among all numbers that labels can name (3.4). `whole_paths` lets an event walk on to the
    Tnode of its value where nobody has stored anything, as the paper's events do; without it, it turns back there.
    """

    depth: int = 5
    replicas: int = 1
    fullest: int | None = None
    levels: int | None = None
    domains: Mapping[str, Domain] = field(default_factory=dict, hash=False)
    any_domain: Domain = ANY_NUMBER
    relocate: bool = False
    whole_paths: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("depth", self.depth), ("replicas", self.replicas), ("levels", self.levels)):
            if value is not None and value < 1:
                raise SettingError(f"{name} of a forest is at least 1, not {value}")
        if self.fullest is not None and self.fullest < 1:
            raise SettingError(f"a Tnode keeps at least 1 identifier before it is full, not {self.fullest}")
