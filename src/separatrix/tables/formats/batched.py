"""Several files as one table, tables that are read in batches, and parts of files for different processes to read.

A table in batches has the same cells as if it were read at once. What a cell holds may not depend on other batches, so
forms of dates must be given by column. A part is a run of row groups of a Parquet file, or of whole lines of a text
file. A part of a text file ends at the end of a line. That is the end of a row if no quoted cell spans lines, which is
checked. A file in which a cell spans lines, and a compressed file, are read as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from separatrix.core.base.errors import TableError
from separatrix.core.base.files import files_fingerprint
from separatrix.core.base.labels import RowNames, short_names
from separatrix.core.base.machine import release_memory
from separatrix.core.base.messages import Message, Setting
from separatrix.core.base.watching import unwatched
from separatrix.tables.cells import listed
from separatrix.tables.formats.csv_files import DelimitedSource, cells_within_lines, lent_text, nulls_of, refuse_damage
from separatrix.tables.formats.parquet import ColumnarSource, group_rows
from separatrix.tables.formats.rewriting import RewrittenSource
from separatrix.tables.formats.source import PIECE_BYTES, UNREADABLE, Content, HeldSpan, Source, with_files

if TYPE_CHECKING:
    from separatrix.tables.streamed_table import TypedCopy

# --- Several files as one table: those of a folder or of a pattern such as data/*.csv, sorted by name


@dataclass(frozen=True)
class FolderSource:
    """Files with the same columns, in the order of the first file."""

    name: str
    files: tuple[Source, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of every file."""
        return self.files[0].names

    @property
    def target(self) -> str | None:
        """The target that the first file declares."""
        return self.files[0].target

    def read(self, names: Sequence[str], literal: Collection[str] = (), pointed: Collection[str] = ()) -> pa.Table:
        """The columns of all files, one below the other."""
        tables = [file.read(names, literal, pointed) for file in self.files]
        for file, table in zip(self.files, tables, strict=True):
            for name in names:
                self.compare(name, tables[0].column(name).type, file, table.column(name).type)
        columns = pa.table([self._joined(name, tables) for name in names], list(names))
        counts = [table.num_rows for table in tables]
        short = short_names([file.name for file in self.files])
        return with_files(columns, tuple(zip(short, counts, strict=True)))

    def _joined(self, name: str, tables: Sequence[pa.Table]) -> Any:
        """One column of all files. Arrow does not mix decimals with whole numbers past 2^53: it would round them."""
        try:
            return pa.concat_tables([t.select([name]) for t in tables], promote_options="permissive").column(name)
        except pa.ArrowInvalid as error:
            problem = f"column {name!r} mixes types that do not go together ({' '.join(str(error).split())[:200]})"
            raise TableError(self.name, problem, "write it with one type in all files") from error

    def compare(self, name: str, first: pa.DataType, file: Source, other: pa.DataType) -> None:
        """Refuse a mix of types. Whole numbers and decimals may mix, text and numbers may not."""
        try:
            pa.unify_schemas([pa.schema([(name, first)]), pa.schema([(name, other)])], promote_options="permissive")
        except pa.ArrowException as error:
            problem = f"column {name!r} holds {other} in {file.name} and {first} in {self.files[0].name}"
            raise TableError(self.name, problem, "write it with one type in all files") from error


def join(name: str, files: Sequence[Source], notes: tuple[str, ...] = ()) -> FolderSource:
    """The files as one source. All must have the same columns."""
    for file in files[1:]:
        refuse_other_names(name, files[0].name, files[0].names, file.name, file.names)
    return FolderSource(name, tuple(files), (*dict.fromkeys(note for file in files for note in file.notes), *notes))


