"""The definition of a match: an event satisfies a subscription when `holds` says so, and every faster way must agree.

    for event in events:
        for subscription in subscriptions:
            if holds(subscription.where, event): emit(event.id, subscription.id)

Readable top to bottom, one small function per kind of predicate, nothing indexed. Logic is SQL's, with three values:
True, False, and None for unknown. A predicate is unknown where its attribute is missing, null, unreadable or of another
type, and only True matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

from tidings.analysis.cosine import cosine
from tidings.analysis.latent import LatentSpace, latent_cosine
from tidings.analysis.patterns import pattern_holds
from tidings.analysis.statistics import NO_STATISTICS, TextStatistics
from tidings.analysis.words import SIMPLE, Analyser, Word
from tidings.analysis.xml import Document, read_document, xpath_holds
from tidings.errors import EventError, SettingError
from tidings.language.parser import parse
from tidings.model.event import Event
from tidings.model.predicates import (
    And,
    Attribute,
    Between,
    Comparison,
    Constant,
    Expression,
    HasAll,
    HasAny,
    In,
    IsNull,
    Like,
    LikePattern,
    Matches,
    Not,
    Operator,
    Or,
    Predicate,
    Regex,
    Similarity,
    Wildcard,
    XPath,
    negation,
)
from tidings.model.result import EventProblem
from tidings.model.text import TextPattern
from tidings.model.values import AttributeType, Literal, Unreadable, type_of

Truth: TypeAlias = bool | None


@dataclass(frozen=True, slots=True)
class Settings:
    """What the truth of text predicates depends on besides the text: the analyser, how common words are, and for
    similarity with model => 'lsi' a latent space, which was fitted with the same analyser."""

    analyser: Analyser = SIMPLE
    statistics: TextStatistics = NO_STATISTICS
    latent: LatentSpace | None = None

    def __post_init__(self) -> None:
        self.statistics.check_analyser(self.analyser)
        if self.latent is not None:
            self.latent.check_analyser(self.analyser)


@dataclass(slots=True)
class Reading:
    """One event while it is matched: what has been read of it, what could not be, and how many types did not fit."""

    event: Event
    settings: Settings = field(default_factory=Settings)
    mismatches: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)
    _words: dict[str, tuple[Word, ...]] = field(default_factory=dict)
    _places: dict[str, tuple[float, ...]] = field(default_factory=dict)
    _documents: dict[str | bytes, Document | EventError] = field(default_factory=dict)

    def problems(self) -> tuple[EventProblem, ...]:
        return tuple(EventProblem(self.event.id, name, reason) for name, reason in self.unreadable.items())

    def words(self, text: str) -> tuple[Word, ...]:
        if text not in self._words:
            self._words[text] = self.settings.analyser.words(text)
        return self._words[text]

    def similarity(self, predicate: Similarity, text: str) -> float:
        """The rounded cosine of the text with the profile, of words or in the latent space."""
        if predicate.model is None:
            return cosine(self.words(predicate.profile), self.words(text), self.settings.statistics)
        return latent_cosine(self._place(predicate.profile), self._place(text))

    def _place(self, text: str) -> tuple[float, ...]:
        if text not in self._places:
            assert self.settings.latent is not None  # `check_answerable` has refused what needs one
            self._places[text] = self.settings.latent.project(self.words(text))
        return self._places[text]

    def document(self, source: str | bytes) -> Document:
        if source not in self._documents:
            try:
                self._documents[source] = read_document(source)
            except EventError as error:
                self._documents[source] = error
        found = self._documents[source]
        if isinstance(found, EventError):
            raise found
        return found


def holds(where: str | Expression, event: Event | Mapping[str, Any], settings: Settings | None = None) -> bool:
    """Whether the event satisfies the subscription."""
    expression, settings = parse(where) if isinstance(where, str) else where, settings or Settings()
    check_answerable(expression, settings)
    return truth(expression, Reading(Event.of(event), settings)) is True


def check_answerable(expression: Expression, settings: Settings | None = None) -> None:
    """Refuses what can be written but not answered with these settings, before it is stored or asked."""
    kind = type(expression)
    if kind is Comparison or kind is Between:  # nearly all, and asked of every subscription that is added
        return
    if isinstance(expression, And | Or):
        for part in expression.parts:
            check_answerable(part, settings)
    elif isinstance(expression, Not):
        check_answerable(expression.part, settings)
    elif isinstance(expression, Similarity) and expression.model is not None:
        _check_latent(expression.model, settings)


def _check_latent(model: str, settings: Settings | None) -> None:
    if settings is None or settings.latent is None:
        raise SettingError(
            f"similarity with model => '{model}' needs a latent space, and there is none here; give one that was "
            "fitted on a sample of texts (Settings.latent), or leave the model out to compare words"
        )


def truth(expression: Expression, reading: Reading) -> Truth:
    """True, False or None (unknown), by SQL's rules."""
    match expression:
        case Constant(value):
            return value
        case Not(part):
            inner = truth(part, reading)
            return None if inner is None else not inner
        case And(parts):
            return _all(truth(part, reading) for part in parts)
        case Or(parts):
            return _any(truth(part, reading) for part in parts)
        case _:
            return predicate_truth(expression, reading)


