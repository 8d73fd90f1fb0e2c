"""CSV and TSV, plain or compressed by gzip or Zstandard, from a file or from memory.

Encoding, delimiter, quote and decimal mark belong to a file, not to its table. So models do not store them, and they
are given again for each file. The delimiter is detected from the first line; the others are never guessed.

All cells are read as text, and the kind of a column is decided on the whole file. Guessing types from the first block
would fail, or round values, where a later block differs.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow_csv

from separatrix.base.errors import NoRowsError, TableError
from separatrix.base.messages import Message, Setting
from separatrix.table.cells import NA, NO_TEXT, reads
from separatrix.table.formats.counted import HeldSpan
from separatrix.table.formats.csv_integrity import Lines, refuse_nul, refuse_swallowed, refuse_unclosed
from separatrix.table.formats.decimals import with_points
from separatrix.table.formats.header import FirstLines, made_up_names
from separatrix.table.formats.source import SOME_ROWS, UNREADABLE, cannot_open, distinct
from separatrix.table.formats.spelling import Spelling
from separatrix.table.formats.unpacking import Content

# PyArrow parses a file in blocks of this many bytes, and no row may be longer than a block.
_BLOCK_BYTES = 1 << 20
# The block size of a second try with one thread, after an error: the longest row that can be read.
_LONGEST_ROW_BYTES = 1 << 28
_CHECK = "check that it is a table"
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
# The byte order marks of UTF-32 and UTF-16. Little-endian UTF-32 comes first, since it begins like UTF-16.
_WIDE = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True)
class DelimitedSource:
    """Text, with or without a header row; cells are quoted where needed. ``n_blank`` blank lines come first.

    ``span``: the bytes of a file that are read, from the first up to the second; None for all.
    """

    name: str
    names: tuple[str, ...]
    content: Path | bytes
    delimiter: str = ","
    spelling: Spelling = field(default_factory=Spelling)
    target: str | None = None
    notes: tuple[str, ...] = ()
    n_blank: int = 0
    span: tuple[int, int] | None = None

    def opened(self) -> Content:
        """The bytes that are read, decompressed."""
        if self.span is None:
            return Content(self.name, self.content, self.spelling.limits)
        begin, end = self.span
        return Content(self.name, self.content, self.spelling.limits, lambda path: HeldSpan(path, begin, end))

    @property
    def encoding(self) -> str:
        return self.spelling.encoding

    def read(self, names: Sequence[str], literal: Collection[str] = (), pointed: Collection[str] = ()) -> pa.Table:
        """The columns as text. An empty cell is null, and so is NA, except in the columns ``literal``.

        Beside decimal commas, only the columns ``pointed`` may hold what reads as a number with a point.
        """
        nulls = nulls_of(literal)
        with self.opened() as content:
            marks = self._marks(content)
            try:
                table = self._parse(content, list(names), nulls, threads=True)
            except UNREADABLE:
                table = self._parse_again(content, list(names), nulls, marks)
            self._refuse_damage(content, marks, table.num_rows)
        return self.spelled(table, literal, pointed)

    def spelled(self, table: pa.Table, literal: Collection[str], pointed: Collection[str]) -> pa.Table:
        """Columns as they were parsed, with NA as null except in the columns ``literal``, and with decimal points."""
        if literal:
            names = table.column_names
            columns = [c if name in literal else _without_na(c) for name, c in zip(names, table.columns, strict=True)]
            table = pa.table(columns, names)
        return with_points(self.name, table, pointed) if self.spelling.decimal == "," else table

    def _parse_again(
        self, content: Content, names: list[str], nulls: Sequence[str], marks: tuple[bool, bool]
    ) -> pa.Table:
        """Parse with one thread, so that errors carry the row's number, and with room for the longest rows."""
        blank = BlankLines()
        try:
            return self._parse(content, names, nulls, threads=False, block=_LONGEST_ROW_BYTES, blank=blank)
        except UNREADABLE as error:
            with suppress(*UNREADABLE):  # If the bytes can be read at all, an unclosed quote may be the reason.
                self._refuse_damage(content, marks, 0)
            raise self.explained(error, self.n_blank + blank.count) from error

    def _marks(self, content: Content) -> tuple[bool, bool]:
        """Whether the text has NUL bytes, and whether it has quotes.

        This pass unpacks the whole text, so a compressed file beyond the limits is refused before it is parsed.
        """
        nuls = quotes = False
        mark = (self.spelling.quote_mark or "").encode()
        with suppress(*UNREADABLE):  # Parsing will report what cannot be read.
            for piece in content.pieces():
                nuls = nuls or (self.encoding == "utf-8" and b"\0" in piece)
                quotes = quotes or (mark != b"" and mark in piece)
        return nuls, quotes

    def _refuse_damage(self, content: Content, marks: tuple[bool, bool], n_rows: int) -> None:
        """Refuse NUL bytes and unclosed quotes, searched for in the last line alone if every line is a row."""
        nuls, quotes = marks
        if nuls:
            refuse_nul(self.name, b"".join(content.pieces()))
        if not quotes:
            return
        lines = Lines.of(content.pieces(), self.encoding)
        if lines.n <= n_rows + self.spelling.header:
            refuse_unclosed(self.name, lines, self.delimiter, self.spelling.quote)
            return
        text = b"".join(content.pieces())
        utf8 = text if self.encoding == "utf-8" else text.decode(self.encoding, "replace").encode()
        refuse_swallowed(self.name, utf8, self.delimiter, self.spelling.quote)

    def _parse(
        self,
        content: Content,
        names: list[str],
        nulls: Sequence[str],
        threads: bool,
        block: int = _BLOCK_BYTES,
        blank: BlankLines | None = None,
    ) -> pa.Table:
        skipped = blank or BlankLines()

        def parsed(stream: Any) -> pa.Table:
            read, parse, convert = self.options(names, nulls, threads, block, skipped)
            return arrow_csv.read_csv(stream, read_options=read, parse_options=parse, convert_options=convert)

        return content.parsed(parsed, skipped)

    def options(
        self, names: list[str], nulls: Sequence[str], threads: bool, block: int, blank: BlankLines
    ) -> tuple[Any, Any, Any]:
        """PyArrow's options for reading, parsing and converting these columns as text, in blocks of ``block`` bytes.

        ``blank`` counts the blank lines that are skipped.
        """
        names_here = None if self.spelling.header else list(self.names)
        read = arrow_csv.ReadOptions(
            use_threads=threads,
            block_size=block,
            encoding=self.encoding,
            column_names=names_here,
            skip_rows=self.n_blank,
        )
        # In a file of one column, an empty line is a missing value.
        lines = len(self.names) > 1
        parse = arrow_csv.ParseOptions(
            delimiter=self.delimiter,
            quote_char=self.spelling.quote_mark or False,
            newlines_in_values=True,
            ignore_empty_lines=lines,
            invalid_row_handler=blank,
        )
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=names,
            strings_can_be_null=True,
            null_values=list(nulls),
        )
        return read, parse, convert

    def explained(self, error: Exception, n_blank: int = 0) -> TableError:
        """The error of the parser in words. It counts ``n_blank`` blank lines before a row of a wrong length."""
        text = " ".join(str(error).split())
        ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", text)
        if ragged:
            place, expected, got = (int(number) for number in ragged.groups())
            row, first = place - n_blank - self.spelling.header, "header" if self.spelling.header else "first row"
            problem = f"row {row} has {got} cell{'s' * (got != 1)} where the {first} has {expected}"
            return TableError(self.name, problem, "correct that row; a cell that contains the delimiter needs quotes")
        if "UTF8" in text or isinstance(error, UnicodeError):
            return _not_text(self.name, self.encoding)
        return _unreadable(self.name, text)


