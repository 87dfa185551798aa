"""Everything that `layout` says of a plan and of kept sets, checked: for tests, and for whoever doubts an engine.

A kernel trusts its arrays. One that is wrong makes it read outside of them, or miss an answer without a word.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tidings.index.layout import Array
from tidings.index.xml.layout import (
    FIRST_NAME,
    INNER,
    KINDS_OF_TEST,
    MEMBERS,
    MOVES,
    QUESTIONS,
    SETS,
    SYMBOLS,
    TESTS,
    WORDS,
    Lazy,
    Plan,
    Run,
)

_INT32 = (
    "name_places", "edge_target", "any_element", "any_attribute", "below", "whole", "atom", "tested", "test_text",
    "test_atom", "atom_fact", "access_compound", "compound_fact", "compound_program", "need_atom", "point_atom",
    "always", "operand_a", "operand_b", "operation_list", "step_symbol", "step_predicates", "path_steps",
)  # fmt: skip
_UINT8 = ("name_data", "kind", "leads", "text_data", "operation", "step_kind")


def check_plan(plan: Plan) -> None:
    for name, array in plan._asdict().items():
        kind = np.int32 if name in _INT32 else np.uint8 if name in _UINT8 else np.int64
        wanted = np.dtype(np.uint64 if name == "access_bits" else kind)
        assert array.dtype == wanted, f"{name} is {array.dtype} and should be {wanted}"
        assert array.ndim == 1, f"{name} has {array.ndim} dimensions"
    states, atoms, compounds = len(plan.kind), len(plan.atom_fact), len(plan.compound_fact)
    inner, symbols = int(plan.sizes[INNER]), int(plan.sizes[SYMBOLS])
    assert symbols == FIRST_NAME + 2 * (len(plan.name_start) - 1), "symbols are not those of the names"
    for name in ("edge_target", "any_element", "any_attribute", "below", "whole"):
        _within(name, getattr(plan, name), -1, states)
    assert (plan.edge_key[plan.edge_key >= 0] // symbols < inner).all(), "an edge leaves a state that leads nowhere"
    assert ((plan.any_element < 0) & (plan.any_attribute < 0))[inner:].all(), "* leaves a state that leads nowhere"
    assert (plan.kind[inner:] == 0).all(), "a state that loops is not among those that lead on"
    _within("atom", plan.atom, -1, atoms)
    _within("test_atom", plan.test_atom, 0, atoms)
    _within("need_atom", plan.need_atom, 0, atoms)
    _within("point_atom", plan.point_atom, -1, atoms)
    _starts("access", plan.access, atoms, plan.access_compound)
    _starts("needs", plan.needs, compounds, plan.need_atom)
    _starts("points", plan.points, compounds, plan.point_atom)
    _within("access_compound", plan.access_compound, 0, compounds)
    _within("compound_program", plan.compound_program, -1, len(plan.operation))
    _check_tests(plan)
    _check_facts(plan)


def _check_tests(plan: Plan) -> None:
    rows = plan.test_kind.reshape(-1, KINDS_OF_TEST + 1)
    _within("tested", plan.tested, -1, len(rows))
    assert (np.diff(plan.test_kind) >= 0).all(), "kinds of tests do not follow one another"
    for row in rows:
        for first, end in pairwise(row):
            assert (np.diff(plan.test_key[first:end].astype(object)) >= 0).all(), "tests are not in the order of keys"
    held = np.concatenate([plan.atom[plan.atom >= 0], plan.test_atom])
    assert len(np.unique(held)) == len(held) == len(plan.atom_fact), "an atom is reached in no way, or in two"


def _check_facts(plan: Plan) -> None:
    facts = np.concatenate([plan.atom_fact[plan.atom_fact >= 0], plan.compound_fact])
    count = int(plan.sizes[QUESTIONS])
    assert np.array_equal(np.sort(facts), np.arange(count)), "a question has no fact, or two"
    found = np.flatnonzero(np.diff(plan.access) > 0)
    bits = np.flatnonzero(np.unpackbits(plan.access_bits.view(np.uint8), bitorder="little"))
    assert np.array_equal(found, bits), "access_bits are not the atoms with access"
    reached = np.union1d(plan.access_compound, plan.always)
    assert np.array_equal(reached, np.arange(len(plan.compound_fact))), "a compound is never looked at"


def check_run(plan: Plan, run: Run, lazy: Lazy) -> None:
    assert not run.held.any(), "something holds of no document"
    assert not run.repeated.any(), "something holds twice of no document"
    sets, states = int(lazy.used[SETS]), len(plan.kind)
    _starts("first", lazy.first[: sets + 1], sets, lazy.members[: lazy.used[MEMBERS]])
    _starts("words", lazy.words[: sets + 1], sets, lazy.word[: lazy.used[WORDS]])
    _within("members", lazy.members[: lazy.used[MEMBERS]], 0, states)
    _within("word", lazy.word[: lazy.used[WORDS]], 0, len(run.held))
    _within("test_atom", lazy.test_atom[: lazy.used[TESTS]], 0, len(plan.atom_fact))
    kept = np.sort(lazy.places[lazy.places >= 0])
    assert np.array_equal(kept, np.arange(sets)), "a set is not in the table of sets, or twice"
    moves = lazy.move_key >= 0
    assert np.count_nonzero(moves) == lazy.used[MOVES], "moves are not all in their table"
    _within("move_target", lazy.move_target[moves], 0, sets)


def _within(name: str, numbers: Array, least: int, end: int) -> None:
    assert ((numbers >= least) & (numbers < end)).all(), f"{name} has a number below {least} or from {end} on"


def _starts(name: str, starts: Array, count: int, of: Array) -> None:
    assert len(starts) == count + 1, f"{name} has {len(starts)} places and should have {count + 1}"
    assert (int(starts[0]), int(starts[-1])) == (0, len(of)), f"{name} has the wrong ends"
    assert (np.diff(starts) >= 0).all(), f"{name} goes backwards"
