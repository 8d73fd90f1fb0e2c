"""The protocol of a source, columns in memory, and errors that several formats share."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from separatrix.base.errors import TableError
from separatrix.base.row_names import RowNames

# What PyArrow may raise for a damaged file. Column names that are not UTF-8 raise a UnicodeError.
UNREADABLE = (pa.ArrowException, OSError, UnicodeError)
SOME_ROWS = "give at least one row"
# The key of the metadata of a table that names the files it was read from.
_FILES = "separatrix.files"


class Source(Protocol):
    """Named columns that have not been read yet.

    ``target`` is the column to predict, if the source declares one. ``notes`` are sentences about how the source was
    understood. ``read`` returns the requested columns, in that order: as text if the format has no types (CSV),
    otherwise with their types. In a text format, NA is null, except in the columns ``literal``. In a file with decimal
    commas, points are refused in columns of numbers; the columns ``pointed`` hold no numbers and may have them.
    """

    @property
    def name(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def target(self) -> str | None: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    def read(self, names: Sequence[str], literal: Collection[str] = (), pointed: Collection[str] = ()) -> pa.Table: ...


@dataclass(frozen=True)
class MemorySource:
    """Columns that are in memory already: a frame or a demo table.

    >>> MemorySource("a table", pa.table({"a": [1], "y": ["u"]})).names
    ('a', 'y')
    """

    name: str
    columns: pa.Table
    target: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.columns.column_names)

    def read(self, names: Sequence[str], literal: Collection[str] = (), pointed: Collection[str] = ()) -> pa.Table:
        """The columns, in the order of ``names``."""
        return self.columns.select(list(names))


def with_files(columns: pa.Table, files: tuple[tuple[str, int], ...]) -> pa.Table:
    """The columns with a note of the files that they come from, and of the number of rows of each."""
    return columns.replace_schema_metadata({_FILES: json.dumps(files)}) if files else columns


def files_of(columns: pa.Table) -> tuple[tuple[str, int], ...]:
    """The files that the columns come from, as ``with_files`` notes them; empty if they come from one.

    >>> files_of(with_files(pa.table({"a": [1, 2]}), (("a.csv", 1), ("b.csv", 1))))
    (('a.csv', 1), ('b.csv', 1))
    """
    noted = (columns.schema.metadata or {}).get(_FILES.encode())
    return () if noted is None else tuple((name, count) for name, count in json.loads(noted))


def row_names(columns: pa.Table) -> RowNames:
    """The names of all rows of a table as it was read."""
    return RowNames.first(columns.num_rows, files_of(columns))


def distinct(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names as a tuple; two equal names are refused."""
    if len(set(names)) < len(names):
        twice = next(column for k, column in enumerate(names) if column in names[:k])
        raise TableError(name, f"{names.count(twice)} columns are called {twice!r}", "give each its own name")
    return tuple(names)


def cannot_open(name: str, error: OSError) -> TableError:
    """The error for a file that exists but cannot be opened."""
    return TableError(name, f"it cannot be opened ({error.strerror})", "check its permissions")
