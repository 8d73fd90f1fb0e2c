"""CSV and TSV, plain or compressed by gzip or Zstandard, from a file or from memory.

Encoding, delimiter, quote and decimal mark belong to a file, not to its table. So models do not store them, and they
are given again for each file. The delimiter is detected from the first line; the others are never guessed.

All cells are read as text, and the kind of a column is decided on the whole file. Guessing types from the first block
would fail, or round values, where a later block differs. Damage that PyArrow does not report, unclosed quotes and NUL
bytes, is searched for.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow_csv

from separatrix.core.base.errors import NoRowsError, TableError
from separatrix.core.base.messages import Message, RowNumber, Setting
from separatrix.tables.cells import NA, NO_NUMBER, NO_TEXT, reads, shortened, stripped
from separatrix.tables.formats.source import (
    SOME_ROWS,
    UNREADABLE,
    Content,
    HeldSpan,
    Lent,
    Source,
    Spelling,
    cannot_open,
    distinct,
)

# --- The first lines: names of columns, or a row of data where a header was expected

# The number of rows below the first line that it is compared with.
_ROWS_COMPARED = 200
NO_HEADER = Setting("header", False)


def made_up_names(n: int, target_place: tuple[int, int] | None = None) -> tuple[str, ...]:
    """The names of n columns without a header: x1, x2, …, as in a libsvm file.

    If the file has one column fewer than the training file, it lacks the target (``Spelling.target_place``).

    >>> made_up_names(3), made_up_names(3, target_place=(4, 2))
    (('x1', 'x2', 'x3'), ('x1', 'x3', 'x4'))
    """
    whole, target = (n, 0) if target_place is None or target_place[0] != n + 1 else target_place
    return tuple(f"x{j}" for j in range(1, whole + 1) if j != target)


def is_made_up(name: str) -> bool:
    """Whether a column may have got its name by ``made_up_names``.

    >>> is_made_up("x12"), is_made_up("xy")
    (True, False)
    """
    return name.startswith("x") and name[1:].isascii() and name[1:].isdecimal()


def called(source: Source, column: str | int, header: bool = True) -> str:
    """The name of a column. Without a header it may be given by its number, from 1, or from −1 for the last.

    >>> from separatrix.tables.formats.opening import open_source
    >>> called(open_source("demo:xor"), "-1", header=False), called(open_source("demo:xor"), "x2")
    ('sign', 'x2')
    """
    if header or column in source.names or isinstance(column, bool) or not isinstance(column, str | Integral):
        return str(column)
    try:
        number = int(column)
    except ValueError:
        return str(column)
    n = len(source.names)
    if not 1 <= abs(number) <= n:
        problem = f"it has {n} columns, and no column {number}"
        raise TableError(source.name, problem, f"give a number from 1 to {n}, or from -1 for the last to -{n}")
    return source.names[number - (number > 0)]


@dataclass(frozen=True)
class FirstLines:
    """The first line as cells, None for an empty file, and some rows below it. ``n_blank`` blank lines come first.

    A first line is taken for data if

        all its cells are numbers, and not just 0, 1, 2, … or 1, 2, 3, …, as programs number columns; or
        it has a number above each column of numbers, and a text that occurs again below it; or
        no column holds numbers, and all its cells occur again below them.

    Such a file is still read with a header, and a note names the option to give.
    """

    line: list[str] | None
    rows: list[list[str]]
    n_blank: int = 0

    @classmethod
    def of(cls, lines: Iterator[str], delimiter: str, quote: str | None) -> FirstLines:
        r"""Read the first lines. A row that cannot be read ends them, since the parser will report it.

        >>> FirstLines.of(iter(["a,b\n", "1,2\n"]), ",", '"').line
        ['a', 'b']
        """
        n_blank, lines = _without_blank_start(lines)
        if quote is None:
            reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        else:
            reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
        records = (record for record in reader if len(record) > 1 or any(cell.strip() for cell in record))
        line, rows = next(records, None), list[list[str]]()
        try:
            rows.extend(islice(records, _ROWS_COMPARED))
        except (csv.Error, UnicodeError):
            rows.append([])
        return cls(line, rows, n_blank)

    def refuse_repeated(self, source: str) -> None:
        """Refuse equal names in a first line that looks like data, with the option for a file without a header."""
        line = self.line or []
        if len(set(line)) < len(line) and self._looks_like_data():
            problem = f"its first line repeats a name, and looks like a row of data ({self._shown()})"
            raise TableError(source, problem, Message("if the file has no header, give ", NO_HEADER))

    def doubts(self) -> list[str]:
        """A note if the first line looks like data."""
        if not self._looks_like_data():
            return []
        told = f"Its first line looks like a row of data, not like names of columns ({self._shown()})."
        return [Message(f"{told} If it is one, give ", NO_HEADER, ".")]

    def _shown(self) -> str:
        return shortened(", ".join(self.line or []), 60)

    def _looks_like_data(self) -> bool:
        line = [cell.strip() for cell in self.line or []]
        if not self.rows or not any(line):
            return False
        if all(map(_is_number, line)):
            return not _counts_up(line)
        above_numbers, above_texts = list[str](), list[bool]()
        for j, cell in enumerate(line):
            below = _column(self.rows, j)
            if below and all(map(_is_number, below)):
                above_numbers.append(cell)
            else:
                above_texts.append(cell in below)
        return _is_like_numbers(above_numbers) and any(above_texts) if above_numbers else all(above_texts)


def _is_like_numbers(cells: Sequence[str]) -> bool:
    """Whether there is a number among the cells, and every other cell means a missing value."""
    return any(map(_is_number, cells)) and all(_is_number(cell) or cell in NO_NUMBER for cell in cells)


def _without_blank_start(lines: Iterator[str]) -> tuple[int, Iterator[str]]:
    r"""The number of blank lines at the start, and the lines after them.

    >>> count, rest = _without_blank_start(iter(["\n", " \n", "a,b\n", "1,2\n"]))
    >>> count, list(rest)
    (2, ['a,b\n', '1,2\n'])
    """
    count = 0
    for line in lines:
        if line.strip():
            return count, chain([line], lines)
        count += 1
    return count, iter(())


def _column(rows: Sequence[Sequence[str]], j: int) -> set[str]:
    """The texts of column j in the rows, without those that mean a missing value."""
    return {row[j].strip() for row in rows if j < len(row)} - set(NO_NUMBER)


def _counts_up(line: Sequence[str]) -> bool:
    """Whether the cells are 0, 1, 2, … or 1, 2, 3, …."""
    return any(list(line) == [str(j) for j in range(start, start + len(line))] for start in (0, 1))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text not in NO_NUMBER


# --- Unclosed quotes and NUL bytes
#
# A quote, " unless the user names another mark, opens a cell only as its first character; inside a quoted cell, two
# quotes stand for one. A cell without its closing quote therefore swallows all text up to the next quote, which belongs
# to another cell. That quote is followed by the other cell's text, or preceded by a delimiter. A quoted cell may span
# several lines if it closes where a cell ends.

_LINE = re.compile(rb"\r\n|\r|\n")
# Parts of patterns, in which Q stands for the quote and D for the delimiter: what ends a cell, a quoted cell in one
# line, and text without quotes, which may follow a closing quote.
_ENDS = rb"[\r\nD]"
_WITHIN_LINE = rb"Q[^Q\r\n]*+(?:QQ[^Q\r\n]*+)*+Q"
_PLAIN = rb"[^\r\nD]*+"
_BYTE_ORDER_MARK = rb"(?:\xef\xbb\xbf)?"
_CLOSE = "close the quote, or double it if it belongs to the text"


class LineCount:
    r"""Counts line ends in pieces of a text, also a \r\n that is split between two pieces.

    >>> lines = LineCount()
    >>> for piece in (b"a,y\r\n1,u\r", b"\n2,v\n"):
    ...     lines.add(piece)
    >>> lines.n
    3
    """

    def __init__(self) -> None:
        self.n, self._after_return = 0, False

    def add(self, piece: bytes) -> None:
        """Count the next piece."""
        self.n += piece.count(b"\n") - (self._after_return and piece.startswith(b"\n"))
        if b"\r" in piece:
            self.n += piece.count(b"\r") - piece.count(b"\r\n")
        self._after_return = piece.endswith(b"\r")


def lines_in(pieces: Iterable[bytes]) -> int:
    r"""The number of line ends in pieces of a text.

    >>> lines_in([b"a,y\r\n1,u\n", b"2,v\r"])
    3
    """
    lines = LineCount()
    for piece in pieces:
        lines.add(piece)
    return lines.n


class Lines:
    r"""The lines of a text, whose bytes come in pieces: how many there are, and the last one without its line end.

    >>> lines = Lines.of([b"a,y\r\n1,", b"u\n2,v", b"\r\n"])
    >>> lines.n, lines.last
    (3, b'2,v')
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        self._decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("replace")
        self._ends, self._last, self._is_ended = LineCount(), list[bytes](), True

    @classmethod
    def of(cls, pieces: Iterable[bytes], encoding: str = "utf-8") -> Lines:
        """The lines of all pieces."""
        lines = cls(encoding)
        for piece in pieces:
            lines.add(piece)
        return lines

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        text = piece if self._decoder is None else self._decoder.decode(piece).encode()
        if not text:
            return
        self._ends.add(text)
        written = text.rstrip(b"\r\n")
        start = max(written.rfind(b"\n"), written.rfind(b"\r")) + 1
        if start or (written and self._is_ended):
            self._last = []
        self._last.append(text[start:])
        self._is_ended = text.endswith((b"\r", b"\n"))

    @property
    def n(self) -> int:
        """The number of lines; the last one may lack its line end."""
        return self._ends.n + (not self._is_ended)

    @property
    def last(self) -> bytes:
        """The last line that is not empty, as UTF-8."""
        return b"".join(self._last).rstrip(b"\r\n")


