"""Why an event satisfies a subscription, and why not: the tree of its parts, each with its truth and what was seen.

Truths come from `reference`, part by part; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tidings.analysis.cosine import contributions
from tidings.analysis.latent import latent_contributions
from tidings.analysis.pattern_failures import pattern_failures
from tidings.analysis.patterns import pattern_witness, positions_of
from tidings.analysis.xml import xpath_nodes
from tidings.analysis.xml_failures import xpath_failures
from tidings.errors import EventError
from tidings.language.namespaces import Prefixes
from tidings.language.parser import parse
from tidings.language.printer import print_attribute, print_expression
from tidings.language.text import print_pattern
from tidings.model.event import Event
from tidings.model.predicates import And, Constant, Expression, Matches, Not, Or, Predicate, Similarity, XPath
from tidings.model.text import TextPattern
from tidings.model.values import Unreadable, type_of
from tidings.model.xpath import text_of
from tidings.reference import Reading, Settings, Truth, check_answerable, scalar_truth, truth

SHOWN = 60  # characters of a value
LISTED = 6  # words or nodes named
_WORDS: dict[Truth, str] = {True: "true", False: "false", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """One part of a subscription on one event.

    `connective` is AND, OR or NOT of a part that has parts, and empty for a predicate; only a predicate has `seen`, the
    value it was asked of, and `details`, the words or nodes that satisfied it. `paths` say how events find the
    subscription, where it is one of a matcher.
    """

    text: str
    truth: Truth
    connective: str = ""
    seen: str = ""
    details: tuple[str, ...] = ()
    parts: tuple[Explanation, ...] = ()
    paths: tuple[str, ...] = ()

    @property
    def matches(self) -> bool:
        return self.truth is True

    @property
    def why(self) -> str:
        """One sentence: the first part that decided against the event, or that nothing did."""
        if self.matches:
            return f"it matches: {self.text} is true"
        decisive = self._decisive()
        seen = f": {decisive.seen}" if decisive.seen else ""
        return f"it does not match: {decisive.text} is {_WORDS[decisive.truth]}{seen}"

    def _decisive(self) -> Explanation:
        if not self.parts:
            return self
        if self.connective == "NOT":
            (part,) = self.parts
            return part if part.truth is True else part._decisive()
        return next(part for part in self.parts if part.truth is not True)._decisive()

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it; an unknown truth is null."""
        return {
            "text": self.text,
            "truth": self.truth,
            "connective": self.connective,
            "seen": self.seen,
            "details": list(self.details),
            "parts": [part.to_dict() for part in self.parts],
            "paths": list(self.paths),
        }

    def __str__(self) -> str:
        return "\n".join([*_lines(self, "", ""), *[f"found: {path}" for path in self.paths]])


def explain(where: str | Expression, event: Event | Mapping[str, Any], settings: Settings | None = None) -> Explanation:
    """The explanation of a subscription on an event."""
    expression, settings = parse(where) if isinstance(where, str) else where, settings or Settings()
    check_answerable(expression, settings)
    return _explained(expression, Reading(Event.of(event), settings))


def _explained(expression: Expression, reading: Reading) -> Explanation:
    text, value = print_expression(expression), truth(expression, reading)
    match expression:
        case And(parts) | Or(parts):
            connective = "AND" if isinstance(expression, And) else "OR"
            return Explanation(text, value, connective, parts=tuple(_explained(part, reading) for part in parts))
        case Not(part):
            return Explanation(text, value, "NOT", parts=(_explained(part, reading),))
        case Constant():
            return Explanation(text, value)
        case _:
            seen = _seen(expression, value, reading)
            return Explanation(text, value, "", seen, tuple(_details(expression, reading)))


def _seen(predicate: Predicate, outcome: Truth, reading: Reading) -> str:
    name = print_attribute(predicate.attribute)
    value = reading.event.value(predicate.attribute.path)
    reason = reading.unreadable.get(str(predicate.attribute))
    if isinstance(value, Unreadable) or (reason and outcome is None):
        return f"{name} cannot be read: {value.reason if isinstance(value, Unreadable) else reason}"
    if value is None:
        return f"the event has no {name}"
    shown = f"{name} is {_shown(value)}"
    if outcome is None and not isinstance(value, tuple):
        return f"{shown}, {_article(type_of(value))}"
    return shown


