"""Keys of substrings: the whole piece (complete), or its n-grams. Any LIKE is indexed by its longest literal piece.

Paper 2 (substring matching), 4.1 and 4.2. Complete: the piece is stored once, and an event visits every substring of
its value, l(l+1)/2 of them without a bound; here both end at `cap` characters, the piece being cut to its first, so an
event visits at most cap · l. N-grams: the paper stores a piece at each of its grams; with `every` so do we, otherwise
under the rarest alone. A piece shorter than n is a gram of its own length, and an event visits its grams of every
length to n. Grams ignore order (`aba` has those of `bab`): what met is verified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tidings.errors import SettingError
from tidings.model.predicates import Like, Predicate
from tidings.reference import fold
from tidings.rendezvous.scheme import Access, Key, Rank, Scalar, attribute_name, rarest

CAP = 8
GRAM = 3


def longest_piece(like: Like) -> str:
    """The longest literal text between wildcards, of equal ones the first; empty if there is none."""
    return max((part for part in like.pattern if isinstance(part, str)), key=len, default="")


def substrings(text: str, longest: int) -> tuple[str, ...]:
    """Every different substring of 1 to `longest` characters, in the order of their first appearance by length."""
    found = (text[at : at + length] for length in range(1, longest + 1) for at in range(len(text) - length + 1))
    return tuple(dict.fromkeys(found))


def grams(text: str, n: int) -> tuple[str, ...]:
    """The n-grams of a text in their order, repeated ones too; of a shorter text the text itself, of none nothing."""
    if len(text) < n:
        return (text,) if text else ()
    return tuple(text[at : at + n] for at in range(len(text) - n + 1))


@dataclass(frozen=True, slots=True)
class CompleteSubstrings:
    """LIKE only. With `folded` labels are folded and ILIKE is indexed too."""

    cap: int = CAP
    folded: bool = False

    def __post_init__(self) -> None:
        _check_length("the cap of substrings", self.cap)

    @property
    def name(self) -> str:
        return f"complete substrings, cap {self.cap}" + (", folded" if self.folded else "")

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(("substring",))

    def access(self, predicate: Predicate) -> Access | None:
        piece = _piece(predicate, self.folded)
        if not piece:
            return None
        key = Key("substring", attribute_name(predicate.attribute.path), piece[: self.cap])
        return Access(frozenset((key,)), (Rank.STRING, -len(key.label)))

    def keys_of_value(self, attribute: str, value: Scalar) -> Iterator[Key]:
        if isinstance(value, str):
            for part in substrings(_folded(value, self.folded), self.cap):
                yield Key("substring", attribute, part)


@dataclass(frozen=True, slots=True)
class NGrams:
    """LIKE only. With `folded` labels are folded and ILIKE is indexed too.

    `visits` says how many events visit a key, for the choice of the rarest gram; a key it does not name is rarest.
    """

    n: int = GRAM
    every: bool = False
    folded: bool = False
    visits: Mapping[Key, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _check_length("n of the n-grams", self.n)

    @property
    def name(self) -> str:
        return f"{'every' if self.every else 'rarest'} {self.n}-gram" + (", folded" if self.folded else "")

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(("gram",))

    def access(self, predicate: Predicate) -> Access | None:
        piece = _piece(predicate, self.folded)
        if not piece:
            return None
        attribute = attribute_name(predicate.attribute.path)
        keys = frozenset(Key("gram", attribute, gram) for gram in grams(piece, self.n))
        kept = keys if self.every else frozenset((rarest(keys, self.visits),))
        return Access(kept, (Rank.STRING, -min(len(piece), self.n)))

    def keys_of_value(self, attribute: str, value: Scalar) -> Iterator[Key]:
        if isinstance(value, str):
            for gram in substrings(_folded(value, self.folded), self.n):
                yield Key("gram", attribute, gram)


def _piece(predicate: Predicate, folded: bool) -> str:
    if not isinstance(predicate, Like) or (predicate.ignore_case and not folded):
        return ""
    return _folded(longest_piece(predicate), folded)


def _folded(text: str, folded: bool) -> str:
    return fold(text) if folded else text


def _check_length(what: str, length: int) -> None:
    if length < 1:
        raise SettingError(f"{what} is at least 1 character, not {length}")
