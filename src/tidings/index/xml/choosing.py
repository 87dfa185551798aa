"""What a sample of documents decides before an engine is built: how rare each atom is, and the cheapest method.

Section 5.4 of the thesis on FoXtrot: the predicate by which a question is found is the one that the fewest documents of
a sample satisfy. The sample is asked by the engine's own kernels. A sample steers, and decides no answer; equal
questions and samples give equal engines, since work is counted and not timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np

from tidings.index.facts import Facts
from tidings.index.layout import Array
from tidings.index.xml.layout import CANDIDATES, SCANNED, VERIFIED
from tidings.index.xml.lowering import Atom, Method, Rarity, by_kind
from tidings.model.xpath import XPathExpression

Work = Callable[[Sequence[XPathExpression], Method], float]  # of asking questions by a method
TRIED = 200  # questions that each method is tried with; of fewer the sample is not asked for the method
# A sample is read five times, which at so many characters a question takes less time than building it does.
READ_FOR_EACH = 1_000
FEWEST = 10  # documents that say anything, where the whole sample is too much

# What the counted work takes, roughly in nanoseconds: its proportions are what matters (`benchmarks/xpath.py`).
LOOKING_AT_A_CANDIDATE, VERIFYING, SCANNING_A_BYTE = 20.0, 400.0, 1.0


def worth_asking(sample: Sequence[str | bytes], questions: int) -> Sequence[str | bytes]:
    """As much of a sample as so many questions are worth: a small part of an index is built as fast as without one."""
    lengths = accumulate(len(document) for document in sample)
    count = sum(length <= READ_FOR_EACH * questions for length in lengths)
    return sample[:count] if count >= min(FEWEST, len(sample)) else ()


def rarity_by(atoms: Sequence[Atom], found: Facts) -> Rarity:
    """By the documents that each atom holds of, whose numbers are the facts; by the kind of test where as many."""
    counted = dict(zip(atoms, np.bincount(found.fact, minlength=len(atoms)).tolist(), strict=True))
    return lambda atom: (counted.get(atom, 0), *by_kind(atom))


def cheapest(questions: Sequence[XPathExpression], work: Work) -> Method:
    """The method that works least about some of the questions; the pruned one unless another is cheaper."""
    tried = questions[:: max(1, -(-len(questions) // TRIED))]
    found, least = Method.PRUNED, work(tried, Method.PRUNED)
    for method in Method:
        cost = work(tried, method) if method is not Method.PRUNED else least
        if cost < least:
            found, least = method, cost
    return found


def cost_of(counts: Array) -> float:
    """What an engine's counted work takes, apart from what is the same for all methods."""
    return float(
        LOOKING_AT_A_CANDIDATE * counts[CANDIDATES] + VERIFYING * counts[VERIFIED] + SCANNING_A_BYTE * counts[SCANNED]
    )
