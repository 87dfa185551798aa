"""Adding, replacing, removing and reopening in any order: matchers in memory and on disk stay equal to a dict."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import tidings
from strategies import EventSource, events, expressions
from tidings.language.printer import print_expression
from tidings.model.event import Identifier
from tidings.reference import holds
from tidings.rows import Refused

INTEGERS = (0, 1, -1, 7, 2**63 - 1, -(2**63))
STRINGS = ("", "a", "A", "1", "é", "e\u0301", "x\0y", "x\0z", "it's", "%", "😀")
BAD_IDS: tuple[Any, ...] = (None, True, 1.0, 2**63, "\ud800", b"a", ("a",))
EXPRESSIONS, EVENTS = expressions(max_leaves=3), events()
NO_WHERES: tuple[Any, ...] = ("", "n =", "n == 1", "similarity(s, 'a', model => 'lsi') > 0.5", "s = '\ud800'", None, 5)
BAD_WHERES = st.sampled_from(NO_WHERES)
COMPILE_BEYOND = 2  # subscriptions: few, so that parts are made, changed and merged all the time


@st.composite
def wheres(draw: st.DrawFn) -> str:
    """Composite for its short name: hypothesis writes down the strategies of every rule."""
    return print_expression(draw(EXPRESSIONS))


@st.composite
def some_events(draw: st.DrawFn) -> EventSource:
    return draw(EVENTS)


class Matchers(RuleBasedStateMachine):
    """All matchers get every change; `model` is what they must hold. Two of them ask one by one, two compile."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="tidings-states-"))
        self.model: dict[Identifier, str] = {}
        self.ids: tuple[Identifier, ...] = ()
        self.other_ids: tuple[Identifier, ...] = ()
        self.matchers = [
            tidings.Matcher(),
            tidings.Matcher(uncompiled=COMPILE_BEYOND),
            tidings.Matcher(self.folder / "durable"),
            tidings.Matcher(self.folder / "compiled", uncompiled=COMPILE_BEYOND),
        ]

    @initialize(integers=st.booleans())
    def choose_kind_of_ids(self, integers: bool) -> None:
        self.ids, self.other_ids = (INTEGERS, STRINGS) if integers else (STRINGS, INTEGERS)

    def teardown(self) -> None:
        for matcher in self.matchers:
            matcher.close()
        shutil.rmtree(self.folder)

    def refused(self, change: Callable[[tidings.Matcher], object], error: type[Exception]) -> None:
        for matcher in self.matchers:
            with pytest.raises(error):
                change(matcher)

    # Changes

    @rule(data=st.data(), where=wheres())
    def add(self, data: st.DataObject, where: str) -> None:
        id = data.draw(st.sampled_from(self.ids))
        if id in self.model:
            self.refused(lambda matcher: matcher.add(id, where), tidings.IdentifierError)
        else:
            for matcher in self.matchers:
                matcher.add(id, where)
            self.model[id] = where

    @rule(data=st.data(), where=wheres())
    def add_or_replace(self, data: st.DataObject, where: str) -> None:
        id = data.draw(st.sampled_from(self.ids))
        for matcher in self.matchers:
            matcher.add(id, where, replace=True)
        self.model[id] = where

    @rule(data=st.data(), where=BAD_WHERES)
    def add_what_is_no_subscription(self, data: st.DataObject, where: Any) -> None:
        id = data.draw(st.sampled_from(self.ids))
        self.refused(lambda matcher: matcher.add(id, where, replace=True), tidings.TidingsError)

    @rule(id=st.sampled_from(BAD_IDS), where=wheres())
    def add_under_what_is_no_id(self, id: Any, where: str) -> None:
        self.refused(lambda matcher: matcher.add(id, where), tidings.IdentifierError)

    @precondition(lambda self: bool(self.model))
    @rule(data=st.data(), where=wheres())
    def add_under_the_other_kind_of_id(self, data: st.DataObject, where: str) -> None:
        id = data.draw(st.sampled_from(self.other_ids))
        self.refused(lambda matcher: matcher.add(id, where), tidings.IdentifierError)

    @rule(data=st.data(), texts=st.lists(wheres() | BAD_WHERES, max_size=5), replace=st.booleans())
    def add_many(self, data: st.DataObject, texts: list[Any], replace: bool) -> None:
        ids = data.draw(st.lists(st.sampled_from(self.ids), min_size=len(texts), max_size=len(texts)))
        rows = list(zip(ids, texts, strict=True))
        good: dict[Identifier, str] = {}
        refused: list[int] = []
        for number, (id, where) in enumerate(rows):
            if (not replace and (id in self.model or id in good)) or where in NO_WHERES:
                refused.append(number)
            else:
                good[id] = where
        for matcher in self.matchers:
            found: list[Refused] = []
            assert matcher.add_many(rows, replace=replace, on_error=found.append) == len(good)
            assert [each.row for each in found] == refused
        self.model.update(good)

    @rule(texts=st.lists(wheres(), min_size=4, max_size=6))
    def replace_many(self, texts: list[str]) -> None:
        rows = dict(zip(self.ids, texts, strict=False))
        for matcher in self.matchers:
            assert matcher.add_many(rows, replace=True) == len(rows)
        self.model.update(rows)

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(self.ids))
        if id not in self.model:
            self.refused(lambda matcher: matcher.remove(id), tidings.IdentifierError)
        else:
            for matcher in self.matchers:
                matcher.remove(id)
            del self.model[id]

    @rule(data=st.data())
    def remove_many(self, data: st.DataObject) -> None:
        ids = data.draw(st.lists(st.sampled_from((*self.ids, *self.other_ids[:1])), max_size=5))
        if any(id not in self.model for id in ids):
            self.refused(lambda matcher: matcher.remove_many(ids), tidings.IdentifierError)
        else:
            for matcher in self.matchers:
                assert matcher.remove_many(ids) == len(set(ids))
            for id in set(ids):
                del self.model[id]

    # What must change nothing

    @rule()
    def reopen(self) -> None:
        for matcher in self.matchers[2:]:
            matcher.close()
        self.matchers[2] = tidings.Matcher(self.folder / "durable")
        self.matchers[3] = tidings.Matcher(self.folder / "compiled", uncompiled=COMPILE_BEYOND)

    @rule(which=st.integers(0, 3))
    def save_and_load(self, which: int) -> None:
        copy = Path(tempfile.mkdtemp(dir=self.folder)) / "copy"
        self.matchers[which].save(copy)
        self.matchers[0] = tidings.Matcher.load(copy)

    @rule(which=st.integers(0, 3))
    def merge(self, which: int) -> None:
        self.matchers[which].merge()

    @invariant()
    def readers_find_what_the_model_holds(self) -> None:
        expected = {id: tidings.parse(where) for id, where in self.model.items()}
        for name in ("durable", "compiled"):
            loaded = tidings.Matcher.load(self.folder / name)
            assert {each.id: each.where for each in loaded.subscriptions()} == expected

    @rule(event=some_events())
    def match(self, event: EventSource) -> None:
        expected = [id for id, where in self.model.items() if holds(where, event)]
        for matcher in self.matchers:
            assert sorted(matcher.match(event).ids, key=self.ids.index) == sorted(expected, key=self.ids.index)

    @invariant()
    def both_hold_what_the_model_holds(self) -> None:
        expected = {id: tidings.parse(where) for id, where in self.model.items()}
        for matcher in self.matchers:
            assert {each.id: each.where for each in matcher.subscriptions()} == expected
            assert len(matcher) == len(self.model)
            matcher.check()
            assert all((id in matcher) == (id in self.model) for id in self.ids)


TestMatchers = Matchers.TestCase
# A run is a sequence of changes, and each change of the durable matcher waits for the disk.
TestMatchers.settings = settings(max_examples=max(10, settings().max_examples // 2), stateful_step_count=20)
