"""What the formats of tables share: the protocol of a source, its bytes, decompressed, and how a table is written.

A file is read through ``Content``, which unpacks it within ``Limits``, lends it to Arrow's threads, and reports how
much of it has been read. ``Spelling`` is what the user knows about a file and the file itself does not say.
"""

from __future__ import annotations

import codecs
import io
import json
import math
import os
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import pyarrow as pa

from separatrix.core.base.errors import ParameterError, TableError
from separatrix.core.base.labels import RowNames
from separatrix.core.base.messages import Message, Parameter
from separatrix.core.base.watching import Amount, watched

# --- Limits

# A file may unpack to this many bytes, or to this many times its size if that is more.
UNPACKED_AT_LEAST, UNPACKED_PER_BYTE = 10**9, 100
# A libsvm file may have this many columns, or this many per index:value pair if that is more.
COLUMNS_AT_LEAST, COLUMNS_PER_PAIR = 10**6, 10


@dataclass(frozen=True)
class Limits:
    """How large a table a file may expand to. A hostile or damaged file of a few bytes can ask for gigabytes.

        compressed text    1 GB, or 100 times the compressed size where that is more         max_unpacked, in GB
        Parquet            the same, by the sizes that its footer states                     max_unpacked, in GB
        libsvm             1 000 000 columns, or 10 for each index:value pair in the file    max_columns

    Compression makes CSV files 5 to 10 times smaller, and wide libsvm files have many more pairs than columns. So a
    sound file rarely exceeds these limits. For one that does, the user's ``max_unpacked`` or ``max_columns`` replaces
    the limit; None keeps the default.

    >>> Limits().columns(20), Limits(max_columns=7).columns(20), Limits().unpacked(3_000_000)
    (1000000, 7, 1000000000)
    """

    max_columns: int | None = None
    max_unpacked: float | None = None

    def __post_init__(self) -> None:
        for name, value, unit in (("max_columns", self.max_columns, ""), ("max_unpacked", self.max_unpacked, " of GB")):
            number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
            if value is not None and not number:
                raise ParameterError(name, f"got {value!r}", f"give a number{unit} above 0, or None for the default")

    def columns(self, n_pairs: int) -> int:
        """The most columns that a libsvm file with ``n_pairs`` pairs may have."""
        default = max(COLUMNS_AT_LEAST, COLUMNS_PER_PAIR * n_pairs)
        return default if self.max_columns is None else math.floor(min(self.max_columns, 2**62))

    def unpacked(self, size: int) -> int:
        """The most bytes that a file of ``size`` bytes may unpack to."""
        default = max(UNPACKED_AT_LEAST, UNPACKED_PER_BYTE * size)
        return default if self.max_unpacked is None else math.floor(min(self.max_unpacked * 1e9, 2.0**62))

    def refuse_unpacked(self, source: str, size: int, unpacked: int) -> None:
        """Refuse a file of ``size`` bytes that unpacks to too many."""
        most = self.unpacked(size)
        if unpacked > most:
            problem = f"its {size / 1e6:.3g} MB unpack to more than {most / 1e9:.4g} GB"
            raise_it = Message("if you trust it, raise ", Parameter("max_unpacked"), ", in GB")
            raise TableError(source, problem, Message("check where it comes from; ", raise_it))

    def refuse_columns(self, source: str, n_pairs: int, index: int) -> None:
        """Refuse a libsvm file whose largest index would make too many columns."""
        most = self.columns(n_pairs)
        if index > most:
            problem = f"its largest index is {index:,}, where {n_pairs:,} index:value pairs may have {most:,} columns"
            remedy = Message("check that line; if the index is right, raise ", Parameter("max_columns"))
            raise TableError(source, problem, remedy)


DEFAULT_LIMITS = Limits()


# --- Files that are opened once and read several times

# Progress is reported in megabytes.
BYTES_PER_MB = 1e6


