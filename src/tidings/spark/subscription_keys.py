"""The keys of many subscriptions, as hashes: those that differ in their literals only are keyed in one way.

Nearly all subscriptions compare some attributes with literals. Of those with the same attributes, operators and types
the first says which comparison is the access predicate and who makes its keys; the others ask that maker about that
comparison alone, once for each different literal. Any predicate of a conjunction that has keys covers it, so this is
as right as choosing anew; and the choice is the same wherever literals have no say in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tidings.language.parser import parse
from tidings.model.normal_form import conjunctions
from tidings.model.predicates import And, Between, Comparison, Conjunction
from tidings.rendezvous.composite import AccessScheme
from tidings.rendezvous.scheme import EVERYWHERE, Key, KeyMaker, Rank, Scheme, key_hash

REMEMBERED = 65_536  # shapes, and literals of a shape
Shape = tuple[Any, ...]  # of each comparison the attribute, the operator, and the Python type of the literal
Hashes = tuple[int, ...]


def signed_hash(key: Key) -> int:
    """The hash of a key as Spark has 64-bit integers."""
    found = key_hash(key)
    return found - 2**64 if found >= 2**63 else found


FOR_ALL: Hashes = (signed_hash(EVERYWHERE),)


@dataclass(slots=True)
class _Lead:
    """Which comparison of a shape is the access predicate, who makes its keys, and those that were made."""

    number: int
    maker: KeyMaker
    known: dict[Any, Hashes] = field(default_factory=dict)


class SubscriptionKeys:
    """One that has more than `most_keys` is stored under EVERYWHERE, and what is stored there has no other key. `kinds`
    grows by what the keys are about."""

    def __init__(self, scheme: Scheme, most_keys: int) -> None:
        self._scheme = scheme
        self._most_keys = most_keys
        self._by_shape = isinstance(scheme, AccessScheme) and scheme.by_kind_alone
        self._leads: dict[Shape, _Lead] = {}
        self.kinds: set[tuple[str, str]] = set()  # attributes, and kinds of keys

    def hashes(self, where: str) -> Hashes:
        """Of the keys of all conjunctions. None, if it is never satisfied."""
        expression = parse(where)
        if not self._by_shape:
            return self._of_all(conjunctions(expression))
        parts = expression.parts if type(expression) is And else (expression,)
        shape = _shape(parts)
        if shape is None:
            return self._of_all(conjunctions(expression))
        lead = self._leads.get(shape) or self._learned(shape, parts)
        if lead is None:
            return self._of_all(conjunctions(expression))
        term: Any = parts[lead.number]
        asked = term.literal.value if type(term) is Comparison else (term.low.value, term.high.value)
        found = lead.known.get(asked)
        if found is None:
            access = lead.maker.access(term)
            found = FOR_ALL if access is None else self._kept(access.keys)
            _remember(lead.known, asked, found)
        return found

    def _learned(self, shape: Shape, parts: Sequence[Any]) -> _Lead | None:
        """None where nothing can be indexed, and from one that is never satisfied nothing is learned."""
        assert isinstance(self._scheme, AccessScheme)
        offer = self._scheme.offer(Conjunction(tuple(parts)))
        if offer is None or offer.access.rank[0] == Rank.NEVER:
            return None
        number = next(number for number, part in enumerate(parts) if part is offer.predicate)
        lead = _Lead(number, offer.maker)
        _remember(self._leads, shape, lead)
        return lead

    def _of_all(self, alternatives: Sequence[Conjunction]) -> Hashes:
        return self._kept(frozenset().union(*map(self._scheme.subscription_keys, alternatives)))

    def _kept(self, keys: frozenset[Key]) -> Hashes:
        if len(keys) > self._most_keys or EVERYWHERE in keys:
            return FOR_ALL
        self.kinds.update((key.attribute, key.kind) for key in keys)
        return tuple(map(signed_hash, keys))


def _shape(parts: Sequence[Any]) -> Shape | None:
    """None if there is more than comparisons."""
    shape: list[Any] = []
    for part in parts:
        kind = type(part)
        if kind is Comparison:
            shape += (part.attribute.path, id(part.operator), type(part.literal.value))  # as quick as possible
        elif kind is Between:
            shape += (part.attribute.path, Between, type(part.low.value), type(part.high.value))
        else:
            return None
    return tuple(shape)


def _remember(known: dict[Any, Any], key: Any, value: Any) -> None:
    if len(known) >= REMEMBERED:
        known.clear()
    known[key] = value
