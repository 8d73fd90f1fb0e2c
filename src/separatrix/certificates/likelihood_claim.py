"""The claim of a fit by (penalised) likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.labels import known_codes
from separatrix.base.zero_weight_classes import classes_with_weight, codes_within, weights_among
from separatrix.certificates.certificate import Recomputed
from separatrix.objectives.bound import Bound
from separatrix.scorers.scorer import Scorer

if TYPE_CHECKING:  # what recomputes it is imported where it is: reading a model needs none of it
    from separatrix.objectives.problem import Objective
    from separatrix.rows import Rows


@dataclass(frozen=True)
class LikelihoodClaim:
    """Everything that the objective of a fitted logistic regression depends on, but the rows."""

    scorer: Scorer
    C: float
    penalty_factors: Array
    fit_intercept: bool
    class_weights: Array
    loss: str = "logistic"
    l1_ratio: float = 0.0
    takes_offset: ClassVar[bool] = True

    def recompute(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Recomputed:
        """Objective, gradient and bound at the claimed weights, over these rows.

        A bound by second derivatives speaks of all directions only if those that it leaves out are null. That is
        proven here in whole numbers on every row, and not by the residues that a fit goes by.
        """
        return self._at(*self._posed(X, y, sample_weight, offset))

    def of_rows(self, rows: Rows) -> Recomputed:
        """The same over rows of ``labelled_rows`` in any home; their weights include those of the classes."""
        return self._at(self._built(rows, len(self.scorer.classes)), self.scorer.W)

    def _at(self, problem: Objective, weights: Array) -> Recomputed:
        from separatrix.objectives.bounds import bound
        from separatrix.objectives.rounding import Rounding
        from separatrix.proofs.null_space import leaves_out_null_directions_only

        raw = np.hstack([weights, np.eye(len(weights), problem.n_offsets)])
        W = problem.rows.frame.from_original(raw)
        at = problem.value_gradient(W)
        found = bound(problem, W, at, thorough=True)
        second = found.kind == "self-concordance" and found.value is not None
        if second and not leaves_out_null_directions_only(problem):
            found = Bound(None, found.kind, "a direction that the columns leave out is not null on all rows")
        length = float(np.linalg.norm(problem.subgradient(W, at.gradient)))
        return Recomputed(at.value, problem.null_value, found, length, Rounding.of(problem, W, at).value)

    def objective(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Objective:
        """The objective over these rows."""
        return self._posed(X, y, sample_weight, offset)[0]

    def _posed(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> tuple[Objective, Array]:
        """The objective over these rows, and the weights in it: those of the classes that have weight."""
        from separatrix.objectives.build import as_offset
        from separatrix.rows import labelled_rows

        codes = known_codes(y, self.scorer.classes)
        weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        weight, K, W = weight * self.class_weights[codes], len(self.scorer.classes), self.scorer.W
        held = classes_with_weight(codes, weight, K)
        among = weights_among(W, held) if 2 <= held.sum() < K else None
        if among is not None:  # rows of a class without weight drop out, and so does the class
            codes, K, W = codes_within(codes, held), int(held.sum()), among
        beside = as_offset(offset, len(codes), len(W))
        rows = labelled_rows(X, codes, K, weight, beside)
        return self._built(rows, K, 0 if beside is None else beside.shape[1]), W

    def _built(self, rows: Rows, n_classes: int, n_offsets: int = 0) -> Objective:
        from separatrix.objectives.build import build_objective
        from separatrix.objectives.penalty import Penalty

        # A constant column whose weights are zero is hidden, as it is in a fit; others count with what they are given.
        unused = ~np.any(self.scorer.W[:, 1:], axis=0)
        return build_objective(
            rows,
            n_classes,
            Penalty(0.0 if np.isinf(self.C) else 1.0 / self.C, self.penalty_factors, self.l1_ratio),
            self.fit_intercept,
            hide_constant=np.concatenate([unused, np.zeros(n_offsets, dtype=bool)]),
            loss=self.loss,
            n_offsets=n_offsets,
        )
