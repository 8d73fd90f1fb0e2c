"""Dask collections without a cluster: partitions are computed again in every pass, a few at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.base.arrays import AnyArray
from separatrix.base.concurrency import thread_count
from separatrix.cluster.partitioned_table import PartitionedTable
from separatrix.cluster.partitions import Partitions
from separatrix.rows.coding import Coding
from separatrix.rows.frame import Frame
from separatrix.rows.streamed import Learnt, Piece, StreamedRows


@dataclass(frozen=True, eq=False)
class PartitionStream(PartitionedTable):
    """Partitions that Dask's scheduler computes in this process. Only a few of them are in memory at a time."""

    def computed(self, tasks: list[Any]) -> list[Any]:
        import dask

        return list(dask.compute(*tasks))

    def rows(self, coding: Coding) -> StreamedRows:
        """The rows with the targets and weights of a coding."""
        source = PartitionSource(self.partitions, self.classes, coding)
        frame = Frame.identity(self.n_features)
        return StreamedRows(source, frame, weight_unit=coding.unit, learnt=Learnt(self.n_rows))


@dataclass(frozen=True)
class PartitionSource:
    """The pieces of partitions. As many partitions are computed at a time as there are threads."""

    partitions: Partitions
    classes: AnyArray
    coding: Coding
    reads_ahead: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return self.partitions.name

    @property
    def n_features(self) -> int:
        return len(self.partitions.columns)

    @property
    def is_sparse(self) -> bool:
        return self.partitions.is_sparse

    def pieces(self) -> Iterator[Piece]:
        import dask

        tasks, at_once = self.partitions.pieces(self.classes), thread_count()
        for k in range(0, len(tasks), at_once):
            for X, codes, weight in dask.compute(*tasks[k : k + at_once]):
                yield Piece(X, *self.coding.of(codes, weight))
