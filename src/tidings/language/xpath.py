"""From the text of an XPath expression to its tree: one regular expression for the tokens, then recursive descent.

What XPath 1.0 has and the subset has not is refused by name. Brackets are matched and their nesting is limited before
anything recurses, and characters that XML has not are refused, so any string gives a tree or a SubscriptionError.
The canonical text of whatever is accepted is accepted too, and is the same tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from itertools import pairwise
from typing import NoReturn, TypeAlias

from tidings.errors import LimitError, SubscriptionError, UnsupportedError
from tidings.language.namespaces import NAME, NO_NAMESPACES, Prefixes
from tidings.model.xpath import (
    ANY_NAME,
    XML_NAMESPACE,
    And,
    Comparator,
    Comparison,
    Exists,
    NodeKind,
    Not,
    Or,
    Path,
    Place,
    Step,
    StringFunction,
    StringTest,
    XPathExpression,
    all_of,
    any_of,
    negation,
    text_of,
)

MAXIMUM_LENGTH = 8_192  # characters of an expression, and of its canonical text
MAXIMUM_STEPS = 256  # steps of all paths together
MAXIMUM_NESTING = 32  # brackets and parentheses inside one another
MAXIMUM_DESCENDANTS = 3  # paths with // inside one another, the outermost counted: each level multiplies the time

_Term: TypeAlias = XPathExpression | Path | Place | str | Decimal

_TOKEN = re.compile(
    rf"(?P<name>{NAME.pattern})"
    r"|(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"|(?P<string>'[^']*'|\"[^\"]*\")"
    r"|(?P<symbol>//|\.\.|::|!=|<=|>=|==|=>|=<|<>|&&|\|\||[^\s'\"])"
    r"|(?P<space>[ \t\r\n]+)"
)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_COMPARATORS = frozenset(Comparator)
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CLOSING = {"(": ")", "[": "]"}
_STEPS = "steps are names, *, @name, @*, text() and ."
_FUNCTIONS = "supported are not, contains, starts-with, position and last"
_DOWNWARD = "paths lead down only: begin at the parent and ask about the child in [ ], as in a[b = 1]"
_SUPPORTED = {  # functions, and what to write where one was taken for a step
    "not": "a condition stands in brackets: a[not(b)]",
    "contains": "a condition stands in brackets: a[contains(b, 'x')]",
    "starts-with": "a condition stands in brackets: a[starts-with(b, 'x')]",
    "position": "a position stands in brackets: a[position() < 3]",
    "last": "a position stands in brackets: a[last()]",
    "text": "the text of an attribute is @a",
}
_UNSUPPORTED = {  # what XPath 1.0 has besides, and what to write instead
    **dict.fromkeys(("node", "comment", "processing-instruction"), _STEPS),
    **dict.fromkeys(("ceiling", "concat", "false", "floor", "id", "lang", "local-name", "name"), _FUNCTIONS),
    **dict.fromkeys(("namespace-uri", "normalize-space", "round", "string-length", "substring"), _FUNCTIONS),
    **dict.fromkeys(("substring-after", "substring-before", "sum", "translate", "true"), _FUNCTIONS),
    "boolean": "leave it out: the truth of the expression is what is asked",
    "count": "whether there are at least 3 nodes is asked with a position: a[3]",
    "number": "leave it out: a path compared with a number is read as a number",
    "string": "leave it out: a path compared with a string is read as a string",
}
_AXES = {
    "child": "a child is written a",
    "attribute": "an attribute is written @a",
    "descendant": "a descendant is written .//a",
    "descendant-or-self": "a descendant is written .//a",
    "self": "the node itself is written .",
    "namespace": _STEPS,
    **dict.fromkeys(("ancestor", "ancestor-or-self", "parent"), _DOWNWARD),
    **dict.fromkeys(("following", "following-sibling", "preceding", "preceding-sibling"), _DOWNWARD),
}
_REFUSED = {
    **{
        sign: (f"arithmetic ({sign}) is not supported", "compute the number first, and compare the path with it")
        for sign in ("+", "-", "*", "div", "mod")
    },
    "|": ("the union | is not supported", "write or between the two paths"),
    "..": ("the parent step .. is not supported", _DOWNWARD),
    "$": ("variables ($) are not supported", "write the value itself"),
}
_MISTAKES = {
    "==": "equality is written =",
    "<>": "inequality is written !=",
    "=>": "at least is written >=",
    "=<": "at most is written <=",
    "&&": "conjunction is written and",
    "&": "conjunction is written and",
    "||": "disjunction is written or",
    "!": "negation is written not( )",
    "AND": "write and in lower case",
    "OR": "write or in lower case",
    ";": "an expression stands alone; leave the ; out",
    **dict.fromkeys("‘’“”", "strings stand in straight quotes: 'text'"),
}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int

    def __str__(self) -> str:
        """As a message names it: short, and on one line."""
        shown = " ".join(self.text.split()) or "the end"
        return shown if len(shown) <= 40 else shown[:39] + "…"


def parse_xpath(text: str, namespaces: Mapping[str, str] = NO_NAMESPACES) -> XPathExpression:
    """The tree of an expression, or a SubscriptionError that points at the fault. `namespaces` are by prefix."""
    if len(text) > MAXIMUM_LENGTH:
        raise _too_long(f"the XPath expression has {len(text)} characters", text)
    tokens = _tokens(text)
    if len(tokens) == 1:
        raise SubscriptionError("the XPath expression is empty", text, 0, hint="write a path, as in //a[@b = 1]")
    _check_brackets(tokens, text)
    expression = _Parser(text, tokens, namespaces).whole()
    if len(canonical := print_xpath(expression)) > MAXIMUM_LENGTH:
        raise _too_long(f"the XPath expression has {len(canonical)} characters in canonical form", text)
    return expression


def print_xpath(expression: XPathExpression) -> str:
    """The canonical text: `parse_xpath` reads the same tree from it, with the namespaces of `print_namespaces`."""
    return text_of(expression, Prefixes().name)


def print_namespaces(expression: XPathExpression) -> str:
    """What the prefixes of the canonical text stand for; nothing if it has none."""
    prefixes = Prefixes()
    text_of(expression, prefixes.name)
    return str(prefixes)


def _too_long(problem: str, text: str) -> LimitError:
    return LimitError(f"{problem}, and at most {MAXIMUM_LENGTH} are allowed", text, MAXIMUM_LENGTH)


def _tokens(text: str) -> list[_Token]:
    if foreign := _NOT_XML.search(text):
        problem = f"the character U+{ord(foreign.group()):04X} cannot occur in XML"
        raise SubscriptionError(problem, text, foreign.start(), hint="leave it out")
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise _unreadable(text, position)
        if found.lastgroup == "name" and tokens and tokens[-1].kind == "number" and text[position - 1] not in " \t\r\n":
            problem = f"a number is followed at once by {text[position]!r}"
            raise SubscriptionError(problem, text, position, hint="numbers take no exponent and no suffix: write 1000")
        if found.lastgroup != "space":
            tokens.append(_Token(found.lastgroup or "", found.group(), position))
        position = found.end()
    return [*tokens, _Token("end", "", len(text))]


def _unreadable(text: str, position: int) -> SubscriptionError:
    quote = text[position]
    if quote in "'\"":
        hint = f"close it with {quote}; XPath has no escapes, so a string that holds {quote} stands in the other quotes"
        return SubscriptionError("the string that begins here does not end", text, position, hint=hint)
    problem = f"the space U+{ord(quote):04X} is not one of XPath's"
    return SubscriptionError(problem, text, position, hint="write a plain space")


def _check_brackets(tokens: list[_Token], text: str) -> None:
    """Every bracket has its partner, and their nesting is within the limit. The pairs of text() do not count."""
    opened: list[_Token] = []
    deepest, at = 0, 0
    for token, following in pairwise(tokens):
        if token.text in _CLOSING:
            opened.append(token)
            if following.text != _CLOSING[token.text] and len(opened) > deepest:
                deepest, at = len(opened), token.start
        elif token.text in (")", "]"):
            if not opened:
                raise SubscriptionError(f"this {token} closes nothing", text, token.start, hint="remove it, or open it")
            if _CLOSING[(opener := opened.pop()).text] != token.text:
                problem = f"found {token}, expected {_CLOSING[opener.text]} to close the {opener} before it"
                raise SubscriptionError(problem, text, token.start)
    if deepest > MAXIMUM_NESTING:
        problem = f"the XPath expression is nested {deepest} deep, and at most {MAXIMUM_NESTING} is allowed"
        raise LimitError(problem, text, at)
    if opened:
        hint = f"add the missing {_CLOSING[opened[-1].text]}"
        raise SubscriptionError(f"this {opened[-1]} is never closed", text, opened[-1].start, hint=hint)


class _Parser:
    """Recursive descent. A term may turn out to be a path or a literal; `_truth` makes a condition of it."""

    __slots__ = ("_index", "_inside", "_namespaces", "_overflow", "_steps", "_text", "_tokens")

    def __init__(self, text: str, tokens: list[_Token], namespaces: Mapping[str, str]) -> None:
        self._text = text
        self._tokens = tokens
        self._namespaces = namespaces
        self._index = 0
        self._inside = 0  # predicates around the current token
        self._steps = 0
        self._overflow = 0  # where the path begins that passed the limit of steps

    def whole(self) -> XPathExpression:
        term = self._term()
        if self._token.kind != "end":
            self._unexpected("and, or, a comparison or the end")
        if self._steps > MAXIMUM_STEPS:
            problem = f"the XPath expression has {self._steps} steps, and at most {MAXIMUM_STEPS} are allowed"
            raise LimitError(problem, self._text, self._overflow)
        expression = self._truth(term, self._tokens[0])
        if (nested := _nested_descendants(expression)) > MAXIMUM_DESCENDANTS:
            problem = f"paths with // are nested {nested} deep, and at most {MAXIMUM_DESCENDANTS} is allowed"
            raise LimitError(problem, self._text, 0, length=len(self._text))
        return expression

    def _term(self) -> _Term:
        return self._joined("or", any_of, lambda: self._joined("and", all_of, self._comparison))

    def _joined(
        self, word: str, join: Callable[[Iterable[XPathExpression]], XPathExpression], part: Callable[[], _Term]
    ) -> _Term:
        first = self._token
        term = part()
        if self._token.text != word:
            return term
        parts = [self._truth(term, first)]
        while self._token.text == word:
            self._take()
            first = self._token
            parts.append(self._truth(part(), first))
        return join(parts)

    def _comparison(self) -> _Term:
        left = self._operand()
        if self._token.text not in _COMPARATORS:
            return left
        sign = self._take()
        right = self._operand()
        if self._token.text in _COMPARATORS:
            problem = "comparing the result of a comparison is not supported"
            self._refuse(problem, self._token, "compare twice: 1 < a and a < 3")
        return self._compared(left, sign, right)

    def _compared(self, left: _Term, sign: _Token, right: _Term) -> Comparison:
        comparator = sign.text
        if isinstance(left, str | Decimal) or (left is Place.LAST and right is Place.POSITION):
            left, comparator, right = right, _FLIPPED.get(comparator, comparator), left
        if isinstance(left, Path | Place) and (
            isinstance(right, str | Decimal) or (left is Place.POSITION and right is Place.LAST)
        ):
            return Comparison(left, Comparator(comparator), right)
        if isinstance(left, str | Decimal):
            self._fail("two literals are compared", sign, "one side is a path: a = 1")
        if isinstance(left, Path) and isinstance(right, Path):
            self._refuse("comparing two paths is not supported", sign, "compare a path with a literal: a = 'x'")
        if isinstance(left, Path | Place) and isinstance(right, Path | Place):
            problem = "this comparison of position() or last() is not supported"
            self._refuse(problem, sign, "position() is compared with a number or last(), and last() with a number")
        self._refuse("comparing a condition is not supported", sign, "use the condition itself, or not( ) of it")

    def _operand(self) -> _Term:
        token = self._token
        following = self._tokens[min(self._index + 1, len(self._tokens) - 1)]
        if token.kind == "number":
            return _number(self._take().text)
        if token.kind == "string":
            return self._take().text[1:-1]
        if token.text == "-" and following.kind == "number":
            self._take()
            return _number(self._take().text, negative=True)
        if token.text == "(":
            return self._grouped()
        if token.kind == "name" and following.text == "(" and token.text != "text":
            return self._function()
        return self._path()

    def _grouped(self) -> _Term:
        self._take()
        term = self._term()
        self._expect(")", "and, or, a comparison or )")
        if self._token.text in ("[", "/", "//"):
            problem = f"{self._token} after parentheses is not supported"
            self._refuse(problem, self._token, "write one path without parentheses: a/b[1]")
        return term

    def _function(self) -> _Term:
        name = self._take()
        if name.text not in _SUPPORTED:
            self._refuse_function(name)
        self._take()
        if name.text == "not":
            first = self._token
            condition = self._truth(self._term(), first)
            self._expect(")", "and, or, a comparison or )")
            return negation(condition)
        if name.text in ("position", "last"):
            self._expect(")", ")")
            if not self._inside:
                self._refuse(f"{name}() stands inside [ ] only", name, _SUPPORTED[name.text])
            return Place(f"{name}()")
        return self._string_test(name)

    def _string_test(self, name: _Token) -> StringTest:
        usage = f"write {name}(path, 'text')"
        first = self._token
        path = self._term()
        if not isinstance(path, Path):
            self._refuse(f"the first argument of {name} is not a path", first, usage)
        self._expect(",", "a comma")
        if self._token.kind != "string":
            self._refuse(f"the second argument of {name} is not a string", self._token, usage)
        literal = self._take().text[1:-1]
        self._expect(")", ")")
        return StringTest(StringFunction(name.text), path, literal)

    def _refuse_function(self, name: _Token) -> NoReturn:
        if name.text in _UNSUPPORTED:
            self._refuse(f"{name}() is not supported", name, _UNSUPPORTED[name.text])
        close = get_close_matches(name.text.lower(), _SUPPORTED, 1)
        self._refuse(f"there is no function {name}", name, f"did you mean {close[0]}?" if close else _FUNCTIONS)

    def _path(self) -> Path:
        first = self._token
        if self._inside and first.text in ("/", "//"):
            # Its truth is the same for every node, yet libxml2 would look it up anew for each: quadratic time.
            hint = "ask it beside the path: /a[b = 1] and /c = 2; below the node itself it is .//b"
            self._refuse("a path from the document is not supported inside [ ]", first, hint)
        descendant = False
        if first.text in ("/", "//"):
            descendant = self._take().text == "//"
            if not descendant and not self._at_step():
                return Path(True, ())
        steps: list[Step] = []
        self._step(steps, descendant)
        while self._token.text in ("/", "//"):
            descendant = self._take().text == "//"
            self._step(steps, descendant)
        if self._steps <= MAXIMUM_STEPS < self._steps + len(steps):
            self._overflow = first.start
        self._steps += len(steps)
        return Path(not self._inside, tuple(steps))

    def _at_step(self) -> bool:
        return self._token.kind == "name" or self._token.text in ("*", "@", ".", "..")

    def _step(self, steps: list[Step], descendant: bool) -> None:
        """One more step. A `.` adds none, except at the end after `//`, and there once."""
        after_self = bool(steps) and steps[-1].kind is NodeKind.SELF
        if self._token.text == ".":
            self._take()
            if self._token.text == "[":
                self._fail("a predicate cannot follow .", self._token, "name the node: a[b = 1] or *[b = 1]")
            if descendant and not after_self:
                steps.append(Step(NodeKind.SELF, descendant=True))
            return
        kind, name = self._node_test()
        predicates = self._predicates()
        if after_self:
            steps.pop()
        steps.append(Step(kind, name, descendant or after_self, predicates))

    def _node_test(self) -> tuple[NodeKind, str]:
        kind = NodeKind.ELEMENT
        if self._token.text == "@":
            self._take()
            kind = NodeKind.ATTRIBUTE
        name = self._token
        if name.text == ANY_NAME:
            self._take()
            return kind, ANY_NAME
        if name.kind != "name":
            after = self._tokens[self._index - 1].text if self._index else ""
            expected = {"@": "a name or *", "/": "a step", "//": "a step"}
            self._unexpected(expected.get(after, "a path, a literal or a function"))
        self._take()
        self._refuse_axis(name)
        if self._token.text == ":":
            return kind, self._qualified(name)
        if self._token.text != "(":
            return kind, name.text
        if kind is NodeKind.ATTRIBUTE or name.text != "text":
            if name.text in _SUPPORTED:
                self._fail(f"{name}() cannot be a step here", name, _SUPPORTED[name.text])
            self._refuse_function(name)
        self._take()
        self._expect(")", ")")
        return NodeKind.TEXT, ""

    def _predicates(self) -> tuple[XPathExpression, ...]:
        predicates = []
        while self._token.text == "[":
            self._take()
            self._inside += 1
            first = self._token
            term = self._term()
            if isinstance(term, Decimal) or term is Place.LAST:
                term = Comparison(Place.POSITION, Comparator.EQUAL, term)
            predicates.append(self._truth(term, first))
            self._expect("]", "and, or, a comparison or ]")
            self._inside -= 1
        return tuple(predicates)

    def _truth(self, term: _Term, first: _Token) -> XPathExpression:
        """A path is true if it selects a node. A number or a string alone is a constant, and surely a mistake."""
        match term:
            case Path():
                return Exists(term)
            case Decimal():
                self._fail("a number alone is not a condition", first, "as a position: a[3] or a[position() = 3 and b]")
            case str():
                self._fail("a string alone is not a condition", first, "compare a path with it: a = 'x'")
            case Place():
                self._fail(f"{term.value} alone is not a condition", first, "compare it: position() = 1")
            case _:
                return term

    @property
    def _token(self) -> _Token:
        return self._tokens[self._index]

    def _take(self) -> _Token:
        token = self._token
        self._index += token.kind != "end"
        return token

    def _expect(self, text: str, expected: str) -> None:
        if self._token.text != text:
            self._unexpected(expected)
        self._take()

    def _qualified(self, prefix: _Token) -> str:
        """The name behind a prefix, with its namespace."""
        colon = self._take()
        local = self._token
        if local.text == ANY_NAME:
            problem = f"all names of a namespace ({prefix}:*) are not supported"
            self._refuse(problem, prefix, f"name them, as in {prefix}:a; * selects names of every namespace")
        if local.kind != "name" or prefix.start + len(prefix.text) != colon.start or colon.start + 1 != local.start:
            self._fail("a prefix and its name stand together", colon, f"write {prefix}:name")
        self._take()
        if self._token.text == "(":
            self._refuse(f"the function {prefix}:{local} is not supported", prefix, _FUNCTIONS)
        if prefix.text == "xml":
            return f"{{{XML_NAMESPACE}}}{local.text}"
        if prefix.text not in self._namespaces:
            hint = f"say what it stands for: xpath_boolean(attribute, '…', namespaces => '{prefix}=http://…')"
            self._fail(f"the namespace prefix {prefix}: is not declared", prefix, hint)
        return f"{{{self._namespaces[prefix.text]}}}{local.text}"

    def _refuse_axis(self, name: _Token) -> None:
        if self._token.text == "::":
            if name.text in _AXES:
                self._refuse(f"the axis {name}:: is not supported", name, _AXES[name.text])
            self._fail(f"there is no axis {name}::", name, _STEPS)

    def _unexpected(self, expected: str) -> NoReturn:
        token = self._token
        if token.text in _REFUSED:
            self._refuse(_REFUSED[token.text][0], token, _REFUSED[token.text][1])
        self._fail(f"found {token}, expected {expected}", token, _MISTAKES.get(token.text))

    def _refuse(self, problem: str, token: _Token, hint: str) -> NoReturn:
        raise UnsupportedError(problem, self._text, token.start, length=len(token.text), hint=hint)

    def _fail(self, problem: str, token: _Token, hint: str | None) -> NoReturn:
        raise SubscriptionError(problem, self._text, token.start, length=len(token.text), hint=hint)


def _nested_descendants(expression: XPathExpression) -> int:
    match expression:
        case And(parts) | Or(parts):
            return max(map(_nested_descendants, parts))
        case Not(part):
            return _nested_descendants(part)
        case Exists(Path(steps=steps)) | Comparison(Path(steps=steps)) | StringTest(path=Path(steps=steps)):
            inside = [_nested_descendants(predicate) for step in steps for predicate in step.predicates]
            return max(inside, default=0) + any(step.descendant for step in steps)
        case _:
            return 0


def _number(digits: str, *, negative: bool = False) -> Decimal:
    """Exact, and with no zeros that mean nothing: XPath's -0 equals 0."""
    whole, _, fraction = digits.partition(".")
    value = Decimal(f"{whole.lstrip('0') or '0'}.{fraction.rstrip('0')}".rstrip("."))
    return value.copy_negate() if negative and value else value
