"""The claim of linear support vector classification: an objective for each score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.labels import known_codes
from separatrix.certificates.certificate import Recomputed
from separatrix.certificates.likelihood_claim import LikelihoodClaim
from separatrix.certificates.parts_claim import summed
from separatrix.scorers.scorer import Scorer


@dataclass(frozen=True)
class HingeClaim:
    """Everything except the rows that the objectives depend on: one score for two classes, else one for each class.

    The objective of a score is the penalised mean of a margin loss over all rows, its class against the rest. With
    several scores, objectives, bounds and rounding errors are summed.
    """

    scorer: Scorer
    C: float
    fit_intercept: bool
    class_weights: Array
    loss: str = "squared_hinge"

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """Objective, gradient and bound at the claimed weights, over these rows."""
        codes, W = known_codes(y, self.scorer.classes), self.scorer.W
        weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        weight = weight * self.class_weights[codes]
        positive = range(len(W)) if len(W) > 1 else (1,)  # the class that each score is for
        parts = [
            self._part(w).recompute(X, (codes == k).astype(np.int64), weight) for w, k in zip(W, positive, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        return summed(parts, len(parts))._replace(rounding=sum(part.rounding for part in parts))

    def _part(self, w: Array) -> LikelihoodClaim:
        """The claim of one score with the targets 0 and 1. The row weights already include the class weights."""
        scorer = Scorer(w[None, :], np.array([0, 1]), "sign")
        return LikelihoodClaim(scorer, self.C, np.ones(len(w) - 1), self.fit_intercept, np.ones(2), self.loss)
