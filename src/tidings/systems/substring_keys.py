"""Which texts a predicate on strings is stored under, and which an event visits (paper 2, 4.1 and 4.2).

Complete: under the piece that every matching value contains, and an event visits every substring of its values.
N-grams: under each n-gram of the piece, with an extended identifier, and an event visits its n-grams; what it finds is
counted, put together by order and looked for in the value, so that `aba` is not found in `bab`. A piece shorter than n
is a gram of its own length: events visit grams of every length from `shortest` to n; with `shortest` = n, as in the
paper, shorter pieces are refused. Invariant: a value that satisfies a predicate visits all texts of one of its pieces.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tidings.errors import SettingError
from tidings.model.event import Event
from tidings.model.predicates import Attribute, Comparison, In, Like, Not, Operator, Predicate, Wildcard
from tidings.model.values import AttributeType
from tidings.rendezvous.scheme import attribute_name, values_of
from tidings.rendezvous.substrings import grams, longest_piece
from tidings.systems.interface import IDENTIFIER_BYTES
from tidings.systems.pastry_strings.system import Entry

Term = Predicate | Not


@dataclass(frozen=True, slots=True)
class SubstringSettings:
    """`gram` is n. Pieces are stored by their first `longest` characters (complete), and at least `shortest` long.

    `replicas` peers hold each text: `replicas` - 1 failures between two calls of `heal` lose nothing.
    """

    gram: int = 2
    shortest: int = 1
    longest: int = 8
    replicas: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.gram <= self.longest or self.replicas < 1:
            raise SettingError(
                f"shortest {self.shortest}, gram {self.gram}, longest {self.longest}, replicas {self.replicas}: "
                "1 <= shortest <= gram <= longest is needed, and at least 1 replica"
            )


class Text(NamedTuple):
    """A meeting place: a text in the values of an attribute."""

    attribute: str
    text: str


class Deposit(NamedTuple):
    """What is stored under a text; `check` is what must be asked of an event that has the text in its value.

    `guard` asks whether it has, for a place where other texts may be too; nothing, where `Keys.found` will see.
    """

    text: Text
    item: Hashable
    check: tuple[Term, ...]
    guard: tuple[Term, ...]


class ExtendedId(NamedTuple):
    """Paper 2, 4.2: the identifier, the gram's order among how many, and the gram. `piece`: IN has several."""

    entry: Entry
    piece: int
    order: int
    grams: int
    attribute: str
    gram: str


class Keys(Protocol):
    """One of the two ways to make texts."""

    @property
    def name(self) -> str: ...

    @property
    def longest(self) -> int:
        """Of the texts that something is stored under."""
        ...

    @property
    def item_bytes(self) -> int: ...

    def deposits(self, entry: Entry, predicate: Predicate, rest: tuple[Term, ...]) -> tuple[Deposit, ...]: ...

    def visits(self, event: Event) -> tuple[Text, ...]:
        """Each text once."""
        ...

    def found(self, items: Iterable[Hashable], event: Event) -> set[Entry]:
        """The entries whose predicate the event satisfies, out of all that was collected for it."""
        ...


def pieces_of(predicate: Term) -> tuple[str, ...] | None:
    """One of these is in every value that satisfies the predicate; None: nothing is known to be in it."""
    match predicate:
        case Comparison(_, Operator.EQUAL, literal):
            literals = (literal,)
        case In(_, literals):
            pass
        case Like(_, _, False):
            piece = longest_piece(predicate)
            return (piece,) if piece else None
        case _:
            return None
    if any(literal.type is not AttributeType.STRING or not literal.value for literal in literals):
        return None
    return tuple(dict.fromkeys(str(literal.value) for literal in literals))


def asks_no_more(predicate: Predicate) -> bool:
    """Whether it holds of every value that contains its piece."""
    return isinstance(predicate, Like) and predicate.pattern == (
        Wildcard.ANY,
        longest_piece(predicate),
        Wildcard.ANY,
    )


