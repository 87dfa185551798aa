"""What came of the demo, as a person wants to see it: who got what, why and why not, and how fast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidings import Explanation, Matcher, print_expression
from tidings.demo.data import ADDED, REMOVED, SUBSCRIPTIONS, Wish
from tidings.demo.engines import Delivered, Event, Told
from tidings.language.parser import parse
from tidings.model.result import EventProblem

PROBLEMS_SHOWN = 2


@dataclass(slots=True)
class Outcome:
    """The events in the order of their batches, what each batch has delivered, and who is told of it."""

    events: Sequence[Event]
    batches: list[Delivered] = field(default_factory=list)
    told: Told = field(default_factory=lambda: Told(0, ()))
    problems: Sequence[EventProblem] = ()

    @property
    def pairs(self) -> int:
        return sum(len(batch.pairs) for batch in self.batches)

    def counts(self, id: str) -> list[int | None]:
        """How many events a subscription heard of in each batch; None where it was not subscribed."""
        half = len(self.batches) // 2
        absent = range(half) if id in {wish.id for wish in ADDED} else range(half, 99) if id in REMOVED else ()
        found = [Counter(subscription for _, subscription in batch.pairs)[id] for batch in self.batches]
        return [None if number in absent and not count else count for number, count in enumerate(found)]


def wishes() -> list[Wish]:
    """All subscriptions, those of one subscriber together."""
    return sorted([*SUBSCRIPTIONS, *ADDED], key=lambda wish: wish.subscriber)


def show(console: Console, outcome: Outcome, matcher: Matcher) -> None:
    console.print()
    console.print(_delivered(outcome))
    console.print()
    console.print(_told(outcome.told))
    for line in [*_problem_lines(outcome), *_explained(outcome, matcher), *_rates(outcome)]:
        console.print(line, soft_wrap=True)


def _delivered(outcome: Outcome) -> Table:
    half = len(outcome.batches) // 2
    table = Table(box=None, pad_edge=False, title="what was delivered to whom", title_justify="left")
    for name in ("to", "subscription"):
        table.add_column(name, no_wrap=True)
    table.add_column("where", overflow="fold")
    for name in (f"1-{half}", f"{half + 1}-{len(outcome.batches)}"):
        table.add_column(name, justify="right", no_wrap=True)
    before = ""
    for wish in wishes():
        counts = outcome.counts(wish.id)
        style = "green" if counts[0] is None else "red" if counts[-1] is None else ""
        table.add_row(
            Text(wish.subscriber if wish.subscriber != before else "", "bold"),
            Text(wish.id, style),
            Text(print_expression(parse(wish.where))),
            *(Text(_sum(part), style) for part in (counts[:half], counts[half:])),
        )
        before = wish.subscriber
    return table


def _sum(counts: Sequence[int | None]) -> str:
    known = [count for count in counts if count is not None]
    return f"{sum(known):,}" if known else "–"


def _told(told: Told) -> Table:
    title = f"{told.count:,} notifications, one for each match; the first of everyone"
    table = Table(box=None, pad_edge=False, title=title, title_justify="left")
    for name in ("to", "at", "event", "subscription", "says"):
        table.add_column(name, no_wrap=True)
    before = ""
    for each in told.first:
        to = Text(each.subscriber if each.subscriber != before else "", "bold")
        table.add_row(to, each.time, each.event, each.subscription, Text(each.said))
        before = each.subscriber
    return table


def _problem_lines(outcome: Outcome) -> Iterator[Text]:
    if outcome.problems:
        yield Text(f"\n{len(outcome.problems)} values could not be read; all else of their events was matched:")
        yield from (Text(f"  {problem}") for problem in outcome.problems[:PROBLEMS_SHOWN])


def _explained(outcome: Outcome, matcher: Matcher) -> Iterator[Text]:
    """The first event that matches one subscription, and the first of the right kind that does not match another."""
    for id, attribute, matches in (("rate decisions", "body", True), ("ibm below 140", "symbol", False)):
        asked = ((event, matcher.explain(id, event)) for event in outcome.events if attribute in event)
        found = next(((event, why) for event, why in asked if why.matches == matches), None)
        if found is not None:
            event, explanation = found
            yield Text(f"\nwhy '{id}' {'hears' if matches else 'does not hear'} of event {event['id']}", "bold")
            yield from coloured(explanation)
            yield Text(explanation.why, "italic")


def coloured(explanation: Explanation) -> list[Text]:
    """The tree as `str(explanation)` draws it, with each truth in its colour."""
    lines = []
    for line in str(explanation).split("\n"):
        text = Text(line)
        for word, colour in (("true", "green"), ("false", "red"), ("unknown", "yellow")):
            at = line.find(word)
            if at >= 0 and not line[:at].strip("│├└ "):
                text.stylize(colour, at, at + len(word))
        lines.append(text)
    return lines


def _rates(outcome: Outcome) -> Iterator[Text]:
    """Of all batches but the first, in which Python's workers start."""
    warm = outcome.batches[1:]
    events, matches = sum(batch.events for batch in warm), sum(len(batch.pairs) for batch in warm)
    seconds = sum(batch.seconds for batch in warm)
    yield Text(
        f"\nrates    {events / seconds:,.0f} events/s, {matches / seconds:,.0f} matches/s, {seconds / len(warm):.2f} s "
        f"a batch after the first ({outcome.batches[0].seconds:.1f} s)"
    )
