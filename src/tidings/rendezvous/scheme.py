"""Where subscriptions and events meet: keys, and the contract of every way of making them.

A conjunction is stored under some keys and an event visits some keys. The cover law: if the event satisfies the
conjunction, the two sets meet. A miss is forbidden; an extra costs time, and `verify` removes it. What a scheme
cannot index is stored under EVERYWHERE, which every event visits, so that the law has no exception. A conjunction that
no event can satisfy may have no key at all. (Papers 1 to 3; the law is their common ground.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import IntEnum
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeGuard

from tidings.model.event import Event
from tidings.model.predicates import Conjunction, HasAll, IsNull, Not, Predicate
from tidings.model.values import Unreadable
from tidings.reference import Reading, Settings, truth

Scalar: TypeAlias = bool | int | float | Decimal | str | bytes | datetime
Values: TypeAlias = Mapping[str, tuple[Scalar, ...]]


class Key(NamedTuple):
    """A meeting place: the kind of list it names, the attribute (see `attribute_name`), and the label within it."""

    kind: str
    attribute: str
    label: str

    def __str__(self) -> str:
        return " ".join(part for part in (self.kind, self.attribute, repr(self.label) if self.label else "") if part)


EVERYWHERE = Key("everywhere", "", "")


def key_hash(key: Key) -> int:
    """64 bits, unsigned, the same on every machine and in every process."""
    digest = blake2b(digest_size=8)
    for part in key:
        written = part.encode("utf-8", "surrogatepass")  # a field's name may hold half of a surrogate pair
        digest.update(len(written).to_bytes(8, "big"))
        digest.update(written)
    return int.from_bytes(digest.digest(), "big")


class Scheme(Protocol):
    """A way to make keys. A value: immutable, picklable, and the same keys for the same question in every process."""

    @property
    def name(self) -> str: ...

    def subscription_keys(self, conjunction: Conjunction) -> frozenset[Key]:
        """Under which keys the conjunction is stored: under all of them."""
        ...

    def event_keys(self, event: Event) -> frozenset[Key]:
        """Which keys the event visits: all of them, and EVERYWHERE always."""
        ...

    def verify(self, conjunction: Conjunction, event: Event, settings: Settings | None = None) -> bool:
        """Whether a pair that met is a match."""
        ...


class Verified:
    """The one `verify` of all schemes: by the definition of a match."""

    __slots__ = ()

    def verify(self, conjunction: Conjunction, event: Event, settings: Settings | None = None) -> bool:
        reading = Reading(event, settings or Settings())
        return all(truth(term, reading) is True for term in conjunction.terms)


class Rank(IntEnum):
    """How selective a kind of predicate is taken to be where nothing is known of the events; the smaller, the more."""

    NEVER = 0  # no event satisfies it
    EQUALITY = 1
    SET = 2
    WORD = 3  # of a text; also what an XML document must have
    STRING = 4  # prefix, suffix, substring; the longer, the more selective
    RANGE = 5
    BOOLEAN = 6  # also equality: two values divide the events by two at best
    UNKNOWN = 7


@dataclass(frozen=True, slots=True)
class Access:
    """What a maker offers for a predicate: its keys, and how selective they are (smaller is more)."""

    keys: frozenset[Key]
    rank: tuple[int, int]


NEVER = Access(frozenset(), (Rank.NEVER, 0))


class KeyMaker(Protocol):
    """One way of making keys of single predicates and single values: what `composite.AccessScheme` is put together of.

    The law for makers: if the value satisfies the predicate (`reference.scalar_truth`, or as an element of the array
    that HAS_ALL and HAS_ANY ask of), then the keys of the predicate and of the value meet.
    """

    @property
    def name(self) -> str: ...

    @property
    def kinds(self) -> frozenset[str]:
        """Of the keys that it makes."""
        ...

    def access(self, predicate: Predicate) -> Access | None:
        """The keys of a predicate; None if this maker cannot index it. Keys may be none if it never holds."""
        ...

    def keys_of_value(self, attribute: str, value: Scalar) -> Iterable[Key]:
        """The keys that an event with this value (one of these values) in the attribute visits."""
        ...


def attribute_name(path: tuple[str, ...]) -> str:
    """The path as one string: dots between the names, and a backslash before a dot or a backslash inside of one."""
    return ".".join(name.replace("\\", "\\\\").replace(".", "\\.") for name in path)


def values_of(event: Event) -> dict[str, tuple[Scalar, ...]]:
    """Every attribute that has a value, with its values: several for an array or a path through arrays of records.

    Only values that some predicate can be true of: no null, nothing unreadable, no NaN, no record.
    """
    paths = dict.fromkeys(_paths(event.attributes, ()))
    found = ((attribute_name(path), _scalars(event.value(path))) for path in paths)
    return {attribute: scalars for attribute, scalars in found if scalars}


def needs_value(term: Predicate | Not) -> TypeGuard[Predicate]:
    """Whether the term can be true only of an event that `values_of` gives a value for its attribute.

    Not so of negations: `NOT list.n = 5` is true where `list` is an empty array, and the event shows no `list.n`.
    """
    if isinstance(term, Not | IsNull):
        return False
    return not (isinstance(term, HasAll) and not term.literals)


def rarest(keys: Iterable[Key], visits: Mapping[Key, float]) -> Key:
    """The key that the fewest events visit, 0 where nothing is known; of equal ones the longest, then the first."""
    return min(keys, key=lambda key: (visits.get(key, 0), -len(key.label), key))


def _paths(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield (*path, name)
            yield from _paths(inner, (*path, name))
    elif isinstance(value, tuple):
        for element in value:
            yield from _paths(element, path)


def _scalars(value: Any) -> tuple[Scalar, ...]:
    elements = value if isinstance(value, tuple) else (value,)
    return tuple(element for element in elements if _can_satisfy(element))


def _can_satisfy(value: Any) -> bool:
    return not (value is None or isinstance(value, Unreadable | dict | tuple) or value != value)
