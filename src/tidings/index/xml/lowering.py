"""What a question needs: the atoms that it is, or without which it cannot hold.

`atom_of` finds the one atom that a question is: /a/b, /a/b[@c = 1], contains(/, 'x'). Everything else is a compound:
`needed_by` collects atoms that hold wherever it does (the path without its predicates, and each predicate that must be
true, at the end of the path that leads to it). Atoms cannot tell whether it is one chain of nodes that satisfies them,
so a compound is verified, unless it is a plain AND or OR of atoms. By which atom a compound is found is chosen when all
questions are known: by the kind of test, or by how many documents of a sample each atom holds of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple

from tidings.index.xml.layout import (
    CONTAINS,
    EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
    NAN_KEY,
    NO_TEST,
    NOT_EQUAL,
    STARTS_WITH,
    TEXT_EQUAL,
    TEXT_NOT_EQUAL,
)
from tidings.index.xml.paths import ROOT, Paths
from tidings.index.xml.programs import STRING_TESTS, Literals, compared
from tidings.model.xpath import (
    ANY_NAME,
    And,
    Comparison,
    Exists,
    NodeKind,
    Or,
    Path,
    Step,
    StringTest,
    XPathExpression,
)

# How few nodes pass a test, where nothing else is known: the smaller the fewer.
SHARE = {
    TEXT_EQUAL: 1,
    EQUAL: 2,
    STARTS_WITH: 3,
    CONTAINS: 4,
    LESS: 5,
    LESS_OR_EQUAL: 5,
    GREATER: 5,
    GREATER_OR_EQUAL: 5,
    NO_TEST: 6,
    TEXT_NOT_EQUAL: 7,
    NOT_EQUAL: 7,
}


class Method(Enum):
    """The ways of paper 5 (5.3) to bring structure and values together. The answers are the same.

    BOTTOM_UP finds a question by a value, wherever it stands, and verifies the rest. TOP_DOWN finds it by its path,
    and then looks whether the tests at the ends of its paths hold. PRUNED finds it by its rarest test at the end of
    its path. STEP_BY_STEP finds it by the path to its first test, and goes through the rest step by step.
    """

    BOTTOM_UP = "bottom-up"
    TOP_DOWN = "top-down"
    PRUNED = "top-down with pruning"
    STEP_BY_STEP = "step by step"


class Atom(NamedTuple):
    """A state that must be reached, and the test that the value there must pass: its kind, and its key or literal."""

    state: int
    kind: int = NO_TEST
    key: int = 0


@dataclass(frozen=True, slots=True)
class Compound:
    """Found by the rarest atom of any of `ways` (None: never without looking), if all of `needs` hold.

    Each way is one in which it may hold: atoms that all do then. With `anywhere`, the test of the atom is looked for
    at whatever path, instead of its own.

    `points` are the paths of the nodes at which it branches. Where each of them leads to one node of the document only,
    whatever passes through there is one chain, and `needs` are all of it; else it is verified. None: always verified.
    """

    ways: tuple[tuple[Atom, ...], ...] | None
    needs: tuple[Atom, ...]
    points: tuple[Atom, ...] | None = None
    anywhere: bool = False

    @property
    def exact(self) -> bool:
        return self.points == ()


Rarity = Callable[[Atom], Any]  # orders atoms: the smaller, the fewer documents it holds of


class Lowering:
    """Questions to atoms and compounds, over one automaton."""

    def __init__(self, paths: Paths, literals: Literals, method: Method = Method.PRUNED) -> None:
        self._paths = paths
        self._literals = literals
        self._method = method

    def lowered(self, question: XPathExpression) -> Atom | Compound:
        found = self._pruned(question)
        needs = (found,) if isinstance(found, Atom) else found.needs
        tests = [atom for atom in needs if atom.kind != NO_TEST]
        if not tests or self._method is Method.PRUNED:
            return found
        if self._method is Method.TOP_DOWN:
            if isinstance(found, Atom):
                return found
            paths = [atom for atom in needs if atom.kind == NO_TEST]
            return replace(found, ways=((paths[-1] if paths else Atom(tests[-1].state),),))
        if self._method is Method.STEP_BY_STEP:
            return Compound(((Atom(tests[0].state),),), ())
        named = tuple(atom for atom in tests if self._paths.is_named(atom.state))
        looked_up = tuple(atom for atom in named if atom.kind <= TEXT_EQUAL)  # others are asked one by one
        return Compound((looked_up or named,), (), anywhere=True) if named else found

    def access(self, found: Compound, rarity: Rarity) -> tuple[Atom, ...] | None:
        """The atoms by which a compound is found; None if it must be looked at for every document."""
        if found.ways is None:
            return None
        chosen = [min(way, key=rarity) for way in found.ways]
        if found.anywhere:
            chosen = [atom._replace(state=self._paths.anywhere(atom.state)) for atom in chosen]
        return tuple(dict.fromkeys(chosen))

    def _pruned(self, question: XPathExpression) -> Atom | Compound:
        atom = self.atom_of(ROOT, question)
        if atom is not None:
            return atom
        if isinstance(question, And | Or):
            parts = [self.atom_of(ROOT, part) for part in question.parts]
            atoms = tuple(dict.fromkeys(part for part in parts if part is not None))
            if None not in parts:
                each = tuple((atom,) for atom in atoms)
                return joined(atoms) if isinstance(question, And) else Compound(each, (), ())
        needs = tuple(dict.fromkeys(self.needed_by(ROOT, question)))
        points = self.points_of(ROOT, question)
        return Compound(self._ways(question, needs), needs, None if points is None else tuple(dict.fromkeys(points)))

    def atom_of(self, state: int, question: XPathExpression) -> Atom | None:
        """The atom that a question about the node at a state is, if it is one."""
        match question:
            case Exists(path):
                return self._linear(state, path.steps, NO_TEST, 0)
            case Comparison(Path(steps=steps), comparator, (str() | Decimal()) as right):
                kind, key = compared(comparator, right, self._literals.number)
                return None if _never(kind, key) else self._linear(state, steps, kind, key)
            case StringTest(function, Path(steps=steps), literal) if is_one_node(steps, literal):
                return self._linear(state, steps, STRING_TESTS[function], self._literals.number(literal))
            case _:
                return None

    def _linear(self, state: int, steps: Sequence[Step], kind: int, key: int) -> Atom | None:
        """A path is linear if nothing but its last step has a predicate, and that one only in place of a test."""
        if any(step.predicates for step in steps[:-1]):
            return None
        predicates = steps[-1].predicates if steps else ()
        if not predicates:
            return Atom(self._paths.along(state, steps), kind, key)
        if kind != NO_TEST or len(predicates) > 1:
            return None
        return self.atom_of(self._paths.along(state, steps), predicates[0])

    def needed_by(self, state: int, question: XPathExpression) -> Iterable[Atom]:
        """Atoms that hold wherever the question does."""
        match question:
            case And(parts):
                for part in parts:
                    yield from self.needed_by(state, part)
            case Exists(path):
                yield from self._needed_along(state, path.steps, NO_TEST, 0)
            case Comparison(Path(steps=steps), comparator, (str() | Decimal()) as right):
                kind, key = compared(comparator, right, self._literals.number)
                yield from self._needed_along(state, steps, *((NO_TEST, 0) if _never(kind, key) else (kind, key)))
            case StringTest(function, Path(steps=steps), literal) if literal:
                kind, key = STRING_TESTS[function], self._literals.number(literal)
                # Asked of the first node: if it passes, some node does.
                yield from self._needed_along(state, steps, kind, key)
            case _:
                return

    def _needed_along(self, state: int, steps: Sequence[Step], kind: int, key: int) -> Iterable[Atom]:
        for step in steps:
            state = self._paths.after(state, step)
            for predicate in step.predicates:
                yield from self.needed_by(state, predicate)
        yield Atom(state, kind, key)

    def points_of(self, state: int, question: XPathExpression) -> list[Atom] | None:
        """The paths that lead to the nodes at which a question branches; None if atoms are never enough for it."""
        match question:
            case And(parts):
                found = [self.points_of(state, part) for part in parts]
                return None if None in found else [point for part in found for point in part or ()]
            case Exists(path):
                return self._points_along(state, path.steps, tested=False)
            case Comparison(Path(steps=steps), comparator, (str() | Decimal()) as right):
                never = _never(*compared(comparator, right, self._literals.number))
                return None if never else self._points_along(state, steps, tested=True)
            case _:
                return None

    def _points_along(self, state: int, steps: Sequence[Step], tested: bool) -> list[Atom] | None:
        found: list[Atom] = []
        for step in steps:
            state = self._paths.after(state, step)
            conditions = [
                part for each in step.predicates for part in (each.parts if isinstance(each, And) else (each,))
            ]
            if any(self.atom_of(state, part) is None for part in conditions):
                return None
            # What follows the node is a condition as well, but for the single one at the end of the path.
            if conditions and (step is not steps[-1] or tested or len(conditions) > 1):
                found.append(Atom(state))
        return found

    def _ways(self, question: XPathExpression, needs: tuple[Atom, ...]) -> tuple[tuple[Atom, ...], ...] | None:
        if needs:
            return (needs,)
        if not isinstance(question, Or):
            return None
        found: list[tuple[Atom, ...]] = []
        for part in question.parts:
            ways = self._ways(part, tuple(dict.fromkeys(self.needed_by(ROOT, part))))
            if ways is None:
                return None
            found += ways
        return tuple(dict.fromkeys(found))


def joined(atoms: tuple[Atom, ...]) -> Compound:
    """The compound that holds if all of its atoms do."""
    return Compound((atoms,), atoms, ())


def by_kind(atom: Atom) -> tuple[int, int]:
    """How rare an atom is where no sample tells: by its kind of test, and the longer path first."""
    return SHARE[atom.kind], -atom.state


def is_one_node(steps: Sequence[Step], literal: str) -> bool:
    """Whether a string function is asked of one node at most, and never of '' in place of a missing one."""
    if not steps:
        return True
    only = steps[0]
    named = only.kind is NodeKind.ATTRIBUTE and only.name != ANY_NAME
    return bool(literal) and len(steps) == 1 and named and not only.descendant and not only.predicates


def _never(kind: int, key: int) -> bool:
    """A comparison with what is no number; unequal to it is everything that is there."""
    return EQUAL <= kind <= GREATER_OR_EQUAL and key == NAN_KEY
