"""The demo from its beginning to its end: compile, stream, change the subscriptions midway, stream on, report."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tidings.demo.data import ADDED, REMOVED, SUBSCRIPTIONS, WRONG, made_events
from tidings.demo.engines import Delivered, EmbeddedEngine, Engine, Event
from tidings.demo.figure import draw
from tidings.demo.on_spark import MADE, SparkEngine
from tidings.demo.report import Outcome, show
from tidings.errors import SettingError, TidingsError
from tidings.spark_session import spark_session

BATCHES = 6
FIRST = 2  # notifications of each subscriber are shown
FIGURE = "deliveries.png"


def run_demo(console: Console, count: int, seed: int, on_spark: bool, out: Path) -> None:
    """Makes `count` events, streams them, and prints who hears of what, why, and how fast; files go to `out`."""
    start = time.perf_counter()
    _cleared(out)
    events = list(made_events(count, seed))
    definition = EmbeddedEngine()
    with ExitStack() as stack:
        engine = _on_spark(console, stack, out) if on_spark else definition
        outcome = _streamed(console, engine, events)
        with _step(console, "telling subscribers"):
            outcome.told = engine.told(FIRST)
        if on_spark:
            with _step(console, "checking the answers"):
                _check(outcome, definition)
            _say(console, f"  checked   the reference, asked one by one, finds the same {outcome.pairs:,} matches")
        outcome.problems = definition.problems
        show(console, outcome, engine.matcher())
    _draw(console, outcome, out)
    if on_spark:
        _say(console, f"files    {out}/: events, index, matches (Parquet, one folder for each batch), notifications")
    _say(console, f"done in {time.perf_counter() - start:.0f} s")


def _cleared(out: Path) -> None:
    """An empty folder, where there was none or that of an earlier demo; never one with anything else in it."""
    if out.is_file():
        raise SettingError(f"--out {out} is a file; give a folder, which may be new")
    others = sorted(each.name for each in out.iterdir() if each.name not in {*MADE, FIGURE}) if out.is_dir() else []
    if others:
        raise SettingError(f"{out} holds {others[0]}, which is not of the demo, and would be lost; give another --out")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)


def _on_spark(console: Console, stack: ExitStack, out: Path) -> Engine:
    with _step(console, "starting Spark"):
        spark = stack.enter_context(spark_session("tidings demo", settings=SETTINGS))
    _say(console, f"Spark {spark.version} runs inside this machine, on {spark.sparkContext.master}")
    return SparkEngine(spark, out)


def _streamed(console: Console, engine: Engine, events: Sequence[Event]) -> Outcome:
    """The batches, with the subscriptions changed after half of them."""
    with _step(console, "compiling the index"):
        refused = engine.add([*SUBSCRIPTIONS, WRONG])
    _say(console, f"{len(SUBSCRIPTIONS)} subscriptions compiled into an index; {len(refused)} refused:")
    for each in refused:
        _say(console, "\n".join(f"    {line}" for line in f"{each.id}: {each.message}".splitlines()))
    _say(console, f"\nstreaming {len(events):,} events (quotes, news items, XML records) in {BATCHES} batches")
    outcome = Outcome(events)
    with engine.streaming():
        for number, batch in enumerate(_cut(events)):
            if number == BATCHES // 2:
                _change(console, engine)
            with _step(console, f"batch {number + 1} of {BATCHES}"):
                outcome.batches.append(engine.deliver(batch))
            _say(console, _said_of(number, outcome.batches[-1]))
    return outcome


def _check(outcome: Outcome, definition: EmbeddedEngine) -> None:
    """The same batches and changes once more, by the definition of a match."""
    definition.add(SUBSCRIPTIONS)
    for number, (batch, delivered) in enumerate(zip(_cut(outcome.events), outcome.batches, strict=True)):
        if number == BATCHES // 2:
            definition.add(ADDED)
            definition.remove(REMOVED)
        wrong = {*definition.deliver(batch).pairs} ^ {*delivered.pairs}
        if wrong:
            raise TidingsError(f"batch {number + 1} was matched wrongly: {sorted(wrong)[:3]}; please report this")
    if definition.told(FIRST) != outcome.told:
        raise TidingsError(f"other subscribers were told than should be: {outcome.told}; please report this")


def _cut(events: Sequence[Event]) -> list[Sequence[Event]]:
    size = -(-len(events) // BATCHES)
    return [events[size * number : size * (number + 1)] for number in range(BATCHES)]


def _change(console: Console, engine: Engine) -> None:
    with _step(console, "changing the subscriptions"):
        engine.add(ADDED)
        engine.remove(REMOVED)
    _say(console, f"    + added while the stream runs: {', '.join(wish.id for wish in ADDED)}", "green")
    _say(console, f"    - removed: {', '.join(REMOVED)}", "red")


def _said_of(number: int, batch: Delivered) -> str:
    return (
        f"  batch {number + 1}   {batch.events:,} events   {len(batch.pairs):,} matches   "
        f"index version {batch.version}   {batch.seconds:.2f} s"
    )


def _draw(console: Console, outcome: Outcome, out: Path) -> None:
    file = out / FIGURE
    if draw(outcome, file):
        _say(console, f"figure   {file}")
    else:
        _say(console, "figure   not drawn, as matplotlib is not installed: pip install 'tidings[lab]'", "yellow")


@contextmanager
def _step(console: Console, what: str) -> Iterator[None]:
    """Something moves on a terminal while the body runs; nothing is left of it, and nothing is written elsewhere."""
    with console.status(f"{what} …"):
        yield


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style), soft_wrap=True)


SETTINGS = {
    "spark.sql.shuffle.partitions": "2",  # of a few hundred rows
    "spark.default.parallelism": "2",
}
