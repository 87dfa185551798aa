"""From tokens to sqlglot's tree, and from what sqlglot cannot read to an error that says what was expected.

sqlglot sees a token list made here rather than the text: names and literals are handed over as their number in the
list, so that every leaf of the tree leads back to its token and its position, and no function or type that sqlglot
knows gets a meaning that the language does not give it. Which token may follow which is checked first, in one pass,
because sqlglot's own errors say what its grammar lacked and not what a person would have to write.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.parser import Parser
from sqlglot.tokens import Token as SqlglotToken
from sqlglot.tokens import TokenType

from tidings.errors import LimitError, SubscriptionError
from tidings.language.lexer import LITERALS, Kind, Token, is_sql_word, sql_word_refused
from tidings.language.limits import NESTING

_OPERANDS = LITERALS | {Kind.NAME, Kind.FUNCTION}
_CONDITION = _OPERANDS | {Kind.OPEN, Kind.NOT}
_TESTS = {Kind.COMPARE, Kind.IN, Kind.LIKE, Kind.BETWEEN, Kind.IS, Kind.NOT}
_JOINS = {Kind.AND, Kind.OR, Kind.CLOSE, Kind.END}
_VALUES = "a value: a number, 'text', TRUE, FALSE, DATE '…' or TIMESTAMP '…'"
_A_CONDITION = "a condition: an attribute, a function, NOT or '('"
# What may follow each kind of token, and how a message says it.
_FOLLOWERS: dict[Kind | None, tuple[frozenset[Kind], str]] = {
    kind: (frozenset(allowed), said)
    for kind, allowed, said in [
        (None, _CONDITION, _A_CONDITION),
        (Kind.AND, _CONDITION, _A_CONDITION),
        (Kind.OR, _CONDITION, _A_CONDITION),
        (Kind.OPEN, _CONDITION | {Kind.CLOSE}, _A_CONDITION),
        (Kind.NOT, _CONDITION | {Kind.IN, Kind.LIKE, Kind.BETWEEN}, _A_CONDITION),
        (Kind.NAME, _TESTS | _JOINS | {Kind.COMMA, Kind.ARROW}, "a comparison such as =, <=, IN, LIKE or IS NULL"),
        (Kind.CLOSE, _TESTS | _JOINS | {Kind.COMMA}, "AND, OR, a comparison or the end"),
        (Kind.FUNCTION, {Kind.OPEN}, "'('"),
        (Kind.COMPARE, _OPERANDS | {Kind.OPEN}, _VALUES),
        (Kind.IN, {Kind.OPEN}, "'(' and the values, with commas between them"),
        (Kind.LIKE, _OPERANDS, "the pattern, in quotes"),
        (Kind.BETWEEN, _OPERANDS, _VALUES),
        (Kind.ESCAPE, {Kind.STRING}, "one character, in quotes"),
        (Kind.IS, {Kind.NULL, Kind.NOT}, "NULL or NOT NULL"),
        (Kind.COMMA, _OPERANDS, "a value"),
        (Kind.ARROW, {Kind.STRING}, "a name in quotes"),
        *[
            (literal, _TESTS | _JOINS | {Kind.COMMA, Kind.ESCAPE}, "AND, OR, ')' or the end")
            for literal in sorted(LITERALS, key=lambda kind: kind.name)
        ],
    ]
}
_PLAIN = {
    Kind.AND: TokenType.AND,
    Kind.OR: TokenType.OR,
    Kind.NOT: TokenType.NOT,
    Kind.IN: TokenType.IN,
    Kind.BETWEEN: TokenType.BETWEEN,
    Kind.ESCAPE: TokenType.ESCAPE,
    Kind.IS: TokenType.IS,
    Kind.OPEN: TokenType.L_PAREN,
    Kind.CLOSE: TokenType.R_PAREN,
    Kind.COMMA: TokenType.COMMA,
    Kind.ARROW: TokenType.FARROW,
}
_BY_TEXT = {
    "=": TokenType.EQ,
    "<>": TokenType.NEQ,
    "!=": TokenType.NEQ,
    "<": TokenType.LT,
    "<=": TokenType.LTE,
    ">": TokenType.GT,
    ">=": TokenType.GTE,
    "LIKE": TokenType.LIKE,
    "ILIKE": TokenType.ILIKE,
    "RLIKE": TokenType.RLIKE,
}
_local = threading.local()  # a parser keeps state between calls, so each thread has its own


def tree_of(tokens: Sequence[Token], text: str) -> exp.Expr:
    """sqlglot's tree of the condition; its identifiers and literals are numbers of tokens."""
    _check_order(tokens, text)
    _check_nesting(tokens, text)
    parser = getattr(_local, "parser", None)
    if parser is None:
        parser = _local.parser = Parser()
    try:
        (tree,) = parser.parse_into(exp.Condition, [_handed_over(i, token) for i, token in enumerate(tokens)], "")
    except (SqlglotError, ValueError) as error:
        raise _where_sqlglot_stopped(error, tokens, text) from None
    if tree is None:
        raise SubscriptionError("this is not a condition", text, 0, length=len(text))
    return tree


