"""Where subscriptions go in a segment.

Each conjunction is placed under its access predicate (`planning.access`), with one further range as the order within
its bucket where enough conjunctions share that pair of slots; the rest of its terms become checks. Conjunctions of
plain comparisons, which are nearly all, are placed many at a time, by `recipes`; all others here, one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from tidings.index import layout
from tidings.index.checks import Checks
from tidings.index.entries import Columns, Entries, Entry
from tidings.index.recipes import Recipes
from tidings.index.slots import Slots
from tidings.language.parser import Asked, Unbound, bound
from tidings.model.predicates import (
    And,
    Between,
    Comparison,
    Expression,
    HasAll,
    HasAny,
    In,
    Like,
    LikePattern,
    Matches,
    Not,
    Operator,
    Predicate,
    Similarity,
    Wildcard,
    XPath,
)
from tidings.model.values import AttributeType, Literal
from tidings.planning.access import Path, by_share, most_selective, ordering, path_of, undecided
from tidings.planning.selectivity import NO_TEXTS, share_of
from tidings.planning.simplify import empty, simplified
from tidings.planning.statistics import EventStatistics
from tidings.planning.texts import TextShares

Terms = Sequence[Predicate | Not]


class Rest(NamedTuple):
    """What a conjunction is besides its access predicate: what it is ordered by, and what is checked."""

    ordered: Sequence[Predicate]
    checked: Terms


class Placing:
    """Takes subscriptions one by one, numbered from 0; `assembling` makes a segment of what it has taken."""

    def __init__(self, slots: Slots, statistics: EventStatistics, texts: TextShares = NO_TEXTS) -> None:
        self.slots = slots
        self.statistics = statistics
        self._texts = texts
        self.checks = Checks(slots)
        self.members = 0
        self.shared: list[int] = []  # the subscriptions that have several entries
        self._under: Counter[Any] = Counter()  # subscriptions that are found by an element
        self._entries = Entries()
        self._recipes = Recipes(self.checks, statistics)

    def add(self, asked: Asked) -> None:
        member = self.members
        self.members += 1
        if not self._taken(member, asked):
            self._place_all(member, bound(asked))
        elif self._recipes.full:
            self._place_waiting()

    def _taken(self, member: int, asked: Asked) -> bool:
        if type(asked) is Unbound:
            return self._recipes.take_written(member, asked)
        return self._recipes.take(member, asked.parts if type(asked) is And else (asked,))

    def columns(self) -> Columns:
        """The entries of everything that was added."""
        self._place_waiting()
        return self._entries.columns()

    def _place_waiting(self) -> None:
        for columns, back in self._recipes.placed():
            self._entries.extend(columns)
            for member, expression in back:
                self._place_all(member, expression)

    def _place_all(self, member: int, expression: Expression) -> None:
        entries = [entry for terms in _conjunctions(expression) for entry in self._placed(member, terms)]
        for entry in entries:
            self._entries.append(entry)
        if len(entries) > 1:
            self.shared.append(member)

    def _placed(self, member: int, terms: Terms) -> list[Entry]:
        """The entries of a conjunction: several where one of several values leads to it."""
        shares = [share_of(term, self.statistics, self._texts) for term in terms] if len(terms) > 1 else [1.0]
        best = most_selective(terms, shares, list(map(path_of, terms)))
        if best is None:
            return [self._entry(member, layout.SCAN, -1, Rest((), terms))]
        number, path, _ = best
        predicate = terms[number]
        assert not isinstance(predicate, Not)
        rest = _rest(predicate, path, by_share(terms, shares))
        match predicate:
            case Comparison(_, Operator.EQUAL, literal):
                return self._by_values(member, predicate, [literal], rest)
            case In(_, literals):
                return self._by_values(member, predicate, literals, rest)
            case HasAll(_, literals) | HasAny(_, literals):
                wanted = [self._rarest(predicate, literals)] if isinstance(predicate, HasAll) else literals
                found = self._by_values(member, predicate, wanted, rest)
                return [entry._replace(array=1) for entry in found]
            case Like(_, pattern):
                return [self._by_pattern(member, predicate, pattern, rest)]
            case Matches() | Similarity() | XPath():
                fact = self.checks.fact(predicate)
                assert fact is not None
                return [self._entry(member, layout.VALUE, fact[0], rest, key=fact[1])]
            case _:
                entry = self._entry(member, layout.VALUE, -1, rest)
                return [entry._replace(kind=entry.order, lead=entry.second, second=-1, order=-1)]

    def _by_values(self, member: int, predicate: Predicate, wanted: Sequence[Literal], rest: Rest) -> list[Entry]:
        lead = self.checks.slot(predicate, wanted[0].type)
        (key, text), *others = dict.fromkeys(map(self.checks.key, wanted))
        entry = self._entry(member, layout.VALUE, lead, rest, key, text)
        return [entry, *(entry._replace(key=key, text=text) for key, text in others)]

    def _rarest(self, predicate: HasAll, literals: Sequence[Literal]) -> Literal:
        """The element under which the fewest are found by the fewest events, as far as either is known by now."""
        known = self.statistics.of(predicate.attribute)
        path, under = predicate.attribute.path, self._under
        found = min(literals, key=lambda literal: known.equal(literal) * (1 + under[path, literal.value]))
        under[path, found.value] += 1
        return found

    def _by_pattern(self, member: int, predicate: Like, pattern: LikePattern, rest: Rest) -> Entry:
        lead, number = self.checks.slot(predicate, AttributeType.STRING), self.checks.strings.number
        if not any(isinstance(part, Wildcard) for part in pattern):
            text = "".join(part for part in pattern if isinstance(part, str))
            return self._entry(member, layout.VALUE, lead, rest, text=number(text.encode()))
        if isinstance(pattern[0], str):
            return self._entry(member, layout.PREFIX, lead, rest, text=number(pattern[0].encode()))
        if isinstance(pattern[-1], str):
            return self._entry(member, layout.SUFFIX, lead, rest, text=number(pattern[-1].encode()[::-1]))
        piece = max((part.encode() for part in pattern if isinstance(part, str)), key=len)
        return self._entry(member, layout.SUBSTRING, lead, rest, whole=number(piece))

    def _entry(
        self, member: int, kind: int, lead: int, rest: Rest, key: int = 0, text: int = -1, whole: int = -1
    ) -> Entry:
        order, second, low, high = self._bounds(rest.ordered)
        checks = tuple(map(self.checks.check, rest.checked))
        return Entry(member, kind, lead, key, text, second, order, low, high, whole, 0, checks)

    def _bounds(self, ordered: Sequence[Predicate]) -> tuple[int, int, int, int]:
        """The kind, slot and bounds by which an entry is ordered within its bucket."""
        order = second = -1
        low = high = 0
        for term in ordered:
            found = self.checks.interval(term) or self.checks.point(term)
            assert found is not None
            if second < 0:
                order, second, low, high = found
            else:
                order, low, high = layout.PAIR, max(low, found[2]), min(high, found[3])
        return order, second, low, high


def _rest(predicate: Predicate, path: Path, terms: Terms) -> Rest:
    way, exact = path
    ordered = ordering(predicate, way, terms)
    return Rest(ordered, undecided(terms, predicate if exact else None, ordered))


def _conjunctions(expression: Expression) -> list[Terms]:
    """The conjunctions of an expression, simplified; nearly all are one already, and have nothing to simplify."""
    parts = expression.parts if type(expression) is And else (expression,)
    predicates = [part.part if type(part) is Not else part for part in parts]
    paths = {predicate.attribute.path for predicate in predicates if isinstance(predicate, Predicate)}
    if len(paths) == len(parts) and all(map(_is_simple, predicates)):
        return [parts]  # type: ignore[list-item]  # each has an attribute of its own: a predicate, or the NOT of one
    return [conjunction.terms for conjunction in simplified(expression)]


def _is_simple(predicate: Expression) -> bool:
    """Whether a predicate by itself has nothing to simplify."""
    match predicate:
        case Between():
            return not empty(predicate)
        case In(_, literals) | HasAny(_, literals) | HasAll(_, literals):
            alone = len(literals) == 1 and not isinstance(predicate, HasAll)
            return not alone and len({literal.value for literal in literals}) == len(literals)
        case _:
            return True
