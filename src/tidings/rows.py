"""Rows of subscriptions on their way into a matcher: pairs of an identifier and a condition, checked one by one.

A row that cannot be added is `Refused` with its error, and the others are added all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import index
from typing import Any

from tidings.errors import IdentifierError, RefusedError, TidingsError
from tidings.language.printer import print_expression
from tidings.model.event import Identifier, table_of
from tidings.model.result import Subscription

REFUSED_SHOWN = 3  # of the refused subscriptions, how many an error message quotes
_KINDS = {str: "string", int: "integer"}


@dataclass(frozen=True, slots=True)
class Refused:
    """A row of `add_many` that was not added: its position, its id as it was given, and the error."""

    row: int
    id: object
    error: TidingsError


def taken_error(id: Identifier) -> IdentifierError:
    return IdentifierError(f"the id {id!r} is taken; remove it first, or add with replace=True")


def identifier(id: object) -> Identifier:
    """An identifier as it is kept: numpy's integers and strings are what they say."""
    if (type(id) is int and -(2**63) <= id < 2**63) or (type(id) is str and id.isascii()):
        return id
    if isinstance(id, str):
        try:
            id.encode()
        except UnicodeEncodeError:
            raise IdentifierError(f"the id {id!r} is not Unicode text") from None
        return str(id)
    with suppress(TypeError):
        number = index(id)  # type: ignore[arg-type]  # what is no integer raises the error
        if -(2**63) <= number < 2**63 and not isinstance(id, bool):
            return number
    raise IdentifierError(f"an id is a string or a 64-bit integer, not {id!r} ({type(id).__name__})")


def check_kind(id: Identifier, kind: type | None) -> None:
    """Refuses an identifier of another kind than those that are there; None where there is none."""
    if kind is not None and type(id) is not kind:
        raise IdentifierError(
            f"the {_KINDS[type(id)]} {id!r} cannot be an id here: those of this matcher are {_KINDS[kind]}s, "
            "and all are of one kind"
        )


def pairs_of(subscriptions: Any) -> Iterable[Any]:
    table = table_of(subscriptions)
    if table is not None:
        missing = {"id", "where"} - set(table.column_names)
        if missing:
            have = ", ".join(table.column_names)
            raise IdentifierError(f"a table of subscriptions has the columns id and where; this one has {have}")
        columns = [table.column(name).to_pylist() for name in ("id", "where")]
        return zip(*columns, strict=True)
    if isinstance(subscriptions, Mapping):
        return subscriptions.items()
    return subscriptions  # type: ignore[no-any-return]  # any iterable; each row is checked


def pair_of(row: object) -> tuple[Any, Any]:
    if isinstance(row, Subscription):
        return row.id, print_expression(row.where)
    if not isinstance(row, tuple | list) or len(row) != 2:
        raise IdentifierError(f"a row of subscriptions is a pair (id, where), not {row!r:.80}")
    return row[0], row[1]


def report_refused(refused: list[Refused], added: int, on_error: Callable[[Refused], None] | None) -> None:
    if on_error is not None:
        for row in refused:
            on_error(row)
    elif refused:
        shown = "\n".join(f"row {each.row}, id {each.id!r}: {each.error}" for each in refused[:REFUSED_SHOWN])
        more = f"\nand {len(refused) - REFUSED_SHOWN} more, in .refused" if len(refused) > REFUSED_SHOWN else ""
        message = f"{len(refused)} of {len(refused) + added} subscriptions were refused; the others were added.\n"
        raise RefusedError(message + shown + more, tuple(refused))
