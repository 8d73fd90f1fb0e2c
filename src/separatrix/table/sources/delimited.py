"""CSV and TSV, plain or compressed by gzip or Zstandard, from a file or from memory.

A cell of such a file has no type: all are read as text, over the whole file, and what a column holds is decided on
all of it. Guessing a type from a first block, then failing or rounding where a later block differs, cannot happen.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from separatrix.errors import ParameterError, TableError
from separatrix.table.cells import NO_TEXT
from separatrix.table.sources.source import SOME_ROWS, UNREADABLE, cannot_open, distinct

_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
# Bytes that PyArrow parses at once; a row may not be longer.
_BLOCK, _LARGE = 1 << 20, 1 << 28
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class DelimitedSource:
    """Text with a header row; cells are quoted with " where needed."""

    name: str
    names: tuple[str, ...]
    content: Path | bytes
    delimiter: str = ","
    encoding: str = "utf-8"
    target: str | None = None
    notes: tuple[str, ...] = ()

    def read(self, names: Sequence[str]) -> pa.Table:
        """The columns as text; an empty cell and NA are null."""
        try:
            found = self._parse(list(names), threads=True)
        except UNREADABLE:
            try:  # one thread, for only so do errors carry the number of the row; and room for the longest rows
                found = self._parse(list(names), threads=False, block=_LARGE)
            except UNREADABLE as error:
                raise self._explained(error) from error
        if self._has_open_quote(found.num_rows):
            came = f'a cell opens with " and never closes: {found.num_rows} rows are left of more lines'
            raise TableError(self.name, came, "close that quote, or double quotes that belong to the text")
        return found

    def _has_open_quote(self, n_rows: int) -> bool:
        """Whether an odd number of quotes made lines run together: PyArrow reads on to the end without a word."""
        with opened(self.content) as stream:
            quotes = sum(piece.count(b'"') for piece in iter(lambda: stream.read(1 << 20), b""))
        if quotes % 2 == 0:
            return False
        with opened(self.content) as stream:
            return sum(1 for line in io.BufferedReader(stream) if line.strip()) > n_rows + 1

    def _parse(self, names: list[str], threads: bool, block: int = _BLOCK) -> pa.Table:
        with opened(self.content) as stream:
            return arrow_csv.read_csv(
                stream,
                read_options=arrow_csv.ReadOptions(use_threads=threads, block_size=block, encoding=self.encoding),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=len(self.names) > 1,  # of one column an empty line is a missing value
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=names,
                    strings_can_be_null=True,
                    null_values=list(NO_TEXT),
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
            return _not_text(self.name, self.encoding)
        return _unreadable(self.name, text)


def open_delimited(
    name: str, content: Path | bytes, delimiter: str | None = None, encoding: str = "utf-8"
) -> DelimitedSource:
    r"""Read the header, and see whether a row follows it. Without a delimiter the header tells: a comma if it has one.

    >>> open_delimited("a table", b"a;y\n1;u\n").names
    ('a', 'y')
    """
    encoding = _known(encoding)
    notes: tuple[str, ...] = ()
    try:
        if delimiter is None:
            with _text(content, encoding) as lines:
                delimiter = _delimiter(next((line for line in lines if line.strip()), ""))
            if delimiter != ",":
                notes = (f"Its columns are separated by {_DELIMITERS[delimiter]}.",)
        with _text(content, encoding) as lines:
            records = (record for record in csv.reader(lines, delimiter=delimiter) if record)
            header, first = next(records, None), next(records, None)
    except csv.Error as error:
        raise TableError(name, f"its first rows cannot be read ({error})", "check that it is a table") from error
    except UnicodeError as error:
        raise _not_text(name, encoding) from error
    except PermissionError as error:
        raise cannot_open(name, error) from error
    except OSError as error:
        raise _unreadable(name, str(error)) from error
    if header is None:
        raise TableError(name, "it is empty", "give a header row of column names, then rows")
    if any("\0" in column for column in header):
        raise TableError(name, "it is binary, not text", "give a CSV table; Parquet files end in .parquet or .pq")
    if any("\ud800" <= letter <= "\udfff" for column in header for letter in column):
        raise _not_text(name, encoding)
    if first is None:
        raise TableError(name, "it has a header and no rows", SOME_ROWS)
    return DelimitedSource(name, distinct(name, header), content, delimiter, encoding, None, notes)


def opened(content: Path | bytes) -> Any:
    """The bytes as a stream of Arrow's, decompressed where their first ones say so."""
    if isinstance(content, bytes):
        start = content[:4]
    else:
        with content.open("rb") as file:
            start = file.read(4)
    compression: Any = next((how for magic, how in _COMPRESSED.items() if start.startswith(magic)), None)
    raw: Any = pa.BufferReader(content) if isinstance(content, bytes) else str(content)
    return pa.input_stream(raw, compression=compression)


def _text(content: Path | bytes, encoding: str) -> io.TextIOWrapper:
    # Cells below the header may belong to columns that nobody wants: their bytes are judged when read.
    decoder, errors = ("utf-8-sig", "surrogateescape") if encoding == "utf-8" else (encoding, "strict")
    return io.TextIOWrapper(opened(content), decoder, errors=errors, newline="")


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)  # refuses codecs that are none of text, such as hex
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError):
        do = "give one that Python knows, such as 'utf-8', 'latin-1' or 'cp1252'"
        raise ParameterError("encoding", f"got {encoding!r}", do) from None


def _delimiter(header: str) -> str:
    """A comma, unless the header has none and has another mark that separates columns."""
    counts = {mark: header.count(mark) for mark in _DELIMITERS}
    most = max(counts, key=lambda mark: counts[mark])
    return "," if "," in header or counts[most] == 0 else most


def _not_text(name: str, encoding: str) -> TableError:
    if encoding != "utf-8":
        return TableError(name, f"it is not {encoding} text", "name its own encoding with encoding= (--encoding)")
    do = "for a file in Latin-1 or Windows-1252 give encoding='latin-1' or 'cp1252' (--encoding)"
    return TableError(name, "it is not UTF-8 text", do)


def _unreadable(name: str, text: str) -> TableError:
    if "Truncated" in text:
        return TableError(name, "its compressed content ends too early", "copy or download it again: a part is missing")
    return TableError(name, f"it cannot be read ({text[:200]})", "check that it is a CSV table")
