"""Where rows come from: CSV, TSV and Parquet files, CSV on standard input, scikit-learn's bundled sets.

A source knows its columns before any row is read, so a column that nobody asks for is never converted. A CSV cell
has no type: columns are read as what they are wanted for, float64 or text, over the whole file. Guessing a type
from a first block, then failing or rounding where a later block differs, cannot happen.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from separatrix.errors import TableError

STDIN = "-"
DEMO = "demo:"
# What PyArrow may raise on a damaged file; names that are not UTF-8 come as a UnicodeError.
_UNREADABLE = (pa.ArrowException, OSError, UnicodeError)


class Source(Protocol):
    """Named columns, not read yet. ``target`` is the column to predict where the source itself says so."""

    @property
    def name(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def target(self) -> str | None: ...
    def read(self, numbers: Sequence[str], label: str | None) -> pa.Table: ...


@dataclass(frozen=True)
class CsvSource:
    """Text with a header row, in a file or (standard input) in memory; cells are quoted with " where needed."""

    name: str
    names: tuple[str, ...]
    content: Path | bytes
    delimiter: str = ","
    target: str | None = None

    def read(self, numbers: Sequence[str], label: str | None) -> pa.Table:
        """The columns; one that holds more than numbers makes all of them come as text, for ``encode`` to judge."""
        kept = [*numbers] if label is None else [*numbers, label]
        types = dict.fromkeys(numbers, pa.float64()) | ({} if label is None else {label: pa.string()})
        try:
            found = self._parse(kept, types, threads=True)
        except _UNREADABLE:
            try:  # one thread: only so do errors carry the number of the row
                found = self._parse(kept, dict.fromkeys(kept, pa.string()), threads=False)
            except _UNREADABLE as error:
                raise self._explained(error) from error
        if self._has_open_quote(found.num_rows):
            came = f'a cell opens with " and never closes: {found.num_rows} rows are left of more lines'
            raise TableError(self.name, came, "close that quote, or double quotes that belong to the text")
        return found

    def _has_open_quote(self, n_rows: int) -> bool:
        """Whether an odd number of quotes made lines run together: PyArrow reads on to the end without a word."""
        with self._opened() as stream:
            quotes = sum(piece.count(b'"') for piece in iter(lambda: stream.read(1 << 20), b""))
            if quotes % 2 == 0:
                return False
            stream.seek(0)
            return sum(1 for line in stream if line.strip()) > n_rows + 1

    def _opened(self) -> BinaryIO:
        return io.BytesIO(self.content) if isinstance(self.content, bytes) else self.content.open("rb")

    def _parse(self, kept: list[str], types: dict[str, Any], threads: bool) -> pa.Table:
        stream: Any
        if isinstance(self.content, bytes):
            stream = pa.BufferReader(self.content)
        else:
            stream = pa.OSFile(str(self.content), "rb")
        with stream:
            return arrow_csv.read_csv(
                stream,
                read_options=arrow_csv.ReadOptions(use_threads=threads),
                parse_options=arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types, include_columns=kept, strings_can_be_null=True
                ),
            )

    def _explained(self, error: Exception) -> TableError:
        text = " ".join(str(error).split())
        ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", text)
        if ragged:
            row, expected, got = (int(number) for number in ragged.groups())
            came = f"row {row - 1} has {got} cell{'s' * (got != 1)} where the header has {expected}"
            return TableError(self.name, came, "mend that row; a cell that holds the delimiter needs quotes")
        if "UTF8" in text or isinstance(error, UnicodeError):
            return _not_text(self.name)
        return TableError(self.name, f"it cannot be read ({text[:200]})", "check that it is a CSV table")


@dataclass(frozen=True)
class ParquetSource:
    """A Parquet file: columns come with their own types."""

    name: str
    names: tuple[str, ...]
    path: Path
    target: str | None = None

    def read(self, numbers: Sequence[str], label: str | None) -> pa.Table:
        kept = [*numbers] if label is None else [*numbers, label]
        try:
            with parquet.ParquetFile(self.path) as file:
                return file.read(columns=kept).select(kept)
        except _UNREADABLE as error:
            raise _not_parquet(self.name, error) from error


@dataclass(frozen=True)
class DemoSource:
    """One of scikit-learn's bundled sets, with its classes by name."""

    name: str
    names: tuple[str, ...]
    columns: pa.Table
    target: str | None

    def read(self, numbers: Sequence[str], label: str | None) -> pa.Table:
        return self.columns.select([*numbers] if label is None else [*numbers, label])


# The name of each bundled set, scikit-learn's name for it, and what its target is called here.
DEMOS = {
    "breast-cancer": ("breast_cancer", "diagnosis"),
    "iris": ("iris", "species"),
    "wine": ("wine", "cultivator"),
    "digits": ("digits", "digit"),
}


