"""The replicated strategy: every host maps the whole index, and events are matched where they are.

Nothing is shuffled; each task maps files that the other workers of its host map too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tidings.spark.answering import LISTS, PAIRS, PIECES, Asking, answered, problems_found
from tidings.spark.columns import numbered
from tidings.spark.question import Question, list_name
from tidings.spark.reaching import reached
from tidings.spark.sizes import size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

Work = Callable[[Asking, Iterable[Any]], Iterator[Any]]


def matches(question: Question) -> DataFrame:
    form = LISTS if question.lists else PIECES if question.carried else PAIRS
    known = question.events.where(f"{question.events.columns[0]} is not null")
    found = _mapped(known, asking_of(question, form), answered, schema_of(question, form))
    return as_pairs(question, found) if form == PIECES else found


def problems(question: Question) -> DataFrame:
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType(
        [
            StructField("event_id", question.id_field.dataType),
            StructField("attribute", StringType()),
            StructField("reason", StringType(), False),
        ]
    )
    return _mapped(question.events, asking_of(question, PAIRS), problems_found, schema)


def explained(question: Question) -> Sequence[str]:
    index = question.index
    _, how = reached(question.events.sparkSession, index.in_place, index, question.reach)
    read = ", ".join(name for _, name in question.attributes) or "none"
    sent = f"{len(question.events.columns)} of {question.columns_given} go to Python"
    held = f"{index.subscriptions:,} subscriptions in {len(index.files)} segments, {size(index.nbytes)}"
    return (
        f"index      {index.path}, version {index.version.number}: {held}",
        f"executors  {how}",
        f"columns    {sent}; subscriptions read {read}",
        f"shuffle    none; {'lists, one for each event' if question.lists else 'pairs'} leave in bounded batches",
    )


def asking_of(question: Question, form: str) -> Asking:
    index = question.index
    files, _ = reached(question.events.sparkSession, index.in_place, index, question.reach)
    carried = tuple(position for position, _ in question.carried)
    columns = tuple(field.name for field in question.columns)
    return Asking(
        files, question.attributes, question.foreign, carried, columns, question.texts, form, question.candidates
    )


def _mapped(events: DataFrame, asking: Asking, work: Work, schema: StructType) -> DataFrame:
    def task(batches: Iterable[Any]) -> Iterator[Any]:
        return work(asking, batches)

    return events.mapInArrow(task, schema)


def schema_of(question: Question, form: str) -> StructType:
    """Event, what is carried, and what was found."""
    from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

    event = StructField("event_id", question.id_field.dataType, False)
    id = StructField("subscription_id", StringType() if question.texts else LongType(), False)
    further: list[StructField] = [StructField(field.name, field.dataType) for field in question.columns]
    if form == PAIRS:
        return StructType([event, id, *further])
    inside = [id, *further]
    if form == PIECES:  # they are taken apart again, in Spark
        inside = [StructField(f"c{number}", field.dataType, field.nullable) for number, field in enumerate(inside)]
    element = StructType(inside) if further else id.dataType
    carried = [field for _, field in question.carried]
    return StructType([event, *carried, StructField(list_name(further), ArrayType(element, False), False)])


def as_pairs(question: Question, found: DataFrame) -> DataFrame:
    from pyspark.sql.functions import col, explode

    *names, lists = numbered(found).columns
    kept = [col(name).alias(field.name) for name, field in zip(names, found.schema, strict=False)]
    each = numbered(found).select(*names, explode(lists).alias("one"))
    if not question.columns:
        return each.select(*kept, col("one").alias("subscription_id"))
    inner = ["subscription_id", *(field.name for field in question.columns)]
    return each.select(*kept, *[col("one").getField(f"c{number}").alias(name) for number, name in enumerate(inner)])
