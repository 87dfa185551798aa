"""Sets, as in section 6.1 of the paper on the matching tree over Brushwood: authors, and words of titles.

An event has an array of its authors and one of the words of its title, in lower case and without words that say
nothing. Elements are asked for as often as they occur. Two fifths of the subscriptions ask for an author, two fifths
for one to three words together, one fifth for any of two to four authors. The paper's third kind, references, is not
in the records; the last kind here is not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pyarrow as pa

from benchmarks.data import Publication

KINDS = ("array_contains", "has_all", "has_any")
SHARES = (2, 2, 1)
GRAMMAR = (
    "a an and are as at be between by can for from how in into is it its not of on or over some that the their through "
    "to toward towards under use using via what when with within without"
)
SAYING_NOTHING = frozenset(GRAMMAR.split())


@dataclass(frozen=True, slots=True)
class SetQuestion:
    kind: str
    elements: tuple[str, ...]  # different ones

    @property
    def attribute(self) -> str:
        return "words" if self.kind == "has_all" else "authors"

    def text(self) -> str:
        literals = ", ".join("'" + each.replace("\\", "\\\\").replace("'", "''") + "'" for each in self.elements)
        return f"{self.kind}({self.attribute}, {literals})"


@dataclass(frozen=True, slots=True)
class SetEvent:
    authors: tuple[str, ...]
    words: tuple[str, ...]


def set_event(record: Publication) -> SetEvent:
    words = (word.strip(".,:;!?()[]\"'") for word in record.title.lower().split())
    telling = dict.fromkeys(word for word in words if word and word not in SAYING_NOTHING)
    return SetEvent(tuple(dict.fromkeys(record.authors)), tuple(telling))


def set_events_table(events: list[SetEvent]) -> pa.Table:
    strings = pa.list_(pa.string())
    columns = {"authors": [event.authors for event in events], "words": [event.words for event in events]}
    return pa.table({name: pa.array(lists, strings) for name, lists in columns.items()})


def set_questions(events: list[SetEvent], count: int, seed: int = 7) -> list[SetQuestion]:
    """Elements are drawn from all occurrences in the events, so by their frequency."""
    chance = Random(seed)
    authors = [name for event in events for name in event.authors]
    words = [word for event in events for word in event.words]
    made = []
    for kind in chance.choices(KINDS, SHARES, k=count):
        if kind == "array_contains":
            elements = [chance.choice(authors)]
        elif kind == "has_all":
            elements = chance.choices(words, k=chance.randint(1, 3))
        else:
            elements = chance.choices(authors, k=chance.randint(2, 4))
        made.append(SetQuestion(kind, tuple(dict.fromkeys(elements))))
    return made
