"""The words of a WHERE expression: one regular expression, left to right, with positions.

Names, keywords and literals follow Spark SQL: backquoted names, dotted paths, 'strings' and "strings" with backslash
escapes, r'raw strings', DATE '…' and TIMESTAMP '…'. A sign is part of the number it stands before. What no token
begins with is an error here, so the grammar only ever sees words of the language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from tidings.errors import LimitError, SubscriptionError, UnsupportedError
from tidings.language.limits import PATH


class Kind(Enum):
    """Kinds of token. The value is how a message names one."""

    __hash__ = object.__hash__  # Enum's own is Python code, and a third of the time of reading a new shape

    NAME = "an attribute"
    FUNCTION = "a function"
    STRING = "a string"
    NUMBER = "a number"
    DATE = "a date"
    TIMESTAMP = "a timestamp"
    BOOLEAN = "TRUE or FALSE"
    NULL = "NULL"
    COMPARE = "a comparison"
    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    IN = "IN"
    LIKE = "LIKE, ILIKE or RLIKE"
    BETWEEN = "BETWEEN"
    ESCAPE = "ESCAPE"
    IS = "IS"
    OPEN = "'('"
    CLOSE = "')'"
    COMMA = "','"
    ARROW = "'=>'"
    END = "the end"


LITERALS = frozenset({Kind.STRING, Kind.NUMBER, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN, Kind.NULL})


@dataclass(slots=True)
class Token:
    """`text` is the source between `start` and `end`; of a literal only the value, without DATE or a sign."""

    kind: Kind
    text: str
    start: int
    end: int
    names: tuple[str, ...] = ()
    negative: bool = False


# The two kinds of literal that vary between subscriptions of one shape; `parser` cuts texts with the same expressions.
# Strings are written as runs of plain characters with escapes between, twice as fast as one character at a time.
_SINGLE = r"'[^'\\]*(?:(?:\\.|'')[^'\\]*)*"
_DOUBLE = r'"[^"\\]*(?:(?:\\.|"")[^"\\]*)*'
_RAW = r"""[rR]'[^']*'|[rR]"[^"]*\""""
QUOTED = rf"""{_SINGLE}'|{_DOUBLE}"|{_RAW}"""
# The same, and a string that does not end is taken to the end of the text: else each of its quotes would be tried.
QUOTED_OR_OPEN = rf"""{_SINGLE}(?:'|\\?\Z)|{_DOUBLE}(?:"|\\?\Z)|{_RAW}"""
DIGITS = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_PART = r"(?:[^\W\d]\w*|`(?:[^`]|``)+`)"
_TOKEN = re.compile(
    rf"(?P<space>\s+)|(?P<quoted>{QUOTED})|(?P<name>{_PART}(?:\.{_PART})*)|(?P<digits>(?:[+-]\s*)?{DIGITS})"
    r"|(?P<sign><=>|<>|!=|<=|>=|==|=>|&&|\|\||--|/\*|::|->|[=<>(),])",
    re.DOTALL,
)
_NAME_PART = re.compile(_PART)
KEYWORDS = {
    "AND": Kind.AND,
    "OR": Kind.OR,
    "NOT": Kind.NOT,
    "IN": Kind.IN,
    "LIKE": Kind.LIKE,
    "ILIKE": Kind.LIKE,
    "RLIKE": Kind.LIKE,
    "BETWEEN": Kind.BETWEEN,
    "ESCAPE": Kind.ESCAPE,
    "IS": Kind.IS,
    "NULL": Kind.NULL,
    "TRUE": Kind.BOOLEAN,
    "FALSE": Kind.BOOLEAN,
}
_SIGNS = {
    "(": Kind.OPEN,
    ")": Kind.CLOSE,
    ",": Kind.COMMA,
    "=>": Kind.ARROW,
    **dict.fromkeys(("=", "<>", "!=", "<", "<=", ">", ">="), Kind.COMPARE),
}
_REFUSED_SIGNS = {
    "==": ("'==' is not a comparison of SQL", "write ="),
    "&&": ("'&&' is not an operator of SQL", "write AND"),
    "||": ("'||' is not an operator here", "write OR; joining strings is not part of the language"),
    "<=>": ("'<=>' is not part of the language", "write attribute = value OR attribute IS NULL"),
    "--": ("comments are not part of the language", "leave the comment out"),
    "/*": ("comments are not part of the language", "leave the comment out"),
    "::": ("casts are not part of the language", "write the literal in the type of the attribute"),
    "->": ("'->' is not an operator here", "proximity is written inside a pattern: matches(title, 'a ->[0,3] b')"),
}
# Words that begin something of SQL that is not here; they are refused by name where they stand before another word.
_SQL_WORDS = frozenset(
    """ALL ANY ARRAY CASE CAST DISTINCT EXISTS FROM GLOB GROUP HAVING INTERVAL JOIN LIMIT MATCH ORDER REGEXP SELECT
    SIMILAR SOME UNION WHERE WITH XOR""".split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_SQL_HINTS = {
    "WHERE": "a subscription is what stands after WHERE",
    "SELECT": "a subscription is only the condition, what stands after WHERE",
    "REGEXP": "write attribute RLIKE 'expression'",
    "XOR": "write (a AND NOT b) OR (b AND NOT a)",
}
_OPERAND_ENDS = LITERALS | {Kind.NAME, Kind.CLOSE}


def tokens_of(text: str) -> list[Token]:
    """The tokens of `text`, without an end marker."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        matched = _TOKEN.match(text, position)
        if matched is None:
            raise _unreadable(found, text, position)
        end = matched.end()
        if matched.lastgroup == "quoted":
            _add_string(found, text, position, end)
        elif matched.lastgroup == "name":
            found.append(_name(text, position, end))
        elif matched.lastgroup == "digits":
            found.append(_number(found, text, position, end))
        elif matched.lastgroup == "sign":
            found.append(_sign(text, position, end))
        position = end
    _mark_functions(found, text)
    return found


def _add_string(found: list[Token], text: str, start: int, end: int) -> None:
    last = found[-1] if found else None
    if last is not None and last.kind is Kind.NAME and last.text.upper() in ("DATE", "TIMESTAMP"):
        found[-1] = Token(Kind[last.text.upper()], text[start:end], start, end)
    else:
        found.append(Token(Kind.STRING, text[start:end], start, end))


def _number(found: list[Token], text: str, start: int, end: int) -> Token:
    if end < len(text) and (text[end].isalnum() or text[end] in "_`"):
        raise SubscriptionError(
            f"a number is followed at once by {text[end]!r}",
            text,
            end,
            hint="a name that begins with a digit goes in backquotes: `2nd`; a number takes no suffix",
        )
    if text[start] not in "+-":
        return Token(Kind.NUMBER, text[start:end], start, end)
    if found and found[-1].kind in _OPERAND_ENDS:
        raise _arithmetic(text, start)
    digits = text[start + 1 : end].lstrip()
    return Token(Kind.NUMBER, digits, end - len(digits), end, negative=text[start] == "-")


def _name(text: str, start: int, end: int) -> Token:
    written = text[start:end]
    keyword = KEYWORDS.get(written.upper()) if written.isascii() else None  # "ſ".upper() is S
    if keyword is not None:
        return Token(keyword, written, start, end)
    if "`" not in written:
        names = tuple(written.split("."))
    else:
        parts = _NAME_PART.findall(written)
        names = tuple(part[1:-1].replace("``", "`") if part[0] == "`" else part for part in parts)
    if len(names) > PATH:
        raise LimitError(
            f"the path has {len(names)} names, and at most {PATH} are allowed", text, start, length=end - start
        )
    return Token(Kind.NAME, written, start, end, names)


def _sign(text: str, start: int, end: int) -> Token:
    written = text[start:end]
    if written in _REFUSED_SIGNS:
        problem, hint = _REFUSED_SIGNS[written]
        raise SubscriptionError(problem, text, start, length=end - start, hint=hint)
    return Token(_SIGNS[written], written, start, end)


def _mark_functions(found: list[Token], text: str) -> None:
    for token, following in pairwise(found):
        if token.kind is Kind.NAME and following.kind is Kind.OPEN:
            if len(token.names) > 1 or "`" in token.text:
                raise SubscriptionError(
                    f"{token.text} is not a function",
                    text,
                    token.start,
                    length=len(token.text),
                    hint="a function has a plain name, and the attribute goes inside: startswith(a.b, 'x')",
                )
            token.kind = Kind.FUNCTION


def _arithmetic(text: str, position: int) -> SubscriptionError:
    return UnsupportedError(
        f"arithmetic ({text[position]}) is not part of the language",
        text,
        position,
        hint="compute the value first, and compare the attribute with it",
    )


def is_sql_word(token: Token) -> bool:
    return token.kind in (Kind.NAME, Kind.FUNCTION) and token.text.upper() in _SQL_WORDS


def sql_word_refused(token: Token, text: str) -> SubscriptionError:
    word = token.text.upper()
    problem = f"{word} is not part of the language of subscriptions"
    return UnsupportedError(problem, text, token.start, length=len(word), hint=_SQL_HINTS.get(word))


def _unreadable(found: list[Token], text: str, position: int) -> SubscriptionError:
    character = text[position]
    if found and is_sql_word(found[0]):
        return sql_word_refused(found[0], text)
    if character in "'\"":
        for string in found:
            if string.kind is Kind.STRING and text[string.end].isalnum():
                hint = f"a quote inside a string is doubled: {string.text}{character}{text[string.end :]:.20}"
                return SubscriptionError("the string ends here, and goes on", text, string.end - 1, hint=hint)
        return SubscriptionError(
            "the string that begins here does not end",
            text,
            position,
            hint=f"close it with {character}; a quote inside is written {character * 2} or \\{character}",
        )
    if character == "`":
        return SubscriptionError(
            "the name that begins here does not end", text, position, hint="close it with `; a ` inside is written ``"
        )
    if character in "*/%+-":
        return _arithmetic(text, position)
    hints = {
        ";": "a subscription is one expression; leave the ; out",
        "[": "an array is written array('a', 'b')",
        "‘": "strings stand in straight quotes: 'text'",
        "’": "strings stand in straight quotes: 'text'",
        "“": "strings stand in straight quotes: 'text'",
        "”": "strings stand in straight quotes: 'text'",
        "!": "write NOT, or <> for not equal",
        ".": "a path is names with dots between them: author.name",
    }
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    return SubscriptionError(f"{shown!r} is not part of the language", text, position, hint=hints.get(character))