def contains(attribute: Attribute, text: str) -> Like:
    return Like(attribute, (Wildcard.ANY, text, Wildcard.ANY))


def strings_of(event: Event) -> Mapping[str, tuple[str, ...]]:
    return {
        attribute: tuple(value for value in values if isinstance(value, str))
        for attribute, values in values_of(event).items()
    }


def _stretches(text: str, lengths: range) -> Iterator[str]:
    for length in lengths:
        for at in range(len(text) - length + 1):
            yield text[at : at + length]


def _visited(event: Event, lengths: range) -> tuple[Text, ...]:
    return tuple(
        dict.fromkeys(
            Text(attribute, stretch)
            for attribute, values in strings_of(event).items()
            for value in values
            for stretch in _stretches(value, lengths)
        )
    )


@dataclass(frozen=True, slots=True)
class CompleteKeys:
    settings: SubstringSettings

    @property
    def name(self) -> str:
        return "complete"

    @property
    def longest(self) -> int:
        return self.settings.longest

    @property
    def item_bytes(self) -> int:
        return IDENTIFIER_BYTES

    def deposits(self, entry: Entry, predicate: Predicate, rest: tuple[Term, ...]) -> tuple[Deposit, ...]:
        attribute = attribute_name(predicate.attribute.path)
        pieces = pieces_of(predicate) or ()
        is_whole = asks_no_more(predicate) and len(pieces[0]) <= self.longest
        check = rest if is_whole else (predicate, *rest)
        texts = dict.fromkeys(Text(attribute, piece[: self.longest]) for piece in pieces)
        return tuple(Deposit(text, entry, check, (contains(predicate.attribute, text.text),)) for text in texts)

    def visits(self, event: Event) -> tuple[Text, ...]:
        return _visited(event, range(self.settings.shortest, self.longest + 1))

    def found(self, items: Iterable[Hashable], event: Event) -> set[Entry]:
        return {item for item in items if isinstance(item, Entry)}


@dataclass(frozen=True, slots=True)
class GramKeys:
    settings: SubstringSettings

    @property
    def name(self) -> str:
        return "ngrams"

    @property
    def longest(self) -> int:
        return self.settings.gram

    @property
    def item_bytes(self) -> int:
        return IDENTIFIER_BYTES + 2 + 2 + self.settings.gram  # order and number of grams, and the gram

    def deposits(self, entry: Entry, predicate: Predicate, rest: tuple[Term, ...]) -> tuple[Deposit, ...]:
        """What a piece does not say is asked where its first gram is stored: without that one it is not complete."""
        attribute = attribute_name(predicate.attribute.path)
        first = rest if asks_no_more(predicate) else (predicate, *rest)
        return tuple(
            Deposit(
                Text(attribute, gram),
                ExtendedId(entry, number, order, len(parts), attribute, gram),
                first if order == 0 else (),
                (),
            )
            for number, piece in enumerate(pieces_of(predicate) or ())
            for parts in (grams(piece, self.settings.gram),)
            for order, gram in enumerate(parts)
        )

    def visits(self, event: Event) -> tuple[Text, ...]:
        return _visited(event, range(self.settings.shortest, self.settings.gram + 1))

    def found(self, items: Iterable[Hashable], event: Event) -> set[Entry]:
        groups: dict[tuple[Entry, int], list[ExtendedId]] = {}
        for item in items:
            if isinstance(item, ExtendedId):
                groups.setdefault((item.entry, item.piece), []).append(item)
        strings = strings_of(event)
        return {
            entry
            for (entry, _), group in groups.items()
            if len(group) == group[0].grams and _is_in(rebuilt(group), strings.get(group[0].attribute, ()))
        }


def rebuilt(group: list[ExtendedId]) -> str:
    """The piece, from its grams: the first one, and the last character of each that follows."""
    ordered = sorted(group, key=lambda item: item.order)
    return ordered[0].gram + "".join(item.gram[-1] for item in ordered[1:])


def _is_in(piece: str, values: Iterable[str]) -> bool:
    return any(piece in value for value in values)