def open_source(data: str) -> Source:
    """The source that ``data`` names: a path, ``-`` for CSV on standard input, or ``demo:NAME``.

    >>> source = open_source("demo:iris")
    >>> source.names[0], source.target
    ('sepal length (cm)', 'species')
    """
    if data.startswith(DEMO):
        return _open_demo(data)
    if data == STDIN:
        return _open_csv("standard input", b"" if sys.stdin is None else sys.stdin.buffer.read(), ",")
    path = Path(data)
    if not path.exists():
        near = get_close_matches(data, DEMOS, 1)
        hint = f"for the bundled set write {DEMO}{near[0]}" if near else "check the path, or try demo:iris"
        raise TableError(data, "there is no such file", hint)
    if path.is_dir():
        raise TableError(data, "it is a folder", "give one file")
    opener = _OPENERS.get(path.suffix.lower())
    if opener is None:
        came = f"its extension {path.suffix!r} is unknown" if path.suffix else "it has no extension"
        raise TableError(data, came, f"give a file that ends in {', '.join(_OPENERS)}, or pipe CSV in as '-'")
    if not path.is_file():
        raise TableError(data, "it is not a regular file", "pipe it in as '-'")
    return opener(data, path)


def _open_csv(name: str, content: Path | bytes, delimiter: str) -> Source:
    """Read the header, and see whether a row follows it."""
    try:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as raw:
            # Cells below the header may belong to columns that nobody wants: their bytes are judged when read.
            text = io.TextIOWrapper(raw, "utf-8-sig", errors="surrogateescape", newline="")
            records = (record for record in csv.reader(text, delimiter=delimiter) if record)
            header, first = next(records, None), next(records, None)
    except csv.Error as error:
        raise TableError(name, f"its first rows cannot be read ({error})", "check that it is a table") from error
    except OSError as error:
        raise _cannot_open(name, error) from error
    if header is None:
        raise TableError(name, "it is empty", "give a header row of column names, then rows")
    if any("\0" in column for column in header):
        raise TableError(name, "it is binary, not text", "give a CSV table; Parquet files end in .parquet or .pq")
    if not all(_is_unicode(column) for column in header):
        raise _not_text(name)
    if first is None:
        raise TableError(name, "it has a header and no rows", "give at least one row of each of two classes")
    return CsvSource(name, _distinct(name, header), content, delimiter)


def _open_parquet(name: str, path: Path) -> Source:
    try:
        with parquet.ParquetFile(path) as file:
            names, n_rows = file.schema_arrow.names, file.metadata.num_rows
    except PermissionError as error:
        raise _cannot_open(name, error) from error
    except _UNREADABLE as error:
        raise _not_parquet(name, error) from error
    if n_rows == 0:
        raise TableError(name, "it has no rows", "give at least one row of each of two classes")
    return ParquetSource(name, _distinct(name, names), path)


def _open_demo(data: str) -> Source:
    name = data.removeprefix(DEMO)
    if name not in DEMOS:
        near = get_close_matches(name, DEMOS, 1)
        hint = f"write {DEMO}{near[0]}; there are " if near else "there are "
        raise TableError(data, "there is no such demo set", hint + ", ".join(DEMO + known for known in DEMOS))
    from sklearn import datasets

    loader, target = DEMOS[name]
    bundle = getattr(datasets, f"load_{loader}")()
    names = tuple(str(column) for column in bundle.feature_names)
    columns = [pa.array(column) for column in bundle.data.T]
    labels = pa.array(bundle.target_names[bundle.target].tolist())
    return DemoSource(data, (*names, target), pa.table([*columns, labels], [*names, target]), target)


_OPENERS: dict[str, Callable[[str, Path], Source]] = {
    ".csv": lambda name, path: _open_csv(name, path, ","),
    ".tsv": lambda name, path: _open_csv(name, path, "\t"),
    ".parquet": _open_parquet,
    ".pq": _open_parquet,
}


def _distinct(name: str, names: Sequence[str]) -> tuple[str, ...]:
    twice = next((column for k, column in enumerate(names) if column in names[:k]), None)
    if twice is not None:
        raise TableError(name, f"{names.count(twice)} columns are called {twice!r}", "give each its own name")
    return tuple(names)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _not_text(name: str) -> TableError:
    do = "save it as UTF-8 text, for example with: iconv -f latin1 -t utf-8"
    return TableError(name, "it is not UTF-8 text", do)


def _not_parquet(name: str, error: Exception) -> TableError:
    reason = " ".join(str(error).split())[:200]
    return TableError(name, f"it cannot be read as Parquet ({reason})", "write it again, or give a CSV file")


def _cannot_open(name: str, error: OSError) -> TableError:
    return TableError(name, f"it cannot be opened ({error.strerror})", "check its permissions")
