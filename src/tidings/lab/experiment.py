"""An experiment as data: what is varied, what is held, how often it is repeated, and the function that measures.

A point is one setting of all parameters and one seed; its result is a number for each metric. Points know nothing of
each other, so they can run anywhere in any order, and a point that is done need not run again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import product
from typing import Any, TypeAlias

from tidings.errors import SettingError

Parameters: TypeAlias = Mapping[str, Any]
Measure: TypeAlias = Callable[[Parameters, int], Mapping[str, float]]
SCALES = ("small", "published")


@dataclass(frozen=True, slots=True)
class Scale:
    """`axes` are varied, each with each; `fixed` are held. Seeds are 0 to `repetitions` - 1."""

    axes: Mapping[str, tuple[Any, ...]]
    fixed: Parameters = field(default_factory=dict)
    repetitions: int = 1


@dataclass(frozen=True, slots=True)
class Experiment:
    """`version` goes up when the measure changes its meaning: results of older versions are then not taken over."""

    name: str
    title: str
    measure: Measure
    scales: Mapping[str, Scale]
    version: int = 1

    def points(self, scale: str) -> Iterator[Point]:
        if scale not in self.scales:
            raise SettingError(f"scale is one of {', '.join(self.scales)}, not {scale!r}")
        chosen = self.scales[scale]
        for values in product(*chosen.axes.values()):
            parameters = {**chosen.fixed, **dict(zip(chosen.axes, values, strict=True))}
            for seed in range(chosen.repetitions):
                yield Point(self.name, self.version, json.dumps(parameters, sort_keys=True), seed)


@dataclass(frozen=True, slots=True)
class Point:
    experiment: str
    version: int
    parameters: str  # JSON, sorted: equal settings are equal texts
    seed: int

    @property
    def name(self) -> str:
        """Of the file of its result."""
        told = f"{self.version} {self.parameters} {self.seed}".encode()
        return f"{self.experiment}-{blake2b(told, digest_size=8).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Group:
    """The experiments of one paper."""

    name: str
    title: str
    experiments: tuple[Experiment, ...]

    def experiment(self, name: str) -> Experiment:
        for each in self.experiments:
            if each.name == name:
                return each
        raise SettingError(
            f"{self.name} has the experiments {', '.join(each.name for each in self.experiments)}, and not {name!r}"
        )

    def points(self, scale: str) -> tuple[Point, ...]:
        return tuple(point for each in self.experiments for point in each.points(scale))
