"""Keys of ranges: numbers and moments written with D digits in base β, and ranges cut into aligned intervals.

Paper 1 (PastryStrings), 3.3.2. A label of d digits owns the numbers that begin with them. A range is stored under the
fewest labels that make it up; an event visits all beginnings of its own number. Comparisons are ranges to the end of
the domain, `<>` is two. The law for numbers that are no grid points of their domain: an event visits the points on both
sides, and a range reaches from its first point to its last, or over the gap that it lies in; outside of the domain all
is clamped to its ends.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, TypeAlias

from tidings.errors import SettingError
from tidings.model.moments import EPOCH, MICROSECOND, microseconds
from tidings.model.predicates import Between, Comparison, HasAll, HasAny, In, Operator, Predicate
from tidings.model.values import AttributeType, type_of
from tidings.rendezvous.scheme import NEVER, Access, Key, Rank, Scalar, attribute_name
from tidings.rendezvous.spans import Span, nearest_float, spans_of

Number: TypeAlias = int | float | Decimal

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in code-point order: labels sort as numbers
_FLUSHED = -1000  # decimal exponent: 10**-1000000000 is in no event that means well, and would take all memory
_KINDS = {AttributeType.NUMBER: "number", AttributeType.TIMESTAMP: "moment"}


def interval_cover(low: int, high: int, base: int, digits: int) -> tuple[str, ...]:
    """The fewest labels whose intervals make up low..high, both included, in ascending order.

    Numbers have `digits` digits in `base`; a label has at least one of them, as the trees of the paper have one root
    for each first digit. At most 2 · (base - 1) labels for each length that occurs.
    """
    _check_base(base)
    if digits < 1:
        raise SettingError(f"numbers are written with at least 1 digit, not {digits}")
    if not 0 <= low <= high < base**digits:
        raise SettingError(f"a range lies in 0..{base**digits - 1}, low end first, and this one is {low}..{high}")
    labels: list[str] = []
    while low <= high:
        free = 0  # digits that the interval leaves open
        while free + 1 < digits and low % base ** (free + 1) == 0 and low + base ** (free + 1) - 1 <= high:
            free += 1
        labels.append(label_of(low, base, digits)[: digits - free])
        low += base**free
    return tuple(labels)


def label_of(number: int, base: int, digits: int) -> str:
    written = []
    for _ in range(digits):
        number, digit = divmod(number, base)
        written.append(DIGITS[digit])
    return "".join(reversed(written))


def interval_of(label: str, base: int, digits: int) -> range:
    """The numbers that a label owns."""
    number = 0
    for digit in label:
        number = number * base + DIGITS.index(digit)
    size = base ** (digits - len(label))
    return range(number * size, (number + 1) * size)


class Domain(Protocol):
    """Where the values of an attribute lie. `position` never falls as the value rises, and no two values share a whole
    one, but for those outside of 0 and size - 1."""

    @property
    def size(self) -> int:
        """How many whole positions there are, from 0."""
        ...

    def position(self, value: Number) -> Fraction: ...


@dataclass(frozen=True, slots=True)
class EvenDomain:
    """From low to high in even steps, by default the integers. Values between two steps and outside are fine."""

    low: Number
    high: Number
    step: Number = 1
    size: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.low, self.high, self.step))) or self.step <= 0 or self.low > self.high:
            raise SettingError(
                f"a domain has finite ends, low <= high, and a step above 0, not {self.low}..{self.high} by {self.step}"
            )
        size = math.floor((Fraction(self.high) - Fraction(self.low)) / Fraction(self.step)) + 1
        object.__setattr__(self, "size", size)  # it is asked for with every value

    @classmethod
    def of_moments(cls, low: datetime, high: datetime, step: timedelta) -> EvenDomain:
        return cls(microseconds(low), microseconds(high), step // MICROSECOND)

    def position(self, value: Number) -> Fraction:
        if value < self.low:
            return Fraction(-1)
        if value > self.high:
            return Fraction(self.size)
        return (_exact(value) - Fraction(self.low)) / Fraction(self.step)


@dataclass(frozen=True, slots=True)
class FloatDomain:
    """All numbers, for attributes of which nothing is known: by the first `bits` of their float64, in its order.

    Steps are relative: 24 bits leave 12 for the fraction, so that numbers within 1/4096 of their size fall together.
    """

    bits: int = 24

    def __post_init__(self) -> None:
        if not 2 <= self.bits <= 64:
            raise SettingError(f"a float64 is cut to 2 to 64 bits, not to {self.bits}")

    @property
    def size(self) -> int:
        return int(2**self.bits)

    def position(self, value: Number) -> Fraction:
        below = nearest_float(value)
        if below > value:
            below = math.nextafter(below, -math.inf)
        between = 0 if below == value else 1  # half a place up, if the value lies between two float64
        return Fraction(2 * _place_of_float(below) + between, 2 ** (65 - self.bits))


ANY_NUMBER = FloatDomain()
# To the minute; every moment outside is clamped.
ANY_MOMENT = EvenDomain.of_moments(EPOCH, datetime(2100, 1, 1, tzinfo=UTC), timedelta(minutes=1))


@dataclass(frozen=True, slots=True)
class Intervals:
    """Numbers and moments only: comparisons, BETWEEN, IN, and the elements that HAS_ALL and HAS_ANY name.

    `numbers` and `moments` give the domains of attributes by name; the others have the domains for any.
    """

    base: int = 4
    numbers: Mapping[str, Domain] = field(default_factory=dict, hash=False)
    moments: Mapping[str, Domain] = field(default_factory=dict, hash=False)
    any_number: Domain = ANY_NUMBER
    any_moment: Domain = ANY_MOMENT

    def __post_init__(self) -> None:
        _check_base(self.base)

    @property
    def name(self) -> str:
        return f"intervals, base {self.base}"

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(_KINDS.values())

    def access(self, predicate: Predicate) -> Access | None:
        spans = spans_of(predicate)
        if spans is None or any(span.type not in _KINDS for span in spans):
            return None
        if not spans:
            return NEVER
        attribute = attribute_name(predicate.attribute.path)
        keys = frozenset(key for span in spans for key in self._keys_of_span(attribute, span))
        return Access(keys, _rank(predicate))

    def keys_of_value(self, attribute: str, value: Scalar) -> Iterator[Key]:
        kind = type_of(value)
        if kind not in _KINDS:
            return
        domain = self.domain(attribute, kind)
        digits = digits_of(domain.size, self.base)
        position = domain.position(_measure(value))
        for place in {_clamped(math.floor(position), domain), _clamped(math.ceil(position), domain)}:
            label = label_of(place, self.base, digits)
            for length in range(1, digits + 1):
                yield Key(_KINDS[kind], attribute, label[:length])

    def domain(self, attribute: str, kind: AttributeType) -> Domain:
        if kind is AttributeType.NUMBER:
            return self.numbers.get(attribute, self.any_number)
        return self.moments.get(attribute, self.any_moment)

    def _keys_of_span(self, attribute: str, span: Span) -> Iterator[Key]:
        domain = self.domain(attribute, span.type)
        low, high = _places_of_span(span, domain)
        for label in interval_cover(low, high, self.base, digits_of(domain.size, self.base)):
            yield Key(_KINDS[span.type], attribute, label)


def digits_of(size: int, base: int) -> int:
    """How many digits the numbers below `size` need."""
    digits = 1
    while base**digits < size:
        digits += 1
    return digits


def _places_of_span(span: Span, domain: Domain) -> tuple[int, int]:
    low, high = 0, domain.size - 1
    if span.low is not None:
        position = domain.position(_measure(span.low))
        low = math.floor(position) + 1 if span.low_open else math.ceil(position)
    if span.high is not None:
        position = domain.position(_measure(span.high))
        high = math.ceil(position) - 1 if span.high_open else math.floor(position)
    low, high = min(low, high), max(low, high)  # crossed: the span lies in the gap between two places, and gets both
    return _clamped(low, domain), _clamped(high, domain)


def _clamped(place: int, domain: Domain) -> int:
    return min(max(place, 0), domain.size - 1)


def _measure(value: Scalar) -> Number:
    if isinstance(value, datetime):
        return microseconds(value)
    assert isinstance(value, int | float | Decimal), value
    return value


def _exact(value: Number) -> Fraction:
    if isinstance(value, Decimal) and value and value.adjusted() < _FLUSHED:
        return Fraction(1 if value > 0 else -1, 10**-_FLUSHED)
    return Fraction(value)


def _place_of_float(value: float) -> int:
    """0 to 2**64 - 1, in the order of the numbers; 0 and -0 have one place."""
    bits = int(struct.unpack(">Q", struct.pack(">d", value))[0])
    magnitude = bits & (2**63 - 1)
    return 2**63 - magnitude if bits >> 63 else 2**63 + magnitude


def _rank(predicate: Predicate) -> tuple[int, int]:
    match predicate:
        case Comparison(_, Operator.EQUAL, _):
            return Rank.EQUALITY, 1
        case In(_, literals):
            return Rank.EQUALITY, len(literals)
        case HasAll():
            return Rank.SET, 1
        case HasAny(_, literals):
            return Rank.SET, len(literals)
        case Between():
            return Rank.RANGE, 0
        case Comparison(_, Operator.NOT_EQUAL, _):
            return Rank.RANGE, 2
        case _:
            return Rank.RANGE, 1


def _check_base(base: int) -> None:
    if not 2 <= base <= len(DIGITS):
        raise SettingError(f"numbers are written in base 2 to {len(DIGITS)}, not {base}")
