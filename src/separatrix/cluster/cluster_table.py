"""A table whose rows are in the memory of the workers of a Dask cluster."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from separatrix.base.cached import cached_property
from separatrix.cluster.cluster_rows import ClusterRows
from separatrix.cluster.connection import results, workers
from separatrix.cluster.held import HeldRows, held
from separatrix.cluster.partitioned_table import PartitionedTable
from separatrix.rows.coding import Coding
from separatrix.rows.frame import Frame


@dataclass(frozen=True, eq=False)
class ClusterTable(PartitionedTable):
    """Partitions that the workers of ``client`` load once and keep in memory, consecutive rows on each worker.

    Every chunk is a Dask task that depends on the partitions it is made of. So Dask can load the rows of a lost worker
    again on any other worker. This process sends no rows to the workers.
    """

    client: Any = field(repr=False)

    def computed(self, tasks: list[Any]) -> list[Any]:
        workers(self.client)
        return results(self.client, self.client.compute(tasks))

    def rows(self, coding: Coding) -> ClusterRows:
        """The rows with the targets and weights of a coding."""
        frame = Frame.identity(self.n_features)
        return ClusterRows(self.held, coding, uuid.uuid4().hex, frame, weight_unit=coding.unit)

    @cached_property
    def held(self) -> HeldRows:
        """The rows on the workers. The first access loads them."""
        return held(self)
