"""Similarity: profiles of queries, topics and parts of abstracts against abstracts, by words and in a latent space.

By words against scipy's sparse products, the honest alternative to an index, which have their vectors made beforehand
while tidings reads texts. In the latent space against the bare matrix product of numpy, without a comparison of its
outcome, in the same blocks and on one thread as we are. Counts are verified document by document.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from random import Random

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]  # without types

from benchmarks.alternatives.similarity_search import Array, Products, bare_products, reached, unit_places
from benchmarks.data import folder
from benchmarks.measuring import in_turn, report, same_counts, scaled
from tidings.analysis.latent import LatentSpace, fit
from tidings.analysis.statistics import TextStatistics, learn
from tidings.analysis.words import SIMPLE
from tidings.index.text.dictionary import Dictionary
from tidings.index.text.latent import PROFILES as PROFILES_OF_A_BLOCK
from tidings.index.text.latent import TEXTS, LatentEngine
from tidings.index.text.similarity import SimilarityEngine
from tidings.index.text.words import Reader, texts_of
from tidings.model.predicates import Attribute, Operator, Similarity

PROFILES = scaled(100_000)
DOCUMENTS = scaled(2_000, least=100)
LATENT_DOCUMENTS = scaled(500, least=100)
LATENT_SAMPLE = scaled(4_000, least=500)
DIMENSIONS = 200
THRESHOLDS = (0.4, 0.6, 0.8)
REPETITIONS = 3

ABSTRACTS, QUERIES, TOPICS = "text/acl_abstracts.jsonl.gz", "text/queries.tsv.gz", "text/trec_topics.jsonl.gz"
MADE_ABSTRACTS, MADE_WORDS = 8_000, 50_000
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Profiles, the documents they are asked of, a sample of other documents, and a word on where all come from."""

    profiles: list[str]
    documents: list[str]
    sample: list[str]
    where_from: str


