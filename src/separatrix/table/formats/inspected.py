"""Text that is inspected for damage while PyArrow parses it piece by piece, since it does not fit into memory."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from separatrix.base.errors import TableError
from separatrix.table.formats.csv_integrity import Lines, lines_in, refuse_nul, refuse_swallowed, refuse_unclosed
from separatrix.table.formats.delimited import BlankLines, DelimitedSource
from separatrix.table.formats.lending import Lent
from separatrix.table.formats.spelling import Spelling
from separatrix.table.formats.unpacking import Content

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
    whole = b"".join(text)
    utf8 = whole if header.encoding == "utf-8" else whole.decode(header.encoding, "replace").encode()
    refuse_swallowed(header.name, utf8, header.delimiter, header.spelling.quote)
