"""Parquet files in parts of some row groups, and text files in parts of some lines, for different processes to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from separatrix.base.errors import TableError
from separatrix.base.file_fingerprints import files_fingerprint
from separatrix.base.row_names import short_names
from separatrix.table.formats.batched import BatchedSource
from separatrix.table.formats.columnar import ColumnarSource, group_rows
from separatrix.table.formats.delimited import DelimitedSource
from separatrix.table.formats.folder import FolderSource
from separatrix.table.formats.rewriting import RewrittenSource
from separatrix.table.formats.source import Source
from separatrix.table.formats.text_parts import Run, text_parts

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


def _inner(source: Source) -> Source:
    return source.source if isinstance(source, RewrittenSource) else source


def _files(source: Source) -> Sequence[Source]:
    inner = _inner(source)
    return inner.files if isinstance(inner, FolderSource) else (inner,)


def _compare_types(source: Source, names: Sequence[str]) -> None:
    """Refuse files whose columns have types that do not go together, as reading them one after the other does."""
    inner = _inner(source)
    if not isinstance(inner, FolderSource):
        return
    first, *others = ((file, file.types()) for file in inner.files if isinstance(file, ColumnarSource))
    for file, types in others:
        for name in names:
            inner.compare(name, first[1][name], file, types[name])