def refuse_unclosed(name: str, lines: Lines, delimiter: str, quote: str = '"') -> None:
    r"""Refuse a text, each line of which is a row, if a quoted cell of its last line does not close.

    >>> refuse_unclosed("a table", Lines.of([b'a,y\n1,"u"\n2,"v\n']), ",")
    Traceback (most recent call last):
    ...
    separatrix.core.base.errors.TableError: a table: the cell that opens with " in line 3 is never closed; ...
    """
    if not cells_within_lines(delimiter, quote).fullmatch(lines.last + b"\n"):
        raise TableError(name, f"the cell that opens with {quote} in line {lines.n} is never closed", _CLOSE)


def refuse_swallowed(name: str, content: bytes, delimiter: str, quote: str = '"') -> None:
    r"""Refuse a quoted cell that never closes, or that spans lines and closes inside another cell.

    ``content`` is UTF-8.

    >>> refuse_swallowed("a table", b'a,y\n"one\ntwo",u\n5" pipe,v\n', ",")
    >>> refuse_swallowed("a table", b'a,y\n"one,u\n"two,v\n', ",")
    Traceback (most recent call last):
    ...
    separatrix.core.base.errors.TableError: a table: the cell that opens with " in line 2 continues on line 3; ...
    """
    place = _sound(delimiter, quote).match(content).end()  # type: ignore[union-attr]
    # A quoted cell: its text, and its closing quote if there is one.
    cell = _with_marks(rb"Q([^Q]*+(?:QQ[^Q]*+)*+)(Q?)", quote).match(content, place)
    if cell is None:
        return
    end = f"continues on line {line_of(content, cell.end() - 1)}" if cell[2] else "is never closed"
    raise TableError(name, f"the cell that opens with {quote} in line {line_of(content, place)} {end}", _CLOSE)


