"""Documents as the batch that an engine is asked about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidings.index.facts import Texts


def as_texts(documents: Sequence[str | bytes]) -> Texts:
    """One behind the other. What is bytes already is raw: the document declares its encoding."""
    contents = [document if isinstance(document, bytes) else document.encode() for document in documents]
    length = np.array([len(content) for content in contents], np.int64)
    raw = np.array([isinstance(document, bytes) for document in documents], np.bool_)
    return Texts(np.frombuffer(b"".join(contents), np.uint8), np.cumsum(length) - length, length, raw)
