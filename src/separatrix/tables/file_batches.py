"""Files that do not fit into memory: Parquet, Arrow, CSV and TSV as record batches, libsvm as CSR rows.

Several files are one table, read one after the other. The modules of `tables/formats` read whole files.
"""

from __future__ import annotations

import io
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import ipc

from separatrix.core.base.errors import CellError, NotFiniteError, TableError
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import read_ahead
from separatrix.core.rows.block import as_csr
from separatrix.tables.batches import (
    BATCH_BYTES,
    FileSet,
    LabelKind,
    OfFiles,
    explained,
    explained_batches,
    rows_per_batch,
)
from separatrix.tables.cells import NO_NUMBER, is_number, is_text, shortened
from separatrix.tables.formats.batched import group_runs, refuse_other_names
from separatrix.tables.formats.csv_files import (
    DelimitedSource,
    Inspected,
    about_decimals,
    called,
    lent_text,
    read_header,
    refuse_damage,
)
from separatrix.tables.formats.parquet import record_batches
from separatrix.tables.formats.source import SOME_ROWS, UNREADABLE, Content, HeldFile, Spelling
from separatrix.tables.table_parts import TablePart

# --- Parquet files, and Arrow files: IPC files and streams, Feather

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
                for batch in explained_batches(path, self._what, record_batches(reader)):
                    yield from slices(batch.select(list(columns)), size)
                    count += batch.num_rows
            self._counts[path] = count

    def _opened(self, path: str, places: list[int]) -> Any:
        options = ipc.IpcReadOptions(included_fields=places, use_threads=False)
        try:
            return ipc.open_file(self.files.opened(path), options=options)
        except pa.ArrowInvalid:
            return ipc.open_stream(self.files.opened(path), options=options)


def slices(batch: Any, size: int) -> Iterator[Any]:
    """A record batch in parts of at most ``size`` rows, on the same memory."""
    for start in range(0, batch.num_rows, size):
        yield batch.slice(start, size)