def _sound(delimiter: str, quote: str) -> re.Pattern[bytes]:
    """A pattern that matches all cells before the first damaged one. It takes about 10 ns per byte."""
    over_lines = rb"Q[^Q]*+(?:QQ[^Q]*+)*+Q(?<!DQ)(?=" + _ENDS + rb"|\Z)"
    cell = rb"(?:" + _WITHIN_LINE + rb"|" + over_lines + rb"|(?!Q))" + _PLAIN
    cells = rb"(?:" + cell + _ENDS + rb")*+(?:" + cell + rb"\Z)?+"
    return _with_marks(_BYTE_ORDER_MARK + cells, quote, delimiter)


def cells_within_lines(delimiter: str, quote: str) -> re.Pattern[bytes]:
    r"""A pattern that matches whole lines, each with its end, if every quoted cell closes in the line where it opens.

    >>> lines = cells_within_lines(",", '"')
    >>> bool(lines.fullmatch(b'a,"b, c",5" pipe\n')), bool(lines.fullmatch(b'a,"b\nc"\n'))
    (True, False)
    """
    cell = rb"(?:" + _WITHIN_LINE + rb"|(?!Q))" + _PLAIN
    return _with_marks(_BYTE_ORDER_MARK + rb"(?:" + cell + _ENDS + rb")*+", quote, delimiter)


