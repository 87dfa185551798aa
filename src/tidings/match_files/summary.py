"""What came of a run: the numbers, the first problems, and where everything is; for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

PROBLEMS_SHOWN = 3
FEW = 1_000  # subscriptions, of which it does not matter how many are asked of every event


def number_of(count: int, one: str, several: str | None = None) -> str:
    """1 match, 2 matches."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


@dataclass(frozen=True, slots=True)
class Problem:
    """A row in error: its id, if it has one, what is wrong, and with which attribute of an event."""

    id: Any
    message: str
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class TopSubscription:
    id: Any
    matches: int


@dataclass(frozen=True, slots=True)
class Summary:
    """`known` counts the events that have an id; only those are matched. `scanned` subscriptions are asked of every
    event. Problems are the first few of each kind. What a stream has counted is of this run."""

    subscriptions: int
    scanned: int
    warnings: tuple[str, ...]
    refused: int
    first_refused: tuple[Problem, ...]
    refused_file: str | None
    events: int
    known: int
    matches: int
    problems: int | None
    first_problems: tuple[Problem, ...]
    problems_file: str | None
    seconds: float
    batches: int | None
    top: tuple[TopSubscription, ...]
    out: str
    index: str | None

    @property
    def events_per_second(self) -> float:
        return self.events / self.seconds if self.seconds else 0.0

    @property
    def usable(self) -> bool:
        """Not when there were rows, and all of them were in error: of the subscriptions, or of the events."""
        return not (self.refused and not self.subscriptions) and not (self.events and not self.known)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "events_per_second": round(self.events_per_second, 1), "ok": self.usable}

    def rows(self) -> Iterator[tuple[str, str]]:
        """A word and what is said of it, in the order in which they are printed."""
        refused = f", {self.refused:,} refused" if self.refused else ""
        scanned = f", {self.scanned:,} asked of every event" if self.scanned and self.subscriptions > FEW else ""
        yield "subscriptions", f"{self.subscriptions:,}{refused}{scanned}"
        if self.refused:
            yield from _listed("", self.first_refused, self.refused, self.refused_file)
        without = f", {self.events - self.known:,} without an id, which are not matched" * (self.events > self.known)
        batches = f" in {number_of(self.batches, 'batch', 'batches')}" if self.batches is not None else ""
        yield "events", f"{self.events:,}{batches}{without}"
        yield "matches", f"{self.matches:,}"
        digits = 0 if self.events_per_second >= 10 else 1
        yield "rate", f"{self.events_per_second:,.{digits}f} events/s, {self.seconds:.1f} s"
        if self.problems:
            yield "rows in error", f"{self.problems:,}"
            yield from _listed("", self.first_problems, self.problems, self.problems_file)
        elif self.problems is None:
            yield "rows in error", "not looked for (--no-problems)"
        else:
            yield "rows in error", "none"
        for number, warning in enumerate(self.warnings):
            yield "" if number else "warning", warning
        for number, each in enumerate(self.top):
            yield "" if number else "most matches", f"{each.id}: {each.matches:,}"
        if self.index is not None:
            yield "index", self.index
        yield "output", self.out


def _listed(word: str, first: tuple[Problem, ...], count: int, file: str | None) -> Iterator[tuple[str, str]]:
    for problem in first:
        about = ", ".join(str(each) for each in (problem.id, problem.attribute) if each is not None)
        yield word, f"  {about}: {problem.message}" if about else f"  {problem.message}"
    if file is not None:
        yield word, f"  all of them are in {file}" if count > len(first) else f"  also in {file}"
