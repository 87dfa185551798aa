"""Paper 2's four algorithms counted over arrays: the messages and identifiers that `systems.substring` would send.

For one replica, in a network that does not change, with trees that are all there, and for subscriptions that ask for
substrings only. Deposits and visits are those of `systems.substring_keys`, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tidings.lab.substring_workloads import Pieces, Words
from tidings.overlay.bulk import route_all
from tidings.overlay.bulk_tables import PastryTables, Tables
from tidings.overlay.network import HEADER_BYTES
from tidings.rendezvous.substrings import grams
from tidings.systems.pastry_strings.bulk import BulkForest
from tidings.systems.pastry_strings.labels import Labels
from tidings.systems.pastry_strings.places import Places
from tidings.systems.pastry_strings.settings import ForestSettings
from tidings.systems.substring_keys import CompleteKeys, GramKeys, SubstringSettings

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Asked:
    """Subscriptions and events, and the places of the peers that they come from."""

    pieces: Pieces
    homes: Integers
    published: Words
    words: list[str]
    sources: Integers


class Measured(NamedTuple):
    """By subscription: messages. By event: messages, their bytes, identifiers that they carried and that arrived.

    `pointers` is what all peers together keep beside the tables of the overlay.
    """

    store_messages: Integers
    event_messages: Integers
    event_bytes: Integers
    carried: Integers
    collected: Integers
    stored: Integers  # by peer
    pointers: int


class Algorithm(Protocol):
    """How texts are made: what a piece is stored under, in order, and what a value visits, each once."""

    @property
    def longest(self) -> int: ...

    @property
    def item_bytes(self) -> int: ...

    def texts_of_piece(self, piece: str) -> Iterable[str]: ...

    def texts_of_value(self, value: str) -> Iterable[str]: ...


@dataclass(frozen=True, slots=True)
class Complete:
    settings: SubstringSettings

    @property
    def longest(self) -> int:
        return self.settings.longest

    @property
    def item_bytes(self) -> int:
        return CompleteKeys(self.settings).item_bytes

    def texts_of_piece(self, piece: str) -> Iterable[str]:
        return (piece[: self.longest],)

    def texts_of_value(self, value: str) -> Iterable[str]:
        return _stretches(value, self.settings.shortest, self.longest)


@dataclass(frozen=True, slots=True)
class Grams:
    settings: SubstringSettings

    @property
    def longest(self) -> int:
        return self.settings.gram

    @property
    def item_bytes(self) -> int:
        return GramKeys(self.settings).item_bytes

    def texts_of_piece(self, piece: str) -> Iterable[str]:
        return grams(piece, self.settings.gram)

    def texts_of_value(self, value: str) -> Iterable[str]:
        return _stretches(value, self.settings.shortest, self.settings.gram)


def _stretches(value: str, shortest: int, longest: int) -> Iterable[str]:
    return dict.fromkeys(
        value[at : at + length] for length in range(shortest, longest + 1) for at in range(len(value) - length + 1)
    )


class _Numbered:
    """Texts of attributes, numbered as they are met."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, str], int] = {}

    def of(self, attribute: int, texts: Iterable[str]) -> list[int]:
        return [self.numbers.setdefault((attribute, text), len(self.numbers)) for text in texts]


def _deposits(algorithm: Algorithm, asked: Asked, numbered: _Numbered) -> tuple[Integers, Integers]:
    """Subscription and text of each deposit."""
    owners, texts = [], []
    pieces = asked.pieces
    for subscription, attribute, piece in zip(
        pieces.subscription.tolist(), pieces.attribute.tolist(), pieces.text, strict=True
    ):
        found = numbered.of(attribute, algorithm.texts_of_piece(piece))
        texts += found
        owners += [subscription] * len(found)
    return np.array(owners, np.int64), np.array(texts, np.int64)


class _Visits(NamedTuple):
    event: Integers
    attribute: Integers
    item: Integers


