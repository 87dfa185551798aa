"""The figure of growth: cost of an event against the number of subscriptions, both axes logarithmic."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from benchmarks.measuring import Measured

# Told apart by colour-blind readers too (Okabe and Ito); the solid lines are the product's.
STYLES = (("#0072B2", "-", "o"), ("#0072B2", ":", "o"), ("#D55E00", "-", "s"), ("#D55E00", ":", "s"))
GREY = "#777777"
LINE_HEIGHT = 0.05  # of a label, as a share of the axis


@dataclass(frozen=True, slots=True)
class Label:
    text: str
    cost: float  # where its line ends
    colour: str


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    measured: dict[int, Measured]  # by number of subscriptions

    def microseconds(self) -> list[float]:
        return [1e6 / each.rate for each in self.measured.values()]

    def reach(self) -> list[list[float]]:
        """How far the fastest and the slowest repetition lie from the median, as matplotlib wants it."""
        ends = [(min(each.seconds) / each.count, max(each.seconds) / each.count) for each in self.measured.values()]
        middle = self.microseconds()
        below = [cost - 1e6 * fastest for cost, (fastest, _) in zip(middle, ends, strict=True)]
        above = [1e6 * slowest - cost for cost, (_, slowest) in zip(middle, ends, strict=True)]
        return [below, above]


def draw(lines: list[Line], file: Path) -> Path:
    """Writes the figure, and returns where it is."""
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 11}):
        figure = Figure(figsize=(8.4, 5), layout="constrained")
        axes = figure.add_subplot()
        _dress(axes, list(lines[0].measured))
        labels = [_linear_growth(axes, lines[0])]
        labels += [_line(axes, line, *style) for line, style in zip(lines, STYLES, strict=True)]
        _write(axes, labels)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None})
    return file


def _line(axes: Axes, line: Line, colour: str, dashes: str, marker: str) -> Label:
    sizes, cost = list(line.measured), line.microseconds()
    axes.errorbar(
        sizes, cost, yerr=line.reach(), color=colour, linestyle=dashes, marker=marker, markersize=5, capsize=3
    )
    return Label(line.name, cost[-1], colour)


def _linear_growth(axes: Axes, line: Line) -> Label:
    """Where the line would go if the cost of an event grew as the number of subscriptions does."""
    sizes, cost = list(line.measured), line.microseconds()[0]
    ends = [cost, cost * sizes[-1] / sizes[0]]
    axes.plot([sizes[0], sizes[-1]], ends, color=GREY, linestyle="--", linewidth=1, zorder=1)
    return Label("linear growth", ends[1], GREY)


def _write(axes: Axes, labels: list[Label]) -> None:
    """Each label to the right of its line's end, and above the one below it where two would overlap."""
    low, high = (log10(end) for end in axes.get_ylim())
    free = -1.0
    for label in sorted(labels, key=lambda label: label.cost):
        height = max(free, (log10(label.cost) - low) / (high - low))
        axes.text(1.02, height, label.text, color=label.colour, va="center", transform=axes.transAxes)
        free = height + LINE_HEIGHT


def _dress(axes: Axes, sizes: list[int]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda cost, _: f"{cost:,g}"))
    axes.set_xlim(sizes[0] * 0.8, sizes[-1] * 1.2)
    axes.set_xlabel("subscriptions")
    axes.set_ylabel("microseconds an event")
    axes.set_title("Cost of an event with ten matches, by number of subscriptions", loc="left", fontsize=12)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