class HeldFile(io.FileIO):
    """A file that reports how much of it has been read to the watcher of the thread that opened it.

    For a compressed file, the compressed bytes are reported. The thread that reads may be one of Arrow's. Readers close
    the file when they are done; here ``close`` does nothing, so that the next reader can use it, and ``release`` closes
    it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._watcher, self.size = watched(), os.fstat(self.fileno()).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        result = super().read(-1 if size is None else size)
        self._tell()
        return result

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """The next bytes, into a buffer."""
        result = super().readinto(buffer)
        self._tell()
        return result

    def _tell(self) -> None:
        if self._watcher is not None:
            self._watcher(Amount("MB", self.tell() / BYTES_PER_MB, self.size / BYTES_PER_MB))

    def close(self) -> None:
        """Do nothing: another reader may follow."""

    def release(self) -> None:
        """Close the file."""
        super().close()


class HeldSpan(HeldFile):
    """The bytes of a file from ``begin`` up to ``end``, as if they were a file of their own."""

    def __init__(self, path: Path, begin: int, end: int) -> None:
        super().__init__(path)
        self._begin, self._end, self.size = begin, end, end - begin
        self.seek(0)

    def seek(self, place: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to a place in the span."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: self.size}[whence]
        return super().seek(self._begin + origin + place) - self._begin

    def tell(self) -> int:
        """The place in the span."""
        return super().tell() - self._begin

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes of the span."""
        left = max(0, self.size - self.tell())
        return super().read(left if size is None or size < 0 else min(size, left))

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """The next bytes of the span, into a buffer."""
        return super().readinto(memoryview(buffer)[: max(0, self.size - self.tell())])


# --- Python objects that are lent to Arrow's threads

# The longest time to wait for the threads, and the time between two looks at them. They take microseconds, or
# milliseconds on a busy machine.
SECONDS_FOR_THREADS, SECONDS_BETWEEN_COUNTS = 5.0, 0.0005


class Lent:
    """Waits, at the end of a ``with`` block, until nothing that was made inside it refers to the objects any longer.

    Arrow's threads give them back a little after a reader has returned. For this a thread needs the interpreter's lock.
    If the interpreter ends before that, the process aborts.

    The block has to delete its own references to the readers and to their options. Those in the frames of an error
    that leaves the block are deleted here.
    """

    def __init__(self, *objects: Any) -> None:
        self.objects = objects

    def __enter__(self) -> Self:
        # Not counted earlier: during the call of ``__init__``, the caller holds the objects as arguments, too.
        self._before = self._references()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        clear_frames(error)
        deadline = time.monotonic() + SECONDS_FOR_THREADS
        while self.is_held and time.monotonic() < deadline:
            time.sleep(SECONDS_BETWEEN_COUNTS)

    @property
    def is_held(self) -> bool:
        """Whether something still refers to one of the objects that did not when this block began."""
        return any(now > before for now, before in zip(self._references(), self._before, strict=True))

    def _references(self) -> list[int]:
        return [sys.getrefcount(lent) for lent in self.objects]


