"""CSV and TSV, plain or compressed by gzip or Zstandard, from a file or from memory.

How a file is spelled (encoding, delimiter, decimal mark) is no part of what its table says, so no model keeps it: it is
given for each file again. The delimiter is recognised by the header; the others are not guessed.

A cell of such a file has no type: all are read as text, over the whole file, and what a column holds is decided on
all of it. Guessing a type from a first block, then failing or rounding where a later block differs, cannot happen.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow_csv

from separatrix.base.errors import ParameterError, TableError
from separatrix.table.cells import NA, NO_TEXT, reads
from separatrix.table.formats.csv_integrity import lines_in, refuse_nul, refuse_swallowed
from separatrix.table.formats.decimals import with_points
from separatrix.table.formats.limits import USUAL, Limits
from separatrix.table.formats.source import SOME_ROWS, UNREADABLE, cannot_open, distinct
from separatrix.table.formats.unpacking import Content

# Bytes that PyArrow parses at once; a row may not be longer.
_BLOCK, _LARGE = 1 << 20, 1 << 28
_CHECK = "check that it is a table"
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_SPELLED = {"tab": "\t", "\\t": "\t"}
# How UTF-16 and UTF-32 texts begin; a UTF-32 one in Intel's order begins as UTF-16 does.
_WIDE = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True)
class Spelling:
    r"""How a text file writes its table, and how large that may become (``Limits``). No delimiter: the header tells.

    >>> Spelling(delimiter="tab").delimiter
    '\t'
    """

    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str = "."
    max_columns: int | None = None
    max_unpacked: float | None = None
    limits: Limits = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", Limits(self.max_columns, self.max_unpacked))
        object.__setattr__(self, "encoding", _known(self.encoding))
        mark = self.delimiter if self.delimiter is None else _SPELLED.get(self.delimiter, self.delimiter)
        if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0'):
            do = "give one mark, such as ';', or 'tab'; none, and it is recognised"
            raise ParameterError("delimiter", f"got {self.delimiter!r}", do)
        object.__setattr__(self, "delimiter", mark)
        if self.decimal not in (".", ","):
            raise ParameterError("decimal", f"got {self.decimal!r}", "give '.' or ','")


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
    decimal: str = "."
    limits: Limits = USUAL

    def read(self, names: Sequence[str], literal: Collection[str] = ()) -> pa.Table:
        """The columns as text; an empty cell is null, and NA but for the columns ``literal``."""
        nulls = NO_TEXT if not literal else tuple(spelling for spelling in NO_TEXT if spelling != NA)
        with Content(self.name, self.content, self.limits) as content:
            marks = self._marks(content)
            try:
                found = self._parse(content, list(names), nulls, threads=True)
            except UNREADABLE:
                try:  # one thread, for only so do errors carry the number of the row; and room for the longest rows
                    found = self._parse(content, list(names), nulls, threads=False, block=_LARGE)
                except UNREADABLE as error:
                    with suppress(*UNREADABLE):  # where the bytes can be had at all, a quote may be behind it
                        self._refuse_damage(content, marks, 0)
                    raise self._explained(error) from error
            self._refuse_damage(content, marks, found.num_rows)
        if literal:
            columns = [c if name in literal else _without_na(c) for name, c in zip(names, found.columns, strict=True)]
            found = pa.table(columns, list(names))
        return with_points(self.name, found) if self.decimal == "," else found

    def _marks(self, content: Content) -> tuple[bool, bool]:
        """Whether the text has NULs, and quotes; it is unpacked here first, so that one too large is never parsed."""
        nuls = quotes = False
        with suppress(*UNREADABLE):  # what cannot be read is said when it is parsed
            for piece in content.pieces():
                nuls = nuls or (self.encoding == "utf-8" and b"\0" in piece)
                quotes = quotes or b'"' in piece
        return nuls, quotes

    def _refuse_damage(self, content: Content, marks: tuple[bool, bool], n_rows: int) -> None:
        """The file is looked at closely only where it has NULs, or quotes and more lines than rows."""
        nuls, quotes = marks
        if nuls or (quotes and lines_in(content.pieces()) > n_rows + 1):
            text = b"".join(content.pieces())
            if nuls:
                refuse_nul(self.name, text)
            utf8 = text if self.encoding == "utf-8" else text.decode(self.encoding, "replace").encode()
            refuse_swallowed(self.name, utf8, self.delimiter)

    def _parse(
        self, content: Content, names: list[str], nulls: Sequence[str], threads: bool, block: int = _BLOCK
    ) -> pa.Table:
        with content.stream() as stream:
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
                    null_values=list(nulls),
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


def open_delimited(name: str, source: Path | bytes, spelling: Spelling | None = None) -> DelimitedSource:
    r"""Read the header, and see whether a row follows it. Without a delimiter the header tells: a comma if it has one.

    >>> open_delimited("a table", b"a;y\n1;u\n").names
    ('a', 'y')
    """
    spelling = spelling or Spelling()
    with Content(name, source, spelling.limits) as content:
        return read_header(content, spelling)


def read_header(content: Content, spelling: Spelling) -> DelimitedSource:
    """The same of what is open already."""
    name, encoding, delimiter = content.name, spelling.encoding, spelling.delimiter
    notes: tuple[str, ...] = ()
    with _explaining(name, encoding):
        _refuse_wide(content, encoding)
        if delimiter is None:
            with closing(_lines(content, encoding)) as lines:
                delimiter = _delimiter(name, next((line for line in lines if line.strip()), ""))
            if delimiter != ",":
                notes = (f"Its columns are separated by {_DELIMITERS[delimiter]}.",)
        with closing(_lines(content, encoding)) as lines:
            header = next((record for record in csv.reader(lines, delimiter=delimiter) if record), None)
            first = next((line for line in lines if line.strip("\r\n")), None)
    if header is None:
        raise TableError(name, "it is empty", "give a header row of column names, then rows")
    if any("\0" in column for column in header):
        raise TableError(name, "it is binary, not text", "give a CSV table; Parquet files end in .parquet or .pq")
    if any("\ud800" <= letter <= "\udfff" for column in header for letter in column):
        raise _not_text(name, encoding)
    if first is None:
        raise TableError(name, "it has a header and no rows", SOME_ROWS)
    how = (delimiter, encoding, None, notes, spelling.decimal, content.limits)
    return DelimitedSource(name, distinct(name, header), content.source, *how)


@contextmanager
def _explaining(name: str, encoding: str) -> Iterator[None]:
    """What may go wrong with the first lines, as errors of the table."""
    try:
        yield
    except csv.Error as error:
        raise TableError(name, f"its first rows cannot be read ({error})", _CHECK) from error
    except UnicodeError as error:
        raise _not_text(name, encoding) from error
    except PermissionError as error:
        raise cannot_open(name, error) from error
    except OSError as error:
        raise _unreadable(name, str(error)) from error


def _lines(content: Content, encoding: str) -> Generator[str, None, None]:
    """The lines as text, none longer than a row may be."""
    # Cells below the header may belong to columns that nobody wants: their bytes are judged when read.
    decoder, errors = ("utf-8-sig", "surrogateescape") if encoding == "utf-8" else (encoding, "strict")
    stream = io.BufferedReader(content.stream())
    with io.TextIOWrapper(stream, decoder, errors=errors, newline="") as text:
        while line := text.readline(_LARGE):
            if len(line) == _LARGE:
                raise TableError(content.name, f"its first lines are longer than {_LARGE >> 20} MB", _CHECK)
            yield line


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)  # refuses codecs that are none of text, such as hex
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError):
        do = "give one that Python knows, such as 'utf-8', 'latin-1' or 'cp1252'"
        raise ParameterError("encoding", f"got {encoding!r}", do) from None


def _refuse_wide(content: Content, encoding: str) -> None:
    """A text whose first bytes say that it is UTF-16 or UTF-32, where another encoding is asked for."""
    with content.stream() as stream:
        start = stream.read(4)
    wide = next((own for mark, own in _WIDE.items() if start.startswith(mark)), None)
    if wide is not None and not encoding.startswith(wide):
        raise TableError(content.name, f"it is {wide.upper()} text, not {encoding.upper()}", f"give encoding={wide!r}")


def _without_na(column: Any) -> Any:
    return compute.if_else(reads(column, [NA]), None, column)


def _delimiter(name: str, header: str) -> str:
    """A comma, unless the header has none and has another mark that separates columns; in quotes it separates none."""
    if re.fullmatch(r"sep=.\s*", header):
        raise TableError(
            name, f"its first line is {header.strip()!r}, and not the columns' names", "take that line out"
        )
    header = re.sub(r'"[^"]*"', "", header)
    counts = {mark: header.count(mark) for mark in _DELIMITERS}
    most = max(counts, key=lambda mark: counts[mark])
    return "," if "," in header or counts[most] == 0 else most


def _not_text(name: str, encoding: str) -> TableError:
    if encoding != "utf-8":
        return TableError(name, f"it is not {encoding} text", "name its own encoding with encoding=")
    do = "for a file in Latin-1 give encoding='latin-1', in Windows-1252 encoding='cp1252'"
    return TableError(name, "it is not UTF-8 text", do)


def _unreadable(name: str, text: str) -> TableError:
    if "Truncated" in text:
        return TableError(name, "its compressed content ends too early", "copy or download it again: a part is missing")
    return TableError(name, f"it cannot be read ({text[:200]})", "check that it is a CSV table")