def refuse_other_names(table: str, first: str, wanted: Sequence[str], file: str, found: Sequence[str]) -> None:
    """Raise an error if a file of a table does not have the columns of the first file."""
    known, present = set(wanted), set(found)
    lacks = [column for column in wanted if column not in present]
    more = [column for column in found if column not in known]
    if lacks or more:
        parts = [f"lacks {listed(lacks)}"] * bool(lacks) + [f"has {listed(more)} in addition"] * bool(more)
        problem = f"{file} {' and '.join(parts)}, compared with {first}"
        raise TableError(table, problem, "give files with the same columns, in any order")


# --- Tables in batches

# Rows of a batch, and bytes of text that are parsed at a time. Both take about ten megabytes for 20 columns.
ROWS_PER_BATCH, BYTES_PER_BATCH = 1 << 16, 4 << 20
# The block for a file with a row that is longer than BYTES_PER_BATCH.
BYTES_FOR_LONG_ROWS = 1 << 26

Pieces = Iterator[pa.Table]


class Batch(NamedTuple):
    """Some columns of consecutive rows, the number of the first row, from 0, and the names of the rows.

    ``ends``: the numbers of the rows after which the parts end of which a batch was joined; empty for a single part.
    """

    columns: pa.Table
    start: int
    names: RowNames
    ends: tuple[int, ...] = ()


@dataclass(frozen=True)
class BatchedSource:
    """A source that is read in batches. ``paths``: its files, to tell whether they changed, and their size.

    A part of a table has the name of the ``table``, the number of its first row, ``start``, and all ``files`` of the
    table with their numbers of rows, if there are several. ``most_rows``: how many rows a batch may have, if that is
    limited. ``copy``: a complete copy that is read instead of the files, since that is faster.
    """

    source: Source
    paths: tuple[Path, ...]
    start: int = 0
    files: tuple[tuple[str, int], ...] = ()
    table: str = ""
    most_rows: int | None = None
    copy: TypedCopy | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        return self.table or self.source.name

    @property
    def is_part(self) -> bool:
        """Whether it is a part of another table."""
        return bool(self.table)

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(path.stat().st_size for path in self.paths)

    @property
    def reports_bytes(self) -> bool:
        """Whether reading reports its progress in bytes, as text files do."""
        return self.is_text and self.copy is None

    @property
    def is_text(self) -> bool:
        """Whether its files are text, which takes long to parse."""
        return isinstance(_files(self.source)[0], DelimitedSource)

    @property
    def fingerprint(self) -> str:
        """The files, their sizes and the times when they were last changed, and how text is written in them."""
        return f"{files_fingerprint(self.name, self.paths)}; {_spelled(self.source)}"

    def batches(
        self, names: Sequence[str], literal: Collection[str] = (), pointed: Collection[str] = ()
    ) -> Iterator[Batch]:
        """The columns in the order of ``names``, as ``Source.read`` has them."""
        release_memory()
        if self.copy is not None:
            yield from self.copy.batches(names)
            release_memory()
            return
        start, parts = self.start, _with_files(self.source, names, literal, pointed, self._share)
        while True:
            with RowNames.following(start).in_errors():
                part = next(parts, None)
            if part is None:
                release_memory()
                return
            columns, files = part
            numbers = np.arange(start + 1, start + 1 + columns.num_rows)
            yield Batch(columns, start, RowNames(numbers, self.files or files))
            start += columns.num_rows
            del columns, part

    @property
    def parts_joined(self) -> int:
        """How many batches of text may be joined to one, so that it is not smaller than BYTES_PER_BATCH."""
        return int(1 / self._share)

    @property
    def _share(self) -> float:
        """The size of a batch, as a share of the usual size."""
        return 1.0 if self.most_rows is None else min(self.most_rows / ROWS_PER_BATCH, 1.0)


def batched(source: Source) -> BatchedSource | None:
    """The source, to be read in batches; None if it is in memory already or is not a file of columns."""
    files = _files(source)
    contents = [getattr(file, "content", None) for file in files if type(file) in _READERS]
    paths = tuple(content for content in contents if isinstance(content, Path))
    return BatchedSource(source, paths) if len(paths) == len(files) else None


