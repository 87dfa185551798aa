"""What similarity is measured against in the benchmarks is right, in small: it counts what the definition finds."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from benchmarks.alternatives.similarity_search import Products, bare_products, reached, unit_places
from benchmarks.similarity import corpus, questions
from tidings.analysis.cosine import cosine
from tidings.analysis.latent import fit, latent_cosine
from tidings.analysis.statistics import learn
from tidings.analysis.words import SIMPLE
from tidings.index.text.similarity import SimilarityEngine
from tidings.index.text.words import texts_of

WORDS = ("fox", "hare", "red", "bank", "rates", "central", "the", "of")


def drawn(chance: Random, count: int, most: int) -> list[str]:
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, most))) for _ in range(count)]


@pytest.mark.parametrize("threshold", [0.3, 0.5, 1.0])
def test_the_products_count_what_the_definition_finds(threshold: float) -> None:
    chance = Random(2)
    profiles, documents = drawn(chance, 30, 4), [*drawn(chance, 20, 8), "unheard of"]
    statistics = learn(documents[:10], SIMPLE)
    products = Products(profiles, documents, SIMPLE, statistics)
    wanted = [
        sum(cosine(SIMPLE.words(profile), SIMPLE.words(document), statistics) >= threshold for profile in profiles)
        for document in documents
    ]
    assert products.by_sparse_blocks(threshold).tolist() == wanted
    assert products.by_dense_blocks(threshold).tolist() == wanted


def test_the_product_of_places_counts_what_the_definition_finds() -> None:
    chance = Random(4)
    sample = drawn(chance, 30, 8)
    space = fit(sample, 3, SIMPLE, learn(sample, SIMPLE))
    texts = [*drawn(chance, 20, 3), "unheard"]
    places = unit_places(texts, SIMPLE, space)
    exact = [space.project(SIMPLE.words(text)) for text in texts]
    wanted = [sum(latent_cosine(one, other) >= 0.61 for other in exact) for one in exact]
    assert reached(places, places, 0.61, 7).tolist() == wanted
    floats = places.astype(np.float32)
    assert np.allclose(bare_products(floats, floats, 9, 5), (floats @ floats.T)[18:, 20:])


def test_without_data_a_corpus_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("TIDINGS_DATA", str(tmp_path))
    monkeypatch.setattr("benchmarks.similarity.MADE_ABSTRACTS", 60)
    made = corpus(200, 10)
    assert (len(made.profiles), len(made.documents), len(made.sample)) == (200, 10, 50)
    statistics = learn(made.sample, SIMPLE)
    engine = SimilarityEngine.build(questions(made.profiles, 0.5), SIMPLE, statistics)
    counts = np.diff(engine.find(texts_of(made.documents)).start)
    products = Products(made.profiles, made.documents, SIMPLE, statistics)
    assert counts.tolist() == products.by_sparse_blocks(0.5).tolist()
    assert counts.sum() > 0
