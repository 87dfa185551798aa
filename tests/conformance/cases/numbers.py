"""Numbers: int, float and Decimal compare by their exact values, and nothing else is a number.

A literal without a fraction is an integer however it is written. One with a fraction stands for itself against an int
or a Decimal, and for the nearest float64 against a float. With NaN every comparison is unknown.
"""

from __future__ import annotations

import math
from decimal import Decimal

from conformance.case import UNKNOWN, Case, comparisons, unknown_comparisons

INFINITY = math.inf
NAN = math.nan
BEYOND_FLOATS = 2**53 + 1  # 9007199254740993, the first integer that no float64 is

COMPARISONS = [
    *comparisons("int, int literal", "5", 4, 5, 6),
    *comparisons("negative int, negative literal", "-5", -6, -5, -4),
    *comparisons("float, int literal", "5", math.nextafter(5.0, 0), 5.0, math.nextafter(5.0, 9)),
    *comparisons("float, fraction", "94.2", math.nextafter(94.2, 0), 94.2, math.nextafter(94.2, 99)),
    *comparisons("decimal, fraction", "94.2", Decimal("94.1999999999999999999"), Decimal("94.2"), Decimal("94.21")),
    *comparisons("int beyond float64's integers", "9007199254740993", 2**53, BEYOND_FLOATS, 2**53 + 2),
    *comparisons("int of forty digits", "1" + "0" * 39, 10**39 - 1, 10**39, 10**39 + 1),
]

NOT_COMPARABLE = [
    *unknown_comparisons("NaN, int literal", "5", NAN),
    *unknown_comparisons("decimal NaN, fraction", "0.5", Decimal("NaN")),
    *unknown_comparisons("a numeric string is no number", "5", "5"),
    *unknown_comparisons("true is not 1", "1", True),
]

