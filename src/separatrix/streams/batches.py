"""Record batches that can be read any number of times, one kind of source in each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

# Rows of a record batch. A batch of 20 numbers in each row takes about ten megabytes.
ROWS_PER_BATCH = 1 << 16
# The size of the buffer through which a column of a Parquet file is read.
PARQUET_BUFFER = 1 << 20


class Batches(Protocol):
    """Record batches with the same columns, always the same rows in the same order.

    ``n_rows`` is None if the source does not know it before it has been read.
    """

    @property
    def name(self) -> str: ...
    @property
    def schema(self) -> pa.Schema: ...
    @property
    def n_rows(self) -> int | None: ...
    def read(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]: ...


@dataclass(frozen=True)
class ParquetBatches:
    """The rows of Parquet files, one file after the other."""

    name: str
    paths: tuple[Path, ...]

    @property
    def schema(self) -> pa.Schema:
        schema: pa.Schema = self._opened(self.paths[0]).schema_arrow
        return schema

    @property
    def n_rows(self) -> int:
        return sum(self._opened(path).metadata.num_rows for path in self.paths)

    def read(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for path in self.paths:
            with self._opened(path) as file:
                yield from file.iter_batches(ROWS_PER_BATCH, columns=list(columns), use_threads=False)

    def _opened(self, path: Path) -> Any:
        from pyarrow.parquet import ParquetFile

        return ParquetFile(path, pre_buffer=False, buffer_size=PARQUET_BUFFER)
