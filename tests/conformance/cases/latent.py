"""similarity with model => 'lsi': the cosine of the places of two texts in a latent space, rounded to 12 decimals.

The space is made by hand, and has no statistics, so that a word weighs 1 + ln tf. Red and fox lie in its first
dimension, sea in the second, wet between them, and not against red. A place is the sum of the rows of the terms.
"""

from __future__ import annotations

import numpy as np

from conformance.case import UNKNOWN, Case, Truth
from tidings import Settings
from tidings.analysis.latent import LatentSpace
from tidings.analysis.statistics import NO_STATISTICS
from tidings.analysis.words import SIMPLE, AnalyserVersion

ROWS = {"fox": (1, 0), "red": (1, 0), "sea": (0, 1), "wet": (1, 1), "not": (-1, 0)}
SETTINGS = Settings(
    latent=LatentSpace(
        tuple(ROWS),
        np.array(list(ROWS.values()), np.float32).ravel(),
        np.array([2.0, 1.0]),
        AnalyserVersion.of(SIMPLE),
        NO_STATISTICS,
    )
)


def _case(name: str, profile: str, threshold: str, text: object, expected: Truth) -> Case:
    return Case(name, f"similarity(a, '{profile}', model => 'lsi') {threshold}", {"a": text}, expected)


CASES = [
    _case("the same text is 1", "red fox", ">= 1", "Fox, red", True),
    _case("the same text is not more than 1", "red fox", "> 1", "red fox", False),
    _case("without a common word it can be 1", "red", ">= 1", "fox", True),
    _case("of two directions it is 0", "red", ">= 0", "sea", True),
    _case("of two directions it is not more than 0", "red", "> 0", "sea", False),
    _case("between two directions it is 0.7071", "red", ">= 0.7071", "wet", True),
    _case("between two directions it is not 0.7072", "red", ">= 0.7072", "wet", False),
    _case("to 12 decimals", "sea", ">= 0.707106781187", "wet", True),
    _case("to 12 decimals and no more", "sea", "> 0.707106781187", "wet", False),
    _case("against each other it is -1", "red", ">= 0", "not", False),
    # (2, 1) against (1, 1): 3 / sqrt(5 * 2)
    _case("words add up: 0.9486", "red wet", ">= 0.9486", "wet", True),
    _case("words add up: not 0.9487", "red wet", ">= 0.9487", "wet", False),
    # (1 + ln 2, 1) against (1, 0): 1.693147 / sqrt(1.693147^2 + 1)
    _case("a word twice counts 1 + ln 2: 0.8610", "red", ">= 0.861", "red red sea", True),
    _case("a word twice counts 1 + ln 2: not 0.8611", "red", ">= 0.8611", "red red sea", False),
    _case("words that are no terms count for nothing", "red", ">= 1", "a red dog", True),
    _case("what adds up to nothing is 0", "red", ">= 0", "red not", True),
    _case("a text without terms is 0", "red", ">= 0", "a dog", True),
    _case("a text without terms is not more than 0", "red", "> 0", "a dog", False),
    _case("a text without words is 0", "red", ">= 0", "", True),
    _case("a profile without terms is 0 to all", "dog", ">= 0", "red", True),
    _case("a profile without terms is not more than 0 to any", "dog", "> 0", "dog", False),
    _case("an array, one of its texts", "red", ">= 1", ["sea", "fox"], True),
    _case("an array, none of its texts", "red", ">= 1", ["sea", "wet"], False),
    _case("an array of a text and a number", "red", ">= 1", ["sea", 5], UNKNOWN),
    _case("a number is no text", "red", ">= 0", 5, UNKNOWN),
    _case("a missing text", "red", ">= 0", None, UNKNOWN),
    Case("beside words", "similarity(a, 'red', model => 'lsi') >= 1 AND matches(a, 'fox')", {"a": "fox"}, True),
]