def clear_frames(error: BaseException | None) -> None:
    """Delete the local variables of the functions that an error has left, and of those that its causes have left."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


# --- The bytes of a file or of memory, decompressed within the limits

T = TypeVar("T")

# The extensions of compressed files, and how their content begins.
PACKED = (".gz", ".zst")
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
# Files are read in pieces of this many bytes.
PIECE_BYTES = 1 << 20


def extension(path: str) -> str:
    """The extension of a path in lower case, with the one before it if the file is compressed.

    >>> extension("a.b/Table.CSV.gz"), extension("x.parquet"), extension("x")
    ('.csv.gz', '.parquet', '')
    """
    ends = PurePosixPath(path).suffixes
    return "".join(ends[-2:] if ends and ends[-1].lower() in PACKED else ends[-1:]).lower()


class Content:
    r"""The bytes of a file or of memory, which can be read from the start several times.

    A file is opened when it is first read, and closed at the end of the ``with`` block. ``opened(path)`` opens it, as
    ``HeldFile`` does on the local disk.

    >>> with Content("a table", b"a,y\n1,u\n") as content:
    ...     content.compression, b"".join(content.pieces()), b"".join(content.pieces())
    (None, b'a,y\n1,u\n', b'a,y\n1,u\n')
    """

    def __init__(
        self,
        name: str,
        source: Path | bytes,
        limits: Limits = DEFAULT_LIMITS,
        opened: Callable[[Path], Any] = HeldFile,
    ) -> None:
        self.name, self.source, self.limits, self._opened = name, source, limits, opened
        self._file: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            self._file.release()

    @property
    def compression(self) -> str | None:
        """The compression that the first bytes show, or None."""
        start = self.source[:4] if isinstance(self.source, bytes) else self._rewound(self.source).read(4)
        return next((how for magic, how in _COMPRESSED.items() if start.startswith(magic)), None)

    def stream(self) -> Any:
        """The decompressed bytes from the start. Only one stream may be read at a time."""
        compression: Any = self.compression
        raw: Any = pa.BufferReader(self.source) if isinstance(self.source, bytes) else self._rewound(self.source)
        stream = pa.input_stream(raw, compression=compression)
        if compression is None:
            return stream
        size = len(self.source) if isinstance(self.source, bytes) else raw.size
        return Unpacked(stream, self.name, size, self.limits)

    def parsed(self, parse: Callable[[Any], T], *callbacks: Any) -> T:
        """The result of a function of ``stream`` that reads it in Arrow's threads, after these have released it.

        ``callbacks`` are the other objects that the function lends to these threads.
        """
        held = self.source if isinstance(self.source, bytes) else self._rewound(self.source)
        with Lent(held, *callbacks):
            stream = self.stream()
            try:
                return parse(stream)
            finally:
                stream.close()
                del stream

    def pieces(self) -> Iterator[bytes]:
        """The unpacked bytes, a megabyte at a time."""
        with self.stream() as stream:
            yield from iter(lambda: stream.read(PIECE_BYTES), b"")

    def _rewound(self, path: Path) -> Any:
        if self._file is None:
            self._file = self._opened(path)
        self._file.seek(0)
        return self._file


class Unpacked(io.RawIOBase):
    """A stream of decompressed bytes that raises an error if they exceed the limits."""

    def __init__(self, stream: Any, source: str, size: int, limits: Limits) -> None:
        super().__init__()
        self.stream, self.source, self.size, self.limits, self.count = stream, source, size, limits, 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes; all of them if no size is given."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(PIECE_BYTES), b""))
        piece: bytes = self.stream.read(size)
        self.count += len(piece)
        self.limits.refuse_unpacked(self.source, self.size, self.count)
        return piece

    def readinto(self, buffer: Any, /) -> int:
        """The next bytes, into a buffer."""
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close this stream and the compressed one."""
        self.stream.close()
        super().close()


# --- Sources, and errors that several formats share

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


# --- How a table is written

_DELIMITER_NAMES = {"tab": "\t", "\\t": "\t"}
# The word that says that a text file has no quoted cells.
NO_QUOTES = "none"
# Used to try a format: a date whose day, month and year cannot be confused.
_SOME_DATE = datetime(2024, 12, 31, 23, 59, 58, tzinfo=UTC)