def _details(predicate: Predicate, reading: Reading) -> Iterator[str]:
    """What in a text or a document satisfied the predicate, or how close it came."""
    if not isinstance(predicate, Matches | Similarity | XPath):
        return
    value = reading.event.value(predicate.attribute.path)
    for element in value if isinstance(value, tuple) else (value,):
        if not isinstance(element, str | bytes):
            continue
        holds = scalar_truth(predicate, element, reading)
        if isinstance(predicate, Matches) and isinstance(element, str):
            yield from _limited(_pattern_details(predicate.pattern, element, holds, reading))
        elif isinstance(predicate, Similarity) and isinstance(element, str):
            yield from _similarity_details(predicate, element, reading)
        elif isinstance(predicate, XPath):
            yield from _node_details(predicate, element, holds, reading)


def _pattern_details(pattern: TextPattern, text: str, holds: Truth, reading: Reading) -> list[str]:
    """The words that satisfied it, or what the text lacks."""
    words, analyser = reading.words(text), reading.settings.analyser
    if not holds:
        return list(pattern_failures(pattern, words, analyser, lambda part: _cut(print_pattern(part))))
    found = pattern_witness(pattern, words, analyser)
    return [f"word {at}: {text[words[at].start : words[at].end]}" for at in found]


def _similarity_details(predicate: Similarity, text: str, reading: Reading) -> Iterator[str]:
    """The cosine, and the words that make it: the part of each, and where in the text it stands."""
    profile, document, settings = reading.words(predicate.profile), reading.words(text), reading.settings
    latent = settings.latent if predicate.model is not None else None
    yield f"cosine {reading.similarity(predicate, text):.4g}{'' if latent is None else ' in the latent space'}"
    if latent is None:
        shares = contributions(profile, document, settings.statistics)
    else:
        shares = latent_contributions(latent, profile, document)
    positions = positions_of(document)
    yield from _limited([f"{word}: {share:.4g} ({_places(positions[word])})" for word, share in shares])


def _places(positions: Sequence[int]) -> str:
    shown = [str(position) for position in positions[:LISTED]] + ["…"] * (len(positions) > LISTED)
    return f"word{'s' if len(positions) > 1 else ''} {', '.join(shown)}"


def _node_details(predicate: XPath, source: str | bytes, holds: Truth, reading: Reading) -> Iterator[str]:
    """The nodes that satisfied it; or how far its paths lead, and what stopped them."""
    try:
        document = reading.document(source)
    except EventError:
        return
    if not holds:
        prefixes = Prefixes()
        text_of(predicate.expression, prefixes.name)  # numbers them as the canonical text does
        yield from _limited(list(xpath_failures(predicate.expression, document, prefixes.name)))
        return
    nodes = xpath_nodes(predicate.expression, document, LISTED + 1)
    yield from _limited([f"{node.path} (line {node.line}): {_shown(node.value)}" for node in nodes])


def _limited(lines: list[str]) -> list[str]:
    return lines if len(lines) <= LISTED else [*lines[:LISTED], f"and {len(lines) - LISTED} more"]


def _shown(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix("+00:00") + " UTC"
    if isinstance(value, tuple):
        shown = [_shown(element) for element in value[:LISTED]] + ["…"] * (len(value) > LISTED)
        text = f"[{', '.join(shown)}]"
    elif value is None:
        text = "null"
    elif isinstance(value, bool):
        text = "TRUE" if value else "FALSE"
    else:
        text = repr(value) if isinstance(value, str | bytes) else _number(value)
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _number(value: object) -> str:
    try:
        return str(value)
    except ValueError:  # Python writes no integers of thousands of digits
        return "an integer of very many digits"


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "ax" else f"a {kind}"


def _lines(part: Explanation, first: str, rest: str) -> Iterator[str]:
    seen = f"   ({part.seen})" if part.seen else ""
    yield f"{first}{_WORDS[part.truth]:<7} {part.text}{seen}"
    bar = "│ " if part.parts else "  "
    for detail in part.details:
        yield f"{rest}{bar}      {detail}"
    for number, child in enumerate(part.parts):
        last = number == len(part.parts) - 1
        yield from _lines(child, rest + ("└ " if last else "├ "), rest + ("  " if last else "│ "))
