"""The claim of a fit by maximum or penalised likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import known_codes
from separatrix.base.zero_weight_classes import classes_with_weight, codes_within, weights_among
from separatrix.certificates.claim import Recomputed, RowsClaim
from separatrix.objectives.bound import Bound
from separatrix.scorers.scorer import Scorer

if TYPE_CHECKING:  # ``recompute`` imports these itself, since reading a model file does not need them
    from separatrix.objectives.problem import Objective
    from separatrix.rows import MemoryRows, Rows
    from separatrix.rows.coding import ClassTotals, Coding
    from separatrix.rows.labelled import OutsideMemory


class LikelihoodOfRows(RowsClaim, ABC):
    """A claim whose objective is a sum over rows plus a penalty, which inference and diagnostics can evaluate.

    Such a claim also has the attributes ``C``, ``penalty_factors``, ``class_weights``, ``fit_intercept``, ``l1_ratio``
    and ``loss``. Its rows are ``labelled_rows`` whose weights include the class weights, with an offset as the last
    columns.
    """

    scorer: Scorer
    class_weights: Array

    def rows_of(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> MemoryRows:
        """The rows that ``of_rows`` takes."""
        from separatrix.objectives.build import as_offset
        from separatrix.rows import labelled_rows

        codes = known_codes(y, self.scorer.classes)
        added = as_offset(offset, len(codes), len(self.scorer.W))
        return labelled_rows(X, codes, len(self.scorer.classes), self.row_weights(codes, sample_weight), added)

    def coding_of(self, totals: ClassTotals) -> Coding:
        """The targets and weights of a likelihood, including the class weights."""
        from separatrix.rows.coding import Coding

        return Coding.of_likelihood(totals, self.class_weights)

    def row_weights(self, codes: Integers, sample_weight: Any) -> Array:
        """The weights of rows of these classes, including the class weights."""
        weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        return np.asarray(weight * self.class_weights[codes])

    def n_offsets(self, rows: Rows) -> int:
        """The number of the rows' last columns that are an offset."""
        return rows.n_features - self.scorer.n_features

    @abstractmethod
    def objective(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Objective:
        """The objective over these rows, without the penalty of Firth's likelihood."""

    @abstractmethod
    def objective_over(self, table: OutsideMemory) -> tuple[Objective, Array]:
        """The same over a table outside memory, and the claimed weights of the classes whose rows have weight."""


@dataclass(frozen=True)
class LikelihoodClaim(LikelihoodOfRows):
    """Everything except the rows that the objective of a fitted logistic regression depends on."""

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

        A bound by second derivatives holds for all directions only if the directions that it leaves out have score zero
        on every row. This is proven here in integer arithmetic, while a fit relies on small residuals.
        """
        return self._at(*self._objective_and_weights(X, y, sample_weight, offset))

    def of_rows(self, rows: Rows) -> Recomputed:
        """Like ``recompute``, for any kind of rows in which all classes have weight."""
        return self._at(self._built(rows, len(self.scorer.classes)), self.scorer.W)

    def of_table(self, table: OutsideMemory) -> Recomputed:
        """Like ``recompute``, for a table outside memory."""
        return self._at(*self.objective_over(table))

    def objective_over(self, table: OutsideMemory) -> tuple[Objective, Array]:
        """The objective over a table outside memory, and the claimed weights of the classes whose rows have weight."""
        from separatrix.rows.coding import Coding

        totals, W = table.totals, self.scorer.W
        held = totals.weight * self.class_weights > 0
        among = weights_among(W, held) if 2 <= held.sum() < len(held) else None
        if among is None:
            return self._built(table.rows(self.coding_of(totals)), len(held)), W
        coding = Coding.of_likelihood(totals, self.class_weights, held)
        return self._built(table.rows(coding), int(held.sum())), among

    def _at(self, problem: Objective, weights: Array) -> Recomputed:
        from separatrix.objectives.bounds import bound
        from separatrix.objectives.rounding import Rounding
        from separatrix.proofs.null_space import leaves_out_null_directions_only

        raw = np.hstack([weights, np.eye(len(weights), problem.n_offsets)])
        W = problem.rows.frame.from_original(raw)
        at = problem.value_gradient(W)
        proven = bound(problem, W, at, thorough=True)
        second = proven.kind == "self-concordance" and proven.value is not None
        if second and not leaves_out_null_directions_only(problem):
            proven = Bound(None, proven.kind, "a direction that the bound leaves out changes the score of some row")
        length = float(np.linalg.norm(problem.subgradient(W, at.gradient)))
        return Recomputed(at.value, problem.null_value, proven, length, Rounding.of(problem, W, at).value)

    def objective(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Objective:
        """The objective over these rows."""
        return self._objective_and_weights(X, y, sample_weight, offset)[0]

    def _objective_and_weights(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> tuple[Objective, Array]:
        """The objective over these rows, and the claimed weights of those classes whose rows have weight."""
        from separatrix.objectives.build import as_offset
        from separatrix.rows import labelled_rows

        codes = known_codes(y, self.scorer.classes)
        weight, K, W = self.row_weights(codes, sample_weight), len(self.scorer.classes), self.scorer.W
        held = classes_with_weight(codes, weight, K)
        among = weights_among(W, held) if 2 <= held.sum() < K else None
        if among is not None:  # a class without weight is not part of the objective
            codes, K, W = codes_within(codes, held), int(held.sum()), among
        added = as_offset(offset, len(codes), len(W))
        return self._built(labelled_rows(X, codes, K, weight, added), K), W

    def _built(self, rows: Rows, n_classes: int) -> Objective:
        from separatrix.objectives.build import build_objective
        from separatrix.objectives.penalty import Penalty

        # A constant column whose weights are all zero is left out, as in a fit. Others keep their weights.
        unused, n_offsets = ~np.any(self.scorer.W[:, 1:], axis=0), self.n_offsets(rows)
        return build_objective(
            rows,
            n_classes,
            Penalty(0.0 if np.isinf(self.C) else 1.0 / self.C, self.penalty_factors, self.l1_ratio),
            self.fit_intercept,
            hide_constant=np.concatenate([unused, np.zeros(n_offsets, dtype=bool)]),
            loss=self.loss,
            n_offsets=n_offsets,
        )
