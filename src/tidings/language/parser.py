"""`parse`: from the text of a subscription to its expression, with each shape of text read only once.

The *shape* of a text is the text without its numbers and strings. The first text of a shape goes through lexer, grammar
and builder, which leaves a template; every other text of that shape is cut at its literals, and the template makes the
expression from them. Both ways give the same expression and the same errors, because there is only one way: the first
text is bound through its template too. `read` is for those who take texts by the million: it leaves the literals of a
row of comparisons as they are written.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidings.errors import LimitError, SubscriptionError
from tidings.language import lexer, limits
from tidings.language.builder import Bind, Builder, LiteralError
from tidings.language.grammar import tree_of
from tidings.language.lexer import Kind, Token
from tidings.language.printer import print_expression
from tidings.language.terms import LONGEST_NUMBER, Term, terms_of
from tidings.model.normal_form import conjunction_count
from tidings.model.predicates import And, Expression
from tidings.model.values import AttributeType

# The look-ahead only makes it fast. A number that is part of a name is not cut: the lexer sees none there either.
_CUT = re.compile(rf"""((?=['"rR0-9.])(?<![\w.`])(?:{lexer.QUOTED_OR_OPEN}|{lexer.DIGITS}))""", re.DOTALL)
_WHOLE = re.compile(rf"{lexer.QUOTED}|{lexer.DIGITS}", re.DOTALL)
# A name, a comparison and a sign; it must be all that stands before a literal, behind AND in all places but the first.
_TERM = re.compile(r"(?P<and>\s+AND\s)?(?P<term>\s*[A-Za-z_][A-Za-z_0-9.]*\s*(?:=|<>|[<>]=?)\s*-?)", re.IGNORECASE)
_GROWTH = 16  # a canonical text is never this many times as long as the text that was written
YOUNG_ROWS = 2_000  # between two collections of new objects
_SHAPES_KEPT = 4096
_SHAPES_SEEN = 65_536
_TERMS_KEPT = 65_536
_terms: dict[tuple[str, bool, bool], Bind[Expression]] = {}  # by what stands before a literal, and its kind
_seen: set[int] = set()  # hashes of shapes met once; a template is worth keeping from the second time on


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """What all texts of a shape have in common: how they are bound, and their terms where these are all there is."""

    bind: Bind[Expression]
    terms: tuple[Term, ...] | None
    numbers: tuple[int, ...]  # which of the literals of the terms are numbers

    @classmethod
    def of(cls, bind: Bind[Expression], terms: tuple[Term, ...] | None) -> Template:
        numbers = [at for term in terms or () if term.type is AttributeType.NUMBER for at in term.literals]
        return cls(bind, terms, tuple(numbers))


class Unbound(NamedTuple):
    """A text that is a row of comparisons, with its literals as they are written. None of them can be wrong."""

    template: Template
    written: Sequence[str]

    def bound(self) -> Expression:
        return self.template.bind(self.written)


Asked = Expression | Unbound
_templates: dict[tuple[str | bool, ...], Template] = {}


def parse(where: str) -> Expression:
    """The expression that `where` means, or a SubscriptionError that points to the fault."""
    cut, key, template = _shape(where)
    return _bound(where, cut, key, template)


def read(where: str) -> Asked:
    """The same, or what `bound` makes the same of: for whoever can do without the expression of a row of comparisons.

    It refuses what `parse` refuses.
    """
    cut, key, template = _shape(where)
    if template is None or template.terms is None or "\\" in where or len(where) > limits.LENGTH // _GROWTH:
        return _bound(where, cut, key, template)
    written = cut[1::2]
    for ordinal in template.numbers:
        number = written[ordinal]
        if len(number) > LONGEST_NUMBER or not (number.isdigit() or number.replace(".", "", 1).isdigit()):
            return _bound(where, cut, key, template)  # it must be read to know that it is in range
    return Unbound(template, written)


def bound(asked: Asked) -> Expression:
    return asked.bound() if isinstance(asked, Unbound) else asked


def _shape(where: str) -> tuple[list[str], tuple[str | bool, ...], Template | None]:
    """A text cut at its literals, its shape, and the template of that, if there is one."""
    if type(where) is not str or len(where) > limits.LENGTH or not where.isascii():
        _check_text(where)
    cut = _CUT.split(where)
    written = cut[1::2]
    shape: list[str | bool] = cut[::2]
    for literal in written:
        shape.append(literal[-1] in "'\"")  # noqa: PERF401 - quicker than extend for the two or three literals of a text
    key = tuple(shape)
    return cut, key, _templates.get(key) if cut[-1] or _ends_whole(written) else None


def _bound(where: str, cut: Sequence[str], key: tuple[str | bool, ...], template: Template | None) -> Expression:
    try:
        expression = template.bind(cut[1::2]) if template is not None else _by_terms(cut, key) or _learned(where, key)
    except LiteralError as fault:
        raise _pointed(fault, where) from None
    if len(where) > limits.LENGTH // _GROWTH:
        _check_canonical(expression, where)
    return expression


def collecting_young_only(rows: Iterable[Any]) -> Iterator[Any]:
    """The rows, for parsing many, with Python's collector held to objects that are new while they are gone through.

    What is made from the rows stays and has no cycles; going through all of it again and again, as the collector does
    by itself, took a third of the time of adding.
    """
    with collector_off():
        for number, row in enumerate(rows, 1):
            yield row
            if number % YOUNG_ROWS == 0:
                gc.collect(0)


@contextmanager
def collector_off() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _ends_whole(written: Sequence[str]) -> bool:
    """Whether the last literal of a text that ends in one is whole: a string that does not end has the same shape."""
    return not written or written[-1][0].isdigit() or _WHOLE.fullmatch(written[-1]) is not None


def _by_terms(cut: Sequence[str], key: tuple[str | bool, ...]) -> Expression | None:
    """A shape that was never met, if it is a row of comparisons joined by AND, each of which has templates by itself.

    Attributes come in more combinations than anyone can keep. None for all else, and for whatever is wrong.
    """
    if len(cut) < 5 or cut[-1].strip() or hash(key) in _seen or not _ends_whole(cut[1::2]):
        return None
    parts: list[Expression] = []
    for before, literal in zip(cut[:-1:2], cut[1::2], strict=True):
        term = before, literal[-1] in "'\"", not parts
        template = _terms.get(term) or _new_term(term, literal)
        try:
            if template is None:
                return None
            parts.append(template((literal,)))
        except LiteralError:
            return None
    _make_room(_seen, _SHAPES_SEEN)
    _seen.add(hash(key))
    return And(tuple(parts))


def _new_term(term: tuple[str, bool, bool], literal: str) -> Bind[Expression] | None:
    """The template of one comparison, from what stands before its literal; None if it is none."""
    before, _, first = term
    found = _TERM.fullmatch(before)
    if found is None or (found["and"] is None) != first:
        return None
    text = found["term"] + literal
    try:
        tokens = lexer.tokens_of(text)
        template = Builder(tokens, text).condition(tree_of(tokens, text))
    except SubscriptionError:
        return None
    spans = [(token.start, token.end) for token in _literals(tokens)]
    if len(spans) != 1 or spans != [found.span() for found in _CUT.finditer(text)]:
        return None
    _make_room(_terms, _TERMS_KEPT)
    _terms[term] = template
    return template


def _learned(where: str, key: tuple[str | bool, ...]) -> Expression:
    """Reads a text of a new shape, and keeps its template where the lexer found the same literals as the cut."""
    tokens = lexer.tokens_of(where)
    builder, tree = Builder(tokens, where), tree_of(tokens, where)
    bind = builder.condition(tree)
    literals = _literals(tokens)
    expression = bind([token.text for token in literals])
    _check_conjunctions(expression, where)
    if hash(key) not in _seen:
        _make_room(_seen, _SHAPES_SEEN)
        _seen.add(hash(key))
    elif [found.span() for found in _CUT.finditer(where)] == [(token.start, token.end) for token in literals]:
        _make_room(_templates, _SHAPES_KEPT)
        _templates[key] = Template.of(bind, terms_of(builder, tree))
    return expression


def _make_room(kept: set[int] | dict[Any, Any], limit: int) -> None:
    """Makes room. Emptying is crude, and enough: what is in use is back after two texts of its shape."""
    if len(kept) >= limit:
        kept.clear()


def _literals(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.kind in (Kind.STRING, Kind.NUMBER, Kind.DATE, Kind.TIMESTAMP)]


def _pointed(fault: LiteralError, where: str) -> SubscriptionError:
    """The error of a literal, pointing into the whole text; to the whole literal where escapes hide the exact place."""
    token = _literals(lexer.tokens_of(where))[fault.ordinal]
    error, written = fault.error, token.text
    if error.text == written:
        return error.within(where, token.start)
    quote = 2 if written[0] in "rR" else 1
    if len(error.text) == len(written) - quote - 1:
        return error.within(where, token.start + quote)
    return type(error)(error.problem, where, token.start, length=len(written), hint=error.hint)


def _check_text(where: object) -> None:
    if not isinstance(where, str):
        shown = f"{where!r:.60} ({type(where).__name__})"
        raise SubscriptionError(f"a subscription is text, not {shown}", "", 0)
    if len(where) > limits.LENGTH:
        problem = f"the subscription has {len(where)} characters, and at most {limits.LENGTH} are allowed"
        raise LimitError(problem, where, limits.LENGTH)
    try:
        where.encode()
    except UnicodeEncodeError as error:
        raise SubscriptionError("half of a surrogate pair is not a Unicode character", where, error.start) from None


def _check_canonical(expression: Expression, where: str) -> None:
    """What is accepted must be accepted again in canonical form, which is how it is stored."""
    length = len(print_expression(expression))
    if length > limits.LENGTH:
        problem = f"in canonical form the subscription has {length} characters, and at most {limits.LENGTH} are allowed"
        raise LimitError(problem, where, 0, length=len(where))


def _check_conjunctions(expression: Expression, where: str) -> None:
    count = conjunction_count(expression)
    if count > limits.CONJUNCTIONS:
        shown = f"{count:,}" if count < 10**12 else f"more than 10^{len(str(min(count, 10**4000))) - 1}"
        raise LimitError(
            f"as an OR of conjunctions this is {shown} of them, and at most {limits.CONJUNCTIONS:,} are allowed",
            where,
            0,
            length=len(where),
            hint="write attribute IN (…) for several values of one attribute, or split the subscription",
        )