@dataclass(frozen=True)
class Spelling:
    r"""The marks of a text file, the texts that mean a missing value, the forms of dates, and size limits.

    The marks belong to a file, and models do not store them. A delimiter of None is detected from the header. ``quote``
    is the mark around cells that hold the delimiter, or "none". Without a ``header``, columns are called x1, x2, ….
    ``na`` is a text or several. ``date_format`` is a form of ``strptime`` for all columns that hold such dates, or a
    mapping of columns to forms, in which "" stands for all. ``target_place`` is for rows to predict without a header:
    (n, k) says that the k-th of n columns is the target, so that a file of n − 1 columns lacks that one.

    >>> Spelling(delimiter="tab").delimiter, Spelling(na="-").na, Spelling(date_format="%d.%m.%Y").date_format
    ('\t', ('-',), {'': '%d.%m.%Y'})
    """

    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str = "."
    max_columns: int | None = None
    max_unpacked: float | None = None
    header: bool = True
    quote: str = '"'
    na: str | Sequence[str] = ()
    date_format: str | Mapping[str, str] | None = None
    target_place: tuple[int, int] | None = None
    limits: Limits = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", Limits(self.max_columns, self.max_unpacked))
        object.__setattr__(self, "encoding", _known(self.encoding))
        mark = self.delimiter if self.delimiter is None else _DELIMITER_NAMES.get(self.delimiter, self.delimiter)
        if mark is not None and not _is_mark(mark, '"'):
            remedy = "give one character, such as ';', or 'tab'; leave it out to have it detected"
            raise ParameterError("delimiter", f"got {self.delimiter!r}", remedy)
        object.__setattr__(self, "delimiter", mark)
        if self.decimal not in (".", ","):
            raise ParameterError("decimal", f"got {self.decimal!r}", "give '.' or ','")
        if self.quote != NO_QUOTES and not _is_mark(self.quote, mark or ","):
            remedy = (
                f'give one character other than the delimiter, such as "\'", or {NO_QUOTES!r} for a file without quotes'
            )
            raise ParameterError("quote", f"got {self.quote!r}", remedy)
        if not isinstance(self.header, bool):
            raise ParameterError("header", f"got {self.header!r}", "give True or False")
        object.__setattr__(self, "na", _texts(self.na))
        object.__setattr__(self, "date_format", _forms(self.date_format))

    @property
    def quote_mark(self) -> str | None:
        """The quote mark; None if cells are not quoted."""
        return None if self.quote == NO_QUOTES else self.quote

    @property
    def missing_texts(self) -> tuple[str, ...]:
        """The texts of ``na``."""
        return tuple(self.na)

    @property
    def date_forms(self) -> Mapping[str, str]:
        """The forms of dates by column; "" stands for all columns."""
        assert isinstance(self.date_format, Mapping)
        return self.date_format


def _is_mark(mark: Any, other: str) -> bool:
    """Whether it is one ASCII character that can separate or enclose cells, and not the other mark."""
    return isinstance(mark, str) and len(mark) == 1 and mark.isascii() and mark not in "\r\n\0" + other


def _texts(na: Any) -> tuple[str, ...]:
    texts = (na,) if isinstance(na, str) else tuple(na) if isinstance(na, Sequence) else (None,)
    if not all(isinstance(text, str) for text in texts):
        raise ParameterError("na", f"got {na!r}", "give a text such as '?', or a list of texts")
    return tuple(dict.fromkeys(text.strip() for text in texts))


def _forms(given: Any) -> dict[str, str]:
    """Forms by column, each of which must hold at least a year, or all that is needed to tell two days apart."""
    if given is None:
        return {}
    forms: dict[str, Any] = {"": given} if not isinstance(given, Mapping) else dict(given)
    for form in forms.values():
        if not isinstance(form, str) or not _reads_days(form):
            remedy = "give a form of strptime with day, month and year, such as '%d.%m.%Y' for 31.12.2024"
            raise ParameterError("date_format", f"got {form!r}", remedy)
    return forms


def _reads_days(form: str) -> bool:
    """Whether the day of a date survives being written and read in this form."""
    try:
        return datetime.strptime(_SOME_DATE.strftime(form), form).date() == _SOME_DATE.date()
    except (ValueError, TypeError):
        return False


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)  # Refuses codecs that are not for text, such as hex.
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError):
        remedy = "give one that Python knows, such as 'utf-8', 'latin-1' or 'cp1252'"
        raise ParameterError("encoding", f"got {encoding!r}", remedy) from None
