"""Paper 1's figures, with its axes, and a few that go beyond it."""

from __future__ import annotations

from tidings.lab.figures import BLUE, COLOURS, GREY, ORANGE, Figure, Mark, Panel, Series
from tidings.lab.results import Results

SKEW_OF_ATTRIBUTES = "skew of the attributes' popularity (Zipf θ)"
SKEW_OF_VALUES = "skew of the values' popularity (Zipf θ)"
RELOCATED = {"relocate": True}
CV = "coefficient of variation over peers"
TRAFFIC = "identifiers sent per event"


def _four_times(results: Results) -> list[Mark]:
    curve = results.curve("ranges-share", "messages per subscription", "numeric_share")
    return [Mark(curve[-1][0], 4 * curve[0][1], "published: 4 times no ranges")]


def _pair(experiment: str, axis: str, **setting: object) -> tuple[Series, ...]:
    return (
        Series("access load", experiment, "access CV", axis, setting, ORANGE),
        Series("storage load", experiment, "storage CV", axis, setting, BLUE),
    )


def _by_first(label: str, metric: str, colour: str, relative: bool = False) -> tuple[Series, ...]:
    """Against the skew of attributes, by the kind of the most popular one."""
    return tuple(
        Series(
            f"{label}, {kind} first", "attribute-skew", metric, "attribute_skew", {"numbers_first": is_number}, colour,
            not is_number, relative,
        )
        for kind, is_number in (("numbers", True), ("strings", False))
    )  # fmt: skip


FIGURES = (
    Figure(
        "figure-7a", "Figure 7(a): the effect of ranges on the cost of subscriptions",
        (
            Panel(
                "share of numeric attributes", "messages per subscription",
                (Series("messages", "ranges-share", "messages per subscription", "numeric_share"),), _four_times,
            ),
        ),
    ),
    Figure(
        "figure-7b", "Figure 7(b): sub-ranges that a range is cut into",
        (
            Panel(
                "largest range size |R|", "sub-ranges",
                (
                    Series("most", "sub-ranges", "sub-ranges, most", "size", colour=ORANGE),
                    Series("mean", "sub-ranges", "sub-ranges, mean", "size"),
                ),
            ),
        ),
    ),
    Figure(
        "figure-7c", "Figure 7(c): load against the skew of attributes",
        (
            Panel(
                SKEW_OF_ATTRIBUTES, CV,
                (*_by_first("access load", "access CV", ORANGE), *_by_first("storage load", "storage CV", BLUE)),
            ),
        ),
    ),
    Figure(
        "figure-8a", "Figure 8(a): load against the skew of values",
        (
            Panel(
                SKEW_OF_VALUES, CV,
                (
                    *_pair("value-skew", "value_skew", relocate=False),
                    *(
                        Series(f"{load}, relocated", "value-skew", f"{load} CV", "value_skew", RELOCATED, colour, True)
                        for load, colour in (("access", ORANGE), ("storage", BLUE))
                    ),
                ),
            ),
        ),
    ),
    Figure(
        "figure-8b", "Figure 8(b): load against the number of replica forests",
        (
            Panel(
                "replication factor RF", CV, _pair("replication", "replicas"), x_scale="log",
            ),
        ),
    ),
    Figure(
        "figure-8c", "Figure 8(c): messages against the skew of attributes",
        (
            Panel(
                SKEW_OF_ATTRIBUTES, "messages",
                (
                    *_by_first("per subscription", "messages per subscription", BLUE),
                    *_by_first("per event", "messages per event", ORANGE),
                ),
            ),
        ),
    ),
    Figure(
        "section-5.3.2", "Section 5.3.2: network traffic of an event, as a multiple of that without skew",
        (
            Panel(
                SKEW_OF_VALUES, f"{TRAFFIC}, relative",
                (Series("traffic", "value-skew", TRAFFIC, "value_skew", {"relocate": False}, relative=True),),
                lambda _: [Mark(1.6, 5, "published: 5")], y_scale="log", y_ticks=(1, 2, 5, 10, 20, 50),
            ),
            Panel(
                SKEW_OF_ATTRIBUTES, f"{TRAFFIC}, relative",
                _by_first("traffic", TRAFFIC, BLUE, relative=True),
                lambda _: [Mark(1.6, 1 / 2.5, "published: 1 / 2.5")], y_scale="log",
                y_ticks=(1, 0.5, 0.2, 0.1, 0.05, 0.02),
            ),
        ),
    ),
    Figure(
        "failures", "Section 3.5: matches found when peers fail all at once",
        tuple(
            Panel(
                "share of the peers that failed", "share of the matches that events find",
                tuple(
                    Series(f"RF {count}", "failures", f"matches {when} repair", "failed", {"replicas": count}, colour)
                    for count, colour in zip((6, 4, 3, 2, 1), COLOURS, strict=False)
                ),
                title=f"{when} repair", y_percent=True,
            )
            for when in ("before", "after")
        ),
    ),
    Figure(
        "turning-back", "Beyond the paper: events that turn back where nothing is stored",
        (
            Panel(
                SKEW_OF_VALUES, "messages per event",
                tuple(
                    Series(label, "turning-back", "messages per event", "value_skew", {"whole_paths": whole}, colour)
                    for label, whole, colour in (("whole paths (paper)", True, GREY), ("turning back", False, BLUE))
                ),
            ),
        ),
    ),
)  # fmt: skip
