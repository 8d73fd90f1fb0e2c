"""Data sets, queries and streams of other libraries that give record batches: PyArrow, polars, DuckDB, and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from separatrix.core.base.errors import TableError
from separatrix.core.base.lazy import cached_property
from separatrix.tables.batches import (
    BATCH_BYTES,
    Batches,
    FileSet,
    LabelKind,
    Stamp,
    explained,
    explained_batches,
    rows_per_batch,
)
from separatrix.tables.file_batches import ParquetBatches, slices

ReadColumns = Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]
# The packages that compute queries, whose exceptions are explained. They need not be installed.
ENGINES = ("polars", "duckdb")


@dataclass(frozen=True)
class QueryBatches:
    """The batches that a function returns, which is called again in every pass.

    ``batches(columns, rows)`` gives the columns in batches of about ``rows`` rows. ``is_slow``: every pass computes the
    query again.
    """

    name: str
    schema: pa.Schema
    batches: ReadColumns
    is_slow: bool = True
    batch_bytes: int = BATCH_BYTES
    n_rows: ClassVar[None] = None
    label_kind: ClassVar[LabelKind] = "typed"
    spelled: ClassVar[str] = ""
    stamps: ClassVar[tuple[Stamp, ...]] = ()

    def called(self, row: int) -> str:
        return f"{row + 1} of {self.name}"

    def read(self, columns: Sequence[str], rows: int | None = None) -> Iterator[pa.RecordBatch]:
        size = rows or rows_per_batch(len(columns), self.batch_bytes)
        with explained(self.name, "a stream"), computed(self.name):
            found = self.batches(columns, size)
        for batch in explained_batches(self.name, "a stream", computed_batches(self.name, iter(found))):
            lost = [name for name in columns if name not in batch.schema.names]
            if lost:
                problem = f"it has no column {lost[0]!r} when it is read again"
                raise TableError(self.name, problem, "give a source that has the same columns every time")
            yield from slices(batch.select(list(columns)), size)


@contextmanager
def computed(name: str) -> Iterator[None]:
    """Turn the exceptions of a query engine, and those about files that it does not find, into a ``TableError``."""
    try:
        yield
    except Exception as error:
        package = type(error).__module__.split(".")[0].lstrip("_")
        if package not in ENGINES and not isinstance(error, FileNotFoundError):
            raise
        reason = " ".join(str(error).split("\n\n")[0].split())[:200]
        remedy = "check the query, the files that it reads, and its connection"
        raise TableError(name, f"it cannot be computed ({reason})", remedy) from error


def computed_batches(name: str, batches: Iterator[Any]) -> Iterator[Any]:
    """The batches; exceptions of a query engine become a ``TableError``."""
    while True:
        with computed(name):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch
        del batch  # freed before the next one is read


def dataset(data: Any, batch_bytes: int) -> Batches:
    """The rows of a data set of PyArrow, read without threads and without reading far ahead.

    The scanner of PyArrow reads whole row groups ahead. So the files of a data set that consists of whole Parquet files
    are read one after the other.
    """
    if _is_whole_parquet(data):
        return ParquetBatches(FileSet("the data set", data.filesystem, tuple(data.files)), batch_bytes)

    def read(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        ahead = {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}
        batches: Iterator[pa.RecordBatch] = data.to_batches(columns=list(columns), batch_size=rows, **ahead)
        return batches

    return QueryBatches("the data set", data.schema, read, False, batch_bytes)


def _is_whole_parquet(data: Any) -> bool:
    """Whether a data set consists of all rows of Parquet files, all columns of which have their types in the files."""
    if type(data).__name__ != "FileSystemDataset" or getattr(data, "_scan_options", None):  # a filter
        return False
    if data.format.default_extname != "parquet":
        return False
    with explained("the data set", "Parquet"):
        return all(
            _same_columns(data.schema, part.physical_schema) and part.num_row_groups == part.metadata.num_row_groups
            for part in data.get_fragments()
        )


def _same_columns(one: pa.Schema, other: pa.Schema) -> bool:
    """Whether two schemas have the same columns with the same types, in any order."""
    return {column.name: column.type for column in one} == {column.name: column.type for column in other}


def lazy_frame(data: Any, batch_bytes: int) -> QueryBatches:
    """The rows of a lazy frame of polars, computed by its streaming engine in every pass."""
    if not hasattr(data, "collect_batches"):
        remedy = "update polars, or write the rows with sink_parquet and give the file"
        raise TableError("the lazy frame", "this version of polars cannot give it in batches", remedy)

    def read(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        chosen = data.select(list(columns))
        for frame in chosen.collect_batches(chunk_size=rows, maintain_order=True, lazy=True, engine="streaming"):
            yield from frame.to_arrow().to_batches()

    with computed("the lazy frame"):
        empty = data.collect_schema().to_frame()
    return QueryBatches("the lazy frame", pa.schema(map(_field, empty.get_columns())), read, True, batch_bytes)


def _field(column: Any) -> pa.Field[Any]:
    """The name and the type of a column of polars."""
    try:
        return pa.field(column.name, column.to_arrow().type)
    except pa.ArrowException as error:
        problem = f"column {column.name!r} holds {column.dtype}, which PyArrow does not read ({error})"
        remedy = "cast it to a type such as Float64, or leave it out of the query"
        raise TableError("the lazy frame", problem, remedy) from error


def relation(data: Any, batch_bytes: int) -> QueryBatches:
    """The rows of a relation of DuckDB, computed in every pass."""

    def read(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        chosen = data.project(quoted)
        batches: Iterator[pa.RecordBatch] = _called(chosen, "to_arrow_reader", "fetch_record_batch", "record_batch")(
            rows
        )
        return batches

    with computed("the relation"):
        schema = _called(data.limit(0), "to_arrow_table", "fetch_arrow_table")().schema
    return QueryBatches("the relation", schema, read, True, batch_bytes)


def _called(relation: Any, *names: str) -> Any:
    """A method of a relation that DuckDB has renamed: its names, the newest first."""
    return next(getattr(relation, name) for name in names if hasattr(relation, name))


def arrow_stream(data: Any, batch_bytes: int) -> QueryBatches:
    """The rows of an object with an Arrow stream, or of a function without arguments that gives one."""
    is_factory = callable(data) and not hasattr(data, "__arrow_c_stream__")
    name = "the stream" if is_factory else f"the {type(data).__name__}"
    if isinstance(data, pa.RecordBatchReader):
        problem = "it can be read only once, and a fit reads its rows several times"
        raise TableError(name, problem, "give a function without arguments that makes a new one")
    made: Callable[[], Any] = data if is_factory else lambda: data
    source = _Streams(name, made)

    def read(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        return iter(source.reader())

    return QueryBatches(name, source.schema, read, is_factory, batch_bytes)


@dataclass(frozen=True)
class _Streams:
    """The Arrow streams that a function makes, one for each pass."""

    name: str
    made: Callable[[], Any]

    @cached_property
    def schema(self) -> pa.Schema:
        with explained(self.name, "an Arrow stream"), computed(self.name):
            schema: pa.Schema = self.reader().schema
            return schema

    def reader(self) -> Any:
        found = self.made()
        if isinstance(found, pa.RecordBatchReader):
            return found
        if not hasattr(found, "__arrow_c_stream__"):
            problem = f"the function gave a {type(found).__name__}, which is not an Arrow stream"
            raise TableError(
                self.name, problem, "return an object with __arrow_c_stream__, such as a RecordBatchReader"
            )
        return pa.RecordBatchReader.from_stream(found)
