"""A copy of a text table that the first pass makes of what it parses, so that later passes need not parse it again.

A column whose cells have all been numbers so far is stored as float64 once it has too many different texts to become a
category. Other cells keep their text, since 007 and 7 differ in a category. If a column that was stored as numbers is
used otherwise nevertheless, the text is parsed in every pass.

The file has no name, so it vanishes with the process, however that ends. It holds two Arrow streams for each batch: the
columns stored as numbers, and the others.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from separatrix.base.disk_files import read_whole, room_for_temporary
from separatrix.base.errors import TableError
from separatrix.base.row_names import RowNames
from separatrix.table.formats.batched import Batch
from separatrix.table.schema import Column
from separatrix.table.streaming.batch_column import BatchColumn
from separatrix.table.streaming.streamed_columns import AskedCategory, GivenColumn, SeenColumn, TextColumn


class StoredBatch(NamedTuple):
    """The rows of a batch in the file. ``numbers``: the columns stored as numbers, which come first.

    ``ends``: as in ``Batch``. ``place``: where the columns begin. ``sizes``: the bytes of both streams.
    """

    n_rows: int
    ends: tuple[int, ...]
    numbers: tuple[str, ...]
    place: int
    sizes: tuple[int, int]


class CopyWriter:
    """Writes the copy during the first pass, unless it takes too much of the disk."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        where = tempfile.gettempdir() if folder is None else folder
        self._batches: list[StoredBatch] = []
        self._size = 0
        self._file: Any = None
        try:
            self._room = room_for_temporary(where)
            self._file = tempfile.TemporaryFile(dir=where, buffering=0)  # noqa: SIM115  closed with this object
        except OSError:
            return
        weakref.finalize(self, self._file.close)

    def add(
        self,
        columns: Sequence[BatchColumn],
        seen: Sequence[SeenColumn],
        target: BatchColumn,
        ends: tuple[int, ...] = (),
    ) -> None:
        """Store a batch. ``seen``: what is known about its ``columns``, with this batch. ``ends``: as in ``Batch``."""
        if self._file is None:
            return
        stored = {column.name: _stored(one, column) for one, column in zip(seen, columns, strict=True)}
        stored[target.name] = target.coded
        numbers = tuple(name for name, content in stored.items() if pa.types.is_floating(content.type))
        others = [name for name in stored if name not in numbers]
        parts = (_stream(stored, numbers), _stream(stored, others))
        sizes = (parts[0].size, parts[1].size)
        try:
            if self._size + sum(sizes) > self._room:
                raise OSError("the copy takes too much of the disk")
            for part in parts:
                _write(self._file, part)
        except OSError:
            self._file.close()
            self._file = None
            return
        if self._batches and self._batches[-1].numbers == numbers:
            numbers = self._batches[-1].numbers  # not stored once more in memory
        self._batches.append(StoredBatch(len(target.cells), ends, numbers, self._size, sizes))
        self._size += sum(sizes)

    def finished(self, columns: Sequence[Column], files: tuple[tuple[str, int], ...], name: str) -> TypedCopy | None:
        """The copy of a table with these columns; None if it is not complete, or lacks texts that are needed."""
        if self._file is None:
            return None
        as_numbers = {name for batch in self._batches for name in batch.numbers}
        if any(column.kind != "number" and column.name in as_numbers for column in columns):
            return None
        return TypedCopy(self, self._file, tuple(self._batches), files, name)


def _stored(seen: SeenColumn, column: BatchColumn) -> Any:
    """A column of a batch as it is stored."""
    if isinstance(seen, TextColumn):
        if seen.texts.is_complete:
            return column.coded
        return column.cells if seen.numbers is None else column.as_numbers
    if isinstance(seen, GivenColumn) and seen.given.kind == "number" and column.numbers is not None:
        return column.as_numbers
    few = isinstance(seen, AskedCategory) or (isinstance(seen, GivenColumn) and seen.given.kind == "category")
    return column.coded if few else column.cells


def _stream(stored: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Some columns as an Arrow stream."""
    sink = pa.BufferOutputStream()
    table = pa.table([stored[name] for name in names], list(names)).combine_chunks()
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    return sink.getvalue()


def _write(file: Any, part: Any) -> None:
    rest = memoryview(part)
    while len(rest):
        rest = rest[file.write(rest) :]


@dataclass(frozen=True, eq=False)
class TypedCopy:
    """A complete copy, to be read instead of the text. ``writer`` keeps the file open."""

    writer: CopyWriter
    file: Any
    stored: tuple[StoredBatch, ...]
    files: tuple[tuple[str, int], ...]
    name: str

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """The batches of the first pass, with these columns."""
        start = 0
        for batch in self.stored:
            columns = self._read(batch, names)
            names_of_rows = RowNames(np.arange(start + 1, start + 1 + batch.n_rows), self.files)
            yield Batch(columns, start, names_of_rows, batch.ends)
            start += batch.n_rows
            del columns

    def _read(self, batch: StoredBatch, names: Sequence[str]) -> pa.Table:
        found: dict[str, Any] = {}
        place = batch.place
        for size, wanted in zip(batch.sizes, self._divided(batch, names), strict=True):
            if wanted:
                table = self._stream(place, size)
                found |= {name: table.column(name) for name in wanted}
            place += size
        return pa.table([found[name] for name in names], list(names))

    def _divided(self, batch: StoredBatch, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """The columns that are stored as numbers, and the others."""
        return [name for name in names if name in batch.numbers], [name for name in names if name not in batch.numbers]

    def _stream(self, place: int, size: int) -> pa.Table:
        content: Any = np.empty(size, dtype=np.uint8)
        if not read_whole(self.file, content, place):
            problem = "the temporary copy of its rows was cut short while it was in use"
            raise TableError(self.name, problem, "run the fit again")
        return pa.ipc.open_stream(pa.py_buffer(content)).read_all()