def common_schema(name: str, paths: Sequence[str], schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns of all files, in the order of the first, each with a type that holds the values of all files."""
    for path, schema in zip(paths, schemas, strict=True):
        _refuse_unlike(name, paths[0], schemas[0], path, schema)
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
    if all(map(is_text, values)):
        return pa.large_string()
    if all(map(pa.types.is_integer, values)):
        return pa.int64()
    return pa.float32() if all(kind in (pa.float16(), pa.float32()) for kind in values) else pa.float64()


def _refuse_unlike(name: str, first: str, wanted: pa.Schema, path: str, found: pa.Schema) -> None:
    """Raise an error if a file does not have the columns of the first file, or has them with types of another kind."""
    refuse_other_names(name, first, wanted.names, path, found.names)
    for column in wanted.names:
        mine, other = wanted.field(column).type, found.field(column).type
        if not _go_together(mine, other):
            problem = f"column {column!r} holds {other} in {path} and {mine} in {first}"
            raise TableError(name, problem, "write it with one type in all files")


def _value_type(kind: Any) -> Any:
    """The type of the values of a column, which may be categories."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _go_together(one: Any, other: Any) -> bool:
    """Whether columns of two types can be read as one: both are numbers, or both are text."""
    one, other = _value_type(one), _value_type(other)
    return bool(one == other or any(of_kind(one) and of_kind(other) for of_kind in (is_number, is_text)))


# --- CSV and TSV files, plain or compressed

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
    """The rows of text files, parsed piece by piece.

    All columns of X are parsed as decimals, or as truth values if the first rows are, so that nothing is lost where a
    later row differs from the first ones. Labels stay text until all of them are known. ``texts`` are the columns that
    hold text: the column of labels, if there is one. Without a header they may be given by their numbers. ``lines``:
    the lines of a single file that are read; None for all.
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
            _refuse_unlike(self.name, self.files.paths[0], names[0], path, found)
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


# --- libsvm files, plain or compressed

# The longest line that is read, in bytes.
LONGEST_LINE_BYTES = 1 << 28


@dataclass
class FilesSurvey:
    """What the files have shown: the largest index, the number of entries and of those with index 0."""

    largest: int = 0
    n_entries: int = 0
    n_zero_index: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    def see(self, X: Any) -> None:
        self.largest = max(self.largest, X.shape[1] - 1)
        self.n_entries += int(X.nnz)
        self.n_zero_index += int(np.count_nonzero(X.indices == 0))

    @property
    def first(self) -> int:
        """The index of the first column: 0 if the files have it, otherwise 1."""
        return 0 if self.n_zero_index else 1


@dataclass(frozen=True)
class SvmlightTable(OfFiles):
    """The rows of libsvm files, parsed piece by piece into CSR rows. Their labels are numbers.

    How many columns there are, and whether they are counted from 0 or from 1, is known only at the end of the files. So
    parts have the indices of the file, and ``settled`` gives them all columns afterwards.
    """

    files: FileSet
    spelling: Spelling
    batch_bytes: int = BATCH_BYTES
    is_sparse: ClassVar[bool] = True
    is_slow: ClassVar[bool] = True
    label_kind: ClassVar[LabelKind] = "number"
    dtype: ClassVar[Any] = np.float64
    n_rows: ClassVar[None] = None
    description: ClassVar[str] = "libsvm"

    @cached_property
    def _known(self) -> list[FilesSurvey]:
        """The survey, once all rows have been read."""
        return []

    @property
    def survey(self) -> FilesSurvey:
        """What is known after all rows have been read, for which they are read unless they have been."""
        if not self._known:
            for _ in self.parts():
                pass
        return self._known[0]

    @property
    def columns(self) -> tuple[str, ...]:
        return column_names(self.survey.first, self.survey.largest)

    def called(self, row: int) -> str:
        counts = self._known[0].counts if self._known else {}
        return self.files.called(row, [counts.get(path, row + 1) for path in self.files.paths])

    def settled(self, X: Any) -> Any:
        """The rows with all columns, counted from the first one."""
        return settled(X, self.survey.first, self.survey.largest)

    def parts(self, numbers: bool = True) -> Iterator[TablePart]:
        found = FilesSurvey()
        for path in self.files.paths:
            rows = 0
            with stored_content(self.files, path, self.spelling) as content:
                for text in _lines(content):
                    X, y = _parsed(content.name, text, rows)
                    found.see(X)
                    self.spelling.limits.refuse_columns(content.name, found.n_entries, found.largest)
                    rows += len(y)
                    if len(y):
                        yield TablePart(X, pa.array(y), None)
            found.counts[path] = rows
        if not sum(found.counts.values()):
            raise TableError(self.name, "it is empty", SOME_ROWS)
        if not self._known:
            self._known.append(found)

    def parts_ahead(self) -> Generator[TablePart, None, None]:
        return read_ahead(self.parts())


def column_names(first: int, largest: int) -> tuple[str, ...]:
    """The names of columns by their indices.

    >>> column_names(1, 3)
    ('x1', 'x2', 'x3')
    """
    return tuple(f"x{j}" for j in range(first, largest + 1))


def settled(X: Any, first: int, largest: int) -> Any:
    """CSR rows with the indices of the file as rows with columns ``first``, …, ``largest``."""
    from scipy.sparse import csr_array

    rows = csr_array((X.shape[0], largest + 1 - first), dtype=X.dtype)
    rows.data, rows.indices, rows.indptr = X.data, X.indices - first if first else X.indices, X.indptr
    return as_csr(rows)


def _lines(content: Content) -> Iterator[bytes]:
    """The text in pieces of whole lines."""
    rest = b""
    try:
        for piece in content.pieces():
            text = rest + piece
            end = text.rfind(b"\n") + 1
            if end:
                yield text[:end]
            rest = text[end:]
            if len(rest) > LONGEST_LINE_BYTES:
                raise TableError(content.name, f"a line is longer than {LONGEST_LINE_BYTES >> 20} MB", "check the file")
    except (*UNREADABLE, EOFError) as error:
        reason = " ".join(str(error).split())[:200]
        raise TableError(content.name, f"it cannot be read ({reason})", "check the file, or copy it again") from error
    if rest.strip():
        yield rest


def _parsed(name: str, text: bytes, rows_before: int) -> tuple[Any, Any]:
    """The rows and labels of whole lines."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(text), zero_based=True)
    except (ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())[:200]
        problem = f"it cannot be read as libsvm after row {rows_before} ({reason})"
        remedy = "give lines such as: 1 3:0.5 7:2, with a numeric label and increasing indices"
        raise TableError(name, problem, remedy) from error
    bad = np.flatnonzero(~np.isfinite(X.data))
    if len(bad):
        row = rows_before + int(np.searchsorted(X.indptr, bad[0], side="right"))
        problem = f"row {row} of {name}, column 'x{X.indices[bad[0]]}' is {X.data[bad[0]]}"
        raise NotFiniteError("X", problem, "give finite numbers")
    return as_csr(X), y
