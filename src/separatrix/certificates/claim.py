"""Claims: what a certificate states about a fit, and how it is recomputed from rows without a solver."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from separatrix.objectives.bound import Bound

if TYPE_CHECKING:
    from separatrix.rows import MemoryRows, Rows
    from separatrix.rows.coding import ClassTotals, Coding
    from separatrix.rows.labelled import OutsideMemory


class Recomputed(NamedTuple):
    """Objective, bound and gradient at the weights of a claim, recomputed from rows without a solver."""

    objective: float
    null_objective: float
    bound: Bound
    gradient_norm: float
    rounding: float = 0.0  # bound on the rounding error of the objective

    def fields(self) -> dict[str, Any]:
        """The values by the names of the certificate's fields."""
        return {
            "objective": self.objective,
            "null_objective": self.null_objective,
            "bound": self.bound.value,
            "bound_kind": self.bound.kind,
            "bound_reason": self.bound.reason,
            "gradient_norm": self.gradient_norm,
            "weight_error": self.bound.weights.value,
            "weight_error_unit": self.bound.weights.unit,
            "weight_error_reason": self.bound.weights.reason,
        }


@runtime_checkable
class Claim(Protocol):
    """Everything except the rows that the objective of a fit depends on: plain settings and the fitted scorer."""

    @property
    def scorer(self) -> Any: ...
    def recompute(self, X: Any, y: Any, sample_weight: Any) -> Recomputed: ...


@runtime_checkable
class TableClaim(Protocol):
    """A claim that can be recomputed over a table outside memory, whose class numbers are those of the claim."""

    @property
    def scorer(self) -> Any: ...
    def of_table(self, table: OutsideMemory) -> Recomputed: ...


class RowsClaim(ABC):
    """A claim that is recomputed by sums over rows, so that the rows need not be in memory."""

    scorer: Any

    @abstractmethod
    def rows_of(self, X: Any, y: Any, sample_weight: Any = None) -> MemoryRows:
        """The rows that ``of_rows`` takes, from arrays: their targets and weights are those that the claim uses."""

    @abstractmethod
    def coding_of(self, totals: ClassTotals) -> Coding:
        """The targets and weights that the claim uses, as functions of class numbers, given the totals of classes."""

    @abstractmethod
    def of_rows(self, rows: Rows) -> Recomputed:
        """The claimed quantities, recomputed over any kind of rows."""

    def of_table(self, table: OutsideMemory) -> Recomputed:
        """The claimed quantities, recomputed over a table outside memory with the class numbers of the claim."""
        return self.of_rows(table.rows(self.coding_of(table.totals)))

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """The claimed quantities, recomputed over rows in memory."""
        return self.of_rows(self.rows_of(X, y, sample_weight))


@dataclass(frozen=True)
class NoClaim:
    """The claim of an ``Uncertified``: a scorer about which nothing is stated."""

    scorer: Any

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """Return NaN and no bound."""
        return Recomputed(math.nan, math.nan, Bound(None, "none", "nothing is claimed"), math.nan)
