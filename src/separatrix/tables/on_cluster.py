"""Tables whose files are read by the workers of a cluster, and kept there.

A worker reads parts of files: runs of row groups of Parquet files, or of whole lines of text files. For a scan this
process reads the labels. For an encoded table the workers also learn the encoder and encode the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np

from separatrix.core.base.arrays import AnyArray, Integers
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.core.base.labels import short_names
from separatrix.core.base.lazy import cached_property
from separatrix.core.cluster.cluster_rows import ClusterTable
from separatrix.core.cluster.connection import computed_in_order, connected
from separatrix.core.cluster.partitions import PartitionSurvey, TableForm, tasks
from separatrix.core.rows.streamed import Piece
from separatrix.core.rows.targets import ClassTotals
from separatrix.tables.batches import FileSet, Stamp
from separatrix.tables.encoded_rows import EncodedRows, LabelledNewRows
from separatrix.tables.file_batches import DelimitedBatches, ParquetBatches, TextLines
from separatrix.tables.formats.batched import BatchedSource, Run, SourcePart, has_parts, source_parts, text_parts
from separatrix.tables.formats.source import Source
from separatrix.tables.scan import Scan
from separatrix.tables.table_parts import BatchTable, Numbering

# --- Scans

# Row groups of one file are read by one task until they have about this many bytes as numbers.
BYTES_PER_TASK = 1 << 26


@dataclass(frozen=True)
class FilePart:
    """Some rows of a file: ``table`` reads them, ``stamp`` says which file it was when the scan was made."""

    table: BatchTable
    path: str
    stamp: Stamp
    n_rows: int

    def piece(self, numbering: Numbering) -> Piece:
        """The rows with class numbers, read from the file by a worker."""
        self._refuse_another_file()
        X = np.empty((self.n_rows, len(self.table.columns)), dtype=self.table.dtype)
        codes, weight, start = np.empty(self.n_rows, dtype=np.int64), np.ones(self.n_rows), 0
        for part in self.table.parts():
            some = slice(start, start + len(part.labels))
            X[some], codes[some] = part.X, numbering.codes(part.labels, self.path)
            if part.weight is not None:
                weight[some] = part.weight
            start = some.stop
        return Piece(X, codes, weight)

    def _refuse_another_file(self) -> None:
        (found,) = self.table.stamps
        if found.size != self.stamp.size or found.changed != self.stamp.changed:
            there = found.changed != 0 or found.size != 0
            problem = "a worker finds another file there" if there else "a worker finds no such file"
            remedy = "give files that all workers read under the same path, and leave them unchanged during a fit"
            raise TableError(self.path, problem, remedy)


@dataclass(frozen=True, eq=False)
class ScanPartitions:
    """The row groups of Parquet files, or the lines of text files, as the partitions of a table.

    ``run`` lets the workers count the rows of the parts of text files.
    """

    scan: Scan
    run: Run
    are_files: ClassVar[bool] = True

    @property
    def form(self) -> TableForm:
        scan = self.scan
        return TableForm(scan.name, scan.columns, dtype=scan.dtype, has_weights=scan.has_weights)

    @cached_property
    def parts(self) -> list[FilePart]:
        table = self.scan.table
        assert isinstance(table, BatchTable)
        if isinstance(table.batches, DelimitedBatches):
            return list(_parts_of_text(table, table.batches, self.run))
        assert isinstance(table.batches, ParquetBatches)
        return list(_parts_of_parquet(table, table.batches))

    def survey(self, run: Callable[[list[Any]], list[Any]]) -> PartitionSurvey:
        """The classes, from the columns of labels and weights, which this process reads."""
        numbering = self.scan.numbering
        return PartitionSurvey(numbering.classes, numbering.totals, [part.n_rows for part in self.parts])

    def pieces(self, classes: AnyArray) -> list[Any]:
        return tasks(FilePart.piece, [(part, self.scan.numbering) for part in self.parts])


def _parts_of_parquet(table: BatchTable, batches: ParquetBatches) -> Iterator[FilePart]:
    """The files in runs of row groups."""
    bytes_per_row = 8 * len(table.columns)
    for files, stamp in _single_files(batches):
        (path,) = files.paths
        first_row = 0
        for groups, n_rows in batches.group_runs(path, max(1, BYTES_PER_TASK // bytes_per_row)):
            some = replace(table, batches=replace(batches, files=files, groups=groups, first_row=first_row))
            yield FilePart(some, path, stamp, n_rows)
            first_row += n_rows


def _parts_of_text(table: BatchTable, batches: DelimitedBatches, run: Run) -> Iterator[FilePart]:
    """The files in runs of whole lines."""
    found = text_parts(batches.headers, run)
    for (files, stamp), parts in zip(_single_files(batches), found, strict=True):
        first_row = 0
        for source, n_rows in parts:
            lines = TextLines(source, first_row, batches.schema)
            some = replace(table, batches=replace(batches, files=files, lines=lines))
            yield FilePart(some, files.paths[0], stamp, n_rows)
            first_row += n_rows


def _single_files(batches: ParquetBatches | DelimitedBatches) -> Iterator[tuple[FileSet, Stamp]]:
    """Each file by itself, under the name that errors about its rows give."""
    files = batches.files
    short = [files.name] if len(files.paths) == 1 else short_names(list(files.paths))
    for name, path, stamp in zip(short, files.paths, batches.stamps, strict=True):
        yield replace(files, name=name, paths=(path,)), stamp


def on_cluster(scan: Scan, cluster: Any) -> ClusterTable:
    """The scan as a table whose rows the workers of a cluster load and keep in memory."""
    batches = scan.table.batches if isinstance(scan.table, BatchTable) else None
    of_lines = isinstance(batches, DelimitedBatches) and batches.files.is_local
    if not (of_lines or isinstance(batches, ParquetBatches)):
        problem = f"{scan.name} is not made of Parquet or CSV files, of which each worker can read a part"
        raise ParameterError("cluster", problem, "write it as Parquet, or leave cluster out")
    client = connected(cluster)
    return ClusterTable(ScanPartitions(scan, partial(computed_in_order, client)), client)


# --- Encoded tables

T = TypeVar("T")
RowsInParts = EncodedRows | LabelledNewRows


@dataclass(frozen=True, eq=False)
class ClusterPasses:
    """The parts of a table, which the workers of ``client`` read. It is a ``Passes``."""

    client: Any
    parts: list[SourcePart]
    in_this_process: ClassVar[bool] = False

    def over(self, batched: BatchedSource, task: Callable[[BatchedSource], T]) -> Iterator[T]:
        """The results of a task for each part, in the order of the rows."""
        return computed_in_order(self.client, partial(_on_part, task), self.parts)


def _on_part(task: Callable[[BatchedSource], T], part: SourcePart) -> T:
    """Run a task on a worker."""
    from separatrix.core.base.machine import one_blas_thread

    with one_blas_thread:
        return task(part.opened())


def cluster_passes(batched: BatchedSource | None, source: Source, cluster: str) -> ClusterPasses:
    """Connect to a cluster whose workers read a table, which consists of Parquet or text files."""
    if batched is None or not has_parts(source):
        problem = f"{source.name} is not made of Parquet or CSV files, of which each worker can read a part"
        raise ParameterError("cluster", problem, "write it as Parquet, or leave the cluster out")
    client = connected(cluster)
    try:
        return ClusterPasses(client, source_parts(batched, partial(computed_in_order, client)))
    except BaseException:
        client.close()
        raise


@dataclass(frozen=True, eq=False)
class EncodedPartitions:
    """The encoded rows as the partitions of a table on a cluster.

    ``counts``: the rows of each class in every part, if they are known; otherwise the workers count them.
    """

    encoded: RowsInParts
    parts: list[SourcePart]
    counts: list[Integers] | None = None
    are_files: ClassVar[bool] = True

    @property
    def form(self) -> TableForm:
        return TableForm(self.encoded.name, self.encoded.columns, is_sparse=self.encoded.is_sparse)

    def survey(self, run: Callable[[list[Any]], list[Any]]) -> PartitionSurvey:
        """The classes, and the rows of each in every part."""
        counts = self.counts or run(tasks(_counted, self._parts()))
        found = np.array(counts)
        rows = found.sum(axis=0)
        totals = ClassTotals(rows, rows.astype(np.float64), np.where(rows > 0, 1.0, 0.0))
        return PartitionSurvey(self.encoded.classes, totals, found.sum(axis=1).tolist())

    def pieces(self, classes: AnyArray) -> list[Any]:
        return tasks(_piece, self._parts())

    def _parts(self) -> list[tuple[RowsInParts, SourcePart]]:
        """What each worker gets: its rows, without the connection to the cluster that the whole table has."""
        return [(self.encoded.part(part.batched), part) for part in self.parts]


def _counted(encoded: RowsInParts, part: SourcePart) -> Integers:
    part.opened()
    return encoded.counted()


def _piece(encoded: RowsInParts, part: SourcePart) -> Piece:
    """The rows of a part with class numbers, read and encoded by a worker."""
    part.opened()
    found = [Piece(X, codes, np.ones(len(codes))) for X, codes in encoded.pieces()]
    if found:
        return Piece.joined(found)
    empty: Any = np.empty((0, len(encoded.columns)))
    if encoded.is_sparse:
        from scipy.sparse import csr_array

        empty = csr_array(empty)
    return Piece(empty, np.empty(0, dtype=np.int64), np.empty(0))


def on_workers(encoded: RowsInParts, passes: ClusterPasses, counts: list[Integers] | None = None) -> ClusterTable:
    """Encoded rows as a table that the workers load and keep in memory. ``counts``: as in ``EncodedPartitions``."""
    return ClusterTable(EncodedPartitions(encoded, passes.parts, counts), passes.client)


def checked_on_workers(encoded: LabelledNewRows, passes: ClusterPasses) -> ClusterTable:
    """New rows with labels as such a table, after a pass that checks all labels and finds what there is to note."""
    counts = []
    for found, seen in passes.over(encoded.source.batched, partial(_checked, encoded)):
        counts.append(found)
        encoded.source.seen.merge(seen)
    return on_workers(encoded, passes, counts)


def _checked(encoded: LabelledNewRows, part: BatchedSource) -> tuple[Integers, Any]:
    some = encoded.part(part)
    return some.counted(), some.source.seen
