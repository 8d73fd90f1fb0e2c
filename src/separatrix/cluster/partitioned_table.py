"""Dask collections as a table that classifiers take, wherever its partitions are computed."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from separatrix.base.arrays import AnyArray
from separatrix.base.cached import cached_property
from separatrix.cluster.partitions import Partitions, Survey
from separatrix.rows.coding import ClassTotals
from separatrix.rows.labelled import OutsideMemory


@dataclass(frozen=True, eq=False)
class PartitionedTable(OutsideMemory):
    """A table made of partitions. Subclasses say where tasks are computed, and give the rows."""

    partitions: Partitions

    @abstractmethod
    def computed(self, tasks: list[Any]) -> list[Any]:
        """The results of tasks."""

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
    def has_weights(self) -> bool:
        return self.partitions.has_weights

    @cached_property
    def survey(self) -> Survey:
        """The classes and the lengths of the partitions."""
        return self.partitions.survey(self.computed)

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""
        return self.survey.classes

    @property
    def totals(self) -> ClassTotals:
        """The number of rows and the weight of each class."""
        return self.survey.totals
