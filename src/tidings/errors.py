"""Every error that tidings raises on purpose, on one page.

An error says what is wrong, where, what was given, what is allowed and what to do. An error in a subscription carries
the position of the fault and draws a caret under it; it is raised when the subscription is added, never while matching.
"""

from __future__ import annotations

from typing import Any

WINDOW = 100  # characters of a long line that are shown around the fault


class TidingsError(Exception):
    """Any error that tidings raises on purpose."""


class SubscriptionError(TidingsError):
    """The text of a subscription is wrong: `problem` says how, `position` says where in `text`, `hint` what to do."""

    def __init__(self, problem: str, text: str, position: int, *, length: int = 1, hint: str | None = None) -> None:
        super().__init__(problem, text, position)
        self.problem = problem
        self.text = text
        self.position = max(0, min(position, len(text)))
        self.length = max(1, length)
        self.hint = hint

    def __str__(self) -> str:
        lines = [self.problem, *_pointed(self.text, self.position, self.length)]
        if self.hint:
            lines.append(self.hint)
        return "\n".join(lines)

    def within(self, text: str, position: int) -> SubscriptionError:
        """The same error, seen in the larger text in which this one's text begins at `position`."""
        outer = type(self)(self.problem, text, position + self.position, length=self.length, hint=self.hint)
        return outer


class LimitError(SubscriptionError):
    """A subscription is larger than a stated limit; the message has both numbers."""


class UnsupportedError(SubscriptionError):
    """A construct that exists in SQL or XPath, but not in the language of subscriptions; the message names it."""


class RefusedError(TidingsError):
    """Some of many subscriptions could not be added; `refused` has each of them with its error. The others were."""

    def __init__(self, message: str, refused: tuple[Any, ...]) -> None:
        super().__init__(message)
        self.refused = refused


class IdentifierError(TidingsError):
    """An identifier is missing, of the wrong kind, taken, or unknown."""


class EventError(TidingsError):
    """An event, or one attribute of it, cannot be read. While matching it is reported, not raised."""


class SettingError(TidingsError):
    """An option of tidings itself has a value that it does not take: an unknown analyser, an impossible limit."""


class StoreError(TidingsError):
    """A folder does not hold what a saved matcher needs, or holds something else."""


def _pointed(text: str, position: int, length: int) -> list[str]:
    """The line of `text` that holds `position`, cut to a readable width, and a line with carets under the fault."""
    start = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    line = text[start:].partition("\n")[0].partition("\r")[0]
    column = position - start
    if len(line) > WINDOW:
        first = max(0, min(column - WINDOW // 2, len(line) - WINDOW))
        cut_left, cut_right = first > 0, first + WINDOW < len(line)
        line = ("…" if cut_left else "") + line[first : first + WINDOW] + ("…" if cut_right else "")
        column = column - first + cut_left
    # Tabs, controls and halves of surrogate pairs would move the caret, or could not be printed at all.
    visible = "".join(character if character.isprintable() else " " for character in line)
    carets = "^" * max(1, min(length, len(visible) - column))
    return [f"  {visible}", f"  {' ' * column}{carets}"]
