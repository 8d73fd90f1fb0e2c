"""Text files in parts of some lines, which different processes can read.

A part ends at the end of a line. That is the end of a row if no quoted cell spans lines, which is checked. A file in
which a cell spans lines, and a compressed file, are read as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from separatrix.base.errors import TableError
from separatrix.base.watching import unwatched
from separatrix.table.formats.batched import BatchedSource
from separatrix.table.formats.counted import HeldSpan
from separatrix.table.formats.csv_integrity import cells_within_lines
from separatrix.table.formats.delimited import DelimitedSource
from separatrix.table.formats.unpacking import PIECE_BYTES, Content

# A part of a text file has about this many bytes.
BYTES_PER_TEXT_PART = 1 << 26
# The beginnings of the names of encodings in which line ends and quotes are bytes that stand for nothing else.
_BYTEWISE = ("utf-8", "ascii", "iso8859", "cp125")

# Runs a function for each of some arguments, as the workers of a cluster do, and gives the results in order.
Run = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]


def text_parts(files: Sequence[DelimitedSource], run: Run) -> list[list[tuple[DelimitedSource, int]]]:
    """The parts of each file with their numbers of rows, which ``run`` has counted."""
    cut = [list(_cut(file)) for file in files]
    counts = run(_counted, [part for parts in cut for part in parts])
    found = [[(part, next(counts)) for part in parts] for parts in cut]
    uncut = [k for k, parts in enumerate(found) if any(n_rows is None for _, n_rows in parts)]
    again = run(_counted, [replace(files[k], content=_path(files[k])) for k in uncut])
    for k in uncut:
        found[k] = [(files[k], next(again))]
    return found


def _cut(file: DelimitedSource) -> Iterator[DelimitedSource]:
    """The file in parts of whole lines; the file itself if it is small, compressed or in an encoding of wider units.

    In a file of one column an empty line is a row, so it is not cut either.
    """
    path = _path(file)
    whole = replace(file, content=path)
    with Content(file.name, path) as content:
        bytewise = file.encoding.startswith(_BYTEWISE) and content.compression is None
    ends = list(_line_ends(path)) if bytewise and len(file.names) > 1 else []
    if not ends:
        yield whole
        return
    bounds = [0, *ends, path.stat().st_size]
    later = replace(whole, spelling=replace(file.spelling, header=False), n_blank=0)
    for k, span in enumerate(pairwise(bounds)):
        yield replace(later if k else whole, span=span)


def _path(file: DelimitedSource) -> Path:
    """The path of the file, which does not depend on the process."""
    assert isinstance(file.content, Path)
    return file.content.absolute()


def _line_ends(path: Path) -> Iterator[int]:
    """Places behind line ends, about BYTES_PER_TEXT_PART apart; none at the end of the file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        place = 0
        while (place := place + BYTES_PER_TEXT_PART) < size:
            file.seek(place)
            rest = file.readline(BYTES_PER_TEXT_PART)
            place += len(rest)
            if place >= size or not rest.endswith(b"\n"):
                return
            yield place


def _counted(part: DelimitedSource) -> int | None:
    """The number of rows of a part; None if a cell spans lines, or if the rows before the part are needed for an error.

    An error about a whole file is raised.
    """
    if part.span is not None and not _has_cells_within_lines(part):
        return None
    assert isinstance(part.content, Path)
    try:
        with unwatched():
            batches = BatchedSource(part, (part.content,)).batches(part.names[:1])
            return sum(batch.columns.num_rows for batch in batches)
    except TableError:
        if part.span is None:
            raise
        return None


def _has_cells_within_lines(part: DelimitedSource) -> bool:
    """Whether all quoted cells of a part close in the line in which they open, given that a row begins with it."""
    quote = part.spelling.quote_mark
    if quote is None:
        return True
    assert isinstance(part.content, Path)
    assert part.span is not None
    pattern, mark, rest = cells_within_lines(part.delimiter, quote), quote.encode(), b""
    file = HeldSpan(part.content, *part.span)
    try:
        while piece := file.read(PIECE_BYTES):
            lines, end, after = (rest + piece).rpartition(b"\n")
            rest = after
            if mark in lines and not pattern.fullmatch(lines + end):
                return False
    finally:
        file.release()
    return mark not in rest or pattern.fullmatch(rest + b"\n") is not None
