"""Strings as the engines of texts get them, and texts that are hard to cut into words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from tidings.index.facts import Texts
from tidings.index.text.dictionary import packed

# Beside the letters and digits of ASCII: marks, apostrophes, right-to-left letters, Han, Hiragana, Katakana, characters
# that fold to several, separators of one to four bytes.
TROUBLESOME = "aZ9_\u3099\u3400か。'’ -.\t\0\u0301\u05e9\u0645日は\u30c6\ufb01ßİ\u0131é\U00010400\U0001f98a\u200b“”–"


def as_texts(texts: Sequence[str | bytes]) -> Texts:
    """A batch; bytes are raw."""
    parts = [text if isinstance(text, bytes) else text.encode() for text in texts]
    data, start = packed(parts)
    raw = np.array([isinstance(text, bytes) for text in texts], np.bool_)
    return Texts(data, start[:-1], np.diff(start), raw)


def hard_texts() -> st.SearchStrategy[str]:
    characters = st.sampled_from(TROUBLESOME) | st.characters(exclude_categories=["Cs"])
    pieces = st.sampled_from(("don't", "It's", "naïve", "co-op", "3.14", "x'", "'90s", "a'\u0301b", "1'é", " ", "日本"))
    return st.lists(characters | pieces, max_size=30).map("".join)