def corpus(profiles: int, documents: int) -> Corpus:
    """Two fifths of the profiles are queries; with all topics, and with first halves of abstracts, a tenth; the others
    are sentences. Abstracts that parts are taken from are the documents too, so that some are similar indeed."""
    chance = Random(5)
    queries, topics, abstracts, where_from = _real() if (folder() / ABSTRACTS).exists() else _made(chance)
    chance.shuffle(abstracts)
    chance.shuffle(queries)
    documents = min(documents, len(abstracts) // 4)
    parts = [[part for part in _SENTENCE_END.split(abstract) if len(part) > 20] for abstract in abstracts]
    sentences, halves = [each for part in parts for each in part], [" ".join(part[: len(part) // 2]) for part in parts]
    for each in (sentences, halves):
        chance.shuffle(each)
    asked = [*topics[: profiles // 20], *halves[: profiles // 10], *queries[: 2 * profiles // 5]]
    asked += [sentences[number % len(sentences)] for number in range(profiles - len(asked))]
    chosen = [text for text in asked if SIMPLE.words(text)]
    return Corpus(chosen, abstracts[:documents], abstracts[documents:], where_from)


def _real() -> tuple[list[str], list[str], list[str], str]:
    abstracts = [record["abstract"] for record in _records(ABSTRACTS)]
    topics = [record[part] for record in _records(TOPICS) for part in ("title", "desc", "narr") if record.get(part)]
    with gzip.open(folder() / QUERIES, "rt", encoding="utf-8", newline="") as lines:
        queries = [row[2] for row in islice(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE), 1, None)]
    return queries, topics, abstracts, "real queries, TREC topics and abstracts of the ACL Anthology"


def _records(name: str) -> Iterator[dict[str, str]]:
    with gzip.open(folder() / name, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _made(chance: Random) -> tuple[list[str], list[str], list[str], str]:
    """The shape of the real ones: the n-th most common word n times more seldom than the first."""
    words = [f"w{rank}" for rank in range(1, MADE_WORDS + 1)]
    often = list(accumulate(1 / rank for rank in range(1, MADE_WORDS + 1)))

    def text(length: int) -> str:
        return " ".join(chance.choices(words, cum_weights=often, k=length))

    abstracts = [". ".join(text(chance.randint(10, 30)) for _ in range(6)) for _ in range(MADE_ABSTRACTS)]
    queries, topics = [text(chance.randint(1, 5)) for _ in range(50_000)], [text(40) for _ in range(3_000)]
    return queries, topics, abstracts, "made Zipf text (no TIDINGS_DATA)"


def questions(profiles: list[str], threshold: float, model: str | None = None) -> list[Similarity]:
    text = Attribute(("abstract",))
    return [Similarity(text, profile, Operator.GREATER_OR_EQUAL, threshold, model) for profile in profiles]


def run() -> None:
    given = corpus(PROFILES, DOCUMENTS)
    statistics = learn(given.sample, SIMPLE)
    print(f"\nsimilarity: {len(given.profiles):,} profiles, {len(given.documents):,} documents ({given.where_from})")
    run_words(given, statistics)
    run_latent(given, statistics)


def run_words(given: Corpus, statistics: TextStatistics) -> None:
    products, texts = Products(given.profiles, given.documents, SIMPLE, statistics), texts_of(given.documents)
    reader = Reader(Dictionary.build(statistics.document_frequency), SIMPLE)
    for threshold in THRESHOLDS:
        engine = SimilarityEngine.build(questions(given.profiles, threshold), SIMPLE, statistics)
        found = np.diff(engine.find(texts).start)
        same_counts(products.by_sparse_blocks(threshold), find=found, dense=products.by_dense_blocks(threshold))
        print(f"\n  at {threshold:g}: {found.mean():,.2f} profiles a document, verified")

        def reading() -> object:
            return reader.read(texts)

        def sparse_product(threshold: float = threshold) -> Array:
            return products.by_sparse_blocks(threshold)

        def dense_product(threshold: float = threshold) -> Array:
            return products.by_dense_blocks(threshold)

        def find(engine: SimilarityEngine = engine) -> object:
            return engine.find(texts)

        ways = in_turn(
            REPETITIONS, len(given.documents),
            sparse_product=sparse_product, dense_product=dense_product, find=find, reading_alone=reading,
        )  # fmt: skip
        report(f"threshold {threshold:g}", ways, "documents", base="dense_product", ours="find")


def run_latent(given: Corpus, statistics: TextStatistics) -> None:
    documents = given.documents[:LATENT_DOCUMENTS]
    space = fit(given.sample[:LATENT_SAMPLE], min(DIMENSIONS, LATENT_SAMPLE // 3), SIMPLE, statistics)
    print(f"\nlatent space: {space.dimensions} dimensions, {len(space.terms):,} terms, {len(documents):,} documents")
    with threadpool_limits(1):  # numpy's own threads: both sides have one core
        assert {each["num_threads"] for each in threadpool_info()} == {1}
        measure_latent(given.profiles, documents, space)


def measure_latent(asked: list[str], documents: list[str], space: LatentSpace) -> None:
    exact_places, exact_profiles = (unit_places(each, SIMPLE, space) for each in (documents, asked))
    places, profiles = exact_places.astype(np.float32), exact_profiles.astype(np.float32)
    texts = texts_of(documents)
    for threshold in THRESHOLDS:
        engine = LatentEngine.build(questions(asked, threshold, "lsi"), SIMPLE, space)
        found = np.diff(engine.find(texts).start)
        same_counts(reached(exact_places, exact_profiles, threshold, TEXTS), find=found)
        print(f"\n  at {threshold:g}: {found.mean():,.2f} profiles a document, verified")

        def bare() -> Array:
            return bare_products(places, profiles, TEXTS, PROFILES_OF_A_BLOCK)

        def comparing(threshold: float = threshold) -> Array:
            return reached(places, profiles, threshold, TEXTS)

        def find(engine: LatentEngine = engine) -> object:
            return engine.find(texts)

        ways = in_turn(REPETITIONS, len(documents), bare_product=bare, product_and_comparison=comparing, find=find)
        report(f"latent space, threshold {threshold:g}", ways, "documents", base="bare_product", ours="find")