def _with_marks(pattern: bytes, quote: str, delimiter: str = "") -> re.Pattern[bytes]:
    """The pattern with Q replaced by the quote and D by the delimiter."""
    marks = {b"Q": re.escape(quote.encode()), b"D": re.escape(delimiter.encode())}
    return re.compile(re.sub(rb"[QD]", lambda letter: marks[letter[0]], pattern))


def refuse_nul(name: str, content: bytes, lines_before: int = 0) -> None:
    """Refuse a file with a NUL byte, which would turn a column of numbers into text."""
    problem = f"line {lines_before + line_of(content, content.index(0))} holds a NUL byte, which no text has"
    remedy = Message("copy or export the file again; for UTF-16 give ", Setting("encoding", "utf-16"))
    raise TableError(name, problem, remedy)


def line_of(content: bytes, place: int) -> int:
    r"""The number of the line that holds a byte, counted from 1.

    >>> line_of(b"a\r\nb\nc", 5)
    3
    """
    return 1 + sum(1 for _ in _LINE.finditer(content, 0, place))


# --- Decimal commas, where the user says that a file has them
#
#     1,5  ,5  -2,5e3        a number: the comma becomes a point
#     1.234,5  1.234  1.5    refused in a column of numbers: the point may separate thousands or decimals
#     anything else          unchanged, as dates such as 31.12.2024 and versions such as 2.0.1
#
# The decimal mark is never guessed: 1,234 may mean 1.234 or 1234. Columns that the user says are dates, categories or
# text may hold any points.

_COMMA = r"^\s*[-+]?(\d+,\d*|,\d+)([eE][-+]?\d+)?\s*$"
_POINT = r"^[-+]?(\d+\.\d*|\.\d+|\d{1,3}(\.\d{3})+(,\d*)?)([eE][-+]?\d+)?$"
_ANY = r"^[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?$"


def with_points(source: str, table: pa.Table, pointed: Collection[str] = ()) -> pa.Table:
    """The table with decimal points. The columns ``pointed`` hold no numbers, so points in them are not refused.

    >>> with_points("a table", pa.table({"a": ["1,5", "2"], "b": ["x, y", "2.0.1"]})).to_pydict()
    {'a': ['1.5', '2'], 'b': ['x, y', '2.0.1']}
    """
    columns = [_with_points(source, name, table.column(name), name in pointed) for name in table.column_names]
    return pa.table(columns, table.column_names)


def _with_points(source: str, name: str, column: Any, pointed: bool) -> Any:
    if not pointed and compute.any(compute.match_substring(column, ".")).as_py():
        _refuse_points(source, name, column)
    commas = compute.match_substring_regex(column, _COMMA)
    if not compute.any(commas).as_py():
        return column
    return compute.if_else(commas, compute.replace_substring(column, ",", ".", max_replacements=1), column)


