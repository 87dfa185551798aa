"""Hypothesis strategies for XPath expressions and XML documents, and other spellings of an expression.

Both draw from a small alphabet of names and values by default, so that expressions often hit documents. The names are
chosen to be awkward where the grammar allows it: `or`, `div` and `text` are elements too.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from random import Random
from xml.sax.saxutils import escape, quoteattr

from hypothesis import strategies as st

from tidings.model.xpath import (
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
)

# What is named more often is drawn more often.
NAMESPACE = "urn:x"
PREFIXES = {"n": NAMESPACE}
ELEMENTS = (*"aaaaabbb", "or", "div", "text", "é", f"{{{NAMESPACE}}}a", f"{{{NAMESPACE}}}b")
ATTRIBUTES = (*"xxx", "y", "and", f"{{{NAMESPACE}}}x")
STRINGS = (*("1", "2008", "abc") * 6, "2008 ", "", " ", "ab", "1e3", "-1", "0.5", "NaN", "it's", 'say "x"', "<&]]>é")
NUMBERS = tuple(map(Decimal, ("1", "1", "2", "2", "2008", "0", "3", "-1", "0.5", "1000")))


def xpath_expressions(
    elements: st.SearchStrategy[str] | None = None,
    attributes: st.SearchStrategy[str] | None = None,
    strings: st.SearchStrategy[str] | None = None,
    numbers: st.SearchStrategy[Decimal] | None = None,
    nesting: int = 2,
) -> st.SearchStrategy[XPathExpression]:
    """Expressions of every construct of the subset, with predicates up to `nesting` deep."""
    drawing = _Drawing(
        elements if elements is not None else st.sampled_from(ELEMENTS),
        attributes if attributes is not None else st.sampled_from(ATTRIBUTES),
        strings if strings is not None else st.sampled_from(STRINGS),
        numbers if numbers is not None else st.sampled_from(NUMBERS),
    )
    return drawing.expressions(nesting, inside=False)


class _Drawing:
    """The strategies of one alphabet."""

    def __init__(
        self,
        elements: st.SearchStrategy[str],
        attributes: st.SearchStrategy[str],
        strings: st.SearchStrategy[str],
        numbers: st.SearchStrategy[Decimal],
    ) -> None:
        self._strings = strings
        self._numbers = numbers
        self._tests = st.one_of(
            st.tuples(st.just(NodeKind.ELEMENT), elements),
            st.tuples(st.just(NodeKind.ELEMENT), st.just("*")),
            st.tuples(st.just(NodeKind.ATTRIBUTE), st.just("*") | attributes),
            st.just((NodeKind.TEXT, "")),
        )
        self._elements = st.tuples(st.just(NodeKind.ELEMENT), st.just("*") | elements)

    def expressions(self, nesting: int, inside: bool) -> st.SearchStrategy[XPathExpression]:
        paths = self._paths(nesting, inside)
        literals: st.SearchStrategy[str | Decimal] = st.one_of(self._strings, self._numbers)
        comparators = st.sampled_from(Comparator)
        leaves: list[st.SearchStrategy[XPathExpression]] = [
            st.builds(Exists, paths),
            st.builds(Comparison, paths, comparators, literals),
            st.builds(StringTest, st.sampled_from(StringFunction), paths, self._strings),
        ]
        if inside:
            leaves += [
                st.builds(Comparison, st.just(Place.POSITION), comparators, literals | st.just(Place.LAST)),
                st.builds(Comparison, st.just(Place.POSITION), st.just(Comparator.EQUAL), self._numbers),
                st.builds(Comparison, st.just(Place.LAST), comparators, literals),
            ]
        return st.recursive(
            st.one_of(leaves),
            lambda parts: st.one_of(
                st.builds(all_of, st.lists(parts, min_size=2, max_size=3)),
                st.builds(any_of, st.lists(parts, min_size=2, max_size=3)),
                st.builds(negation, parts),
            ),
            max_leaves=3,
        )

    def _paths(self, nesting: int, inside: bool) -> st.SearchStrategy[Path]:
        absolute = st.just(not inside)
        return st.builds(
            _path,
            absolute,
            st.lists(self._steps(self._elements, nesting), max_size=2),
            st.lists(self._steps(self._tests, nesting), max_size=1),
            st.sampled_from((False,) * 9 + (True,)),
        )

    def _steps(self, tests: st.SearchStrategy[tuple[NodeKind, str]], nesting: int) -> st.SearchStrategy[Step]:
        predicates: st.SearchStrategy[list[XPathExpression]] = st.just([])
        if nesting:
            predicates |= predicates | st.lists(
                st.deferred(lambda: self.expressions(nesting - 1, inside=True)), max_size=2
            )
        return st.builds(
            lambda test, descendant, chosen: Step(test[0], test[1], descendant, tuple(chosen)),
            tests,
            st.sampled_from((True, True, False)),
            predicates,
        )


def _path(absolute: bool, steps: Sequence[Step], last: Sequence[Step], ends_in_self: bool) -> Path:
    """The last step may be of any kind: below attributes and texts there is nothing to find."""
    end = (Step(NodeKind.SELF, descendant=True),) if ends_in_self else ()
    return Path(absolute, (*steps, *last, *end))


def xml_documents() -> st.SearchStrategy[str]:
    """Well-formed documents with nested elements, mixed content, namespaces, comments, instructions and CDATA."""
    texts = st.sampled_from(STRINGS)
    asides = st.sampled_from(("<!--abc-->", "<?p abc?>", "<!---->"))
    sections = texts.filter(lambda text: "]]>" not in text).map(lambda text: f"<![CDATA[{text}]]>")
    attributes = st.dictionaries(st.sampled_from(ATTRIBUTES), texts, max_size=2)
    names = st.sampled_from(ELEMENTS)
    leaves = st.builds(_element, names, attributes, st.lists(texts.map(escape), max_size=1))
    elements = st.recursive(
        leaves,
        lambda inner: st.builds(
            _element,
            names,
            attributes,
            st.lists(st.one_of(inner, inner, texts.map(escape), sections, asides), max_size=5),
        ),
        max_leaves=8,
    )
    content = st.lists(elements | texts.map(escape), min_size=1, max_size=4)
    roots = st.builds(_element, names, attributes, content)
    prologs = st.sampled_from(("", "", '<?xml version="1.0"?>', "<!--abc-->", "<!DOCTYPE a>", "<?p abc?>\n"))
    return st.builds("{}{}{}".format, prologs, roots, st.just("") | asides)


def _element(name: str, attributes: dict[str, str], content: Sequence[str]) -> str:
    written = "".join(f" {prefixed(key)}={quoteattr(value)}" for key, value in attributes.items())
    if any(key[0] == "{" for key in (name, *attributes)):
        written += f" xmlns:n='{NAMESPACE}'"
    if name == f"{{{NAMESPACE}}}b":  # of this one the namespace is that of names without a prefix, also below it
        return f"<b xmlns='{NAMESPACE}'{written}>{''.join(content)}</b>"
    return f"<{prefixed(name)}{written}>{''.join(content)}</{prefixed(name)}>"


def prefixed(name: str) -> str:
    """As it is written where the prefix is declared."""
    return name.replace(f"{{{NAMESPACE}}}", "n:")


def spelled(expression: XPathExpression, random: Random, *, in_full: bool = False) -> str:
    """The expression spelled otherwise than its canonical text, for a context that is the document node.

    `in_full` names every axis, which the language of subscriptions refuses and libxml2 reads.
    """
    tokens = _Spelling(random, in_full).expression(expression, inside=False)
    return "".join(f"{random.choice(('', '', ' ', chr(10)))}{token}" for token in tokens)


class _Spelling:
    """Lists of tokens; between any two of them space may stand."""

    def __init__(self, random: Random, in_full: bool) -> None:
        self._random = random
        self._in_full = in_full

    def _now_and_then(self) -> bool:
        return self._random.random() < 0.3

    def expression(self, expression: XPathExpression, inside: bool) -> list[str]:
        tokens = self._plain(expression, inside)
        if self._now_and_then():
            return ["not", "(", "not", "(", *tokens, ")", ")"]
        return ["(", *tokens, ")"] if self._now_and_then() else tokens

    def _plain(self, expression: XPathExpression, inside: bool) -> list[str]:
        match expression:
            case Or(parts) | And(parts):
                return self._joined(" or " if isinstance(expression, Or) else " and ", parts, inside)
            case Not(part):
                return ["not", "(", *self.expression(part, inside), ")"]
            case Comparison(left, comparator, right):
                asked = self._place(left) if isinstance(left, Place) else self._path(left, inside)
                return self._compared(asked, comparator, self._literal(right))
            case StringTest(function, path, literal):
                return [function, "(", *self._path(path, inside), ",", *self._literal(literal), ")"]
            case Exists(path):
                return self._path(path, inside)

    def _joined(self, word: str, parts: Sequence[XPathExpression], inside: bool) -> list[str]:
        tokens: list[str] = []
        for part in parts:
            written = self.expression(part, inside)
            tokens += [word] if tokens else []
            tokens += ["(", *written, ")"] if isinstance(part, Or | And) else written
        return tokens

    def _compared(self, asked: list[str], comparator: Comparator, literal: list[str]) -> list[str]:
        if not self._now_and_then():
            return [*asked, f" {comparator} ", *literal]
        flipped = str(comparator).translate(str.maketrans("<>", "><"))
        return [*literal, f" {flipped} ", *asked]

    def _place(self, place: Place) -> list[str]:
        return [place.value.removesuffix("()"), "(", ")"]

    def _literal(self, literal: str | Decimal | Place) -> list[str]:
        if isinstance(literal, Place):
            return self._place(literal)
        if isinstance(literal, str):
            single = '"' in literal or ("'" not in literal and self._now_and_then())
            return [f"'{literal}'" if single else f'"{literal}"']
        digits = format(abs(literal), "f")
        if self._now_and_then():
            digits = "0" + digits + ("0" if "." in digits else ".0")
        return ["-", digits] if literal < 0 else [digits]

    def _path(self, path: Path, inside: bool) -> list[str]:
        tokens = self._start(path, inside)
        for number, step in enumerate(path.steps):
            if number:
                tokens += self._slash(step.descendant)
            tokens += self._step(step)
            if self._now_and_then() and not step.predicates:
                tokens += ["/", *self._self()]
        if not self._in_full and self._now_and_then():
            return ["(", *tokens, ")"]
        return tokens

    def _start(self, path: Path, inside: bool) -> list[str]:
        """A path from the document node may be written as relative to it outside predicates, and must be inside."""
        relative = not path.absolute or (not inside and self._now_and_then())
        if not path.steps:
            return self._self() if relative else ["/", *self._self()]
        descendant = path.steps[0].descendant
        if relative and not descendant and self._now_and_then():
            return []
        return [*(self._self() if relative else []), *self._slash(descendant)]

    def _slash(self, descendant: bool) -> list[str]:
        if not descendant:
            return ["/"]
        return ["/", "descendant-or-self", "::", "node", "(", ")", "/"] if self._in_full else ["//"]

    def _self(self) -> list[str]:
        return ["self", "::", "node", "(", ")"] if self._in_full else ["."]

    def _step(self, step: Step) -> list[str]:
        match step.kind:
            case NodeKind.ELEMENT:
                tokens = ["child", "::", prefixed(step.name)] if self._in_full else [prefixed(step.name)]
            case NodeKind.ATTRIBUTE:
                tokens = ["attribute", "::", prefixed(step.name)] if self._in_full else ["@", prefixed(step.name)]
            case NodeKind.TEXT:
                tokens = ["child", "::", "text", "(", ")"] if self._in_full else ["text", "(", ")"]
            case NodeKind.SELF:
                return self._self()
        return tokens + [token for predicate in step.predicates for token in self._predicate(predicate)]

    def _predicate(self, predicate: XPathExpression) -> list[str]:
        match predicate:
            case Comparison(Place.POSITION, Comparator.EQUAL, (Decimal() | Place()) as place) if self._now_and_then():
                return ["[", *self._literal(place), "]"]
            case _:
                return ["[", *self.expression(predicate, inside=True), "]"]
