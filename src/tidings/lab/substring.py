"""Paper 2's experiments: the four substring algorithms with up to 800 brokers, in bulk.

Set-up as published: up to 100,000 stored identifiers and 560,000 requests, up to five attributes, Zipf. Identifiers of
peers have five digits in base 15 on Pastry and 32 bits on Chord; n-grams are of two characters, and so is the shortest
piece.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
from numpy.random import default_rng

from tidings.lab.experiment import Experiment, Group, Parameters, Scale
from tidings.lab.substring_bulk import Asked, Complete, Grams, Measured, measure_hashed, measure_treed
from tidings.lab.substring_workloads import Substrings, pieces, values, vocabulary
from tidings.overlay.bulk_tables import settled_chord, settled_pastry
from tidings.overlay.spaces import IdentifierSpace
from tidings.systems.substring_keys import SubstringSettings

DIGITS = IdentifierSpace(base=15, length=5)
RING = IdentifierSpace(base=2, length=32)
SETTINGS = SubstringSettings(gram=2, shortest=2, longest=8)
ALGORITHMS = ("complete-IND", "ngrams-IND", "complete-PS", "ngrams-PS")


def asked_of(parameters: Parameters, seed: int) -> Asked:
    random = default_rng(seed)
    names = [field.name for field in fields(Substrings)]
    chosen = {name: parameters[name] for name in names if name in parameters}
    if "length" in parameters:  # of all values and pieces
        chosen["value_lengths"] = chosen["piece_lengths"] = (parameters["length"],) * 2
    workload = Substrings(**chosen)
    words = vocabulary(workload, random)
    asked = pieces(workload, words, random)
    published = values(workload, random)
    homes = random.integers(0, parameters["peers"], workload.subscriptions)
    sources = random.integers(0, parameters["peers"], workload.events)
    return Asked(asked, homes, published, words, sources)


def run_algorithm(algorithm: str, overlay: str, peers: int, asked: Asked, seed: int) -> Measured:
    texts = Complete(SETTINGS) if algorithm.startswith("complete") else Grams(SETTINGS)
    if overlay == "chord":
        return measure_hashed(settled_chord(RING.spread(peers, seed), RING), texts, SETTINGS, asked)
    tables = settled_pastry(DIGITS.spread(peers, seed), DIGITS)
    if algorithm.endswith("PS"):
        return measure_treed(tables, texts, SETTINGS, asked)
    return measure_hashed(tables, texts, SETTINGS, asked)


def measure(parameters: Parameters, seed: int) -> Mapping[str, float]:
    asked = asked_of(parameters, seed)
    peers = parameters["peers"]
    found = run_algorithm(parameters["algorithm"], parameters["overlay"], peers, asked, seed)
    return {
        "messages per subscription": float(found.store_messages.mean()),
        "messages per event": float(found.event_messages.mean()),
        "messages per predicate": float(found.store_messages.sum() / len(asked.pieces.text)),
        "messages per value": float(found.event_messages.sum() / len(asked.published.word)),
        "identifiers sent per event": float(found.carried.mean()),
        "bytes sent per event": float(found.event_bytes.mean()),
        "identifiers found per event": float(found.collected.mean()),
        "pointers per peer": found.pointers / peers,
        "identifiers stored": float(found.stored.sum()),
        "storage CV": float(np.std(found.stored) / np.mean(found.stored)),
    }


_BOTH = (*((name, "pastry") for name in ALGORITHMS), ("complete-IND", "chord"), ("ngrams-IND", "chord"))


def _experiments(name: str, title: str, small: Scale, published: Scale) -> tuple[Experiment, ...]:
    """An experiment for each algorithm and overlay that it runs on."""
    return tuple(
        Experiment(
            f"{name}-{algorithm}-{overlay}",
            f"{title}: {algorithm} on {overlay.title()}",
            measure,
            {
                label: Scale(scale.axes, {**scale.fixed, "algorithm": algorithm, "overlay": overlay}, scale.repetitions)
                for label, scale in (("small", small), ("published", published))
            },
        )
        for algorithm, overlay in _BOTH
    )


_SMALL = {"subscriptions": 400, "events": 400}
_PUBLISHED = {"subscriptions": 3_000, "events": 3_000}
_LENGTHS = (2, 3, 4, 5, 6, 7, 8)

GROUP = Group(
    "substring",
    "Substring matching: complete and n-grams, on any DHT and in string trees (paper 2)",
    (
        *_experiments(
            "growth-peers",
            "Table 1, growth with N",
            Scale({"peers": (25, 50, 100, 200)}, {**_SMALL, "length": 5}, 2),
            Scale({"peers": (50, 100, 200, 400, 800, 1600, 3200)}, {**_PUBLISHED, "length": 5}, 3),
        ),
        *_experiments(
            "growth-length",
            "Table 1, growth with the length of strings",
            Scale({"length": _LENGTHS}, {**_SMALL, "peers": 100}, 2),
            Scale({"length": _LENGTHS}, {**_PUBLISHED, "peers": 800}, 3),
        ),
        *_experiments(
            "overview",
            "Table 2",
            Scale({"peers": (100,)}, {"subscriptions": 1_000, "events": 1_000}, 2),
            Scale({"peers": (800,)}, {"subscriptions": 15_400, "events": 14_000}, 3),
        ),
    ),
)