def _refuse_points(source: str, name: str, column: Any) -> None:
    """Refuse points in a column whose cells are all numbers. Dates, versions and names do not match."""
    cells = stripped(column)
    pointed = compute.match_substring_regex(cells, _POINT)
    if compute.all(compute.match_substring_regex(cells, _ANY)).as_py() and compute.any(pointed).as_py():
        row = compute.index(pointed, True).as_py()
        unlike = f", column {name!r} is {shortened(cells[row].as_py())!r}, with a point"
        problem = Message("row ", RowNumber(row + 1), unlike)
        raise TableError(source, problem, _no_points())


def about_decimals(cell: str, decimal: str) -> str | None:
    """What to do about a cell in a file with this decimal mark, if it is a number with the other one; else None.

    >>> about_decimals("1,5", "."), about_decimals("x", ".")
    ("for a file with decimal commas give decimal=','; else correct that cell", None)
    """
    if decimal == "." and re.fullmatch(_COMMA, cell):
        return Message("for a file with decimal commas give ", Setting("decimal", ","), "; else correct that cell")
    if decimal == "," and re.fullmatch(_POINT, cell.strip()):
        return _no_points()
    return None


def _no_points() -> str:
    leave = Setting("decimal", ",")
    return Message("with decimal commas, remove thousands separators; otherwise leave ", leave, " out")


# --- Whole files

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
        else:
            self.refuse_swallowed(b"".join(content.pieces()))

    def refuse_swallowed(self, text: bytes) -> None:
        """Refuse a quoted cell of the whole text that never closes, or that closes inside another cell."""
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
        if not first.rows:
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
        problem = f"its first line is {header.strip()!r}, not the names of the columns"
        raise TableError(name, problem, "take that line out")
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


# --- Text that is inspected for damage while it is parsed piece by piece, since it does not fit into memory

# A file in which quoted cells span lines is searched for unclosed quotes as a whole, up to this many bytes.
MOST_BYTES_SEARCHED = 1 << 28


class Inspected(io.RawIOBase):
    """A stream of text that counts its lines, and notes whether it has NUL bytes and quotes, while it is being parsed.

    ``blank_lines`` tells the parser to skip them.
    """

    def __init__(self, stream: Any, quote: str | None, encoding: str) -> None:
        super().__init__()
        self.stream, self.quote, self.finds_nuls = stream, (quote or "").encode(), encoding == "utf-8"
        self.has_nuls = self.has_quotes = False
        self.blank_lines, self.lines = BlankLines(), Lines(encoding)

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        piece: bytes = self.stream.read() if size is None or size < 0 else self.stream.read(size)
        self.has_nuls = self.has_nuls or (self.finds_nuls and b"\0" in piece)
        self.has_quotes = self.has_quotes or (self.quote != b"" and self.quote in piece)
        self.lines.add(piece)
        return piece

    def readinto(self, buffer: Any, /) -> int:
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


@contextmanager
def lent_text(content: Content, spelling: Spelling) -> Iterator[Inspected]:
    """Lend the text of a file to a reader of PyArrow, and wait at the end until its threads have given it back."""
    with content.stream() as stream:
        inspected = Inspected(stream, spelling.quote_mark, spelling.encoding)
        # The caller will hold the text by one name more.
        caller = inspected
        with Lent(inspected, inspected.blank_lines):
            del caller
            yield inspected


def refuse_damage(content: Content, stream: Inspected, header: DelimitedSource, n_rows: int) -> None:
    """Refuse NUL bytes and unclosed quotes, searched for in the last line alone if every line is a row."""
    if stream.has_nuls:
        lines = 0
        for piece in content.pieces():
            if b"\0" in piece:
                refuse_nul(header.name, piece, lines)
            lines += lines_in([piece])
    if not stream.has_quotes:
        return
    if stream.lines.n <= n_rows + header.spelling.header:
        refuse_unclosed(header.name, stream.lines, header.delimiter, header.spelling.quote)
        return
    text, size = [], 0
    for piece in content.pieces():
        size += len(piece)
        if size > MOST_BYTES_SEARCHED:
            problem = "it has quoted cells that span lines, and is too large to be searched for a missing quote"
            raise TableError(header.name, problem, "take line breaks out of its cells, or write it as Parquet")
        text.append(piece)
    header.refuse_swallowed(b"".join(text))
