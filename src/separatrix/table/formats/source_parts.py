"""Parquet files in parts of some row groups, which different processes can read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from separatrix.base.errors import TableError
from separatrix.base.file_fingerprints import files_fingerprint
from separatrix.base.row_names import short_names
from separatrix.table.formats.batched import BatchedSource
from separatrix.table.formats.columnar import ColumnarSource, group_rows
from separatrix.table.formats.folder import FolderSource
from separatrix.table.formats.rewriting import RewrittenSource
from separatrix.table.formats.source import Source

# Row groups are joined until the cells of a part take this many bytes as numbers.
BYTES_PER_PART = 1 << 26


@dataclass(frozen=True)
class SourcePart:
    """Some row groups of one file, with ``n_rows`` rows. ``fingerprint``: that of the file when it was opened."""

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


def source_parts(batched: BatchedSource) -> list[SourcePart] | None:
    """The parts of Parquet files, in the order of the rows; None for other files, of which no part can be read."""
    files = _files(batched.source)
    if not all(isinstance(file, ColumnarSource) and file.has_groups for file in files):
        return None
    counts = [group_rows(file) for file in files if isinstance(file, ColumnarSource)]
    folder = isinstance(_inner(batched.source), FolderSource)
    named = tuple(zip(short_names([file.name for file in files]), map(sum, counts), strict=True)) if folder else ()
    _compare_types(batched.source, batched.names)
    found, start = list[SourcePart](), 0
    most_rows = max(1, BYTES_PER_PART // (8 * len(batched.names)))
    for file, path, groups in zip(files, batched.paths, counts, strict=True):
        fingerprint = files_fingerprint("", [path])
        for run, n_rows in group_runs(groups, most_rows):
            source = _with_groups(batched.source, file, run)
            part = BatchedSource(source, (path.absolute(),), start, named, batched.name)
            found.append(SourcePart(part, n_rows, fingerprint))
            start += n_rows
    return found


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


def _with_groups(source: Source, file: Source, groups: tuple[int, ...]) -> Source:
    """A file of the source with only these row groups, read from a path that does not depend on the process."""
    assert isinstance(file, ColumnarSource)
    assert isinstance(file.content, Path)
    some = replace(file, content=file.content.absolute(), groups=groups)
    return replace(source, source=some) if isinstance(source, RewrittenSource) else some


def _compare_types(source: Source, names: Sequence[str]) -> None:
    """Refuse files whose columns have types that do not go together, as reading them one after the other does."""
    inner = _inner(source)
    if not isinstance(inner, FolderSource):
        return
    first, *others = ((file, file.types()) for file in inner.files if isinstance(file, ColumnarSource))
    for file, types in others:
        for name in names:
            inner.compare(name, first[1][name], file, types[name])
