"""Where a predicate is stored in the trees, and which paths the values of an event walk (paper 1, 3.3 and 4.1).

A label is a sequence of digits of the overlay's base: the characters of a string, or the digits of a number. Invariant:
a value that satisfies a predicate walks, for each of the predicate's places, over at least one label of that place.
The keys come from `rendezvous`; here they become labels, numbers with the base of their attribute added to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

from tidings.errors import SettingError
from tidings.model.event import Event
from tidings.model.predicates import Conjunction, Not, Predicate
from tidings.model.values import AttributeType
from tidings.rendezvous.ranges import DIGITS, Intervals, digits_of, interval_cover, interval_of, label_of
from tidings.rendezvous.scheme import Key, Scalar, values_of
from tidings.rendezvous.string_trees import StringTrees
from tidings.systems.pastry_strings.settings import ForestSettings

Label: TypeAlias = tuple[int, ...]

EQUALITY, PREFIX, SUFFIX, NUMERIC = LISTS = ("equality", "prefix", "suffix", "numeric")
LETTERS = DIGITS + " ."  # the paper's 64: digits, both cases, space and period
_OF_KEYS = {"equal": EQUALITY, "prefix": PREFIX, "suffix": SUFFIX, "number": NUMERIC, "moment": NUMERIC}
_TYPES = {"number": AttributeType.NUMBER, "moment": AttributeType.TIMESTAMP}


class ListName(NamedTuple):
    """Which of the four lists of an attribute at a Tnode."""

    attribute: str
    kind: str


class Place(NamedTuple):
    """One list in which a subscription must be found to match; it is stored there under each of the labels."""

    list: ListName
    labels: tuple[Label, ...]


class Walk(NamedTuple):
    """A path that an event walks: which lists it collects on the way, and which only at the end of a whole value."""

    label: Label
    on_the_way: tuple[ListName, ...]
    at_the_end: tuple[ListName, ...]


class Places:
    """A value but for what it has worked out before: the same settings and base make the same labels everywhere."""

    def __init__(self, settings: ForestSettings, base: int) -> None:
        self.settings = settings
        self.base = base
        self.strings = StringTrees(depth=settings.depth)
        self.numbers = Intervals(
            base=base, numbers=settings.domains, moments=settings.domains, any_number=settings.any_domain
        )
        self._bases: dict[tuple[str, str], int] = {}

    def of_predicate(self, predicate: Predicate) -> tuple[Place, ...] | None:
        """In which lists the predicate is stored, in all of them; none at all if it never holds; None: no tree has a
        place for it."""
        access = self.strings.access(predicate) or self.numbers.access(predicate)
        if access is None:
            return None
        by_list: dict[tuple[str, str], list[Key]] = {}
        for key in sorted(access.keys):
            by_list.setdefault((key.attribute, key.kind), []).append(key)
        return tuple(
            Place(ListName(attribute, _OF_KEYS[kind]), self._labels(kind, attribute, keys))
            for (attribute, kind), keys in by_list.items()
        )

    def of_conjunction(self, conjunction: Conjunction) -> tuple[tuple[Place, Predicate], ...] | None:
        """The places of all predicates that have one; None if the conjunction can never hold."""
        found: list[tuple[Place, Predicate]] = []
        for term in conjunction.terms:
            if isinstance(term, Not):
                continue
            places = self.of_predicate(term)
            if places == ():
                return None
            found.extend((place, term) for place in places or ())
        return tuple(found)

    def walks_of(self, event: Event) -> tuple[Walk, ...]:
        return tuple(
            dict.fromkeys(
                walk
                for attribute, values in values_of(event).items()
                for value in values
                for walk in self.walks_of_value(attribute, value)
            )
        )

    def walks_of_value(self, attribute: str, value: Scalar) -> Iterator[Walk]:
        if isinstance(value, str):
            ends = (ListName(attribute, EQUALITY),)
            yield Walk(self.digits_of_text(value), (ListName(attribute, PREFIX),), ends)
            if value:
                yield Walk(self.digits_of_text(value[::-1]), (ListName(attribute, SUFFIX),), ())
            return
        keys = tuple(self.numbers.keys_of_value(attribute, value))
        longest = max((len(key.label) for key in keys), default=0)
        for key in keys:
            if len(key.label) == longest:
                yield Walk(self._label_of_number(key), (ListName(attribute, NUMERIC),), ())

    def digits_of_text(self, text: str) -> Label:
        """The first characters as digits. A character that is none of the letters shares the digit of one: what this
        lets through is turned away where it is stored."""
        return tuple(self._digit(character) for character in text[: self.settings.depth])

    def _digit(self, character: str) -> int:
        place = LETTERS.find(character)
        return place if 0 <= place < self.base else ord(character) % self.base

    def base_of_numbers(self, attribute: str) -> int:
        """What is added to the attribute's numbers: 0 unless they are relocated."""
        return self._base_and_digits("number", attribute)[0]

    def _labels(self, kind: str, attribute: str, keys: Iterable[Key]) -> tuple[Label, ...]:
        if kind not in _TYPES:
            return tuple(dict.fromkeys(self.digits_of_text(key.label) for key in keys))
        base, digits = self._base_and_digits(kind, attribute)
        owned = sorted((interval_of(key.label, self.base, digits) for key in keys), key=lambda numbers: numbers.start)
        cover = (
            label
            for low, high in _joined(owned)
            for label in interval_cover(base + low, base + high, self.base, self.settings.depth)
        )
        return tuple(tuple(map(DIGITS.index, label)) for label in cover)

    def _label_of_number(self, key: Key) -> Label:
        base, digits = self._base_and_digits(key.kind, key.attribute)
        (number,) = interval_of(key.label, self.base, digits)
        return tuple(map(DIGITS.index, label_of(base + number, self.base, self.settings.depth)))

    def _base_and_digits(self, kind: str, attribute: str) -> tuple[int, int]:
        """What is added to the attribute's numbers, and how many digits `rendezvous` writes them with."""
        size = self.numbers.domain(attribute, _TYPES[kind]).size
        if (kind, attribute) not in self._bases:
            self._bases[kind, attribute] = self._relocated(kind, attribute, size)
        return self._bases[kind, attribute], digits_of(size, self.base)

    def _relocated(self, kind: str, attribute: str, size: int) -> int:
        room = self.base**self.settings.depth - size
        if room < 0:
            raise SettingError(
                f"the domain of {attribute} has {size} places, and labels of {self.settings.depth} digits of base "
                f"{self.base} only {self.base**self.settings.depth}; give the attribute a smaller domain or the forest "
                "more depth"
            )
        if not self.settings.relocate:
            return 0
        digest = blake2b(f"{kind} {attribute}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int(int.from_bytes(digest, "big") % (room + 1))


def _joined(owned: Iterable[range]) -> Iterator[tuple[int, int]]:
    """Ascending ranges as stretches from first to last number, neighbours as one."""
    stretch: tuple[int, int] | None = None
    for numbers in owned:
        if stretch is not None and numbers.start <= stretch[1] + 1:
            stretch = stretch[0], max(stretch[1], numbers.stop - 1)
        else:
            if stretch is not None:
                yield stretch
            stretch = numbers.start, numbers.stop - 1
    if stretch is not None:
        yield stretch
