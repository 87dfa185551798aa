"""Numbers as the index holds them: the key of the nearest float64, and the *rest* that lies between the two.

float64 tells integers apart up to 2**53, and many identifiers are larger. Their rests are whole numbers, so that pairs
of key and rest are in the order of the integers, and differ where these do. What even the pair does not tell from its
neighbours is left to the reference: a fraction of more digits than every float64 has, and what is beyond float64.
"""

from __future__ import annotations

import math
from decimal import Decimal

from tidings.index.keys import number_key
from tidings.index.layout import MOST
from tidings.planning.long_numbers import is_short_fraction


def number_of(value: int | Decimal) -> tuple[int, int, bool]:
    """The key, the rest, and whether they tell the number from every other one that has a short fraction or none."""
    try:
        near = float(value)
    except OverflowError:  # of an int; a Decimal becomes infinite
        return number_key(math.inf if value > 0 else -math.inf), 0, False
    if isinstance(value, Decimal) and value != value.to_integral_value():
        return number_key(near), 0, is_short_fraction(value)
    if near == value:
        return number_key(near), 0, True
    rest = int(value) - int(near) if math.isfinite(near) else MOST
    return (number_key(near), rest, True) if abs(rest) < MOST else (number_key(near), 0, False)
