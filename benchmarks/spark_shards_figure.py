"""The figure of the shards: time and shuffled bytes against the number of subscriptions, and how even the load is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from benchmarks.measuring import Measured

# Told apart by colour-blind readers too (Okabe and Ito).
COLOURS = ("#777777", "#0072B2", "#D55E00")
DASHES, HATCHES = ("-", ":"), ("", "////")
MARKERS = ("o", "s")
# The last one is a ring around the others: with uniform keys, treated or not, the same points are drawn.
MARKER_SIZES, INSIDES = (5, 5, 9), ("", "", "none")


@dataclass(frozen=True, slots=True)
class Case:
    """One way to match under one distribution of keys, at one number of subscriptions."""

    way: str
    keys: str
    subscriptions: int
    measured: Measured
    preparing: float  # seconds
    shuffled: int  # bytes
    visits: float  # of an event
    copies: float  # of a subscription
    largest: float  # shard over the mean, in subscriptions
    busiest: float  # shard over the mean, in events


LOADS: tuple[tuple[str, Callable[[Case], float]], ...] = (
    ("largest\nshard over\nthe mean", lambda case: case.largest),
    ("busiest\nshard over\nthe mean", lambda case: case.busiest),
    ("copies\nof a sub-\nscription", lambda case: case.copies),
    ("visits\nof an\nevent", lambda case: case.visits),
)


def draw(cases: Sequence[Case], events: int, file: Path) -> Path:
    """Writes the figure, and returns where it is."""
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "shards", "font.size": 10, "hatch.linewidth": 0.8}):
        figure = Figure(figsize=(11.5, 4.2), layout="constrained")
        time, bytes_, load = figure.subplots(1, 3, width_ratios=(1, 1, 1.25))
        shuffling = [case for case in cases if case.shuffled]
        _lines(time, cases, lambda case: case.measured.median, cases)
        for case in cases:  # from the fastest to the slowest repetition
            colour = COLOURS[_kinds(cases)[0].index(case.way)]
            time.vlines(case.subscriptions, min(case.measured.seconds), max(case.measured.seconds), color=colour)
        _lines(bytes_, shuffling, lambda case: case.shuffled / events, cases)
        time.set_title(f"seconds to match {events:,} events", loc="left", fontsize=10)
        bytes_.set_title("bytes shuffled for each event", loc="left", fontsize=10)
        _bars(load, shuffling, cases)
        handles, names = time.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None})
    return file


def _lines(axes: Axes, shown: Sequence[Case], value: Callable[[Case], float], cases: Sequence[Case]) -> None:
    ways, keys = _kinds(cases)
    for way, colour, markersize, inside in zip(ways, COLOURS, MARKER_SIZES, INSIDES, strict=False):
        for each, dashes, marker in zip(keys, DASHES, MARKERS, strict=False):
            line = [case for case in shown if (case.way, case.keys) == (way, each)]
            sizes, heights = [case.subscriptions for case in line], [value(case) for case in line]
            (drawn,) = axes.plot(sizes, heights, color=colour, linestyle=dashes, label=f"{way} ({each})")
            drawn.set(marker=marker, markersize=markersize, markerfacecolor=inside or colour)
    sizes = sorted({case.subscriptions for case in cases})
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda height, _: f"{height:,g}"))
    axes.set_xlim(sizes[0] * 0.7, sizes[-1] * 1.4)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("subscriptions")
    _dress(axes)


def _bars(axes: Axes, shown: Sequence[Case], cases: Sequence[Case]) -> None:
    """How even the load is at the largest size; 1 is as even as can be, and nothing stored or sent twice."""
    ways, keys = _kinds(cases)
    size = max(case.subscriptions for case in cases)
    drawn = sorted(
        (case for case in shown if case.subscriptions == size),
        key=lambda case: (keys.index(case.keys), ways.index(case.way)),
    )
    width = 0.84 / max(1, len(drawn))
    for number, case in enumerate(drawn):
        places = [at + (number - (len(drawn) - 1) / 2) * width for at in range(len(LOADS))]
        heights = [load(case) for _, load in LOADS]
        colour, hatch = COLOURS[ways.index(case.way)], HATCHES[keys.index(case.keys)]
        fill = colour if not hatch else "white"
        axes.bar(places, heights, 0.88 * width, color=fill, edgecolor=colour, hatch=hatch, linewidth=0.8)
        for at, height in zip(places, heights, strict=True):
            axes.text(at, height, f" {height:.2f}", ha="center", va="bottom", fontsize=7, rotation=90)
    axes.axhline(1, color="#444444", linewidth=0.7, linestyle="--", zorder=0)
    axes.set_xticks(range(len(LOADS)), [name for name, _ in LOADS])
    axes.set_title(f"at {size:,} subscriptions (hatched: {keys[-1]})", loc="left", fontsize=10)
    axes.set_ylim(0, 1.18 * max([1.0, *(load(case) for case in drawn for _, load in LOADS)]))
    _dress(axes)
    axes.tick_params(axis="x", length=0)


def _dress(axes: Axes) -> None:
    axes.grid(True, axis="y", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _kinds(cases: Sequence[Case]) -> tuple[list[str], list[str]]:
    """The ways and the distributions of keys, in the order in which they were measured."""
    return list(dict.fromkeys(case.way for case in cases)), list(dict.fromkeys(case.keys for case in cases))
