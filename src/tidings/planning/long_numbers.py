"""Long numbers: those that float64 may take for another one. What is found by the nearest float64 is verified then."""

from __future__ import annotations

from decimal import Decimal

from tidings.model.predicates import Not, Predicate, literals_of
from tidings.model.values import AttributeType, Literal

FIRST_SHARED = 2**53  # from here on two integers may have the same nearest float64
SIGNIFICANT_DIGITS = 15  # decimal digits that every float64 tells apart
SMALLEST_NORMAL = 2.0**-1022  # below it a float64 has fewer digits than SIGNIFICANT_DIGITS


def has_long(term: Predicate | Not) -> bool:
    """Whether a term compares with a long number."""
    return any(map(is_long, literals_of(term.part if isinstance(term, Not) else term)))


def is_long(literal: Literal) -> bool:
    value = literal.value
    if literal.type is not AttributeType.NUMBER:
        return False
    if isinstance(value, Decimal):
        return not is_short_fraction(value)
    return isinstance(value, int) and abs(value) >= FIRST_SHARED


def is_short_fraction(value: Decimal) -> bool:
    """Whether no other number of few digits has the nearest float64 of a fraction.

    One of more digits may share it with a shorter one even if it equals it: Decimal(0.1) is not 0.1.
    """
    written = str(value)
    if len(written) <= SIGNIFICANT_DIGITS and "E" not in written:  # most of them
        return True
    digits = "".join(map(str, value.as_tuple().digits)).strip("0")
    return len(digits) <= SIGNIFICANT_DIGITS and abs(float(value)) >= SMALLEST_NORMAL