def _visits(asked: Asked, of_value: Callable[[int, str], list[int]]) -> _Visits:
    """What `of_value` makes of the values of events, one a row; each distinct value of an attribute is made once."""
    published = asked.published
    made: dict[tuple[int, int], list[int]] = {}
    lists: list[list[int]] = []
    for attribute, word in zip(published.attribute.tolist(), published.word.tolist(), strict=True):
        if (attribute, word) not in made:
            made[attribute, word] = of_value(attribute, asked.words[word])
        lists.append(made[attribute, word])
    counts = np.array([len(each) for each in lists], np.int64)
    items = np.array([each for row in lists for each in row], np.int64)
    return _Visits(np.repeat(published.event, counts), np.repeat(published.attribute, counts), items)


def measure_hashed(tables: Tables, algorithm: Algorithm, settings: SubstringSettings, asked: Asked) -> Measured:
    """Texts at the owners of their hashes."""
    numbered = _Numbered()
    subscriptions, stored_texts = _deposits(algorithm, asked, numbered)
    events, _, visited = _visits(asked, lambda attribute, word: numbered.of(attribute, algorithm.texts_of_value(word)))
    keys = np.array(
        [tables.space.key_of(f"a{attribute}\0{text}", settings.seed) for attribute, text in numbered.numbers], np.int64
    )
    sizes = np.bincount(stored_texts, minlength=len(keys))
    stores = route_all(tables, asked.homes[subscriptions].astype(np.int32), keys[stored_texts])
    starts = asked.sources[events].astype(np.int32)
    visits = route_all(tables, starts, keys[visited])
    is_remote = visits.ends != starts
    found, count = sizes[visited], len(asked.sources)
    asking, answers = _sums(events, visits.hops, count), _sums(events, is_remote, count)
    carried = _sums(events, np.where(is_remote, found, 0), count)
    return Measured(
        _sums(subscriptions, stores.hops, len(asked.homes)),
        asking + answers,
        _bytes(asked, asking, answers, carried * algorithm.item_bytes),
        carried,
        _sums(events, found, count),
        np.bincount(stores.ends, minlength=len(tables.nodes)),
        0,
    )


def _bytes(asked: Asked, asking: Integers, answers: Integers, carried_bytes: Integers) -> Integers:
    """Of all messages of each event: headers, the event where it is asked with, and identifiers."""
    published = asked.published
    lengths = np.array([len(repr(word)) for word in asked.words], np.int64)[published.word]
    names = np.array([len(f"'a{number}': ") for number in range(int(published.attribute.max()) + 1)], np.int64)
    per_value = lengths + names[published.attribute] + len(", ")
    event_bytes = _sums(published.event, per_value, len(asked.sources)) + len("{}") - len(", ")
    return HEADER_BYTES * (asking + answers) + event_bytes * asking + carried_bytes


def _sums(groups: Integers, values: NDArray[np.integer], count: int) -> Integers:
    return np.bincount(groups, weights=values, minlength=count).astype(np.int64)


# In string trees.


class _Trees:
    """A forest in which all roots are planted and know each other; texts are labels."""

    def __init__(self, tables: PastryTables, algorithm: Algorithm, settings: SubstringSettings) -> None:
        self.tables = tables
        self.settings = ForestSettings(depth=algorithm.longest, seed=settings.seed)
        self.labels = Labels(tables.space.base, algorithm.longest)
        self.places = Places(self.settings, tables.space.base)
        self.shortest = settings.shortest

    def code(self, text: str) -> int:
        return self.labels.code(self.places.digits_of_text(text))

    def walks(self, value: str) -> list[int]:
        """Suffixes, without those that another one passes over; in the order in which they are walked."""
        depth = self.settings.depth
        paths = {self.places.digits_of_text(value[at:]) for at in range(len(value) - self.shortest + 1)}
        passed = {path[:length] for path in paths for length in range(1, min(len(path), depth))}
        return [self.labels.code(path) for path in sorted(paths - passed)]

    def plant(self, codes: Integers) -> BulkForest:
        roots = np.array([self.labels.code((digit,)) for digit in range(self.tables.space.base)], np.int64)
        return BulkForest(self.tables, self.settings, np.concatenate((roots, codes)))


