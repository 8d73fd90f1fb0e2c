"""The request for a summary of a fit to a table outside memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.base.cached import cached_property
from separatrix.base.errors import ParameterError, WeightError
from separatrix.certificates.certificate import Verification
from separatrix.inference.encoding import Encoding
from separatrix.inference.request import (
    Declared,
    RowsRequest,
    SummaryRequest,
    column_names,
    declared_meaning,
    likelihood_claim,
    refuse_few_rows,
)
from separatrix.objectives.problem import Objective
from separatrix.rows import Block
from separatrix.rows.coding import CLASS_NUMBERS
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.model_columns import model_table


class _Weights(NamedTuple):
    """The number of rows with weight, and the first row whose weight is not a whole number, with that weight."""

    counted: int = 0
    broken: int = -1
    fraction: float = 0.0


@dataclass(frozen=True)
class _WeightsOf:
    """Counts the rows with weight, and finds a weight that is not a whole number."""

    def zero(self) -> _Weights:
        return _Weights()

    def add(self, total: _Weights, block: Block) -> _Weights:
        broken = np.flatnonzero(block.weight != np.floor(block.weight))[:1]
        counted = int(np.count_nonzero(block.weight))
        row = int(broken[0]) if len(broken) else -1
        own = _Weights(counted, block.start + row, float(block.weight[row])) if row >= 0 else _Weights(counted)
        return self.merge(total, own)

    def merge(self, a: _Weights, b: _Weights) -> _Weights:
        first = b if a.broken < 0 else a
        return _Weights(a.counted + b.counted, first.broken, first.fraction)


@dataclass(frozen=True, eq=False)
class TableRequest(SummaryRequest):
    """A request for a table with the columns and the class numbers of the model."""

    model: Any
    table: OutsideMemory
    declared: Declared
    names: tuple[str, ...]
    encoding: Encoding

    @property
    def is_weighted(self) -> bool:
        """Whether some weight is not one. No weight is larger than the largest, so their sum shows it."""
        totals = self.table.totals
        return bool(np.any(totals.largest > 1) or np.any(totals.weight != totals.rows))

    @cached_property
    def weights(self) -> _Weights:
        """What the weights are; with weights other than one this takes a pass."""
        if not self.is_weighted:
            return _Weights(self.table.n_rows)
        return self.table.rows(CLASS_NUMBERS).fold(_WeightsOf())

    @property
    def n(self) -> int:
        return int(self.table.totals.weight.sum()) if self.declared.repeats else self.weights.counted

    @property
    def total_weight(self) -> float:
        return float(self.table.totals.weight @ self.claim.class_weights) if self.declared.repeats else float(self.n)

    def objective(self) -> Objective:
        return self.claim.objective_over(self.table)[0]

    def verified(self) -> Verification:
        found: Verification = self.model.certificate_.verify(self.table)
        return found

    def only(self, rows: Integers) -> RowsRequest:
        raise self._refusal()

    def refuse(self, covariance: str, intervals: str) -> None:
        """Raise an error if the request needs the rows in memory."""
        if covariance == "cluster":
            problem = "it needs the rows in memory, beside which groups are given"
            raise ParameterError("covariance", problem, "use 'classical', 'HC0' or 'HC1', or read the rows into memory")
        if intervals == "profile":
            problem = "got 'profile', which needs the rows in memory: it fits the model again for each end"
            raise ParameterError("intervals", problem, "use 'wald', or read the rows into memory")

    def _refusal(self) -> ParameterError:
        problem = (
            f"{self.table.name} is not in memory, and summary needs it there for infinite coefficients and nested "
            "models, since these depend on single rows"
        )
        remedy = "read the rows into memory, or fit with bias_reduction='firth' or a ridge (a finite C)"
        return ParameterError("X", problem, remedy)

    def __getattr__(self, name: str) -> Any:
        """Refuse the arrays of a request for rows in memory."""
        if name in ("X", "y", "codes", "weight", "offset"):
            raise self._refusal()
        raise AttributeError(name)


def table_request(
    model: Any,
    table: OutsideMemory,
    y: Any,
    sample_weight: Any,
    weights: str | None,
    offset: Any,
    names: Sequence[str] | None,
    encoding: Encoding,
) -> TableRequest:
    """The checked request; refuses what is given beside the table."""
    claim = likelihood_claim(model)
    for name, given in (("y", y), ("sample_weight", sample_weight), ("offset", offset)):
        if given is not None:
            raise ParameterError(name, f"got one together with {table.name}", "leave it out")
    known = getattr(model, "feature_names_in_", None)
    columns = None if known is None else [str(name) for name in known]
    seen = model_table(table, claim.scorer.classes, columns, claim.scorer.n_features)
    named = column_names(model, (columns or list(seen.columns)) if names is None else names, seen.n_features)
    encoding.refuse_other_columns(seen.n_features)
    asked = TableRequest(model, seen, declared_meaning(False, weights), named, encoding)
    declared = declared_meaning(asked.is_weighted, weights)
    if declared.repeats and asked.weights.broken >= 0:
        problem = f"row {asked.weights.broken} of {table.name} has the frequency {asked.weights.fraction}"
        raise WeightError("weights", problem, "give whole numbers, or declare weights='probability'")
    refuse_few_rows(asked.weights.counted, seen.n_features + claim.fit_intercept)
    return asked
