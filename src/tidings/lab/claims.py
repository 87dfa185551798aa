"""What a paper claims, and what we measured: a claim has a verdict that follows from numbers, and a reason.

The verdict is `agrees`, `partly` (the direction is right, the size is not, or one of several is not) or `differs`; and
`no value` where the text that we have gives nothing to compare with. A reason is given wherever it is not `agrees`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

AGREES, PARTLY, DIFFERS, NO_VALUE = "agrees", "partly", "differs", "no value"


@dataclass(frozen=True, slots=True)
class Claim:
    where: str  # in the paper
    statement: str
    published: str
    ours: str
    verdict: str
    why: str = ""


def verdict_of_factor(ours: float, published: float, tolerance: float = 0.25) -> str:
    """Agrees within a share of the published factor; partly if it is on the same side of 1."""
    if abs(ours / published - 1) <= tolerance:
        return AGREES
    return PARTLY if (ours - 1) * (published - 1) > 0 else DIFFERS


def rises(values: Sequence[float]) -> bool:
    return all(one < other for one, other in pairwise(values))


def falls(values: Sequence[float]) -> bool:
    return rises([-value for value in values])


def correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Pearson's; 1 where one is a straight line over the other."""
    import numpy as np

    return float(np.corrcoef(one, other)[0, 1])


def as_markdown(claims: Sequence[Claim]) -> str:
    lines = ["| in the paper | claim | published | ours | verdict | why |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {each.where} | {each.statement} | {each.published} | {each.ours} | **{each.verdict}** | {each.why} |"
        for each in claims
    ]
    return "\n".join(lines)
