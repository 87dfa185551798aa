"""Paper 1's claims against our results."""

from __future__ import annotations

from math import log

from tidings.lab.claims import AGREES, DIFFERS, NO_VALUE, PARTLY, Claim, correlation, falls, rises, verdict_of_factor
from tidings.lab.results import Results

SMALL_CHANGE = 0.15  # what "slightly" and "not affected" are taken to allow


def claims(results: Results) -> list[Claim]:
    return [
        *_ranges(results),
        *_attribute_skew(results),
        *_value_skew(results),
        _replication(results),
        *_messages(results),
        *_traffic(results),
        *_failures(results),
    ]


def _means(results: Results, experiment: str, metric: str, axis: str, **setting: object) -> list[float]:
    return [mean for _, mean, _ in results.curve(experiment, metric, axis, **setting)]


def _ends(values: list[float]) -> str:
    return f"{values[0]:.3g} to {values[-1]:.3g}"


def _ranges(results: Results) -> list[Claim]:
    messages = _means(results, "ranges-share", "messages per subscription", "numeric_share")
    stored = _means(results, "ranges-share", "identifiers stored", "numeric_share")
    factor, more = messages[-1] / messages[0], stored[-1] / stored[0]
    mean = results.curve("sub-ranges", "sub-ranges, mean", "size")
    most = results.curve("sub-ranges", "sub-ranges, most", "size")
    by_log = correlation([log(size) for size, _, _ in mean], [value for _, value, _ in mean])
    by_size = correlation([size for size, _, _ in mean], [value for _, value, _ in mean])
    return [
        Claim(
            "Figure 7(a)",
            "subscriptions cost more messages the more of their attributes are numeric",
            "rises",
            f"{_ends(messages)} messages",
            AGREES if rises(messages) else DIFFERS,
        ),
        Claim(
            "Figure 7(a)",
            "with numbers only they cost four times as many as with strings only",
            "4",
            f"{factor:.2f}",
            verdict_of_factor(factor, 4),
            f"a subscription of numbers is stored {more:.2f} times as often (in base 15 a range of up to 20 numbers is "
            f"mostly cut into single ones); the rest, {factor / more:.2f}, is the path: five digits against strings of "
            "one to five characters. The paper does not say how long its strings are.",
        ),
        Claim(
            "Figure 7(b)",
            "the number of sub-ranges grows with the logarithm of the range",
            "logarithmic",
            f"{_ends([value for _, value, _ in mean])} on average; correlation with log size {by_log:.3f}, with size "
            f"{by_size:.3f}",
            AGREES if by_log > by_size and by_log > 0.95 else DIFFERS,
        ),
        Claim(
            "Figure 7(b)",
            "the most sub-ranges of a range of up to 1000",
            "not legible in the text that we have",
            f"{most[-1][1]:.0f}",
            NO_VALUE,
            "the bound, 2 (β - 1) for each of the three lengths of interval that fit into 1000, is 84",
        ),
    ]  # fmt: skip


def _by_first(results: Results, metric: str) -> dict[str, list[float]]:
    """Against the skew of attributes, by the kind of the most popular attribute, which the paper does not state."""
    return {
        name: _means(results, "attribute-skew", metric, "attribute_skew", numbers_first=is_number)
        for name, is_number in (("numbers first", True), ("strings first", False))
    }


def _both(values: dict[str, list[float]]) -> str:
    return ", ".join(f"{name} {_ends(curve)} ({curve[-1] / curve[0] - 1:+.0%})" for name, curve in values.items())


def _attribute_skew(results: Results) -> list[Claim]:
    found = []
    for load in ("storage", "access"):
        values = _by_first(results, f"{load} CV")
        changes = [curve[-1] / curve[0] - 1 for curve in values.values()]
        is_slight_rise = all(0 < change <= 2 * SMALL_CHANGE for change in changes)
        found.append(
            Claim(
                "Figure 7(c)",
                f"{load} CV rises slightly with the skew of attributes",
                "slight rise",
                _both(values),
                AGREES if is_slight_rise else PARTLY if max(changes) > 0 else DIFFERS,
                ""
                if is_slight_rise
                else "with skew most requests go to the trees of the most popular attribute's kind. "
                "Numbers up to 70000 have only two of the fifteen first digits, strings have all: it depends on that "
                "kind, which the paper does not state",
            )
        )
    return found


def _value_skew(results: Results) -> list[Claim]:
    storage = _means(results, "value-skew", "storage CV", "value_skew", relocate=False)
    access = _means(results, "value-skew", "access CV", "value_skew", relocate=False)
    moved = _means(results, "value-skew", "storage CV", "value_skew", relocate=True)
    without, with_it = storage[-1] / storage[0], moved[-1] / moved[0]
    is_flat = with_it <= 1 + SMALL_CHANGE
    return [
        Claim(
            "Figure 8(a)",
            "access and storage CV rise with the skew of values",
            "both rise",
            f"storage {_ends(storage)}, access {_ends(access)}",
            AGREES if rises(storage[2:]) and access[-1] > access[0] and storage[-1] > storage[0] else DIFFERS,
        ),
        Claim(
            "section 5.2.1",
            "with relocated domains the storage CV is not affected by skewed values",
            "not affected",
            f"{_ends(moved)} with relocation ({with_it:.2f} times), {_ends(storage)} without ({without:.2f} times)",
            AGREES if is_flat else PARTLY if with_it < without else DIFFERS,
            "" if is_flat else "relocation parts the attributes, so that their hot values lie at different peers, and "
            f"takes off {1 - (moved[-1] - moved[0]) / (storage[-1] - storage[0]):.0%} of the rise; within an attribute "
            "the Tnode of its hottest value stays as full as it is, and strings are not relocated at all",
        ),
    ]  # fmt: skip


