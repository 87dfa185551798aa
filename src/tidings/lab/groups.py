"""The groups of experiments that there are: one line for each paper."""

from __future__ import annotations

from tidings.errors import SettingError
from tidings.lab import pastry_strings, substring
from tidings.lab.experiment import Group

GROUPS: dict[str, Group] = {group.name: group for group in (pastry_strings.GROUP, substring.GROUP)}


def group_named(name: str) -> Group:
    if name not in GROUPS:
        raise SettingError(f"there is no group {name!r}; there are {', '.join(GROUPS)}")
    return GROUPS[name]
