"""Spark answers as the reference does on subscriptions and events that hypothesis draws; all of them in one job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings

from spark.frames import frames_of, rows_of, together
from strategies import Batch, batches
from tidings import holds, print_expression

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = 100


def drawn() -> list[Batch]:
    """So many examples at once: a job for each would take a second for each."""
    found: list[Batch] = []

    @settings(max_examples=EXAMPLES, phases=[Phase.generate])
    @given(batches())
    def collect(batch: Batch) -> None:
        found.append(batch)

    collect()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("lists", [False, True], ids=["pairs", "lists"])
@pytest.mark.parametrize("uncompiled", [0, 10_000], ids=["compiled", "one by one"])
def test_spark_answers_as_the_reference(spark: SparkSession, tmp_path: Path, lists: bool, uncompiled: int) -> None:
    from tidings.spark import compile_index, match

    examples = drawn()
    wheres = [where for subscriptions, _ in examples for where in subscriptions]
    events: list[Any] = [event for _, sources in examples for event in sources if "id" not in event]
    carried = frames_of(spark, events)
    texts = [(f"s{number}", print_expression(where)) for number, where in enumerate(wheres)]
    table = spark.createDataFrame(texts, "id string, where string")
    made = compile_index(table, tmp_path / "index", segments=3, uncompiled=uncompiled, progress=False)
    assert (made.added, made.refused) == (len(wheres), 0), made.errors.collect()
    found = together([match(frame, tmp_path / "index", lists=lists) for frame in carried.frames])
    pairs = rows_of(found if not lists else found.selectExpr("event_id", "explode(subscription_ids)"))
    assert len(set(pairs)) == len(pairs)
    able = [number for number in range(len(events)) if number not in carried.unable]
    assert len(able) > len(events) / 2
    expected = {
        (event, f"s{number}") for event in able for number, where in enumerate(wheres) if holds(where, events[event])
    }
    wrong = {*pairs} ^ expected
    assert [(texts[int(id[1:])][1], events[event], (event, id) in expected) for event, id in wrong] == []
