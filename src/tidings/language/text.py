"""The language of text patterns, both ways: `parse_pattern` and `print_pattern`.

    pattern := all (OR all)*         all     := one ((AND)? one)*         one := NOT one | ( pattern ) | chain
    chain   := element (->[least,most] element)*              element := word | word* | "phrase"

A word is a run of characters other than white space, parentheses and double quotes that ends before an arrow; a * is
a wildcard at the end of one, and nowhere else. In quotes every character stands for itself. What is accepted prints to
a text that is accepted and means the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple

from tidings.analysis.words import SIMPLE
from tidings.errors import LimitError, SubscriptionError, UnsupportedError
from tidings.language.plain_text import plain_pattern
from tidings.model.text import NEXT, AllOf, AnyOf, Gap, Not, Terms, TextPattern

LENGTH = 8_192  # characters of a pattern, as typed and as printed
TERMS = 512  # words of a pattern, those in phrases counted one by one
NESTING = 32  # parentheses and NOTs inside one another
GAP = 1_000_000  # words between two terms of a chain, where there is a bound

Kind = Literal["word", "phrase", "arrow", "AND", "OR", "NOT", "(", ")", "end"]


def parse_pattern(text: str) -> TextPattern:
    """The pattern that `text` says; SubscriptionError with the position where it says none."""
    plain = plain_pattern(text)
    return parse_by_grammar(text) if plain is None else plain


def parse_by_grammar(text: str) -> TextPattern:
    """The same by the whole grammar, of which `plain_pattern` is the quick way for most."""
    _check_length(len(text), text, "the pattern has")
    tokens = tuple(_tokens(text))
    if len(tokens) == 1:
        raise SubscriptionError("the pattern is empty", text, 0, hint='write words or "phrases" to look for')
    _check_number_of_terms(tokens, text)
    pattern = _Parser(text, tokens).parse()
    # Each character typed prints as fewer than six, so a short pattern need not be printed to know that it fits.
    if len(text) > LENGTH // 6:
        _check_length(len(print_pattern(pattern)), text, "printed with every AND and quote the pattern has")
    return pattern


def print_pattern(pattern: TextPattern) -> str:
    """The one way to write the pattern: every AND spelt out, parentheses and quotes only where they are needed."""
    match pattern:
        case Terms():
            return _printed_chain(pattern)
        case AllOf(parts):
            return " AND ".join(_grouped(part, (AnyOf,)) for part in parts)
        case AnyOf(parts):
            return " OR ".join(print_pattern(part) for part in parts)
        case Not(part):
            return "NOT " + _grouped(part, (AllOf, AnyOf))


# Printing


def _grouped(part: TextPattern, looser: tuple[type, ...]) -> str:
    printed = print_pattern(part)
    return f"({printed})" if isinstance(part, looser) else printed


_NEEDS_QUOTES = re.compile(r"^[-!]|[()*?“”„]|->|^(?:AND|OR|NOT|(?i:near)(?:/[0-9]+)?)\Z")


def _printed_chain(chain: Terms) -> str:
    printed: list[str] = []
    adjacent = [chain.terms[0]]
    for number, (gap, term) in enumerate(zip(chain.gaps, chain.terms[1:], strict=True)):
        # In quotes a * stands for itself, so a wildcard word is never part of a phrase.
        if gap == NEXT and chain.prefixes.isdisjoint((number, number + 1)):
            adjacent.append(term)
        else:
            printed += [_printed_element(adjacent, number in chain.prefixes), _printed_gap(gap)]
            adjacent = [term]
    return " ".join([*printed, _printed_element(adjacent, len(chain.gaps) in chain.prefixes)])


def _printed_element(terms: list[str], is_prefix: bool) -> str:
    if is_prefix:
        return terms[0] + "*"
    if len(terms) == 1 and not _NEEDS_QUOTES.search(terms[0]):
        return terms[0]
    return '"' + " ".join(terms) + '"'


def _printed_gap(gap: Gap) -> str:
    return f"->[{gap.least},{'' if gap.most is None else gap.most}]"


# Reading: tokens


class _Token(NamedTuple):
    kind: Kind
    text: str
    start: int
    terms: tuple[str, ...] = ()  # of a word or phrase
    is_prefix: bool = False
    gap: Gap = NEXT  # of an arrow


_TOKEN = re.compile(
    r"""\s+ | (?P<bracket>[()]) | (?P<phrase>"[^"]*") | (?P<quote>") | (?P<arrow>->) | (?P<word>(?:(?!->)[^\s()"])+)""",
    re.VERBOSE,
)
_OPERATORS: dict[str, Kind] = {"AND": "AND", "OR": "OR", "NOT": "NOT"}
_ARROW = re.compile(r"->\[\s*([0-9]+)\s*,\s*([0-9]*)\s*\]")


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        assert found is not None  # the alternatives cover every character
        token = _token(found, text)
        if token is not None:
            yield token
        at = found.end() if token is None else at + len(token.text)
    yield _Token("end", "", len(text))


def _token(found: re.Match[str], text: str) -> _Token | None:
    written, start = found.group(), found.start()
    match found.lastgroup:
        case None:
            return None
        case "bracket":
            return _Token("(" if written == "(" else ")", written, start)
        case "arrow":
            return _arrow(text, start)
        case "phrase":
            return _phrase(written, text, start)
        case "word":
            return _word(written, text, start)
    raise SubscriptionError("the phrase that begins here does not end", text, start, hint='close it with another "')


def _phrase(written: str, text: str, start: int) -> _Token:
    terms = tuple(_term(part.group(), text, start + part.start()) for part in re.finditer(r'[^\s"]+', written))
    if not terms:
        raise SubscriptionError(
            "the phrase is empty", text, start, length=len(written), hint="put words between the quotes"
        )
    return _Token("phrase", written, start, terms)


def _word(written: str, text: str, start: int) -> _Token:
    if written in _OPERATORS:
        return _Token(_OPERATORS[written], written, start)
    if written.isascii() and written.isalnum() and written.lower() != "near":  # most are, and nothing can be wrong then
        return _Token("word", written, start, (written,))
    meant = {"&": "AND", "&&": "AND", "+": "AND", "|": "OR", "||": "OR", "!": "NOT", "-": "NOT"}.get(written)
    is_prefix = written.endswith("*")
    term = _term(written, text, start, f", or write {meant} if that is meant" if meant else "")
    _check_unquoted(written, text, start)
    return _Token("word", written, start, (term.removesuffix("*"),), is_prefix=is_prefix)


def _term(written: str, text: str, start: int, otherwise: str = "") -> str:
    term = unicodedata.normalize("NFC", written)
    if (term.isascii() and term.isalnum()) or SIMPLE.words(term):  # the first is quick, and says the same
        return term
    problem = f"{_shown(written)} holds no word"
    hint = f"words are made of letters and digits, and only they are looked for; leave it out{otherwise}"
    raise SubscriptionError(problem, text, start, length=len(written), hint=hint)


def _check_unquoted(written: str, text: str, start: int) -> None:
    """Refuses what other search languages read in another way, and what would here be quietly read as a plain word."""
    quoted = f'in quotes it is taken as it stands: "{_shown(written)}"'
    if re.search(r"[*?]", written.removesuffix("*")):
        problem = f"{_shown(written)} has a wildcard other than one * at its end"
        hint = f"write the beginning of the words, as in neur*, or all of them, as in woman OR women; {quoted}"
    elif written.endswith("*") and not _ends_in_word(unicodedata.normalize("NFC", written.removesuffix("*"))):
        problem = f"{_shown(written)} has no letter or digit before its *"
        hint = f"a * stands for any end of its word, as in neur*; {quoted}"
    elif re.fullmatch(r"(?i:near)(?:/[0-9]+)?", written):
        problem = f"{_shown(written)} is not an operator of the language"
        hint = f"write a ->[0,5] b for a before b with at most 5 words between; {quoted}"
    elif written[0] in "-!":
        problem = f"{written[0]} before a word is not part of the language"
        hint = f"write NOT {_shown(written[1:])}; {quoted}"
    elif re.search(r"[“”„]", written):
        problem = f"{_shown(written)} has a curly quote"
        hint = 'phrases stand in straight quotes: "machine learning"'
    else:
        return
    raise UnsupportedError(problem, text, start, length=len(written), hint=hint)


def _ends_in_word(prefix: str) -> bool:
    """Whether the last character is part of a word: of c++* one would expect words that begin with c++."""
    return SIMPLE.words(prefix)[-1].end == len(prefix)


def _arrow(text: str, start: int) -> _Token:
    found = _ARROW.match(text, start)
    if found is None:
        raise _unreadable_arrow(text, start)
    least = _bound(found.group(1), text, found.start(1))
    most = _bound(found.group(2), text, found.start(2)) if found.group(2) else None
    if most is not None and most < least:
        raise SubscriptionError(
            f"{_shown(found.group())} asks for at least {least} and at most {most} words between",
            text,
            start,
            length=len(found.group()),
            hint=f"the smaller number comes first: ->[{most},{least}]",
        )
    return _Token("arrow", found.group(), start, gap=Gap(least, most))


def _bound(digits: str, text: str, start: int) -> int:
    significant = digits.lstrip("0") or "0"
    # Counted before they are converted: Python refuses to convert thousands of digits.
    if len(significant) > len(str(GAP)) or int(significant) > GAP:
        given = significant if len(significant) <= 20 else f"a number of {len(significant)} digits"
        raise LimitError(
            f"a bound of the words between is {given}, and at most {GAP} is allowed",
            text,
            start,
            length=len(digits),
            hint="leave the second number out for no upper bound: ->[0,]",
        )
    return int(significant)


def _unreadable_arrow(text: str, start: int) -> SubscriptionError:
    found = re.compile(r'->(?:\[([^\]()"]*)(\]?))?').match(text, start)
    assert found is not None  # called where an arrow stands
    inside, closed = found.groups()
    hint = "write a ->[0,3] b for a before b with 0 to 3 words between, ->[0,] for any number"
    if inside is None:
        return SubscriptionError("expected [least,most] directly after ->", text, start, length=2, hint=hint)
    if not closed:
        problem = "the [ that begins here does not end; expected ->[least,most]"
        return SubscriptionError(problem, text, start + 2, hint=hint)
    written = _shown(found.group())
    problem = f"{written} is not ->[least,most], two numbers of words"
    if re.fullmatch(r"\s*[0-9]+\s*", inside):
        n = _shown(inside.strip())
        problem = f"{written} has one number; expected ->[least,most]"
        hint = f"write ->[0,{n}] for at most {n} words between, ->[{n},{n}] for exactly {n}, ->[{n},] for {n} or more"
    elif re.fullmatch(r"\s*,\s*[0-9]*\s*", inside):
        problem = f"{written} has no least number of words; expected ->[least,most]"
        hint = f"write ->[0,{_shown(inside.strip().lstrip(',').lstrip())}]"
    elif re.fullmatch(r"\s*-?[0-9]+\s*,\s*(?:-?[0-9]+)?\s*", inside):
        problem = f"{written} has a negative number; the number of words between is 0 or more"
        hint = "the arrow goes one way; for both orders write a ->[0,2] b OR b ->[0,2] a"
    return SubscriptionError(problem, text, start, length=len(found.group()), hint=hint)


# Reading: limits


def _check_length(length: int, text: str, what: str) -> None:
    if length > LENGTH:
        raise LimitError(
            f"{what} {length} characters, and at most {LENGTH} are allowed",
            text,
            LENGTH,
            hint="divide it into several subscriptions",
        )


def _check_number_of_terms(tokens: tuple[_Token, ...], text: str) -> None:
    number = sum(len(token.terms) for token in tokens)
    if number <= TERMS:
        return
    seen = 0
    for token in tokens:
        seen += len(token.terms)
        if seen > TERMS:
            problem = f"the pattern has {number} words, and at most {TERMS} are allowed"
            hint = "divide it into several subscriptions"
            raise LimitError(problem, text, token.start, length=len(token.text), hint=hint)


# Reading: grammar


class _Parser:
    """Recursive descent; the depth is bounded by NESTING."""

    def __init__(self, text: str, tokens: tuple[_Token, ...]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0
        self.open: list[_Token] = []  # the parentheses and NOTs around the next token

    def parse(self) -> TextPattern:
        pattern = self._any()
        if self._next.kind == ")":
            raise self._closes_nothing()
        return pattern

    @property
    def _next(self) -> _Token:
        return self.tokens[self.at]

    def _take(self) -> _Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def _any(self) -> TextPattern:
        parts = [self._all()]
        while self._next.kind == "OR":
            self._take()
            parts.append(self._all())
        flat = [inner for part in parts for inner in (part.parts if isinstance(part, AnyOf) else (part,))]
        return AnyOf(tuple(flat)) if len(flat) > 1 else flat[0]

    def _all(self) -> TextPattern:
        parts = [self._one()]
        while self._next.kind not in ("OR", ")", "end"):
            if self._next.kind == "AND":
                self._take()
            parts.append(self._one())
        flat = [inner for part in parts for inner in (part.parts if isinstance(part, AllOf) else (part,))]
        return AllOf(tuple(flat)) if len(flat) > 1 else flat[0]

    def _one(self) -> TextPattern:
        match self._next.kind:
            case "word" | "phrase":
                return self._chain()
            case "NOT":
                self._enter()
                negated = Not(self._one())
                self.open.pop()
                return negated
            case "(":
                return self._parenthesised()
        raise self._expected_one()

    def _parenthesised(self) -> TextPattern:
        opening = self._enter()
        inner = self._any()
        if self._next.kind == "end":
            raise self._not_closed(opening)
        self._take()
        self.open.pop()
        if self._next.kind == "arrow":
            raise self._not_an_element(f"expected a word or a phrase before {_described(self._next)}, and found )")
        return inner

    def _chain(self) -> TextPattern:
        first = self._take()
        terms, prefixes = list(first.terms), {0} if first.is_prefix else set()
        gaps = [NEXT] * (len(terms) - 1)
        while self._next.kind == "arrow":
            arrow = self._take()
            if self._next.kind not in ("word", "phrase"):
                found = _described(self._next)
                raise self._not_an_element(f"expected a word or a phrase after {_described(arrow)}, and found {found}")
            added = self._take()
            if added.is_prefix:
                prefixes.add(len(terms))
            terms += added.terms
            gaps += [arrow.gap] + [NEXT] * (len(added.terms) - 1)
        return Terms(tuple(terms), tuple(gaps), frozenset(prefixes))

    def _enter(self) -> _Token:
        self.open.append(self._take())
        if len(self.open) > NESTING:
            problem = f"parentheses and NOTs are {len(self.open)} deep here, and at most {NESTING} are allowed"
            raise LimitError(problem, self.text, self.open[-1].start, hint="leave out those that change nothing")
        return self.open[-1]

    def _expected_one(self) -> SubscriptionError:
        token, before = self._next, self.tokens[self.at - 1]  # before the first token stands the last, the end
        if token.kind == ")" and not any(around.kind == "(" for around in self.open):
            return self._closes_nothing()
        if token.kind == "end" and before.kind == "(":
            return self._not_closed(before)
        after = f" after {before.text}" if before.kind in _OPERATORS else ""
        problem = f"expected a word, a phrase or ({after}, and found {_described(token)}"
        hint = _hint_for_operand(before, token)
        return SubscriptionError(problem, self.text, token.start, length=len(token.text), hint=hint)

    def _not_closed(self, opening: _Token) -> SubscriptionError:
        problem = "the ( that begins here is not closed"
        return SubscriptionError(problem, self.text, opening.start, hint="add the missing )")

    def _closes_nothing(self) -> SubscriptionError:
        hint = "leave it out, or add the ( that it closes"
        return SubscriptionError("this ) closes nothing", self.text, self._next.start, hint=hint)

    def _not_an_element(self, problem: str) -> SubscriptionError:
        hint = "a chain holds words and phrases only; join chains instead: a ->[0,3] b OR a ->[0,3] c"
        if self._next.kind == "end":
            hint = "add the word or phrase that follows"
        return SubscriptionError(problem, self.text, self._next.start, length=len(self._next.text), hint=hint)


def _hint_for_operand(before: _Token, found: _Token) -> str:
    """What to do where a word, a phrase or ( must come after `before`, and `found` stands there."""
    if found.kind == "arrow":
        return f"a chain begins with a word or a phrase: a {_described(found)} b"
    operator = found if found.kind in _OPERATORS else before
    if operator.kind not in _OPERATORS:
        return "put words between the parentheses, or leave them out"
    use = "stands before the part that it denies" if operator.kind == "NOT" else "stands between two parts"
    return f'{operator.text} {use}; to look for the word itself put it in quotes: "{operator.text}"'


def _described(token: _Token) -> str:
    return "the end of the pattern" if token.kind == "end" else _shown(token.text)


def _shown(written: str) -> str:
    """As written, in so far as that can be read in a message."""
    shown = "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in written[:60])
    return shown if len(written) <= 60 else shown + "…"
