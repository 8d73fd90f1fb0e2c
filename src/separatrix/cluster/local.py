"""Dask collections without a cluster: partitions are computed again in every pass, a few at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from separatrix.base.arrays import AnyArray
from separatrix.base.cached import cached_property
from separatrix.base.concurrency import thread_count
from separatrix.cluster.partitions import Partitions, Survey
from separatrix.rows.coding import ClassTotals, Coding
from separatrix.rows.frame import Frame
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.streamed import Learnt, Piece, StreamedRows


@dataclass(frozen=True, eq=False)
class PartitionStream(OutsideMemory):
    """Partitions that Dask's scheduler computes in this process. Only a few of them are in memory at a time."""

    partitions: Partitions

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.partitions.columns

    @property
    def has_names(self) -> bool:  # type: ignore[override]
        """Whether the columns have names that the user gave."""
        return self.partitions.has_names

    @property
    def name(self) -> str:
        return self.partitions.name

    @property
    def dtype(self) -> object:
        """float32 if all columns are, else float64."""
        return self.partitions.dtype

    @property
    def fingerprint(self) -> str:
        """A text that changes if the contents of the table do."""
        return self.partitions.fingerprint

    @cached_property
    def survey(self) -> Survey:
        """The classes and the lengths of the partitions."""
        import dask

        return self.partitions.survey(lambda tasks: list(dask.compute(*tasks)))

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""
        return self.survey.classes

    @property
    def totals(self) -> ClassTotals:
        """The number of rows and the weight of each class."""
        return self.survey.totals

    def rows(self, coding: Coding) -> StreamedRows:
        """The rows with the targets and weights of a coding."""
        source = PartitionSource(self.partitions, self.classes, coding)
        frame = Frame.identity(self.n_features)
        return StreamedRows(source, frame, weight_unit=coding.unit, learnt=Learnt(self.n_rows))


@dataclass(frozen=True)
class PartitionSource:
    """The pieces of partitions, as many at a time as there are threads."""

    partitions: Partitions
    classes: AnyArray
    coding: Coding

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
