"""The claim of a fit by Firth's penalised likelihood: that the gradient of the penalised likelihood is zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separatrix.base.arrays import Array
from separatrix.certificates.certificate import as_matrix
from separatrix.certificates.claim import Recomputed
from separatrix.certificates.likelihood_claim import LikelihoodOfRows
from separatrix.scorers.scorer import Scorer

if TYPE_CHECKING:  # ``recompute`` imports these itself, since reading a model file does not need them
    from separatrix.firth import Penalised
    from separatrix.objectives.problem import Objective
    from separatrix.rows import Rows
    from separatrix.rows.labelled import OutsideMemory


@dataclass(frozen=True)
class FirthClaim(LikelihoodOfRows):
    """Everything except the rows that the penalised likelihood depends on. The only penalty is Firth's.

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> claim = LogisticRegression(bias_reduction="firth").fit(X, y).certificate_.claim
    >>> claim.recompute(X, y).gradient_norm < 1e-8
    True
    """

    scorer: Scorer
    fit_intercept: bool
    class_weights: Array
    C: ClassVar[float] = np.inf
    l1_ratio: ClassVar[float] = 0.0
    loss: ClassVar[str] = "logistic"
    takes_offset: ClassVar[bool] = True

    @property
    def penalty_factors(self) -> Array:
        return np.ones(self.scorer.n_features)

    def recompute(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Recomputed:
        """The objective and the penalised score at the claimed weights, over rows in memory."""
        return self.of_rows(self.rows_of(as_matrix(X), y, sample_weight, offset))

    def of_rows(self, rows: Rows) -> Recomputed:
        """The objective and the penalised score at the claimed weights, over any kind of rows."""
        from separatrix.firth import Ascent, null_value, unbounded

        problem = self._penalised_over(rows)
        point = Ascent().at(problem, problem.framed(self.scorer.W))
        if point is None:
            return Recomputed(np.inf, null_value(problem), unbounded(np.inf), np.inf)
        length = float(np.linalg.norm(point.gradient))
        return Recomputed(point.level.value, null_value(problem), unbounded(point.length), length)

    def objective(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Objective:
        """The likelihood of these rows without its penalty."""
        return self.penalised(X, y, sample_weight, offset).objective

    def objective_over(self, table: OutsideMemory) -> tuple[Objective, Array]:
        """The likelihood of a table outside memory without its penalty, and the claimed weights."""
        return self._penalised_over(table.rows(self.coding_of(table.totals))).objective, self.scorer.W

    def penalised(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Penalised:
        """The penalised likelihood of these rows."""
        return self._penalised_over(self.rows_of(as_matrix(X), y, sample_weight, offset))

    def _penalised_over(self, rows: Rows) -> Penalised:
        from separatrix.firth import pose

        n_offsets = self.n_offsets(rows)
        return pose(rows, len(self.scorer.classes), self.fit_intercept, n_offsets=n_offsets)
