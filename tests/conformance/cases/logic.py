"""AND, OR and NOT with SQL's three values, as whole truth tables, and how they bind."""

from __future__ import annotations

from itertools import product

from conformance.case import UNKNOWN, Case, Truth

EVENT = {"t": 1, "f": 0}  # and no u
PREDICATES: dict[Truth, str] = {True: "t = 1", False: "f = 1", UNKNOWN: "u = 1"}
NAMES: dict[Truth, str] = {True: "true", False: "false", UNKNOWN: "unknown"}
VALUES = (True, False, UNKNOWN)

AND = {
    (True, True): True,
    (True, False): False,
    (True, UNKNOWN): UNKNOWN,
    (False, True): False,
    (False, False): False,
    (False, UNKNOWN): False,
    (UNKNOWN, True): UNKNOWN,
    (UNKNOWN, False): False,
    (UNKNOWN, UNKNOWN): UNKNOWN,
}
OR = {
    (True, True): True,
    (True, False): True,
    (True, UNKNOWN): True,
    (False, True): True,
    (False, False): False,
    (False, UNKNOWN): UNKNOWN,
    (UNKNOWN, True): True,
    (UNKNOWN, False): UNKNOWN,
    (UNKNOWN, UNKNOWN): UNKNOWN,
}
NOT = {True: False, False: True, UNKNOWN: UNKNOWN}


def _tables() -> list[Case]:
    cases = [Case(f"NOT {NAMES[x]}", f"NOT {PREDICATES[x]}", EVENT, NOT[x]) for x in VALUES]
    for x, y in product(VALUES, repeat=2):
        p, q, names = PREDICATES[x], PREDICATES[y], (NAMES[x], NAMES[y])
        cases += [
            Case("{} AND {}".format(*names), f"{p} AND {q}", EVENT, AND[x, y]),
            Case("{} OR {}".format(*names), f"{p} OR {q}", EVENT, OR[x, y]),
            Case("{} AND NOT {}".format(*names), f"{p} AND NOT {q}", EVENT, AND[x, NOT[y]]),
            Case("NOT {} OR {}".format(*names), f"NOT {p} OR {q}", EVENT, OR[NOT[x], y]),
            Case("NOT ({} AND {})".format(*names), f"NOT ({p} AND {q})", EVENT, NOT[AND[x, y]]),
            Case("NOT ({} OR {})".format(*names), f"NOT ({p} OR {q})", EVENT, NOT[OR[x, y]]),
        ]
    return cases


def _nested_tables() -> list[Case]:
    cases = []
    for x, y, z in product(VALUES, repeat=3):
        p, q, r, name = PREDICATES[x], PREDICATES[y], PREDICATES[z], f"{NAMES[x]}, {NAMES[y]}, {NAMES[z]}"
        cases += [
            Case(f"x AND (y OR z): {name}", f"{p} AND ({q} OR {r})", EVENT, AND[x, OR[y, z]]),
            Case(f"x OR y AND z: {name}", f"{p} OR {q} AND {r}", EVENT, OR[x, AND[y, z]]),
        ]
    return cases


TABLES = _tables()
NESTED_TABLES = _nested_tables()

CASES = [
    # Constants
    Case("TRUE", "TRUE", {}, True),
    Case("FALSE", "FALSE", {}, False),
    Case("unknown AND FALSE", "u = 1 AND FALSE", EVENT, False),
    Case("unknown AND TRUE", "u = 1 AND TRUE", EVENT, UNKNOWN),
    Case("unknown OR TRUE", "u = 1 OR TRUE", EVENT, True),
    Case("unknown OR FALSE", "u = 1 OR FALSE", EVENT, UNKNOWN),
    Case("TRUE AND FALSE", "TRUE AND FALSE", {}, False),
    Case("FALSE OR TRUE", "FALSE OR TRUE", {}, True),
    # Binding and nesting
    Case("AND binds closer than OR, on the left", "f = 1 AND f = 1 OR t = 1", EVENT, True),
    Case("AND binds closer than OR, on the right", "t = 1 OR f = 1 AND f = 1", EVENT, True),
    Case("parentheses bind closest", "(t = 1 OR f = 1) AND f = 1", EVENT, False),
    Case("many parentheses", "((((t = 1))))", EVENT, True),
    Case("small letters", "t = 1 and f = 1 or t = 1", EVENT, True),
    Case("the AND of BETWEEN is not the other AND", "t BETWEEN 0 AND 1 AND f = 0", EVENT, True),
    Case("BETWEEN, AND and OR", "t BETWEEN 5 AND 9 AND f = 0 OR t = 1", EVENT, True),
    Case("spaces and lines between words", "t\n=\t1\r\n  AND\nf = 0", EVENT, True),
    Case("no spaces where none are needed", "(t=1)AND(f=0)", EVENT, True),
    # The same attribute
    Case("a contradiction", "t = 1 AND t = 2", EVENT, False),
    Case("a contradiction about a missing attribute", "u = 1 AND u = 2", EVENT, UNKNOWN),
    Case("a tautology", "t = 1 OR NOT t = 1", EVENT, True),
    Case("a tautology about a missing attribute", "u = 1 OR NOT u = 1", EVENT, UNKNOWN),
    Case("a predicate and its negation", "t = 1 AND NOT t = 1", EVENT, False),
    Case("a range from two comparisons", "t > 0 AND t < 2", EVENT, True),
    Case("the same predicate twice", "t = 1 AND t = 1", EVENT, True),
    Case("one true conjunction among false ones", "t = 2 AND f = 0 OR t = 1 AND f = 0 OR t = 3", EVENT, True),
    Case("no conjunction is true as a whole", "t = 2 AND f = 0 OR t = 1 AND f = 1", EVENT, False),
]

# Apart from the others, since each of these costs as much as hundreds of them.
LARGE = [
    Case("a long AND", " AND ".join(["t = 1"] * 300), EVENT, True),
    Case("a long AND with one false", " AND ".join(["t = 1"] * 300 + ["f = 1"]), EVENT, False),
    Case("a long AND with one unknown", " AND ".join(["t = 1"] * 300 + ["u = 1"]), EVENT, UNKNOWN),
    Case("a long OR with one true", " OR ".join(["f = 1"] * 300 + ["t = 1"]), EVENT, True),
    Case("a long OR with one unknown", " OR ".join(["f = 1"] * 300 + ["u = 1"]), EVENT, UNKNOWN),
    Case("a deep nest", "(" * 60 + "t = 1" + ")" * 60, EVENT, True),
    Case("a deep nest of AND and OR", "t = 1 AND (f = 1 OR " * 25 + "t = 1" + ")" * 25, EVENT, True),
    Case("a deep nest of NOT", "NOT (" * 25 + "t = 1" + ")" * 25, EVENT, False),
]
