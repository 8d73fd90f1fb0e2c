"""A scan whose files are read by the workers of a cluster, each a run of row groups or of lines, and kept there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.base.cached import cached_property
from separatrix.base.errors import ParameterError, TableError
from separatrix.base.row_names import short_names
from separatrix.cluster.cluster_table import ClusterTable
from separatrix.cluster.connection import computed_in_order, connected
from separatrix.cluster.partitions import Survey, tasks
from separatrix.rows.streamed import Piece
from separatrix.streams.batches import Stamp
from separatrix.streams.columnar import ParquetBatches
from separatrix.streams.delimited import DelimitedBatches, TextLines
from separatrix.streams.files import FileSet
from separatrix.streams.labelling import Numbering
from separatrix.streams.scan import Scan
from separatrix.streams.table_parts import BatchTable
from separatrix.table.formats.text_parts import Run, text_parts

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
    has_names: ClassVar[bool] = True
    is_sparse: ClassVar[bool] = False
    are_files: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.scan.name

    @property
    def has_weights(self) -> bool:
        return self.scan.has_weights

    @property
    def columns(self) -> tuple[str, ...]:
        return self.scan.columns

    @property
    def dtype(self) -> Any:
        return self.scan.dtype

    @cached_property
    def parts(self) -> list[FilePart]:
        table = self.scan.table
        assert isinstance(table, BatchTable)
        if isinstance(table.batches, DelimitedBatches):
            return list(_parts_of_text(table, table.batches, self.run))
        assert isinstance(table.batches, ParquetBatches)
        return list(_parts_of_parquet(table, table.batches))

    def survey(self, run: Callable[[list[Any]], list[Any]]) -> Survey:
        """The classes, from the columns of labels and weights, which this process reads."""
        numbering = self.scan.numbering
        return Survey(numbering.classes, numbering.totals, [part.n_rows for part in self.parts])

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


def _can_be_divided(table: Any) -> bool:
    """Whether a worker can read a part of the table: row groups of Parquet files, or lines of text on a disk."""
    batches = table.batches if isinstance(table, BatchTable) else None
    return isinstance(batches, ParquetBatches) or (isinstance(batches, DelimitedBatches) and batches.files.is_local)


def on_cluster(scan: Scan, cluster: Any) -> ClusterTable:
    """The scan as a table whose rows the workers of a cluster load and keep in memory."""
    if not _can_be_divided(scan.table):
        problem = f"{scan.name} is not made of Parquet or CSV files, of which each worker can read a part"
        raise ParameterError("cluster", problem, "write it as Parquet, or leave cluster out")
    client = connected(cluster)
    return ClusterTable(ScanPartitions(scan, partial(computed_in_order, client)), client)
