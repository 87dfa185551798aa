"""Which engine answers which kind of question: the one place that knows them all. Each is imported when needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tidings.analysis.latent import LatentSpace
from tidings.index.compiling import is_compiled_before
from tidings.index.facts import Engine
from tidings.index.layout import Array
from tidings.index.slots import SlotType
from tidings.model.predicates import Expression, Matches, Predicate, Similarity, XPath, predicates_of
from tidings.reference import Settings

_HERE = Path(__file__).parent


def question_of(predicate: Predicate) -> tuple[SlotType, Any] | None:
    """The kind of facts that decide a predicate, and what is asked of a text; None where no engine answers it."""
    match predicate:
        case Matches(_, pattern):
            return SlotType.PATTERN, pattern
        case Similarity(_, _, _, _, model):
            return SlotType.SIMILARITY if model is None else SlotType.LATENT, predicate
        case XPath(_, expression):
            return SlotType.XPATH, expression
        case _:
            return None


def need_no_compiler(expressions: Iterable[Expression]) -> bool:
    """Whether this host has kernels for all kinds of predicates in them, so that nobody waits for a compiler."""
    folders = {_HERE}
    for expression in expressions:
        for question in map(question_of, predicates_of(expression)):
            if question is not None:
                folders.add(_HERE / ("xml" if question[0] is SlotType.XPATH else "text"))
    return all(map(is_compiled_before, folders))


def built(
    kind: SlotType, questions: Sequence[Any], settings: Settings, documents: Sequence[str | bytes] = ()
) -> Engine:
    """An engine for these questions, numbered from 0. `documents` are a sample of those that they are asked about."""
    match kind:
        case SlotType.PATTERN:
            from tidings.index.text.patterns import PatternEngine

            return PatternEngine.build(questions, settings.analyser, settings.statistics)
        case SlotType.SIMILARITY:
            from tidings.index.text.similarity import SimilarityEngine

            return SimilarityEngine.build(questions, settings.analyser, settings.statistics)
        case SlotType.LATENT:
            from tidings.index.text.latent import LatentEngine

            return LatentEngine.build(questions, settings.analyser, _space(settings))
        case SlotType.XPATH:
            from tidings.index.xml.engine import XPathEngine

            return XPathEngine.build(questions, sample=documents)
    raise AssertionError(kind)  # pragma: no cover - every kind of facts is above


def mapped(kind: SlotType, arrays: Mapping[str, Array], settings: Settings) -> Engine:
    """The engine whose arrays these are."""
    match kind:
        case SlotType.PATTERN:
            from tidings.index.text.patterns import PatternEngine

            return PatternEngine.from_arrays(arrays, settings.analyser)
        case SlotType.SIMILARITY:
            from tidings.index.text.similarity import SimilarityEngine

            return SimilarityEngine.from_arrays(arrays, settings.analyser)
        case SlotType.LATENT:
            from tidings.index.text.latent import LatentEngine

            return LatentEngine.from_arrays(arrays, settings.analyser, _space(settings))
        case SlotType.XPATH:
            from tidings.index.xml.engine import XPathEngine

            return XPathEngine.from_arrays(arrays)
    raise AssertionError(kind)  # pragma: no cover - every kind of facts is above


def _space(settings: Settings) -> LatentSpace:
    assert settings.latent is not None, "what needs a latent space is refused where there is none"
    return settings.latent