def refuse_unbatched(source: Source) -> None:
    """Refuse settings with which the cells of a batch depend on other batches."""
    if isinstance(source, RewrittenSource) and "" in source.forms:
        form = source.forms[""]
        problem = f"the form of dates {form!r} is given for all columns, and the table is not read into memory"
        remedy = Message("name the column, as in ", Setting("date_format"), f" day={form}")
        raise TableError(source.name, problem, remedy)


def _spelled(source: Source) -> str:
    """How the text of a source is written; empty for files with types."""
    one = _files(source)[0]
    marks = repr(one.spelling) if isinstance(one, DelimitedSource) else ""
    return f"{marks} {source.na} {source.forms}" if isinstance(source, RewrittenSource) else marks


def _inner(source: Source) -> Source:
    return source.source if isinstance(source, RewrittenSource) else source


def _files(source: Source) -> Sequence[Source]:
    inner = _inner(source)
    return inner.files if isinstance(inner, FolderSource) else (inner,)


def _with_files(
    source: Source, names: Sequence[str], literal: Collection[str], pointed: Collection[str], share: float
) -> Iterator[tuple[pa.Table, tuple[tuple[str, int], ...]]]:
    """The batches of a source, each with the files of a folder so far and the numbers of their rows."""
    if isinstance(source, RewrittenSource):
        for columns, files in _with_files(source.source, names, literal, {*pointed, *source.forms}, share):
            yield source.rewritten(columns), files
        return
    if not isinstance(source, FolderSource):
        for columns in _READERS[type(source)](source, names, literal, pointed, share):
            yield columns, ()
        return
    short, before = short_names([file.name for file in source.files]), list[tuple[str, int]]()
    types: dict[str, pa.DataType] = {}
    for name, file in zip(short, source.files, strict=True):
        n = 0
        for columns, _ in _with_files(file, names, literal, pointed, share):
            for column in columns.schema:
                source.compare(column.name, types.setdefault(column.name, column.type), file, column.type)
            n += columns.num_rows
            yield columns, (*before, (name, n))
        before.append((name, n))


def _delimited(
    source: Any, names: Sequence[str], literal: Collection[str], pointed: Collection[str], share: float
) -> Pieces:
    """The batches of a text file. If a row is longer than a batch, the rest is read again in larger blocks."""
    n_read = 0
    with source.opened() as content:
        for block in (max(int(share * BYTES_PER_BATCH), 1), BYTES_FOR_LONG_ROWS):
            skip = n_read
            try:
                with lent_text(content, source.spelling) as stream:
                    for columns in _parsed(source, stream, list(names), literal, block):
                        if skip >= columns.num_rows:
                            skip -= columns.num_rows
                            continue
                        rest, skip = columns.slice(skip), 0
                        n_read += rest.num_rows
                        yield source.spelled(rest, literal, pointed)
                refuse_damage(content, stream, source, n_read)
                return
            except UNREADABLE as error:
                if block == BYTES_FOR_LONG_ROWS:
                    raise source.explained(error) from error


def _parsed(source: DelimitedSource, stream: Any, names: list[str], literal: Collection[str], block: int) -> Pieces:
    read, parse, convert = source.options(names, nulls_of(literal), False, block, stream.blank_lines)
    reader = arrow_csv.open_csv(stream, read_options=read, parse_options=parse, convert_options=convert)
    try:
        for batch in reader:
            yield pa.Table.from_batches([batch]).select(names)
    finally:
        reader.close()
        del reader


def _columnar(
    source: Any, names: Sequence[str], literal: Collection[str], pointed: Collection[str], share: float
) -> Pieces:
    return source.batches(names, max(int(share * ROWS_PER_BATCH), 1))  # type: ignore[no-any-return]


_READERS: dict[type, Callable[[Any, Sequence[str], Collection[str], Collection[str], float], Pieces]] = {
    DelimitedSource: _delimited,
    ColumnarSource: _columnar,
}


# --- Parts of text files

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


