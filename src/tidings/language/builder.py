"""From sqlglot's tree to a template: a function that makes the expression from the literals of one subscription.

Subscriptions arrive by the million and mostly share a few shapes. The tree is walked once per shape, and everything
that does not depend on a literal is decided then; what depends on one (a date that is none, a pattern that cannot be
read) is decided each time the template is bound. Each method takes a node and returns such a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NoReturn, TypeAlias, TypeVar

from sqlglot import exp

from tidings.errors import SubscriptionError, UnsupportedError
from tidings.language import arguments, literals
from tidings.language.lexer import Kind, Token
from tidings.model.predicates import (
    And,
    Attribute,
    Between,
    Comparison,
    Constant,
    Expression,
    HasAll,
    HasAny,
    In,
    IsNull,
    Like,
    Matches,
    Not,
    Operator,
    Or,
    Regex,
    Similarity,
    XPath,
)
from tidings.model.values import AttributeType, Literal, boolean
from tidings.model.xpath import XPathExpression

T = TypeVar("T")
Bind: TypeAlias = Callable[[Sequence[str]], T]  # from the literals of one subscription, as written, to a value

OPERATORS: dict[type[exp.Expr], Operator] = {
    exp.EQ: Operator.EQUAL,
    exp.NEQ: Operator.NOT_EQUAL,
    exp.LT: Operator.LESS,
    exp.LTE: Operator.LESS_OR_EQUAL,
    exp.GT: Operator.GREATER,
    exp.GTE: Operator.GREATER_OR_EQUAL,
}
FLIPPED = {
    Operator.LESS: Operator.GREATER,
    Operator.LESS_OR_EQUAL: Operator.GREATER_OR_EQUAL,
    Operator.GREATER: Operator.LESS,
    Operator.GREATER_OR_EQUAL: Operator.LESS_OR_EQUAL,
}
FUNCTIONS = {
    "startswith": "startswith(attribute, 'text')",
    "endswith": "endswith(attribute, 'text')",
    "contains": "contains(attribute, 'text')",
    "array_contains": "array_contains(attribute, value)",
    "has_all": "has_all(attribute, value, …)",
    "has_any": "has_any(attribute, value, …)",
    "arrays_overlap": "arrays_overlap(attribute, array(value, …))",
    "matches": "matches(attribute, 'pattern')",
    "similarity": "similarity(attribute, 'text') >= 0.5",
    "xpath_boolean": "xpath_boolean(attribute, 'expression')",
}

# Functions of SQL that people reach for, and what says the same here.
INSTEAD = {
    "lower": "write attribute ILIKE 'text' to ignore case",
    "upper": "write attribute ILIKE 'text' to ignore case",
    "regexp_like": "write attribute RLIKE 'expression'",
    "regexp": "write attribute RLIKE 'expression'",
    "like": "write attribute LIKE 'pattern'",
    "isnull": "write attribute IS NULL",
    "isnotnull": "write attribute IS NOT NULL",
    "date": "write DATE '2026-01-31'",
    "timestamp": "write TIMESTAMP '2026-01-31 12:00:00'",
    "array": "an array of values is written inside has_all, has_any or arrays_overlap",
}


REMEMBERED = 16_384  # equalities with strings
LONGEST_REMEMBERED = 64  # characters of such a string
_equalities: dict[tuple[tuple[str, ...], str], Comparison] = {}  # by attribute, and the string as it is written


class LiteralError(Exception):
    """A literal that does not fit where it stands: which one, and the error that points into it."""

    def __init__(self, ordinal: int, error: SubscriptionError) -> None:
        super().__init__(ordinal)
        self.ordinal = ordinal
        self.error = error


class Builder:
    """Builds the template of one shape from the tree and the tokens of the first text that had it."""

    def __init__(self, tokens: Sequence[Token], text: str) -> None:
        self.tokens = tokens
        self.text = text
        self.ordinals: dict[int, int] = {}  # number of a token -> which literal it is
        for number, token in enumerate(tokens):
            if token.kind in (Kind.STRING, Kind.NUMBER, Kind.DATE, Kind.TIMESTAMP):
                self.ordinals[number] = len(self.ordinals)

    # Conditions

    def condition(self, node: exp.Expr) -> Bind[Expression]:
        node, negated = _unwrapped(node)
        part = self.positive(node)
        return (lambda values: Not(part(values))) if negated else part

    def positive(self, node: exp.Expr) -> Bind[Expression]:
        """A condition that is neither in parentheses nor negated."""
        if isinstance(node, (exp.And, exp.Or)):
            return self.connected(node, And if isinstance(node, exp.And) else Or)
        if isinstance(node, exp.Column):
            truth = Comparison(self.attribute(node), Operator.EQUAL, boolean(True))
            return lambda values: truth
        if isinstance(node, exp.Literal):
            return self.constant(node)
        return self.predicate(node)

    def connected(self, node: exp.Expr, kind: type[And] | type[Or]) -> Bind[Expression]:
        """AND and OR come as left-deep trees, as deep as the text is long: walked with a stack, not by recursion."""
        parts: list[Bind[Expression]] = []
        waiting = [node]
        while waiting:
            written = waiting.pop()
            current, negated = _unwrapped(written)
            if type(current) is type(node) and not negated:
                waiting += [current.expression, current.this]
            else:
                parts.append(self.condition(written))
        if len(parts) == 2:  # by far the most common, and a third faster than the general case
            first, second = parts
            return lambda values: kind((first(values), second(values)))
        return lambda values: kind(tuple([part(values) for part in parts]))

    def constant(self, node: exp.Expr) -> Bind[Expression]:
        token = self.token(node)
        if token.kind is not Kind.BOOLEAN:
            self.refuse(
                node, f"{token.text} alone is not a condition", "compare an attribute with it: attribute = value"
            )
        value = Constant(token.text.upper() == "TRUE")
        return lambda values: value

    def predicate(self, node: exp.Expr) -> Bind[Expression]:
        if type(node) in OPERATORS:
            return self.comparison(node, OPERATORS[type(node)])
        if isinstance(node, exp.Escape):
            return self.like(node.this, node.expression)
        if isinstance(node, (exp.Like, exp.ILike)):
            return self.like(node, None)
        if isinstance(node, exp.RegexpLike):
            attribute = self.attribute(node.this)
            pattern = self.checked_text(node.expression, arguments.check_regex)
            return lambda values: Regex(attribute, pattern(values))
        if isinstance(node, exp.Between):
            return self.between(node)
        if isinstance(node, exp.In):
            attribute, listed = self.attribute(node.this), self.one_type(node, node.expressions)
            return lambda values: In(attribute, listed(values))
        if isinstance(node, exp.Is):
            return self.is_null(node)
        if isinstance(node, exp.Anonymous):
            return self.call(node)
        self.refuse(node, f"{node.key.upper()} is not part of the language of subscriptions", kind=UnsupportedError)

    def comparison(self, node: exp.Expr, operator: Operator) -> Bind[Expression]:
        left, right = stripped(node.this), stripped(node.expression)
        if isinstance(left, exp.Literal) and not isinstance(right, exp.Literal):
            left, right, operator = right, left, FLIPPED.get(operator, operator)
        if isinstance(left, exp.Anonymous) and self.name(left) == "similarity":
            return self.similarity(left, operator, right, node)
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            self.refuse(
                node,
                "two attributes are compared with each other",
                "compare an attribute with a value; a value in words stands in quotes: symbol = 'IBM'",
                UnsupportedError,
            )
        if isinstance(left, exp.Literal):
            hint = "one side is an attribute, which stands without quotes, or in backquotes: `last name` = 'Woolf'"
            self.refuse(node, "two values are compared with each other", hint)
        if isinstance(left, exp.Anonymous):
            self.compared_function(left)
        if not isinstance(left, exp.Column):
            self.refuse(left, "only an attribute can be compared with a value", "split the condition with AND or OR")
        attribute, literal = self.attribute(left), self.literal(right)
        if operator is Operator.EQUAL and self.token(right).kind is Kind.STRING:
            return _remembered(self.string(right), attribute, literal)
        return lambda values: Comparison(attribute, operator, literal(values))

    def like(self, node: exp.Expr, escape: exp.Expr | None) -> Bind[Expression]:
        if not isinstance(node, (exp.Like, exp.ILike)):
            self.refuse(node, "ESCAPE belongs to LIKE and ILIKE")
        attribute, ignore_case = self.attribute(node.this), isinstance(node, exp.ILike)
        if escape is None:
            pattern = self.checked_text(node.expression, arguments.like_pattern)
            return lambda values: Like(attribute, pattern(values), ignore_case)
        character = self.checked_text(escape, arguments.check_escape)
        ordinal = self.string(node.expression)

        def bind(values: Sequence[str]) -> Expression:
            mark = character(values)
            escaped = _guarded(ordinal, lambda written: arguments.like_pattern(literals.string_of(written), mark))
            return Like(attribute, escaped(values), ignore_case)

        return bind

    def between(self, node: exp.Between) -> Bind[Expression]:
        attribute, low, high = self.attribute(node.this), node.args["low"], node.args["high"]
        ends = self.one_type(node, [low, high])
        return lambda values: Between(attribute, *ends(values))

    def is_null(self, node: exp.Is) -> Bind[Expression]:
        other = node.expression
        if not isinstance(other, exp.Literal) or self.token(other).kind is not Kind.NULL:
            self.refuse(node, "IS takes NULL or NOT NULL", "write attribute = TRUE to test a boolean")
        value = IsNull(self.attribute(node.this))
        return lambda values: value

    # Functions

    def call(self, node: exp.Anonymous) -> Bind[Expression]:
        name, given = self.name(node), node.expressions
        if name not in FUNCTIONS:
            self.unknown_function(node, name)
        if name == "similarity":
            self.refuse(node, "similarity gives a number, not a condition", f"write {FUNCTIONS[name]}")
        if name == "arrays_overlap" and len(given) == 2 and isinstance(stripped(given[1]), exp.Column):
            given = [given[1], given[0]]
        most = {"has_all": len(given), "has_any": len(given), "xpath_boolean": 3}.get(name, 2)
        if not 2 <= len(given) <= most:
            wanted = "at least two" if name in ("has_all", "has_any") else "two"
            self.refuse(node, f"{name} takes {wanted} arguments and was given {len(given)}", f"write {FUNCTIONS[name]}")
        attribute = self.attribute(given[0])
        if name in ("startswith", "endswith", "contains"):
            before, after = name != "startswith", name != "endswith"
            part = self.checked_text(given[1], lambda text: arguments.containing(text, before, after))
            return lambda values: Like(attribute, part(values))
        if name in ("array_contains", "has_all", "has_any", "arrays_overlap"):
            kind = HasAll if name in ("array_contains", "has_all") else HasAny
            listed = self.one_type(node, self.elements(node, name, given[1:]))
            return lambda values: kind(attribute, listed(values))
        if name == "matches":
            pattern = self.checked_text(given[1], arguments.text_pattern)
            return lambda values: Matches(attribute, pattern(values))
        path = self.xpath(given[1], given[2] if len(given) == 3 else None)
        return lambda values: XPath(attribute, path(values))

    def xpath(self, node: exp.Expr, option: exp.Expr | None) -> Bind[XPathExpression]:
        if option is None:
            return self.checked_text(node, arguments.xpath)
        if not isinstance(option, exp.Kwarg) or self.token(option.this).text.lower() != "namespaces":
            hint = "write xpath_boolean(attribute, '/p:a', namespaces => 'p=http://…')"
            self.refuse(option, "the only option of xpath_boolean is namespaces", hint)
        namespaces, ordinal = self.checked_text(option.expression, arguments.check_namespaces), self.string(node)

        def bind(values: Sequence[str]) -> XPathExpression:
            declared = namespaces(values)
            return _guarded(ordinal, lambda written: arguments.xpath(literals.string_of(written), declared))(values)

        return bind

    def elements(self, node: exp.Expr, name: str, given: Sequence[exp.Expr]) -> Sequence[exp.Expr]:
        first = stripped(given[0])
        if name != "array_contains" and len(given) == 1 and isinstance(first, exp.Anonymous):
            if self.name(first) == "array" and first.expressions:
                return first.expressions
        elif name == "arrays_overlap":
            self.refuse(node, "arrays_overlap takes an array of values", f"write {FUNCTIONS[name]}")
        return given

    def similarity(self, node: exp.Anonymous, operator: Operator, right: exp.Expr, whole: exp.Expr) -> Bind[Expression]:
        if operator not in (Operator.GREATER_OR_EQUAL, Operator.GREATER):
            self.refuse(whole, f"similarity cannot be compared with {operator}", "write >= or >")
        given = node.expressions
        if len(given) not in (2, 3):
            self.refuse(
                node, f"similarity takes two arguments and was given {len(given)}", f"write {FUNCTIONS['similarity']}"
            )
        attribute = self.attribute(given[0])
        profile = self.checked_text(given[1], arguments.check_profile)
        model = self.model(given[2]) if len(given) == 3 else None
        threshold = self.threshold(right)
        return lambda values: Similarity(
            attribute, profile(values), operator, threshold(values), model(values) if model else None
        )

    def threshold(self, node: exp.Expr) -> Bind[float]:
        self.literal(node)  # refuses what is no literal
        token = self.token(node)
        if token.kind is not Kind.NUMBER or token.negative:
            self.refuse(node, "the threshold of similarity is a number from 0 to 1", "such as 0.6")
        return _guarded(self.ordinals[int(node.name)], arguments.threshold)

    def model(self, node: exp.Expr) -> Bind[str]:
        if not isinstance(node, exp.Kwarg) or self.token(node.this).text.lower() != "model":
            self.refuse(
                node, "the only option of similarity is model", "write similarity(attribute, 'text', model => 'lsi')"
            )
        return self.checked_text(node.expression, arguments.check_model)

    def compared_function(self, node: exp.Anonymous) -> NoReturn:
        name = self.name(node)
        if name not in FUNCTIONS:
            self.unknown_function(node, name)
        self.refuse(
            node, f"{name} gives true or false", f"leave the comparison out: {FUNCTIONS[name]}, or put NOT before it"
        )

    def unknown_function(self, node: exp.Anonymous, name: str) -> NoReturn:
        token = self.tokens[int(node.this[1:])]
        near = get_close_matches(name, FUNCTIONS, 1, 0.6)
        hint = f"did you mean {FUNCTIONS[near[0]]}?" if near else f"the functions are {', '.join(FUNCTIONS)}"
        hint = INSTEAD.get(name, hint)
        raise SubscriptionError(
            f"unknown function {token.text}", self.text, token.start, length=len(token.text), hint=hint
        )

    # Parts of predicates

    def attribute(self, node: exp.Expr) -> Attribute:
        node = stripped(node)
        if isinstance(node, exp.Column):
            return Attribute(self.token(node).names)
        if isinstance(node, exp.Literal):
            shown = self.token(node).text
            hint = "a name with odd characters goes in backquotes, not in quotes" if shown[0] in "'\"" else None
            self.refuse(node, f"expected an attribute, found the value {shown}", hint)
        self.refuse(node, "expected an attribute here")

    def literal(self, node: exp.Expr) -> Bind[Literal]:
        node = stripped(node)
        if not isinstance(node, exp.Literal):
            if isinstance(node, exp.Anonymous) and self.name(node) not in FUNCTIONS:
                self.unknown_function(node, self.name(node))
            hint = "a value in words stands in quotes: symbol = 'IBM'" if isinstance(node, exp.Column) else None
            self.refuse(node, "expected a value here", hint)
        token = self.token(node)
        if token.kind is Kind.NULL:
            self.refuse(
                node, "nothing is ever equal to NULL, nor less or more", "write attribute IS NULL, or IS NOT NULL"
            )
        if token.kind is Kind.BOOLEAN:
            value = literals.read_boolean(token.text)
            return lambda values: value
        ordinal = self.ordinals[int(node.this)]
        read = literals.read_negative_number if token.negative else literals.READERS[token.kind.name]
        return _guarded(ordinal, read)

    def one_type(self, node: exp.Expr, given: Sequence[exp.Expr]) -> Bind[tuple[Literal, ...]]:
        """Literals which must all have one type; which type each has is seen in the shape."""
        if not given:
            self.refuse(node, "the list of values is empty", "name at least one value")
        types = {self.literal_type(part) for part in given}
        if len(types) > 1:
            listed = " and ".join(sorted(types))
            self.refuse(node, f"the values have different types: {listed}", "all values of one list have one type")
        parts = [self.literal(part) for part in given]
        return lambda values: tuple([part(values) for part in parts])

    def literal_type(self, node: exp.Expr) -> str:
        self.literal(node)  # refuses what is no literal
        kind = self.token(stripped(node)).kind
        return AttributeType.TIMESTAMP if kind is Kind.DATE else kind.name.lower()

    def string(self, node: exp.Expr) -> int:
        """Which literal the string is."""
        node = stripped(node)
        if not isinstance(node, exp.Literal) or self.token(node).kind is not Kind.STRING:
            self.refuse(node, "expected a string here", "put it in quotes: 'text'")
        return self.ordinals[int(node.this)]

    def checked_text(self, node: exp.Expr, check: Callable[[str], T]) -> Bind[T]:
        """A string that is itself in a small language; errors in it point to where they stand in the string."""
        return _guarded(self.string(node), lambda written: check(literals.string_of(written)))

    # Positions

    def token(self, node: exp.Expr) -> Token:
        return self.tokens[int(node.name)]

    def name(self, node: exp.Anonymous) -> str:
        return self.tokens[int(node.this[1:])].text.lower()

    def refuse(
        self,
        node: exp.Expr,
        problem: str,
        hint: str | None = None,
        kind: type[SubscriptionError] = SubscriptionError,
    ) -> NoReturn:
        spanned = [self.tokens[number] for number in _leaves(node)] or list(self.tokens)
        start, end = min(token.start for token in spanned), max(token.end for token in spanned)
        raise kind(problem, self.text, start, length=end - start, hint=hint)


def _guarded(ordinal: int, read: Callable[[str], T]) -> Bind[T]:
    """Reads one literal; an error in it says which one it was."""

    def bind(values: Sequence[str]) -> T:
        try:
            return read(values[ordinal])
        except SubscriptionError as error:
            raise LiteralError(ordinal, error) from None

    return bind


def _remembered(ordinal: int, attribute: Attribute, literal: Bind[Literal]) -> Bind[Comparison]:
    """An equality with a string, the same value as long as it is remembered: symbols and categories come again."""
    path = attribute.path

    def bind(values: Sequence[str]) -> Comparison:
        key = (path, values[ordinal])
        made = _equalities.get(key)
        if made is None:
            made = Comparison(attribute, Operator.EQUAL, literal(values))
            if len(key[1]) <= LONGEST_REMEMBERED:
                if len(_equalities) >= REMEMBERED:
                    _equalities.clear()  # crude, and enough: what is in use is back soon
                _equalities[key] = made
        return made

    return bind


def stripped(node: exp.Expr) -> exp.Expr:
    """Without parentheses."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _unwrapped(node: exp.Expr) -> tuple[exp.Expr, bool]:
    """A condition without parentheses and NOTs, and whether it is negated: pairs of NOT cancel."""
    negated = False
    while isinstance(node, exp.Paren | exp.Not):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    like = node.this if isinstance(node, exp.Escape) else node
    if isinstance(like, exp.Like | exp.ILike):  # sqlglot keeps the NOT of NOT LIKE inside
        negated ^= bool(like.args.get("negate"))
    return node, negated


def _leaves(node: exp.Expr) -> list[int]:
    numbers = []
    for leaf in node.walk():
        if isinstance(leaf, (exp.Identifier, exp.Literal)):
            numbers.append(int(leaf.name))
        elif isinstance(leaf, exp.Anonymous):
            numbers.append(int(leaf.this[1:]))
    return numbers
