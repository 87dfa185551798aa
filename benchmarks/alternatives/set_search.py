"""Sets without tidings: an inverted index of Python dicts, and DuckDB with one join for each kind of question.

Both store `has_all` under its rarest element, by the frequencies of the questions' own elements, which were drawn as
the events' are; what is found there is then verified. The index answers with ids, DuckDB with their number only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import duckdb
import pyarrow as pa

from benchmarks.workloads.sets import SetEvent, SetQuestion


def rarest_elements(questions: Sequence[SetQuestion]) -> list[str]:
    """For each question that one of its elements which the questions name least."""
    often = Counter(element for question in questions for element in question.elements)
    return [min(question.elements, key=often.__getitem__) for question in questions]


class Inverted:
    """From an element to those who ask for it: one dict for any, one for all with what else they ask for."""

    def __init__(self, questions: Sequence[SetQuestion]) -> None:
        self._any_author: dict[str, list[int]] = {}
        self._alone: dict[str, list[int]] = {}
        self._together: dict[str, list[tuple[int, frozenset[str]]]] = {}
        for number, (question, rarest) in enumerate(zip(questions, rarest_elements(questions), strict=True)):
            if question.kind != "has_all":
                for element in question.elements:
                    self._any_author.setdefault(element, []).append(number)
            elif len(question.elements) == 1:
                self._alone.setdefault(rarest, []).append(number)
            else:
                rest = frozenset(question.elements) - {rarest}
                self._together.setdefault(rarest, []).append((number, rest))

    def answers(self, event: SetEvent) -> list[int]:
        by_author: set[int] = set()  # one who asks for any of several authors may be found more than once
        for author in event.authors:
            by_author.update(self._any_author.get(author, ()))
        found = list(by_author)
        words = frozenset(event.words)
        for word in event.words:
            found += self._alone.get(word, ())
            found += [number for number, rest in self._together.get(word, ()) if rest <= words]
        return found


JOINS = (
    "SELECT count(*) FROM asks_contains s JOIN event_authors e ON s.element = e.element",
    """SELECT count(*) FROM asks_all s JOIN event_words e ON s.rarest = e.element
       WHERE len(s.elements) = 1 OR list_has_all(e.words, s.elements)""",
    """SELECT count(*) FROM (
       SELECT DISTINCT s.id, e.event FROM asks_any s JOIN event_authors e ON s.element = e.element)""",
)


class ByDuckDB:
    """Tables of the questions, their elements apart, and for each batch of events the three joins; one thread."""

    def __init__(self, questions: Sequence[SetQuestion]) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        rarest = rarest_elements(questions)
        numbered = list(enumerate(questions))
        single = [(number, each.elements[0]) for number, each in numbered if each.kind == "array_contains"]
        apart = [(number, element) for number, each in numbered if each.kind == "has_any" for element in each.elements]
        together = [(number, rarest[number], each.elements) for number, each in numbered if each.kind == "has_all"]
        self._store("asks_contains", ("id", "element"), single)
        self._store("asks_any", ("id", "element"), apart)
        self._store("asks_all", ("id", "rarest", "elements"), together)

    def _store(self, name: str, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
        given = pa.table([list(column) for column in zip(*rows, strict=True)], names=list(columns))
        self._connection.register("given", given)
        self._connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        self._connection.unregister("given")

    def count(self, events: pa.Table) -> int:
        run = self._connection.execute
        self._connection.register("events", events.append_column("event", pa.array(range(events.num_rows))))
        run("CREATE OR REPLACE TEMP TABLE event_authors AS SELECT event, unnest(authors) AS element FROM events")
        run("CREATE OR REPLACE TEMP TABLE event_words AS SELECT event, words, unnest(words) AS element FROM events")
        return sum(int(run(join).fetchall()[0][0]) for join in JOINS)