class BlankLines:
    """Tells the parser to skip lines of spaces and tabs, which are not rows, and counts them.

    The parser asks about lines with a wrong number of cells. Empty lines it skips without asking.
    """

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, row: arrow_csv.InvalidRow) -> Literal["skip", "error"]:
        if row.text.strip():
            return "error"
        self.count += 1
        return "skip"


def nulls_of(literal: Collection[str]) -> Sequence[str]:
    """The texts that PyArrow reads as null. If NA is text in some column, it is turned into null afterwards."""
    return NO_TEXT if not literal else tuple(spelling for spelling in NO_TEXT if spelling != NA)


def open_delimited(name: str, source: Path | bytes, spelling: Spelling | None = None) -> DelimitedSource:
    r"""Open a text file: read its header and make sure that a row follows. A missing delimiter is detected.

    >>> open_delimited("a table", b"a;y\n1;u\n").names
    ('a', 'y')
    """
    spelling = spelling or Spelling()
    with Content(name, source, spelling.limits) as content:
        return read_header(content, spelling)


def read_header(content: Content, spelling: Spelling) -> DelimitedSource:
    """``open_delimited`` for content that is open already."""
    name, encoding, delimiter = content.name, spelling.encoding, spelling.delimiter
    with _explaining(name, encoding):
        _refuse_wide(content, encoding)
        if delimiter is None:
            with closing(_lines(content, encoding)) as lines:
                delimiter = _delimiter(name, next((line for line in lines if line.strip()), ""), spelling.quote)
        with closing(_lines(content, encoding)) as lines:
            first = FirstLines.of(lines, delimiter, spelling.quote_mark)
    if first.line is None:
        what = "give a header row of column names, then rows" if spelling.header else SOME_ROWS
        raise TableError(name, "it is empty", what)
    _refuse_binary(name, encoding, first.line)
    notes = list[str]()
    if spelling.delimiter is None and delimiter != ",":
        notes.append(f"Its columns are separated by {_DELIMITERS[delimiter]}.")
    if not spelling.header:
        names = made_up_names(len(first.line), spelling.target_place)
    else:
        if not first.has_rows:
            raise NoRowsError(name, "it has a header and no rows", SOME_ROWS)
        first.refuse_repeated(name)
        names = distinct(name, first.line)
        notes += first.doubts()
    return DelimitedSource(name, names, content.source, delimiter, spelling, None, tuple(notes), first.n_blank)


