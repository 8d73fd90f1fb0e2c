"""Parquet files and Arrow files (IPC files and streams, Feather), one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
from pyarrow import ipc

from separatrix.base.cached import cached_property
from separatrix.base.errors import TableError
from separatrix.streams.batches import BATCH_BYTES, LabelKind, explained, explained_batches, rows_per_batch
from separatrix.streams.files import FileSet, OfFiles
from separatrix.table.cells import listed
from separatrix.table.formats.source_parts import group_runs

# The size of the buffer through which a column of a Parquet file is read, if there are few columns. In an object store
# every buffer is a request. From a disk, buffers of 128 KB took 10 to 16 per cent less CPU than those of 1 MB.
PARQUET_BUFFER, LOCAL_PARQUET_BUFFER = 1 << 20, 1 << 17
# The least size of such a buffer, and the size of all buffers together in batches, which limits it.
LEAST_PARQUET_BUFFER, BATCHES_OF_BUFFERS = 1 << 16, 4


@dataclass(frozen=True)
class ParquetBatches(OfFiles):
    """The rows of Parquet files.

    PyArrow's data sets read ahead, and took 2.5 GB and several times the processor time for 3 GB of rows. So each file
    is read by one reader without threads, which keeps the buffers of one row group. ``groups``: the row groups of a
    single file that are read, of which the first begins at ``first_row``; None for all.
    """

    files: FileSet
    batch_bytes: int = BATCH_BYTES
    groups: tuple[int, ...] | None = None
    first_row: int = 0
    is_slow: ClassVar[bool] = False
    label_kind: ClassVar[LabelKind] = "typed"
    _what: ClassVar[str] = "Parquet"

    @cached_property
    def _footers(self) -> tuple[tuple[pa.Schema, int], ...]:
        """The schema and the number of rows of each file, all with the columns of the first."""
        found = []
        for path in self.files.paths:
            with explained(path, self._what), self._opened(path) as file:
                found.append((file.schema_arrow, int(file.metadata.num_rows)))
        return tuple(found)

    @cached_property
    def schema(self) -> pa.Schema:
        return common_schema(self.name, self.files.paths, [schema for schema, _ in self._footers])

    @property
    def n_rows(self) -> int:
        return sum(n for _, n in self._footers)

    def called(self, row: int) -> str:
        return self.files.called(self.first_row + row, [n for _, n in self._footers])

    def read(self, columns: Sequence[str], rows: int | None = None) -> Iterator[pa.RecordBatch]:
        size = rows or rows_per_batch(len(columns), self.batch_bytes)
        for path in self.files.paths:
            with explained(path, self._what), self._opened(path, len(columns)) as file:
                groups = range(file.num_row_groups) if self.groups is None else self.groups
                batches = file.iter_batches(size, row_groups=list(groups), columns=list(columns), use_threads=False)
                yield from explained_batches(path, self._what, batches)

    def group_runs(self, path: str, rows: int) -> Iterator[tuple[tuple[int, ...], int]]:
        """Runs of row groups of a file with about ``rows`` rows or a single group each, and their numbers of rows."""
        with explained(path, self._what), self._opened(path) as file:
            counts = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        return group_runs(counts, rows)

    def _opened(self, path: str, n_columns: int = 1) -> Any:
        from pyarrow.parquet import ParquetFile

        most = LOCAL_PARQUET_BUFFER if self.files.is_local else PARQUET_BUFFER
        buffer = min(most, max(LEAST_PARQUET_BUFFER, BATCHES_OF_BUFFERS * self.batch_bytes // n_columns))
        return ParquetFile(self.files.opened(path), pre_buffer=False, buffer_size=buffer)


@dataclass(frozen=True)
class ArrowBatches(OfFiles):
    """The rows of Arrow files, or of files that hold an Arrow stream."""

    files: FileSet
    batch_bytes: int = BATCH_BYTES
    is_slow: ClassVar[bool] = False
    label_kind: ClassVar[LabelKind] = "typed"
    n_rows: ClassVar[None] = None
    _what: ClassVar[str] = "Arrow"

    @cached_property
    def _schemas(self) -> tuple[pa.Schema, ...]:
        found = []
        for path in self.files.paths:
            with explained(path, self._what), self._opened(path, []) as reader:
                found.append(reader.schema)
        return tuple(found)

    @cached_property
    def _counts(self) -> dict[str, int]:
        """The number of rows of each file that has been read."""
        return {}

    @cached_property
    def schema(self) -> pa.Schema:
        return common_schema(self.name, self.files.paths, self._schemas)

    def called(self, row: int) -> str:
        return self.files.called(row, [self._counts.get(path, row + 1) for path in self.files.paths])

    def read(self, columns: Sequence[str], rows: int | None = None) -> Iterator[pa.RecordBatch]:
        size = rows or rows_per_batch(len(columns), self.batch_bytes)
        for path, schema in zip(self.files.paths, self._schemas, strict=True):
            places = [schema.get_field_index(name) for name in columns]
            count = 0
            with explained(path, self._what), self._opened(path, places) as reader:
                for batch in explained_batches(path, self._what, _batches(reader)):
                    yield from slices(batch.select(list(columns)), size)
                    count += batch.num_rows
            self._counts[path] = count

    def _opened(self, path: str, places: list[int]) -> Any:
        options = ipc.IpcReadOptions(included_fields=places, use_threads=False)
        try:
            return ipc.open_file(self.files.opened(path), options=options)
        except pa.ArrowInvalid:
            return ipc.open_stream(self.files.opened(path), options=options)


def _batches(reader: Any) -> Iterator[Any]:
    """The record batches of an Arrow file or stream."""
    if not hasattr(reader, "num_record_batches"):
        yield from reader
        return
    for k in range(reader.num_record_batches):
        yield reader.get_batch(k)


def slices(batch: Any, size: int) -> Iterator[Any]:
    """A record batch in parts of at most ``size`` rows, on the same memory."""
    for start in range(0, batch.num_rows, size):
        yield batch.slice(start, size)


def common_schema(name: str, paths: Sequence[str], schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns of all files, in the order of the first, each with a type that holds the values of all files."""
    for path, schema in zip(paths, schemas, strict=True):
        refuse_other_columns(name, paths[0], schemas[0], path, schema)
    names = schemas[0].names
    return pa.schema([(column, _common_type([schema.field(column).type for schema in schemas])) for column in names])