def _replication(results: Results) -> Claim:
    storage = _means(results, "replication", "storage CV", "replicas")
    access = _means(results, "replication", "access CV", "replicas")
    is_less_even = all(one > other for one, other in zip(access, storage, strict=True))
    return Claim(
        "Figure 8(b)",
        "both CV fall towards 0 as RF grows, and access is less even than storage",
        "both fall towards 0; access above storage",
        f"storage {_ends(storage)}, access {_ends(access)}; access above storage at "
        f"{'every RF' if is_less_even else 'some RF only'}",
        AGREES if falls(storage) and falls(access) and is_less_even else PARTLY,
    )


def _messages(results: Results) -> list[Claim]:
    by_first = [_by_first(results, f"messages per {what}") for what in ("subscription", "event")]
    curves = [curve for values in by_first for curve in values.values()]
    ratios = [
        one / other for name in by_first[0] for one, other in zip(by_first[0][name], by_first[1][name], strict=True)
    ]
    by_value = [
        _means(results, "value-skew", f"messages per {what}", "value_skew", relocate=False)
        for what in ("subscription", "event")
    ]
    changes = [max(values) / min(values) - 1 for values in by_value]
    is_flat = max(changes) <= SMALL_CHANGE
    return [
        Claim(
            "Figure 8(c)",
            "messages per event and per subscription fall as the skew of attributes grows",
            "both fall",
            f"subscription: {_both(by_first[0])}; event: {_both(by_first[1])}",
            AGREES if all(map(falls, curves)) else DIFFERS,
        ),
        Claim(
            "Figure 8(c)",
            "subscriptions need more messages than events",
            "more",
            f"{min(ratios):.2f} to {max(ratios):.2f} times as many",
            AGREES if min(ratios) > 1 else PARTLY,
            "" if min(ratios) > 1 else "where strings come first and little else is left, subscriptions are stored "
            "about once for each attribute, and an event walks twice for each string",
        ),
        Claim(
            "section 5.3.1",
            "the skew of values does not affect the number of messages",
            "not affected",
            f"subscription {_ends(by_value[0])} (spread {changes[0]:.0%}), event {_ends(by_value[1])} "
            f"(spread {changes[1]:.0%})",
            AGREES if is_flat else PARTLY,
            "" if is_flat else "popular ranges begin at small numbers, where intervals are aligned, and are cut into "
            "fewer pieces; events agree",
        ),
    ]  # fmt: skip


def _traffic(results: Results) -> list[Claim]:
    metric = "identifiers sent per event"
    values = _means(results, "value-skew", metric, "value_skew", relocate=False)
    by_first, stored = _by_first(results, metric), _by_first(results, "identifiers stored")
    up, downs = values[-1] / values[0], {name: curve[0] / curve[-1] for name, curve in by_first.items()}
    per_stored = {name: downs[name] / (curve[0] / curve[-1]) for name, curve in stored.items()}
    verdicts = {verdict_of_factor(down, 2.5) for down in downs.values()}
    by_count = [
        (count, _factor(results, count)) for count in (100, 1_000, 10_000)
    ]  # fmt: skip
    return [
        Claim(
            "section 5.3.2",
            "traffic rises by a factor of 5 as the skew of values goes from 0 to 1.6",
            "5",
            f"{up:.1f}",
            verdict_of_factor(up, 5),
            "the factor depends on how many different values there are, which the paper does not say: "
            + ", ".join(f"{factor:.1f} with {count:,}" for count, factor in by_count)
            + "; ours has 10,000 strings and 70,001 numbers",
        ),
        Claim(
            "section 5.3.2",
            "traffic falls by a factor of 2.5 as the skew of attributes goes from 0 to 1.6",
            "2.5",
            ", ".join(
                f"{name} {down:.1f} ({per_stored[name]:.1f} per stored identifier)" for name, down in downs.items()
            ),
            verdicts.pop() if len(verdicts) == 1 else PARTLY,
            "with the skew the number of stored identifiers falls too, as subscriptions have fewer attributes, and an "
            "event finds more under strings than under numbers; how attributes are drawn, and which kind comes first, "
            "the paper does not say",
        ),
    ]


def _factor(results: Results, count: int) -> float:
    metric = "identifiers sent per event"
    skewed = results.value("distinct-values", metric, distinct_values=count, value_skew=1.6)
    return skewed / results.value("distinct-values", metric, distinct_values=count, value_skew=0.0)


def _failures(results: Results) -> list[Claim]:
    kept = {
        replicas: results.value("failures", "matches after repair", replicas=replicas, failed=0.1)
        for replicas in (1, 2, 4)
    }
    reached = {
        replicas: results.value("failures", "matches before repair", replicas=replicas, failed=0.1)
        for replicas in (1, 2, 4)
    }
    is_better = kept[1] < kept[2] <= kept[4] and all(kept[count] >= reached[count] for count in kept)
    return [
        Claim(
            "section 3.5.2",
            "lists of peers that failed come back from a replica forest",
            "at least one replica is needed; no numbers",
            "with 10% of the peers gone at once, matches found before and after repair: "
            + ", ".join(f"RF {count}: {reached[count]:.2%} and {kept[count]:.2%}" for count in kept),
            AGREES if is_better else DIFFERS,
        )
    ]
