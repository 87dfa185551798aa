"""Identifiers on a circle: `base ** length` of them, read as whole numbers or as `length` digits of any base.

Chord's ring of 2^m is base 2 and length m. Pastry reads digits of base β. A space has at most 2^62 identifiers, so that
sums of two fit the 64-bit integers of the bulk kernels. Keys are made from text by one stated hash, BLAKE2b with the
seed as its key, so that the same text has the same place on every machine and in every process.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from tidings.errors import SettingError

LARGEST_SPACE = 2**62
_DIGEST_BYTES = 16  # 128 bits taken modulo at most 2^62: no identifier is favoured by more than 2^-66


@dataclass(frozen=True, slots=True)
class IdentifierSpace:
    base: int = 2
    length: int = 32
    size: int = field(init=False, compare=False)
    places: tuple[int, ...] = field(
        init=False, compare=False, repr=False
    )  # what each digit counts, the first one first

    def __post_init__(self) -> None:
        if self.base < 2 or self.length < 1 or self.base**self.length > LARGEST_SPACE:
            raise SettingError(
                f"an identifier space of {self.length} digits of base {self.base} cannot be made: the base is at least "
                f"2, the length at least 1, and base ** length at most 2^62; choose fewer digits or a smaller base"
            )
        object.__setattr__(self, "size", self.base**self.length)
        object.__setattr__(self, "places", tuple(self.base ** (self.length - 1 - row) for row in range(self.length)))

    def clockwise(self, start: int, end: int) -> int:
        """How far it is from `start` to `end` in the direction in which identifiers grow."""
        return (end - start) % self.size

    def distance(self, one: int, other: int) -> int:
        """How far apart two identifiers are, the shorter way round."""
        apart = abs(one - other)
        return min(apart, self.size - apart)

    def is_between(self, identifier: int, after: int, until: int) -> bool:
        """Whether it lies on the arc clockwise from `after`, which is left out, to `until`, which is not.

        From an identifier to itself the arc is the whole circle.
        """
        return 0 < self.clockwise(after, identifier) <= self.clockwise(after, until) or after == until

    def digit(self, identifier: int, row: int) -> int:
        return identifier // self.places[row] % self.base

    def digits(self, identifier: int) -> tuple[int, ...]:
        return tuple(identifier // place % self.base for place in self.places)

    def identifier(self, digits: Iterable[int]) -> int:
        """The identifier that begins with these digits, and goes on with zeros where they are fewer than `length`."""
        return sum(digit * place for digit, place in zip(digits, self.places, strict=False))

    def shared_digits(self, one: int, other: int) -> int:
        """How many of their first digits two identifiers have in common."""
        for row, place in enumerate(self.places):
            if one // place != other // place:
                return row
        return self.length

    def key_of(self, text: str | bytes, seed: int = 0) -> int:
        """The place of a text. Another seed gives places that have nothing to do with the first ones."""
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        digest = blake2b(data, digest_size=_DIGEST_BYTES, key=seed.to_bytes(8, "big", signed=True)).digest()
        return int.from_bytes(digest, "big") % self.size

    def spread(self, count: int, seed: int = 0) -> tuple[int, ...]:
        """`count` different identifiers in ascending order, as hashing gives them: for the nodes of a network."""
        if not 0 <= count <= self.size:
            raise SettingError(f"{count} different identifiers cannot be taken from a space of {self.size}")
        taken: set[int] = set()
        number = 0
        while len(taken) < count:
            taken.add(self.key_of(b"node %d" % number, seed))
            number += 1
        return tuple(sorted(taken))

    def check_identifier(self, identifier: int, what: str) -> None:
        if not 0 <= identifier < self.size:
            raise SettingError(f"{what} {identifier} is outside of the space: identifiers are 0 to {self.size - 1}")


def numerically_closest(space: IdentifierSpace, key: int, candidates: Iterable[int]) -> int:
    """The candidate nearest to the key, the shorter way round; of two equally near, the smaller identifier."""
    best, best_far = -1, space.size
    for candidate in candidates:  # a loop and not min(): every hop of every message comes here
        apart = abs(candidate - key)
        far = apart if apart + apart <= space.size else space.size - apart
        if far < best_far or (far == best_far and candidate < best):
            best, best_far = candidate, far
    return best
