"""What stands inside a string of a subscription: LIKE and regular expressions, text patterns, XPath, profiles.

Each function takes the text of the string and returns its meaning, or raises an error that points into that text.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from tidings.errors import LimitError, SubscriptionError
from tidings.language import limits
from tidings.language.literals import read_number
from tidings.language.namespaces import NO_NAMESPACES, read_namespaces
from tidings.language.text import parse_pattern
from tidings.language.wildcards import pattern_of
from tidings.language.xpath import parse_xpath
from tidings.model.predicates import LikePattern, Wildcard, like
from tidings.model.text import TextPattern
from tidings.model.xpath import XPathExpression

MODELS = ("lsi",)


def like_pattern(text: str, escape: str = "\\") -> LikePattern:
    return pattern_of(text, escape)


def containing(part: str, before: bool, after: bool) -> LikePattern:
    """The pattern of a string that has `part` in it, with anything before it, after it, or both."""
    return like([*[Wildcard.ANY] * before, part, *[Wildcard.ANY] * after])


def check_escape(text: str) -> str:
    if len(text) != 1:
        raise SubscriptionError(
            f"ESCAPE takes one character and was given {len(text)}",
            text,
            0,
            length=max(1, len(text)),
            hint="such as '!'",
        )
    return text


@lru_cache(maxsize=4096)
def check_regex(text: str) -> str:
    if len(text) > limits.REGEX:
        problem = f"the regular expression has {len(text)} characters, and at most {limits.REGEX} are allowed"
        raise LimitError(problem, text, 0, length=len(text))
    import re2  # at first use: most subscriptions have no regular expression

    options = re2.Options()
    options.log_errors = False
    options.max_mem = limits.REGEX_MEMORY
    try:
        re2.compile(text, options)
    except re2.error as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise SubscriptionError(
            f"RE2 cannot read the regular expression: {reason}",
            text,
            0,
            length=len(text),
            hint="RE2 has no backreferences and no look-around, because those can take exponential time",
        ) from None
    return text


def check_profile(text: str) -> str:
    if not any(character.isalnum() for character in text):
        raise SubscriptionError("the text to be similar to has no word in it", text, 0, length=max(1, len(text)))
    return text


def check_model(text: str) -> str:
    if text not in MODELS:
        allowed = " or ".join(f"'{model}'" for model in MODELS)
        problem = f"unknown model {text!r} of similarity"
        raise SubscriptionError(problem, text, 0, length=max(1, len(text)), hint=f"write {allowed}, or leave it out")
    return text


def threshold(written: str) -> float:
    value = read_number(written).value
    if not isinstance(value, int | Decimal) or value > 1:
        problem = "the threshold of similarity is a number from 0 to 1"
        raise SubscriptionError(problem, written, 0, length=len(written), hint="such as 0.6")
    return float(value)


@lru_cache(maxsize=4096)
def text_pattern(text: str) -> TextPattern:
    return parse_pattern(text)


@lru_cache(maxsize=4096)
def xpath(text: str, namespaces: str | None = None) -> XPathExpression:
    return parse_xpath(text, read_namespaces(namespaces) if namespaces is not None else NO_NAMESPACES)


def check_namespaces(text: str) -> str:
    read_namespaces(text)
    return text