def _common_type(kinds: Sequence[Any]) -> Any:
    """A type for the values of columns whose types go together.

    >>> _common_type([pa.float32(), pa.float64()]), _common_type([pa.int8(), pa.int32()])
    (DataType(double), DataType(int64))
    """
    if all(kind == kinds[0] for kind in kinds):
        return kinds[0]
    values = [_value_type(kind) for kind in kinds]
    if all(kind == values[0] for kind in values):
        return values[0]
    if all(map(_is_text, values)):
        return pa.large_string()
    if all(map(pa.types.is_integer, values)):
        return pa.int64()
    return pa.float32() if all(kind in (pa.float16(), pa.float32()) for kind in values) else pa.float64()


def refuse_other_columns(name: str, first: str, wanted: pa.Schema, path: str, found: pa.Schema) -> None:
    """Raise an error if a file does not have the columns of the first file, or has them with types of another kind."""
    lacks = [column for column in wanted.names if column not in found.names]
    more = [column for column in found.names if column not in wanted.names]
    if lacks or more:
        parts = [f"lacks {listed(lacks)}"] * bool(lacks) + [f"has {listed(more)} in addition"] * bool(more)
        problem = f"{path} {' and '.join(parts)}, compared with {first}"
        raise TableError(name, problem, "give files with the same columns, in any order")
    for column in wanted.names:
        mine, other = wanted.field(column).type, found.field(column).type
        if mine != other and not _go_together(mine, other):
            problem = f"column {column!r} holds {other} in {path} and {mine} in {first}"
            raise TableError(name, problem, "write it with one type in all files")


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_floating(kind))


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _value_type(kind: Any) -> Any:
    """The type of the values of a column, which may be categories."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _go_together(one: Any, other: Any) -> bool:
    """Whether columns of two types can be read as one: both are numbers, or both are text."""
    one, other = _value_type(one), _value_type(other)
    return bool(one == other or any(of_kind(one) and of_kind(other) for of_kind in (_is_number, _is_text)))