CASES = [
    Case("!= is <>", "a != 5", {"a": 6}, True),
    Case("!= is <>, on an equal value", "a != 5", {"a": 5}, False),
    Case("the largest int64", "a = 9223372036854775807", {"a": 2**63 - 1}, True),
    Case("one below the largest int64", "a < 9223372036854775807", {"a": 2**63 - 2}, True),
    Case("one above the largest int64", "a > 9223372036854775807", {"a": 2**63}, True),
    Case("the smallest int64", "a = -9223372036854775808", {"a": -(2**63)}, True),
    Case("an int is below a fraction", "a < 0.5", {"a": 0}, True),
    Case("an int is above a fraction", "a > 0.5", {"a": 1}, True),
    Case("an int equals no fraction", "a = 0.5", {"a": 1}, False),
    Case("a decimal just below an int literal", "a = 5", {"a": Decimal("4.999999999999999999999")}, False),
    Case("a decimal equal to an int literal", "a = 5", {"a": Decimal("5.00")}, True),
    Case("the float 1e22 is the integer 10^22", "a = 1e22", {"a": 1e22}, True),
    # Ways to write a literal
    Case("5.0 is the int 5", "a = 5.0", {"a": 5}, True),
    Case("5. is the int 5", "a = 5.", {"a": 5}, True),
    Case(".5 is a half", "a = .5", {"a": 0.5}, True),
    Case("1e3 is a thousand", "a = 1e3", {"a": 1000}, True),
    Case("1E-2 is a hundredth", "a = 1E-2", {"a": 0.01}, True),
    Case("2.5e1 is 25", "a = 2.5e1", {"a": 25}, True),
    Case("1.5e+1 is 15", "a = 1.5e+1", {"a": 15}, True),
    Case("leading zeros mean nothing", "a = 007", {"a": 7}, True),
    Case("a plus sign means nothing", "a = +5", {"a": 5}, True),
    Case("a sign may stand apart", "a = - 5", {"a": -5}, True),
    Case("a sign needs no space before it", "a =-5", {"a": -5}, True),
    Case("a sign is not dropped", "a = -5", {"a": 5}, False),
    # The literal first
    Case("literal first, =", "5 = a", {"a": 5}, True),
    Case("literal first, <>", "5 <> a", {"a": 5}, False),
    Case("literal first, < means the attribute is above", "5 < a", {"a": 6}, True),
    Case("literal first, < is turned round", "5 < a", {"a": 4}, False),
    Case("literal first, <= holds at the literal", "5 <= a", {"a": 5}, True),
    Case("literal first, > means the attribute is below", "5 > a", {"a": 4}, True),
    Case("literal first, > is turned round", "5 > a", {"a": 6}, False),
    Case("literal first, >= holds at the literal", "5 >= a", {"a": 5}, True),
    # Huge integers against floats
    Case("a literal that no float is, equals none", "a = 9007199254740993", {"a": 9007199254740992.0}, False),
    Case("the float next below such a literal is below", "a < 9007199254740993", {"a": 9007199254740992.0}, True),
    Case("the float next above such a literal is above", "a > 9007199254740993", {"a": 9007199254740994.0}, True),
    Case("an int does not equal its neighbour", "a = 9007199254740992", {"a": BEYOND_FLOATS}, False),
    Case("an int keeps its last digit beside .0", "a = 9007199254740993.0", {"a": BEYOND_FLOATS}, True),
    Case("a decimal keeps its last digit", "a = 9007199254740993", {"a": Decimal(BEYOND_FLOATS)}, True),
    Case("a fraction beyond floats is its nearest float", "a = 9007199254740993.5", {"a": 9007199254740994.0}, True),
    Case("a fraction beyond floats is itself to an int", "a = 9007199254740993.5", {"a": 2**53 + 2}, False),
    Case("a fraction beyond floats lies between two ints", "a > 9007199254740993.5", {"a": 2**53 + 2}, True),
    Case("1e23 is an integer that no float is", "a = 1e23", {"a": 1e23}, False),
    Case("the float 1e23 lies below the integer", "a < 1e23", {"a": 1e23}, True),
    Case("the integer 10^23 is 1e23", "a = 1e23", {"a": 10**23}, True),
    Case("an int beyond every float is above 1e308", "a > 1e308", {"a": 10**400}, True),
    Case("a negative one is below -1e308", "a < -1e308", {"a": -(10**400)}, True),
    Case("an int beyond every float equals no fraction", "a = 0.5", {"a": 10**400}, False),
    Case("an int beyond every float lies in no range", "a BETWEEN 0 AND 1e308", {"a": 10**400}, False),
    # Fractions
    Case("0.1 finds the float 0.1", "a = 0.1", {"a": 0.1}, True),
    Case("0.1 finds the decimal 0.1", "a = 0.1", {"a": Decimal("0.1")}, True),
    Case("0.1 is not the decimal value of the float 0.1", "a = 0.1", {"a": Decimal.from_float(0.1)}, False),
    Case("the decimal value of the float 0.1 is above 0.1", "a > 0.1", {"a": Decimal.from_float(0.1)}, True),
    Case("0.3 is not the float 0.1 + 0.2", "a = 0.3", {"a": 0.1 + 0.2}, False),
    Case("the float 0.1 + 0.2 in full", "a = 0.30000000000000004", {"a": 0.1 + 0.2}, True),
    Case("many digits are the nearest float", "a = 0.1000000000000000055511151231257827", {"a": 0.1}, True),
    Case(
        "many digits are not another decimal", "a = 0.1000000000000000055511151231257827", {"a": Decimal("0.1")}, False
    ),
    Case("zeros after a decimal mean nothing", "a = 12.5", {"a": Decimal("12.500")}, True),
    Case("a decimal with an exponent", "a = 1000", {"a": Decimal("1E+3")}, True),
    Case(
        "a decimal of more digits than a float has",
        "a = 0.12345678901234567890",
        {"a": Decimal("0.1234567890123456789")},
        True,
    ),
    Case(
        "a decimal that differs in the last digit",
        "a = 0.12345678901234567890",
        {"a": Decimal("0.1234567890123456788")},
        False,
    ),
    # Zeros, the smallest and the infinite
    Case("-0.0 equals 0", "a = 0", {"a": -0.0}, True),
    Case("-0.0 is not below 0", "a < 0", {"a": -0.0}, False),
    Case("-0.0 is at least 0", "a >= 0", {"a": -0.0}, True),
    Case("0.0 equals the literal -0.0", "a = -0.0", {"a": 0.0}, True),
    Case("0 equals the literal -0", "a = -0", {"a": 0}, True),
    Case("the decimal -0 equals 0", "a = 0", {"a": Decimal("-0")}, True),
    Case("-0.0 is in (0)", "a IN (0)", {"a": -0.0}, True),
    Case("the smallest float is above 0", "a > 0", {"a": 5e-324}, True),
    Case("the smallest float is not 0", "a = 0", {"a": 5e-324}, False),
    Case("the smallest float is below the smallest literal", "a < 1e-308", {"a": 5e-324}, True),
    Case("infinity is above every literal", "a > 1e308", {"a": INFINITY}, True),
    Case("infinity equals no literal", "a = 1e308", {"a": INFINITY}, False),
    Case("infinity differs from every literal", "a <> 5", {"a": INFINITY}, True),
    Case("infinity is above a fraction", "a >= 0.5", {"a": INFINITY}, True),
    Case("infinity lies in no range", "a BETWEEN 0 AND 1e308", {"a": INFINITY}, False),
    Case("infinity is in no list", "a IN (1, 2)", {"a": INFINITY}, False),
    Case("minus infinity is below every literal", "a < -1e308", {"a": -INFINITY}, True),
    Case("minus infinity is not above", "a > -1e308", {"a": -INFINITY}, False),
    Case("infinity as a decimal is above every literal", "a > 1e308", {"a": Decimal("Infinity")}, True),
    Case("minus infinity as a decimal is below a fraction", "a < 0.5", {"a": Decimal("-Infinity")}, True),
    # NaN and a fraction, and elsewhere than in a comparison
    Case("NaN is not below a fraction", "a < 0.5", {"a": NAN}, UNKNOWN),
    Case("NaN in a list", "a IN (1, 2)", {"a": NAN}, UNKNOWN),
    Case("NaN not in a list", "a NOT IN (1, 2)", {"a": NAN}, UNKNOWN),
    Case("NaN between", "a BETWEEN 0 AND 10", {"a": NAN}, UNKNOWN),
    Case("NaN not between", "a NOT BETWEEN 0 AND 10", {"a": NAN}, UNKNOWN),
    Case("minus NaN", "a < 5", {"a": -NAN}, UNKNOWN),
    # BETWEEN
    Case("between: inside", "a BETWEEN 3 AND 7", {"a": 5}, True),
    Case("between: at the low end", "a BETWEEN 3 AND 7", {"a": 3}, True),
    Case("between: at the high end", "a BETWEEN 3 AND 7", {"a": 7}, True),
    Case("between: below", "a BETWEEN 3 AND 7", {"a": 2}, False),
    Case("between: above", "a BETWEEN 3 AND 7", {"a": 8}, False),
    Case("between: a float just below", "a BETWEEN 3 AND 7", {"a": math.nextafter(3.0, 0)}, False),
    Case("between: a float just above", "a BETWEEN 3 AND 7", {"a": math.nextafter(7.0, 8)}, False),
    Case("between: fractions as ends, a float at one", "a BETWEEN 0.1 AND 0.3", {"a": 0.1}, True),
    Case("between: fractions as ends, 0.1 + 0.2 is past 0.3", "a BETWEEN 0.1 AND 0.3", {"a": 0.1 + 0.2}, False),
    Case("between: a decimal at a fraction", "a BETWEEN 0.1 AND 0.3", {"a": Decimal("0.3")}, True),
    Case("between: one point", "a BETWEEN 5 AND 5", {"a": 5}, True),
    Case("between: ends the wrong way round hold nothing", "a BETWEEN 7 AND 3", {"a": 5}, False),
    Case("between: negative ends", "a BETWEEN -7 AND -3", {"a": -5}, True),
    Case("not between: inside", "a NOT BETWEEN 3 AND 7", {"a": 5}, False),
    Case("not between: outside", "a NOT BETWEEN 3 AND 7", {"a": 8}, True),
    Case("not between: ends the wrong way round", "a NOT BETWEEN 7 AND 3", {"a": 5}, True),
    # IN
    Case("in: the first", "a IN (1, 2, 3)", {"a": 1}, True),
    Case("in: the last", "a IN (1, 2, 3)", {"a": 3}, True),
    Case("in: none", "a IN (1, 2, 3)", {"a": 4}, False),
    Case("in: a list of one", "a IN (5)", {"a": 5}, True),
    Case("in: the same value twice", "a IN (5, 5)", {"a": 5}, True),
    Case("in: a float equal to an int", "a IN (1, 2, 3)", {"a": 2.0}, True),
    Case("in: a float between ints", "a IN (1, 2, 3)", {"a": 2.5}, False),
    Case("in: a float equal to a fraction", "a IN (0.1, 0.2)", {"a": 0.2}, True),
    Case("in: a decimal equal to a fraction", "a IN (0.1, 0.2)", {"a": Decimal("0.20")}, True),
    Case("in: a negative value", "a IN (-1, 1)", {"a": -1}, True),
    Case("in: a huge int, exactly", "a IN (9007199254740992, 9007199254740994)", {"a": BEYOND_FLOATS}, False),
    Case("not in: none", "a NOT IN (1, 2, 3)", {"a": 4}, True),
    Case("not in: one", "a NOT IN (1, 2, 3)", {"a": 2}, False),
    # Other types
    Case("false is not 0", "a = 0", {"a": False}, UNKNOWN),
    Case("false is not less than 1", "a < 1", {"a": False}, UNKNOWN),
    Case("a boolean is in no list of numbers", "a IN (0, 1)", {"a": True}, UNKNOWN),
    Case("a boolean is in no range", "a BETWEEN 0 AND 1", {"a": True}, UNKNOWN),
    Case("a numeric string is in no list of numbers", "a IN (5, 6)", {"a": "5"}, UNKNOWN),
    Case("a numeric string is in no range", "a BETWEEN 0 AND 9", {"a": "5"}, UNKNOWN),
    Case("an empty string is no number", "a = 0", {"a": ""}, UNKNOWN),
    Case("bytes are no number", "a = 5", {"a": b"5"}, UNKNOWN),
    Case("a record is no number", "a = 5", {"a": {"b": 5}}, UNKNOWN),
]
