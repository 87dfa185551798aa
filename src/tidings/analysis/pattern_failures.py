"""What a text lacks that does not satisfy a text pattern: the words that are not in it, for an explanation.

Of an AND the parts that are false, of an OR all of them in one line, of a chain the words that are missing; where none
is, they are too far apart or in another order. Truths are those of `patterns`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tidings.analysis.patterns import chain_of, pattern_holds
from tidings.analysis.words import Analyser, Word
from tidings.model.text import AllOf, AnyOf, Not, Terms, TextPattern

ALTERNATIVES = 6  # of an OR that are named


def pattern_failures(
    pattern: TextPattern, words: Sequence[Word], analyser: Analyser, shown: Callable[[TextPattern], str]
) -> Iterator[str]:
    """One line for each reason why the pattern is false; `shown` writes a part of it."""
    match pattern:
        case AllOf(parts):
            for part in parts:
                if not pattern_holds(part, words, analyser):
                    yield from pattern_failures(part, words, analyser, shown)
        case AnyOf(parts):
            more = f" and {len(parts) - ALTERNATIVES} more" if len(parts) > ALTERNATIVES else ""
            yield f"none of: {', '.join(map(shown, parts[:ALTERNATIVES]))}{more}"
        case Not(part):
            yield f"there, and must not be: {shown(part)}"
        case Terms():
            missing = dict.fromkeys(_missing(pattern, words, analyser))
            yield from (f"missing: {word}" for word in missing)
            if not missing:
                yield f"too far apart, or in another order: {shown(pattern)}"


def _missing(pattern: Terms, words: Sequence[Word], analyser: Analyser) -> Iterator[str]:
    """The words of a chain that are not in the text, as the analyser makes them; terms that have none in any text."""
    chain, there = chain_of(pattern, analyser), {word.text for word in words}
    if chain is None:
        yield from (term for term in pattern.terms if not analyser.words(term))
        return
    for number, word in enumerate(chain.words):
        if number in chain.prefixes:
            if not any(each.startswith(word) for each in there):
                yield f"{word}*"
        elif word not in there:
            yield word
