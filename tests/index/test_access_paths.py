"""Every access path forced in turn: whichever predicate a conjunction is found by, the answer is the same.

Statistics that call one attribute very rare make it the access predicate of every conjunction that asks for it. The
same subscriptions are then matched in one part and in many, after a merge, and saved and loaded. Few subscriptions are
enough for a table, so that there are tables of all kinds, and every kind has to have answered something.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from index.tables import EVERY_KIND, kinds_that_answered
from tidings import Event, Matcher, parse
from tidings.index import assembling
from tidings.index.compiled import CompiledIndex
from tidings.planning.statistics import AttributeStatistics, EventStatistics
from tidings.reference import Reading, Settings, truth

TEXTS = ("ab", "abc", "ba", "cab", "bcab", "é")
# attribute -> the path by which it is found, and how it is asked
PATHS: dict[str, tuple[str, tuple[str, ...]]] = {
    "value": ("by value of value", ("value = '{t}'", "value = '{u}'")),
    "number": ("by value of number", ("number = {n}",)),
    "flag": ("by value of flag", ("flag = TRUE", "flag = FALSE")),
    "some": ("by value of some", ("some IN ('{t}', '{u}')",)),
    "upper": ("by upper bound of upper", ("upper <= {n}", "upper < {m}")),
    "lower": ("by lower bound of lower", ("lower >= {n}", "lower > {m}")),
    "span": ("by range of span", ("span BETWEEN {n} AND {m}",)),
    "pair": ("by pair of bounds of pair", ("pair >= {n} AND pair < {m}",)),
    "prefix": ("by prefix of prefix", ("prefix LIKE '{t}%'", "prefix LIKE '{t}%{u}'")),
    "suffix": ("by suffix of suffix", ("suffix LIKE '%{t}'", "suffix LIKE '%{t}_{u}'")),
    "inner": ("by substring of inner", ("inner LIKE '%{t}%'", "inner LIKE '%{t}_%'")),
    "every": ("by value of every", ("has_all(every, '{t}', '{u}')", "array_contains(every, '{t}')")),
    "one_of": ("by value of one_of", ("has_any(one_of, '{t}', '{u}')",)),
}  # fmt: skip
SCANNED = ("value <> '{t}'", "prefix > '{t}'", "NOT flag = TRUE AND number <> {n}")
SUBSCRIPTIONS, EVENTS = 240, 30


def question(chance: random.Random, attribute: str) -> str:
    return filled(chance, chance.choice(PATHS[attribute][1]))


def filled(chance: random.Random, text: str) -> str:
    low = chance.randrange(8)
    return text.format(t=chance.choice(TEXTS), u=chance.choice(TEXTS), n=low, m=low + chance.randrange(3))


def subscriptions(chance: random.Random, attribute: str) -> dict[str, str]:
    """Nearly all ask for the attribute, and most for two others."""
    made = {f"scanned{number}": filled(chance, text) for number, text in enumerate(SCANNED)}
    for number in range(SUBSCRIPTIONS):
        others = chance.sample([each for each in PATHS if each != attribute], k=chance.choice((0, 1, 2, 2)))
        made[f"s{number}"] = " AND ".join(question(chance, each) for each in (attribute, *others))
    return made


def event(chance: random.Random) -> dict[str, Any]:
    def number() -> Any:
        return chance.choice((chance.randrange(10), chance.randrange(10) + 0.5, [2, 7], None))

    def text() -> Any:
        return chance.choice((*TEXTS, "abcab", ["ab", "cab"], None))

    def array() -> list[str]:
        return chance.sample(TEXTS, k=chance.randrange(5))

    return {
        **{name: text() for name in ("value", "some", "prefix", "suffix", "inner")},
        **{name: number() for name in ("number", "upper", "lower", "span", "pair")},
        "flag": chance.choice((True, False, None)),
        "every": array(),
        "one_of": array(),
    }


def rare(attribute: str) -> EventStatistics:
    return EventStatistics({attribute: AttributeStatistics(present=1e-6, distinct=1)})


def index_of(wheres: dict[str, str], attribute: str, parts: int = 1) -> CompiledIndex:
    index = CompiledIndex(Settings(), rare(attribute))
    rows = [(id, where, parse(where)) for id, where in wheres.items()]
    for part in range(parts):
        index.take([*index.parts, index.built(rows[part::parts])])
    return index


def answers(index: CompiledIndex, rows: list[dict[str, Any]]) -> set[tuple[int, str]]:
    matcher = Matcher()
    matcher._index = index
    table = matcher.match_many([{**row, "id": number} for number, row in enumerate(rows)])
    return set(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))


@pytest.fixture(autouse=True)
def tables_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembling, "SMALLEST_GROUP", 2)


def test_every_kind_of_table_has_answered() -> None:
    """In the tests below together: else they would show nothing of those that are missing."""
    answered: set[int] = set()
    for attribute in PATHS:
        chance = random.Random(attribute)
        wheres, rows = subscriptions(chance, attribute), [event(chance) for _ in range(EVENTS)]
        index = index_of(wheres, attribute)
        answered |= kinds_that_answered(index.parts, {id for _, id in answers(index, rows)})
    assert answered == EVERY_KIND


@pytest.mark.parametrize("attribute", PATHS)
def test_the_answer_does_not_depend_on_the_path(attribute: str, tmp_path: Path) -> None:
    chance = random.Random(attribute)
    wheres, rows = subscriptions(chance, attribute), [event(chance) for _ in range(EVENTS)]
    expected = {
        (number, id)
        for number, row in enumerate(rows)
        for id, where in wheres.items()
        if truth(parse(where), Reading(Event.of(row))) is True
    }
    assert expected
    index = index_of(wheres, attribute)
    paths = [path for id in wheres for path in index.paths_of(id)]
    # Beside a value a range orders what the value leads to; some simplify to another form, or to nothing.
    found = [path for path in paths if path.startswith(PATHS[attribute][0]) or f" of {attribute}, " in path]
    assert len(found) >= 0.6 * len(paths), paths[:5]
    assert any(path.startswith(PATHS[attribute][0]) for path in paths)
    index.check()
    assert answers(index, rows) == expected
    several = index_of(wheres, attribute, parts=3)
    assert len(several.parts) == 3
    assert answers(several, rows) == expected
    several.take(several.merged(len(several.parts)))
    assert len(several.parts) == 1
    assert answers(several, rows) == expected
    matcher = Matcher()
    matcher._index = several
    matcher.save(tmp_path / "saved")
    loaded = Matcher.load(tmp_path / "saved")
    assert loaded._index is not None
    assert answers(loaded._index, rows) == expected
