"""A table whose rows are in the memory of the workers of a Dask cluster."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from separatrix.base.arrays import AnyArray
from separatrix.base.cached import cached_property
from separatrix.cluster.cluster_rows import ClusterRows
from separatrix.cluster.connection import results, workers
from separatrix.cluster.held import HeldRows, held
from separatrix.cluster.partitions import Partitions, Survey
from separatrix.rows.coding import ClassTotals, Coding
from separatrix.rows.frame import Frame
from separatrix.rows.labelled import OutsideMemory


@dataclass(frozen=True, eq=False)
class ClusterTable(OutsideMemory):
    """Partitions that the workers of ``client`` load once and keep in memory, consecutive rows on each worker.

    Every chunk is a task of Dask, which depends on the partitions it is made of. So Dask makes the rows of a lost
    worker again, on whatever worker there is. Nothing is scattered from this process.
    """

    partitions: Partitions
    client: Any = field(repr=False)

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
    def dtype(self) -> Any:
        """float32 if all columns are, else float64."""
        return self.partitions.dtype

    @property
    def fingerprint(self) -> str:
        """A text that changes if the contents of the table do."""
        return self.partitions.fingerprint

    @cached_property
    def survey(self) -> Survey:
        """The classes and the lengths of the partitions."""
        workers(self.client)
        return self.partitions.survey(lambda tasks: results(self.client, self.client.compute(tasks)))

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""
        return self.survey.classes

    @property
    def totals(self) -> ClassTotals:
        """The number of rows and the weight of each class."""
        return self.survey.totals

    def rows(self, coding: Coding) -> ClusterRows:
        """The rows with the targets and weights of a coding."""
        frame = Frame.identity(self.n_features)
        return ClusterRows(self.held, coding, uuid.uuid4().hex, frame, weight_unit=coding.unit)

    @cached_property
    def held(self) -> HeldRows:
        """The rows on the workers. The first access loads them."""
        return held(self)
