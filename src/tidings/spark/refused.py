"""The rows that a compilation refused: on the driver's disk, since a table may have any number of them.

Only the first are kept as objects, for messages; the others become a DataFrame when somebody asks for it.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from tidings.errors import RefusedError
from tidings.spark import pieces

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, Row, SparkSession

ROWS = 8_192  # that are written together
RAISED = 1_000  # rows that an error carries
SHOWN = 3  # of them, how many its message quotes


class RefusedRows:
    """Rows of `pieces.REFUSED`, as they come; the file of them goes with this object."""

    def __init__(self, id_type: str) -> None:
        self._id_type = id_type
        self._waiting: list[Row] = []
        self._file: Path | None = None
        self._writer: pyarrow.RecordBatchFileWriter | None = None
        self._table: DataFrame | None = None
        self.first: list[Row] = []
        self.count = 0

    def add(self, row: Row) -> None:
        self.count += 1
        if len(self.first) < RAISED:
            self.first.append(row)
        self._waiting.append(row)
        if len(self._waiting) == ROWS:
            self._write()

    def error(self) -> RefusedError:
        """What says that nothing was changed because of them."""
        message = f"{self.count} subscriptions were refused, and nothing was changed.\n"
        message += "\n".join(f"id {row.id!r}: {row.message}" for row in self.first[:SHOWN])
        if self.count > SHOWN:
            message += f"\nand {self.count - SHOWN} more"
            message += ", in .refused" if self.count == len(self.first) else f"; .refused has the first {RAISED}"
        return RefusedError(message, tuple(self.first))

    def table(self, spark: SparkSession) -> DataFrame:
        """All of them; when it is asked for, all have come."""
        import pyarrow as pa

        if self._table is None and not self.count:
            self._table = spark.createDataFrame([], pieces.schema(self._id_type, pieces.REFUSED))
        elif self._table is None:
            self._write()
            assert self._writer is not None
            self._writer.close()
            with pa.memory_map(str(self._file)) as source:
                self._table = spark.createDataFrame(pa.ipc.open_file(source).read_all())
        return self._table

    def _write(self) -> None:
        import pyarrow as pa

        columns = {name: [row[name] for row in self._waiting] for name in pieces.REFUSED}
        batch = pieces.batch(self._id_type, len(self._waiting), **columns).select(pieces.REFUSED)
        if self._writer is None:
            folder = tempfile.mkdtemp(prefix="tidings-")
            finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._writer = pa.ipc.new_file(str(Path(folder) / "refused.arrow"), batch.schema)
            self._file = Path(folder) / "refused.arrow"
        self._writer.write_batch(batch)
        self._waiting.clear()
