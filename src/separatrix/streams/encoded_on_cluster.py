"""Encoded tables of Parquet or text files on a cluster: workers learn the encoder, encode the rows, and keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from separatrix.base.arrays import AnyArray, Integers, Matrix
from separatrix.base.errors import ParameterError
from separatrix.cluster.chunk import joined
from separatrix.cluster.cluster_table import ClusterTable
from separatrix.cluster.connection import computed_in_order, connected
from separatrix.cluster.partitions import Survey, tasks
from separatrix.rows.coding import ClassTotals
from separatrix.rows.streamed import Piece
from separatrix.streams.new_rows import LabelledNewRows
from separatrix.table.formats.batched import BatchedSource
from separatrix.table.formats.source import Source
from separatrix.table.formats.source_parts import SourcePart, has_parts, source_parts

T = TypeVar("T")


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
    from separatrix.base.concurrency import one_blas_thread

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


class RowsInParts(Protocol):
    """Encoded rows of a table, of which a part can be read alone."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def classes(self) -> AnyArray: ...
    def part(self, batched: BatchedSource) -> RowsInParts: ...
    def counted(self) -> Integers: ...
    def pieces(self) -> Iterator[tuple[Matrix, Integers]]: ...


@dataclass(frozen=True, eq=False)
class EncodedPartitions:
    """The encoded rows as the partitions of a table on a cluster.

    ``counts``: the rows of each class in every part, if they are known; otherwise the workers count them.
    """

    encoded: RowsInParts
    parts: list[SourcePart]
    counts: list[Integers] | None = None
    has_names: ClassVar[bool] = True
    are_files: ClassVar[bool] = True
    has_weights: ClassVar[bool] = False
    dtype: ClassVar[Any] = np.float64

    @property
    def name(self) -> str:
        return self.encoded.name

    @property
    def columns(self) -> tuple[str, ...]:
        return self.encoded.columns

    @property
    def is_sparse(self) -> bool:
        return self.encoded.is_sparse

    def survey(self, run: Callable[[list[Any]], list[Any]]) -> Survey:
        """The classes, and the rows of each in every part."""
        counts = self.counts or run(tasks(_counted, self._parts()))
        found = np.array(counts)
        rows = found.sum(axis=0)
        totals = ClassTotals(rows, rows.astype(np.float64), np.where(rows > 0, 1.0, 0.0))
        return Survey(self.encoded.classes, totals, found.sum(axis=1).tolist())

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
        return joined(found)
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
