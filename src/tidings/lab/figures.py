"""Figures as data, and one function that draws them: curves with their spread, and what the paper states as a mark.

Axes are those of the paper. A mark stands where the text of the paper gives a value; its curves are lost in the text
that we have, so only such values are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidings.lab.results import Results

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#3b6fb6", "#e07b39", "#4a9a5b", "#c44e52", "#8067b7", "#8c8c8c"
COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, GREY)
KINDS = ("svg", "png")


@dataclass(frozen=True, slots=True)
class Series:
    label: str
    experiment: str
    metric: str
    axis: str
    setting: Mapping[str, Any] = field(default_factory=dict)
    colour: str = BLUE
    dashed: bool = False
    relative: bool = False  # to the first point

    def points(self, results: Results) -> list[tuple[float, float, float]]:
        found = results.curve(self.experiment, self.metric, self.axis, **self.setting)
        unit = found[0][1] if self.relative and found else 1.0
        return [(x, mean / unit, sd / unit) for x, mean, sd in found]


@dataclass(frozen=True, slots=True)
class Mark:
    """What the paper states: where, and in which words."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    marks: Callable[[Results], Sequence[Mark]] = lambda _: ()
    title: str = ""
    x_scale: str = "linear"
    y_scale: str = "linear"
    y_ticks: tuple[float, ...] = ()
    y_percent: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    title: str
    panels: tuple[Panel, ...]

    def needs(self) -> set[str]:
        return {series.experiment for panel in self.panels for series in panel.series}


def draw(figure: Figure, results: Results, note: str, folder: Path) -> tuple[Path, ...]:
    """Writes the figure in all kinds; the files."""
    plt = plotting()
    wide = 6.6 if len(figure.panels) == 1 else 5.2 * len(figure.panels)
    drawn, axes = plt.subplots(1, len(figure.panels), figsize=(wide, 4.5), layout="constrained", squeeze=False)
    for panel, at in zip(figure.panels, axes[0], strict=True):
        _draw_panel(at, panel, results)
    _add_legends(drawn, axes[0], figure)
    return finish(drawn, figure.name, figure.title, f"{note}, shaded: one standard deviation", folder)


def _add_legends(drawn: Any, axes: Any, figure: Figure) -> None:
    """One for all panels where they show the same, outside of the curves; else one in each that has several."""
    labels = [tuple(series.label for series in panel.series) for panel in figure.panels]
    if len(labels) > 1 and len(labels[0]) > 1 and len(set(labels)) == 1:
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=9)
        return
    for at, shown in zip(axes, labels, strict=True):
        if len(shown) > 1:
            at.legend(frameon=False, fontsize=9)


def plotting() -> Any:
    import matplotlib

    matplotlib.use("agg")  # no window: reports are also made where there is no screen
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "tidings", "font.size": 10, "axes.titlesize": 10})  # the same file each time
    return plt


def finish(drawn: Any, name: str, title: str, note: str, folder: Path) -> tuple[Path, ...]:
    drawn.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=11)
    drawn.supxlabel(note, x=0.01, ha="left", fontsize=7.5, color=GREY)
    folder.mkdir(parents=True, exist_ok=True)
    files = tuple(folder / f"{name}.{kind}" for kind in KINDS)
    for file in files:
        drawn.savefig(file, dpi=140, metadata={"Date": None} if file.suffix == ".svg" else None)
    plotting().close(drawn)
    return files


def _draw_panel(axes: Any, panel: Panel, results: Results) -> None:
    for number, series in enumerate(panel.series):
        points = series.points(results)
        x, mean, sd = ([point[column] for point in points] for column in range(3))
        axes.plot(
            x, mean, color=series.colour, linestyle="--" if series.dashed else "-", marker="os^Dv<"[number % 6],
            markersize=4.5, linewidth=1.6, label=series.label,
        )  # fmt: skip
        low, high = ([m + sign * s for m, s in zip(mean, sd, strict=True)] for sign in (-1, 1))
        axes.fill_between(x, low, high, color=series.colour, alpha=0.15, linewidth=0)
    for mark in panel.marks(results):
        axes.plot([mark.x], [mark.y], marker="*", markersize=13, color=RED, linestyle="none", zorder=5)
        is_right = mark.x > sum(axes.get_xlim()) / 2
        axes.annotate(
            mark.text, (mark.x, mark.y), (-9 if is_right else 9, 2), textcoords="offset points", color=RED,
            ha="right" if is_right else "left", va="bottom", fontsize=9,
        )  # fmt: skip
    _finish_axes(axes, panel)


def _finish_axes(axes: Any, panel: Panel) -> None:
    from matplotlib.ticker import NullLocator, PercentFormatter, ScalarFormatter

    axes.set(xlabel=panel.x_label, ylabel=panel.y_label, xscale=panel.x_scale, yscale=panel.y_scale)
    if panel.x_scale == "log":
        axes.set_xticks(sorted({x for line in axes.get_lines() for x in line.get_xdata()}))
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_locator(NullLocator())
    if panel.y_percent:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_ylim(top=1.01)
    elif panel.y_scale == "linear":
        axes.set_ylim(bottom=0)
    if panel.y_ticks:
        axes.set_yticks(panel.y_ticks)
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.yaxis.set_minor_locator(NullLocator())
    if panel.title:
        axes.set_title(panel.title, loc="left")
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