# --- Parts of sources

# Row groups are joined until the cells of a part take this many bytes as numbers.
BYTES_PER_PART = 1 << 26


@dataclass(frozen=True)
class SourcePart:
    """Row groups or lines of a file, with ``n_rows`` rows. ``fingerprint``: that of the file when it was opened."""

    batched: BatchedSource
    n_rows: int
    fingerprint: str

    def opened(self) -> BatchedSource:
        """The rows, for the process that reads them. A file that is missing there, or another one, is refused."""
        (path,) = self.batched.paths
        problem = ""
        try:
            if files_fingerprint("", [path]) != self.fingerprint:
                problem = "a worker finds another file there"
        except OSError:
            problem = "a worker finds no such file"
        if problem:
            remedy = "give files that all workers read under the same path, and leave them unchanged during a fit"
            raise TableError(str(path), problem, remedy)
        return self.batched


def has_parts(source: Source) -> bool:
    """Whether it consists of Parquet files or of text files, parts of which can be read alone."""
    files = _files(source)
    return all(isinstance(file, ColumnarSource) and file.has_groups for file in files) or all(
        isinstance(file, DelimitedSource) for file in files
    )


def source_parts(batched: BatchedSource, run: Run) -> list[SourcePart]:
    """The parts of a source that has some, in the order of the rows. ``run`` lets workers count the rows of text."""
    files = _files(batched.source)
    prints = [files_fingerprint("", [path]) for path in batched.paths]
    texts = [file for file in files if isinstance(file, DelimitedSource)]
    parts: Sequence[Sequence[tuple[Source, int]]]
    if texts:
        parts = text_parts(texts, run)
    else:
        _compare_types(batched.source, batched.names)
        most_rows = max(1, BYTES_PER_PART // (8 * len(batched.names)))
        parts = [list(_group_parts(file, most_rows)) for file in files if isinstance(file, ColumnarSource)]
    counts = [sum(n_rows for _, n_rows in some) for some in parts]
    folder = isinstance(_inner(batched.source), FolderSource)
    named = tuple(zip(short_names([file.name for file in files]), counts, strict=True)) if folder else ()
    found, start = list[SourcePart](), 0
    for path, fingerprint, some in zip(batched.paths, prints, parts, strict=True):
        for file, n_rows in some:
            source = replace(batched.source, source=file) if isinstance(batched.source, RewrittenSource) else file
            part = BatchedSource(source, (path.absolute(),), start, named, batched.name)
            found.append(SourcePart(part, n_rows, fingerprint))
            start += n_rows
    return found


def _group_parts(file: ColumnarSource, most_rows: int) -> Iterator[tuple[ColumnarSource, int]]:
    """A Parquet file in runs of row groups, read from a path that does not depend on the process."""
    assert isinstance(file.content, Path)
    for groups, n_rows in group_runs(group_rows(file), most_rows):
        yield replace(file, content=file.content.absolute(), groups=groups), n_rows


def group_runs(counts: Sequence[int], most_rows: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Runs of row groups with at most ``most_rows`` rows or a single group each, and their numbers of rows.

    >>> list(group_runs([3, 3, 9, 1], 6))
    [((0, 1), 6), ((2,), 9), ((3,), 1)]
    """
    run: tuple[int, ...] = ()
    n_rows = 0
    for k, count in enumerate(counts):
        if run and n_rows + count > most_rows:
            yield run, n_rows
            run, n_rows = (), 0
        run, n_rows = (*run, k), n_rows + count
    if run:
        yield run, n_rows


def _compare_types(source: Source, names: Sequence[str]) -> None:
    """Refuse files whose columns have types that do not go together, as reading them one after the other does."""
    inner = _inner(source)
    if not isinstance(inner, FolderSource):
        return
    first, *others = ((file, file.types()) for file in inner.files if isinstance(file, ColumnarSource))
    for file, types in others:
        for name in names:
            inner.compare(name, first[1][name], file, types[name])
