"""Labels as whole numbers, for arrays of them: digits in base β + 1, of which 0 says that the label has ended.

Labels of equal beginnings stand side by side, a beginning before all that go on from it; the empty label is 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tidings.errors import SettingError

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Labels:
    base: int
    depth: int

    def __post_init__(self) -> None:
        if (self.base + 1) ** self.depth > 2**62:
            raise SettingError(
                f"labels of {self.depth} digits of base {self.base} do not fit 64 bits; choose a smaller depth"
            )

    @property
    def weights(self) -> Integers:
        """What each digit counts, the first one first."""
        return (self.base + 1) ** np.arange(self.depth - 1, -1, -1, dtype=np.int64)

    def code(self, digits: Iterable[int]) -> int:
        return sum((digit + 1) * int(weight) for digit, weight in zip(digits, self.weights, strict=False))

    def codes(self, digits: Integers) -> Integers:
        """Of a matrix with a label in each row, filled up with -1."""
        codes: Integers = (digits + 1) @ self.weights[: digits.shape[1]]
        return codes

    def of_numbers(self, numbers: Integers, free: Integers | int = 0) -> Integers:
        """Numbers written with `depth` digits in base β, without the last `free` ones."""
        places = self.base ** np.arange(self.depth - 1, -1, -1, dtype=np.int64)
        digits = numbers[:, None] // places % self.base + 1
        codes: Integers = digits @ self.weights
        return self.cut(codes, np.broadcast_to(self.depth - np.asarray(free, np.int64), numbers.shape))

    def digits(self, code: int) -> tuple[int, ...]:
        found = [code // int(weight) % (self.base + 1) - 1 for weight in self.weights]
        return tuple(digit for digit in found if digit >= 0)

    def lengths(self, codes: Integers) -> Integers:
        lengths: Integers = (codes[:, None] // self.weights % (self.base + 1) > 0).sum(axis=1)
        return lengths

    def cut(self, codes: Integers, lengths: Integers) -> Integers:
        """The beginnings of these lengths, or the labels themselves where they are no longer."""
        weights = (self.base + 1) ** (self.depth - np.clip(lengths, 0, self.depth))
        found: Integers = codes // weights * weights
        return found

    def last_digits(self, codes: Integers) -> Integers:
        """Of labels that are not empty."""
        weights = self.weights[np.maximum(self.lengths(codes), 1) - 1]
        digits: Integers = codes // weights % (self.base + 1) - 1
        return digits

    def with_beginnings(self, codes: Integers) -> Integers:
        """The labels and all their beginnings but the empty one, each once, in ascending order; an empty label too."""
        cuts = [self.cut(codes, np.full(len(codes), length)) for length in range(1, self.depth + 1)]
        return np.unique(np.concatenate(cuts)) if len(codes) else codes
