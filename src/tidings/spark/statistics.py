"""Text statistics of a corpus: how many documents there are, and in how many of them each word occurs.

Counted on executors, added up by Spark, and given as one value, which `compile_index` and `recompile` record in an
index: the weights of words in similarities follow from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tidings.analysis.statistics import TextStatistics
from tidings.analysis.words import SIMPLE, AnalyserVersion
from tidings.analysis.words import analyser as analyser_named
from tidings.errors import SettingError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

MOST_WORDS = 1_000_000  # that a task counts before it hands them over
ROWS = 65_536  # of a batch


def text_statistics(documents: DataFrame, column: str, *, analyser: str = SIMPLE.name) -> TextStatistics:
    """The statistics of a column of texts, each one document, read by the analyser of this name. Nulls do not count."""
    from pyspark.sql.functions import col
    from pyspark.sql.functions import sum as total
    from pyspark.sql.types import StringType

    made_by = AnalyserVersion.of(analyser_named(analyser))  # what is wrong with it is said now
    fields = {field.name: field for field in documents.schema.fields}
    if column not in fields:
        raise SettingError(f"the documents have no column {column!r}; they have: {', '.join(fields)}")
    if not isinstance(fields[column].dataType, StringType):
        given = fields[column].dataType.simpleString()
        raise SettingError(f"the column {column!r} is {given}; statistics are counted of strings")

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        return counted(analyser, batches)

    numbered = documents.toDF(*[f"c{number}" for number in range(len(fields))])
    texts = numbered.select(f"c{list(fields).index(column)}")
    rows = texts.mapInArrow(work, "word string, documents bigint")
    found = rows.groupBy("word").agg(total(col("documents")).alias("documents")).toArrow()
    frequency = dict(zip(found["word"].to_pylist(), found["documents"].to_pylist(), strict=True))
    return TextStatistics(frequency.pop(None, 0), frequency, made_by)


def counted(analyser: str, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Words with the number of texts that hold them; under null the number of texts."""
    read, counts = analyser_named(analyser).words, Counter[str | None]()
    for batch in batches:
        for text in batch.column(0).to_pylist():
            if text is not None:
                counts[None] += 1
                counts.update({word.text for word in read(text)})
                if len(counts) > MOST_WORDS:
                    yield from _given(counts)
                    counts.clear()
    yield from _given(counts)


def _given(counts: Counter[str | None]) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow as pa

    words, numbers = list(counts), list(counts.values())
    for start in range(0, len(words), ROWS):
        some = slice(start, start + ROWS)
        columns = [pa.array(words[some], pa.string()), pa.array(numbers[some], pa.int64())]
        yield pa.RecordBatch.from_arrays(columns, ["word", "documents"])
