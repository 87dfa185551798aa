"""The demo's figure: how many events each subscription heard of in each batch, and when it was subscribed at all."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tidings.demo.report import Outcome, wishes


def draw(outcome: Outcome, file: Path) -> bool:
    """Writes the figure, and says whether it could."""
    if find_spec("matplotlib") is None:
        return False
    import matplotlib

    matplotlib.use("agg")  # no window: the demo also runs where there is no screen
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(
        2, 1, figsize=(8, 8.4), sharex=True, height_ratios=(1, 4.2), layout="constrained"
    )
    _bars(above, outcome)
    _cells(below, outcome)
    figure.suptitle("tidings demo: events delivered in each micro-batch", x=0.01, ha="left", weight="bold")
    figure.savefig(file, dpi=130)
    plt.close(figure)
    return True


def _bars(axes: Any, outcome: Outcome) -> None:
    matches = [len(batch.pairs) for batch in outcome.batches]
    axes.bar(range(len(matches)), matches, color="#4c78a8", width=0.7)
    for number, batch in enumerate(outcome.batches):
        axes.annotate(
            f"{len(batch.pairs):,}", (number, len(batch.pairs)), (0, 2), textcoords="offset points", ha="center"
        )
    axes.set_ylabel("matches")
    axes.set_ylim(0, max(matches) * 1.2)
    axes.spines[["top", "right"]].set_visible(False)


def _cells(axes: Any, outcome: Outcome) -> None:
    import numpy as np
    from matplotlib.patches import Rectangle

    asked = wishes()
    counts = [outcome.counts(wish.id) for wish in asked]
    values = np.array([[np.nan if count is None else count for count in row] for row in counts])
    axes.imshow(values, aspect="auto", cmap="Blues", vmin=0)
    most = np.nanmax(values)
    for row, line in enumerate(counts):
        for column, count in enumerate(line):
            if count is None:
                box = Rectangle(
                    (column - 0.5, row - 0.5), 1, 1, facecolor="#f2f2f2", hatch="///", edgecolor="#cccccc", lw=0
                )
                axes.add_patch(box)
            else:
                axes.text(column, row, f"{count:,}", ha="center", va="center", color="w" if count > 0.6 * most else "k")
    axes.set_yticks(range(len(asked)), [f"{wish.id}  ({wish.subscriber})" for wish in asked])
    versions = [f"batch {number + 1}\nversion {batch.version}" for number, batch in enumerate(outcome.batches)]
    axes.set_xticks(range(len(versions)), versions)
    axes.tick_params(length=0)
    half = len(outcome.batches) / 2 - 0.5
    axes.axvline(half, color="#e45756", lw=1.5, ls="--")
    axes.spines[:].set_visible(False)
    axes.set_xlabel(
        "micro-batch, and the version of the index it was matched with\n"
        "dashed: subscriptions change while the stream runs; hatched: not subscribed"
    )
