"""Paper 2's claims against our results: Table 1 as growth, Table 2 as numbers from which verdicts follow."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from tidings.lab.claims import AGREES, DIFFERS, PARTLY, Claim
from tidings.lab.results import Results
from tidings.lab.substring import ALGORITHMS

SCALE = ("Very Good", "Good", "Bad", "Very Bad")
# One rule for all rows, as the paper states none: up to how many times the best of the four each word reaches.
BOUNDS = (1.5, 2.0, 3.0)
NOISE = 0.05  # of a mean over repetitions
PUBLISHED: Mapping[str, tuple[str, str, str, str]] = {
    "messages per event": ("Very Bad", "Very Good", "Very Good", "Very Good"),
    "bytes sent per event": ("Good", "Bad", "Good", "Very Bad"),
    "identifiers found per event": ("Very Good", "Bad", "Very Good", "Bad"),
}
ROWS = {
    "messages per event": "Number of Messages (events)",
    "bytes sent per event": "Total Network Traffic",
    "identifiers found per event": "Result Set Sizes",
}


def claims(results: Results) -> list[Claim]:
    return [*_growth_with_peers(results), *_growth_with_length(results), *_overview(results)]


def _growth_with_peers(results: Results) -> list[Claim]:
    """From the smallest to the largest network messages grow by no larger a factor than log N does."""
    found = []
    for algorithm, overlay in _runs():
        name = f"growth-peers-{algorithm}-{overlay}"
        for metric in ("messages per predicate", "messages per value"):
            curve = results.curve(name, metric, "peers")
            (fewest, least, _), (most, largest, _) = curve[0], curve[-1]
            allowed, grown = log(most) / log(fewest), largest / least
            found.append(
                Claim(
                    "Table 1",
                    f"{algorithm} on {overlay.title()}: {metric} grow no faster than log N",
                    "O(log N) for strings of one length",
                    f"{least:.2f} at N = {fewest:.0f}, {largest:.2f} at {most:.0f}: {grown:.2f} times, log N "
                    f"{allowed:.2f} times",
                    AGREES if grown <= allowed * (1 + NOISE) else DIFFERS,
                )
            )
    return found


def _runs() -> list[tuple[str, str]]:
    return [*((name, "pastry") for name in ALGORITHMS), ("complete-IND", "chord"), ("ngrams-IND", "chord")]


def _growth_with_length(results: Results) -> list[Claim]:
    """Exponents of growth between length 4 and 8, against the exponent that Table 1 allows."""
    allowed = {
        "complete-IND": (0.0, 2.0, "1", "l²"),
        "ngrams-IND": (1.0, 1.0, "l", "l"),
        "complete-PS": (1.0, 2.0, "l", "l²"),
        "ngrams-PS": (1.0, 1.0, "l n", "l n"),
    }
    found = []
    for algorithm, (store, event, store_says, event_says) in allowed.items():
        name = f"growth-length-{algorithm}-pastry"
        for metric, most, says in (
            ("messages per predicate", store, store_says), ("messages per value", event, event_says),
        ):  # fmt: skip
            curve = {length: mean for length, mean, _ in results.curve(name, metric, "length")}
            exponent = log(curve[8.0] / curve[4.0]) / log(2)
            # n-grams: l - 1 of them, 3 at length 4 and 7 at length 8, so an exponent of 1.22 is linear growth.
            is_within = exponent <= most + 0.35
            found.append(
                Claim(
                    "Table 1",
                    f"{algorithm}: {metric} grow no faster than {says}",
                    f"O({says}) times or plus log N",
                    f"{curve[2.0]:.2f}, {curve[4.0]:.2f}, {curve[8.0]:.2f} at length 2, 4, 8; exponent from 4 to 8: "
                    f"{exponent:.2f}",
                    AGREES if is_within else DIFFERS,
                )
            )
    return found


def verdicts(results: Results, metric: str) -> tuple[list[float], list[str]]:
    """The numbers of the four algorithms, and the words that their ratio to the best gives."""
    values = [results.value(f"overview-{algorithm}-pastry", metric) for algorithm in ALGORITHMS]
    words = []
    for value in values:
        ratio = value / min(values)
        words.append(SCALE[sum(ratio > bound for bound in BOUNDS)])
    return values, words


def _overview(results: Results) -> list[Claim]:
    found = [_flexibility(results), _state(results)]
    for metric, row in ROWS.items():
        values, words = verdicts(results, metric)
        published = PUBLISHED[metric]
        for algorithm, value, word, said in zip(ALGORITHMS, values, words, published, strict=True):
            apart = abs(SCALE.index(word) - SCALE.index(said))
            found.append(
                Claim(
                    "Table 2",
                    f"{row}: {algorithm}",
                    said,
                    f"{value:,.0f} {metric}, {value / min(values):.2f} times the best: {word}",
                    AGREES if apart == 0 else PARTLY if apart == 1 else DIFFERS,
                    "" if apart == 0 else "the paper gives no bounds between its words; ours, for all rows, are "
                    + ", ".join(f"{bound:g}" for bound in BOUNDS) + " times the best",
                )
            )  # fmt: skip
    return found


def _flexibility(results: Results) -> Claim:
    ran = [
        f"{algorithm} {results.value(f'overview-{algorithm}-{overlay}', 'messages per event'):.0f} on {overlay.title()}"
        for algorithm in ("complete-IND", "ngrams-IND")
        for overlay in ("pastry", "chord")
    ]
    return Claim(
        "Table 2",
        "DHT Selection Flexibility: the IND algorithms run on any DHT, the PS ones do not",
        "YES, YES, NO, NO",
        f"messages per event: {', '.join(ran)}; string trees need Pastry's tables, and were run on it only",
        AGREES if not any(results.has(f"overview-{name}-chord") for name in ALGORITHMS[2:]) else DIFFERS,
    )


def _state(results: Results) -> Claim:
    pointers = [results.value(f"overview-{algorithm}-pastry", "pointers per peer") for algorithm in ALGORITHMS]
    is_so = pointers[0] == pointers[1] == 0 < min(pointers[2:])
    return Claim(
        "Table 2",
        "Extra Routing State: only the PS algorithms keep any",
        "NO, NO, YES, YES",
        "pointers per peer: " + ", ".join(f"{value:.1f}" for value in pointers),
        AGREES if is_so else DIFFERS,
    )
