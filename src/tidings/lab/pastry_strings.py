"""Paper 1's experiments: PastryStrings with 1000 brokers, in bulk. One function for each kind of point.

Set-up as published: identifiers of five digits in base 15, strings of at most five characters, numbers 0 to 70000 in
five digits, up to 140,000 stored identifiers and 160,000 requests at a skew of 0, fewer at others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from tidings.lab.experiment import Experiment, Group, Parameters, Scale
from tidings.lab.workloads import (
    Predicates,
    StringsAndNumbers,
    Values,
    events,
    reversed_texts,
    subscriptions,
    vocabulary,
)
from tidings.overlay.bulk_tables import settled_pastry
from tidings.overlay.load import LoadSummary
from tidings.overlay.pastry_node import PastrySettings
from tidings.overlay.spaces import IdentifierSpace
from tidings.rendezvous.ranges import EvenDomain
from tidings.systems.pastry_strings.bulk import BulkForest, Contents
from tidings.systems.pastry_strings.covers import covers
from tidings.systems.pastry_strings.labels import Labels
from tidings.systems.pastry_strings.places import EQUALITY, LISTS, NUMERIC, PREFIX, SUFFIX, Places
from tidings.systems.pastry_strings.settings import ForestSettings

Integers: TypeAlias = NDArray[np.int64]
SPACE = IdentifierSpace(base=15, length=5)
LEAVES = 64  # so that a peer knows as many on a side as there are forests in any experiment
NOWHERE = -1


class Stores(NamedTuple):
    """One identifier to be stored a row."""

    subscription: Integers
    code: Integers
    list: Integers


class Walks(NamedTuple):
    """One walk of an event a row; `at_the_end` is -1 where no further list is asked there."""

    event: Integers
    code: Integers
    on_the_way: Integers
    at_the_end: Integers


class Setting(NamedTuple):
    """A network, its forest, and what is asked of it."""

    forest: BulkForest
    stores: Stores
    walks: Walks
    contents: Contents
    needed: Integers
    random: Generator
    homes: Integers  # peers of the subscriptions
    sources: Integers  # peers of the events


def workload_of(parameters: Parameters) -> StringsAndNumbers:
    names = [field.name for field in fields(StringsAndNumbers)]
    return StringsAndNumbers(**{name: parameters[name] for name in names if name in parameters})


def _values_of(parameters: Parameters) -> Parameters:
    """`distinct_values` is how many numbers and how many strings there are."""
    if "distinct_values" not in parameters:
        return {}
    return {"vocabulary": parameters["distinct_values"], "domain_size": parameters["distinct_values"]}


def forest_settings(parameters: Parameters, workload: StringsAndNumbers) -> ForestSettings:
    domain = EvenDomain(0, workload.domain_size - 1)
    return ForestSettings(
        depth=workload.longest,
        replicas=parameters.get("replicas", 1),
        levels=parameters.get("levels"),
        any_domain=domain,
        relocate=parameters.get("relocate", False),
        whole_paths=parameters.get("whole_paths", True),
    )


def set_up(parameters: Parameters, seed: int) -> Setting:
    random = default_rng(seed)
    workload = workload_of({"numbers_first": seed % 2 == 0, **parameters, **_values_of(parameters)})
    settings = forest_settings(parameters, workload)
    words = vocabulary(workload, random)
    asked = subscriptions(workload, words, random)
    stores = stores_of(asked, workload, settings)
    walks = walks_of(events(workload, words, random), workload, settings)
    tables = settled_pastry(SPACE.spread(parameters["peers"], seed), SPACE, PastrySettings(leaves=LEAVES))
    labels = np.concatenate((stores.code, walks.code)) if settings.whole_paths else stores.code
    forest = BulkForest(tables, settings, labels)
    contents = forest.contents(
        forest.find(stores.code), stores.list, stores.subscription, workload.attributes * len(LISTS)
    )
    needed = np.bincount(asked.subscription, minlength=workload.subscriptions)
    homes = random.integers(0, parameters["peers"], workload.subscriptions)
    sources = random.integers(0, parameters["peers"], workload.events)
    return Setting(forest, stores, walks, contents, needed, random, homes, sources)


def stores_of(asked: Predicates, workload: StringsAndNumbers, settings: ForestSettings) -> Stores:
    labels = Labels(SPACE.base, settings.depth)
    bases = _bases(workload, settings)[asked.attribute]
    is_number = asked.low >= 0
    texts = np.flatnonzero(~is_number)
    numbers = np.flatnonzero(is_number)
    cut = covers(asked.low[numbers] + bases[numbers], asked.high[numbers] + bases[numbers], SPACE.base, settings.depth)
    rows = np.concatenate((texts, numbers[cut.ranges]))
    codes = np.concatenate((labels.codes(asked.text[texts]), labels.of_numbers(cut.numbers, cut.free)))
    return Stores(asked.subscription[rows], codes, asked.attribute[rows] * len(LISTS) + asked.kind[rows])


def walks_of(values: Values, workload: StringsAndNumbers, settings: ForestSettings) -> Walks:
    labels = Labels(SPACE.base, settings.depth)
    bases = _bases(workload, settings)[values.attribute]
    numbers, texts = np.flatnonzero(values.number >= 0), np.flatnonzero(values.number < 0)
    rows = np.concatenate((numbers, texts, texts))
    codes = np.concatenate(
        (
            labels.of_numbers(values.number[numbers] + bases[numbers]),
            labels.codes(values.text[texts]),
            labels.codes(reversed_texts(values.text[texts])),
        )
    )
    kinds = np.repeat([LISTS.index(kind) for kind in (NUMERIC, PREFIX, SUFFIX)], (len(numbers), len(texts), len(texts)))
    of_attribute = values.attribute[rows] * len(LISTS)
    is_prefix = kinds == LISTS.index(PREFIX)
    at_the_end = np.where(is_prefix, of_attribute + LISTS.index(EQUALITY), NOWHERE)
    return Walks(values.event[rows], codes, of_attribute + kinds, at_the_end)


def _bases(workload: StringsAndNumbers, settings: ForestSettings) -> Integers:
    places = Places(settings, SPACE.base)
    return np.array([places.base_of_numbers(f"a{number}") for number in range(workload.attributes)], np.int64)


# What is measured at a point.


def measure_requests(parameters: Parameters, seed: int) -> Mapping[str, float]:
    """Messages, load and traffic of storing all subscriptions and publishing all events."""
    setting = set_up(parameters, seed)
    forest, stores, walks = setting.forest, setting.stores, setting.walks
    starts = setting.homes[stores.subscription]
    stored = [
        forest.walk(starts, stores.code, np.full(len(stores.code), replica)).messages.sum()
        for replica in range(forest.settings.replicas)
    ]
    sources = setting.sources[walks.event]
    replicas = setting.random.integers(0, forest.settings.replicas, len(walks.code))
    asked = forest.walk(sources, walks.code, replicas)
    traffic, found, answers = forest.carried(setting.contents, sources, *walks[1:], replicas)
    storage = LoadSummary.of(forest.stored(forest.find(stores.code)))
    access = LoadSummary.of(asked.passed_on + asked.visits)
    return {
        "messages per subscription": sum(stored) / len(setting.homes),
        "messages per event": (asked.messages.sum() + answers.sum()) / len(setting.sources),
        "identifiers sent per event": traffic.sum() / len(setting.sources),
        "identifiers found per event": found.sum() / len(setting.sources),
        "storage CV": storage.cv,
        "access CV": access.cv,
        "storage, most over mean": storage.most_over_mean,
        "access, most over mean": access.most_over_mean,
        "identifiers stored": float(len(stores.code) * forest.settings.replicas),
        "requests": float(len(walks.code)),
    }


def measure_sub_ranges(parameters: Parameters, seed: int) -> Mapping[str, float]:
    """Into how many sub-ranges ranges of 1 to `size` numbers, placed anywhere, are cut."""
    random = default_rng(seed)
    sizes = random.integers(1, parameters["size"] + 1, parameters["ranges"])
    lows = random.integers(0, StringsAndNumbers(0, 0).domain_size - sizes + 1)
    found = covers(lows, lows + sizes - 1, SPACE.base, SPACE.length)
    counts = np.bincount(found.ranges, minlength=len(sizes))
    return {"sub-ranges, mean": float(counts.mean()), "sub-ranges, most": float(counts.max())}


def measure_failures(parameters: Parameters, seed: int) -> Mapping[str, float]:
    """What events still find when a share of the peers has failed: before repair, and after it."""
    setting = set_up(parameters, seed)
    forest, stores = setting.forest, setting.stores
    gone = np.zeros(len(forest.tables.nodes), np.bool_)
    gone[setting.random.permutation(len(gone))[: round(parameters["failed"] * len(gone))]] = True
    is_held: NDArray[np.bool_] = ~np.asarray(gone[forest.hosts].all(axis=0))  # a copy of the Tnode is up
    is_reached = is_held.copy()
    for length in range(2, forest.settings.depth + 1):
        of_length = np.flatnonzero(forest.lengths == length)
        is_reached[of_length] &= is_reached[forest.parents[of_length]]
    total = _matches(setting, np.ones(len(stores.code), np.bool_))
    tnodes = forest.find(stores.code)
    return {
        "matches before repair": _matches(setting, is_reached[tnodes]) / total,
        "matches after repair": _matches(setting, is_held[tnodes]) / total,
        "identifiers kept": float(is_held[tnodes].mean()),
        "matches": float(total),
    }


def _matches(setting: Setting, is_there: NDArray[np.bool_]) -> int:
    """How many matches there are when only some of the stored identifiers are."""
    stores, forest = setting.stores, setting.forest
    contents = forest.contents(
        forest.find(stores.code[is_there]), stores.list[is_there], stores.subscription[is_there], setting.contents.lists
    )
    matched, _ = forest.matches(contents, *setting.walks, setting.needed)
    return len(matched)


# The grid.

_SKEWS = tuple(round(0.2 * step, 1) for step in range(9))
_SMALL = {"peers": 100, "subscriptions": 500, "events": 1_000}
_PUBLISHED = {"peers": 1_000, "subscriptions": 4_450, "events": 10_700}


def _scales(axes: Mapping[str, tuple[object, ...]], **fixed: object) -> dict[str, Scale]:
    return {"small": Scale(axes, {**_SMALL, **fixed}, 2), "published": Scale(axes, {**_PUBLISHED, **fixed}, 4)}


GROUP = Group(
    "pastrystrings",
    "PastryStrings: strings and numbers over Pastry (paper 1)",
    (
        Experiment(
            "ranges-share",
            "Figure 7(a): messages per subscription against the share of numeric attributes",
            measure_requests,
            _scales({"numeric_share": (0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0)}),
        ),
        Experiment(
            "sub-ranges",
            "Figure 7(b): sub-ranges against the size of ranges",
            measure_sub_ranges,
            {
                scale: Scale({"size": (10, 20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)}, fixed, 1)
                for scale, fixed in (("small", {"ranges": 5_000}), ("published", {"ranges": 100_000}))
            },
        ),
        Experiment(
            "attribute-skew",
            "Figures 7(c), 8(c) and section 5.3.2: load, messages and traffic against the skew of attributes",
            measure_requests,
            _scales({"attribute_skew": _SKEWS, "numbers_first": (True, False)}),
        ),
        Experiment(
            "value-skew",
            "Figure 8(a), sections 5.3.1 and 5.3.2: load, messages and traffic against the skew of values",
            measure_requests,
            _scales({"value_skew": _SKEWS, "relocate": (False, True)}),
        ),
        Experiment(
            "replication",
            "Figure 8(b): load against the number of replica forests",
            measure_requests,
            _scales({"replicas": (1, 2, 4, 8, 16, 32)}),
        ),
        Experiment(
            "distinct-values",
            "Section 5.3.2: how much of the effect of skew is due to the number of different values",
            measure_requests,
            _scales({"distinct_values": (100, 1_000, 10_000), "value_skew": (0.0, 1.6)}),
        ),
        Experiment(
            "turning-back",
            "Beyond the paper: messages per event when events turn back where nothing is stored",
            measure_requests,
            _scales({"value_skew": _SKEWS, "whole_paths": (False, True)}),
        ),
        Experiment(
            "failures",
            "Section 3.5: matches found when peers fail, against the number of replica forests",
            measure_failures,
            _scales({"replicas": (1, 2, 3, 4, 6), "failed": (0.0, 0.05, 0.1, 0.2, 0.3)}, whole_paths=False),
        ),
    ),
)