def _handed_over(number: int, token: Token) -> SqlglotToken:
    # `line` carries the number too: it is what comes back in sqlglot's errors.
    if token.kind is Kind.NAME:
        return SqlglotToken(TokenType.IDENTIFIER, str(number), number)
    if token.kind is Kind.FUNCTION:
        return SqlglotToken(TokenType.VAR, f"f{number}", number)
    if token.kind in LITERALS:
        return SqlglotToken(TokenType.STRING, str(number), number)
    kind = _PLAIN.get(token.kind) or _BY_TEXT[token.text.upper()]
    return SqlglotToken(kind, token.text, number)


def _check_order(tokens: Sequence[Token], text: str) -> None:
    if not tokens:
        raise SubscriptionError("the subscription is empty", text, 0, hint="write a condition such as price < 10")
    before: Token | None = None
    previous: Kind | None = None
    end = Token(Kind.END, "", len(text), len(text))
    for token in (*tokens, end):
        allowed, said = _FOLLOWERS[previous]
        if token.kind not in allowed:
            raise _unexpected(before, token, said, text)
        before, previous = token, token.kind


def _unexpected(before: Token | None, token: Token, said: str, text: str) -> SubscriptionError:
    for word in (before, token):
        if word is not None and is_sql_word(word):
            return sql_word_refused(word, text)
    found = "the end" if token.kind is Kind.END else token.text
    after = f" after {before.text}" if before is not None else ""
    problem = f"found {_short(found)}{_short(after)}, expected {said}"
    hint = None
    if token.kind is Kind.NAME and before is not None and before.kind is Kind.NAME:
        hint = f"a name with a space goes in backquotes: `{before.text} {token.text}`"
    elif token.kind in LITERALS and before is not None and before.kind in LITERALS:
        hint = "a quote inside a string is doubled: 'it''s'"
    elif token.kind is Kind.BOOLEAN and before is not None and before.kind in (Kind.IS, Kind.NOT):
        hint = f"write attribute = {token.text.upper()}"
    return SubscriptionError(problem, text, token.start, length=token.end - token.start, hint=hint)


def _check_nesting(tokens: Sequence[Token], text: str) -> None:
    opened: list[Token] = []
    negations = 0
    for token in tokens:
        if token.kind is Kind.OPEN:
            opened.append(token)
        elif token.kind is Kind.CLOSE:
            if not opened:
                raise SubscriptionError("this ')' closes nothing", text, token.start, hint="remove it, or open a '('")
            opened.pop()
        negations = negations + 1 if token.kind is Kind.NOT else 0
        if len(opened) + negations > NESTING:
            problem = f"the expression is nested {len(opened) + negations} deep, and at most {NESTING} is allowed"
            raise LimitError(problem, text, token.start)
    if opened:
        raise SubscriptionError("this '(' is never closed", text, opened[-1].start, hint="add the missing ')'")


def _where_sqlglot_stopped(error: Exception, tokens: Sequence[Token], text: str) -> SubscriptionError:
    details = getattr(error, "errors", None) or [{}]
    number = details[0].get("line")
    stopped = tokens[number] if isinstance(number, int) and 0 <= number < len(tokens) else tokens[-1]
    for between in tokens:
        if between.kind is Kind.BETWEEN:
            hint = "BETWEEN takes two values: attribute BETWEEN 1 AND 5"
            return SubscriptionError("this BETWEEN is not complete", text, between.start, length=7, hint=hint)
    problem = f"the expression cannot be read at {_short(stopped.text)}"
    return SubscriptionError(problem, text, stopped.start, length=stopped.end - stopped.start)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"
