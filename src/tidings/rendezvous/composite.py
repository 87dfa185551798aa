"""Schemes put together of key makers: a conjunction is stored under the keys of its one access predicate.

`AccessScheme` with one maker is that paper's way alone (see `single`); with several it is the production way: the
access predicate decides which maker makes its keys, and an event visits the keys of all makers. Regular expressions and
latent similarity are not indexed: EVERYWHERE, unless another predicate of the conjunction can be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from tidings.errors import SettingError
from tidings.model.event import Event
from tidings.model.predicates import Conjunction, Predicate
from tidings.reference import Settings
from tidings.rendezvous.documents import Documents
from tidings.rendezvous.ranges import Intervals
from tidings.rendezvous.scheme import EVERYWHERE, Access, Key, KeyMaker, Verified, needs_value, values_of
from tidings.rendezvous.sets import Elements
from tidings.rendezvous.string_trees import StringTrees
from tidings.rendezvous.substrings import NGrams
from tidings.rendezvous.words import Words

Choice: TypeAlias = Callable[[Conjunction], Predicate | None]


def default_makers(
    visits: Mapping[Key, float] | None = None, intervals: Intervals | None = None, settings: Settings | None = None
) -> tuple[KeyMaker, ...]:
    """A maker for each kind of predicate, with folded labels, so that ILIKE is indexed. `settings` say how text is
    read."""
    seen, read = visits or {}, settings or Settings()
    strings = StringTrees(folded=True, equality=False), NGrams(folded=True, visits=seen)
    words = Words(read.analyser.name, read.statistics, seen)
    return Elements(seen), words, Documents(), *strings, intervals or Intervals()


class Offer(NamedTuple):
    """What a maker has for one predicate of a conjunction."""

    predicate: Predicate
    maker: KeyMaker
    access: Access


@dataclass(frozen=True, slots=True)
class AccessScheme(Verified):
    """Stores a conjunction under its access predicate.

    `choose` names it, or None for EVERYWHERE; a module's function can be pickled, a lambda cannot. Without it the
    scheme takes the predicate whose keys the fewest events visit, if `visits` is given (how many events visit a key:
    count the `event_keys` of a sample), and otherwise the one of the smallest rank: equality, set, string by length,
    range, boolean (`scheme.Rank`). Where several makers can index a predicate, they compete in the same way.
    """

    makers: tuple[KeyMaker, ...] = field(default_factory=default_makers)
    choose: Choice | None = None
    visits: Mapping[Key, float] | None = field(default=None, hash=False)
    name: str = "access predicate"

    def subscription_keys(self, conjunction: Conjunction) -> frozenset[Key]:
        found = self.access(conjunction)
        return frozenset((EVERYWHERE,)) if found is None else found.keys

    def event_keys(self, event: Event) -> frozenset[Key]:
        keys = {EVERYWHERE}
        for attribute, values in values_of(event).items():
            for maker in self.makers:
                for value in values:
                    keys.update(maker.keys_of_value(attribute, value))
        return frozenset(keys)

    def narrowed(self, kinds: Collection[str]) -> AccessScheme:
        """For events only: visits no keys of other kinds. Of a long text that spares all but the words."""
        return replace(self, makers=tuple(maker for maker in self.makers if not maker.kinds.isdisjoint(kinds)))

    @property
    def by_kind_alone(self) -> bool:
        """Whether the literals of comparisons have no say in which of them is the access predicate."""
        return self.choose is None and self.visits is None

    def access(self, conjunction: Conjunction) -> Access | None:
        """The keys of the access predicate, None where nothing can be indexed."""
        found = self.offer(conjunction)
        return None if found is None else found.access

    def offer(self, conjunction: Conjunction) -> Offer | None:
        """The access predicate with its maker, None where nothing can be indexed."""
        return min(self._offers(conjunction), key=self._cost, default=None)

    def _offers(self, conjunction: Conjunction) -> list[Offer]:
        predicates = [term for term in conjunction.terms if needs_value(term)]
        if self.choose is not None:
            chosen = self.choose(conjunction)
            if chosen is not None and chosen not in predicates:
                raise SettingError(
                    f"the access predicate is one of the conjunction's predicates, neither negated nor IS NULL, "
                    f"and the chosen one is not: {chosen}"
                )
            predicates = [] if chosen is None else [chosen]
        offers = ((predicate, maker, maker.access(predicate)) for predicate in predicates for maker in self.makers)
        return [Offer(predicate, maker, access) for predicate, maker, access in offers if access is not None]

    def _cost(self, offer: Offer) -> tuple[float, tuple[int, int]]:
        """`min` keeps the first of equal ones: the order of the predicates, then that of the makers, decides."""
        visits = 0.0 if self.visits is None else sum(self.visits.get(key, 0) for key in offer.access.keys)
        return visits, offer.access.rank


def single(maker: KeyMaker) -> AccessScheme:
    """The scheme of one maker."""
    return AccessScheme((maker,), name=maker.name)
