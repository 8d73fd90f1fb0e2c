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
    """Everything that the objectives of the scores depend on, but the rows: one score, or one for each of K classes.

    A score's objective is the penalised mean of a margin loss over all rows, its class against the rest. With several
    scores objectives, gaps and rounding add up.
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
        own = range(len(W)) if len(W) > 1 else (1,)
        found = [self._part(w).recompute(X, (codes == k).astype(np.int64), weight) for w, k in zip(W, own, strict=True)]
        if len(found) == 1:
            return found[0]
        return summed(found, len(found))._replace(rounding=sum(part.rounding for part in found))

    def _part(self, w: Array) -> LikelihoodClaim:
        """The claim of one score, of targets 0 and 1; the weights of its rows include those of the classes."""
        scorer = Scorer(w[None, :], np.array([0, 1]), "sign")
        return LikelihoodClaim(scorer, self.C, np.ones(len(w) - 1), self.fit_intercept, np.ones(2), self.loss)
