"""Columns of a DataFrame by their position, since Spark reads dots in names and ignores their case.

Names of attributes and of further columns are told apart by every character, so wherever a column is meant by its name
the table has numbers for names meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def numbered(table: DataFrame) -> DataFrame:
    """The same table with the names c0, c1, …"""
    return table.toDF(*[f"c{number}" for number in range(len(table.columns))])
