"""Parquet and Arrow (IPC files and streams, Feather), from a file or from memory: columns come with their own types."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from separatrix.errors import TableError
from separatrix.table.sources.source import SOME_ROWS, UNREADABLE, MemorySource, Source, cannot_open, distinct

_NOT_OPEN = (FileNotFoundError, PermissionError, IsADirectoryError)


@dataclass(frozen=True)
class ParquetSource:
    """A Parquet file: only the columns asked for are read."""

    name: str
    names: tuple[str, ...]
    content: Path | bytes
    target: str | None = None
    notes: tuple[str, ...] = ()

    def read(self, names: Sequence[str], literal: Collection[str] = ()) -> pa.Table:
        """The columns, in the order of ``names``."""
        try:
            with _parquet(self.content) as file:
                columns: pa.Table = file.read(columns=list(names))
                return columns.select(list(names))
        except UNREADABLE as error:
            raise _unreadable(self.name, "Parquet", error) from error


def open_parquet(name: str, content: Path | bytes) -> Source:
    """The names and the number of rows, from the file's own footer."""
    try:
        with _parquet(content) as file:
            names, n_rows = file.schema_arrow.names, file.metadata.num_rows
    except _NOT_OPEN as error:
        raise cannot_open(name, error) from error
    except UNREADABLE as error:
        raise _unreadable(name, "Parquet", error) from error
    if n_rows == 0:
        raise TableError(name, "it has no rows", SOME_ROWS)
    return ParquetSource(name, distinct(name, names), content)


def open_arrow(name: str, content: Path | bytes) -> Source:
    """An IPC file (which Feather is) or stream; its buffers stay on disk until they are used."""
    try:
        try:
            columns = ipc.open_file(_stream(content)).read_all()
        except pa.ArrowInvalid:
            columns = ipc.open_stream(_stream(content)).read_all()
    except _NOT_OPEN as error:
        raise cannot_open(name, error) from error
    except UNREADABLE as error:
        raise _unreadable(name, "Arrow", error) from error
    distinct(name, columns.column_names)
    if columns.num_rows == 0:
        raise TableError(name, "it has no rows", SOME_ROWS)
    return MemorySource(name, columns)


def _parquet(content: Path | bytes) -> Any:
    from pyarrow import parquet  # with every remote file system that it knows: no CSV file should wait for it

    return parquet.ParquetFile(_stream(content))


def _stream(content: Path | bytes) -> Any:
    return pa.BufferReader(content) if isinstance(content, bytes) else pa.memory_map(str(content))


def _unreadable(name: str, what: str, error: Exception) -> TableError:
    reason = " ".join(str(error).split())[:200]
    return TableError(name, f"it cannot be read as {what} ({reason})", "write it again, or give a CSV file")
