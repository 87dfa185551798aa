"""Many strings, or many identifiers, as flat arrays: what a file of arrays can hold and a process can map.

Nothing here needs a compiler, so that a small matcher can be read from its folder without waiting for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidings.index.layout import Array
from tidings.model.event import Identifier


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """Strings by number: UTF-8, one after the other, and where each begins."""

    start: Array  # int64[strings + 1]
    data: Array  # uint8

    @classmethod
    def of(cls, texts: Sequence[str]) -> TextColumn:
        encoded = [text.encode() for text in texts]
        start = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(text) for text in encoded], out=start[1:])
        return cls(start, np.frombuffer(b"".join(encoded), np.uint8))

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, number: int) -> str:
        return self.data[self.start[number] : self.start[number + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        data, starts = self.data.tobytes(), self.start.tolist()
        return (data[starts[i] : starts[i + 1]].decode() for i in range(len(self)))


@dataclass(frozen=True, slots=True, eq=False)
class IdColumn:
    """Identifiers by number: 64-bit integers, or strings."""

    values: Array | TextColumn

    @classmethod
    def of(cls, ids: Sequence[Identifier]) -> IdColumn:
        if ids and isinstance(ids[0], str):
            return cls(TextColumn.of(ids))  # type: ignore[arg-type]  # all are of the kind of the first
        values = np.array(ids, np.int64)
        values.flags.writeable = False  # as it is when it comes from a file, so that kernels see one type
        return cls(values)

    @property
    def are_texts(self) -> bool:
        return isinstance(self.values, TextColumn)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, number: int) -> Identifier:
        found = self.values[number]
        return found if isinstance(found, str) else int(found)

    def __iter__(self) -> Iterator[Identifier]:
        return iter(self.values) if isinstance(self.values, TextColumn) else iter(self.values.tolist())

    def arrow(self) -> Any:
        """As an Arrow array, over the same memory."""
        import pyarrow as pa

        if not isinstance(self.values, TextColumn):
            return pa.array(self.values)
        buffers = [None, pa.py_buffer(self.values.start), pa.py_buffer(self.values.data)]
        return pa.Array.from_buffers(pa.large_string(), len(self), buffers)

    def arrays(self, name: str) -> dict[str, Array]:
        if isinstance(self.values, TextColumn):
            return {f"{name}_start": self.values.start, f"{name}_data": self.values.data}
        return {name: self.values}

    @classmethod
    def from_arrays(cls, name: str, arrays: Mapping[str, Array]) -> IdColumn:
        if name in arrays:
            return cls(arrays[name])
        return cls(TextColumn(arrays[f"{name}_start"], arrays[f"{name}_data"]))
