"""The forms in which the expectations of the suite are written down: a case, a batch, a refusal, a group.

What is expected follows from the rules of the language, never from what some matcher answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tidings import Settings

Truth: TypeAlias = bool | None
UNKNOWN: Truth = None


@dataclass(frozen=True, slots=True)
class Case:
    """One condition, one event, and the truth of one about the other.

    A matcher only says whether an event matches, so each condition is asked twice, as it is and in NOT ( ): if it is
    true the first matches, if it is false the second, and if it is unknown neither.
    """

    name: str
    where: str
    event: Mapping[str, Any]
    expected: Truth
    unreadable: tuple[str, ...] = ()  # attributes that must be reported


@dataclass(frozen=True, slots=True)
class Batch:
    """Several subscriptions and events together: exactly these pairs, and exactly these problems."""

    name: str
    subscriptions: Mapping[str, str]
    events: Sequence[Mapping[str, Any]]
    pairs: set[tuple[int, str]]  # position of the event, id of the subscription
    problems: set[tuple[int, str | None]] = field(default_factory=set)  # position and attribute

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Refusal:
    """A subscription that is refused when it is added."""

    name: str
    where: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Group:
    """The cases of one part of the semantics. They run together: every event meets every subscription of its group."""

    name: str
    cases: Sequence[Case]
    settings: Settings = field(default_factory=Settings)

    def __str__(self) -> str:
        return self.name

    def subscriptions(self) -> dict[str, str]:
        asked = {case.name: case.where for case in self.cases}
        return asked | {negated(case): f"NOT ({case.where})" for case in self.cases}


def negated(case: Case) -> str:
    """The id of the subscription to the opposite."""
    return f"NOT: {case.name}"


_HOLDS = {  # where the value is below, equal to and above the literal
    "=": (False, True, False),
    "<>": (True, False, True),
    "<": (True, False, False),
    "<=": (True, True, False),
    ">": (False, False, True),
    ">=": (False, True, True),
}


def comparisons(what: str, literal: str, below: object, equal: object, above: object) -> Iterator[Case]:
    """Every comparison with a literal, of a value on each side of it and of one equal to it."""
    for operator, expected in _HOLDS.items():
        for side, value, truth in zip(("below", "equal", "above"), (below, equal, above), expected, strict=True):
            yield Case(f"{what}: {side}, {operator}", f"a {operator} {literal}", {"a": value}, truth)


def unknown_comparisons(what: str, literal: str, value: object) -> Iterator[Case]:
    """Every comparison with a literal, of a value that it says nothing about."""
    for operator in _HOLDS:
        yield Case(f"{what}: {operator}", f"a {operator} {literal}", {"a": value}, UNKNOWN)
