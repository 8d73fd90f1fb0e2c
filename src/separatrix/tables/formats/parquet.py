"""Parquet and Arrow (IPC files and streams, Feather), from a file or from memory. Their columns have types.

PyArrow trusts the offsets, indices and text of a file: those of a damaged file may point anywhere in memory. So the
columns are fully validated before a cell is used. Files are read, never memory-mapped: if a mapped file is truncated
while it is in use, the interpreter crashes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from separatrix.core.base.errors import NoRowsError, TableError
from separatrix.tables.formats.source import SOME_ROWS, UNREADABLE, Limits, Source, cannot_open, distinct

_NOT_OPEN = (FileNotFoundError, PermissionError, IsADirectoryError)
# The size of a string view in the Arrow format, in bytes.
VIEW_BYTES = 16
# The buffer through which a column of a Parquet file is read, if the file is read in batches: that of a few batches.
BUFFER_BYTES, LEAST_BUFFER_BYTES, BATCHES_PER_BUFFER = 1 << 20, 1 << 16, 2


@dataclass(frozen=True)
class ColumnarSource:
    """A file of typed columns. ``reader`` reads the requested ones. ``groups``: the row groups to read in batches."""

    name: str
    names: tuple[str, ...]
    content: Path | bytes
    limits: Limits
    reader: Callable[[ColumnarSource, Sequence[str]], pa.Table]
    batch_reader: Callable[[ColumnarSource, Sequence[str], int], Iterator[pa.Table]]
    target: str | None = None
    notes: tuple[str, ...] = ()
    groups: tuple[int, ...] | None = None

    @property
    def has_groups(self) -> bool:
        """Whether it is a Parquet file on disk, of which some row groups can be read."""
        return self.batch_reader is _parquet_batches and isinstance(self.content, Path)

    def types(self) -> dict[str, pa.DataType]:
        """The types of the columns of a Parquet file."""
        with _explained(self.name, "Parquet"), _parquet(self.content) as file:
            return {column.name: column.type for column in file.schema_arrow}

    def read(self, names: Sequence[str], literal: Collection[str] = (), pointed: Collection[str] = ()) -> pa.Table:
        """The columns, in the order of ``names``, validated."""
        return self.reader(self, names)

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[pa.Table]:
        """The columns in batches of about ``n_rows`` rows, validated."""
        return self.batch_reader(self, names, n_rows)

    def refuse_large(self, n_cells: int) -> None:
        """Refuse a small file that makes a huge table. A long run of equal values takes a few bytes in a file."""
        size = len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size
        self.limits.refuse_unpacked(self.name, size, n_cells * np.dtype(np.float64).itemsize)


def _read_parquet(source: ColumnarSource, names: Sequence[str]) -> pa.Table:
    with _explained(source.name, "Parquet"), _parquet(source.content) as file:
        source.refuse_large(file.metadata.num_rows * len(names))
        return _sound(file.read(columns=list(names)), names)


def _read_arrow(source: ColumnarSource, names: Sequence[str]) -> pa.Table:
    place = {name: k for k, name in enumerate(source.names)}
    places = [place[name] for name in names]
    n_rows, batches = 0, []
    with _explained(source.name, "Arrow"), _arrow(source.content, places) as reader:
        for batch in record_batches(reader):
            n_rows += batch.num_rows
            source.refuse_large(n_rows * len(names))
            batches.append(batch)
        if n_rows == 0:
            raise NoRowsError(source.name, "it has no rows", SOME_ROWS)
        return _sound(pa.Table.from_batches(batches), names)


def _parquet_batches(source: ColumnarSource, names: Sequence[str], n_rows: int) -> Iterator[pa.Table]:
    from pyarrow import parquet

    content = _stream(source.content)
    # Row groups are read column by column through a small buffer, not as a whole.
    buffer = min(BUFFER_BYTES, max(LEAST_BUFFER_BYTES, BATCHES_PER_BUFFER * 8 * n_rows))
    with (
        _explained(source.name, "Parquet"),
        parquet.ParquetFile(content, pre_buffer=False, buffer_size=buffer) as file,
    ):
        groups = None if source.groups is None else list(source.groups)
        for batch in file.iter_batches(n_rows, groups, columns=list(names), use_threads=False):
            yield _sound(pa.Table.from_batches([batch]), names)


def _arrow_batches(source: ColumnarSource, names: Sequence[str], n_rows: int) -> Iterator[pa.Table]:
    place = {name: k for k, name in enumerate(source.names)}
    with _explained(source.name, "Arrow"), _arrow(source.content, [place[name] for name in names]) as reader:
        for batch in record_batches(reader):
            whole = _sound(pa.Table.from_batches([batch]), names)
            for start in range(0, whole.num_rows, n_rows):
                yield whole.slice(start, n_rows)


def group_rows(source: ColumnarSource) -> list[int]:
    """The number of rows of each row group of a Parquet file."""
    with _explained(source.name, "Parquet"), _parquet(source.content) as file:
        return [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]


def open_parquet(name: str, content: Path | bytes, limits: Limits) -> Source:
    """Open a Parquet file: names and number of rows come from its footer."""
    with _explained(name, "Parquet"), _parquet(content) as file:
        names, n_rows = file.schema_arrow.names, file.metadata.num_rows
    if n_rows == 0:
        raise NoRowsError(name, "it has no rows", SOME_ROWS)
    return ColumnarSource(name, distinct(name, names), content, limits, _read_parquet, _parquet_batches)


def open_arrow(name: str, content: Path | bytes, limits: Limits) -> Source:
    """Open an Arrow file or stream: names come from the schema at its start."""
    with _explained(name, "Arrow"), _arrow(content, []) as reader:
        names = reader.schema.names
    return ColumnarSource(name, distinct(name, names), content, limits, _read_arrow, _arrow_batches)


def _sound(columns: pa.Table, names: Sequence[str]) -> pa.Table:
    """The columns ``names`` after full validation, with string views copied to plain strings."""
    wanted = columns.select(list(names))
    wanted.validate(full=True)
    for k, column in enumerate(wanted.columns):
        if pa.types.is_string_view(column.type):
            wanted = wanted.set_column(k, wanted.field(k).with_type(pa.string()), _copied(column))
    return wanted


def _copied(column: Any) -> Any:
    """A column of string views as plain strings, since PyArrow cannot select rows of views.

    The view of a null cell may hold anything. ``validate`` skips it, but a cast would follow it out of the buffer. So
    the views of null cells are set to zero first.
    """
    chunks = []
    for chunk in column.chunks:
        valid, views, *texts = chunk.buffers()
        records = np.frombuffer(views, np.uint8).reshape(-1, VIEW_BYTES).copy()
        records[chunk.offset : chunk.offset + len(chunk)][
            np.from_dlpack(chunk.is_null().cast(pa.uint8())).astype(bool)
        ] = 0
        buffers = [valid, pa.py_buffer(records.tobytes()), *texts]
        chunks.append(pa.Array.from_buffers(chunk.type, len(chunk), buffers, offset=chunk.offset).cast(pa.string()))
    return pa.chunked_array(chunks, pa.string())


def _parquet(content: Path | bytes) -> Any:
    from pyarrow import parquet  # Imported only here: it is slow, since it loads remote file systems.

    return parquet.ParquetFile(_stream(content))


def _arrow(content: Path | bytes, places: list[int]) -> Any:
    """A reader of the columns with these indices, or of all columns if the list is empty."""
    options = ipc.IpcReadOptions(included_fields=places)
    try:
        return ipc.open_file(_stream(content), options=options)
    except pa.ArrowInvalid:
        return ipc.open_stream(_stream(content), options=options)


def record_batches(reader: Any) -> Iterator[Any]:
    """The record batches of a file or of a stream."""
    if not hasattr(reader, "num_record_batches"):
        yield from reader
        return
    for k in range(reader.num_record_batches):
        yield reader.get_batch(k)


def _stream(content: Path | bytes) -> Any:
    return pa.BufferReader(content) if isinstance(content, bytes) else pa.OSFile(str(content), "rb")


@contextmanager
def _explained(name: str, what: str) -> Iterator[None]:
    """Turn PyArrow's exceptions into a ``TableError``."""
    try:
        yield
    except _NOT_OPEN as error:
        raise cannot_open(name, error) from error
    except UNREADABLE as error:
        reason = " ".join(str(error).split())[:200]
        problem = f"it cannot be read as {what} ({reason})"
        raise TableError(name, problem, "write it again, or give a CSV file") from error
