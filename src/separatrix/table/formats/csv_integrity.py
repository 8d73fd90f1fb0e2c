"""Damage in text files that PyArrow does not report: unclosed quotes and NUL bytes.

A quote opens a cell only as its first character; inside a quoted cell, two quotes stand for one. A cell without its
closing quote therefore swallows all text up to the next quote, which belongs to another cell. That quote is followed by
the other cell's text, or preceded by a delimiter. A quoted cell may span several lines if it closes where a cell ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from separatrix.base.errors import TableError
from separatrix.base.messages import Message, Setting

_LINE = re.compile(rb"\r\n|\r|\n")
_OPENED = re.compile(rb'"([^"]*+(?:""[^"]*+)*+)("?)')
_CLOSE = "close the quote, or double it if it belongs to the text"


def lines_in(pieces: Iterable[bytes]) -> int:
    r"""The number of line ends. A \r\n that is split between two pieces counts twice, which only causes a closer look.

    >>> lines_in([b"a,y\r\n1,u\n", b"2,v\r"])
    3
    """
    return sum(piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n") for piece in pieces)


def refuse_swallowed(name: str, content: bytes, delimiter: str) -> None:
    r"""Refuse a quoted cell that spans lines and closes inside another cell; ``content`` is UTF-8.

    >>> refuse_swallowed("a table", b'a,y\n"one\ntwo",u\n5" pipe,v\n', ",")
    >>> refuse_swallowed("a table", b'a,y\n"one,u\n"two,v\n', ",")
    Traceback (most recent call last):
    ...
    separatrix.base.errors.TableError: a table: the cell that opens with " in line 2 continues on line 3; ...
    """
    place = _sound(delimiter).match(content).end()  # type: ignore[union-attr]
    cell = _OPENED.match(content, place)
    if cell is None or not _LINE.search(cell[1]):
        return
    end = f"continues on line {line_of(content, cell.end() - 1)}" if cell[2] else "is never closed"
    raise TableError(name, f'the cell that opens with " in line {line_of(content, place)} {end}', _CLOSE)


def _sound(delimiter: str) -> re.Pattern[bytes]:
    """A pattern that matches all cells before the first damaged one. It takes about 10 ns per byte."""
    mark = re.escape(delimiter.encode())
    ends = rb"[\r\n" + mark + rb"]"
    within = rb'"[^"\r\n]*+(?:""[^"\r\n]*+)*+"'
    over_lines = rb'"[^"]*+(?:""[^"]*+)*+"(?<!' + mark + rb'")(?=' + ends + rb"|\Z)"
    plain = rb"[^\r\n" + mark + rb"]*+"
    cell = rb"(?:" + within + rb"|" + over_lines + rb'|(?!"))' + plain
    return re.compile(rb"(?:\xef\xbb\xbf)?(?:" + cell + ends + rb")*+")


def refuse_nul(name: str, content: bytes) -> None:
    """Refuse a file with a NUL byte, which would turn a column of numbers into text."""
    came = f"line {line_of(content, content.index(0))} holds a NUL byte, which no text has"
    do = Message("copy or export the file again; for UTF-16 give ", Setting("encoding", "utf-16"))
    raise TableError(name, came, do)


def line_of(content: bytes, place: int) -> int:
    r"""The number of the line that holds a byte, counted from 1.

    >>> line_of(b"a\r\nb\nc", 5)
    3
    """
    return 1 + sum(1 for _ in _LINE.finditer(content, 0, place))
