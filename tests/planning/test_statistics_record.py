"""Statistics of events come back from JSON as they were."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strategies import EventSource, events
from tidings import Matcher, StoreError
from tidings.planning.statistics import learn_from_events
from tidings.planning.statistics_record import record_of, statistics_of

MOMENT = datetime(2026, 3, 2, 14, 30, tzinfo=UTC)
EVENTS: list[EventSource] = [
    {
        "n": 1,
        "s": "1",
        "b": True,
        "at": MOMENT,
        "d": Decimal("0.1"),
        "f": 1.5,
        "doc": f"<a x='{number}'/>",
        "raw": b"<b/>",
    }
    for number in range(3)
]


def test_every_kind_of_value_keeps_its_type() -> None:
    learned = learn_from_events(EVENTS)
    again = statistics_of(json.loads(json.dumps(record_of(learned))))
    assert again == learned
    common = {path: list(known.common) for path, known in again.attributes.items()}
    assert common["n"] == [1]
    assert common["s"] == ["1"]
    assert common["at"] == [MOMENT]
    assert set(again.attributes["doc"].documents) == {f"<a x='{number}'/>" for number in range(3)}
    assert again.attributes["doc"].strings == ()
    assert again.attributes["raw"].documents == (b"<b/>",) * 3


@given(st.lists(events(), max_size=5))
@example([{"x": math.nan}, {"x": math.nan}, {"x": Decimal("NaN")}])
@example([{"x": math.inf}, {"x": -math.inf}, {"x": [10**400, 1]}])
def test_what_is_learned_comes_back(sources: list[EventSource]) -> None:
    learned = learn_from_events(sources)
    assert statistics_of(json.loads(json.dumps(record_of(learned), allow_nan=False))) == learned


def test_a_folder_keeps_what_was_learned(tmp_path: Path) -> None:
    learned = learn_from_events(EVENTS)
    with Matcher(tmp_path / "kept") as matcher:
        matcher.add(1, "n = 1 AND s = '1'")
        matcher.learn(EVENTS)
        matcher.add(2, "n = 2")
        matcher.save(tmp_path / "saved")
    for folder in ("kept", "saved"):
        loaded = Matcher.load(tmp_path / folder)
        assert loaded._learned == learned
        assert loaded.match({"n": 1, "s": "1"}).ids == [1]
        assert loaded._compiled_index()._statistics == learned
    assert Matcher()._learned is None


def test_statistics_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with Matcher(tmp_path) as matcher:
        matcher.learn(EVENTS)
        assert matcher._store is not None
        writer = matcher._store._writer
        writer.commit([], {**writer.version.settings, "events": {"observed": 3}})
    with pytest.raises(StoreError, match=r"the statistics of events in .* cannot be used: 'attributes'"):
        Matcher.load(tmp_path)
