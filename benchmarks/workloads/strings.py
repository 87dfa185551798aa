"""Questions about the titles and authors of bibliographic records: beginnings, ends, words, pieces, and whole strings.

What is asked for is taken from a record drawn at random, so the frequent is asked for often. Half of the
subscriptions of each kind are about the title, half about any of the authors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from benchmarks.data import Publication

KINDS = ("prefix", "suffix", "word", "substring", "equality")
ATTRIBUTES = ("title", "authors")
SHORTEST_WORD, RARE = 4, 1_000  # words that say something: of four letters, and in at most one of a thousand titles
SHORTEST_PIECE, LONGEST_PIECE = 4, 12
AFFIX_LENGTHS = {"title": (8, 24), "authors": (4, 10)}


@dataclass(frozen=True, slots=True)
class StringQuestion:
    kind: str
    attribute: str
    piece: str

    def text(self) -> str:
        piece = self.piece.replace("\\", "\\\\").replace("'", "''")
        return TEMPLATES[self.kind].format(attribute=self.attribute, piece=piece)

    def holds(self, value: str) -> bool:
        return TESTS[self.kind](value, self.piece)


TEMPLATES = {
    "prefix": "startswith({attribute}, '{piece}')",
    "suffix": "endswith({attribute}, '{piece}')",
    "word": "{attribute} LIKE '%{piece}%'",  # words have neither a wildcard nor an escape in them
    "substring": "contains({attribute}, '{piece}')",
    "equality": "{attribute} = '{piece}'",
}
TESTS: dict[str, Callable[[str, str], bool]] = {
    "prefix": str.startswith,
    "suffix": str.endswith,
    "word": str.__contains__,
    "substring": str.__contains__,
    "equality": str.__eq__,
}


def questions(kind: str, records: list[Publication], count: int, seed: int = 5) -> list[StringQuestion]:
    """`count` questions of one kind, about titles and authors in turn."""
    chance = Random(f"{seed} {kind}")
    titles, names = [record.title for record in records], [name for record in records for name in record.authors]
    if kind == "word":
        sources = {"title": _telling_words(titles), "authors": _telling_words(names)}
    else:
        shortest = 1 if kind == "equality" else SHORTEST_PIECE
        sources = {"title": _at_least(shortest, titles), "authors": _at_least(shortest, names)}
    made = []
    for number in range(count):
        attribute = ATTRIBUTES[number % 2]
        made.append(StringQuestion(kind, attribute, _piece(kind, attribute, chance.choice(sources[attribute]), chance)))
    return made


def mixed(records: list[Publication], count: int) -> list[StringQuestion]:
    """As many of each kind."""
    share = -(-count // len(KINDS))
    return [question for kind in KINDS for question in questions(kind, records, share)][:count]


def _at_least(length: int, strings: list[str]) -> list[str]:
    return [string for string in strings if len(string) >= length]


def _telling_words(strings: list[str]) -> list[str]:
    words = [word for string in strings for word in string.split() if len(word) >= SHORTEST_WORD and word.isalpha()]
    often = Counter(words)
    rare = [word for word in words if often[word] <= max(1, len(strings) // RARE)]
    return rare or words


def _piece(kind: str, attribute: str, string: str, chance: Random) -> str:
    if kind in ("word", "equality"):
        return string
    if kind == "substring":
        length = min(len(string), chance.randint(SHORTEST_PIECE, LONGEST_PIECE))
        start = chance.randint(0, len(string) - length)
        return string[start : start + length]
    length = chance.randint(*AFFIX_LENGTHS[attribute])
    return string[:length] if kind == "prefix" else string[-length:]
