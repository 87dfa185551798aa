"""Moments as whole microseconds since 1970 in UTC, the finest that Python's times can tell."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def microseconds(moment: datetime) -> int:
    """From the beginning of 1970 to a moment; negative before it."""
    return (moment - EPOCH) // MICROSECOND
