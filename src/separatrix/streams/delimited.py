"""CSV and TSV files, plain or compressed, parsed piece by piece.

All columns of X are parsed as decimals, or as truth values if the first rows are, so that nothing is lost where a later
row differs from the first ones. Labels stay text until all of them are known.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
from pyarrow import csv as arrow_csv

from separatrix.base.cached import cached_property
from separatrix.base.errors import CellError, TableError
from separatrix.streams.batches import BATCH_BYTES, LabelKind
from separatrix.streams.columnar import refuse_other_columns
from separatrix.streams.files import FileSet, OfFiles
from separatrix.table.cells import NO_NUMBER, shortened
from separatrix.table.formats.counted import HeldFile
from separatrix.table.formats.decimals import about_decimals
from separatrix.table.formats.delimited import DelimitedSource, read_header
from separatrix.table.formats.header import called
from separatrix.table.formats.inspected import Inspected, lent_text, refuse_damage
from separatrix.table.formats.source import UNREADABLE
from separatrix.table.formats.spelling import Spelling
from separatrix.table.formats.unpacking import Content

# Blocks of text have at least this many bytes, and no row may be longer than a block.
FEWEST_BLOCK_BYTES = 1 << 20
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_CELL = re.compile(r"In CSV column #(\d+): Row #(\d+): CSV conversion error to (\w+): invalid value '(.*)'", re.DOTALL)


@dataclass(frozen=True)
class TextLines:
    """Some lines of a file: ``source`` says which, ``first_row`` is the number of their first row in the file, from 0.

    ``schema``: the types that the columns of the whole table have.
    """

    source: DelimitedSource
    first_row: int
    schema: pa.Schema


@dataclass(frozen=True)
class DelimitedBatches(OfFiles):
    """The rows of text files. ``texts`` are the columns that hold text: the column of labels, if there is one.

    Without a header they may be given by their numbers.

    ``lines``: the lines of a single file that are read; None for all.
    """

    files: FileSet
    spelling: Spelling
    texts: tuple[str | int, ...]
    batch_bytes: int = BATCH_BYTES
    lines: TextLines | None = None
    is_slow: ClassVar[bool] = True
    label_kind: ClassVar[LabelKind] = "text"
    n_rows: ClassVar[None] = None

    @property
    def spelled(self) -> str:
        return repr(self.spelling)

    @cached_property
    def headers(self) -> tuple[DelimitedSource, ...]:
        """The files, with the names of their columns and how they are written."""
        if self.lines is not None:
            return (self.lines.source,)
        found = []
        for path in self.files.paths:
            with self._content(path) as content:
                found.append(read_header(content, self.spelling))
        return tuple(found)

    @cached_property
    def _counts(self) -> dict[str, int]:
        """The number of rows of each file that has been read."""
        return {}

    @cached_property
    def schema(self) -> pa.Schema:
        """The types of the columns, as the first rows of the first file have them; numbers are decimals."""
        if self.lines is not None:
            return self.lines.schema
        names = [pa.schema([(name, pa.float64()) for name in header.names]) for header in self.headers]
        for path, found in zip(self.files.paths, names, strict=True):
            refuse_other_columns(self.name, self.files.paths[0], names[0], path, found)
        header = self.headers[0]
        with self._content(self.files.paths[0]) as content, lent_text(content, self.spelling) as stream:
            types = arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(self._text_columns, pa.string()), **self._missing_and_decimals
            )
            try:
                reader = self._reader(stream, header, types)
                try:
                    seen = reader.read_next_batch()
                finally:
                    reader.close()
                    del reader
            except UNREADABLE as error:
                raise header.explained(error) from error
        return pa.schema([(name, self._type(name, seen.column(name))) for name in header.names])

    @cached_property
    def _text_columns(self) -> tuple[str, ...]:
        """The names of the columns that hold text."""
        return tuple(called(self.headers[0], column, self.spelling.header) for column in self.texts)

    def _type(self, name: str, seen: Any) -> Any:
        """The type of a column, given its first cells. One that begins with a number holds numbers."""
        if name in self._text_columns:
            return pa.string()
        if not pa.types.is_string(seen.type):
            return pa.float64() if pa.types.is_integer(seen.type) or pa.types.is_null(seen.type) else seen.type
        first = next((cell for cell in map(str.strip, seen.to_pylist()) if cell not in NO_NUMBER), "")
        if first.lower() in ("true", "false"):
            return pa.bool_()
        return pa.float64() if _NUMBER.fullmatch(first) else pa.string()

    @property
    def _first_row(self) -> int:
        return 0 if self.lines is None else self.lines.first_row

    def called(self, row: int) -> str:
        row += self._first_row
        return self.files.called(row, [self._counts.get(path, row + 1) for path in self.files.paths])

    def read(self, columns: Sequence[str], rows: int | None = None) -> Iterator[pa.RecordBatch]:
        types = {name: self.schema.field(name).type for name in columns}
        convert = arrow_csv.ConvertOptions(
            column_types=types, include_columns=list(columns), **self._missing_and_decimals
        )
        for path, header in zip(self.files.paths, self.headers, strict=True):
            count = 0
            with self._content(path) as content:
                with lent_text(content, self.spelling) as stream:
                    for batch in self._batches(stream, header, convert, columns):
                        yield batch
                        count += batch.num_rows
                self._counts[path] = count
                refuse_damage(content, stream, header, count)

    def _batches(
        self, stream: Inspected, header: DelimitedSource, convert: arrow_csv.ConvertOptions, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        try:
            reader = self._reader(stream, header, convert)
            try:
                while True:
                    try:
                        batch = reader.read_next_batch()
                    except StopIteration:
                        return
                    if batch.num_rows:
                        yield batch
            finally:
                reader.close()
                del reader
        except UNREADABLE as error:
            raise self._explained(header, error, columns) from error

    def _reader(self, stream: Any, header: DelimitedSource, convert: arrow_csv.ConvertOptions) -> Any:
        block = max(FEWEST_BLOCK_BYTES, self.batch_bytes)
        read, parse, _ = header.options([], (), threads=False, block=block, blank=stream.blank_lines)
        return arrow_csv.open_csv(stream, read_options=read, parse_options=parse, convert_options=convert)

    @property
    def _missing_and_decimals(self) -> dict[str, Any]:
        return {
            "null_values": [*NO_NUMBER, *self.spelling.missing_texts],
            "strings_can_be_null": False,
            "decimal_point": self.spelling.decimal,
        }

    def _explained(self, header: DelimitedSource, error: Exception, columns: Sequence[str]) -> TableError:
        """The error about a cell that is not of the type of its column, or about the file."""
        cell = _CELL.search(str(error))
        if cell is None:
            return header.explained(error, header.n_blank)
        column, row = int(cell[1]), self._first_row + int(cell[2]) - header.spelling.header - header.n_blank
        name = header.names[column]
        what = "a truth value, as those in the first rows are" if cell[3] == "bool" else "a number"
        problem = f"row {row}, column {name!r} is {shortened(cell[4])!r}, not {what}"
        other = f"correct that cell, or leave the column out with drop={name!r}"
        return CellError(header.name, problem, about_decimals(cell[4], self.spelling.decimal) or other, cell[4])

    def _content(self, path: str) -> Content:
        if self.lines is not None:
            return self.lines.source.opened()
        return stored_content(self.files, path, self.spelling)


def stored_content(files: FileSet, path: str, spelling: Spelling) -> Content:
    """The unpacked bytes of a file, on the local disk or elsewhere."""

    def opened(path: Path) -> StoredFile:
        return StoredFile(files.opened(str(path)))

    return Content(path, Path(path), spelling.limits, HeldFile if files.is_local else opened)


class StoredFile(io.RawIOBase):
    """A file of a file system of PyArrow, with the methods that ``Content`` needs."""

    def __init__(self, file: Any) -> None:
        super().__init__()
        self.file, self.size = file, int(file.size())

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = 0, /) -> int:
        return int(self.file.seek(place, whence))

    def tell(self) -> int:
        return int(self.file.tell())

    def read(self, size: int | None = -1, /) -> bytes:
        found: bytes = self.file.read(None if size is None or size < 0 else size)
        return found

    def readinto(self, buffer: Any, /) -> int:
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Do nothing: another reader may follow."""

    def release(self) -> None:
        self.file.close()
        super().close()
