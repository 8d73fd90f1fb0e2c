"""What PyArrow reads over without a word in a text file: quotes that swallow lines, and NUL bytes.

A quote is the first letter of a cell or it is text; inside a quoted cell two of them stand for one. So a cell that
opens and lacks its closing quote runs on, line after line, up to the next quote, that of some other cell: which is then
followed by that cell's text, or preceded by a delimiter. A cell that spans lines and closes where a cell ends is as
good as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from separatrix.base.errors import TableError
from separatrix.base.messages import Message, Setting

_LINE = re.compile(rb"\r\n|\r|\n")
_OPENED = re.compile(rb'"([^"]*+(?:""[^"]*+)*+)("?)')
_CLOSE = "close its quote, or double quotes that belong to the text"


def lines_in(pieces: Iterable[bytes]) -> int:
    r"""How many lines end; an end cut in two by the pieces counts twice, which costs a closer look and no more.

    >>> lines_in([b"a,y\r\n1,u\n", b"2,v\r"])
    3
    """
    return sum(piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n") for piece in pieces)


def refuse_swallowed(name: str, content: bytes, delimiter: str) -> None:
    r"""A quoted cell over several lines that ends where no cell ends; ``content`` in UTF-8.

    >>> refuse_swallowed("a table", b'a,y\n"one\ntwo",u\n5" pipe,v\n', ",")
    >>> refuse_swallowed("a table", b'a,y\n"one,u\n"two,v\n', ",")
    Traceback (most recent call last):
    ...
    separatrix.base.errors.TableError: a table: the cell that opens with " in line 2 runs on into line 3; ...
    """
    place = _sound(delimiter).match(content).end()  # type: ignore[union-attr]
    cell = _OPENED.match(content, place)
    if cell is None or not _LINE.search(cell[1]):
        return
    end = f"runs on into line {line_of(content, cell.end() - 1)}" if cell[2] else "never closes"
    raise TableError(name, f'the cell that opens with " in line {line_of(content, place)} {end}', _CLOSE)


def _sound(delimiter: str) -> re.Pattern[bytes]:
    """All cells up to the first that opens and does not close as it should, in one go: some 10 ns a byte."""
    mark = re.escape(delimiter.encode())
    ends = rb"[\r\n" + mark + rb"]"
    within = rb'"[^"\r\n]*+(?:""[^"\r\n]*+)*+"'
    over_lines = rb'"[^"]*+(?:""[^"]*+)*+"(?<!' + mark + rb'")(?=' + ends + rb"|\Z)"
    plain = rb"[^\r\n" + mark + rb"]*+"
    cell = rb"(?:" + within + rb"|" + over_lines + rb'|(?!"))' + plain
    return re.compile(rb"(?:\xef\xbb\xbf)?(?:" + cell + ends + rb")*+")


def refuse_nul(name: str, content: bytes) -> None:
    """A NUL byte would make text of a column of numbers."""
    came = f"line {line_of(content, content.index(0))} holds a NUL byte, which no text has"
    do = Message("copy or export the file again; for UTF-16 give ", Setting("encoding", "utf-16"))
    raise TableError(name, came, do)


def line_of(content: bytes, place: int) -> int:
    r"""The number of the line that a byte is in, from 1.

    >>> line_of(b"a\r\nb\nc", 5)
    3
    """
    return 1 + sum(1 for _ in _LINE.finditer(content, 0, place))