def _refuse_binary(name: str, encoding: str, header: Sequence[str]) -> None:
    """Refuse a header with NUL bytes, or with surrogates, which stand for bytes that are not UTF-8."""
    if any("\0" in column for column in header):
        raise TableError(name, "it is binary, not text", "give a CSV table; Parquet files end in .parquet or .pq")
    if any("\ud800" <= letter <= "\udfff" for column in header for letter in column):
        raise _not_text(name, encoding)


@contextmanager
def _explaining(name: str, encoding: str) -> Iterator[None]:
    """Turn exceptions about the first lines into a ``TableError``."""
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
    """The lines as text; a line longer than the longest row is refused."""
    # Bytes below the header are not checked here: they may belong to columns that are never read.
    decoder, errors = ("utf-8-sig", "surrogateescape") if encoding == "utf-8" else (encoding, "strict")
    stream = io.BufferedReader(content.stream())
    with io.TextIOWrapper(stream, decoder, errors=errors, newline="") as text:
        while line := text.readline(_LONGEST_ROW_BYTES):
            if len(line) == _LONGEST_ROW_BYTES:
                raise TableError(content.name, f"its first lines are longer than {_LONGEST_ROW_BYTES >> 20} MB", _CHECK)
            yield line


def _refuse_wide(content: Content, encoding: str) -> None:
    """Refuse a file whose byte order mark says UTF-16 or UTF-32, if another encoding was given."""
    with content.stream() as stream:
        start = stream.read(4)
    wide = next((name for mark, name in _WIDE.items() if start.startswith(mark)), None)
    if wide is not None and not encoding.startswith(wide):
        remedy = Message("give ", Setting("encoding", wide))
        raise TableError(content.name, f"it is {wide.upper()} text, not {encoding.upper()}", remedy)


def _without_na(column: Any) -> Any:
    return compute.if_else(reads(column, [NA]), None, column)


def _delimiter(name: str, header: str, quote: str) -> str:
    """A comma if the header has one outside quotes; otherwise the most frequent other delimiter, if there is any."""
    if re.fullmatch(r"sep=.\s*", header):
        raise TableError(
            name, f"its first line is {header.strip()!r}, not the names of the columns", "take that line out"
        )
    header = re.sub(f"{re.escape(quote)}[^{re.escape(quote)}]*{re.escape(quote)}", "", header)
    counts = {mark: header.count(mark) for mark in _DELIMITERS}
    most = max(counts, key=lambda mark: counts[mark])
    return "," if "," in header or counts[most] == 0 else most


def _not_text(name: str, encoding: str) -> TableError:
    if encoding != "utf-8":
        remedy = Message("name its own encoding with ", Setting("encoding"))
        return TableError(name, f"it is not {encoding} text", remedy)
    latin, windows = Setting("encoding", "latin-1"), Setting("encoding", "cp1252")
    remedy = Message("for a file in Latin-1 give ", latin, ", in Windows-1252 ", windows)
    return TableError(name, "it is not UTF-8 text", remedy)


def _unreadable(name: str, text: str) -> TableError:
    if "Truncated" in text:
        return TableError(name, "its compressed content ends too early", "copy or download it again: a part is missing")
    return TableError(name, f"it cannot be read ({text[:200]})", "check that it is a CSV table")