def predicate_truth(predicate: Predicate, reading: Reading) -> Truth:
    value = reading.event.value(predicate.attribute.path)
    if isinstance(value, Unreadable):
        reading.unreadable[str(predicate.attribute)] = value.reason
        return None
    match predicate:
        case IsNull():
            return value is None
        case HasAll(_, literals):
            _note_unreadable(predicate, value, reading)
            return _of_array(value, reading, lambda array: _all(_contains(array, x, reading) for x in literals))
        case HasAny(_, literals):
            _note_unreadable(predicate, value, reading)
            return _of_array(value, reading, lambda array: _any(_contains(array, x, reading) for x in literals))
        case _:
            return _of_value(value, lambda element: scalar_truth(predicate, element, reading))


def _note_unreadable(predicate: Predicate, array: Any, reading: Reading) -> None:
    for element in array if isinstance(array, tuple) else ():
        if isinstance(element, Unreadable):
            reading.unreadable[str(predicate.attribute)] = element.reason


def scalar_truth(predicate: Predicate, value: Any, reading: Reading) -> Truth:
    """The truth of a predicate on one value that is there: a scalar, or one element of an array."""
    if isinstance(value, Unreadable):
        reading.unreadable[str(predicate.attribute)] = value.reason
        return None
    match predicate:
        case Comparison(_, operator, literal):
            return _compared(value, operator, literal, reading)
        case Between(_, low, high):
            return _all(
                [
                    _compared(value, Operator.GREATER_OR_EQUAL, low, reading),
                    _compared(value, Operator.LESS_OR_EQUAL, high, reading),
                ]
            )
        case In(_, literals):
            return _any(_compared(value, Operator.EQUAL, literal, reading) for literal in literals)
        case Like(_, wildcards, ignore_case):
            return _of_string(value, reading, lambda text: like_holds(text, wildcards, ignore_case))
        case Regex(_, regex):
            return _of_string(value, reading, lambda text: _regex(regex).search(text) is not None)
        case Matches(_, pattern):
            return _of_string(value, reading, lambda text: _matches(pattern, text, reading))
        case Similarity():
            return _of_string(value, reading, lambda text: _similar(predicate, text, reading))
        case XPath(attribute, expression):
            return _of_xml(value, attribute, reading, lambda document: xpath_holds(expression, document))
    raise AssertionError(predicate)  # pragma: no cover - every kind is above


def score(expression: Expression, reading: Reading) -> float | None:
    """How similar an event that satisfies a subscription is to what it asks for; None where no similarity says so.

    Of a similarity it is the cosine, of an array of texts the highest. Of an AND it is the lowest of what its parts
    have, of an OR the highest of what those parts have that hold. A predicate of another kind has none. NOT is
    pushed down to the predicates, and a predicate under NOT has none either.
    """
    return _score(expression, reading) if truth(expression, reading) is True else None


def _score(expression: Expression, reading: Reading) -> float | None:
    """The same of an expression that is known to hold."""
    match expression:
        case And(parts):
            return min(_scores(parts, reading), default=None)
        case Or(parts):
            return max(_scores([part for part in parts if truth(part, reading) is True], reading), default=None)
        case Not(And(parts)):
            return _score(Or(tuple(map(negation, parts))), reading)
        case Not(Or(parts)):
            return _score(And(tuple(map(negation, parts))), reading)
        case Similarity(attribute):
            value = reading.event.value(attribute.path)
            texts = value if isinstance(value, tuple) else (value,)
            return max(reading.similarity(expression, text) for text in texts if isinstance(text, str))
        case _:
            return None


def _scores(parts: Iterable[Expression], reading: Reading) -> list[float]:
    return [found for part in parts if (found := _score(part, reading)) is not None]


# Three-valued logic


def _all(truths: Iterable[Truth]) -> Truth:
    result: Truth = True
    for each in truths:
        if each is False:
            return False
        if each is None:
            result = None
    return result


