"""A scan whose Parquet files are read by the workers of a cluster, each a run of row groups, and kept there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.base.cached import cached_property
from separatrix.base.errors import ParameterError, TableError
from separatrix.cluster.cluster_table import ClusterTable
from separatrix.cluster.connection import connected
from separatrix.cluster.partitions import Survey, tasks
from separatrix.rows.streamed import Piece
from separatrix.streams.batches import Stamp
from separatrix.streams.columnar import ParquetBatches
from separatrix.streams.labelling import Numbering
from separatrix.streams.scan import Scan
from separatrix.streams.table_parts import BatchTable

# Row groups of one file are read by one task until they have about this many bytes as numbers.
BYTES_PER_TASK = 1 << 26


@dataclass(frozen=True)
class FilePart:
    """Some row groups of a file: ``table`` reads them, ``stamp`` says which file it was when the scan was made."""

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
    """The row groups of Parquet files as the partitions of a table."""

    scan: Scan
    has_names: ClassVar[bool] = True
    is_sparse: ClassVar[bool] = False
    are_files: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.scan.name

    @property
    def fingerprint(self) -> str:
        return self.scan.fingerprint

    @property
    def columns(self) -> tuple[str, ...]:
        return self.scan.columns

    @property
    def dtype(self) -> Any:
        return self.scan.dtype

    @cached_property
    def parts(self) -> list[FilePart]:
        return list(_parts(self.scan))

    def survey(self, run: Callable[[list[Any]], list[Any]]) -> Survey:
        """The classes, from the columns of labels and weights, which this process reads."""
        numbering = self.scan.numbering
        return Survey(numbering.classes, numbering.totals, [part.n_rows for part in self.parts])

    def pieces(self, classes: AnyArray) -> list[Any]:
        return tasks(FilePart.piece, [(part, self.scan.numbering) for part in self.parts])


def _parts(scan: Scan) -> Iterator[FilePart]:
    """The files in runs of row groups."""
    table = scan.table
    assert isinstance(table, BatchTable)
    batches = table.batches
    assert isinstance(batches, ParquetBatches)
    bytes_per_row = 8 * len(table.columns)
    for path, stamp in zip(batches.files.paths, batches.stamps, strict=True):
        first_row = 0
        for groups, n_rows in batches.group_runs(path, max(1, BYTES_PER_TASK // bytes_per_row)):
            files = replace(batches.files, paths=(path,))
            some = replace(table, batches=replace(batches, files=files, groups=groups, first_row=first_row))
            yield FilePart(some, path, stamp, n_rows)
            first_row += n_rows


def on_cluster(scan: Scan, cluster: Any) -> ClusterTable:
    """The scan as a table whose rows the workers of a cluster load and keep in memory."""
    if not (isinstance(scan.table, BatchTable) and isinstance(scan.table.batches, ParquetBatches)):
        problem = f"{scan.name} is not made of Parquet files, of which each worker can read a part"
        raise ParameterError("cluster", problem, "write it as Parquet, or leave cluster out")
    return ClusterTable(ScanPartitions(scan), connected(cluster))
