"""Every case of the conformance suite through Spark: one index for each of the settings, all events in one job.

The cases and what is expected of them are those of `tests/conformance`. Here every event also meets the subscriptions
of all other groups, but for those that only the reference can decide, which would take long: they are asked within
their group. Of the pairs of different groups, the embedded matcher over the same tables is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.case import Batch, Group
from conformance.groups import BATCHES, GROUPS, REFUSALS
from conformance.test_conformance import REFERENCE, fault_of, outcome_of
from matchers import Outcome, options_of
from spark.frames import Frames, frames_of, rows_of, together
from strategies import predicates_of, without_surrogates
from tidings import Matcher, Settings, parse
from tidings.model.predicates import Like, Matches, Regex, Similarity, XPath

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Key = tuple[str, str]  # the group or batch, and the id of the subscription there
Place = tuple[str, int]  # the group or batch, and the position of the event there


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of all groups and batches with the same settings."""

    pairs: set[tuple[Place, Key]]
    problems: set[tuple[Place, str | None]]
    unable: Mapping[Place, str]

    def outcome(self, name: str) -> Outcome:
        """The answer to one group or batch."""
        return Outcome(
            frozenset((place[1], key[1]) for place, key in self.pairs if place[0] == key[0] == name),
            frozenset((place[1], attribute) for place, attribute in self.problems if place[0] == name),
            {place[1]: reason for place, reason in self.unable.items() if place[0] == name},
        )


ALIKE: dict[str, list[Group | Batch]] = {}
_ALL: list[Group | Batch] = [*GROUPS, *BATCHES]
for _each in _ALL:
    ALIKE.setdefault(repr(getattr(_each, "settings", Settings())), []).append(_each)


SUITE = "the suite of the case"  # an attribute that all events have


def subscriptions_of(each: Group | Batch) -> Mapping[str, str]:
    found = each.subscriptions() if isinstance(each, Group) else each.subscriptions
    if not any(map(is_slow, found.values())):
        return found
    return {id: f"`{SUITE}` = '{each.name}' AND ({where})" for id, where in found.items()}


def is_slow(where: str) -> bool:
    return any(
        isinstance(each, Regex | Matches | Similarity | XPath) or (isinstance(each, Like) and each.ignore_case)
        for each in predicates_of(parse(where))
    )


def events_of(each: Group | Batch) -> list[Mapping[str, Any]]:
    events = [case.event for case in each.cases] if isinstance(each, Group) else list(each.events)
    return [{**event, SUITE: each.name} for event in events]


@pytest.fixture(scope="module")
def answers(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answered]:
    """By the name of a group or batch."""
    found: dict[str, Answered] = {}
    for number, some in enumerate(ALIKE.values()):
        answered = ask(spark, some, tmp_path_factory.mktemp("conformance") / str(number))
        found |= {each.name: answered for each in some}
    return found


def ask(spark: SparkSession, some: list[Group | Batch], path: Path, uncompiled: int = 0) -> Answered:
    from tidings.spark import compile_index, match, problems

    keys = [(each.name, id) for each in some for id in subscriptions_of(each)]
    places = [(each.name, position) for each in some for position in range(len(events_of(each)))]
    wheres = [where for each in some for where in subscriptions_of(each).values()]
    table = spark.createDataFrame(list(enumerate(wheres)), "id int, where string")
    settings = getattr(some[0], "settings", Settings())
    made = compile_index(table, path, **options_of(settings), segments=2, uncompiled=uncompiled, progress=False)
    assert (made.added, made.refused) == (len(wheres), 0), made.errors.collect()
    carried = frames_of(spark, [event for each in some for event in events_of(each)])
    pairs = rows_of(together([match(frame, path) for frame in carried.frames]))
    told = rows_of(together([problems(frame, path) for frame in carried.frames]).select("event_id", "attribute"))
    assert len(set(pairs)) == len(pairs), "a match was given twice"
    must_be_as_embedded(path, carried, set(pairs), set(told))
    return Answered(
        {(places[event], keys[id]) for event, id in pairs if places[event][0] == keys[id][0]},
        {(places[event], attribute) for event, attribute in told},
        {places[position]: reason for position, reason in carried.unable.items()},
    )


@pytest.mark.slow
def test_one_by_one(spark: SparkSession, tmp_path: Path) -> None:
    """What is not compiled answers as the embedded matcher does."""
    for number, some in enumerate(ALIKE.values()):
        ask(spark, some, tmp_path / str(number), uncompiled=10_000)


def must_be_as_embedded(
    path: Path, carried: Frames, pairs: set[tuple[int, int]], told: set[tuple[int, str | None]]
) -> None:
    matcher, found, problems = Matcher.load(path), set[tuple[int, int]](), set[tuple[int, str | None]]()
    for table in carried.tables:
        answer = matcher.match_many(table, on_error=lambda each: problems.add((int(str(each.event)), each.attribute)))
        found |= set(zip(answer["event"].to_pylist(), answer["subscription"].to_pylist(), strict=True))
    assert pairs == found
    assert told == problems


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_cases(answers: dict[str, Answered], group: Group, subtests: pytest.Subtests) -> None:
    outcome, reference = answers[group.name].outcome(group.name), outcome_of(REFERENCE.name, group.name)
    able = {pair for pair in reference.pairs if outcome.why_not(*pair) is None}
    assert outcome.pairs == able
    said = Outcome(outcome.pairs, None, outcome.unable)  # more is read, and so reported, than the group asks about
    for position, case in enumerate(group.cases):
        fault = fault_of(case, position, said)
        reported = {attribute for event, attribute in outcome.problems or () if event == position}
        unable = outcome.why_not(position)
        if unable is not None or fault is not None or not reported >= set(case.unreadable):
            with subtests.test(case.name):
                if unable is not None:
                    pytest.skip(f"Spark cannot carry it: {unable}")
                pytest.fail(f"{fault}, {reported} was reported: {case.where} on {case.event}", pytrace=False)


@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_batch(answers: dict[str, Answered], batch: Batch) -> None:
    outcome = answers[batch.name].outcome(batch.name)
    if outcome.unable:
        pytest.skip("; ".join(sorted(set(outcome.unable.values()))))
    assert outcome.pairs == batch.pairs
    assert outcome.problems is not None
    assert outcome.problems >= batch.problems


def test_refusals(spark: SparkSession, tmp_path: Path) -> None:
    from tidings.spark import compile_index

    able = [each for each in REFUSALS if without_surrogates(each.where)]  # a table of Spark cannot hold the others
    table = spark.createDataFrame([(each.name, each.where) for each in able], "id string, where string")
    made = compile_index(table, tmp_path / "index", progress=False)
    assert (made.added, made.refused) == (0, len(able))
    assert {row["id"] for row in made.errors.collect()} == {each.name for each in able}
