"""Tables that are read in batches of rows, with the same cells as if they were read at once.

What a cell holds may not depend on other batches. So forms of dates must be given by column.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from separatrix.base.errors import TableError
from separatrix.base.file_fingerprints import files_fingerprint
from separatrix.base.messages import Message, Setting
from separatrix.base.released_memory import release_memory
from separatrix.base.row_names import RowNames, RowsFrom, short_names
from separatrix.table.formats.columnar import ColumnarSource
from separatrix.table.formats.delimited import DelimitedSource, nulls_of
from separatrix.table.formats.folder import FolderSource
from separatrix.table.formats.inspected import lent_text, refuse_damage
from separatrix.table.formats.rewriting import RewrittenSource
from separatrix.table.formats.source import UNREADABLE, MemorySource, Source

# Rows of a batch, and bytes of text that are parsed at a time. Both take about ten megabytes for 20 columns.
ROWS_PER_BATCH, BYTES_PER_BATCH = 1 << 16, 4 << 20
# The block for a file with a row that is longer than BYTES_PER_BATCH.
BYTES_FOR_LONG_ROWS = 1 << 26

Pieces = Iterator[pa.Table]


class Batch(NamedTuple):
    """Some columns of consecutive rows, the number of the first row, from 0, and the names of the rows.

    ``ends``: the numbers of the rows after which the parts end of which a batch was joined; empty for a single part.
    """

    columns: pa.Table
    start: int
    names: RowNames
    ends: tuple[int, ...] = ()


class Copy(Protocol):
    """A copy of all rows of a table that is faster to read than its files."""

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """The batches as the files have them, with these columns."""


@dataclass(frozen=True)
class BatchedSource:
    """A source that is read in batches. ``paths``: its files, to tell whether they changed, and their size.

    A part of a table has the name of the ``table``, the number of its first row, ``start``, and all ``files`` of the
    table with their numbers of rows, if there are several. ``most_rows``: how many rows a batch may have, if that is
    limited. ``copy``: what is read instead of the files, if there is one.
    """

    source: Source
    paths: tuple[Path, ...]
    start: int = 0
    files: tuple[tuple[str, int], ...] = ()
    table: str = ""
    most_rows: int | None = None
    copy: Copy | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        return self.table or self.source.name

    @property
    def is_part(self) -> bool:
        """Whether it is a part of another table."""
        return bool(self.table)

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(path.stat().st_size for path in self.paths)

    @property
    def reports_bytes(self) -> bool:
        """Whether reading reports its progress in bytes, as text files do."""
        return self.is_text and self.copy is None

    @property
    def is_text(self) -> bool:
        """Whether its files are text, which takes long to parse."""
        return _is_text(self.source)

    @property
    def fingerprint(self) -> str:
        """The files, their sizes and the times when they were last changed, and how text is written in them."""
        return f"{files_fingerprint(self.name, self.paths)}; {_spelled(self.source)}"

    def batches(
        self, names: Sequence[str], literal: Collection[str] = (), pointed: Collection[str] = ()
    ) -> Iterator[Batch]:
        """The columns in the order of ``names``, as ``Source.read`` has them."""
        release_memory()
        if self.copy is not None:
            yield from self.copy.batches(names)
            release_memory()
            return
        start, parts = self.start, _with_files(self.source, names, literal, pointed, self._share)
        while True:
            with RowsFrom.of(start).in_errors():
                part = next(parts, None)
            if part is None:
                release_memory()
                return
            columns, files = part
            numbers = np.arange(start + 1, start + 1 + columns.num_rows)
            yield Batch(columns, start, RowNames(numbers, self.files or files))
            start += columns.num_rows
            del columns, part

    @property
    def parts_joined(self) -> int:
        """How many batches of text may be joined to one, so that it is not smaller than BYTES_PER_BATCH."""
        return int(1 / self._share)

    @property
    def _share(self) -> float:
        """The size of a batch, as a share of the usual size."""
        return 1.0 if self.most_rows is None else min(self.most_rows / ROWS_PER_BATCH, 1.0)


def batched(source: Source) -> BatchedSource | None:
    """The source, to be read in batches; None if it is in memory already or is not a file of columns."""
    paths = _paths(source)
    return None if paths is None else BatchedSource(source, paths)


def refuse_unbatched(source: Source) -> None:
    """Refuse settings with which the cells of a batch depend on other batches."""
    if isinstance(source, RewrittenSource) and "" in source.forms:
        form = source.forms[""]
        problem = f"the form of dates {form!r} is given for all columns, and the table is not read into memory"
        remedy = Message("name the column, as in ", Setting("date_format"), f" day={form}")
        raise TableError(source.name, problem, remedy)


def _paths(source: Source) -> tuple[Path, ...] | None:
    if isinstance(source, RewrittenSource):
        return _paths(source.source)
    if isinstance(source, FolderSource):
        parts = [_paths(file) for file in source.files]
        return None if None in parts else tuple(path for part in parts for path in part or ())
    content = getattr(source, "content", None)
    return (content,) if isinstance(content, Path) and type(source) in _READERS else None


def _is_text(source: Source) -> bool:
    if isinstance(source, RewrittenSource):
        return _is_text(source.source)
    return isinstance(source.files[0] if isinstance(source, FolderSource) else source, DelimitedSource)


def _spelled(source: Source) -> str:
    """How the text of a source is written; empty for files with types."""
    if isinstance(source, RewrittenSource):
        return f"{_spelled(source.source)} {source.na} {source.forms}"
    one = source.files[0] if isinstance(source, FolderSource) else source
    return repr(one.spelling) if isinstance(one, DelimitedSource) else ""


def _with_files(
    source: Source, names: Sequence[str], literal: Collection[str], pointed: Collection[str], share: float
) -> Iterator[tuple[pa.Table, tuple[tuple[str, int], ...]]]:
    """The batches of a source, each with the files of a folder so far and the numbers of their rows."""
    if isinstance(source, RewrittenSource):
        for columns, files in _with_files(source.source, names, literal, {*pointed, *source.forms}, share):
            yield source.rewritten(columns), files
        return
    if not isinstance(source, FolderSource):
        for columns in _READERS[type(source)](source, names, literal, pointed, share):
            yield columns, ()
        return
    short, before = short_names([file.name for file in source.files]), list[tuple[str, int]]()
    types: dict[str, pa.DataType] = {}
    for name, file in zip(short, source.files, strict=True):
        n = 0
        for columns, _ in _with_files(file, names, literal, pointed, share):
            for column in columns.schema:
                source.compare(column.name, types.setdefault(column.name, column.type), file, column.type)
            n += columns.num_rows
            yield columns, (*before, (name, n))
        before.append((name, n))


def _delimited(
    source: Any, names: Sequence[str], literal: Collection[str], pointed: Collection[str], share: float
) -> Pieces:
    """The batches of a text file. If a row is longer than a batch, the rest is read again in larger blocks."""
    n_read = 0
    with source.opened() as content:
        for block in (max(int(share * BYTES_PER_BATCH), 1), BYTES_FOR_LONG_ROWS):
            skip = n_read
            try:
                with lent_text(content, source.spelling) as stream:
                    for columns in _parsed(source, stream, list(names), literal, block):
                        if skip >= columns.num_rows:
                            skip -= columns.num_rows
                            continue
                        rest, skip = columns.slice(skip), 0
                        n_read += rest.num_rows
                        yield source.spelled(rest, literal, pointed)
                refuse_damage(content, stream, source, n_read)
                return
            except UNREADABLE as error:
                if block == BYTES_FOR_LONG_ROWS:
                    raise source.explained(error) from error


def _parsed(source: DelimitedSource, stream: Any, names: list[str], literal: Collection[str], block: int) -> Pieces:
    read, parse, convert = source.options(names, nulls_of(literal), False, block, stream.blank_lines)
    reader = arrow_csv.open_csv(stream, read_options=read, parse_options=parse, convert_options=convert)
    try:
        for batch in reader:
            yield pa.Table.from_batches([batch]).select(names)
    finally:
        reader.close()
        del reader


def _columnar(
    source: Any, names: Sequence[str], literal: Collection[str], pointed: Collection[str], share: float
) -> Pieces:
    return source.batches(names, max(int(share * ROWS_PER_BATCH), 1))  # type: ignore[no-any-return]


def _in_memory(
    source: Any, names: Sequence[str], literal: Collection[str], pointed: Collection[str], share: float
) -> Pieces:
    columns = source.read(names)
    for start in range(0, columns.num_rows, ROWS_PER_BATCH):
        yield columns.slice(start, ROWS_PER_BATCH)


_READERS: dict[type, Callable[[Any, Sequence[str], Collection[str], Collection[str], float], Pieces]] = {
    DelimitedSource: _delimited,
    ColumnarSource: _columnar,
    MemorySource: _in_memory,
}
