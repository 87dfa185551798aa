"""Keys of string trees: labels for prefixes and equality, reversed labels for suffixes, both for `a%c`.

Paper 1 (PastryStrings), 3.1 to 3.3.1 and 4.1. A prefix is stored at the node of that label; an event walks the path of
its value and so visits every prefix of it. A suffix is a prefix of the reversed string. `a%c` is stored under both, and
an event that satisfies it meets it twice. Labels end at `depth` characters: a longer one is cut on both sides, and what
the cut lets through is verified away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidings.errors import SettingError
from tidings.model.predicates import Attribute, Comparison, In, Like, Operator, Predicate
from tidings.model.values import AttributeType, Literal
from tidings.reference import fold
from tidings.rendezvous.scheme import NEVER, Access, Key, Rank, Scalar, attribute_name

DEPTH = 16


@dataclass(frozen=True, slots=True)
class StringTrees:
    """Strings only: =, IN, and LIKE with literal text at an end.

    With `folded` all labels are folded, and ILIKE is indexed too; without it labels are the paper's, case-sensitive.
    With `equality` an event also visits the node of its whole value, where = and IN are stored.
    """

    depth: int = DEPTH
    folded: bool = False
    equality: bool = True

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise SettingError(f"the depth of string trees is at least 1 character, not {self.depth}")

    @property
    def name(self) -> str:
        return f"string trees, depth {self.depth}" + (", folded" if self.folded else "")

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(("equal", "prefix", "suffix"))

    def access(self, predicate: Predicate) -> Access | None:
        match predicate:
            case Comparison(attribute, Operator.EQUAL, literal):
                return self._equal(attribute, (literal,))
            case In(attribute, literals):
                return self._equal(attribute, literals)
            case Like(attribute, pattern, ignore_case) if self.folded or not ignore_case:
                first, last = pattern[:1], pattern[-1:]
                if self.equality and all(isinstance(part, str) for part in pattern):
                    return self._whole(attribute, ("".join(map(str, pattern)),))
                prefix = first[0] if first and isinstance(first[0], str) else ""
                suffix = last[0] if last and isinstance(last[0], str) else ""
                return self._ends(attribute, prefix, suffix)
            case _:
                return None

    def keys_of_value(self, attribute: str, value: Scalar) -> Iterator[Key]:
        if not isinstance(value, str):
            return
        if self.equality:
            yield Key("equal", attribute, self._label(value))
        forwards, backwards = self._label(value), self._label(value[::-1])
        for length in range(1, len(forwards) + 1):
            yield Key("prefix", attribute, forwards[:length])
            yield Key("suffix", attribute, backwards[:length])

    def _equal(self, attribute: Attribute, literals: tuple[Literal, ...]) -> Access | None:
        if not self.equality or any(literal.type is not AttributeType.STRING for literal in literals):
            return None
        return self._whole(attribute, tuple(str(literal.value) for literal in literals))

    def _whole(self, attribute: Attribute, texts: tuple[str, ...]) -> Access:
        if not texts:
            return NEVER
        name = attribute_name(attribute.path)
        keys = frozenset(Key("equal", name, self._label(text)) for text in texts)
        return Access(keys, (Rank.EQUALITY, len(keys)))

    def _ends(self, attribute: Attribute, prefix: str, suffix: str) -> Access | None:
        if not prefix and not suffix:
            return None
        name, keys = attribute_name(attribute.path), set()
        if prefix:
            keys.add(Key("prefix", name, self._label(prefix)))
        if suffix:
            keys.add(Key("suffix", name, self._label(suffix[::-1])))
        return Access(frozenset(keys), (Rank.STRING, -max(len(key.label) for key in keys)))

    def _label(self, text: str) -> str:
        cut = text[: self.depth]
        return fold(cut) if self.folded else cut
