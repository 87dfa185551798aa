"""Paper 2's Table 1 as curves, and its Table 2 as bars with the published words beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tidings.lab.figures import COLOURS, GREY, Figure, Panel, Series, finish, plotting
from tidings.lab.results import Results
from tidings.lab.substring import ALGORITHMS
from tidings.lab.substring_claims import PUBLISHED, ROWS, verdicts


def _series(experiment: str, metric: str, axis: str) -> tuple[Series, ...]:
    on_pastry = tuple(
        Series(name, f"{experiment}-{name}-pastry", metric, axis, colour=colour)
        for name, colour in zip(ALGORITHMS, COLOURS, strict=False)
    )
    on_chord = tuple(
        Series(f"{name}, Chord", f"{experiment}-{name}-chord", metric, axis, colour=colour, dashed=True)
        for name, colour in zip(ALGORITHMS[:2], COLOURS, strict=False)
    )
    return on_pastry + on_chord


def _growth(name: str, title: str, x_label: str, axis: str, x_scale: str = "linear") -> Figure:
    return Figure(
        name,
        title,
        tuple(
            Panel(x_label, metric, _series(name, metric, axis), x_scale=x_scale, title=f"by {what}")
            for metric, what in (("messages per predicate", "subscription"), ("messages per value", "event"))
        ),
    )


FIGURES = (
    _growth("growth-peers", "Table 1: growth with the number of peers", "peers N", "peers", "log"),
    _growth("growth-length", "Table 1: growth with the length of strings", "length l of values and pieces", "length"),
)


def draw_overview(results: Results, note: str, folder: Path) -> tuple[Path, ...]:
    """Table 2: a row of bars for each of its measured rows."""
    plt = plotting()
    drawn, axes = plt.subplots(1, len(ROWS), figsize=(13, 3.6), layout="constrained", sharey=True)
    for at, (metric, row) in zip(axes, ROWS.items(), strict=True):
        values, words = verdicts(results, metric)
        _bars(at, values, words, PUBLISHED[metric])
        at.set(title=row, xlabel=metric)
        at.title.set_position((0, 1))
        at.title.set_ha("left")
    return finish(
        drawn, "table-2", "Table 2: the four algorithms on Pastry, our words and the published ones", note, folder
    )


def _bars(axes: Any, values: list[float], words: list[str], published: tuple[str, ...]) -> None:
    places = range(len(values))
    axes.barh(places, values, color=COLOURS[: len(values)], height=0.62)
    axes.set_yticks(places, ALGORITHMS)
    axes.invert_yaxis()
    axes.set_xlim(0, max(values) * 1.95)
    for place, value, word, said in zip(places, values, words, published, strict=True):
        shown = word if word == said else f"{word} (published: {said})"
        axes.annotate(
            f"{value:,.0f}  {shown}", (value, place), (4, 0), textcoords="offset points", va="center", fontsize=8.5
        )
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False, labelbottom=False, bottom=False)
    axes.xaxis.label.set_color(GREY)
