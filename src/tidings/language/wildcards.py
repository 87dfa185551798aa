"""LIKE patterns, text and model: % is any number of characters, _ is one, the escape character takes both back."""

from __future__ import annotations

from tidings.errors import SubscriptionError
from tidings.model.predicates import LikePattern, Wildcard, like

BACKSLASH = "\\"
_WILDCARDS = {"%": Wildcard.ANY, "_": Wildcard.ONE}


def pattern_of(text: str, escape: str = BACKSLASH) -> LikePattern:
    """The pattern that LIKE `text` ESCAPE `escape` means."""
    parts: list[str | Wildcard] = []
    escaped = False
    for position, character in enumerate(text):
        if escaped:
            if character not in ("%", "_", escape):
                raise SubscriptionError(
                    f"the escape character {escape} stands before {character!r}",
                    text,
                    position - 1,
                    length=2,
                    hint=f"it may stand only before %, _ or itself: {escape}%, {escape}_ or {escape}{escape}",
                )
            parts.append(character)
            escaped = False
        elif character == escape:
            escaped = True
        else:
            parts.append(_WILDCARDS.get(character, character))
    if escaped:
        hint = f"double it to mean the character itself: {escape}{escape}"
        raise SubscriptionError(f"the pattern ends in its escape character {escape}", text, len(text) - 1, hint=hint)
    return like(parts)


def text_of(pattern: LikePattern) -> str:
    """The pattern as LIKE reads it with the backslash as its escape character."""
    return "".join(part.value if isinstance(part, Wildcard) else _escaped(part) for part in pattern)


def _escaped(literal: str) -> str:
    for special in (BACKSLASH, "%", "_"):
        literal = literal.replace(special, BACKSLASH + special)
    return literal
