"""The claim of linear support vector classification: an objective for each score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.labels import known_codes
from separatrix.certificates.claim import Recomputed, RowsClaim
from separatrix.certificates.likelihood_claim import LikelihoodClaim
from separatrix.certificates.parts_claim import summed
from separatrix.rows import MemoryRows, Rows, labelled_rows
from separatrix.rows.coding import ClassTotals, Coding
from separatrix.rows.one_against_rest import one_against_rest
from separatrix.scorers.scorer import Scorer


@dataclass(frozen=True)
class HingeClaim(RowsClaim):
    """Everything except the rows that the objectives depend on: one score for two classes, else one for each class.

    The objective of a score is the penalised mean of a margin loss over all rows, its class against the rest. With
    several scores, objectives, bounds and rounding errors are summed.
    """

    scorer: Scorer
    C: float
    fit_intercept: bool
    class_weights: Array
    loss: str = "squared_hinge"

    def rows_of(self, X: Any, y: Any, sample_weight: Any = None) -> MemoryRows:
        """The rows that ``of_rows`` takes: ``labelled_rows``, whose weights include the class weights."""
        codes = known_codes(y, self.scorer.classes)
        weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        return labelled_rows(X, codes, len(self.scorer.classes), weight * self.class_weights[codes])

    def coding_of(self, totals: ClassTotals) -> Coding:
        """The targets and weights of ``labelled_rows``, including the class weights."""
        return Coding.of_likelihood(totals, self.class_weights)

    def of_rows(self, rows: Rows) -> Recomputed:
        """Objective, gradient and bound at the claimed weights, over any kind of ``labelled_rows``."""
        each = zip(self.scorer.W, one_against_rest(rows, len(self.scorer.classes)), strict=True)
        parts = [self._part(w).of_rows(against) for w, against in each]
        if len(parts) == 1:
            return parts[0]
        return summed(parts, len(parts))._replace(rounding=sum(part.rounding for part in parts))

    def _part(self, w: Array) -> LikelihoodClaim:
        """The claim of one score with the targets 0 and 1. The row weights already include the class weights."""
        scorer = Scorer(w[None, :], np.array([0, 1]), "sign")
        return LikelihoodClaim(scorer, self.C, np.ones(len(w) - 1), self.fit_intercept, np.ones(2), self.loss)