def _any(truths: Iterable[Truth]) -> Truth:
    result: Truth = False
    for each in truths:
        if each is True:
            return True
        if each is None:
            result = None
    return result


# Which values a predicate is asked of


def _of_value(value: Any, test: Callable[[Any], Truth]) -> Truth:
    """A scalar as it is; an array by any of its elements, of which a null one is unknown."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return _any(None if element is None else test(element) for element in value)
    return test(value)


def _of_array(value: Any, reading: Reading, test: Callable[[tuple[Any, ...]], Truth]) -> Truth:
    if value is None:
        return None
    return test(value) if isinstance(value, tuple) else _mismatch(reading)


def _of_string(value: Any, reading: Reading, test: Callable[[str], bool]) -> Truth:
    return test(value) if isinstance(value, str) else _mismatch(reading)


def _of_xml(value: Any, attribute: Attribute, reading: Reading, test: Callable[[Document], bool]) -> Truth:
    if not isinstance(value, str | bytes):
        return _mismatch(reading)
    try:
        return test(reading.document(value))
    except EventError as error:
        reading.unreadable[str(attribute)] = str(error)
        return None


def _mismatch(reading: Reading) -> Truth:
    reading.mismatches += 1
    return None


# Kinds of predicate


def _compared(value: Any, operator: Operator, literal: Literal, reading: Reading) -> Truth:
    if type_of(value) is not literal.type:
        return _mismatch(reading)
    order = _order(value, literal)
    if order is None:
        return None
    match operator:
        case Operator.EQUAL:
            return order == 0
        case Operator.NOT_EQUAL:
            return order != 0
        case Operator.LESS:
            return order < 0
        case Operator.LESS_OR_EQUAL:
            return order <= 0
        case Operator.GREATER:
            return order > 0
        case Operator.GREATER_OR_EQUAL:
            return order >= 0


def _order(value: Any, literal: Literal) -> int | None:
    """Negative, 0 or positive as the value is below, equal to or above the literal; None where a number is none.

    Numbers compare by their exact values, with one exception: a literal with a fraction stands for the nearest
    float64 when the event's value is a float64, so that price = 94.2 finds the float 94.2.
    """
    other: Any = literal.value
    if literal.type is AttributeType.NUMBER:
        if value != value:  # NaN, of a float or a Decimal
            return None
        if isinstance(value, float) and isinstance(other, Decimal):
            other = float(other)
    return (value > other) - (value < other)  # type: ignore[no-any-return]  # both are of one type, seen above


def _contains(array: tuple[Any, ...], literal: Literal, reading: Reading) -> Truth:
    """Whether an element equals the literal; one that is null or cannot be read might."""
    return _any(
        None
        if element is None or isinstance(element, Unreadable)
        else _compared(element, Operator.EQUAL, literal, reading)
        for element in array
    )


def like_holds(text: str, pattern: LikePattern, ignore_case: bool) -> bool:
    """Wildcards by the usual two pointers: on a mismatch, the last % takes one character more."""
    wanted: list[str | Wildcard] = []
    for part in pattern:
        wanted.extend([part] if isinstance(part, Wildcard) else (fold(part) if ignore_case else part))
    if ignore_case:
        text = fold(text)
    at, next_wanted, after_any, taken = 0, 0, -1, 0
    while at < len(text):
        want = wanted[next_wanted] if next_wanted < len(wanted) else None
        if want is Wildcard.ANY:
            after_any, taken = next_wanted + 1, at
            next_wanted += 1
        elif want is Wildcard.ONE or want == text[at]:
            at, next_wanted = at + 1, next_wanted + 1
        elif after_any >= 0:
            taken += 1
            at, next_wanted = taken, after_any
        else:
            return False
    return all(want is Wildcard.ANY for want in wanted[next_wanted:])


def fold(text: str) -> str:
    """Case folded character by character, so that _ still means one character: ß stays one, and equals ẞ."""
    return text.lower() if text.isascii() else "".join(map(_folded, text))


def _folded(character: str) -> str:
    for folded in (character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character


@lru_cache(maxsize=4096)
def _regex(pattern: str) -> Any:
    import re2  # at first use: most subscriptions have no regular expression

    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _matches(pattern: TextPattern, text: str, reading: Reading) -> bool:
    return pattern_holds(pattern, reading.words(text), reading.settings.analyser)


def _similar(predicate: Similarity, text: str, reading: Reading) -> bool:
    score = reading.similarity(predicate, text)
    return score > predicate.threshold if predicate.operator is Operator.GREATER else score >= predicate.threshold
