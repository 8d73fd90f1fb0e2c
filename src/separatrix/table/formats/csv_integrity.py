"""Damage in text files that PyArrow does not report: unclosed quotes and NUL bytes.

A quote, " unless the user names another mark, opens a cell only as its first character; inside a quoted cell, two
quotes stand for one. A cell without its closing quote therefore swallows all text up to the next quote, which belongs
to another cell. That quote is followed by the other cell's text, or preceded by a delimiter. A quoted cell may span
several lines if it closes where a cell ends.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

from separatrix.base.errors import TableError
from separatrix.base.messages import Message, Setting

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
    separatrix.base.errors.TableError: a table: the cell that opens with " in line 3 is never closed; ...
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
    separatrix.base.errors.TableError: a table: the cell that opens with " in line 2 continues on line 3; ...
    """
    place = _sound(delimiter, quote).match(content).end()  # type: ignore[union-attr]
    cell = _opened(quote).match(content, place)
    if cell is None:
        return
    end = f"continues on line {line_of(content, cell.end() - 1)}" if cell[2] else "is never closed"
    raise TableError(name, f"the cell that opens with {quote} in line {line_of(content, place)} {end}", _CLOSE)


def _opened(quote: str) -> re.Pattern[bytes]:
    """A quoted cell: its text, and its closing quote if there is one."""
    return _with_marks(rb"Q([^Q]*+(?:QQ[^Q]*+)*+)(Q?)", quote)


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
