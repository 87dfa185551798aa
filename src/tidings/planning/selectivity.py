"""The share of events that satisfy a predicate, estimated from statistics. An estimate steers, and decides nothing."""

from __future__ import annotations

from tidings.model.predicates import (
    Between,
    Comparison,
    HasAll,
    HasAny,
    In,
    IsNull,
    Like,
    LikePattern,
    Matches,
    Not,
    Operator,
    Predicate,
    Regex,
    Similarity,
    XPath,
)
from tidings.model.values import AttributeType
from tidings.planning.statistics import DEFAULT_RANGE, AttributeStatistics, EventStatistics, as_number
from tidings.planning.texts import DEFAULT_TEXT_SHARE, TextShares
from tidings.reference import like_holds

# Where no sample says anything: each literal character of a pattern halves the share, down to one in a thousand.
LEAST_PATTERN_SHARE = 0.001
LEAST_SHARE = 1e-9
NO_TEXTS = TextShares()


def share_of(term: Predicate | Not, statistics: EventStatistics, texts: TextShares = NO_TEXTS) -> float:
    """From just above 0 to 1."""
    if isinstance(term, Not):
        present = statistics.of(term.part.attribute).present  # type: ignore[union-attr]  # NOT of a predicate
        inner = share_of(term.part, statistics, texts)  # type: ignore[arg-type]  # the same
        return max(LEAST_SHARE, 1.0 - inner if isinstance(term.part, IsNull) else present - inner)
    return min(1.0, max(LEAST_SHARE, _share(term, statistics.of(term.attribute), texts)))


def _share(predicate: Predicate, known: AttributeStatistics, texts: TextShares) -> float:
    match predicate:
        case Comparison(_, Operator.EQUAL, literal):
            return known.equal(literal)
        case Comparison(_, Operator.NOT_EQUAL, literal):
            return known.present - known.equal(literal)
        case Comparison():
            return _bounded(predicate, known)
        case Between(_, low, high):
            return known.within(as_number(low.value), as_number(high.value)) if _on_a_line(low.type) else _some(known)
        case In(_, literals) | HasAny(_, literals):
            return sum(known.equal(literal) for literal in literals)
        case HasAll(_, literals):
            return min(known.equal(literal) for literal in literals)
        case Like(_, pattern, ignore_case):
            return _like(pattern, ignore_case, known)
        case IsNull():
            return 1.0 - known.present
        case Matches(_, words):
            return known.present * texts.of_pattern(words, known.patterns)
        case Similarity():
            return known.present * texts.of_similarity(predicate)
        case Regex() | XPath():
            return known.present * DEFAULT_TEXT_SHARE
    raise AssertionError(predicate)  # pragma: no cover - every kind is above


def _bounded(comparison: Comparison, known: AttributeStatistics) -> float:
    if not _on_a_line(comparison.literal.type):
        return _some(known)
    bound = as_number(comparison.literal.value)
    below = comparison.operator in (Operator.LESS, Operator.LESS_OR_EQUAL)
    return known.within(None, bound) if below else known.within(bound, None)


def _on_a_line(kind: AttributeType) -> bool:
    return kind in (AttributeType.NUMBER, AttributeType.TIMESTAMP)


def _some(known: AttributeStatistics) -> float:
    return known.present * DEFAULT_RANGE


def _like(pattern: LikePattern, ignore_case: bool, known: AttributeStatistics) -> float:
    if known.strings:
        found = sum(like_holds(text, pattern, ignore_case) for text in known.strings)
        return known.present * max(found, 0.5) / len(known.strings)
    literal = sum(len(part) for part in pattern if isinstance(part, str))
    return known.present * max(LEAST_PATTERN_SHARE, 0.5**literal)
