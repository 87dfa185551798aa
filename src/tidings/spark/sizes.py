"""Numbers of bytes, for people."""

from __future__ import annotations


def size(nbytes: float) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if nbytes >= unit:
            return f"{nbytes / unit:,.1f} {name}"
    return f"{nbytes / 1e3:,.1f} kB"