def measure_treed(tables: PastryTables, algorithm: Algorithm, settings: SubstringSettings, asked: Asked) -> Measured:
    """Texts at Tnodes; with a table of all roots at every root."""
    trees, numbered = _Trees(tables, algorithm, settings), _Numbered()
    subscriptions, stored_texts = _deposits(algorithm, asked, numbered)
    codes = np.array([trees.code(text) for _, text in numbered.numbers], np.int64)[stored_texts]
    lists = np.array([attribute for attribute, _ in numbered.numbers], np.int64)[stored_texts]
    forest = trees.plant(codes)
    contents = forest.contents(forest.find(codes), lists, subscriptions, int(asked.published.attribute.max()) + 1)
    collected = _collected(algorithm, asked, numbered, np.bincount(stored_texts))
    walks = _visits(asked, lambda _, word: trees.walks(word))
    is_first = np.append(True, walks.event[1:] != walks.event[:-1])
    events, sources = walks.event[is_first], asked.sources[walks.event[is_first]]
    here = forest.hosts[0, forest.paths(walks.item[is_first])[1]]
    starts = here[np.cumsum(is_first) - 1]  # every walk sets out from the event's first root
    forests, nothing = np.zeros(len(starts), np.int64), np.full(len(starts), -1, np.int64)
    jumped = forest.hosts[0, forest.paths(walks.item)[1]] != starts
    walked = forest.walk(starts, walks.item, forests).walked
    carried, _, answers = forest.carried(contents, starts, walks.item, walks.attribute, nothing, forests)
    count, is_remote = len(asked.sources), here != sources
    asking = _sums(walks.event, jumped + walked, count)
    asking += _sums(events, _entering(forest, sources, walks.item[is_first]), count)
    answering = _sums(walks.event, answers, count) + _sums(events, is_remote, count)
    all_carried = _sums(walks.event, carried, count) + _sums(events, np.where(is_remote, collected[events], 0), count)
    return Measured(
        _store_messages(forest, subscriptions, codes, asked.homes),
        asking + answering,
        _bytes(asked, asking, answering, all_carried * algorithm.item_bytes),
        all_carried,
        collected,
        forest.stored(forest.find(codes)),
        int((forest.parents >= 0).sum()) + tables.space.base**2,
    )


def _collected(algorithm: Algorithm, asked: Asked, numbered: _Numbered, sizes: Integers) -> Integers:
    """Identifiers that each event finds, by event: those under its texts, each text once."""
    numbers = numbered.numbers
    found = _visits(
        asked,
        lambda attribute, word: [
            numbers[attribute, text] for text in algorithm.texts_of_value(word) if (attribute, text) in numbers
        ],
    )
    return _sums(found.event, sizes[found.item], len(asked.sources))


def _entering(forest: BulkForest, starts: Integers, codes: Integers) -> Integers:
    """Messages to the root: a route, or a jump where the start hosts a root, and so has a table of roots."""
    trees = forest.labels.cut(codes, np.ones(len(codes), np.int64))
    roots = forest.hosts[0, forest.find(trees)]
    routed = forest.walk(starts, trees, np.zeros(len(starts), np.int64)).routed
    has_table = np.isin(starts, forest.hosts[0, forest.lengths == 1])
    return np.where(has_table, roots != starts, routed)


def _store_messages(forest: BulkForest, subscriptions: Integers, codes: Integers, homes: Integers) -> Integers:
    """The first root is entered from home, the others from there."""
    entering = _entering(forest, homes[subscriptions], codes).tolist()
    roots = forest.hosts[0, forest.paths(codes)[1]].tolist()
    steps = forest.steps[0, forest.find(codes)].tolist()
    messages = np.zeros(len(homes), np.int64)
    before, here = -1, -1
    for number, subscription in enumerate(subscriptions.tolist()):
        home = int(homes[subscription])
        if subscription != before:
            before, here = subscription, home
        if here == home:
            messages[subscription] += entering[number]
            here = roots[number]
        messages[subscription] += (here != roots[number]) + steps[number]
    return messages
