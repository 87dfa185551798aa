"""From questions to the plan: atoms and compounds numbered, and everything written as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from tidings.index.keys import hash_strings
from tidings.index.layout import Array
from tidings.index.xml.layout import KINDS_OF_TEST, NO_TEST, TEXT_EQUAL, Plan
from tidings.index.xml.lowering import Atom, Compound, Lowering, Method, Rarity, by_kind, joined
from tidings.index.xml.paths import Automaton, Paths, packed
from tidings.index.xml.programs import Literals, Programs
from tidings.model.xpath import XPathExpression

_Placed = tuple[int, Compound, int, tuple[Atom, ...] | None]  # question, what it needs, program, found by


class Questions:
    """Questions as they are added, numbered as they stand: which atom or compound each of them is."""

    def __init__(self, questions: Iterable[XPathExpression] = (), method: Method = Method.PRUNED) -> None:
        self.paths = Paths()
        self.literals = Literals()
        self.programs = Programs(self.paths.names, self.literals)
        self.atoms: dict[Atom, int] = {}  # their questions, or -1 where they are only part of one
        self.compounds: list[tuple[int, Compound, int]] = []  # question, what it needs, program
        self._lowering = Lowering(self.paths, self.literals, method)
        self.count = 0
        for question in questions:
            self.add(question)

    def add(self, question: XPathExpression) -> None:
        number, self.count = self.count, self.count + 1
        found = self._lowering.lowered(question)
        if isinstance(found, Atom):
            if self.atoms.setdefault(found, number) == number:
                return
            if self.atoms[found] < 0:
                self.atoms[found] = number
                return
            found = joined((found,))  # another spelling of a question that is there
        for atom in chain(found.needs, found.points or ()):
            self.atoms.setdefault(atom, -1)
        self.compounds.append((number, found, -1 if found.exact else self.programs.add(question)))

    def choices(self) -> list[Atom]:
        """The atoms between which there is a choice: those by which a compound might be found as well as by others."""
        ways = (way for _, found, _ in self.compounds for way in found.ways or () if len(way) > 1)
        return list(dict.fromkeys(chain.from_iterable(ways)))

    def plan(self, rarity: Rarity = by_kind) -> Plan:
        """The plan of the questions, each found by its rarest atoms."""
        found_by = [self._lowering.access(found, rarity) for _, found, _ in self.compounds]
        for atom in chain.from_iterable(access or () for access in found_by):
            self.atoms.setdefault(atom, -1)
        return _plan(self, self.atoms, [(*each, access) for each, access in zip(self.compounds, found_by, strict=True)])

    def plan_of(self, atoms: Sequence[Atom]) -> Plan:
        """A plan that asks for these atoms only, numbered as they stand."""
        return _plan(self, {atom: number for number, atom in enumerate(atoms)}, [])


def _plan(added: Questions, asked: dict[Atom, int], compounds: list[_Placed]) -> Plan:
    automaton = added.paths.arrays()
    name_start, name_data, name_places = added.paths.names.arrays()
    text_start, text_data = packed(added.literals.texts())
    state, kind, key = np.array(list(asked) or np.empty((0, 3)), np.int64).reshape(-1, 3).T
    fact = np.fromiter(asked.values(), np.int64, len(asked))
    text_keys = hash_strings(text_data, text_start)
    is_text = kind >= TEXT_EQUAL
    order_key = key.copy()
    order_key[is_text] = text_keys[key[is_text]]
    symbol = np.array(added.paths.symbols, np.int64)[state]
    count = len(compounds) + int(np.count_nonzero(fact >= 0))
    order = np.lexsort((order_key, kind, automaton.number[state], symbol, fact < 0))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    atoms = dict(zip(asked, number.tolist(), strict=True))
    # Those that are found together stand together, so that looking at them goes through memory and not across it.
    compounds = sorted(compounds, key=lambda placed: min((atoms[atom] for atom in placed[3] or ()), default=-1))
    return Plan(
        name_start=name_start,
        name_data=name_data,
        name_places=name_places,
        **_automaton(automaton),
        **_tests(automaton, state, kind, key, order_key, number),
        text_start=text_start,
        text_data=text_data,
        atom_fact=fact[order].astype(np.int32),
        **_compounds(compounds, atoms),
        **added.programs.arrays(),
        sizes=np.array([count, automaton.inner, added.paths.names.symbols, added.programs.levels], np.int64),
    )


def _automaton(automaton: Automaton) -> dict[str, Array]:
    fields = automaton._asdict()
    del fields["number"], fields["inner"]
    return fields


def _tests(
    automaton: Automaton, state: Array, kind: Array, key: Array, order_key: Array, number: Array
) -> dict[str, Array]:
    """The atoms of states, and their tests by state, kind and key."""
    states = automaton.number[state]
    count = len(automaton.number)
    atom = np.full(count, -1, np.int32)
    plain = kind == NO_TEST
    atom[states[plain]] = number[plain]
    order = np.flatnonzero(~plain)
    order = order[np.lexsort((order_key[order], kind[order], states[order]))]
    tested = np.full(count, -1, np.int32)
    rows = np.unique(states[order])
    tested[rows] = np.arange(len(rows))
    place = tested[states[order]].astype(np.int64) * (KINDS_OF_TEST + 1) + kind[order]
    begins = np.searchsorted(place, np.arange(len(rows) * (KINDS_OF_TEST + 1)))
    return {
        "atom": atom,
        "tested": tested,
        "test_kind": begins.astype(np.int64),
        "test_key": order_key[order],
        "test_text": np.where(kind[order] >= TEXT_EQUAL, key[order], -1).astype(np.int32),
        "test_atom": number[order].astype(np.int32),
    }


def _compounds(compounds: list[_Placed], atoms: dict[Atom, int]) -> dict[str, Array]:
    needs = [[atoms[atom] for atom in found.needs] for _, found, _, _ in compounds]
    pairs = [(atoms[atom], at) for at, (_, _, _, access) in enumerate(compounds) for atom in access or ()]
    led = np.array(pairs or np.empty((0, 2)), np.int64).reshape(-1, 2)
    led = led[np.lexsort((led[:, 1], led[:, 0]))]
    access = np.zeros(len(atoms) + 1, np.int64)
    np.cumsum(np.bincount(led[:, 0], minlength=len(atoms)), out=access[1:])
    bits = np.zeros(len(atoms) // 64 + 1, np.uint64)
    with_access = np.unique(led[:, 0])
    np.bitwise_or.at(bits, with_access // 64, np.uint64(1) << (with_access % 64).astype(np.uint64))
    points = [[-1] if found.points is None else [atoms[atom] for atom in found.points] for _, found, _, _ in compounds]
    return {
        "access": access,
        "access_compound": led[:, 1].astype(np.int32),
        "access_bits": bits,
        "compound_fact": np.array([number for number, _, _, _ in compounds], np.int32),
        "compound_program": np.array([program for _, _, program, _ in compounds], np.int32),
        "needs": _starts(needs),
        "need_atom": np.fromiter(chain.from_iterable(needs), np.int32),
        "points": _starts(points),
        "point_atom": np.fromiter(chain.from_iterable(points), np.int32),
        "always": np.array([at for at, (_, _, _, access) in enumerate(compounds) if access is None], np.int32),
    }


def _starts(lists: Sequence[Sequence[int]]) -> Array:
    found = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(each) for each in lists], out=found[1:])
    return found
