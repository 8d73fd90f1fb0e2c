"""Parquet and Arrow (IPC files and streams, Feather), from a file or from memory: columns come with their own types.

PyArrow trusts the offsets, indices and text of a file that it has read: a damaged one may point anywhere in memory. So
the columns are validated in full before a cell of them is looked at. A file is read, never mapped into memory: a mapped
one that is cut short meanwhile would end the interpreter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from separatrix.errors import TableError
from separatrix.table.sources.source import SOME_ROWS, UNREADABLE, Source, cannot_open, distinct

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
        with _explained(self.name, "Parquet"), _parquet(self.content) as file:
            return _sound(file.read(columns=list(names)), names)


@dataclass(frozen=True)
class ArrowSource:
    """An IPC file, which Feather is, or an IPC stream: only the columns asked for are kept in memory."""

    name: str
    names: tuple[str, ...]
    content: Path | bytes
    target: str | None = None
    notes: tuple[str, ...] = ()

    def read(self, names: Sequence[str], literal: Collection[str] = ()) -> pa.Table:
        """The columns, in the order of ``names``."""
        places = [self.names.index(name) for name in names]
        with _explained(self.name, "Arrow"), _arrow(self.content, places) as reader:
            columns = _sound(reader.read_all(), names)
        if columns.num_rows == 0:
            raise TableError(self.name, "it has no rows", SOME_ROWS)
        return columns


def open_parquet(name: str, content: Path | bytes) -> Source:
    """The names and the number of rows, from the file's own footer."""
    with _explained(name, "Parquet"), _parquet(content) as file:
        names, n_rows = file.schema_arrow.names, file.metadata.num_rows
    if n_rows == 0:
        raise TableError(name, "it has no rows", SOME_ROWS)
    return ParquetSource(name, distinct(name, names), content)


def open_arrow(name: str, content: Path | bytes) -> Source:
    """The names, from the schema with which a file or a stream begins."""
    with _explained(name, "Arrow"), _arrow(content, []) as reader:
        names = reader.schema.names
    return ArrowSource(name, distinct(name, names), content)


def _sound(columns: pa.Table, names: Sequence[str]) -> pa.Table:
    """The columns ``names``, once every offset, index and text in them has been seen to be in order."""
    wanted = columns.select(list(names))
    wanted.validate(full=True)
    return wanted


def _parquet(content: Path | bytes) -> Any:
    from pyarrow import parquet  # with every remote file system that it knows: no CSV file should wait for it

    return parquet.ParquetFile(_stream(content))


def _arrow(content: Path | bytes, places: list[int]) -> Any:
    """A reader of the columns at these places, of all if there are none."""
    options = ipc.IpcReadOptions(included_fields=places)
    try:
        return ipc.open_file(_stream(content), options=options)
    except pa.ArrowInvalid:
        return ipc.open_stream(_stream(content), options=options)


def _stream(content: Path | bytes) -> Any:
    return pa.BufferReader(content) if isinstance(content, bytes) else pa.OSFile(str(content), "rb")


@contextmanager
def _explained(name: str, what: str) -> Iterator[None]:
    """Turn what PyArrow raises on a file into one sentence."""
    try:
        yield
    except _NOT_OPEN as error:
        raise cannot_open(name, error) from error
    except UNREADABLE as error:
        reason = " ".join(str(error).split())[:200]
        came = f"it cannot be read as {what} ({reason})"
        raise TableError(name, came, "write it again, or give a CSV file") from error
