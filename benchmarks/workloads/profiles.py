"""Text profiles and the abstracts they are asked of, as the paper on DHTrie builds them (its section 4.1).

A profile is a real search query, or is made of words and technical terms of one abstract: a technical term is a run of
telling words, asked for as a phrase or, with up to three words between, as a proximity chain. To that come what our
language has besides: OR, NOT and wildcard words. Profiles and document frequencies are of one part of the corpus, and
the documents that are matched of the other.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from benchmarks.data import folder
from tidings.analysis.statistics import TextStatistics, learn
from tidings.analysis.words import SIMPLE

ABSTRACTS, QUERIES = "text/acl_abstracts.jsonl.gz", "text/queries.tsv.gz"
LEARNED = 10_000  # abstracts that profiles and document frequencies are taken from
MADE, MADE_WORDS, MADE_VOCABULARY = 17_700, 91, 60_000
TELLING = 0.02  # the share of abstracts in which a telling word occurs at most
REAL_QUERIES = 0.2  # the share of profiles that are queries, as far as there are so many
# Kinds of profiles made from an abstract, and how many of a hundred are of each.
KINDS = {"words": 30, "term": 15, "word_and_term": 20, "proximity": 15, "either": 10, "without": 5, "wildcard": 5}


@dataclass(frozen=True, slots=True)
class Corpus:
    """`learned` abstracts and `queries` to make profiles from, and abstracts to match; `source` says what they are."""

    learned: list[str]
    queries: list[str]
    matched: list[str]
    source: str

    def statistics(self) -> TextStatistics:
        return learn(self.learned, SIMPLE)


def corpus() -> Corpus:
    """Real abstracts and queries where there are any, else made ones."""
    if not (folder() / ABSTRACTS).exists() or not (folder() / QUERIES).exists():
        return made_corpus(MADE)
    with gzip.open(folder() / ABSTRACTS, "rt", encoding="utf-8") as lines:
        abstracts = [json.loads(line)["abstract"] for line in lines]
    with gzip.open(folder() / QUERIES, "rt", encoding="utf-8") as lines:
        queries = [line.rstrip("\n").split("\t")[2] for line in lines][1:]
    Random(7).shuffle(abstracts)
    source = f"{len(abstracts):,} real abstracts of the ACL Anthology, {len(queries):,} real queries"
    return Corpus(abstracts[:LEARNED], [query for query in queries if query.strip()], abstracts[LEARNED:], source)


def made_corpus(count: int, seed: int = 8) -> Corpus:
    """Words by Zipf's law, abstracts of 91 words on average, which is what the paper's second corpus has."""
    chance = Random(seed)
    words = list({_word(chance) for _ in range(MADE_VOCABULARY)})
    often = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    sizes = [max(5, round(chance.gauss(MADE_WORDS, 30))) for _ in range(count)]
    abstracts = [" ".join(chance.choices(words, cum_weights=often, k=size)) for size in sizes]
    queries = [" ".join(chance.choices(words, cum_weights=often, k=chance.randint(1, 5))) for _ in range(count)]
    learned = count * LEARNED // MADE
    return Corpus(abstracts[:learned], queries, abstracts[learned:], "made Zipf text (no TIDINGS_DATA)")


def _word(chance: Random) -> str:
    return "".join(chance.choice("bcdfglmnprstv") + chance.choice("aeiou") for _ in range(chance.randint(1, 6)))


def profiles(of: Corpus, statistics: TextStatistics, count: int, seed: int = 9) -> list[str]:
    """`count` patterns: queries, no more of them than REAL_QUERIES, and the rest made from abstracts."""
    chance = Random(seed)
    queries = [" ".join(_quoted(word) for word in _words(query)) for query in of.queries]
    queries = [query for query in queries if query]
    real = queries[: round(count * REAL_QUERIES)]
    most = max(1, round(TELLING * statistics.documents))
    telling = {word for word, frequency in statistics.document_frequency.items() if frequency <= most}
    sources = [runs for runs in (list(_runs(text, telling)) for text in of.learned) if runs]
    kinds = chance.choices(list(KINDS), list(KINDS.values()), k=count - len(real))
    made = [MAKERS[kind](chance.choice(sources), chance) for kind in kinds]
    return real + made


def where(profile: str) -> str:
    """The profile as a subscription to abstracts."""
    escaped = profile.replace("\\", "\\\\").replace("'", "''")
    return f"matches(abstract, '{escaped}')"


# An abstract is here a list of runs, each a list of telling words that stand side by side


def _words(text: str) -> list[str]:
    return [word.text for word in SIMPLE.words(text)]


def _runs(text: str, telling: set[str]) -> Iterator[list[str]]:
    run: list[str] = []
    for word in _words(text):
        if word in telling:
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _quoted(word: str) -> str:
    return f'"{word}"'


def _some_words(runs: Sequence[list[str]], chance: Random, least: int, most: int) -> list[str]:
    flat = list(dict.fromkeys(word for run in runs for word in run))
    return chance.sample(flat, min(len(flat), chance.randint(least, most)))


def _term(runs: Sequence[list[str]], chance: Random) -> list[str]:
    """Two or three words side by side, where the abstract has such a run."""
    long = [run for run in runs if len(run) > 1] or runs
    run = chance.choice(long)
    size = min(len(run), chance.choice((2, 2, 3)))
    start = chance.randint(0, len(run) - size)
    return run[start : start + size]


def _phrase(term: Sequence[str]) -> str:
    return _quoted(" ".join(term))


def _chain(term: Sequence[str]) -> str:
    return " ->[0,3] ".join(map(_quoted, term))


def _conjunction(words: Sequence[str]) -> str:
    return " AND ".join(map(_quoted, words))


def _one_word(runs: Sequence[list[str]], chance: Random) -> str:
    return _quoted(chance.choice(chance.choice(runs)))


def _either(runs: Sequence[list[str]], chance: Random) -> str:
    words = _some_words(runs, chance, 3, 4)
    return f"({' OR '.join(map(_quoted, words[:2]))}) AND {_conjunction(words[2:] or words[:1])}"


def _without(runs: Sequence[list[str]], chance: Random) -> str:
    words = _some_words(runs, chance, 3, 3)
    return f"{_conjunction(words[:2])} AND NOT {_quoted(words[-1])}"


def _wildcard(runs: Sequence[list[str]], chance: Random) -> str:
    first, *others = _some_words(runs, chance, 2, 3)
    beginning = first[: max(4, len(first) - 3)]
    return " AND ".join([f"{beginning}*" if beginning.isalnum() else _quoted(first), *map(_quoted, others)])


MAKERS = {
    "words": lambda runs, chance: _conjunction(_some_words(runs, chance, 2, 4)),
    "term": lambda runs, chance: _phrase(_term(runs, chance)),
    "word_and_term": lambda runs, chance: f"{_one_word(runs, chance)} AND {_phrase(_term(runs, chance))}",
    "proximity": lambda runs, chance: f"{_one_word(runs, chance)} AND {_chain(_term(runs, chance))}",
    "either": _either,
    "without": _without,
    "wildcard": _wildcard,
}
